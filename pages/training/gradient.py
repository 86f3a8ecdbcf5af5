"""One gradient step on a real batch, part by part: prediction, loss, gradients, update, and the loss after the step."""

import itertools
import math
import re

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell.view.explained_chart import Cell, ring, show_explained
from pages.shell.view.explained_number import aligned, length_formula, smoothed_share
from pages.shell.view.runs import runs
from pages.shell.view.turns import waited_aside
from pages.training.frames import Frames
from pages.ui.caches import cached
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import fixed, latex, number, share, whole
from pages.ui.pickers import pick, pick_number, slide
from pages.ui.text import text
from transformer import Pipeline
from transformer.analysis.label_smoothing import least_loss, smoothed_target
from transformer.figures.decoding_figures import loss_bars
from transformer.figures.training_figures import Series, part_bars, step_lines
from transformer.network.former_names import present_name
from transformer.tasks import TASKS, Pair
from transformer.training.adam import BETAS, EPSILON
from transformer.training.gradient_step import NUDGE, OpenedStep, StepSettings, Weight, open_step
from transformer.training.held_out import batch_of
from transformer.training.recipe import Recipe

PAIRS = 6  # the size of the batch: few enough pairs to read
MOST_EARLIER = 5
ROW = 29  # px: height of a row of a table
MOST_TARGETS = 6  # at most this many bars of the smoothed target
FIRST_WEIGHT = "decoder.layers.0.cross_attention.query.projection.weight"


def batches(pipeline: Pipeline, count: int) -> list[list[Pair]]:
    """The first `count` batches of the training split of a model's task."""
    pairs = TASKS[pipeline.card.task].pairs("train", "one step")
    return [list(itertools.islice(pairs, PAIRS)) for _ in range(count)]


def schedule(pipeline: Pipeline) -> Recipe:
    """The recipe of a model's training, with its learning rates."""
    recipe = pipeline.card.recipe
    names = ("task", "steps", "learning_rate", "warmup", "hard", "hard_from", "hard_rate", "label_smoothing", "clip")
    return Recipe(**{name: recipe[name] for name in names if name in recipe})


@cached
def opened(name: str, weight: Weight, step: int, earlier: int) -> OpenedStep:
    """One gradient step of a frame's model, after `earlier` steps on other batches, with the settings that its training had at
    this step."""
    pipeline, recipe = runs().own_pipeline(name), schedule(runs().own_pipeline(name))
    rate = recipe.rate_at(min(step, recipe.steps - 1))
    settings = StepSettings(rate, recipe.label_smoothing, recipe.clip)
    return open_step(pipeline, [batch_of(pipeline, pairs) for pairs in batches(pipeline, earlier + 1)], weight, settings)


def show_step(frames: Frames, frame: int) -> None:
    """Draw one step of training that starts from the film's frame."""
    words, name, pipeline = text("training"), frames.names[frame], frames.pipeline(frame)
    if pipeline.card.task not in TASKS:
        st.info(words["no_task"], icon=":material/public_off:")
        return
    step = frames.steps[frame]
    st.markdown(words["step_text"].format(step=whole(step), pairs=PAIRS))
    parameter, shape = _pick_parameter(pipeline)
    numbers, beside = st.columns(2)
    with numbers:
        weight = Weight(parameter, _pick_place(shape))
    with beside:
        earlier = int(slide(words["earlier"], 0, MOST_EARLIER, 0, 1, "earlier", words["earlier_help"]))
    taken = waited_aside(words["step_running"], opened, name, weight, step, earlier)
    pairs = batches(pipeline, earlier + 1)[-1]
    st.markdown(f"### {words['predict_title']}")
    item = pick(words["pair"], range(1, PAIRS + 1), "pair") - 1
    _show_prediction(pipeline, pairs, taken, item)
    st.markdown(f"### {words['blame_title']}")
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


def _show_prediction(pipeline: Pipeline, pairs: list[Pair], taken: OpenedStep, item: int) -> None:
    """Draw for each pair which tokens the decoder reads, must predict and predicts. Then draw the loss of each token of one
    pair."""
    words, vocabulary = text("training"), pipeline.target_vocabulary
    _, target = batch_of(pipeline, pairs)
    rows = target.tolist()
    columns = words["columns"]
    listed = []
    for place, (pair, row, best, counted, losses) in enumerate(
        zip(pairs, rows, taken.best.tolist(), taken.counted, taken.losses, strict=True), 1
    ):
        real = int(counted.sum())
        listed.append(
            {
                columns["number"]: place,
                columns["source"]: pair.source,
                columns["reads"]: " ".join(vocabulary.tokens_of(row[:real])),
                columns["expected"]: " ".join(vocabulary.tokens_of(row[1 : real + 1])),
                columns["predicted"]: " ".join(vocabulary.tokens_of(best[:real])),
                columns["loss"]: fixed(float(losses[:real].mean()), 3),
            }
        )
    st.dataframe(pd.DataFrame(listed), hide_index=True, width="stretch", row_height=ROW)
    st.caption(words["forced_note"])
    st.markdown(f"### {words['compare_title']}")
    counted = not st.toggle(words["count_padding"], key="count_padding", bind="query-params", help=words["count_padding_help"])
    real = int(taken.counted[item].sum()) if counted else taken.counted.shape[1]
    tokens = vocabulary.tokens_of(rows[item][1 : real + 1])
    right = taken.best[item, :real] == np.array(rows[item][1 : real + 1])
    figure = chart(loss_bars, tokens, taken.losses[item, :real], right, words["token_loss"])
    padding, smoothing = ~taken.counted, schedule(pipeline).label_smoothing

    def explain(bar: Cell) -> None:
        """Draw how the loss of a token was computed."""
        loss, given = (float(of[item, bar.column]) for of in (taken.losses, taken.shares))
        mean = (loss + (1 - smoothing) * math.log(given)) / smoothing if smoothing else 0.0  # of −log p over all tokens
        says = words["explained_loss" if smoothing else "explained_plain_loss"]
        st.markdown(says.format(token=literal(tokens[bar.column]), smoothing=number(smoothing), count=len(vocabulary)))
        right = rf"(-\ln({latex(given)}))"
        smoothed = rf"(1 - {latex(smoothing)}) \cdot {right} + {latex(smoothing)} \cdot {latex(mean)}"
        st.latex(rf"{smoothed if smoothing else right} = {latex(loss)}")

    show_explained(
        figure,
        "token-losses",
        words["token_losses_alt"].format(number=item + 1),
        explain,
        (1, real),
        marks=lambda bar: ring(bar.column, float(taken.losses[item, bar.column])),
    )
    least = least_loss(len(vocabulary), smoothing)
    values = {
        "loss": fixed(taken.loss, 4),
        "count": int(taken.counted.sum()),
        "padding": int(padding.sum()),
        "all": fixed(float(taken.losses.mean()), 4),
        "only": fixed(float(taken.losses[padding].mean()), 4) if padding.any() else "–",
        "share": share(float(padding.mean())),
        "least": fixed(least, 4),
    }
    st.markdown(words["mean_loss" if counted else "mean_with_padding"].format(**values))
    if not counted:
        lied = float(np.where(padding, least, taken.loss).mean())
        st.warning(words["padding_lie"].format(**values, lied=fixed(lied, 4)))
    elif smoothing:
        given = float(taken.shares[item, 0])
        first = {"token": literal(tokens[0]), "given": share(given, 2), "plain": fixed(-math.log(given), 3)}
        st.markdown(words["loss_smoothed"].format(**values, **first, bar=fixed(float(taken.losses[item, 0]), 3)))


def _show_blame(taken: OpenedStep, weight: Weight) -> None:
    """Draw the gradient of the weight twice: from autograd, and from small changes of the weight (finite differences)."""
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

    def explain(bar: Cell) -> None:
        """Draw how the norm of a part was computed from those of its parameters."""
        st.markdown(words["explained_norm"].format(part=names[bar.column], count=len(norms[bar.column])))
        st.latex(aligned([length_formula(norms[bar.column], "g")]))

    show_explained(
        figure,
        "gradient-norms",
        words["norms_alt"],
        explain,
        (1, len(names)),
        marks=lambda bar: ring(float(lengths[bar.column]), bar.column),
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
    st.dataframe(table, hide_index=True, width="stretch", row_height=ROW)
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


def show_schedule(frames: Frames, frame: int) -> None:
    """Draw the learning rate over the steps of the training."""
    words, recipe = text("training"), schedule(frames.pipeline(-1))
    again = recipe.hard_from if recipe.hard_rate else recipe.steps
    turns = {recipe.warmup, again - 1, again, min(again + recipe.warmup, recipe.steps), recipe.steps}
    steps = sorted({*range(0, recipe.steps, max(1, recipe.steps // 60)), *turns})
    rates = [recipe.rate_at(step) for step in steps]
    line = Series(words["rate"], steps, rates)
    figure = chart(step_lines, [line], words["rate"], words["steps"], frames.steps[frame], None, False, False)
    show(figure, "learning-rate", words["rate_alt"], f"{frames.model}-learning-rate")
    caption = words["rate_caption"].format(
        warmup=whole(recipe.warmup), rate=number(recipe.learning_rate, 3), steps=whole(again)
    )
    if recipe.hard_rate:
        caption += " " + words["rate_again"].format(
            rate=number(recipe.hard_rate, 3), again=whole(again), steps=whole(recipe.steps)
        )
    st.markdown(caption)


def show_smoothing(frames: Frames) -> None:
    """Draw the smoothed target of the first token of the batch, and write the least loss that is possible with label
    smoothing."""
    words, pipeline = text("training"), frames.pipeline(-1)
    smoothing, count = schedule(pipeline).label_smoothing, len(pipeline.target_vocabulary)
    if not smoothing:
        st.markdown(words["no_smoothing"])
        return
    if pipeline.card.task not in TASKS:
        st.info(words["no_task"], icon=":material/public_off:")
        return
    pairs = batches(pipeline, 1)[0]
    _, rows = batch_of(pipeline, pairs)
    token = int(rows[0, 1])
    target = smoothed_target(count, token, smoothing)
    values = {"smoothing": number(smoothing, 3), "asked": share(target[token], 2), "other": number(smoothing / count, 2)}
    st.markdown(words["smoothing_text"].format(**values, count=count, least=fixed(least_loss(count, smoothing), 4)))
    drawn = [token, *(other for other in range(count) if other != token)][:MOST_TARGETS]
    names = pipeline.target_vocabulary.tokens_of(drawn)
    figure = chart(part_bars, names, target[drawn], words["asked_share"])

    def explain(bar: Cell) -> None:
        """Draw how the share of a token was computed."""
        says = words["explained_right" if bar.column == 0 else "explained_other"]
        st.markdown(says.format(token=literal(names[bar.column]), count=count))
        st.latex(smoothed_share(smoothing, count, bar.column == 0))

    show_explained(
        figure,
        "smoothed-target",
        words["smoothing_alt"].format(token=names[0]),
        explain,
        (1, len(names)),
        marks=lambda bar: ring(float(target[drawn[bar.column]]), bar.column),
    )
    st.caption(
        words["smoothing_caption"].format(source=literal(pairs[0].source), token=literal(names[0]), more=count - len(drawn))
    )
