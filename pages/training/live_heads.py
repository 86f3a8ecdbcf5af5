"""All heads of a live training on the watched text, and the head with the most weight on the tokens that the answer needs."""

from collections.abc import Sequence

import streamlit as st

from pages.training.live_sidebar import model_name
from pages.ui.export_menu import saving
from pages.ui.format import share
from pages.ui.head_grid import overview
from pages.ui.text import text
from transformer.analysis.head_measures import alignment_mask, measure, strongest
from transformer.figures import KIND_COLORS
from transformer.tasks import find_task
from transformer.tracing.paths import Kind
from transformer.training.live_run import LiveTraining, Progress
from transformer.training.live_view import LiveView

HEADS = "live_head_maps"  # not `live_heads`, because that is the key of a setting


def show_heads(training: LiveTraining, progress: Progress, kind: str) -> None:
    """Draw all heads of one kind, and name the head with the most weight on the tokens that the answer needs."""
    words, view = text("live"), progress.view
    if view is None:
        st.caption(words["heads_waits"])
        return
    queries, keys = view.tokens[kind]
    pointing = _pointing(training, view)
    overview(view.weights[kind], view.allowed[kind], queries, keys, _marked(pointing, kind), KIND_COLORS[kind], HEADS)
    saving(HEADS, f"{model_name(training)}-{kind}-all-heads")
    for template, (layer, head, value) in zip((words["head"], words["line_head"]), pointing, strict=False):
        st.markdown(template.format(layer=layer + 1, head=head + 1, share=share(value)))


def watched_head(training: LiveTraining, progress: Progress, kind: str) -> dict[str, str]:
    """The parameters of a link to the marked head of a kind of attention."""
    layer, head = _marked(_pointing(training, progress.view), kind) if progress.view else (0, 0)
    return {"kind": kind, "layer": str(layer + 1), "head": str(head + 1)}


def _marked(pointing: Sequence[tuple[int, int, float]], kind: str) -> tuple[int, int]:
    """The layer and the head that are marked."""
    return pointing[0][:2] if pointing and kind == Kind.CROSS else (0, 0)


def _pointing(training: LiveTraining, view: LiveView) -> list[tuple[int, int, float]]:
    """Layer, head and share of weight of two heads of cross-attention: the one with the most weight on the tokens that the
    answer needs, and, in the task `reverse`, the one with the most weight along the anti-diagonal. Empty if the task has no
    rule for the right answer, or if the answer is longer than the source."""
    task = find_task(training.settings.task)
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
    return best if training.settings.task == "reverse" else best[:1]
