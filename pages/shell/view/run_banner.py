"""The banner above a page's pictures, with the model's answers. The functions that draw it return the run for the page."""

from collections.abc import Callable
from functools import partial
from typing import NoReturn, TypeVar

import streamlit as st

from pages.shell.error_boundary import explained, sentence
from pages.shell.models.catalogue import snapshot_of
from pages.shell.models.folders import FolderModel
from pages.shell.models.model_examples import starts, take
from pages.shell.models.own_models import own_models
from pages.shell.view.run_of_view import SHOWS_LAST, Run, of_view_or_last, present_view, read_texts, run_of, unreadable
from pages.shell.view.runs import right_answer
from pages.shell.view.sureness import Probabilities, doubt, least_sure, shaded
from pages.shell.view.text_notes import NOTED
from pages.shell.view.view import View
from pages.ui.compat import PageEnd
from pages.ui.escaping import filled, literal, quoted
from pages.ui.format import number, whole
from pages.ui.text import text
from transformer import HeadlightError, InputError, Trace
from transformer.pipeline.pipeline import MAX_UNTRAINED_TOKENS, Answer
from transformer.pipeline.untrained import Untrained

# Session key: the place for the result of a comparison, and the arguments of `_say_agreement`.
AGREEMENT = "agreement_place"

Result = TypeVar("Result")


def show_run(
    batch: bool = False,
    with_answer: bool = True,
    beside: Callable[[View], View] = lambda view: view,
    labelled: bool = False,
) -> tuple[View, Trace]:
    """Draw the banner and return the view and trace that the page draws.

    If the text cannot be read, the page draws the view that was drawn last in this session.

    Args:
        batch: show and trace every sentence, instead of the first alone.
        with_answer: False while the learner guesses the answer.
        beside: returns a view with the page's own example texts added after the typed ones. These texts are traced, but the
            banner does not show them.
        labelled: whether a label before an answer says that the model answers this. The label takes one more line on a phone.

    Raises:
        PageEnd: the first text (with `batch`, any text) cannot be read, and this session has drawn nothing before. An example
            is then offered.
        HeadlightError: the model cannot be opened or run.
    """
    run = _with_note(partial(run_of, batch=batch, beside=beside), batch)
    for item in range(len(run.answers) if with_answer else 0):
        _show_answer(run, item, labelled)
    show_agreement(run.view)
    return run.view, run.trace


def show_texts(compute: Callable[[View], object] | None = None) -> View:
    """Draw the banner of a page that needs no trace, without an answer. Returns the view. In all else it does the same as
    `show_run`.

    Args:
        compute: the first computation of the page. If it raises a `HeadlightError`, the text is treated as unreadable.
    """

    def read(view: View) -> View:
        read_texts(view)
        if compute is not None:
            compute(view)
        return view

    return _with_note(read)


def _with_note(compute: Callable[[View], Result], batch: bool = False) -> Result:
    """The result of `compute` for the present view, or for the last one that could be computed (`of_view_or_last`). If the
    model is untrained, draws a note about that. Draws the error unless the row beside the text box shows it (`text_notes`)."""
    try:
        view, problem = present_view()
    except InputError as error:
        _end_with_example(error)
    # Drawn before the run, which may take seconds, because an element that appears late pushes the page down while somebody
    # reads it. A trained model keeps the empty place, so that the elements below are not mounted anew when the model changes.
    note = st.empty()
    with note:
        _note_untrained(view)
    try:
        result, computed, failed = of_view_or_last(view, compute)
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
    elif snapshot_of(view.model) or view.model in own_models():
        recipe, pairs = view.pipeline.card.recipe, view.pipeline.card.trained_on
        steps, batch = recipe.get("steps"), recipe.get("batch")
        if isinstance(steps, int) and isinstance(batch, int) and batch > 0 and pairs < steps * batch:
            name = "unfinished" if pairs else "not_begun"
            st.markdown(words[name].format(step=whole(pairs // batch), steps=whole(steps)))


def show_agreement(view: View) -> None:
    """For a model from a folder, say whether the traced run gave the same logits as the untraced model in `transformers`. For
    this comparison the untraced model runs once more, so `fill_agreement` draws the result after the pictures."""
    if isinstance(view.key, FolderModel):
        st.session_state[AGREEMENT] = st.container(key="agreement"), view, view.key.own_network


def fill_agreement() -> None:
    """Draw the result at the place that `show_agreement` has left for it, if it has. Call it at the end of a page."""
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


def _show_answer(run: Run, item: int, labelled: bool) -> None:
    view, answer = run.view, run.answers[item]
    probabilities = None
    if isinstance(answer, Answer) and view.targets[item] is None and view.writes and "probabilities" in run.trace:
        start = view.first_row(item)
        probabilities = run.trace.probabilities[item, start : start + len(answer.tokens) + answer.ended].numpy()
    show_answer(view, answer, probabilities, item, labelled)


def show_answer(
    view: View,
    answer: Answer | InputError,
    probabilities: Probabilities | None = None,
    item: int = 0,
    labelled: bool = False,
) -> None:
    """Draw the part of the banner that is about the answer to a text.

    Args:
        answer: the answer to the text, or the error that says why the model writes none.
        probabilities: probabilities of the next token, a row for each token of the answer and one for `<eos>`; None if they are
            not known.
        labelled: whether a label before the answer says that the model answers this.
    """
    words, target = text("common"), view.targets[item]
    if isinstance(answer, InputError):
        st.caption(literal(sentence(answer)))
        return
    source, written = quoted(view.sources[item]), quoted(answer.text) or words["empty_answer"]
    # A single text is not repeated, because its box is right above.
    name = "answer" if len(view.sources) > 1 else "answer_labelled" if labelled else "answer_alone"
    last = st.session_state.get(SHOWS_LAST)
    if last:
        name = "last_answer" if view.model == st.session_state["model"] else "last_answer_of"
    remarks, help = [], None
    if view.pipeline.trained and not last:
        help = doubt(view, answer)
        if help is not None:
            written, remarks = shaded(view, answer) or written, [words["doubt"]]
        elif remarks := least_sure(view, answer, probabilities):
            help = words["unsure_help"]
        remarks = [*_faults(view, answer, item), *remarks]
    line = [words[name].format(source=source, answer=written, model=literal(view.model)), *remarks]
    # All on one line, so that the remarks on an answer do not push the picture down.
    st.markdown(" · ".join(line), help=help)
    if isinstance(target, str):
        st.caption(words["forced"].format(target=quoted(target)))


def _faults(view: View, answer: Answer, item: int) -> list[str]:
    """What is wrong with an answer: another one was right by the rule of the task, or a model with two stacks did
    not end it."""
    words, says = text("common"), []
    right = right_answer(view.pipeline.card.task, view.sources[item])
    if right is not None and answer.text != right:
        says.append(words["wrong"].format(right=quoted(right) or words["empty_answer"]))
    # A decoder alone always writes as many tokens as it may.
    if not answer.ended and len(view.pipeline.stacks) > 1:
        says.append(words["not_ended"].format(count=len(answer.tokens)))
    return says
