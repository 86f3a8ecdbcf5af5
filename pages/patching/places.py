"""The map of all places (head or layer, and token): how far the answer moves if one place comes from the other run."""

from functools import partial

import numpy as np
import streamlit as st

from pages.patching.opened import grid_title, place_name, show_opened
from pages.patching.two_runs_to_patch import Choice, Runs, patched, patched_runs
from pages.shell.view.background import show_background
from pages.shell.view.card_heads import pick_head
from pages.shell.view.explained_chart import clicked_cell
from pages.shell.view.patched_runs import places_of, work_of
from pages.ui.caches import RESULTS
from pages.ui.chart import event, narrowness
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import number
from pages.ui.limits import PATCH_WORK
from pages.ui.pickers import pick, pick_position
from pages.ui.text import text
from transformer.figures.patching_figures import Grid, patch_grids, side_by_side_width
from transformer.patching import Head, Patched, Place
from transformer.patching.places import BEFORE_LAYERS, OF_HEADS, OF_STACKS, WHATS, Swap
from transformer.patching.scores import METRICS
from transformer.tracing.paths import Side

MAP, TOKEN = "patch-map", "token"


def show_places(runs: Runs) -> None:
    """Draw pickers of what is patched, a map of the effect of each head or layer (at each token), and the run of the picked
    one."""
    words = text("patching")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choice = pick_choice(runs)
        metric = pick(words["metric"], list(METRICS), "metric", words["metric_help"], as_list=True)
    st.caption(f"{words['what_says'][choice.what]} {words['direction_says'][choice.direction]}")
    found = _waited(runs, choice)
    if found is None:
        return
    above = st.container()
    place = _picked(runs, choice, found)
    with above:
        _show_map(runs, choice, found, metric, place)
    show_opened(runs, choice, found, place)


def pick_choice(runs: Runs) -> Choice:
    """Draw pickers in the caller's row: what is taken from the other run, the direction, and at which tokens. Returns the
    choice."""
    words = text("patching")
    network = runs.clean.pipeline.network
    offered = [what for what in WHATS if Swap(what).grids(network)]
    direction = pick(words["direction"], ["denoise", "noise"], "direction")
    what = pick(words["what"], offered, "what", words["what_help"], as_list=True)
    positions = pick(words["positions"], ["together", "each"], "tokens", words["positions_help"])
    steps = "all"
    if positions == "together" and "decoder" in runs.clean.pipeline.stacks:
        steps = pick(words["steps"], ["all", "this"], "steps", words["steps_help"])
    return Choice(what, direction, positions, steps)


def _waited(runs: Runs, choice: Choice) -> Patched | None:
    """The result of patching every place. If patching takes long, it runs in the background after a click; until then, returns
    None."""
    if not takes_long(runs, choice):
        return patched(runs, choice)
    st.info(text("patching")["long"], icon=":material/hourglass_empty:")
    jobs = [partial(patched_runs, runs, choice)]
    show_background("patch-each", text("patching")["patch_each"], jobs, places_of(runs, choice), (runs, choice))
    return None


def takes_long(runs: Runs, choice: Choice) -> bool:
    """Whether patching each token alone takes so long that a click must start it. False for a cached result."""
    if choice.positions != "each" or RESULTS.has(patched_runs, runs, choice):
        return False
    return work_of(runs, choice) > PATCH_WORK


def tokens_of(runs: Runs, side: Side) -> list[str]:
    """A name for each token of a side: the token, or if the runs differ there, both tokens with a slash between them."""
    pairs = zip(*(view.trace().tokens_of(side)[0] for view in (runs.clean, runs.corrupt)), strict=True)
    return [first if first == second else f"{first}/{second}" for first, second in pairs]


def _picked(runs: Runs, choice: Choice, found: Patched) -> Place:
    """Draw pickers of a place; returns the picked place. By default, it is the place that moves the logit difference most."""
    moved = found.moved["logit"]
    grid = max(moved, key=lambda grid: float(np.nanmax(np.abs(moved[grid]))))
    values = np.nan_to_num(np.abs(moved[grid]))
    layer, head, position = (int(index) for index in np.unravel_index(values.argmax(), values.shape))
    if choice.what not in OF_HEADS:
        label = text("residual")["stack"] if choice.what in OF_STACKS else text("attention")["kind"]
        grid = pick(label, list(moved), "kind", first=grid)
        layers = range(1, moved[grid].shape[0] + 1)
        if choice.what != BEFORE_LAYERS:
            layer = pick(text("attention")["layer"], layers, "layer", first=layer + 1) - 1
        chosen = Head(grid, layer, 0)
    else:
        chosen = pick_head(runs.clean.trace(), Head(grid, layer, head))
    if choice.positions == "together":
        return Place(*chosen)
    names = tokens_of(runs, Swap(choice.what).side(chosen.kind))
    return Place(*chosen, pick_position(text("patching")["token"], names, TOKEN, first=position))


def _show_map(runs: Runs, choice: Choice, found: Patched, metric: str, place: Place) -> None:
    words, each = text("patching"), choice.positions == "each"
    values = found.shares(metric) if found.differs(metric) else found.moved[metric]
    ends = (words["as_b"], words["as_a"]) if found.differs(metric) else None
    if not found.differs(metric):
        corrupt, clean = (number(value, 3) for value in found.ends[metric])
        st.warning(words["barely"].format(a=clean, b=corrupt), icon=":material/balance:")
    grids = [grid_of(runs, choice, grid, of_grid) for grid, of_grid in values.items()]
    frame = (place.grid, *_cell(choice, found, place))
    named = words["share"] if ends else words["metrics"][metric]
    noise = choice.direction == "noise" and ends is not None
    stacked = not each and narrowness(MAP) > 0
    figure = chart(patch_grids, grids, ends, named, tokens=each, picked=frame, reverse=noise, stacked=stacked)
    alt = words["map_alt"].format(what=words["whats"][choice.what], direction=words["directions"][choice.direction])
    heads = {name: int(of.shape[1]) for name, of in values.items()}
    narrow = [] if each else [side_by_side_width(grids)]
    show(figure, MAP, alt, asks={"click": partial(_take_place, choice, figure.finished.axes, heads)}, narrow=narrow)
    st.caption(words["framed"].format(place=literal(place_name(runs, choice, place))))


def grid_of(runs: Runs, choice: Choice, grid: str, values: np.ndarray) -> Grid:
    """A map of the effects of patching in the kind of attention or the stack `grid`. `values` is [layer, head, position]."""
    words, title = text("patching"), grid_title(choice.what, grid)
    side = Swap(choice.what).side(grid)
    columns = tokens_of(runs, side) if choice.positions == "each" else None
    head = words["layer_and_head"] if choice.what in OF_HEADS else ""
    layer = "" if choice.what == BEFORE_LAYERS else words["layer"]
    return Grid.of(grid, values, title, columns, layer, head, first=1)


def _cell(choice: Choice, found: Patched, place: Place) -> tuple[int, int]:
    """The row and the column of a place in its map, counted from 0."""
    heads = found.moved["logit"][place.grid].shape[1]
    if choice.positions == "together" and choice.what in OF_HEADS:
        return place.layer, place.head
    return place.layer * heads + place.head, place.position or 0


def _take_place(choice: Choice, axes: tuple[str, str], heads: dict[str, int]) -> None:
    """Pick the place of the cell that was clicked. `heads` maps the name of each map to its number of heads, in the order of
    the maps. `axes` are the names of the row and of the column in the event."""
    cell = clicked_cell(MAP, event(MAP, "click"), axes)
    if not cell or cell.trace >= len(heads):
        return
    grid, row, column = [*heads][cell.trace], cell.row, cell.column
    if choice.positions == "together" and choice.what in OF_HEADS:
        layer, head = row, column
    else:
        layer, head = divmod(row, heads[grid])
    chosen = {"kind": grid, "layer": layer + 1}
    chosen |= {"head": head + 1} if choice.what in OF_HEADS else {}
    chosen |= {TOKEN: column} if choice.positions == "each" else {}
    st.session_state.update(chosen)
