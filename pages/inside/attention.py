"""Who looks at whom: every layer and head at once, then one head to be read."""

import pandas as pd
import streamlit as st

from pages.widgets.charts import show
from pages.widgets.pickers import pick
from pages.widgets.problems import explained
from pages.widgets.reading import show_reading
from pages.widgets.sidebar import current_view
from pages.widgets.source import show_source
from pages.widgets.text import text
from transformer.attention import MultiHeadAttention
from transformer.figures import KIND_COLORS, head_map, mosaic
from transformer.trace import KINDS

words = text("attention")
st.title(words["title"])
st.markdown(words["sentence"])

with explained():
    view = current_view()
    trace = show_reading(view)

    kind = pick(words["kind"], list(KINDS), "kind")
    st.caption(words["kind_sentences"][kind])
    weights, allowed = trace.attention(kind)[:, 0].numpy(), trace.allowed(kind)[:, 0].numpy()
    queries, keys = trace.attention_tokens(kind)
    layers, heads = weights.shape[:2]

    left, right = st.columns(2)
    with left:
        layer = pick(words["layer"], range(1, layers + 1), "layer") - 1
    with right:
        head = pick(words["head"], range(1, heads + 1), "head") - 1
    here = words["head_title"].format(kind=words["kinds"][kind], layer=layer + 1, head=head + 1)

    st.subheader(words["overview"].format(layers=layers, heads=heads))
    show(
        mosaic(weights, allowed, queries, keys, (layer, head), KIND_COLORS[kind]),
        f"mosaic-{kind}",
        words["overview_alt"].format(kind=words["kinds"][kind], layers=layers, heads=heads),
    )
    st.subheader(here)
    picture = head_map(weights[layer, head], allowed[layer, head], queries, keys)
    show(picture, "head-map", words["head_alt"].format(here=here, queries=len(queries), keys=len(keys)))

    with st.expander(words["numbers"], icon=":material/table:"):
        rows, columns = ([f"{index} {token}" for index, token in enumerate(side)] for side in (queries, keys))
        st.dataframe(pd.DataFrame(weights[layer, head], rows, columns))
    with st.expander(words["computed"], icon=":material/function:"):
        st.markdown(words["computed_text"])
        show_source(MultiHeadAttention)
    with st.expander(words["next"], icon=":material/explore:"):
        st.markdown(words["next_text"])
