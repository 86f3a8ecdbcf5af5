"""Figures that compare two runs of a model: A, B and their difference B − A, with one hover text for all three."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float

from transformer.figures.attention_figures import (
    LONG_CELL,
    MOST_LABELLED,
    SMALL_CELL,
    WEIGHTS_SCALE,
    in_cells,
    pair_cells,
    signed_scale,
    unsigned_zero,
)
from transformer.figures.head_steps_figures import MINUS, PLUS, Labels, matrix_axis, matrix_names
from transformer.figures.labels import LABELS
from transformer.figures.theme import KIND_COLORS, LEGEND_ABOVE, LINE, MASK_SIGN, built, escaped, numbered

Numbers = Float[np.ndarray, "row column"]
Open = Bool[np.ndarray, "row column"]
Names = tuple[str, str, str]
MOST_WRITTEN = 10  # three maps of up to this many rows and columns have a number in each cell
MOST_TOLD = 128 * 128  # with more cells, the hover text of a cell has the number of its own map only
# px: least and most height of a row, height of a map whose rows fit, width of a letter, most width of the labels, space above
# the maps, and space below them for tokens and for numbers.
ROW, MAP, LETTER, LONGEST, ABOVE, TOKENS_BELOW, NUMBERS_BELOW = (9, 34), 290, 6.5, 170, 40, 110, 50
LEAST_CELL, DIMENSION = 4, 1.5  # px: width of a cell if there are too many tokens to label, and of a dimension
MOST_TICKS = 6  # most numbers of dimensions below a map
# The scale of B − A of weights ends at least here, so that a head that hardly changes is pale.
LEAST_CHANGE = 0.1
DOMAINS = ((0.0, 0.29), (0.315, 0.605), (0.71, 1.0))  # between B and B − A, and after it, there is space for a colour bar


class Run(NamedTuple):
    """The numbers of one of the three heatmaps of `three_maps`: of run A, of run B, or B − A.

    Attributes:
        values: the numbers; NaN where the run has no such token.
        allowed: False where a mask hides the number.
    """

    values: Numbers
    allowed: Open

    @property
    def present(self) -> Open:
        """True where the run has a number, which may be masked."""
        return ~np.isnan(self.values)

    @property
    def shown(self) -> Numbers:
        """The numbers that are drawn: those that are finite and not masked. NaN elsewhere."""
        return np.where(self.allowed & np.isfinite(self.values), self.values, np.nan)

    def minus(self, other: "Run") -> "Run":
        """The difference: this run minus `other`. A number is masked only if it is masked in both. The difference of equal
        infinities is 0."""
        with np.errstate(invalid="ignore"):
            values = np.where(self.values == other.values, 0.0, self.values - other.values)
        return Run(values, self.allowed | other.allowed)


class Frame(NamedTuple):
    """The labels that the three heatmaps share: names of the rows and of the columns (None for dimensions, numbered from 0),
    what the two axes are (keys of `labels` or words), titles of the heatmaps, and the fixed texts of the figure."""

    rows: Sequence[str]
    columns: Labels
    axes: tuple[str, str]
    titles: Names
    labels: Mapping[str, str]


def three_maps(
    a: Numbers,
    b: Numbers,
    allowed_a: Open | None,
    allowed_b: Open | None,
    rows: Sequence[str],
    columns: Labels,
    names: Names | None = None,
    signed: bool = False,
    axes: tuple[str, str] = ("query", "key"),
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """Two matrices and their difference as three heatmaps in a row. The hover text of a cell has all three numbers; in matrices
    of more than 128 × 128 numbers, only its own.

    A and B share one scale: the scale of weights, from 0 to 1, or a diverging scale. B − A has a diverging scale around zero,
    up to the largest difference; for weights, at least up to 0.1 (`LEAST_CHANGE`). Masked cells are grey; in a small map, also
    hatched. A cell is empty where a run has no such token. `layout.meta.together` has the indices of the three heatmaps in the
    figure's traces.

    Args:
        a, b: the numbers of runs A and B; NaN where the run has no such token.
        allowed_a, allowed_b: False where a mask hides the number; None if nothing is masked.
        rows: names of the rows, such as `Difference.query_names`.
        columns: names of the columns; None for dimensions, which are numbered from 0.
        names: titles of the three heatmaps; by default A, B and B − A.
        signed: True if A and B have a diverging scale around zero.
        axes: what the rows and what the columns are, as keys of `labels` or as words.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    one, other = (
        Run(values, np.ones(values.shape, bool) if allowed is None else allowed)
        for values, allowed in ((a, allowed_a), (b, allowed_b))
    )
    runs = one, other, other.minus(one)
    frame = Frame(rows, columns, axes, names or _titles(labels), labels)
    scale = signed_scale(one.shown, other.shown) if signed else WEIGHTS_SCALE
    told = _told(runs, frame) if a.size <= MOST_TOLD else None
    change = signed_scale(runs[2].shown, least=0.0 if signed else LEAST_CHANGE)
    traces: list[dict[str, Any]] = []
    together: list[int] = []
    for index, (run, colors) in enumerate(zip(runs, (scale, scale, change), strict=True)):
        traces += _map(run, frame, index, colors, told)
        together.append(len(traces) - 1)
    return _arranged(traces, frame, a.shape, together)


def _titles(labels: Mapping[str, str]) -> Names:
    return labels["first_run"], labels["second_run"], labels["second_minus_first"]


def _told(runs: tuple[Run, Run, Run], frame: Frame) -> list[list[str]]:
    """The hover text of each cell: the number in A, in B, and the difference."""
    lines = [
        [
            [f"{title}: {_number(value, frame.labels, allowed, signed)}" for value, allowed in zip(*row, strict=True)]
            for row in zip(run.values.tolist(), run.allowed.tolist(), strict=True)
        ]
        for run, title, signed in zip(runs, map(escaped, frame.titles), (False, False, True), strict=True)
    ]
    return [["<br>".join(cell) for cell in zip(*row, strict=True)] for row in zip(*lines, strict=True)]


def _number(value: float, labels: Mapping[str, str], allowed: bool = True, signed: bool = False) -> str:
    """A number as text for a hover text, or the reason why the run has no number."""
    if np.isnan(value):
        return labels["not_in_run"]
    if not allowed:
        return labels["masked"]
    return unsigned_zero(f"{value:+.4g}" if signed else f"{value:.4g}").replace("inf", "∞")


def _map(run: Run, frame: Frame, index: int, scale: Mapping[str, Any], told: list[list[str]] | None) -> list[dict[str, Any]]:
    """The traces of one of the three heatmaps: masked cells, if there are any, and numbers. `index` is 0 for A, 1 for B, 2 for
    B − A; `told` has the hover text of each cell, or is None."""
    shown, count = run.shown, run.values.shape[1]
    row, column = (escaped(frame.labels.get(axis, axis)) for axis in frame.axes)
    text = f"{row} %{{y}}<br>{column} %{{x}}<br>{'%{z:.6~g}' if told is None else '%{customdata}'}<extra></extra>"
    more: dict[str, Any] = {"hoverongaps": True, "customdata": told, "showscale": False}
    if max(shown.shape) <= MOST_WRITTEN:
        form = "{:+.2f}" if index == 2 else "{:.2f}"
        more |= in_cells(shown, form, scale["colorscale"], float(scale["zmin"]), float(scale["zmax"]))
    elif index:  # A and B share the colour bar after B
        more |= {
            "showscale": True,
            "colorbar": {"x": DOMAINS[index][1] + 0.005, "xanchor": "left", "thickness": 10, "nticks": 5},
        }
    keys = frame.columns or [""] * count
    *masked, numbers = pair_cells(shown, run.allowed | ~run.present, frame.rows, keys, text, frame.labels, scale, **more)
    for layer in masked:  # the layer above it has the hover texts of all cells, and a cell without a token is not hatched
        layer |= {"hovertemplate": None, "hoverinfo": "skip"}
        if "texttemplate" in layer:
            strokes = np.where(run.allowed | ~run.present, "", MASK_SIGN).tolist()
            layer |= {"texttemplate": "%{text}", "text": strokes}
    suffix = str(index + 1) if index else ""
    place = {"x": matrix_names(frame.columns, count), "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    return [layer | place for layer in (*masked, numbers)]


def _arranged(traces: list[dict[str, Any]], frame: Frame, shape: tuple[int, int], together: list[int]) -> go.Figure:
    """The three maps in a row, with names of rows at the first and names of columns below each."""
    height, width = shape
    row, column = (escaped(frame.labels.get(f"{axis}_axis", frame.labels.get(axis, axis))) for axis in frame.axes)
    layout: dict[str, Any] = {"annotations": []}
    for index, (title, domain) in enumerate(zip(frame.titles, DOMAINS, strict=True)):
        suffix = str(index + 1) if index else ""
        across = {"domain": list(domain), "anchor": f"y{suffix}", "tickangle": -90 if frame.columns and width > 4 else 0}
        down = {"anchor": f"x{suffix}", "autorange": False, "range": [height - 0.5, -0.5], "showticklabels": not index}
        if not frame.columns:
            across["tickvals"] = list(range(0, width, -(-width // MOST_TICKS)))
        layout[f"xaxis{suffix}"] = matrix_axis(column, frame.columns, width) | across
        layout[f"yaxis{suffix}"] = matrix_axis("" if index else row, frame.rows, height) | down
        heading = {"x": domain[0], "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
        layout["annotations"].append(heading | {"text": f"<b>{escaped(title)}</b>", "showarrow": False, "align": "left"})
    cell = SMALL_CELL if width <= MOST_LABELLED else LEAST_CELL if frame.columns else DIMENSION
    if max(shape) <= MOST_WRITTEN:
        cell = LONG_CELL
    beside = 60 + min(LONGEST, LETTER * max(map(len, frame.rows), default=0))
    least = int(beside + width * cell / (DOMAINS[0][1] - DOMAINS[0][0]))
    meta = {"axes": {"x": frame.axes[1], "y": frame.axes[0]}, "layers": True, "least_width": least, "together": together}
    below = TOKENS_BELOW if frame.columns else NUMBERS_BELOW
    size = ABOVE + below + height * int(np.clip(MAP / max(height, width if frame.columns else 1), *ROW))
    return built(traces, layout, size, margin={"t": ABOVE}, meta=meta)


def three_bars(
    tokens: Sequence[str],
    a: Float[np.ndarray, " token"],
    b: Float[np.ndarray, " token"],
    names: Names | None = None,
    value: str | None = None,
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """One number for each token in two runs, such as a probability: bars of A and B, and below them bars of B − A.

    Args:
        tokens: names of the bars.
        a, b: the numbers of runs A and B; NaN where the run has no such token.
        names: names of the three groups of bars; by default A, B and B − A.
        value: what the numbers are, as the title of their axis; by default probabilities.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    titles = names or _titles(labels)
    series = [np.asarray(values, np.float64) for values in (a, b, np.asarray(b, np.float64) - a)]
    lines = [
        [f"{escaped(title)}: {_number(each, labels, signed=index == 2)}" for each in values.tolist()]
        for index, (title, values) in enumerate(zip(titles, series, strict=True))
    ]
    told = ["<br>".join(row) for row in zip(*lines, strict=True)]
    signs = [PLUS if change > 0 else MINUS for change in series[2].tolist()]
    bars = [
        {
            "type": "bar",
            "name": escaped(title),
            "x": numbered(tokens),
            "y": values.astype(np.float32),
            "yaxis": axis,
            "marker": {"color": color},
            "showlegend": axis == "y",
            "customdata": told,
            "hovertemplate": "%{x}<br>%{customdata}<extra></extra>",
        }
        for title, values, axis, color in zip(
            titles, series, ("y", "y", "y2"), (LINE, KIND_COLORS["decoder"], signs), strict=True
        )
    ]
    names_of_bars = {"tickvals": list(range(len(tokens))), "ticktext": [escaped(token) for token in tokens]}
    layout: dict[str, Any] = {
        "xaxis": {"tickmode": "array", "anchor": "y2"} | names_of_bars,
        "yaxis": {"title": {"text": value or labels["probability"]}, "domain": [0.42, 1], "rangemode": "tozero"},
        "yaxis2": {
            "title": {"text": escaped(titles[2])},
            "domain": [0, 0.36],
            "zerolinecolor": LINE,
            "exponentformat": "power",
        },
        "barmode": "group",
    }
    meta = {"together": [0, 1, 2], "least_width": 70 + 36 * len(tokens)}
    return built(bars, layout, height=380, meta=meta, **LEGEND_ABOVE)
