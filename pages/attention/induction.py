"""The induction head of a decoder alone: the head that looks at what came after an earlier copy of the token."""

import streamlit as st

from pages.attention.head_patterns import CLEAR, head_measures
from pages.shell.view.card_heads import CardHead
from pages.shell.view.view import View
from pages.ui.format import share
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.head_measures import strongest
from transformer.tracing.paths import Kind

KIND = str(Kind.DECODER)
# In a text with fewer repeated tokens, a head may look at the right place by chance.
LEAST_REPEATED = 4


def induction_head(view: View, trace: Trace) -> CardHead | None:
    """The head with the largest share of its weight on the tokens right after earlier copies of the query's token, in this run.
    None for a model with an encoder, for a text that hardly repeats itself, or if no head has a clear share."""
    tokens = trace.target_tokens[0] if trace.kinds == (Kind.DECODER,) else ()
    if len(tokens) - len(set(tokens)) < LEAST_REPEATED:
        return None
    layer, head = strongest(head_measures(view, trace, KIND)["induction"])
    return CardHead(KIND, layer + 1, head + 1) if _share(view, trace, layer, head) >= CLEAR else None


def say_induction(view: View, trace: Trace, kind: str, layer: int, head: int) -> None:
    """If this is the induction head, say where it looks and what such a head is for. Layer and head are counted from 0."""
    if induction_head(view, trace) == (kind, layer + 1, head + 1):
        words = text("attention")["induction_says"]
        st.markdown(words.format(share=share(_share(view, trace, layer, head))))


def _share(view: View, trace: Trace, layer: int, head: int) -> float:
    return float(head_measures(view, trace, KIND)["induction"][layer, head])
