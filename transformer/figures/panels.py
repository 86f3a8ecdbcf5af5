"""Tensors prepared for drawing to scale: axes as tiles, rows and columns, colours, and a miniature.

`transformer.figures.walk` draws panels with Plotly; the Layers page draws them on a canvas.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Shaped, UInt8
from plotly.colors import sample_colorscale

from transformer.figures.theme import KIND_COLORS, SIGNED, WEIGHTS

# A number is painted in one of 255 shades; 255 means masked.
LEVELS = 254
MASKED_LEVEL = 255
MOST_COLUMNS = 256  # of a picture; if there are more, a bin covers several columns and shows the number of greatest magnitude

Scale = Literal["signed", "weights", "mask", "ids"]
Branch = Literal["query", "key", "value"]


@dataclass(frozen=True, eq=False)
class Panel:
    """The drawn part of a tensor: one matrix, or one for each head.

    Attributes:
        values: as float32.
        axes: names of tiles, rows and columns; the first is empty if there is only one tile.
        strip: tiles are side by side, as where a vector is split into heads; else stacked vertically.
        scale: how numbers become colours: `signed` (centred on zero), `weights` (0 to 1), `mask` (true or hidden), `ids`.
        hidden: True where a mask hides the number; has the shape of `values`.
    """

    values: Float[np.ndarray, "tile row column"]
    axes: tuple[str, str, str]
    strip: bool
    scale: Scale
    hidden: Bool[np.ndarray, "tile row column"] | None = None

    @property
    def limit(self) -> float:
        """The largest magnitude that is not masked; 1 for weights and where all is masked or zero."""
        if self.scale != "signed":
            return 1.0
        seen = np.isfinite(self.values) if self.hidden is None else np.isfinite(self.values) & ~self.hidden
        return float(np.abs(self.values, where=seen, out=np.zeros_like(self.values)).max(initial=0)) or 1.0


def panel(
    values: Shaped[np.ndarray, "*any"],
    axes: Sequence[str],
    scale: Scale,
    item: int = 0,
    head: int | None = None,
    hidden: Shaped[np.ndarray, "*any"] | None = None,
) -> Panel:
    """The panel of one text of the batch and one head, or all heads, of a tensor. Only the shown part is copied.

    Args:
        values: a tensor of the trace: numbers, truth values or ids.
        axes: their names; `batch` and `head` are picked from, the last two others go down and across.
        scale: how numbers become colours.
        item: which text of the batch.
        head: counted from 0; None for all.
        hidden: True where a mask hides a number; of the shape of `values`.
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
    """The values with the head axis first, wherever it was; one tile if there is no head axis."""
    if "head" in left:
        moved = np.moveaxis(part, left.index("head"), 0)
        return moved.reshape(len(moved), *moved.shape[-2:])  # without axes of size 1, which stand for "the same for all"
    if part.ndim == 1:
        return part[None, :, None]
    return part.reshape(-1, *part.shape[-2:])


@dataclass(frozen=True, eq=False)
class TensorView:
    """A tensor with its title, labels and colours in a picture.

    Attributes:
        path: of the tensor in its trace.
        title, shape: written above it.
        panel: the numbers.
        limit: the magnitude with the strongest colour.
        color: of the open cells of a mask, as hex.
        tokens: axis → the tokens on it.
        first_column: the column at which the panel begins, where only some columns are shown.
        branch: the branch of an attention it belongs to, if any.
    """

    path: str
    title: str
    shape: str
    panel: Panel
    limit: float
    color: str = KIND_COLORS["encoder"]
    tokens: Mapping[str, Sequence[str]] = field(default_factory=dict)
    first_column: int = 0
    branch: Branch | None = None

    def labels(self, axis: int) -> Sequence[str] | None:
        """The tokens of the rows (1) or the columns (2), or None if that axis has no tokens."""
        count, tokens = self.panel.values.shape[axis], self.tokens.get(self.panel.axes[axis])
        return None if tokens is None or len(tokens) != count else [str(token) for token in tokens]

    def columns(self, first: int, last: int) -> "TensorView":
        """The view of the columns from `first` to `last`, both included, with the same colours."""
        panel, axis = self.panel, self.panel.axes[2]
        part = slice(first, last + 1)
        hidden = None if panel.hidden is None else panel.hidden[..., part]
        tokens = self.labels(2)
        shown = {**self.tokens, axis: tokens[part]} if tokens is not None else self.tokens
        return replace(
            self, panel=replace(panel, values=panel.values[..., part], hidden=hidden), tokens=shown, first_column=first
        )


def tensor_view(
    title: str,
    values: Shaped[np.ndarray, "*any"],
    axes: Sequence[str],
    scale: Scale = "signed",
    tokens: Mapping[str, Sequence[str]] | None = None,
    branch: Branch | None = None,
    **choices: Any,
) -> TensorView:
    """A tensor prepared for `stop_figure` and `layer_figure`.

    Args:
        title: written above it, and its path.
        values, axes, scale: as for `panel`.
        tokens: axis → the tokens on it.
        branch: `query`, `key` or `value`, for the tensors of an attention before the three come together.
        choices: `item`, `head` and `hidden`, as for `panel`.
    """
    shown = panel(values, axes, scale, **choices)
    return TensorView(title, title, str(list(values.shape)), shown, shown.limit, tokens=tokens or {}, branch=branch)


def in_one_scale(views: Sequence[TensorView]) -> list[TensorView]:
    """The same views with one colour scale for all signed numbers, up to the largest magnitude of any of them."""
    limit = max((view.panel.limit for view in views if view.panel.scale == "signed"), default=1.0)
    return [replace(view, limit=limit) if view.panel.scale == "signed" else view for view in views]


def strongest(values: Float[np.ndarray, "row column"], rows: int, columns: int) -> Float[np.ndarray, "down across"]:
    """A matrix binned to at most so many rows and columns; a bin holds its number of greatest magnitude."""
    return _narrowed(_narrowed(values, columns).T, rows).T


def _narrowed(values: Float[np.ndarray, "row column"], most: int) -> Float[np.ndarray, "row across"]:
    rows, columns = values.shape
    if columns <= most:
        return values
    each = -(-columns // most)
    # The last bin is padded with zeros, which are never the greatest magnitude.
    bins = np.pad(values, ((0, 0), (0, -columns % each))).reshape(rows, -1, each)
    return np.take_along_axis(bins, np.abs(bins).argmax(-1, keepdims=True), -1)[..., 0]


def thumbnail(shown: Panel, rows: int, columns: int, limit: float | None = None) -> UInt8[np.ndarray, "down across"]:
    """A panel as shades with at most so many bins on each axis; tiles are joined as they are drawn."""
    tiles, height, width = shown.values.shape
    values = np.nan_to_num(shown.values, posinf=0, neginf=0)
    hidden = np.zeros(values.shape, bool) if shown.hidden is None else shown.hidden
    values = np.where(hidden, 0, values)
    if shown.strip:
        values, hidden = (part.transpose(1, 0, 2).reshape(height, tiles * width) for part in (values, hidden))
    else:
        values, hidden = (part.reshape(tiles * height, width) for part in (values, hidden))
    small = strongest(values.astype(np.float32), rows, columns)
    # A bin is masked only if all of its numbers are.
    open_ = strongest((~hidden).astype(np.float32), rows, columns) > 0
    top = shown.limit if limit is None else limit
    scaled = (small / top + 1) / 2 if shown.scale == "signed" else np.ones_like(small) if shown.scale == "ids" else small
    return np.where(open_, np.rint(np.clip(scaled, 0, 1) * LEVELS), MASKED_LEVEL).astype(np.uint8)


@cache
def shades(scale: Scale) -> UInt8[np.ndarray, "level 3"]:
    """Red, green and blue of each level of a scale."""
    colors = sample_colorscale(WEIGHTS if scale == "weights" else SIGNED, np.linspace(0, 1, LEVELS + 1), colortype="tuple")
    return np.rint(np.array(colors) * 255).astype(np.uint8)
