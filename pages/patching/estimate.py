"""Attribution patching beside patching: an estimate of the effect of every place by a backward pass, and how well it agrees
with patching."""

import math

import numpy as np
import streamlit as st

from pages.patching.places import grid_of, pick_choice, takes_long
from pages.patching.two_runs_to_patch import Choice, Runs, patched
from pages.shell.view.explained_chart import Cell, ring, show_explained
from pages.shell.view.explained_number import difference_formula
from pages.ui.caches import cached
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import fixed, number
from pages.ui.text import figure_labels, text
from transformer.figures.patching_charts import agreement_dots
from transformer.figures.patching_figures import patch_grids
from transformer.patching import Patched, agreement, attribute_everywhere


@cached
def _estimated(runs: Runs, choice: Choice) -> dict[str, np.ndarray]:
    return attribute_everywhere(runs.pair, choice.what, choice.direction, choice.positions, choice.steps)


def show_estimate(runs: Runs) -> None:
    """Draw the estimate of every place, and beside it the exact effects, where they are computed."""
    words = text("patching")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choice = pick_choice(runs)
    st.caption(words["estimate_says"])
    estimated = runs.clean.run(_estimated, runs, choice)
    if takes_long(runs, choice):
        st.info(words["estimate_alone"], icon=":material/bolt:")
        grids = [grid_of(runs, choice, grid, of_grid) for grid, of_grid in estimated.items()]
        figure = chart(patch_grids, grids, None, words["moved"], tokens=True, labels=figure_labels())
        show(figure, "estimated-map", words["estimate_alt"])
        return
    exact = patched(runs, choice)
    correlation = agreement(estimated, exact)
    if math.isnan(correlation):
        st.markdown(words["no_correlation"])
    else:
        st.markdown(words["correlation"].format(value=fixed(correlation, 2)))
    first, second = (np.concatenate([of[grid].ravel() for grid in estimated]) for of in (estimated, exact.moved["logit"]))
    names = _names(runs, choice, exact)

    def explain(dot: Cell) -> None:
        """Draw what the estimate of a place misses."""
        values = {"estimated": number(first[dot.column]), "exact": number(second[dot.column])}
        st.markdown(words["explained_estimate"].format(place=literal(names[dot.column]), **values))
        st.latex(difference_formula(first[dot.column], second[dot.column]))

    show_explained(
        chart(agreement_dots, first, second, names, (words["exact"], words["estimated"])),
        "estimate-dots",
        words["estimate_alt"],
        explain,
        (2, len(names)),
        marks=lambda dot: ring(float(second[dot.column]), float(first[dot.column])),
    )


def _names(runs: Runs, choice: Choice, exact: Patched) -> list[str]:
    """The name of each place, in the order of the grids."""
    names = []
    for grid, values in exact.moved["logit"].items():
        drawn = grid_of(runs, choice, grid, values)
        names += [f"{drawn.title} {row} {column}".strip() for row in drawn.rows for column in drawn.columns]
    return names
