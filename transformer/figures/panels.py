"""Tensors prepared for drawing: axes as tiles (one for each head), rows and columns; colours; and reductions to fewer cells.

`transformer.figures.walk_figures` and `tensor_sheet` draw them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Shaped, UInt8
from plotly.colors import sample_colorscale

from transformer.figures.theme import KIND_COLORS, SIGNED, WEIGHTS

LEVELS = 254  # the highest of the 255 shades that a number is painted in
# Most columns of a picture. If there are more, a bin covers several columns and shows their number of greatest magnitude.
MOST_COLUMNS = 256

Scale = Literal["signed", "weights", "mask", "ids"]
Branch = Literal["query", "key", "value"]


@dataclass(frozen=True, eq=False)
class Panel:
    """The drawn part of a tensor: one matrix, or one matrix (tile) for each head.

    Attributes:
        values: the numbers as float32.
        axes: names of the axes of tiles, rows and columns; the first is empty if the tiles are not heads.
        strip: whether all tiles must be side by side, as for a vector split into heads; otherwise each figure arranges them.
        scale: how numbers become colours: `signed` (centred on zero), `weights` (0 to 1), `mask` (two colours), `ids` (not
            coloured).
        hidden: True where a mask hides the number; has the shape of `values`. None if nothing is masked.
    """

    values: Float[np.ndarray, "tile row column"]
    axes: tuple[str, str, str]
    strip: bool
    scale: Scale
    hidden: Bool[np.ndarray, "tile row column"] | None = None

    @property
    def limit(self) -> float:
        """The magnitude at the end of the colour scale: the largest of all numbers that are not masked. 1 for all scales but
        `signed`, and if all numbers are masked or zero."""
        if self.scale != "signed":
            return 1.0
        return float(np.abs(self.values, where=~self.masked, out=np.zeros_like(self.values)).max(initial=0)) or 1.0

    @property
    def masked(self) -> Bool[np.ndarray, "tile row column"]:
        """True for numbers that a mask hides, or that are not finite."""
        infinite = ~np.isfinite(self.values)
        return infinite if self.hidden is None else infinite | self.hidden


def panel(
    values: Shaped[np.ndarray, "*any"],
    axes: Sequence[str],
    scale: Scale,
    item: int = 0,
    head: int | None = None,
    hidden: Shaped[np.ndarray, "*any"] | None = None,
) -> Panel:
    """The part of a tensor to draw: one text of the batch, and one head or all heads. Only this part is copied.

    Args:
        values: a tensor of a model's run: numbers, truth values or ids.
        axes: names of the tensor's axes, such as `batch`, `head`, `query`, `key`. The last two axes other than `batch` and
            `head` are the rows and the columns.
        scale: how numbers become colours: `signed` (centred on zero), `weights` (0 to 1), `mask` (True: may attend), `ids`.
        item: index of the text on the axis `batch`, counted from 0.
        head: index of the head on the axis `head`, counted from 0; None for all heads.
        hidden: True where a mask hides a number; has the shape of `values`.
    """
    chosen = {"batch": item} | ({} if head is None else {"head": head})
    index = tuple(chosen.get(name, slice(None)) for name in axes)
    left = [name for name in axes if name not in chosen]
    strip = left.index("head") == 1 if "head" in left else False
    hidden_tiles = None if hidden is None else _tiles(hidden[index], left).astype(bool)
    tiles = _tiles(values[index], left)
    if scale == "mask":
        hidden_tiles = ~tiles.astype(bool)
    rows = [name for name in left if name != "head"][-2:]
    if len(rows) == 1:
        rows.append("id" if scale == "ids" else "")
    axes_shown = ("head" if "head" in left else "", rows[0], rows[1])
    return Panel(np.ascontiguousarray(tiles, np.float32), axes_shown, strip, scale, hidden_tiles)


def _tiles(part: Shaped[np.ndarray, "*any"], left: Sequence[str]) -> Shaped[np.ndarray, "tile row column"]:
    """The values with the head axis as the first axis. If there is no head axis, there is one tile."""
    if "head" in left:
        moved = np.moveaxis(part, left.index("head"), 0)
        return moved.reshape(len(moved), *moved.shape[-2:])  # without axes of size 1, such as the batch axis of a mask
    if part.ndim == 1:
        return part[None, :, None]
    return part.reshape(-1, *part.shape[-2:])


@dataclass(frozen=True, eq=False)
class TensorView:
    """A tensor with its title, labels and colours in a figure.

    Attributes:
        path: path of the tensor in its trace, which identifies it in a figure.
        title, shape: texts written above the tensor.
        panel: the numbers.
        limit: the magnitude with the strongest colour.
        color: colour of the cells of a mask that may be attended to, as hex.
        tokens: name of an axis → the token at each index of the axis.
        first_column: index of the panel's first column in the tensor; 0 unless the view shows only some columns.
        all_columns: how many columns the tensor has if the view shows only some; None if it shows all.
        branch: the branch of an attention that the tensor belongs to; None if it belongs to no branch.
        first_head: the number that labels give to the first head: 1 in the app, 0 in a notebook.
    """

    path: str
    title: str
    shape: str
    panel: Panel
    limit: float
    color: str = KIND_COLORS["encoder"]
    tokens: Mapping[str, Sequence[str]] = field(default_factory=dict)
    first_column: int = 0
    all_columns: int | None = None
    branch: Branch | None = None
    first_head: int = 1

    def labels(self, axis: int) -> Sequence[str] | None:
        """The tokens of the rows (`axis` 1) or of the columns (`axis` 2); None if there is not one token for each of them."""
        count, tokens = self.panel.values.shape[axis], self.tokens.get(self.panel.axes[axis])
        return None if tokens is None or len(tokens) != count else [str(token) for token in tokens]

    def columns(self, first: int, last: int) -> "TensorView":
        """The same tensor with only its columns from `first` to `last` inclusive, counted from 0, in the same colours."""
        panel, axis = self.panel, self.panel.axes[2]
        part = slice(first, last + 1)
        hidden = None if panel.hidden is None else panel.hidden[..., part]
        tokens = self.labels(2)
        shown = {**self.tokens, axis: tokens[part]} if tokens is not None else self.tokens
        shown_panel = replace(panel, values=panel.values[..., part], hidden=hidden)
        return replace(self, panel=shown_panel, tokens=shown, first_column=first, all_columns=panel.values.shape[2])


def tensor_view(
    title: str,
    values: Shaped[np.ndarray, "*any"],
    axes: Sequence[str],
    scale: Scale = "signed",
    tokens: Mapping[str, Sequence[str]] | None = None,
    branch: Branch | None = None,
    first_head: int = 1,
    **choices: Any,
) -> TensorView:
    """A tensor prepared for `stop_figure` and `layer_figure`, with its title, labels and colours.

    Args:
        title: the title, written above the tensor, and also its path.
        values, axes: the tensor and the names of its axes, such as `query` and `key`.
        scale: how numbers become colours: `signed` (centred on zero), `weights` (0 to 1), `mask` (True: may attend), `ids`.
        tokens: name of an axis → the token at each index of the axis.
        branch: `query`, `key` or `value`, for a tensor that an attention computes before it combines these branches.
        first_head: the number that labels give to the first head.
        choices: arguments of `panel`: `item` (text of the batch), `head` (None for all heads), `hidden` (True: masked).
    """
    shown = panel(values, axes, scale, **choices)
    view = TensorView(title, title, str(list(values.shape)), shown, shown.limit, tokens=tokens or {}, branch=branch)
    return replace(view, first_head=first_head)


def in_one_scale(views: Sequence[TensorView]) -> list[TensorView]:
    """The same tensors, with one colour scale for all signed tensors; it ends at the largest magnitude in any of them."""
    limit = max((view.panel.limit for view in views if view.panel.scale == "signed"), default=1.0)
    return [replace(view, limit=limit) if view.panel.scale == "signed" else view for view in views]


def strongest(values: Float[np.ndarray, "row column"], rows: int, columns: int) -> Float[np.ndarray, "down across"]:
    """A matrix reduced to at most `rows` × `columns` cells. Of several numbers, a cell shows the one of greatest magnitude."""
    return _narrowed(_narrowed(values, columns).T, rows).T


def _narrowed(values: Float[np.ndarray, "row column"], most: int) -> Float[np.ndarray, "row across"]:
    rows, columns = values.shape
    if columns <= most:
        return values
    each = -(-columns // most)
    # The last bin is padded with zeros, whose magnitude is never greater than that of a number.
    bins = np.pad(values, ((0, 0), (0, -columns % each))).reshape(rows, -1, each)
    return np.take_along_axis(bins, np.abs(bins).argmax(-1, keepdims=True), -1)[..., 0]


def strongest_place(
    values: Float[np.ndarray, "row column"], bin: tuple[int, int], each: tuple[int, int]
) -> tuple[int, int] | None:
    """(row, column) in the matrix, counted from 0, of the number of greatest magnitude in a bin, a block of neighbouring
    numbers. A number that is not finite is taken only if the bin has no finite number. None if there is no such bin.

    Args:
        bin: the row and the column of the bin, counted in bins from 0.
        each: the number of rows and of columns in a bin.
    """
    top, left = (place * size for place, size in zip(bin, each, strict=True))
    if min(bin) < 0:
        return None
    part = values[top : top + each[0], left : left + each[1]]
    if not part.size:
        return None
    row, column = divmod(int(np.where(np.isfinite(part), np.abs(part), -1).argmax()), part.shape[1])
    return top + row, left + column


@cache
def shades(scale: Scale) -> UInt8[np.ndarray, "level 3"]:
    """The colours of a scale, from low to high: red, green and blue, each 0 to 255, of each of its 255 levels."""
    colors = sample_colorscale(WEIGHTS if scale == "weights" else SIGNED, np.linspace(0, 1, LEVELS + 1), colortype="tuple")
    return np.rint(np.array(colors) * 255).astype(np.uint8)
