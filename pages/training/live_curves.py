"""The curves of a live training, and the answer to the watched text."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.training.live_sidebar import model_name
from pages.ui.component import mounted
from pages.ui.escaping import literal
from pages.ui.export_menu import saving
from pages.ui.text import text
from transformer.tasks import find_task
from transformer.training.live_run import LiveTraining, Progress
from transformer.training.live_view import LiveView

# A curve has at most this many points. Each is the mean over some consecutive steps.
POINTS = 240
CURVES = "live_curves"

_mount = mounted(Path(__file__).with_suffix(""))


def show_curves(training: LiveTraining, progress: Progress) -> None:
    """Draw the curves and the answer, and the menu that saves them."""
    words = text("live")
    data = {
        "steps": progress.steps,
        "curves": {
            "loss": thinned(progress.losses),
            "accuracy": [list(check) for check in progress.checks],
            "rate": thinned(progress.rates),
        },
        "answer": answer_of(progress.view, training) if progress.view else None,
        "text": words["curves"],
    }
    _mount(key=CURVES, data=data)
    if progress.unreadable:
        watched, problem = progress.unreadable
        st.warning(words["unreadable"].format(text=literal(watched), problem=literal(problem)), icon=":material/help:")
    saving(CURVES, f"{model_name(training)}-{words['curves_name']}", lambda: curve_table(training.progress))


def thinned(values: tuple[float, ...], most: int = POINTS) -> list[list[float]]:
    """The points (step, value) of a curve with at most `most` points. If there are more values, each point is the mean over
    some consecutive steps, placed at the last of them."""
    count = len(values)
    if count <= most:
        return [[step, value] for step, value in enumerate(values, 1)]
    ends = [round(count * index / most) for index in range(most + 1)]
    return [[end, float(np.mean(values[start:end]))] for start, end in itertools.pairwise(ends)]


def curve_table(progress: Progress) -> pd.DataFrame:
    """Loss and learning rate of each step, and the accuracy of the steps at which it was tested."""
    steps = range(1, len(progress.losses) + 1)
    table = pd.DataFrame({"loss": progress.losses, "learning_rate": progress.rates}, index=pd.Index(steps, name="step"))
    return table.assign(accuracy=pd.Series(dict(progress.checks), dtype=float))


def answer_of(view: LiveView, training: LiveTraining) -> dict[str, Any]:
    """The answer of a view for the component: each token with its probability and whether it is right."""
    split = find_task(training.settings.task).target_vocabulary.split
    expected = None if view.right is None else [*split(view.right), None]  # None: the answer should end here
    tokens = []
    for index, (token, probability) in enumerate(zip(view.written, view.probabilities, strict=True)):
        right = None
        if expected is not None:
            ends = view.ended and index == len(view.written) - 1
            right = index < len(expected) and (None if ends else token) == expected[index]
        tokens.append({"token": token, "share": round(probability, 4), "right": right})
    right = None if view.right is None else view.answer == view.right and view.ended
    return {
        "step": view.step,
        "text": view.text,
        "tokens": tokens,
        "right": right,
        "expected": view.right,
        "ended": view.ended,
    }
