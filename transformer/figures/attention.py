"""One head as a picture, and weights as the picture of every head has them."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float, UInt8
from plotly.colors import sample_colorscale

from transformer.figures.labels import LABELS
from transformer.figures.theme import LINE, MASK_SIGN, MASKED, WEIGHTS, finished, numbered, token_axis

# A weight is sent as one byte: 0 to 254 for 0 to 1, and 255 for "masked".
LEVELS = 254
MASKED_LEVEL = 255
MOST_WRITTEN = 18  # tokens on the longer side up to which each cell carries its number
MOST_LABELLED = 32  # tokens of an axis up to which each is written; of more, every second or third
# px: the side of a cell with a number in it, of one with a label beside it, of others; and what stands beside the cells.
WRITTEN_CELL, LABELLED_CELL, SMALL_CELL, BESIDE = 27, 15, 9, 210
# The share of each primary colour in how light a colour is, and where black and white stand out from it alike (WCAG 2).
LUMINANCE, EVEN = np.array([0.2126, 0.7152, 0.0722]), 0.179
SHORT, SHORT_SIZE = 4, 11  # characters of a number that fits into every cell, and their px
BLACK = '<span style="color:black">{}</span>'
MOST_HATCHED = 32  # tokens on the longer side up to which masked cells are hatched, not only grey


def quantized(weights: Float[np.ndarray, "*any"], allowed: Bool[np.ndarray, "*any"]) -> UInt8[np.ndarray, "*any"]:
    """Weights as bytes: an eighth of the size of float64, and off by at most 0.002."""
    levels = np.rint(np.clip(weights, 0, 1) * LEVELS).astype(np.uint8)
    return np.where(allowed, levels, np.uint8(MASKED_LEVEL))


def head_map(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    wide: bool = False,
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """One head, to be read: tokens on both axes, the exact weight on hover, and in the cell where there is room.

    Args:
        weights: 0 to 1; each row sums to 1, or to 0 where nothing may be looked at.
        allowed: False where a query may not look; drawn grey and hatched.
        queries, keys: the tokens.
        wide: cells may be wider than high, for a map of few rows.
        labels: words of the figure.
    """
    longer = max(weights.shape)
    figure = go.Figure()
    if not allowed.all():
        figure.add_trace(masked_cells(allowed, queries, keys, labels))
    figure.add_trace(
        go.Heatmap(
            z=np.where(allowed, weights, np.nan).astype(np.float32),
            x=numbered(keys),
            y=numbered(queries),
            zmin=0,
            zmax=1,
            colorscale=WEIGHTS,
            colorbar={"title": {"text": labels["weight"]}, "thickness": 12},
            **(in_cells(np.where(allowed, weights, np.nan), "{:.2f}", WEIGHTS) if longer <= MOST_WRITTEN else {}),
            hovertemplate=hover(labels, f"{labels['weight']} %{{z:.6f}}"),
            hoverongaps=False,
            xgap=int(longer <= MOST_HATCHED),
            ygap=int(longer <= MOST_HATCHED),
        )
    )
    return token_map(figure, queries, keys, wide, labels)


def hover(labels: Mapping[str, str], value: str) -> str:
    """The template of what hovering says of a query and a key."""
    return f"{labels['query']} %{{y}}<br>{labels['key']} %{{x}}<br>{value}<extra></extra>"


def masked_cells(
    allowed: Bool[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str], labels: Mapping[str, str] = LABELS
) -> go.Heatmap:
    """What lies below a map where a query may not look: grey, and hatched unless the cells are too small."""
    return go.Heatmap(
        # Sent as a list, a third shorter than in single precision.
        z=[[None if may else 1 for may in row] for row in allowed.tolist()],
        x=numbered(keys),
        y=numbered(queries),
        colorscale=[[0, MASKED], [1, MASKED]],
        showscale=False,
        texttemplate=MASK_SIGN if max(allowed.shape) <= MOST_HATCHED else None,
        textfont={"color": LINE},
        hovertemplate=hover(labels, labels["masked_cell"]),
        # Where a cell is not masked, there is nothing to say of it.
        hoverongaps=False,
    )


def in_cells(
    values: Float[np.ndarray, "row column"], form: str, scale: str, low: float = 0.0, high: float = 1.0
) -> dict[str, object]:
    """The number in each cell of a heatmap, for `go.Heatmap`; short ones are black where that is read better than white.

    Plotly by itself takes a dark grey, and that only on light colours: on the greens halfway it can hardly be read. But it
    takes markup for letters when it fits numbers into cells, so only those that surely fit can have any.

    Args:
        values: of the cells; nothing is written where there is none.
        form: how a number is written, as for `str.format`; a zero never has a sign.
        scale, low, high: the colours of the heatmap, and the values at their two ends.
    """
    told = [["" if np.isnan(value) else unsigned_zero(form.format(value)) for value in row] for row in values.tolist()]
    if max((len(said) for row in told for said in row), default=0) > SHORT:
        return {"text": told, "texttemplate": "%{text}"}
    places = np.nan_to_num((np.clip(values, low, high) - low) / (high - low)).astype(float)
    shades = np.array(sample_colorscale(scale, places.ravel().tolist(), colortype="tuple")).reshape(*values.shape, 3)
    linear = np.where(shades <= 0.04045, shades / 12.92, ((shades + 0.055) / 1.055) ** 2.4)
    black = linear @ LUMINANCE > EVEN
    text = [
        [BLACK.format(said) if said and dark else said for said, dark in zip(*pair, strict=True)]
        for pair in zip(told, black, strict=True)
    ]
    return {"text": text, "texttemplate": "%{text}", "textfont": {"size": SHORT_SIZE}}


def unsigned_zero(said: str) -> str:
    """A number as it is written, but a zero without a sign."""
    return said.replace("-", "−") if said.strip("+-0.") else said.lstrip("+-")


def token_map(
    figure: go.Figure,
    queries: Sequence[str],
    keys: Sequence[str],
    wide: bool = False,
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """Tokens on both axes of a map of queries × keys, and cells that are square unless they may be `wide`."""
    longer = max(len(queries), len(keys))
    across = token_axis(labels["key_axis"], keys, MOST_LABELLED, side="top", tickangle=-45 if longer > 8 else 0)
    figure.update_xaxes(across)
    figure.update_yaxes(token_axis(labels["query_axis"], queries, MOST_LABELLED))
    figure.update_yaxes(autorange="reversed")
    if wide:
        figure.update_yaxes(title=None)  # there is no room beside few rows, and they name themselves
    else:
        figure.update_yaxes(scaleanchor="x", constrain="domain")
        figure.update_xaxes(constrain="domain")
    finished(figure, height=150 + len(queries) * int(np.clip(460 / longer, 11, 46)))
    return figure.update_layout(margin={"t": 110}, meta=least_width(len(keys), longer))


def least_width(columns: int, longer: int) -> dict[str, int]:
    """What `meta` says of the px a map needs: numbers must fit into its cells, and labels beside one another."""
    cell = WRITTEN_CELL if longer <= MOST_WRITTEN else LABELLED_CELL if longer <= MOST_LABELLED else SMALL_CELL
    return {"least_width": BESIDE + columns * cell}
