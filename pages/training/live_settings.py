"""The settings of a live training, drawn as boxes and kept in the URL."""

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from pages.ui.format import amount, number, whole
from pages.ui.limits import TRAINING_MINUTES, TRAINING_STEPS
from pages.ui.pickers import pick, pick_number, slide
from pages.ui.text import text
from transformer.network.cost import parameters
from transformer.tasks import TASKS, find_task
from transformer.training.shortened import can_be_shortened
from transformer.training.training_settings import LiveSettings

SIZES = {"d_model": (16, 32, 64, 96, 128), "heads": (1, 2, 4, 8), "layers": (1, 2, 3), "d_ff": (32, 64, 128, 256, 512)}
LEARNING_RATES = (0.0001, 0.0003, 0.001, 0.002, 0.003, 0.005, 0.01, 0.03)
BATCHES = (8, 16, 32, 64, 128, 256)
LEAST_LENGTH, MOST_WARMUP, MOST_SMOOTHING, LARGEST_SEED = 2, 1000, 0.3, 9999
FIRST = LiveSettings()

Option = TypeVar("Option", int, float)


def pick_training() -> LiveSettings:
    """Draw the boxes for the settings of a training; returns the picked settings."""
    labels, helps = text("live")["field"], text("live")["help"]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        with st.container(width=230):
            name = pick(labels["task"], list(TASKS), "live_world", helps["task"], FIRST.task, as_list=True)
        longest = FIRST.longest
        if can_be_shortened(find_task(name)):
            with st.container(width=190):
                most = find_task(name).longest
                longest = slide(labels["longest"], LEAST_LENGTH, most, FIRST.longest, 1, "live_longest", helps["longest"])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        sizes = {field: _list(field, options) for field, options in SIZES.items()}
        with st.container(width=180):
            norm = pick(labels["norm"], ["pre-norm", "post-norm"], "live_norm", helps["norm"], as_list=True)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        rate = _list("learning_rate", LEARNING_RATES)
        batch = _list("batch", BATCHES)
        warmup = pick_number(labels["warmup"], "live_warmup", 0, MOST_WARMUP, FIRST.warmup, help=helps["warmup"], width=150)
        with st.container(width=170):
            smoothing = slide(
                labels["label_smoothing"],
                0.0,
                MOST_SMOOTHING,
                FIRST.label_smoothing,
                0.01,
                "live_smoothing",
                helps["label_smoothing"],
            )
        steps_help = helps["steps"].format(most=whole(TRAINING_STEPS), minutes=TRAINING_MINUTES)
        first = min(FIRST.steps, TRAINING_STEPS)
        steps = pick_number(labels["steps"], "live_steps", 1, TRAINING_STEPS, first, help=steps_help, width=160)
        seed = pick_number(labels["seed"], "live_seed", 0, LARGEST_SEED, FIRST.seed, help=helps["seed"], width=110)
    settings = LiveSettings(
        task=name,
        longest=int(longest),
        **sizes,
        pre_norm=norm == "pre-norm",
        dropout=FIRST.dropout,
        steps=first if steps is None else steps,
        batch=int(batch),
        learning_rate=rate,
        warmup=FIRST.warmup if warmup is None else warmup,
        label_smoothing=float(smoothing),
        seed=seed or 0,
        minutes=TRAINING_MINUTES,
    )
    count = parameters(settings.recipe.make_config())
    st.caption(text("live")["size"].format(parameters=amount(count), pairs=whole(settings.steps * settings.batch)))
    if settings.warmup >= settings.steps:
        highest = number(settings.recipe.rate_at(settings.steps - 1), 3)
        st.caption(text("live")["long_warmup"].format(rate=highest))
    return settings


def _list(field: str, options: Sequence[Option]) -> Option:
    """Draw a box with a list of values for a field; returns the picked value."""
    labels, helps = text("live")["field"], text("live")["help"]
    with st.container(width=130):
        return pick(labels[field], options, f"live_{field}", helps[field], getattr(FIRST, field), as_list=True)
