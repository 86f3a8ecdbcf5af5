"""How tensors change shape on their way through the network: every one of them, from token ids to probabilities."""

import streamlit as st

from pages.widgets.arithmetic import show_arithmetic
from pages.widgets.calls import show_calls
from pages.widgets.closing import show_next
from pages.widgets.filmstrip import show_filmstrip
from pages.widgets.ledger import show_ledger
from pages.widgets.pickers import pick
from pages.widgets.problems import explained
from pages.widgets.reading import show_reading
from pages.widgets.sidebar import current_view
from pages.widgets.stream import show_stream
from pages.widgets.text import text
from pages.widgets.walk import show_walk

words = text("layers")
st.title(words["title"])
st.markdown(words["sentence"])

with explained():
    view = current_view()
    with st.container(gap="xsmall"):
        trace = show_reading(view, batch=True)

    part = pick(words["part"], list(words["parts"]), "part")
    if words["parts"][part]:
        st.caption(words["parts"][part])
    if part == "walk":
        show_walk(view, trace)
    elif part == "filmstrip":
        show_filmstrip(view, trace)
    elif part == "residual stream":
        show_stream(trace)
    elif part == "arithmetic":
        show_arithmetic(view, trace)
    elif part == "ledger":
        show_ledger(view, trace)
    else:
        show_calls(view, trace)

    show_next(words["next_text"][part])
