"""A tensor made ready to be drawn to scale: which of its axes go down, which go across, and how large a number can be.

Pictures of a walk are drawn on a canvas by the page (`pages/widgets/tensors`), because a step must repaint in a moment, and
the exact numbers must be there to be pointed at. What can be decided without a browser is decided here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Shaped, UInt8
from plotly.colors import sample_colorscale

from transformer.figures.theme import SIGNED, WEIGHTS

# A number is painted in one of 255 shades; 255 stands for "masked".
LEVELS = 254
MASKED_LEVEL = 255
MOST_COLUMNS = 256  # of a picture: a dot may stand for several columns, and then shows the strongest of them

Scale = Literal["signed", "weights", "mask", "ids"]


@dataclass(frozen=True, eq=False)
class Panel:
    """What is drawn of one tensor: a matrix, or one for each head.

    Attributes:
        values: as float32.
        axes: what tiles, rows and columns are called; the first is empty where there is one tile for all.
        strip: tiles stand side by side, as where a vector is cut into heads; else one below the other.
        scale: how numbers become colours: `signed` (centred on zero), `weights` (0 to 1), `mask` (true or hidden), `ids`.
        hidden: True where a mask hides the number; of the shape of `values`.
    """

    values: Float[np.ndarray, "tile row column"]
    axes: tuple[str, str, str]
    strip: bool
    scale: Scale
    hidden: Bool[np.ndarray, "tile row column"] | None = None

    @property
    def most(self) -> float:
        """The largest magnitude that is seen; 1 for weights and where there is nothing."""
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
    """One text of the batch and one head, or all heads, of a tensor. Only what is shown is copied.

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
    hidden_here = None if hidden is None else _tiles(hidden[index], left).astype(bool)
    found = _tiles(values[index], left)
    if scale == "mask":
        hidden_here = ~found.astype(bool)
    rows = [name for name in left if name != "head"][-2:]
    if len(rows) == 1:
        rows.append("id" if scale == "ids" else "")
    axes_shown = ("head" if "head" in left else "", rows[0], rows[1])
    return Panel(np.ascontiguousarray(found, np.float32), axes_shown, strip, scale, hidden_here)


def _tiles(part: Shaped[np.ndarray, "*any"], left: Sequence[str]) -> Shaped[np.ndarray, "tile row column"]:
    """Heads first, whatever their place; a single tile where there are none."""
    if "head" in left:
        return np.moveaxis(part, left.index("head"), 0)
    if part.ndim == 1:
        return part[None, :, None]
    return part.reshape(-1, *part.shape[-2:])


def largest(panels: Sequence[Panel]) -> list[float]:
    """One common scale for tensors whose numbers are to be compared: the largest magnitude of any of them."""
    most = max((panel.most for panel in panels if panel.scale == "signed"), default=1.0)
    return [most if panel.scale == "signed" else panel.most for panel in panels]


def strongest(values: Float[np.ndarray, "row column"], rows: int, columns: int) -> Float[np.ndarray, "down across"]:
    """A matrix in at most so many rows and columns: each dot is the number of greatest magnitude of those it stands for."""
    return _narrowed(_narrowed(values, columns).T, rows).T


def _narrowed(values: Float[np.ndarray, "row column"], most: int) -> Float[np.ndarray, "row across"]:
    rows, columns = values.shape
    if columns <= most:
        return values
    each = -(-columns // most)
    # The last dot may stand for fewer; the zeros that fill it up never win.
    dots = np.pad(values, ((0, 0), (0, -columns % each))).reshape(rows, -1, each)
    return np.take_along_axis(dots, np.abs(dots).argmax(-1, keepdims=True), -1)[..., 0]


def thumbnail(shown: Panel, rows: int, columns: int, most: float | None = None) -> UInt8[np.ndarray, "down across"]:
    """A panel as shades, in at most so many dots each way; tiles are put together as they are drawn."""
    tiles, height, width = shown.values.shape
    values = np.nan_to_num(shown.values, posinf=0, neginf=0)
    hidden = np.zeros(values.shape, bool) if shown.hidden is None else shown.hidden
    values = np.where(hidden, 0, values)
    if shown.strip:
        values, hidden = (part.transpose(1, 0, 2).reshape(height, tiles * width) for part in (values, hidden))
    else:
        values, hidden = (part.reshape(tiles * height, width) for part in (values, hidden))
    small = strongest(values.astype(np.float32), rows, columns)
    # A dot is masked only if all it stands for is.
    open_ = strongest((~hidden).astype(np.float32), rows, columns) > 0
    top = shown.most if most is None else most
    scaled = (small / top + 1) / 2 if shown.scale == "signed" else np.ones_like(small) if shown.scale == "ids" else small
    return np.where(open_, np.rint(np.clip(scaled, 0, 1) * LEVELS), MASKED_LEVEL).astype(np.uint8)


@cache
def shades(scale: Scale) -> UInt8[np.ndarray, "level 3"]:
    """Red, green and blue of each level, from the one place that says what colours mean."""
    found = sample_colorscale(WEIGHTS if scale == "weights" else SIGNED, np.linspace(0, 1, LEVELS + 1), colortype="tuple")
    return np.rint(np.array(found) * 255).astype(np.uint8)
