"""Attribution patching beside patching: an estimate of the effect of every place by a backward pass, and how well it agrees
with patching."""

import math

import numpy as np
import streamlit as st

from pages.patching.opened import place_name
from pages.patching.places import grid_of, pick_choice, takes_long
from pages.patching.two_runs_to_patch import Choice, Runs, patched
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import difference_formula, sum_of_products
from pages.ui.caches import cached
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import fixed, latex, number, whole
from pages.ui.text import text
from transformer.figures.patching_charts import agreement_dots
from transformer.figures.patching_figures import patch_grids
from transformer.patching import Attribution, Patched, Place, agreement, attribute_everywhere, attribute_place

SHORT = 3  # significant digits of the factors of a long sum of products


@cached
def _estimated(runs: Runs, choice: Choice) -> dict[str, np.ndarray]:
    return attribute_everywhere(runs.pair, choice.what, choice.direction, choice.positions, choice.steps)


def show_estimate(runs: Runs) -> None:
    """Draw the estimated effect of patching each place (a head or layer, and perhaps a token) against the exact effect. If
    exact patching takes long, draw only the estimates, as a map."""
    words = text("patching")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choice = pick_choice(runs)
    st.caption(words["estimate_says"])
    estimated = runs.clean.run(_estimated, runs, choice)
    if takes_long(runs, choice):
        st.info(words["estimate_alone"], icon=":material/bolt:")
        grids = [grid_of(runs, choice, grid, of_grid) for grid, of_grid in estimated.items()]
        figure = chart(patch_grids, grids, None, words["moved"], tokens=True)
        drawn = [*estimated]

        def place_of(cell: Cell) -> Place:
            """The place of a cell of the map of every token."""
            grid = drawn[cell.trace]
            layer, head = divmod(cell.row, estimated[grid].shape[1])
            return Place(grid, layer, head, cell.column)

        def explain_place(cell: Cell) -> None:
            place = place_of(cell)
            _explain(runs, choice, place, place_name(runs, choice, place))

        show_explained(
            figure,
            "estimated-map",
            words["estimated_alt"],
            explain_place,
        )
        return
    exact = patched(runs, choice)
    correlation = agreement(estimated, exact)
    if math.isnan(correlation):
        st.markdown(words["no_correlation"])
    else:
        st.markdown(words["correlation"].format(value=fixed(correlation, 2)))
    first, second = (np.concatenate([of[grid].ravel() for grid in estimated]) for of in (estimated, exact.moved["logit"]))
    names, each = _names(runs, choice, exact), choice.positions == "each"
    places = [
        Place(grid, layer, head, position if each else None)
        for grid, values in estimated.items()
        for layer, head, position in np.ndindex(*values.shape)
    ]
    far = int(np.abs(first - second).argmax())
    place = literal(place_name(runs, choice, places[far]))
    st.markdown(words["farthest"].format(place=place, estimated=fixed(first[far], 2), exact=fixed(second[far], 2)))

    def explain(dot: Cell) -> None:
        """Draw how the estimate of a place was computed, and what it misses."""
        _explain(runs, choice, places[dot.column], names[dot.column])
        values = {"estimated": number(first[dot.column]), "exact": number(second[dot.column])}
        st.markdown(words["explained_misses"].format(**values))
        st.latex(difference_formula(first[dot.column], second[dot.column]))

    show_explained(
        chart(agreement_dots, first, second, names, (words["exact"], words["estimated"])),
        "estimate-dots",
        words["estimate_alt"],
        explain,
    )


@cached
def _terms(runs: Runs, choice: Choice, place: Place) -> Attribution:
    return attribute_place(runs.pair, place, choice.what, choice.direction, choice.steps)


def _explain(runs: Runs, choice: Choice, place: Place, name: str) -> None:
    """Draw how the estimate of a place was computed. `name` is that of the place."""
    terms = runs.clean.run(_terms, runs, choice, place)
    says = text("patching")["explained_estimate"]
    st.markdown(says.format(place=literal(name), count=whole(len(terms.changes))))
    pairs = zip(terms.gradients.tolist(), terms.changes.tolist(), strict=True)
    st.latex(f"{sum_of_products(pairs, SHORT)} = {latex(terms.estimate)}")


def _names(runs: Runs, choice: Choice, exact: Patched) -> list[str]:
    """The name of each place, in the order of the values of `exact`."""
    names = []
    for grid, values in exact.moved["logit"].items():
        drawn = grid_of(runs, choice, grid, values)
        names += [f"{drawn.title} {row} {column}".strip() for row in drawn.rows for column in drawn.columns]
    return names
