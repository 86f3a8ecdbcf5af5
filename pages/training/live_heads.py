"""All heads of a live training on the watched text, and the head that points best."""

import streamlit as st

from pages.training.live_sidebar import model_name
from pages.ui.export_menu import saving
from pages.ui.format import share
from pages.ui.head_grid import overview
from pages.ui.text import text
from transformer.analysis.head_measures import alignment_mask, measure, strongest
from transformer.figures import KIND_COLORS
from transformer.tracing.paths import Kind
from transformer.training.live import LiveTraining, Progress
from transformer.training.live_view import LiveView
from transformer.worlds import world

HEADS = "live_head_maps"  # not `live_heads`, which is the setting


def show_heads(training: LiveTraining, progress: Progress, kind: str) -> None:
    """Draw all heads of a kind, and the head that points best."""
    words, view = text("live"), progress.view
    if view is None:
        st.caption(words["heads_waits"])
        return
    queries, keys = view.tokens[kind]
    pointing = _pointing(training, view)
    selected = pointing[0][:2] if pointing and kind == Kind.CROSS else (0, 0)
    overview(view.weights[kind], view.allowed[kind], queries, keys, selected, KIND_COLORS[kind], HEADS)
    saving(HEADS, f"{model_name(training)}-{kind}-all-heads")
    for template, (layer, head, value) in zip((words["head"], words["line_head"]), pointing, strict=False):
        st.markdown(template.format(layer=layer + 1, head=head + 1, share=share(value)))


def _pointing(training: LiveTraining, view: LiveView) -> list[tuple[int, int, float]]:
    """The head of cross-attention with most weight on the tokens that the answer needs, and the one with most along the
    anti-diagonal: layer, head and that share. Empty for a world without a rule for it, or an answer that is cut off."""
    task = world(training.settings.world)
    queries, keys = view.tokens["cross"]
    source, target = list(keys[1:-1]), list(queries[1:])
    pairs = task.alignment(source, target) if view.right is not None and len(target) <= len(source) else None
    mask = alignment_mask(pairs, len(queries), len(keys)) if pairs else None
    if mask is None or not mask.any():
        return []
    measures = measure(view.weights["cross"], mask)
    best = []
    for name in ("alignment", "anti-diagonal"):
        layer, head = strongest(measures[name])
        best.append((layer, head, float(measures[name][layer, head])))
    return best if training.settings.world == "reverse" else best[:1]
