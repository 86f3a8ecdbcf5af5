"""Predict, then see: a page asks what a learner expects before it shows the truth. Then the answer stays beside the truth.

    prediction = asked("attention", subject=(view, kind, layer, head), cells=len(keys), places=len(queries))
    if prediction is None:
        offer("attention", words["offer"])      # a button; the page shows everything
    elif not prediction.shown:
        ...                                     # draw the question and nothing that shows the truth
        show_buttons("attention", prediction)
    else:
        ...                                     # draw the truth with `prediction.answers` on it

The state of all questions is in the URL (`prediction_codec`). Nothing is stored, and a prediction does not change what the
model computes.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace

import streamlit as st

from pages.ui.compat import opens_from_history
from pages.ui.link_values import publish, seed
from pages.ui.prediction_codec import Cells, Prediction, read, written
from pages.ui.text import text

KEY = "predict"
# Session key of a dict: page/question → the subject of the question in the last run, and its state after that run.
ASKED = "predict_asked"


def asked(what: str, subject: Hashable, cells: int, places: int = 0) -> Prediction | None:
    """The state of a question of this page; None if the question is not open. Call it before the page draws anything that
    shows the true answer.

    An answer belongs to its subject. When the learner moves to another head or text, the question is asked again.

    Args:
        what: name of the question, in small letters.
        subject: everything that determines the true answer, such as the model, texts and head, except the place.
        cells: number of cells that can be marked as the answer.
        places: number of places, such as rows of a map, that the question can be about.
    """
    state = st.session_state
    prediction = open_questions().get(what)
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


def offer(what: str, label: str, help: str | None = None, main: bool = True) -> None:
    """Draw the button that opens a question. `main`: whether it is the one main action of the page."""
    st.button(
        label,
        key=f"predict {what}",
        on_click=open_question,
        args=(what,),
        help=help,
        type="primary" if main else "secondary",
        icon=":material/psychology_alt:",
    )


def show_buttons(what: str, prediction: Prediction) -> None:
    """Draw the buttons below a question: show the truth, answer once more, ask again, and close the question."""
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
        st.button(
            words["leave"], key=f"predict {what} leave", on_click=_leave, args=(what,), type="tertiary", icon=":material/close:"
        )


def _leave(what: str) -> None:
    _put(what, None)
    st.rerun()  # the whole app, because the sidebar shows its hint again


def _button(what: str, name: str, then: Prediction, icon: str, help: str | None = None, primary: bool = False) -> None:
    st.button(
        text("prediction")[name],
        key=f"predict {what} {name}",
        on_click=_put,
        args=(what, then),
        help=help,
        icon=icon,
        type="primary" if primary else "secondary",
    )


def answer(what: str, cells: Cells) -> None:
    """Set the present answer to a question; for use in a callback. After the truth is shown, the answer cannot change."""
    prediction = read(st.session_state.get(KEY, "")).get(what, Prediction())
    if not prediction.shown:
        _put(what, replace(prediction, answers=(*prediction.answers[:-1], tuple(sorted(set(cells))))))


def pick_answer(
    what: str, label: str, prediction: Prediction, labels: Mapping[int, str], as_list: bool = False, placeholder: str = ""
) -> None:
    """Draw a widget that picks one of a few answers: buttons or a list. `labels`: number of an answer (the marked cell of
    `Prediction.answer`) → its label."""
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
    """Draw the choice between yes and no. The URL stores yes as 1 and no as 0."""
    words = text("prediction")
    pick_answer(what, words["your_answer"], prediction, {1: words["yes"], 0: words["no"]})


def on_each_answer(prediction: Prediction, sentence: Callable[[Cells], str]) -> str:
    """The Markdown that `sentence` returns for the answer's marked cells; if there are two answers, a paragraph for each."""
    words = text("prediction")
    if prediction.first is None:
        return sentence(prediction.answer)
    names = ("first_answer", "second_answer")
    pairs = zip(names, prediction.answers, strict=True)
    return "\n\n".join(words[name].format(sentence=sentence(cells)) for name, cells in pairs)


def verdict(prediction: Prediction, truth: bool) -> str:
    """Markdown that tells whether each answer, yes or no, is right. Yes is right if `truth`."""
    words = text("prediction")

    def judged(cells: Cells) -> str:
        if not cells:
            return words["unsaid"]
        name = "right" if bool(cells[0]) == truth else "wrong"
        return words[name].format(answer=words["yes" if cells[0] else "no"])

    return on_each_answer(prediction, judged)


def open_questions() -> dict[str, Prediction]:
    """The open questions of this page, by name. The truth of some may be shown already. Call it before they are drawn."""
    seed(KEY, _linked, lambda value: value)
    return read(st.session_state[KEY])


def _linked(value: str | None) -> str:
    questions = read(value or "")
    if value and not questions:
        raise ValueError(value)
    return written(questions)


def is_open(what: str) -> bool:
    """Whether a question is open; its truth may be shown already. Call it before the question is drawn."""
    return what in open_questions()


def open_question(what: str) -> None:
    """Open a question without an answer, and run the whole app again; for use in a callback."""
    _put(what, Prediction())
    st.rerun()  # the whole app, because the sidebar has a hint that would tell the answer


def ask_about(what: str, place: int | None, instead_of: str = "") -> None:
    """Ask the question `what` again, about another place; None for the page's own choice. Close the question `instead_of`,
    unless it is empty. For use in a callback."""
    if instead_of:
        _put(instead_of, None)
    _put(what, Prediction(place=place))


def _put(what: str, prediction: Prediction | None) -> None:
    """Set the state of a question in the session; None closes the question."""
    predictions = read(st.session_state.get(KEY, ""))
    if prediction is None:
        predictions.pop(what, None)
    else:
        predictions[what] = prediction
    st.session_state[KEY] = written(predictions)
