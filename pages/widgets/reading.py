"""How the model read the text, and what it answered."""

import streamlit as st

from pages.widgets.problems import literal, warn_unknown
from pages.widgets.runs import runs
from pages.widgets.sidebar import View
from pages.widgets.text import text
from transformer import Trace


def show_reading(view: View) -> Trace:
    """Warn of what the model cannot read well, show its answer, and return the trace of the view.

    Raises:
        HeadlightError: a text it cannot read at all.
    """
    words, pipeline = text("common"), view.pipeline
    read = pipeline.read(view.source)
    warn_unknown(words["source"], read.unknown, pipeline.card.accepts)
    length = len(read.ids) - 2
    if length > pipeline.card.longest:
        st.warning(words["longer"].format(length=length, longest=pipeline.card.longest), icon=":material/straighten:")
    with st.spinner(words["running"]):
        answer = runs().answer(view.model, view.source, ())
        if view.target is not None:
            warn_unknown(words["target"], pipeline.read(view.target, "target").unknown, pipeline.card.accepts)
        trace = view.trace()
    st.markdown(
        words["answer"].format(
            source=literal(view.source.strip()), answer=literal(answer.text) if answer.text else words["empty_answer"]
        )
    )
    if not answer.ended:
        st.warning(words["not_ended"].format(count=len(answer.tokens)), icon=":material/more_horiz:")
    if view.target is not None:
        st.caption(words["forced"].format(target=literal(view.target.strip())))
    return trace
