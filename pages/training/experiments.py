"""Short trainings of a small model, each started by a button: with and without warm-up, and on too few pairs."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from pages.shell.view.background import show_background, silent
from pages.shell.view.explained_chart import Cell, show_explained
from pages.training.explained_numbers import explain_gap, explain_held_out, explain_rate
from pages.ui.caches import RESULTS
from pages.ui.charts import chart
from pages.ui.format import fixed, number, share
from pages.ui.limits import EXPERIMENT_SECONDS
from pages.ui.text import text
from transformer.figures.training_figures import Series, step_lines
from transformer.training.recipe import sizes
from transformer.training.short_run import Point, ShortRun, short_run

WARM = ShortRun("reverse", 6e-3, 60, 180, 32, config=sizes(64, 4, 2, 128, dropout=0.0))
FEW = ShortRun("reverse", 3e-3, 20, 150, 64, pairs=64)
# Processor seconds that the two parts need on one core without other work.
WARMUP_SECONDS, OVERFIT_SECONDS = 15, 4

_run = RESULTS.cached(short_run, ignored=1)


def show_warmup(warm: ShortRun = WARM) -> None:
    """Draw the losses of the training `warm`, which has a warm-up of the learning rate, and of the same training without it."""
    words, settings = text("training"), (warm, replace(warm, warmup=0))
    values = {"steps": warm.steps, "rate": number(warm.learning_rate, 3), "warmup": warm.warmup, "seconds": WARMUP_SECONDS}
    st.markdown(words["warmup_text"].format(**values))
    trained = _trained(words["run"], "run-warmup", *settings)
    if trained is None:
        return
    names = (words["with_warmup"], words["without_warmup"])

    def explain(cell: Cell) -> None:
        """Draw what the loss of a point means, and the learning rate of the step before it."""
        point = trained[cell.row][cell.column]
        explain_held_out(names[cell.row], point)
        explain_rate(settings[cell.row].recipe, point.step - 1)

    losses = [[point.held_out_loss for point in points] for points in trained]
    _show_lines("warmup-runs", words["warmup_alt"], names, [point.step for point in trained[0]], losses, explain)
    first, second = (points[-1] for points in trained)
    result = {"with_loss": fixed(first.held_out_loss, 3), "without_loss": fixed(second.held_out_loss, 3)}
    result |= {"with_exact": share(first.exact), "without_exact": share(second.exact)}
    st.markdown(words["warmup_result"].format(steps=first.step, **result))


def show_overfitting(few: ShortRun = FEW) -> None:
    """Draw a training on too few pairs: the loss on these pairs, and the loss on pairs that were not trained on."""
    words = text("training")
    st.markdown(words["overfit_text"].format(pairs=few.pairs, steps=few.steps, seconds=OVERFIT_SECONDS))
    trained = _trained(words["run_one"], "run-overfit", few)
    if trained is None:
        return
    (points,) = trained
    losses = [[point.loss for point in points], [point.held_out_loss for point in points]]
    names = words["learnt_loss"], words["held_out_loss"]
    steps = [point.step for point in points]
    _show_lines("overfitting", words["overfit_alt"], names, steps, losses, lambda cell: explain_gap(points[cell.column]))
    lowest, last = min(points, key=lambda point: point.held_out_loss), points[-1]
    result = {"loss": fixed(last.loss, 3), "held_out": fixed(last.held_out_loss, 2), "lowest": fixed(lowest.held_out_loss, 2)}
    st.markdown(words["overfit_result"].format(best=lowest.step, **result))


def _show_lines(
    key: str, alt: str, names: tuple[str, str], steps: list[int], losses: list[list[float]], explain: Callable[[Cell], None]
) -> None:
    """Draw two lines of losses, the second dotted. A click on a point opens what `explain` draws."""
    words = text("training")
    lines = [Series(name, steps, of, dotted=place > 0) for place, (name, of) in enumerate(zip(names, losses, strict=True))]
    show_explained(
        chart(step_lines, lines, words["loss_axis"], words["steps"], logarithmic=False),
        key,
        alt,
        explain,
    )


def _trained(label: str, name: str, *runs: ShortRun) -> list[tuple[Point, ...]] | None:
    """The curves of trainings, which are computed once for all visitors. Until they are computed, return None, and draw a
    button that starts the trainings, or their progress."""
    if all(RESULTS.has(_run, settings, EXPERIMENT_SECONDS) for settings in runs):
        return [_run(settings, EXPERIMENT_SECONDS, silent) for settings in runs]
    jobs = [partial(_run, settings, EXPERIMENT_SECONDS) for settings in runs]
    show_background(name, label, jobs, runs[0].steps)
    return None
