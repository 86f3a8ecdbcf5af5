"""A head's attention pattern, in one sentence and in numbers."""

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Bool

from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.export_menu import download
from pages.ui.format import fixed, share
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.head_measures import MEASURES, SHARES, PerHead, alignment_mask, measure, strongest
from transformer.analysis.word_trace import WordTrace
from transformer.patching import Head
from transformer.tasks import TASKS, find_task
from transformer.tracing.paths import Kind

# A pattern whose share is smaller than this is not named in a sentence.
CLEAR = 0.5
# From the most specific to the least specific pattern: if two patterns have equal shares, the first one is named. Shares that
# count only queries whose token occurred before (`duplicate`, `induction`) are not named, because these may be few.
TELLING = ("alignment", "previous", "next", "self", "anti-diagonal", "first", "last", "diagonal")
METRIC_WIDTH = 140
# In a text with fewer repeated tokens, a head may look at the right place by chance.
LEAST_REPEATED = 4


def head_measures(view: View, shown: Trace, kind: str) -> dict[str, PerHead]:
    """Name of a measure → its value for every [layer, head] of one `kind` of attention (`encoder`, `decoder` or `cross`), for
    the first text of the view. `shown` is the view's trace, of tokens or of whole words."""
    return view.run(_measured, view, kind, isinstance(shown, WordTrace))


@cached
def _measured(view: View, kind: str, joined: bool) -> dict[str, PerHead]:
    """`head_measures`, computed layer by layer to save memory. `joined`: whether the attention is between words instead of
    tokens."""
    trace = view.trace()
    shown = WordTrace.of(trace) if joined else trace
    aligned = _aligned(view, shown, kind)
    tokens = None if kind == "cross" else shown.tokens(kind)[0]
    layers = [measure(shown.weights(kind, layer)[:1].numpy(), aligned, tokens) for layer in range(shown.layers(kind))]
    return {name: np.concatenate([of_layer[name] for of_layer in layers]) for name in layers[0]}


def measure_names(view: View, shown: Trace, kind: str) -> list[str]:
    """The names of the measures that `head_measures` computes for a kind of attention, without their values."""
    aligned, (tokens, _) = _aligned(view, shown, kind), shown.tokens(kind)
    left_out = set() if aligned is not None and aligned.any() else {"alignment"}
    if kind == "cross" or len(set(tokens)) == len(tokens):
        left_out |= {"duplicate", "induction"}
    return [name for name in MEASURES if name not in left_out]


def _aligned(view: View, shown: Trace, kind: str) -> Bool[np.ndarray, "query key"] | None:
    """True for each pair in which the query needs the key for the task, such as the translation of a word. None for
    self-attention, or if the model has no task that defines such pairs."""
    if kind != "cross" or view.pipeline.card.task not in TASKS:
        return None
    queries, keys = shown.tokens(kind)
    source, target = keys[1:-1], queries[1:]
    alignment = find_task(view.pipeline.card.task).alignment(source, target)
    return alignment_mask(alignment, len(target) + 1, len(source) + 2)


def table(measures: dict[str, PerHead]) -> pd.DataFrame:
    """A table with a row for each head and a column for each of the `measures`. Layers and heads are counted from 1."""
    words = text("head_patterns")
    layers, heads = next(iter(measures.values())).shape
    places = [(layer + 1, head + 1) for layer in range(layers) for head in range(heads)]
    frame = pd.DataFrame(places, columns=[words["layer"], words["head"]])
    for name in (name for name in MEASURES if name in measures):
        frame[name] = measures[name].reshape(-1).astype(np.float32).round(4)
    return frame


def in_words(measures: dict[str, PerHead], layer: int, head: int) -> str:
    """A sentence about the strongest attention pattern of a head. If no pattern is clear, a sentence about how widely its
    attention is spread. `layer` and `head` are counted from 0."""
    words = text("head_patterns")
    shares = {name: float(measures[name][layer, head]) for name in TELLING if name in measures and name in SHARES}
    best = max(shares, key=lambda name: round(shares[name], 2))
    if shares[best] >= CLEAR:
        return words["sentence"].format(verb=words["verbs"][best], share=share(shares[best]))
    entropy = float(measures["entropy"][layer, head])
    return words["spread"].format(entropy=fixed(entropy, 2), keys=fixed(2**entropy, 1))


def show_pattern(view: View, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Draw the attention pattern of a head as a sentence and as numbers, and a table of all heads of this kind of attention."""
    words = text("head_patterns")
    measures = head_measures(view, shown, kind)
    st.markdown(f"**{in_words(measures, layer, head)}**")
    st.caption(words["intro"])
    names = [name for name in MEASURES if name in measures]
    # A horizontal container wraps on a phone; st.columns would stack the numbers one below the other.
    with st.container(horizontal=True):
        for name in names:
            st.metric(name, fixed(measures[name][layer, head], 2), help=words["meanings"][name], width=METRIC_WIDTH)
    st.markdown(f"**{words['table']}**")
    frame = table(measures)
    st.dataframe(frame, hide_index=True, width="stretch")
    st.caption(words["table_help"])
    download(words["download"], frame.to_csv(index=False), f"heads-{view.model}-{kind}.csv")


def induction_head(view: View, trace: Trace) -> Head | None:
    """The induction head of a decoder-only model: the head with the largest share of its weight on the tokens right after
    earlier copies of the query's token, in this trace. None for a model with an encoder, for a text with few repeated tokens,
    or if this share is below `CLEAR`."""
    tokens = trace.target_tokens[0] if trace.kinds == (Kind.DECODER,) else ()
    if len(tokens) - len(set(tokens)) < LEAST_REPEATED:
        return None
    shares = head_measures(view, trace, str(Kind.DECODER))["induction"]
    layer, head = strongest(shares)
    return Head(str(Kind.DECODER), layer, head) if shares[layer, head] >= CLEAR else None


def say_induction(view: View, trace: Trace, kind: str, layer: int, head: int) -> None:
    """If this head is the induction head (`induction_head`), write to which tokens it attends and what such a head can do."""
    if induction_head(view, trace) == (kind, layer, head):
        of_head = float(head_measures(view, trace, kind)["induction"][layer, head])
        st.markdown(text("attention")["induction_says"].format(share=share(of_head)))
