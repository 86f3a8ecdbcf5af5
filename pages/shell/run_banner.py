"""The run that a page draws, and above it how the model read the text and what it answered."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from pages.shell.error_boundary import sentence, warn_unknown
from pages.shell.models import accepts
from pages.shell.view import View, current_view
from pages.ui.escaping import literal, quoted
from pages.ui.text import text
from transformer import HeadlightError, InputError, Trace
from transformer.pipeline.pipeline import MAX_UNTRAINED_TOKENS, Answer, Reading, Side

# Of the session: the view that was last drawn.
LAST = "last_drawn"


class Run(NamedTuple):
    """What the model made of a view, each part computed once. All but the trace have an entry for each text.

    Attributes:
        view: what was looked at.
        sources, targets: the texts as the model reads them; a target is None where the decoder reads the answer.
        answers: what the model writes.
        trace: of one forward pass.
    """

    view: View
    sources: tuple[Reading, ...]
    targets: tuple[Reading | None, ...]
    answers: tuple[Answer, ...]
    trace: Trace


def show_run(batch: bool = False) -> tuple[View, Trace]:
    """Warn of what the model cannot read well, say if it is untrained, show its answer, and return what the page draws.

    If the text cannot be read, the error is shown and the page draws the view that was last drawn in this session.

    Args:
        batch: show and trace every sentence, instead of the first alone.

    Raises:
        HeadlightError: a text that cannot be read at all, or, where every sentence is asked for, a batch that cannot; and
            nothing was drawn before.
    """
    try:
        run = _run(current_view(), batch)
    except HeadlightError as error:
        last = st.session_state.get(LAST)
        if last is None:
            raise
        try:
            run = _run(last, batch)
        except HeadlightError:  # nothing of this session can be drawn on this page
            raise error from None
        st.error(literal(sentence(error)), icon=":material/error:")
        said = text("common")["last_drawn"].format(source=quoted(last.source), model=literal(last.model))
        st.info(said, icon=":material/history:")
    st.session_state[LAST] = replace(run.view, problem=None)
    _show(run)
    return run.view, run.trace


def _run(view: View, batch: bool) -> Run:
    """Read, answer and trace the texts of a view, or its first alone.

    Raises:
        HeadlightError: a text that cannot be read, or a batch that cannot where one is asked for.
    """
    if view.problem and batch:
        raise view.problem
    items = range(len(view.sources) if batch else 1)
    sources = tuple(_read(view, "source", item, batch) for item in items)
    targets = tuple(None if view.targets[item] is None else _read(view, "target", item, batch) for item in items)
    with st.spinner(text("common")["running"]):
        answers = tuple(view.answer(item=item) for item in items)
        return Run(view, sources, targets, answers, view.batch_trace() if batch else view.trace())


def _read(view: View, side: Side, item: int, batch: bool) -> Reading:
    """A text as the model reads it; an error names it by its number where there are several."""
    try:
        return view.reading(side, item)
    except InputError as error:
        if not batch or len(view.sources) == 1:
            raise
        if side == "source":
            raise InputError("Text {number} cannot be read. {problem}", number=item + 1, problem=error) from None
        raise InputError("Target {number} cannot be read. {problem}", number=item + 1, problem=error) from None


def _show(run: Run) -> None:
    """The banner: warnings, whether the model is untrained, and the answer to each text."""
    words, view, several = text("common"), run.view, len(run.sources) > 1
    if view.problem:
        st.warning(words["first_alone"].format(problem=literal(sentence(view.problem))), icon=":material/view_agenda:")
    for item in range(len(run.sources)):
        _warn(run, item, item + 1 if several else None)
    if not view.pipeline.trained:
        st.markdown(words["untrained"].format(most=MAX_UNTRAINED_TOKENS))
    for item in range(len(run.sources)):
        _show_answer(run, item)


def _warn(run: Run, item: int, number: int | None) -> None:
    """What the model cannot read well of a text; its number is said where it is one of several."""
    words, pipeline, target = text("common"), run.view.pipeline, run.targets[item]
    warn_unknown("source", run.sources[item].unknown, accepts(run.view.model), number)
    if target is not None:
        warn_unknown("target", target.unknown, accepts(run.view.model), number)
    length = len(run.sources[item].typed)
    if pipeline.trained and length > pipeline.card.longest:
        which = words["this_text"] if number is None else words["text_number"].format(number=number)
        warning = words["longer"].format(which=which, length=length, longest=pipeline.card.longest)
        st.warning(warning, icon=":material/straighten:")


def _show_answer(run: Run, item: int) -> None:
    words, answer, target = text("common"), run.answers[item], run.view.targets[item]
    source, written = quoted(run.view.sources[item]), quoted(answer.text) or words["empty_answer"]
    st.markdown(words["answer"].format(source=source, answer=written))
    if run.view.pipeline.trained and not answer.ended:
        st.warning(words["not_ended"].format(count=len(answer.tokens)), icon=":material/more_horiz:")
    if target is not None:
        st.caption(words["forced"].format(target=quoted(target)))
