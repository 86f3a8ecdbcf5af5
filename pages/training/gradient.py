"""One gradient step on a real batch, part by part: prediction and loss (`step_loss`), gradients, update, and the loss after the
step."""

import re

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell.view.explained_chart import show_explained
from pages.shell.view.runs import runs
from pages.shell.view.turns import computed
from pages.training.batches import PAIRS, batches, schedule
from pages.training.explained_numbers import explain_norm
from pages.training.frames import Frames
from pages.training.step_loss import TABLE_ROW, show_prediction
from pages.ui.caches import cached
from pages.ui.charts import chart
from pages.ui.format import fixed, number, whole
from pages.ui.pickers import pick, pick_number, slide
from pages.ui.text import text
from transformer import Pipeline
from transformer.figures.training_figures import part_bars
from transformer.network.former_names import present_name
from transformer.tasks import TASKS
from transformer.training.adam import BETAS, EPSILON
from transformer.training.gradient_step import NUDGE, OpenedStep, StepSettings, Weight, open_step
from transformer.training.held_out import batch_of

MOST_EARLIER = 5
FIRST_WEIGHT = "decoder.layers.0.cross_attention.query.projection.weight"


@cached
def opened(name: str, weight: Weight, step: int, earlier: int) -> OpenedStep:
    """The numbers of one gradient step of the model `name`, after `earlier` steps on other batches, with details of one
    `weight`. All these steps have the settings that the model's training had at `step`, counted from 0."""
    pipeline, recipe = runs().own_pipeline(name), schedule(runs().own_pipeline(name))
    rate = recipe.rate_at(min(step, recipe.steps - 1))
    settings = StepSettings(rate, recipe.label_smoothing, recipe.clip)
    return open_step(pipeline, [batch_of(pipeline, pairs) for pairs in batches(pipeline, earlier + 1)], weight, settings)


def show_step(frames: Frames, frame: int) -> None:
    """Draw one gradient step, part by part, that starts from the model at a frame (saved state), counted from 0."""
    words, name, pipeline = text("training"), frames.names[frame], frames.pipeline(frame)
    if pipeline.card.task not in TASKS:
        st.info(words["no_task"], icon=":material/public_off:")
        return
    step = frames.steps[frame]
    st.markdown(words["step_text"].format(step=whole(step), pairs=PAIRS))
    parameter, shape = _pick_parameter(pipeline)
    numbers, beside = st.columns((5, 4))  # row and column fit beside one another on a projector
    with numbers:
        weight = Weight(parameter, _pick_place(shape))
    with beside:
        earlier = int(slide(words["earlier"], 0, MOST_EARLIER, 0, 1, "earlier", words["earlier_help"]))
    taken = computed(words["step_running"], opened, name, weight, step, earlier, heavy=True)
    pairs = batches(pipeline, earlier + 1)[-1]
    st.markdown(f"### {words['predict_title']}")
    item = pick(words["pair"], range(1, PAIRS + 1), "pair") - 1
    show_prediction(pipeline, pairs, taken, item)
    st.subheader(words["blame_title"], anchor="gradient")
    _show_blame(taken, weight)
    st.markdown(f"### {words['update_title']}")
    _show_update(taken, schedule(pipeline).rate_at(min(step, frames.steps[-1] - 1)))
    _show_after(taken, earlier, pipeline.card.recipe["batch"])


def _pick_parameter(pipeline: Pipeline) -> tuple[str, tuple[int, ...]]:
    """Draw a picker of a parameter; returns its name and its shape. The picker has its own row, so that the longest name
    fits."""
    words = text("training")
    shapes = {name: tuple(parameter.shape) for name, parameter in pipeline.model.named_parameters()}
    first = FIRST_WEIGHT if FIRST_WEIGHT in shapes else next(iter(shapes))
    name = pick(words["weight"], list(shapes), "weight", words["weight_help"], first, as_list=True, present=present_name)
    return name, shapes[name]


def _pick_place(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Draw pickers of a row and a column; returns them, counted from 0."""
    words, index = text("training"), []
    with st.container(horizontal=True):
        for key, size in zip(("row", "column"), shape, strict=False):
            index.append(pick_number(words[key].format(most=size), key, 1, size, 1, width=160) or 1)
    return tuple(at - 1 for at in index)


def _show_blame(taken: OpenedStep, weight: Weight) -> None:
    """Draw the gradient of the weight twice: from autograd, and from small changes of the weight (finite differences). Below,
    draw the 2-norm of the gradient of each part of the model."""
    words = text("training")
    # The name and the indices as in Python, where both count from 0; the pickers count rows from 1.
    name = f"{weight.name}[{', '.join(map(str, weight.index))}]"
    st.markdown(words["blame_text"].format(name=name, value=number(taken.value, 6)))
    with st.container(horizontal=True):
        st.metric(words["autograd"], number(taken.gradient, 6), help=words["autograd_help"], width="content")
        st.metric(words["finite"], number(taken.finite_difference, 6), help=words["finite_help"], width="content")
    lower, upper = (fixed(loss, 9) for loss in taken.nudged)
    st.caption(words["nudged"].format(nudge=number(NUDGE, 1), lower=lower, upper=upper))
    groups: dict[str, list[float]] = {}
    for parameter, norm in taken.norms.items():
        group = re.match(r"(?:encoder|decoder)\.layers\.\d+\.[a-z]+(?:_attention|_forward)|[a-z_]+", parameter)
        assert group
        groups.setdefault(group[0], []).append(norm)
    names, norms = [_readable(group) for group in groups], [np.array(of_group) for of_group in groups.values()]
    lengths = np.array([np.linalg.norm(of_group) for of_group in norms])
    figure = chart(part_bars, names, lengths, words["norm"])
    st.markdown(f"**{words['norms_title']}**")
    show_explained(
        figure,
        "gradient-norms",
        words["norms_alt"],
        lambda bar: explain_norm(names[bar.column], norms[bar.column]),
    )
    st.caption(words["norms_caption"].format(total=number(taken.norm, 4)))


def _readable(group: str) -> str:
    """`encoder.layers.0.self_attention` → `encoder 1, self attention`."""
    match = re.fullmatch(r"(encoder|decoder)\.layers\.(\d+)\.(\w+)", group)
    if match:
        return f"{match[1]} {int(match[2]) + 1}, {match[3].replace('_', ' ')}"
    return f"{group}, last norm" if group in ("encoder", "decoder") else group.replace("_", " ")


def _show_update(taken: OpenedStep, rate: float) -> None:
    """Draw Adam's two running means and the change of the weight."""
    words, update = text("training"), taken.update
    before = number(update.square_before, 3)
    values = [
        (words["adam"]["gradient"], "g", update.gradient),
        (
            words["adam"]["mean"],
            f"m = {BETAS[0]} · {number(update.mean_before, 3)} + {number(1 - BETAS[0], 2)} · g",
            update.mean,
        ),
        (
            words["adam"]["square"],
            f"v = {BETAS[1]} · {before} + {number(1 - BETAS[1], 2)} · g²",
            update.square,
        ),
        (words["adam"]["corrected_mean"], f"m̂ = m / (1 − {BETAS[0]}^{update.number})", update.corrected_mean),
        (words["adam"]["corrected_square"], f"v̂ = v / (1 − {BETAS[1]}^{update.number})", update.corrected_square),
        (words["adam"]["change"], f"−{number(rate, 4)} · m̂ / (√v̂ + {number(EPSILON, 2)})", update.change),
        (words["adam"]["after"], f"{number(taken.value, 7)} + Δ", taken.value_after),
    ]
    numbers = {"before": number(taken.value, 6), "after": number(taken.value_after, 6), "change": number(update.change, 3)}
    st.markdown(words["update_text"].format(**numbers))
    st.space(20)  # otherwise the buttons of the table cover the end of the sentence on a phone
    headings = words["adam_columns"]
    table = pd.DataFrame([(name, number(value, 6), formula) for name, formula, value in values], columns=list(headings))
    st.dataframe(table, hide_index=True, width="stretch", row_height=TABLE_ROW)
    st.caption(words["adam_caption"].format(number=update.number))


def _show_after(taken: OpenedStep, earlier: int, batch: int) -> None:
    """Draw the loss of the batch after the step, and the effect of the `earlier` steps. `batch` is the number of pairs in a
    batch of the model's training."""
    words = text("training")
    losses = {"start": taken.loss_at_start, "before": taken.loss, "after": taken.loss_after}
    values = {name: fixed(loss, 4) for name, loss in losses.items()}
    st.markdown(words["after"].format(**values))
    if earlier:
        st.markdown(words["after_earlier"].format(count=earlier, **values))
    st.caption(words["after_note" if taken.loss_after < taken.loss else "after_rose"].format(pairs=PAIRS, batch=batch))
