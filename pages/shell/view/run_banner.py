"""The run of the view for a page, and the banner above its pictures that says what the run reads and answers."""

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn, TypeVar

import streamlit as st

from pages.shell.error_boundary import explained, sentence
from pages.shell.models.catalogue import snapshot_of
from pages.shell.models.folders import FolderModel
from pages.shell.models.model_examples import starts, take
from pages.shell.models.own_models import own_models
from pages.shell.view.answer_line import SHOWS_LAST, Probabilities, answer_of, show_answer
from pages.shell.view.view import View, current_view
from pages.ui.compat import PageEnd
from pages.ui.escaping import filled, literal
from pages.ui.format import number, whole
from pages.ui.text import text
from transformer import HeadlightError, InputError, Trace
from transformer.pipeline.pipeline import MAX_UNTRAINED_TOKENS, Answer, Encoding, Side
from transformer.pipeline.untrained import Untrained
from transformer.training.recipe import RECIPES

# Session key: the place for the result of a comparison, and the arguments of `_say_agreement`.
AGREEMENT = "agreement_place"
# Session keys: the last view that could be computed; whether the row beside the text box says what cannot be read.
LAST, NOTED = "last_drawn", "noted"

Result = TypeVar("Result")


def show_run(
    batch: bool = False,
    with_answer: bool = True,
    beside: Callable[[View], View] = lambda view: view,
    labelled: bool = False,
) -> tuple[View, Trace]:
    """Draw the banner above the pictures (notes, the answer), and return the view and the trace that the page draws.

    If the text cannot be read, the page draws the view that was drawn last in this session.

    Args:
        batch: show and trace every sentence, instead of the first alone.
        with_answer: False while the learner guesses the answer.
        beside: returns a view with the page's own example texts added after the typed ones. These texts are traced, but the
            banner does not show them.
        labelled: whether a label is written before an answer. On a phone, it takes one more line.

    Raises:
        PageEnd: the first text (with `batch`, any text) cannot be read, and this session has drawn nothing before. An example
            is then offered.
        HeadlightError: the model cannot be opened or run.
    """

    def run(view: View) -> tuple[View, Trace, list[Answer | InputError]]:
        view = beside(view)
        read_texts(view, batch)
        trace = view.batch_trace() if batch else view.trace()
        return view, trace, [answer_of(view, item) for item in range(view.typed if batch else 1)]

    view, trace, answers = _with_note(run, batch)
    for item, answer in enumerate(answers if with_answer else ()):
        show_answer(view, answer, _probabilities(view, trace, answer, item), item, labelled)
    show_agreement(view)
    return view, trace


def show_texts(compute: Callable[[View], object] | None = None) -> View:
    """Draw the banner (notes, no answer) of a page that needs no trace; returns the view to draw. Raises as `show_run`.

    Args:
        compute: the first computation of the page. If it raises a `HeadlightError`, the text is treated as unreadable.
    """

    def read(view: View) -> View:
        read_texts(view)
        if compute is not None:
            compute(view)
        return view

    return _with_note(read)


def _probabilities(view: View, trace: Trace, answer: Answer | InputError, item: int) -> Probabilities | None:
    """Probabilities of the next token for each token of an answer and for `<eos>`; None if the model wrote no answer,
    a target is given, or the trace has no probabilities."""
    if isinstance(answer, InputError) or view.targets[item] is not None or not view.writes or "probabilities" not in trace:
        return None
    start = view.first_row(item)
    return trace.probabilities[item, start : start + len(answer.tokens) + answer.ended].numpy()


def _with_note(compute: Callable[[View], Result], batch: bool = False) -> Result:
    """The result of `compute` for the present view, or for the last one that could be computed (`_of_view_or_last`). If the
    model is untrained, draws a note about that. Draws the error unless the row beside the text box shows it (`text_notes`)."""
    try:
        view, problem = current_view(), None
    except InputError as error:
        view, problem = st.session_state.get(LAST), error
        if view is None:
            _end_with_example(error)
    # Drawn before the run, which may take seconds, because an element that appears late pushes the page down while somebody
    # reads it. A trained model keeps the empty place, so that the elements below are not mounted anew when the model changes.
    note = st.empty()
    with note:
        _note_untrained(view)
    try:
        result, computed, failed = _of_view_or_last(view, compute)
    except HeadlightError as error:
        note.empty()
        if isinstance(error, InputError) and unreadable(view, batch):
            _end_with_example(error)
        raise
    st.session_state[SHOWS_LAST] = problem is not None or failed is not None
    if failed is not None:
        note.empty()
        with note:
            _note_untrained(computed)
        if not (st.session_state.get(NOTED) and unreadable(view, batch)):
            st.error(literal(sentence(failed)), icon=":material/error:")
    return result


def _of_view_or_last(view: View, compute: Callable[[View], Result]) -> tuple[Result, View, HeadlightError | None]:
    """The result of `compute` for a view, the view, and None. If a text cannot be read: the result for the last view of this
    session that could be computed, that view, and the error of the given view. Raises the error if there is no last view, or
    if `compute` fails for it, too."""
    problem = None
    view.enter_line()
    try:
        result = compute(view)
    except HeadlightError as error:
        last = st.session_state.get(LAST)
        if last is None:
            raise
        last.enter_line()
        try:
            result = compute(last)
        except HeadlightError:
            raise error from None
        view, problem = last, error
    st.session_state[LAST] = replace(view, problem=None)
    return result, view, problem


def _end_with_example(error: InputError) -> NoReturn:
    """Offer an example and end the page. The page has nothing to draw, because the first text of the session cannot be read."""
    words = text("common")
    start, *_ = starts(st.session_state["model"])
    if not st.session_state.get(NOTED):
        st.error(literal(sentence(error)), icon=":material/error:")
    st.caption(words["nothing_drawn"])
    label = filled(words["open_example"], source=literal(start.source))
    st.button(label, key="open_example", icon=":material/lightbulb:", on_click=take, args=(start,))
    raise PageEnd


def _note_untrained(view: View) -> None:
    """Say that the model of a view is untrained, or that its training was not finished, if so."""
    words = text("common")
    if isinstance(view.key, Untrained):
        st.markdown(words["untrained"].format(most=MAX_UNTRAINED_TOKENS))
    elif (snapshot := snapshot_of(view.model)) or view.model in own_models():
        recipe, pairs = view.pipeline.card.recipe, view.pipeline.card.trained_on
        # A snapshot may be older than the last steps of its model's recipe.
        steps, batch = RECIPES[snapshot[0]].steps if snapshot else recipe.get("steps"), recipe.get("batch")
        if isinstance(steps, int) and isinstance(batch, int) and batch > 0 and pairs < steps * batch:
            name = "unfinished" if pairs else "not_begun"
            st.markdown(words[name].format(step=whole(pairs // batch), steps=whole(steps)))


def show_agreement(view: View) -> None:
    """For a model from a folder of the server, say whether the traced run gave the same logits as the untraced model in
    `transformers`. For this comparison the untraced model runs once more, so `fill_agreement` draws the result later."""
    if isinstance(view.key, FolderModel):
        st.session_state[AGREEMENT] = st.container(key="agreement"), view, view.key.own_network


def fill_agreement() -> None:
    """Draw, in the container of `show_agreement`, whether traced and untraced logits are equal; nothing without a container.
    Call it at the end of a page."""
    place, *compared = st.session_state.pop(AGREEMENT, (None,))
    if place is not None:
        with place:
            _say_agreement(*compared)


@explained()
def _say_agreement(view: View, own_network: bool) -> None:
    words, agreement = text("common"), view.agreement()
    if own_network and agreement.rounding:
        st.caption(words["agrees_own"].format(difference=number(agreement.difference, 2)))
    elif agreement.equal:
        st.caption(words["agrees_vectors" if view.pipeline.output_kind == "vectors" else "agrees"])
    else:
        st.warning(words["differs"].format(difference=number(agreement.difference, 2)), icon=":material/balance:")


def read_texts(view: View, batch: bool = False) -> None:
    """Check that the model can read the first text of a view; with `batch`, all typed texts. Further texts that form no valid
    batch are not in the view (`View.problem`).

    Raises:
        HeadlightError: a text or a target cannot be read.
    """
    for item in range(view.typed if batch else 1):
        read_text(view, "source", item, batch)
        if view.targets[item] is not None:
            read_text(view, "target", item, batch)


def unreadable(view: View, batch: bool = False) -> bool:
    """Whether the model cannot read the first text of a view (model and texts), or with `batch` any of its typed texts."""
    try:
        read_texts(view, batch)
    except InputError:
        return True
    return False


def read_text(view: View, side: Side, item: int, batch: bool) -> Encoding:
    """The tokens and ids of the text `item` (from 0) on a side. Raises an `InputError` if the model cannot read it; in a batch
    of several texts, the error names the text by its number."""
    try:
        return view.encoding(side, item)
    except InputError as error:
        if not batch or len(view.sources) == 1:
            raise
        if side == "source":
            raise InputError("Text {number} cannot be read. {problem}", number=item + 1, problem=error) from None
        raise InputError("Target {number} cannot be read. {problem}", number=item + 1, problem=error) from None
