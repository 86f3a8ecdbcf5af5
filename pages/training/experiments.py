"""Short trainings on a small model, at the press of a button: with and without warm-up, and on too few pairs."""

import streamlit as st

from pages.shell.turns import aside
from pages.ui.caches import RESULTS
from pages.ui.charts import chart, show
from pages.ui.format import fixed, number, share
from pages.ui.limits import EXPERIMENT_SECONDS
from pages.ui.text import text
from transformer.figures.training import Series, step_lines
from transformer.training.recipe import sizes
from transformer.training.short_run import Point, ShortRun, short_run

WARM = ShortRun("reverse", 6e-3, 60, 180, 32, config=sizes(64, 4, 2, 128, dropout=0.0))
COLD = WARM._replace(warmup=0)
FEW = ShortRun("reverse", 3e-3, 20, 150, 64, pairs=64)
# Processor seconds of the two parts on one quiet core.
WARMUP_SECONDS, OVERFIT_SECONDS = 15, 4


run = RESULTS.cached(short_run, ignored=1)


def show_warmup() -> None:
    """Draw two trainings that differ in the warm-up alone."""
    words = text("training")
    values = {"steps": WARM.steps, "rate": number(WARM.learning_rate, 3), "warmup": WARM.warmup, "seconds": WARMUP_SECONDS}
    st.markdown(words["warmup_text"].format(**values))
    curves = _trained(words["run"], "run-warmup", WARM, COLD)
    if curves is None:
        return
    names = (words["with_warmup"], words["without_warmup"])
    lines = [
        Series(name, [point.step for point in points], [point.held_out_loss for point in points], dotted=place > 0)
        for place, (name, points) in enumerate(zip(names, curves, strict=True))
    ]
    figure = chart(step_lines, lines, words["loss_axis"], words["steps"], None, None, False, False)
    show(figure, "warmup-runs", words["warmup_alt"])
    warm, cold = (points[-1] for points in curves)
    result = {"with_loss": fixed(warm.held_out_loss, 3), "without_loss": fixed(cold.held_out_loss, 3)}
    result |= {"with_exact": share(warm.exact), "without_exact": share(cold.exact)}
    st.markdown(words["warmup_result"].format(steps=warm.step, **result))


def show_overfitting() -> None:
    """Draw a training on too few pairs: its loss on them, and on pairs that it does not see."""
    words = text("training")
    st.markdown(words["overfit_text"].format(pairs=FEW.pairs, steps=FEW.steps, seconds=OVERFIT_SECONDS))
    curves = _trained(words["run_one"], "run-overfit", FEW)
    if curves is None:
        return
    (points,) = curves
    steps = [point.step for point in points]
    lines = [
        Series(words["learnt_loss"], steps, [point.loss for point in points]),
        Series(words["held_out_loss"], steps, [point.held_out_loss for point in points], dotted=True),
    ]
    figure = chart(step_lines, lines, words["loss_axis"], words["steps"], None, None, False, False)
    show(figure, "overfitting", words["overfit_alt"])
    lowest, last = min(points, key=lambda point: point.held_out_loss), points[-1]
    result = {"loss": fixed(last.loss, 3), "held_out": fixed(last.held_out_loss, 2), "lowest": fixed(lowest.held_out_loss, 2)}
    st.markdown(words["overfit_result"].format(best=lowest.step, **result))


def _trained(label: str, key: str, *runs: ShortRun) -> list[tuple[Point, ...]] | None:
    """The curves of trainings; a button while they are not known, and None until it is pressed. They are computed once for all
    visitors. Another click ends them, because the report draws."""
    done = all(RESULTS.has(run, settings, EXPERIMENT_SECONDS) for settings in runs)
    if not done and not st.button(label, key=key, icon=":material/play_arrow:"):
        return None
    if done:
        return [run(settings, EXPERIMENT_SECONDS, _silent) for settings in runs]
    words, bar = text("training"), st.progress(0.0)
    total = sum(settings.steps for settings in runs)
    curves, before = [], 0

    def report(step: int, _: int) -> None:
        bar.progress((before + step) / total, words["running_step"].format(step=before + step, steps=total))

    with aside():
        for settings in runs:
            curves.append(run(settings, EXPERIMENT_SECONDS, report))
            before += settings.steps
    bar.empty()
    return curves


def _silent(_: int, __: int) -> None:
    """The result is known."""
