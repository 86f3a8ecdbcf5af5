"""A grid of cells that a learner marks to answer a question. Later it shows the true answer beside the learner's marks."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from pages.ui.component import is_index, mounted, sent
from pages.ui.format import fixed
from pages.ui.prediction import answer
from pages.ui.prediction_codec import Cells, Prediction
from pages.ui.text import text
from transformer.figures.panels import shades
from transformer.figures.theme import LINE, MASKED

# A square with up to this many cells on a side has a number written in each cell.
MOST_WRITTEN = 8
# Most cells in the list that a browser may send.
MOST_CELLS = 10_000

_mount = mounted(Path(__file__).with_suffix(""))


class Truth(NamedTuple):
    """The true answer for each cell of a question, row by row, as it is drawn.

    Attributes:
        colors: the CSS colour of each cell; empty for a cell that is drawn as masked.
        values: the value of each cell as text, for the cell itself and for screen readers.
        signs: texts written in the cells instead of the values; None to write the values.
    """

    colors: tuple[str, ...]
    values: tuple[str, ...]
    signs: tuple[str, ...] | None = None


def weights_truth(weights: Float[np.ndarray, "query key"], allowed: Bool[np.ndarray, "query key"], masked: str) -> Truth:
    """Attention weights as the `Truth` of cells, in the colours of attention figures. `masked` is the text for masked cells."""
    scale = shades("weights")
    pairs = list(zip(weights.ravel().tolist(), allowed.ravel().tolist(), strict=True))
    levels = [scale[round(min(max(weight, 0.0), 1.0) * (len(scale) - 1))] if may else None for weight, may in pairs]
    colors = tuple("" if level is None else f"rgb({level[0]}, {level[1]}, {level[2]})" for level in levels)
    values = tuple(fixed(weight, 2) if may else masked for weight, may in pairs)
    small = max(weights.shape) <= MOST_WRITTEN or len(weights) == 1
    signs = tuple(value if may and small else "" for value, (_, may) in zip(values, pairs, strict=True))
    return Truth(colors, values, signs)


def marking(
    what: str,
    label: str,
    rows: Sequence[str],
    columns: Sequence[str],
    prediction: Prediction,
    truth: Truth | None = None,
    closed: Sequence[int] = (),
    most: int = 0,
    subject: str = "",
    take: Callable[[Cells], None] | None = None,
) -> None:
    """Draw the cells of a question, counted from 0 row by row. The learner can mark them until the truth is shown. A single row
    is drawn as a line of tokens that wraps.

    Args:
        what: name of the question (`pages.ui.prediction.asked`).
        label: what the learner should mark, for screen readers.
        rows, columns: the names of the rows and columns. For a line of tokens, `rows` has one name, which may be empty.
        prediction: the marks, and whether they can be changed.
        truth: drawn on the cells; None while the question is open.
        closed: cells that cannot be marked and are drawn as masked.
        most: how many cells can be marked. One mark more clears the oldest mark. 0 means no limit.
        subject: when this value changes, the browser drops the marks that it has kept.
        take: called after every change with the marked cells, ascending; by default `pages.ui.prediction.answer`.
    """
    key = f"marking-{what}"
    count = len(rows) * len(columns)
    data = {
        "rows": [str(name) for name in rows],
        "columns": [str(name) for name in columns],
        "marks": list(prediction.answer),
        "before": None if prediction.first is None else list(prediction.first),
        "closed": [int(cell) for cell in closed],
        "truth": None if truth is None else {name: value and list(value) for name, value in truth._asdict().items()},
        "most": most,
        "label": label,
        "round": f"{subject}|{prediction.place}|{len(prediction.answers)}|{prediction.shown}",
        "colors": {"masked": MASKED, "line": LINE},
        "text": text("prediction")["marking"],
    }
    changed = _marked(key, count, frozenset(closed), most, take or partial(answer, what))
    _mount(key=key, data=data, on_marks_change=changed)


def _marked(key: str, count: int, closed: frozenset[int], most: int, take: Callable[[Cells], None]) -> Callable[[], None]:
    def changed() -> None:
        cells = cells_sent(sent(key, "marks"), count, closed)
        if cells is not None and not 0 < most < len(cells):
            take(cells)

    return changed


def cells_sent(cells: Any, count: int, closed: frozenset[int] = frozenset()) -> Cells | None:
    """The cell numbers that a browser sent, ascending; None if they are not a list of cells below `count` that are not
    `closed`."""
    if not isinstance(cells, (list, tuple)) or len(cells) > MOST_CELLS:
        return None
    if any(not is_index(cell, count) or cell in closed for cell in cells):
        return None
    return tuple(sorted(set(cells)))
