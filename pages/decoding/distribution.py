"""The distribution of one step before and after each logits processor, and a hundred samples from it."""

from itertools import pairwise

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.decoding.answer_steps import Run, with_rest
from pages.decoding.decoding_settings import LOGITS_PROCESSORS
from pages.decoding.explained_numbers import explain_probability, explain_samples
from pages.shell.view.explained_chart import Cell, show_explained
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import share
from pages.ui.text import text
from transformer.figures.decoding_figures import draw_bars, percent, stage_bars
from transformer.pipeline.decoding.generate import ALLOWED, OWN, Stage
from transformer.pipeline.decoding.logits_processors import Temperature
from transformer.pipeline.decoding.methods import Beam, Hypothesis, Sample

SAMPLES = 100
WARM, COLD = 2.0, 0.5  # two example temperatures for the sentence that is shown if no temperature is set


def show_distribution(run: Run, made: Hypothesis) -> None:
    """Draw the distribution from which the last token of a hypothesis was chosen, before and after each logits processor. For
    sampling, also offer a hundred samples."""
    words, step, method = text("decoding"), run.step(made), run.settings.method
    forced = [words["stages_forced"]] if step.forced else []
    if len(step.stages) == 1 and not isinstance(method, Sample):  # the bars of the player already show the whole distribution
        st.markdown(" ".join([words["one_stage_beam" if isinstance(method, Beam) else "one_stage_greedy"], *forced]))
        if not isinstance(method, Beam):
            _show_temperature(run, made)
        return
    top, distributions = run.top(made), run.distributions(made)
    tokens, titles = run.bar_names(made), [stage_title(stage) for stage in step.stages]
    stages = np.stack([with_rest(values, top) for values in distributions])
    figure = chart(stage_bars, tokens, stages, titles, top.index(made.token))
    show_explained(
        figure,
        "stages",
        words["stages_alt"].format(step=made.step + 1, count=len(stages)),
        lambda bar: explain_probability(run, made, bar.column, bar.row, titles),
    )
    says = _effects(run, titles, distributions) if isinstance(method, Sample) else [words["stages_allowed"]]
    st.caption(" ".join([*says, *forced]))
    if isinstance(method, Sample):
        _show_samples(run, made, method, tokens, stages[-1])


def _effects(run: Run, titles: list[str], distributions: Float[np.ndarray, "stage token"]) -> list[str]:
    """Sentences about what the logits processors do, and which of them changed nothing."""
    words, pairs = text("decoding"), zip(titles[1:], pairwise(distributions), strict=True)
    idle = [title for title, (before, after) in pairs if np.allclose(before, after)]
    sentences = words["stages_caption" if run.settings.logits_processors else "stages_plain"]
    return [sentences, words["stages_idle"].format(stages=", ".join(idle))] if idle else [sentences]


def _show_samples(
    run: Run, made: Hypothesis, method: Sample, tokens: list[str], probabilities: Float[np.ndarray, " shown"]
) -> None:
    """Draw a switch. While it is on, also draw how often each token occurs in `SAMPLES` samples of this step, beside its
    probability after the last logits processor. `tokens` are the names of the bars, and `probabilities` their probabilities."""
    words = text("decoding")
    if not st.toggle(words["draw"].format(count=SAMPLES), key="draws", bind="query-params", help=words["draw_help"]):
        return
    step, last = run.step(made), run.distributions(made)[-1]
    sampled = method.samples(step.stages[-1].logits[made.row], made.step, SAMPLES).numpy()
    shares = with_rest(np.bincount(sampled, minlength=len(last)), run.top(made)) / SAMPLES
    figure = chart(draw_bars, tokens, probabilities, shares, (words["probability"], words["drawn"]))

    def explain(bar: Cell) -> None:
        if bar.row:
            explain_samples(tokens[bar.column], round(shares[bar.column] * SAMPLES), SAMPLES)
        else:
            explain_probability(run, made, bar.column, len(step.stages) - 1, [stage_title(stage) for stage in step.stages])

    show_explained(
        figure,
        "draw-bars",
        words["draw_alt"].format(count=SAMPLES),
        explain,
    )
    token = literal(run.tokens_of([sampled[0]])[0])
    if np.count_nonzero(last) == 1:
        st.caption(words["draw_certain"].format(token=token))
        return
    first = words["draw_forced" if step.forced else "draw_written"].format(token=token)
    st.caption(first + words["draw_caption"].format(count=SAMPLES, spread=share(0.5 / SAMPLES**0.5)))


def _show_temperature(run: Run, made: Hypothesis) -> None:
    """Write which probability the most probable token would have at two other temperatures."""
    own = run.own(made)
    best = int(own.argmax())
    logits = run.step(made).own.logits[made.row : made.row + 1]
    warm, cold = (float(Temperature(value).apply(logits).softmax(-1)[0, best]) for value in (WARM, COLD))
    (token,) = run.tokens_of([best])
    shares = {"share": percent(own[best]), "warm_share": percent(warm), "cold_share": percent(cold)}
    st.markdown(text("decoding")["one_stage_temperature"].format(token=literal(token), warm=WARM, cold=COLD, **shares))


def stage_title(stage: Stage) -> str:
    """The displayed name of a stage of a distribution; for the stage of a logits processor, with the processor's value."""
    words = text("decoding")
    if isinstance(stage.by, str):
        return words["stage"][{OWN: "own", ALLOWED: "allowed"}[stage.by]]
    (value,) = vars(stage.by).values()
    name = next(name for name, (made, *_) in LOGITS_PROCESSORS.items() if isinstance(stage.by, made))
    return f"{words['control'][name]} {value:g}"
