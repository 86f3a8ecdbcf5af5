"""The settings of a recorded training that the page draws: the learning rate of each step, and label smoothing."""

import streamlit as st

from pages.shell.view.explained_chart import show_explained
from pages.training.batches import batches, schedule
from pages.training.explained_numbers import explain_asked_share, explain_rate
from pages.training.frames import Frames
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import fixed, number, share, whole
from pages.ui.text import text
from transformer.analysis.label_smoothing import least_loss, smoothed_target
from transformer.figures.training_figures import Series, part_bars, step_lines
from transformer.tasks import TASKS
from transformer.training.held_out import batch_of

MOST_TARGETS = 6  # at most this many bars of the smoothed target


def show_schedule(frames: Frames, frame: int) -> None:
    """Draw the learning rate over the steps of the training, and mark the step of a frame (saved state), counted from 0."""
    words, recipe = text("training"), schedule(frames.pipeline(-1))
    again = recipe.hard_from if recipe.hard_rate else recipe.steps
    turns = {recipe.warmup, again - 1, again, min(again + recipe.warmup, recipe.steps), recipe.steps}
    steps = sorted({*range(0, recipe.steps, max(1, recipe.steps // 60)), *turns})
    rates = [recipe.rate_at(step) for step in steps]
    line = Series(words["rate"], steps, rates)
    figure = chart(step_lines, [line], words["rate"], words["steps"], frames.steps[frame], None, False, False)
    show_explained(
        figure,
        "learning-rate",
        words["rate_alt"],
        lambda point: explain_rate(recipe, steps[point.column]),
        name=f"{frames.model}-learning-rate",
    )
    caption = words["rate_caption"].format(
        warmup=whole(recipe.warmup), rate=number(recipe.learning_rate, 3), steps=whole(again)
    )
    if recipe.hard_rate:
        again_for = "rate_as_typed" if recipe.as_typed else "rate_again"
        caption += " " + words[again_for].format(
            rate=number(recipe.hard_rate, 3), again=whole(again), steps=whole(recipe.steps)
        )
    st.markdown(caption)


def show_smoothing(frames: Frames) -> None:
    """Draw the smoothed target distribution of the first target token of the batch, and write the least loss that is possible
    with label smoothing."""
    words, pipeline = text("training"), frames.pipeline(-1)
    smoothing, count = schedule(pipeline).label_smoothing, len(pipeline.target_vocabulary)
    if not smoothing:
        st.markdown(words["no_smoothing"])
        return
    if pipeline.card.task not in TASKS:
        st.info(words["no_pairs_smoothing"], icon=":material/public_off:")
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
    show_explained(
        figure,
        "smoothed-target",
        words["smoothing_alt"].format(token=names[0]),
        lambda bar: explain_asked_share(names[bar.column], bar.column == 0, smoothing, count),
    )
    st.caption(
        words["smoothing_caption"].format(source=literal(pairs[0].source), token=literal(names[0]), more=count - len(drawn))
    )
