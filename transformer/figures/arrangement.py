"""The layout of `stop_figure`: where its heatmaps are, and the size of their cells, in a figure of a given width. Lengths are
in px."""

from collections.abc import Sequence
from dataclasses import dataclass

from transformer.figures.mosaic import Mosaic
from transformer.figures.panels import MOST_COLUMNS, TensorView

NARROW = 520  # in a narrower figure, the result is below the inputs
TALLEST, LARGEST_CELL = 430, 24  # most height of all cells of a tensor; most size of one cell
GAP, SPACE = 5, 26  # gap between heads; gap between tensors
OPERATION, OPERATION_BELOW = 140, 64  # space for the operation: between inputs and result, and below the inputs
LETTER, LONGEST, LINE_HEIGHT = 7, 90, 16  # labels: width of a letter, most width of a label, height of a line
TITLE, AXIS, HEAD_LABEL, SCALE_BAR = 42, 24, 16, 42  # space beside the cells for each of these
LABELLED_ROW, LABELLED_COLUMN = 11, 13  # least height of a row, and least width of a column, that has its token beside it

ID_CELL = 34  # width of a cell with the id of a token

Length = int | float
Size = tuple[Length, Length]
Box = tuple[Length, Length, Length, Length]


@dataclass(frozen=True)
class Arrangement:
    """How `stop_figure` arranges its heatmaps: those of the inputs of an operation, and that of its result.

    Attributes:
        cell: width and height in px of the cell of one number.
        across: number of heads side by side. Other heads are below them.
        stacked: whether the inputs are stacked vertically.
        narrow: whether the result is below the inputs; otherwise it is to their right.
    """

    cell: Size
    across: int
    stacked: bool
    narrow: bool = False


@dataclass(frozen=True)
class Place:
    """Position of a tensor's heatmap in the figure, in px from the left and from the top.

    Attributes:
        corner: left and top of the heatmap with its labels.
        box: left, top, right and bottom of its cells.
        floor: bottom of the heatmap with its labels.
    """

    corner: Size
    box: Box
    floor: Length


@dataclass(frozen=True)
class Room:
    """Space in px for labels to the left, to the right, above and below the cells of a tensor's heatmap."""

    left: int
    right: int
    above: int
    below: int


def arrange(views: Sequence[TensorView], width: int) -> Arrangement:
    """The arrangement of heatmaps in a figure of `width` px. `views` are the inputs of an operation and, last, its result. Of
    all arrangements whose cells are at least half as large as possible, the one with the fewest heads side by side is
    preferred."""
    narrow, before = width < NARROW, len(views) - 1
    tiles = max(1 if view.panel.strip else len(view.panel.values) for view in views)
    choices: list[tuple[float, Arrangement]] = []
    for across in (side for side in range(1, tiles + 1) if tiles % side == 0):
        for stacked in [False, True] if before > 1 and not narrow else [narrow]:
            cell = _largest_cell(views, Arrangement((1, 1), across, stacked, narrow), width)
            if min(cell) > 0:
                choices.append((min(cell) + 0.05 * max(cell), Arrangement(cell, across, stacked, narrow)))
    if not choices:
        return Arrangement((0.5, 2), 1, True, narrow)
    best = max(good for good, _ in choices)
    large = [chosen for good, chosen in choices if good >= 0.5 * best and chosen.cell[0] >= 0.8 and chosen.cell[1] >= 4]
    chosen = large[0] if large else next(chosen for good, chosen in choices if good == best)
    across, down = chosen.cell
    # Cells need not be square, but a matrix must not shrink to a thin line, and a token must fit beside each row.
    down = min(down, max(LABELLED_ROW + 2, 16 * across))
    return Arrangement((min(across, 3 * down), down), chosen.across, chosen.stacked, narrow)


def _largest_cell(views: Sequence[TensorView], chosen: Arrangement, width: int) -> Size:
    """Width and height in px of the largest cell with which all heatmaps fit. If one of the two is 0 or less, no cell fits."""
    sizes = [_counted(view, chosen) for view in views]
    names = LONGEST if any(view.labels(1) for view in views) else 3 * LETTER
    columns, rows = [size[0][0] for size in sizes], [size[0][1] for size in sizes]
    least = [_least_cell(view) for view in views]
    beside = [names + AXIS + HEAD_LABEL + size[1][0] + each for size, each in zip(sizes, least, strict=True)]
    between = [size[1][1] for size in sizes]
    if chosen.narrow:
        wide, labels, high, gaps = max(columns), max(beside), max(rows), max(between)
    elif chosen.stacked:
        wide, labels = max(columns[:-1]) + columns[-1], max(beside[:-1]) + beside[-1] + OPERATION
        over = TITLE + 2 * AXIS + SCALE_BAR
        high, gaps = max(sum(rows[:-1]), rows[-1]), sum(between[:-1]) + over * (len(views) - 2)
    else:
        wide, labels = sum(columns), sum(beside) + OPERATION + SPACE * (len(views) - 1)
        high, gaps = max(rows), max(between)
    return min(LARGEST_CELL, (width - labels) / wide), min(LARGEST_CELL, (TALLEST - gaps) / high)


def _least_cell(view: TensorView) -> int:
    """Least width in px of a cell, so that a token id fits into it; 0 for tensors of other numbers."""
    return ID_CELL if view.panel.scale == "ids" else 0


def heads_across(view: TensorView, chosen: Arrangement) -> int:
    """The number of heads of a tensor that are drawn side by side."""
    tiles = len(view.panel.values)
    return tiles if view.panel.strip else min(chosen.across, tiles)


def _counted(view: TensorView, chosen: Arrangement) -> tuple[tuple[int, int], Size]:
    """(number of columns, number of rows) of a tensor when all its heads are drawn, and the px of the gaps between heads
    (across, down)."""
    tiles, rows, columns = view.panel.values.shape
    across = heads_across(view, chosen)
    lines = -(-tiles // across)
    return (across * columns, lines * rows), ((across - 1) * GAP, (lines - 1) * (GAP + HEAD_LABEL * (across > 1)))


def gutters(view: TensorView, chosen: Arrangement) -> tuple[int, int]:
    """How many empty rows, and how many empty columns, separate two heads in the matrix of all heads (`Mosaic`)."""
    tiles, rows, columns = view.panel.values.shape
    each = -(-rows // MOST_COLUMNS), -(-columns // MOST_COLUMNS)
    high = GAP + HEAD_LABEL * (1 < heads_across(view, chosen) < tiles)
    across, down = chosen.cell
    return max(1, round(high / (down * each[0]))), max(1, round(GAP / (across * each[1])))


def names_tokens(part: Mosaic, axis: int, chosen: Arrangement) -> bool:
    """Whether tokens are written beside the rows (`axis` 1) or below the columns (`axis` 2) of a heatmap. False if the axis has
    no tokens, or if there is too little space."""
    if part.view.labels(axis) is None or part.each[axis - 1] > 1:
        return False
    tiles = len(part.view.panel.values)
    if axis == 2:
        return chosen.cell[0] >= LABELLED_COLUMN and not part.view.panel.strip
    return tiles == 1 or (chosen.cell[1] >= LABELLED_ROW and part.across == 1)


def room(part: Mosaic, chosen: Arrangement, scale_bar: bool) -> Room:
    """The space that a tensor's heatmap needs for its labels and, if `scale_bar` is True, for a colour bar below them."""
    rows, columns = part.view.labels(1), part.view.labels(2)
    named = [name not in ("", "1", "id") for name in part.view.panel.axes]
    left = AXIS * named[1] + (_longest(rows) if names_tokens(part, 1, chosen) else 4 * LETTER)
    right = HEAD_LABEL if part.across == 1 < len(part.view.panel.values) else 0
    below = _longest(columns) if names_tokens(part, 2, chosen) else LINE_HEIGHT
    return Room(left, right, TITLE + HEAD_LABEL * (part.across > 1), below + AXIS * named[2] + SCALE_BAR * scale_bar)


def heading_width(view: TensorView) -> int:
    return LETTER * (1 + max(len(view.title), len(view.shape)))


def _longest(tokens: Sequence[str] | None) -> int:
    return min(LONGEST, 6 + LETTER * max(map(len, tokens or [""]), default=0))


def placed(parts: Sequence[Mosaic], rooms: Sequence[Room], chosen: Arrangement, width: int) -> tuple[list[Place], Size, Size]:
    """The position of each tensor's heatmap, the centre of the operation's name, and the size of the figure, all in px. `parts`
    are the inputs and, last, the result; `rooms` has the space for the labels of each."""
    cells = [
        (
            part.values.shape[1] * max(part.each[1] * chosen.cell[0], _least_cell(part.view)),
            part.values.shape[0] * part.each[0] * chosen.cell[1],
        )
        for part in parts
    ]
    sizes = []
    for part, around, (wide, high) in zip(parts, rooms, cells, strict=True):
        across = max(around.left + wide + around.right, heading_width(part.view))
        sizes.append((across, around.above + high + around.below))
    corners, operation, (wide, high) = _corners(sizes, chosen)
    places = []
    for (left, top), around, cell, size in zip(corners, rooms, cells, sizes, strict=True):
        x, y = left + around.left, top + around.above
        places.append(Place((left, top), (x, y, x + cell[0], y + cell[1]), top + size[1]))
    return places, operation, (max(width, wide), high)


def _corners(sizes: Sequence[Size], chosen: Arrangement) -> tuple[list[Size], Size, Size]:
    """The upper left corner of each tensor, the centre of the operation's name, and the total size."""
    *before, result = sizes
    corners: list[Size] = []
    if chosen.narrow:
        top = 0.0
        for _, high in before:
            corners.append((0.0, top))
            top += high + GAP
        wide = max(size[0] for size in sizes)
        corners.append((0.0, top + OPERATION_BELOW))
        return corners, (wide / 2, top + OPERATION_BELOW / 3), (wide, top + OPERATION_BELOW + result[1])
    if chosen.stacked:
        wide, total = max(size[0] for size in before), sum(size[1] for size in before) + GAP * (len(before) - 1)
        high = max(total, result[1])
        top = (high - total) / 2
        for size in before:
            corners.append((wide - size[0], top))
            top += size[1] + GAP
    else:
        wide, high = 0.0, max(size[1] for size in sizes)
        for size in before:
            corners.append((wide, (high - size[1]) / 2))
            wide += size[0] + SPACE
    corners.append((wide + OPERATION, (high - result[1]) / 2))
    return corners, (wide + OPERATION / 2, high / 2), (wide + OPERATION + result[0], high)
