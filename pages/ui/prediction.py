"""Predict, then see: a page asks what a learner expects before it shows the truth. Then the answer stays beside the truth.

    prediction = asked("attention", subject=(view, kind, layer, head), cells=len(keys), places=len(queries))
    if prediction is None:
        offer("attention", words["offer"])      # a button; the page shows everything
    elif not prediction.shown:
        ...                                     # draw the question and nothing that shows the truth
        show_buttons("attention", prediction)
    else:
        ...                                     # draw the truth with `prediction.answers` on it

The state of all questions is written in the address, in `predict`. `attention.7:3.5-8~3~shown` asks about place 7. The first
answer was the cells 3 and 5 to 8, the second answer was cell 3, and the truth is shown. `attention:` is a question without an
answer yet. Commas separate several questions. Nothing is stored, and a prediction does not change what the model computes.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from pages.ui.compat import opens_from_history
from pages.ui.link_values import publish, seed
from pages.ui.text import text

KEY = "predict"
# Session key of a dict: page/question → the subject of the question in the last run, and its state after that run.
ASKED = "predict_asked"
SHOWN = "shown"
# Limits of what an address may contain: number of questions, and runs of cells in an answer. The patterns limit the digits.
MOST_QUESTIONS, MOST_RUNS = 8, 400
NAME = re.compile(r"([a-z]{1,20})(?:\.(\d{1,4}))?", re.ASCII)
RUN = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)

Cells = tuple[int, ...]


@dataclass(frozen=True)
class Prediction:
    """The state of one question.

    Attributes:
        answers: one answer, or two if the learner answered once more. An answer is its marked cells, ascending, or empty.
        place: the place that the question is about, such as a row, counted from 0; None for the page's own choice.
        shown: whether the truth is shown.
    """

    answers: tuple[Cells, ...] = ((),)
    place: int | None = None
    shown: bool = False

    @property
    def answer(self) -> Cells:
        """The last answer."""
        return self.answers[-1]

    @property
    def first(self) -> Cells | None:
        """The first answer if there are two, otherwise None."""
        return self.answers[0] if len(self.answers) > 1 else None

    def within(self, cells: int, places: int) -> "Prediction":
        """This state without cells and places that do not exist."""
        answers = tuple(tuple(cell for cell in answer if cell < cells) for answer in self.answers)
        place = self.place if self.place is not None and self.place < places else None
        return replace(self, answers=answers, place=place)


def written(predictions: Mapping[str, Prediction]) -> str:
    """The questions as the value of `predict`; `read` is the inverse."""
    return ",".join(_written(name, prediction) for name, prediction in predictions.items())


def read(value: str) -> dict[str, Prediction]:
    """The questions in a value of `predict`, by name. An address is untrusted: an invalid question is left out, and a question
    with an invalid answer is read without its answers."""
    predictions = {}
    for part in value.split(",")[:MOST_QUESTIONS]:
        head, colon, answers = part.partition(":")
        named = NAME.fullmatch(head)
        if not (named and colon):
            continue
        place = None if named[2] is None else int(named[2])
        pieces = answers.split("~")
        shown = pieces[-1] == SHOWN
        cells = [read_cells(piece) for piece in (pieces[:-1] if shown else pieces)]
        known = [answer for answer in cells if answer is not None]
        if len(known) < len(cells) or not 1 <= len(cells) <= 2:
            predictions[named[1]] = Prediction(place=place)
        else:
            predictions[named[1]] = Prediction(tuple(known), place, shown)
    return predictions


def _written(name: str, prediction: Prediction) -> str:
    place = "" if prediction.place is None else f".{prediction.place}"
    pieces = [*map(written_cells, prediction.answers), *([SHOWN] if prediction.shown else [])]
    return f"{name}{place}:{'~'.join(pieces)}"


def written_cells(cells: Cells) -> str:
    """Ascending cells as text, such as `3.5-8`; three or more neighbouring cells are written as a run. `read_cells` is the
    inverse."""
    parts: list[list[int]] = []
    for cell in cells:
        if parts and cell == parts[-1][-1] + 1:
            parts[-1].append(cell)
        else:
            parts.append([cell])
    pieces = [f"{part[0]}-{part[-1]}" if len(part) > 2 else ".".join(map(str, part)) for part in parts]
    return ".".join(pieces)


def read_cells(piece: str) -> Cells | None:
    """The cells of one answer, ascending; None if the text is invalid. An address is untrusted."""
    if not piece:
        return ()
    runs = [RUN.fullmatch(part) for part in piece.split(".", MOST_RUNS)]
    cells: set[int] = set()
    for run in runs:
        if run is None:
            return None
        first, last = int(run[1]), int(run[2] or run[1])
        if not 0 <= last - first < 10_000:
            return None
        cells.update(range(first, last + 1))
    return tuple(sorted(cells))


# --- in a session ------------------------------------------------------------------------------------------------------


def asked(what: str, subject: Hashable, cells: int, places: int = 0) -> Prediction | None:
    """The state of a question of this page; None if the question is not open. Call it before the page draws anything that
    shows the true answer.

    An answer belongs to its subject. When the learner moves to another head or text, the question is asked again.

    Args:
        what: name of the question, in small letters.
        subject: everything that determines the true answer, except the place.
        cells: number of cells that can be marked.
        places: number of places that can be asked about.
    """
    seed(KEY, lambda value: written(read(value or "")), lambda value: value)
    state = st.session_state
    prediction = read(state[KEY]).get(what)
    name = f"{state['page']}/{what}"
    before = state.setdefault(ASKED, {}).get(name)
    if prediction is not None:
        # A state that differs from the last run's comes from a link or a click, so it belongs to this subject.
        if before is not None and before[0] != subject and before[1] == prediction and not opens_from_history():
            prediction = Prediction()
        prediction = prediction.within(cells, places)
        state[ASKED][name] = (subject, prediction)
        _put(what, prediction)
    publish(KEY, state[KEY] or None)
    return prediction


def was_shown(page: str, what: str) -> bool:
    """Whether the truth of a page's question is shown, or was shown when this session left that page."""
    _, prediction = st.session_state.get(ASKED, {}).get(f"{page}/{what}", (None, Prediction()))
    return prediction is not None and prediction.shown


def offer(what: str, label: str, help: str | None = None, also: Sequence[str] = ()) -> None:
    """Draw the button that opens a question. `also` names other questions that the button opens too."""
    st.button(label, key=f"predict {what}", on_click=open_all, args=(what, *also), help=help, icon=":material/psychology_alt:")


def show_buttons(what: str, prediction: Prediction, can_leave: bool = True) -> None:
    """Draw the buttons below a question: show the truth, answer once more, ask again, and leave the question.

    Args:
        what: name of the question.
        prediction: the state of the question.
        can_leave: whether to draw the button that leaves the question. False for a question that the page always asks.
    """
    words = text("prediction")
    with st.container(horizontal=True, key=f"predict-buttons-{what}"):
        if prediction.shown:
            _button(what, "again", replace(prediction, answers=((),), shown=False), ":material/replay:")
        else:
            _button(
                what,
                "show" if prediction.answer else "show_without",
                replace(prediction, shown=True),
                ":material/visibility:",
                primary=bool(prediction.answer),
            )
            if prediction.answer and prediction.first is None:
                # The second answer starts as a copy of the first answer. Learners change it after a discussion.
                twice = replace(prediction, answers=(prediction.answer, prediction.answer))
                _button(what, "second", twice, ":material/forum:", words["second_help"])
        if can_leave:
            _button(what, "leave", None, ":material/close:")


def _button(what: str, name: str, then: Prediction | None, icon: str, help: str | None = None, primary: bool = False) -> None:
    st.button(
        text("prediction")[name],
        key=f"predict {what} {name}",
        on_click=_put,
        args=(what, then),
        help=help,
        icon=icon,
        type="primary" if primary else "tertiary" if name == "leave" else "secondary",
    )


def answer(what: str, cells: Cells) -> None:
    """Set the present answer to a question; for use in a callback. After the truth is shown, the answer stays as it is."""
    prediction = read(st.session_state.get(KEY, "")).get(what, Prediction())
    if not prediction.shown:
        _put(what, replace(prediction, answers=(*prediction.answers[:-1], tuple(sorted(set(cells))))))


def pick_answer(
    what: str, label: str, prediction: Prediction, labels: Mapping[int, str], as_list: bool = False, placeholder: str = ""
) -> None:
    """Draw a widget that picks one of a few answers: buttons or a list.

    Args:
        what: name of the question.
        label: text above the widget.
        prediction: the state of the question.
        labels: cell → its label, for each cell that can be chosen.
        as_list: whether to draw a list.
        placeholder: shown in the list while nothing is chosen.
    """
    key = f"predict-answer-{what}"
    chosen = [cell for cell in prediction.answer if cell in labels]
    st.session_state[key] = chosen[0] if chosen else None

    def take() -> None:
        picked = st.session_state[key]
        answer(what, () if picked is None else (picked,))

    options = list(labels)
    if as_list:
        st.selectbox(label, options, None, labels.__getitem__, key, on_change=take, placeholder=placeholder)
    else:
        st.segmented_control(label, options, key=key, format_func=labels.__getitem__, on_change=take)


def pick_yes_or_no(what: str, prediction: Prediction) -> None:
    """Draw the choice between yes and no. In an address, yes is cell 1 and no is cell 0."""
    words = text("prediction")
    pick_answer(what, words["your_answer"], prediction, {1: words["yes"], 0: words["no"]})


def on_each_answer(prediction: Prediction, sentence: Callable[[Cells], str]) -> str:
    """The sentence about the answer, in Markdown. If there are two answers, one paragraph about each."""
    words = text("prediction")
    if prediction.first is None:
        return sentence(prediction.answer)
    names = ("first_answer", "second_answer")
    pairs = zip(names, prediction.answers, strict=True)
    return "\n\n".join(words[name].format(sentence=sentence(cells)) for name, cells in pairs)


def verdict(prediction: Prediction, truth: bool) -> str:
    """Sentences that say whether each answer, yes or no, is right; in Markdown."""
    words = text("prediction")

    def judged(cells: Cells) -> str:
        if not cells:
            return words["unsaid"]
        name = "right" if bool(cells[0]) == truth else "wrong"
        return words[name].format(answer=words["yes" if cells[0] else "no"])

    return on_each_answer(prediction, judged)


def is_open(what: str) -> bool:
    """Whether a question is open; its truth may be shown already. Call it before the question is drawn."""
    seed(KEY, lambda value: written(read(value or "")), lambda value: value)
    return what in read(st.session_state[KEY])


def open_all(*names: str) -> None:
    """Open several questions without answers; for use in a callback."""
    for name in names:
        _put(name, Prediction())


def ask_about(what: str, place: int | None, instead_of: str = "") -> None:
    """Ask a question again about another place; for use in a callback. The question named `instead_of` is left."""
    if instead_of:
        _put(instead_of, None)
    _put(what, Prediction(place=place))


def _put(what: str, prediction: Prediction | None) -> None:
    """Set the state of a question in the session; None leaves the question."""
    predictions = read(st.session_state.get(KEY, ""))
    if prediction is None:
        predictions.pop(what, None)
    else:
        predictions[what] = prediction
    st.session_state[KEY] = written(predictions)
