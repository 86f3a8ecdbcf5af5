"""The curves of a running training; and for one text: the model's answer, all heads, and the head with the most weight on the
tokens that the answer needs."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from markupsafe import Markup

from pages.training.live_sidebar import model_name
from pages.ui.charts import passing_chart, show
from pages.ui.escaping import literal
from pages.ui.export_menu import saving
from pages.ui.format import fixed, number, share, whole
from pages.ui.head_grid import overview
from pages.ui.style import style
from pages.ui.text import text
from transformer.analysis.head_measures import alignment_mask, measure, strongest
from transformer.figures import KIND_COLORS
from transformer.figures.training_figures import Curve, curve_panels
from transformer.tasks import find_task
from transformer.tracing.paths import Kind
from transformer.training.live_run import LiveTraining, Progress
from transformer.training.live_view import LiveView

# A curve has at most this many points. Each is the mean over some consecutive steps.
POINTS = 240
CURVES = "live_curves"
ANSWER = Markup('<div class="live_answer"><p><b>{what}</b> ({how}): {text} →</p><ol>{tokens}</ol></div>')
TOKEN = Markup('<li class="{kind}" title="{token}: {share}"><span>{token}</span><small>{share}</small></li>')
HEADS = "live_head_maps"  # not `live_heads`, because that is the key of a setting


def show_curves(training: LiveTraining, progress: Progress) -> None:
    """Draw the curves of a training, the menu that saves them, and the model's latest answer to the text in the page's box."""
    words = text("live")
    figure = passing_chart(curve_panels, curves_of(progress), progress.steps, words["curves"]["step"])
    name = f"{model_name(training)}-{words['curves_name']}"
    says = "; ".join(f"{curve.name}: {curve.written}" for curve in curves_of(progress))
    alt = words["curves"]["alt"].format(says=says)
    show(figure, CURVES, alt, name, tells=True, table=lambda: curve_table(training.progress))
    if progress.view:
        st.html(style(Path(__file__).with_name("live_answer.css")) + answer_of(progress.view, training))
    if progress.unreadable:
        watched, problem = progress.unreadable
        st.warning(words["unreadable"].format(text=literal(watched), problem=literal(problem)), icon=":material/help:")


def curves_of(progress: Progress) -> list[Curve]:
    """The curves of loss, accuracy and learning rate over the steps so far."""
    words = text("live")["curves"]
    losses, rates = thinned(progress.losses), thinned(progress.rates)
    checks = [(float(step), float(value)) for step, value in progress.checks]
    top, fastest = max([0.1, *(value for _, value in losses)]), max([1e-9, *(value for _, value in rates)])
    return [
        Curve(words["loss"], losses, top, fixed(losses[-1][1], 3) if losses else words["empty"]),
        Curve(words["accuracy"], checks, 1.0, share(checks[-1][1], 1) if checks else words["no_check"], ticks=".0%"),
        Curve(words["rate"], rates, fastest, number(rates[-1][1], 2) if rates else words["empty"]),
    ]


def thinned(values: tuple[float, ...], most: int = POINTS) -> list[tuple[float, float]]:
    """The points (step, value) of a curve with at most `most` points. Steps count from 1. If there are more values,
    each point is the mean over some consecutive steps, placed at the last of them."""
    count = len(values)
    if count <= most:
        return [(step, value) for step, value in enumerate(values, 1)]
    ends = [round(count * index / most) for index in range(most + 1)]
    return [(end, float(np.mean(values[start:end]))) for start, end in itertools.pairwise(ends)]


def curve_table(progress: Progress) -> pd.DataFrame:
    """Loss and learning rate of each step, and the accuracy of the steps at which it was tested."""
    steps = range(1, len(progress.losses) + 1)
    table = pd.DataFrame({"loss": progress.losses, "learning_rate": progress.rates}, index=pd.Index(steps, name="step"))
    return table.assign(accuracy=pd.Series(dict(progress.checks), dtype=float))


def answer_of(view: LiveView, training: LiveTraining) -> Markup:
    """The answer in `view` as HTML: each token with its probability, marked as right or wrong if the right answer is known."""
    words = text("live")["curves"]
    split = find_task(training.settings.task).target_vocabulary.split
    expected = None if view.right is None else [*split(view.right), None]  # None: the answer should end here
    tokens = Markup()
    for index, (token, probability) in enumerate(zip(view.written, view.probabilities, strict=True)):
        kind = ""
        if expected is not None:
            ends = view.ended and index == len(view.written) - 1
            right = index < len(expected) and (None if ends else token) == expected[index]
            kind = "right" if right else "wrong"
        tokens += TOKEN.format(kind=kind, token=token, share=share(probability, 0))
    if view.right is None:
        verdict = words["no_rule"]
    elif view.answer == view.right and view.ended:
        verdict = words["is_right"]
    else:
        verdict = f"{words['is_wrong']}; {words['right'].format(answer=view.right)}"
    how = ", ".join([words["of"].format(step=whole(view.step)), verdict, *([] if view.ended else [words["not_ended"]])])
    return ANSWER.format(what=words["answer"], how=how, text=view.text, tokens=tokens)


def show_heads(training: LiveTraining, progress: Progress, kind: str) -> None:
    """Draw all heads of one kind of attention, and name the head with the most weight on the tokens that the answer needs."""
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
    """The query parameters of a link to the head that is marked among all heads of this kind of attention, such as `cross`."""
    layer, head = _marked(_pointing(training, progress.view), kind) if progress.view else (0, 0)
    return {"kind": kind, "layer": str(layer + 1), "head": str(head + 1)}


def _marked(pointing: Sequence[tuple[int, int, float]], kind: str) -> tuple[int, int]:
    """The layer and the head to mark, counted from 0: the first of `pointing` for cross-attention, otherwise 0 and 0."""
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
