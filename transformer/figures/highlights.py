"""Facts about what stands out in a figure, for a person who cannot see it."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.numbers import axes_of, is_mask, picture_names, plain, points, traces

# Most facts about each series, and about a whole figure. A figure with many pictures has one fact about each picture, for up to
# `MOST_PICTURES` pictures.
MOST_OF_SERIES, MOST, MOST_PICTURES = 3, 8, 12
ALIKE = 5e-4  # numbers with a smaller relative difference look equal if they are written with three digits


class Highlight(NamedTuple):
    """One fact about a figure: a large value, or the course of a line.

    Attributes:
        kind: `cell`: the largest cell of a row of a heatmap; `bar`: a bar; `line`: the course of a line.
        names: where the fact is: `picture` (title of the subplot) and `series`, empty if the figure has only one; `row` and
            `column` of a cell; `label` of a bar.
        values: `value` of a cell or a bar. For a line: `first`, `last` and `most`, the value farthest from zero.
        alike: how many other cells of the row have the same value, up to rounding.
    """

    kind: Literal["cell", "bar", "line"]
    names: dict[str, str]
    values: dict[str, float]
    alike: int = 0


def highlights(figure: go.Figure) -> tuple[Highlight, ...]:
    """Facts about what stands out in a figure: the largest cells of heatmaps, at most one for each row; the largest bars; and
    the first, last and largest value of each line that has hover texts, the last drawn line first. Largest means farthest from
    zero. Points without lines give no facts."""
    drawn = [trace for trace in traces(figure) if trace.visible in (None, True)]
    heatmaps = [trace for trace in drawn if trace.type == "heatmap"]
    titles = picture_names(figure)
    several = len({trace.name for trace in drawn if trace.name}) > 1
    listed: list[list[Highlight]] = []
    for trace in drawn:
        where = {"picture": titles.get(axes_of(trace), ""), "series": plain(trace.name or "") if several else ""}
        if trace.type == "heatmap" and not is_mask(trace, heatmaps):
            listed.append([one._replace(names=where | one.names) for one in _cells(trace)])
        elif trace.type == "bar":
            listed.append([Highlight("bar", where | {"label": label}, {"value": value}) for label, value in _bars(trace)])
        elif trace.type in ("scatter", "scattergl") and "lines" in (trace.mode or "") and trace.hoverinfo != "skip":
            listed.insert(0, list(course(where, [y for _, y in points(trace)])))
    told = [facts for facts in listed if facts]
    each = max(1, MOST // max(1, len(told)))
    return tuple([fact for facts in told for fact in facts[:each]][: max(MOST, min(len(told), MOST_PICTURES))])


def largest_cells(
    values: Float[np.ndarray, "row column"],
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    pairs: bool = False,
) -> Iterator[Highlight]:
    """Yield the largest cell, by magnitude, of each of the three rows (`MOST_OF_SERIES`) with the largest cells. Rows of zeros
    are left out.

    Args:
        values: the matrix; NaN and infinite values are left out.
        rows, columns: the names of rows and columns; by default they are counted from 0.
        pairs: whether rows and columns are the same things, as in a matrix of cosines. If so, each pair is yielded at most
            once, and no row is paired with itself.
    """
    sizes = np.where(np.isfinite(values), abs(values), -1.0)
    if not values.size:
        return
    if pairs:
        sizes[np.tril_indices_from(sizes)] = -1.0
    columns_of = sizes.argmax(1)
    for row in np.argsort(-sizes.max(1), kind="stable")[:MOST_OF_SERIES]:
        column = columns_of[row]
        size = sizes[row, column]
        if size > 0:
            alike = int(np.isclose(values[row], values[row, column], rtol=ALIKE, atol=0)[sizes[row] > 0].sum()) - 1
            names = {
                "row": str(row if rows is None else rows[row]),
                "column": str(column if columns is None else columns[column]),
            }
            yield Highlight("cell", names, {"value": float(values[row, column])}, alike)


def _cells(trace: Any) -> Iterator[Highlight]:
    """Yield the largest cells of a heatmap. Yield nothing for a heatmap of a single colour, which has no numbers: its
    alternative text says how many cells are hidden."""
    values = np.asarray([] if trace.z is None else trace.z, dtype=float)
    scale = trace.colorscale  # a name in a figure that Plotly has not checked
    if values.ndim != 2 or (scale and not isinstance(scale, str) and len({color for _, color in scale}) == 1):
        return
    names = [None if each is None else [str(plain(name)) for name in each] for each in (trace.y, trace.x)]
    # A symmetric map of attention weights, whose scale begins at 0, does not compare its rows with one another.
    square = values.shape[0] == values.shape[1] > 1 and trace.zmin != 0
    yield from largest_cells(values, *names, pairs=square and np.allclose(values, values.T, equal_nan=True))


def _bars(trace: Any) -> Iterator[tuple[str, float]]:
    pairs = [(x, y) if trace.orientation != "h" else (y, x) for x, y in points(trace)]
    finite = [(label, value) for label, value in pairs if isinstance(value, int | float | np.number) and np.isfinite(value)]
    for label, value in sorted(finite, key=lambda pair: -abs(float(pair[1])))[:MOST_OF_SERIES]:
        if value != 0:
            yield str(label), float(value)


def course(names: dict[str, str], values: Sequence[Any]) -> Iterator[Highlight]:
    """Yield one fact about a line: its first and last value, and the value farthest from zero. Yield nothing if a value is
    missing or not finite, if all values are equal, or if there are fewer than two.

    Args:
        names: the names of the line's subplot (`picture`) and series, as in `Highlight`.
        values: the values along the line.
    """
    if len(values) < 2 or not all(isinstance(value, int | float | np.number) and np.isfinite(value) for value in values):
        return
    if min(values) < max(values):
        numbers = [float(value) for value in values]
        ends = {"first": numbers[0], "last": numbers[-1], "most": max(numbers, key=abs)}
        yield Highlight("line", names, ends)
