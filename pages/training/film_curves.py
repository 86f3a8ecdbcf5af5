"""The curves of a film: the loss and the accuracy over the steps of the training."""

import math
from collections.abc import Sequence

import streamlit as st

from pages.training.films import CHECKED, Film, history, table, tests
from pages.training.frames import SNAPSHOT
from pages.ui.chart import event, narrowness
from pages.ui.charts import chart, show
from pages.ui.format import fixed, share, whole
from pages.ui.text import text
from transformer.figures.training_figures import Curve, curve_panels

KEY = "film_curves"


def show_curves(film: Film) -> None:
    """Draw the loss and the accuracy over the steps: recorded in training, and computed now for each frame (state of the
    model). A click on a point goes to the nearest frame. The film's JavaScript marks the step of the picked frame."""
    words, frames, tested = text("training")["film"], film.frames, tests(film.frames)
    curves, courses = [], []
    for name, values in (("loss", [each.loss for each in tested]), ("accuracy", [each.exact for each in tested])):
        recorded = [(float(entry["step"]), float(entry[name])) for entry in history(frames)]
        computed = [(float(step), float(value)) for step, value in zip(frames.steps, values, strict=False)]
        most = 1.0 if name == "accuracy" else 1.05 * max([1e-9, *(value for _, value in [*recorded, *computed])])
        curves.append(Curve(words[name], recorded, most, "", computed, ".0%" if name == "accuracy" else ""))
        if course := computed if len(computed) > 1 else recorded:
            courses.append(_course(name, course[0], course[-1]))
    names = (words["recorded"], words["computed"].format(pairs=CHECKED))
    drawn = (curves, frames.steps[-1], words["axis"], names)
    figure = chart(curve_panels, *drawn, logarithmic=True, height=250)
    narrow = [figure.finished.least_width or 0]  # of the panels side by side
    if narrowness(KEY):
        figure = chart(curve_panels, *drawn, logarithmic=True, height=250, stacked=True)
    asks = {"click": lambda: go_to(KEY, SNAPSHOT, frames.steps)}
    show(
        figure,
        KEY,
        " ".join(courses),
        f"{frames.model}-curves",
        asks=asks,
        tells=True,
        narrow=narrow,
        table=lambda: table(film),
    )


def _course(name: str, first: tuple[float, float], last: tuple[float, float]) -> str:
    """A sentence about the first and the last point (step, value) of a curve."""
    values = [share(value) if name == "accuracy" else fixed(value, 2) for _, value in (first, last)]
    steps = {"from": whole(int(first[0])), "to": whole(int(last[0]))}
    return text("training")["film"][f"{name}_alt"].format(**steps, first=values[0], last=values[1])


def go_to(chart_key: str, frame_key: str, steps: Sequence[int]) -> None:
    """Pick the frame whose training step is nearest to the point that was clicked in a chart. `steps` has the step of each
    frame; `frame_key` is the session key of the picked frame's index."""
    step = event(chart_key, "click").get("data")
    if isinstance(step, int | float) and math.isfinite(step):
        distances = [abs(each - step) for each in steps]
        st.session_state[frame_key] = distances.index(min(distances))
