"""How the model read the text, and what it answered."""

import streamlit as st

from pages.shell.error_boundary import sentence, warn_unknown
from pages.shell.view import View
from pages.ui.escaping import literal, quoted
from pages.ui.text import text
from transformer import Trace
from transformer.pipeline.pipeline import MAX_UNTRAINED_TOKENS


def show_reading(view: View, batch: bool = False) -> Trace:
    """Warn of what the model cannot read well, say if it is untrained, show its answer, and return the trace of the view.

    Args:
        view: what the sidebar holds.
        batch: show every sentence and return the trace of them all, instead of the first alone.

    Raises:
        HeadlightError: a text it cannot read at all, or, where every sentence is asked for, a batch that is none.
    """
    words = text("common")
    if view.problem and batch:
        raise view.problem
    if view.problem:
        st.warning(words["first_alone"].format(problem=literal(sentence(view.problem))), icon=":material/view_agenda:")
    items = range(len(view.sources) if batch else 1)
    for item in items:
        _warn(view, item, item + 1 if len(items) > 1 else None)
    with st.spinner(words["running"]):
        for item in items:
            view.answer(item=item)
        trace = view.batch_trace() if batch else view.trace()
    if not view.pipeline.trained:
        st.markdown(words["untrained"].format(most=MAX_UNTRAINED_TOKENS))
    for item in items:
        _show_answer(view, item)
    return trace


def _warn(view: View, item: int, number: int | None) -> None:
    """What the model cannot read well of a text; its number is said where it is one of several."""
    words, pipeline, target = text("common"), view.pipeline, view.targets[item]
    warn_unknown("source", pipeline.read(view.sources[item]).unknown, pipeline.card.accepts, number)
    if target is not None:
        warn_unknown("target", pipeline.read(target, "target").unknown, pipeline.card.accepts, number)
    length = len(pipeline.source_vocabulary.split(view.sources[item]))
    if pipeline.trained and length > pipeline.card.longest:
        which = words["this_text"] if number is None else words["text_number"].format(number=number)
        said = words["longer"].format(which=which, length=length, longest=pipeline.card.longest)
        st.warning(said, icon=":material/straighten:")


def _show_answer(view: View, item: int) -> None:
    words, answer, target = text("common"), view.answer(item=item), view.targets[item]
    source, said = quoted(view.sources[item]), quoted(answer.text) or words["empty_answer"]
    st.markdown(words["answer"].format(source=source, answer=said))
    if view.pipeline.trained and not answer.ended:
        st.warning(words["not_ended"].format(count=len(answer.tokens)), icon=":material/more_horiz:")
    if target is not None:
        st.caption(words["forced"].format(target=quoted(target)))
