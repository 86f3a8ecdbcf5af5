"""What stands out in a figure, for a person who does not see it."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import plotly.graph_objects as go

from transformer.figures.numbers import is_mask, picture_names, plain, points, traces

# Of each series, and of a whole figure.
MOST_OF_SERIES, MOST = 3, 8


class Highlight(NamedTuple):
    """One fact about a figure.

    Attributes:
        kind: `cell`: the largest cell of a row of a heatmap; `bar`: a bar; `line`: the course of a line.
        names: `picture` and `series`, empty if there is one only; `row` and `column` of a cell; `label` of a bar.
        values: `value` of a cell or a bar; `first`, `last` and `most`, the farthest from zero, of a line.
    """

    kind: Literal["cell", "bar", "line"]
    names: dict[str, str]
    values: dict[str, float]


def highlights(figure: go.Figure) -> tuple[Highlight, ...]:
    """The rows of heatmaps with the largest cells, the largest bars, and the course of each line; largest means farthest from
    zero. Points alone have none."""
    drawn = [trace for trace in traces(figure) if trace.visible in (None, True)]
    heatmaps = [trace for trace in drawn if trace.type == "heatmap"]
    titles = picture_names(figure)
    several = len({trace.name for trace in drawn if trace.name}) > 1
    listed: list[Highlight] = []
    for trace in drawn:
        where = {"picture": titles.get(trace.xaxis or "x", ""), "series": plain(trace.name or "") if several else ""}
        if trace.type == "heatmap" and not is_mask(trace, heatmaps):
            listed += [Highlight("cell", where | names, {"value": value}) for names, value in _cells(trace)]
        elif trace.type == "bar":
            listed += [Highlight("bar", where | {"label": label}, {"value": value}) for label, value in _bars(trace)]
        elif trace.type in ("scatter", "scattergl") and "lines" in (trace.mode or ""):
            listed += [Highlight("line", where, values) for values in _line(trace)]
    return tuple(listed[:MOST])


def _cells(trace: Any) -> Iterator[tuple[dict[str, str], float]]:
    """The rows with the largest cells, each with that cell."""
    if trace.z is None:
        return
    values = np.asarray(trace.z, dtype=float)
    sizes = np.where(np.isfinite(values), abs(values), -1.0)
    # A mask has two values, and its alternative text tells how many cells are hidden.
    if values.ndim != 2 or len(np.unique(sizes[sizes >= 0])) < 3:
        return
    if values.shape[0] == values.shape[1] and np.allclose(values, values.T, equal_nan=True):
        np.fill_diagonal(sizes, -1.0)  # of pairs, each one with itself
    columns = sizes.argmax(1)
    for row in np.argsort(-sizes.max(1), kind="stable")[:MOST_OF_SERIES]:
        column = columns[row]
        if sizes[row, column] > 0:
            yield {"row": _name(trace.y, row), "column": _name(trace.x, column)}, float(values[row, column])


def _bars(trace: Any) -> Iterator[tuple[str, float]]:
    pairs = [(x, y) if trace.orientation != "h" else (y, x) for x, y in points(trace)]
    finite = [(label, value) for label, value in pairs if isinstance(value, int | float | np.number) and np.isfinite(value)]
    for label, value in sorted(finite, key=lambda pair: -abs(float(pair[1])))[:MOST_OF_SERIES]:
        if value != 0:
            yield str(label), float(value)


def _line(trace: Any) -> Iterator[dict[str, float]]:
    """The course of a line in one piece that is not level."""
    values = [y for _, y in points(trace)]
    if len(values) < 2 or not all(isinstance(value, int | float | np.number) and np.isfinite(value) for value in values):
        return
    if min(values) < max(values):
        yield {"first": float(values[0]), "last": float(values[-1]), "most": float(max(values, key=abs))}


def _name(names: Any, place: int) -> str:
    return str(place if names is None else plain(names[place]))
