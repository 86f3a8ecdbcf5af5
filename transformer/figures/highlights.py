"""What stands out in a figure, for a person who does not see it."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.numbers import axes_of, is_mask, picture_names, plain, points, traces

# Of each series, and of a whole figure. A figure of many pictures tells one fact of each, so that none is left out.
MOST_OF_SERIES, MOST, MOST_PICTURES = 3, 8, 12
ALIKE = 5e-4  # numbers closer than this share of them are the same where three digits are written


class Highlight(NamedTuple):
    """One fact about a figure.

    Attributes:
        kind: `cell`: the largest cell of a row of a heatmap; `bar`: a bar; `line`: the course of a line.
        names: `picture` and `series`, empty if there is one only; `row` and `column` of a cell; `label` of a bar.
        values: `value` of a cell or a bar; `first`, `last` and `most`, the farthest from zero, of a line.
        alike: how many other cells of the row are as large.
    """

    kind: Literal["cell", "bar", "line"]
    names: dict[str, str]
    values: dict[str, float]
    alike: int = 0


def highlights(figure: go.Figure) -> tuple[Highlight, ...]:
    """The rows of heatmaps with the largest cells, the largest bars, and the course of each line with numbers to point at, the
    top one first; largest means farthest from zero. Points alone have none."""
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
    """The rows of a matrix with the largest cells, each with that cell; none for a matrix without numbers or of zeros alone.

    Args:
        values: NaN is no number.
        rows, columns: their names; by default they are counted from 0.
        pairs: whether it compares its rows with one another: then each pair is told once, and none of one with itself.
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
    """The largest cells of a heatmap. One of a single colour has no numbers, and its alternative text tells how many cells are
    hidden."""
    values = np.asarray([] if trace.z is None else trace.z, dtype=float)
    if values.ndim != 2 or len({color for _, color in trace.colorscale or ((0, 0), (1, 1))}) == 1:
        return
    names = [None if each is None else [str(plain(name)) for name in each] for each in (trace.y, trace.x)]
    # Attention weights, whose scale begins at 0, compare no rows, though a map of them can be symmetric, too.
    square = values.shape[0] == values.shape[1] > 1 and trace.zmin != 0
    yield from largest_cells(values, *names, pairs=square and np.allclose(values, values.T, equal_nan=True))


def _bars(trace: Any) -> Iterator[tuple[str, float]]:
    pairs = [(x, y) if trace.orientation != "h" else (y, x) for x, y in points(trace)]
    finite = [(label, value) for label, value in pairs if isinstance(value, int | float | np.number) and np.isfinite(value)]
    for label, value in sorted(finite, key=lambda pair: -abs(float(pair[1])))[:MOST_OF_SERIES]:
        if value != 0:
            yield str(label), float(value)


def course(names: dict[str, str], values: Sequence[Any]) -> Iterator[Highlight]:
    """The course of a line, if it is in one piece and not level.

    Args:
        names: of its picture and its series, as those of a `Highlight`.
        values: along the line.
    """
    if len(values) < 2 or not all(isinstance(value, int | float | np.number) and np.isfinite(value) for value in values):
        return
    if min(values) < max(values):
        ends = {"first": float(values[0]), "last": float(values[-1]), "most": float(max(values, key=abs))}
        yield Highlight("line", names, ends)
