"""Figures of patching: what each place carries of a difference, and what heads are needed or enough for."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.attention_figures import MOST_LABELLED, MOST_WRITTEN, in_cells, unsigned_zero
from transformer.figures.labels import LABELS
from transformer.figures.theme import HUES, KIND_COLORS, LEGEND_ABOVE, LINE, SIGNED, built, escaped, token_axis

MOST_HEADS_WRITTEN = 8
# px: height of a row of cells with numbers and of other rows; height above the cells with tokens and without; width beside the
# cells; least width of a cell.
WRITTEN_ROW, ROW, ABOVE, TITLE, BESIDE, CELL = 24, 12, 78, 34, 110, 30
LEAST_HEIGHT = 120  # of maps side by side, so that the colour bar has room for its labels
BETWEEN = 40  # px between two maps side by side
GAP = 56  # px between two maps, for titles and labels
INSET = 0.45  # distance from the middle of a cell to its frame, in cells
DOTS = {"encoder": "circle", "decoder": "diamond", "cross": "square"}
NEAR = (-0.15, 1.15)  # the range of shares that a figure of dots always shows
WORD_SIZE = 13
REVERSED = [[1 - place, color] for place, color in reversed(SIGNED)]
LEAST_SCALE = (
    0.1  # the least end of the colour scale of values that are no shares, so that rounding is not drawn in dark colours
)
FAR = 1.2  # a scale that reaches so far from its white has labels at its ends
RUN_COLORS = (LINE, KIND_COLORS["decoder"], KIND_COLORS["encoder"])  # of A, of B, and of the patched run


class Grid(NamedTuple):
    """One map of places.

    Attributes:
        name: the kind of attention whose places are in the map; sent with a click.
        title: the title of the map.
        values: a row for each layer, or for each head of each layer; a column for each head, or for each token.
        rows: the names of the rows.
        columns: the names of the columns: heads, or tokens.
    """

    name: str
    title: str
    values: Float[np.ndarray, "row column"]
    rows: Sequence[str]
    columns: Sequence[str]


def patch_grids(
    grids: Sequence[Grid],
    ends: tuple[str, str] | None,
    value: str,
    tokens: bool = False,
    picked: tuple[str, int, int] | None = None,
    labels: Mapping[str, str] = LABELS,
    reverse: bool = False,
    percent: bool = False,
) -> go.Figure:
    """Maps of places on one scale: side by side if the columns are heads, one below the other if they are tokens.

    Args:
        grids: the maps, at least one. NaN stands for a place that has not been patched.
        ends: the names of the values 0 and 1 on the colour bar; None if the values are no shares.
        value: the name of a value.
        tokens: whether the columns are tokens.
        picked: name of a map, row and column of the cell that is framed.
        labels: words of the figure.
        reverse: whether 1 is white and 0 is blue, for shares of runs that start at 1. So the colour is always how far a place
            moves the answer.
        percent: whether numbers are written as percentages, also without `ends`.
    """
    base = 1.0 if reverse else 0.0
    most = max(1.0 if ends else LEAST_SCALE, *(float(np.nanmax(np.abs(grid.values - base), initial=0)) for grid in grids))
    scale = Scale(base - most, base + most, REVERSED if reverse else SIGNED)
    longest = max(len(grid.columns) for grid in grids)
    written = longest <= (MOST_WRITTEN if tokens else MOST_HEADS_WRITTEN)
    row = WRITTEN_ROW if written else ROW
    layout: dict[str, Any] = {"coloraxis": _color_axis(scale, ends, value), "annotations": [], "shapes": []}
    heights = [max(row * len(grid.rows), 2 * WRITTEN_ROW) for grid in grids]
    height = sum(heights) + (len(grids) - 1) * (GAP + 40) if tokens else max(LEAST_HEIGHT, *heights)
    traces = []
    for place, grid in enumerate(grids):
        axes = {"xaxis": f"x{place + 1}", "yaxis": f"y{place + 1}"}
        form = "{:.0%}" if percent or ends else "{:.2f}"
        traces.append(_cells(grid, axes, form if written else "", scale, value, tokens, labels))
        across, down = _domains(place, heights, height, len(grids), tokens)
        layout |= _axes(grid, place + 1, across, down, tokens, labels)
        layout["annotations"].append(_title(grid.title, across, down, tokens))
        if picked and picked[0] == grid.name:
            layout["shapes"] += _frame(picked[1], picked[2], axes)
    widest = CELL * longest
    width = BESIDE + (widest if tokens else len(grids) * (widest + BETWEEN))
    meta = {"least_width": width, "axes": {"x": "column", "y": "row"}}
    above = ABOVE if tokens else TITLE
    return built(traces, layout, height + above + 60, meta=meta, margin={"t": above, "l": 70, "b": 10})


class Scale(NamedTuple):
    """The ends of a colour scale, and its colours."""

    low: float
    high: float
    colors: list[Any]


def _cells(
    grid: Grid, axes: dict[str, str], form: str, scale: Scale, value: str, tokens: bool, labels: Mapping[str, str]
) -> dict[str, Any]:
    """The heatmap of one map. `form` is the format of the numbers in its cells; empty for none."""
    column = labels["token"] if tokens else labels["head_axis"]
    number = "%{z:.1%}" if form.endswith("%}") else "%{z:.4f}"
    hover = f"<b>{escaped(grid.title)}</b><br>%{{y}}<br>{column} %{{x}}<br>{value} {number}<extra></extra>"
    return {
        "type": "heatmap",
        "z": np.asarray(grid.values, np.float32),
        "x": _numbered(grid.columns) if tokens else list(grid.columns),
        "y": list(grid.rows),
        "coloraxis": "coloraxis",
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": hover,
        "meta": {"grid": grid.name},
        **({"xaxis": axes["xaxis"], "yaxis": axes["yaxis"]}),
        **(in_cells(np.asarray(grid.values), form, scale.colors, scale.low, scale.high) if form else {}),
    }


def _numbered(tokens: Sequence[str]) -> list[str]:
    return [f"{index}: {escaped(token)}" for index, token in enumerate(tokens)]


def _color_axis(scale: Scale, ends: tuple[str, str] | None, value: str) -> dict[str, Any]:
    """The colour scale that all maps share. 0 and 1 have names if the values are shares."""
    bar: dict[str, Any] = {"thickness": 12, "title": {"text": value}}
    if ends:
        # The names stand at 0 and 1; the ends of the scale have their numbers if they lie further out.
        outer = [scale.low, scale.high] if scale.high - scale.low >= 2 * FAR else []
        written = [unsigned_zero(f"{end:.0%}") for end in outer]
        bar |= {"tickvals": [*outer, 0, 1], "ticktext": [*written, *map(escaped, ends)]}
    return {"cmin": scale.low, "cmax": scale.high, "colorscale": scale.colors, "colorbar": bar}


def _domains(
    place: int, heights: Sequence[int], height: int, count: int, tokens: bool
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The part of the figure's width and of its height that a map takes."""
    if not tokens:
        gap = 0.07
        each = (1 - gap * (count - 1)) / count
        return (place * (each + gap), place * (each + gap) + each), (0.0, 1.0)
    top = sum(heights[:place]) + place * (GAP + 40)
    return (0.0, 1.0), (1 - (top + heights[place]) / height, 1 - top / height)


def _axes(
    grid: Grid,
    number: int,
    across: tuple[float, float],
    down: tuple[float, float],
    tokens: bool,
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """Both axes of a map."""
    shared = {"type": "category", "showgrid": False, "zeroline": False}
    if tokens:
        x = token_axis("", grid.columns, MOST_LABELLED, side="top", tickangle=-45 if len(grid.columns) > 8 else 0)
    else:
        x = shared | {"title": {"text": labels["head_axis"] if len(grid.columns) > 1 else ""}, "side": "bottom"}
    y = shared | {"autorange": "reversed", "automargin": True}
    if len(grid.rows) > MOST_LABELLED:
        step = -(-len(grid.rows) // MOST_LABELLED)
        y |= {"tickmode": "array", "tickvals": list(grid.rows[::step])}
    names = {
        "xaxis": x | {"domain": list(across), "anchor": f"y{number}"},
        "yaxis": y | {"domain": list(down), "anchor": f"x{number}"},
    }
    return {f"{name}{'' if number == 1 else number}": axis for name, axis in names.items()}


def _title(title: str, across: tuple[float, float], down: tuple[float, float], tokens: bool) -> dict[str, Any]:
    """The title of a map: above its middle, or above the labels of its tokens."""
    place = {"x": sum(across) / 2, "xanchor": "center"} if not tokens else {"x": 0, "xanchor": "left"}
    shift = 44 if tokens else 4
    return {
        "text": f"<b>{escaped(title)}</b>",
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "y": down[1],
        "yanchor": "bottom",
        "yshift": shift,
        **place,
    }


def _frame(row: int, column: int, axes: dict[str, str]) -> list[dict[str, Any]]:
    """The frame of a cell: a black line on a wider white one, visible on every colour."""
    corners = {"x0": column - INSET, "x1": column + INSET, "y0": row - INSET, "y1": row + INSET}
    refs = {"xref": axes["xaxis"], "yref": axes["yaxis"]}
    return [
        {"type": "rect", **corners, **refs, "line": {"color": color, "width": width}}
        for color, width in (("white", 6), ("black", 3))
    ]


class Dot(NamedTuple):
    """One head among the dots.

    Attributes:
        kind: its kind of attention.
        name: its name: `cross L1 H2`.
        lost, restored: the two shares.
        lost_range, restored_range: the ends of their intervals; None without intervals.
        written: whether its name is written beside the dot.
    """

    kind: str
    name: str
    lost: float
    restored: float
    lost_range: tuple[float, float] | None = None
    restored_range: tuple[float, float] | None = None
    written: bool = False


def need_map(
    dots: Sequence[Dot],
    titles: Mapping[str, str],
    words: Mapping[str, str],
    half: float,
    axes: tuple[str, str],
    picked: int | None = None,
) -> go.Figure:
    """A dot for each head: to the right if the answer loses much without it, to the top if it alone restores much.

    Args:
        dots: the heads.
        titles: kind → its name in the legend.
        words: `alone`, `backup`, `partner`, `bystander` → the words in each quarter.
        half: the share from which a head is needed, or enough.
        axes: the titles of both axes.
        picked: the index of the ringed dot; None for none.
    """
    low = min(NEAR[0], *(min(dot.lost, dot.restored) for dot in dots)) - 0.05
    high = max(NEAR[1], *(max(dot.lost, dot.restored) for dot in dots)) + 0.1
    traces = []
    for kind in dict.fromkeys(dot.kind for dot in dots):
        of_kind = [(index, dot) for index, dot in enumerate(dots) if dot.kind == kind]
        traces.append(_dots(of_kind, titles[kind], axes, picked))
    lines = [{"type": "line", "line": {"color": LINE, "width": 1, "dash": "dot"}} for _ in range(2)]
    lines[0] |= {"x0": half, "x1": half, "y0": low, "y1": high}
    lines[1] |= {"x0": low, "x1": high, "y0": half, "y1": half}
    corners = {"backup": (low, high), "alone": (high, high), "bystander": (low, half), "partner": (high, half)}
    notes = [
        {
            "text": f"<b>{escaped(words[name])}</b>",
            "x": x,
            "y": y,
            "xanchor": "left" if x == low else "right",
            "yanchor": "top",
            "showarrow": False,
            "align": "left" if x == low else "right",
            "font": {"size": WORD_SIZE},
        }
        for name, (x, y) in corners.items()
    ]
    axis = {"range": [low, high], "zeroline": True, "zerolinecolor": LINE, "tickformat": ".0%"}
    layout = {
        "xaxis": axis | {"title": {"text": axes[0]}},
        "yaxis": axis | {"title": {"text": axes[1]}},
        "shapes": lines,
        "annotations": notes,
        "meta": {"least_width": 340, "axes": {"x": "lost", "y": "restored"}},
    }
    return built(traces, layout, 470, **LEGEND_ABOVE)


def _dots(dots: Sequence[tuple[int, Dot]], title: str, axes: tuple[str, str], picked: int | None) -> dict[str, Any]:
    """The dots of one kind of attention, with their intervals if they have any."""
    kind = dots[0][1].kind
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers+text",
        "name": escaped(title),
        "x": [dot.lost for _, dot in dots],
        "y": [dot.restored for _, dot in dots],
        "text": [escaped(dot.name) if dot.written else "" for _, dot in dots],
        "textposition": "bottom center",
        "customdata": [[index, escaped(dot.name)] for index, dot in dots],
        "marker": {
            "color": KIND_COLORS.get(kind, HUES[0]),
            "symbol": DOTS.get(kind, "circle"),
            "size": [17 if index == picked else 11 for index, _ in dots],
            "line": {"color": LINE, "width": [3 if index == picked else 1 for index, _ in dots]},
        },
        "hovertemplate": f"<b>%{{customdata[1]}}</b><br>{escaped(axes[0])}: %{{x:.1%}}<br>{escaped(axes[1])}: %{{y:.1%}}"
        "<extra></extra>",
    }
    for name, at, ranges in (("error_x", "lost", "lost_range"), ("error_y", "restored", "restored_range")):
        if all(getattr(dot, ranges) for _, dot in dots):
            middle = [(getattr(dot, at), *getattr(dot, ranges)) for _, dot in dots]
            trace[name] = {
                "type": "data",
                "symmetric": False,
                "array": [high - mean for mean, _, high in middle],
                "arrayminus": [mean - low for mean, low, _ in middle],
                "thickness": 1.2,
                "width": 3,
            }
    return trace


def run_bars(
    tokens: Sequence[str],
    probabilities: Sequence[Float[np.ndarray, " token"]],
    names: Sequence[str],
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """The probability of some tokens in three runs, as bars side by side.

    Args:
        tokens: the tokens.
        probabilities: for each run, the probability of each token.
        names: the names of the runs: A, B and the patched run.
        labels: words of the figure.
    """
    bars = [
        {
            "type": "bar",
            "name": escaped(name),
            "x": _numbered(tokens),
            "y": np.asarray(values, np.float32),
            "marker": {"color": color},
            "hovertemplate": f"%{{x}}<br>{labels['probability']} %{{y:.4f}}<extra>{escaped(name)}</extra>",
        }
        for name, values, color in zip(names, probabilities, RUN_COLORS, strict=True)
    ]
    layout: dict[str, Any] = {
        "barmode": "group",
        "xaxis": {"tickmode": "array", "tickvals": list(range(len(tokens))), "ticktext": [escaped(token) for token in tokens]},
        "yaxis": {"title": {"text": labels["probability"]}, "range": [0, 1.02]},
        "meta": {"least_width": 90 + 46 * len(tokens)},
    }
    return built(bars, layout, 300, **LEGEND_ABOVE)


def agreement_dots(
    estimated: Float[np.ndarray, " place"], exact: Float[np.ndarray, " place"], names: Sequence[str], axes: tuple[str, str]
) -> go.Figure:
    """A dot for each place: what an estimate says, and what patching says. On the line, both are equal.

    Args:
        estimated, exact: the two numbers of each place.
        names: the name of each place.
        axes: the titles of both axes.
    """
    ends = [float(min(estimated.min(), exact.min())), float(max(estimated.max(), exact.max()))]
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": ends,
        "y": ends,
        "line": {"color": LINE, "dash": "dot"},
        "hoverinfo": "skip",
    }
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": np.asarray(exact, np.float32),
        "y": np.asarray(estimated, np.float32),
        "customdata": [escaped(name) for name in names],
        "marker": {"color": HUES[0], "size": 8, "opacity": 0.7},
        "hovertemplate": f"<b>%{{customdata}}</b><br>{escaped(axes[0])} %{{x:.3f}}<br>{escaped(axes[1])} %{{y:.3f}}"
        "<extra></extra>",
    }
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": axes[0]}},
        "yaxis": {"title": {"text": axes[1]}},
        "meta": {"least_width": 320},
    }
    return built([line, dots], layout, 400)
