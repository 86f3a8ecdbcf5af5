"""Colours and layout that all figures share. `.streamlit/config.toml` repeats some of the colours, and a test compares the two.

The hues are from Okabe and Ito (2008): people with every common colour blindness can distinguish them. The colours of figures
do not depend on a light or dark page, because Streamlit colours text and grid to fit, and marks over data are mid grey.
"""

import html
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import plotly.graph_objects as go
from plotly.colors import get_colorscale

KIND_COLORS = {"encoder": "#0072B2", "decoder": "#D55E00", "cross": "#009E73"}
ROLE_COLORS = {"query": "#CC79A7", "key": "#E69F00", "value": "#56B4E9"}

# Attention weights, 0 to 1. Viridis is perceptually uniform. Magma and Inferno contain near-blacks that Streamlit replaces.
# Both scales are lists of colours, not names: in plotly.js, the colours under these names differ a little (Viridis) or are
# others (RdBu is from blue to red, with grey between), and figures that Plotly for Python does not check would be drawn with
# them.
WEIGHTS = get_colorscale("Viridis")
# Signed tensors, centred on zero: red below zero, white at zero, blue above.
SIGNED = get_colorscale("RdBu")

# Hues and shapes for series without their own colour, such as classes of words or several lines. The shape changes after all
# hues are used.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
SHAPES = ("circle", "diamond", "square", "cross")

MASKED = "rgba(128, 128, 128, 0.28)"
LINE = "rgb(128, 128, 128)"
LABEL = "rgb(222, 222, 222)"  # a cell with a number that is a name, such as a token id; black text is readable on it
MASK_SIGN = "╱"

# A colour per head, for a light and for a dark page. A search found them: each has a contrast of at least 3 : 1 with the page,
# and the first eight are as different as possible, also for the three kinds of colour blindness. Heads also have numbers on
# their buttons.
HEAD_COLORS = {
    "light": (
        *("#0072B2", "#D55E00", "#45A28B", "#0F07BA", "#8414FC", "#1F380C"),
        *("#A679F1", "#8A3E4C", "#481179", "#00518A", "#5D2A49", "#876C76"),
    ),
    "dark": (
        *("#56B4E9", "#E8772E", "#00E4A0", "#2E5BFF", "#FFDFFF", "#CF1936"),
        *("#78678C", "#B6FF20", "#BDC9E4", "#008CDD", "#EA06BC", "#6BAD7D"),
    ),
}

# Colours of our CSS, by name. On every page, each is a CSS variable such as `--headlight-shadow`, also within components.
# The code colours have a contrast of at least 5 : 1 on a light and on a dark page. Streamlit's own code colours fit neither
# theme: their contrast is 2.2 : 1 on a light page.
STYLE_COLORS = {
    "rule": MASKED,
    "edge": "rgba(128, 128, 128, 0.55)",
    "shadow": "rgba(0, 0, 0, 0.25)",
    "unknown": "#D55E00",
    "warning": "light-dark(#9A4300, #F0A070)",
    "chosen": KIND_COLORS["decoder"],
    "other": KIND_COLORS["encoder"],
    "page": "light-dark(#FFFFFF, #11161D)",  # as backgroundColor in .streamlit/config.toml
    "code-keyword": "light-dark(#005A8C, #56B4E9)",
    "code-string": "light-dark(#00694B, #5FD0A5)",
    "code-number": "light-dark(#8A3A68, #DD9CC0)",
    "code-operator": "light-dark(#9A4300, #F0A070)",
    "on-primary": "light-dark(#FFFFFF, #11161D)",
    "surface": "light-dark(#F3F5F8, #1A222C)",  # of a card, as secondaryBackgroundColor there
    "code-quiet": "light-dark(#545C69, #A8B0BC)",
}

# Colour of all text on a figure. On a page, the page's own colour takes its place.
INK = "#000000"

MARGIN = {"l": 8, "r": 8, "t": 40, "b": 8}
# Layout of a legend in a line above the chart.
LEGEND_ABOVE = {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}, "margin": {"t": 60}}


# The positions of the queries and of the keys of a map from which tokens are left out; None counts them from 0.
Positions = tuple[Sequence[int] | None, Sequence[int] | None]
COUNTED: Positions = (None, None)


def escaped(text: str) -> str:
    """The text with `&`, `<` and `>` escaped, because Plotly would drop `<pad>` as an unknown tag."""
    return html.escape(text, quote=False)


def numbered(tokens: Sequence[str], positions: Sequence[int] | None = None) -> list[str]:
    """Tokens with their positions, so that equal tokens have different names: `3: cat`. By default, positions count from 0.

    The separator is ASCII to save bytes: a name of every row and column is sent to the browser.
    """
    places = range(len(tokens)) if positions is None else positions
    return [f"{place}: {escaped(token)}" for place, token in zip(places, tokens, strict=True)]


def token_axis(
    title: str, tokens: Sequence[str], most: int = 40, positions: Sequence[int] | None = None, **more: Any
) -> dict[str, Any]:
    """The layout of a Plotly axis with a token at each index. Of more than `most` tokens, only every second, third, … token is
    written.

    On hover, tokens have their positions (`numbered`): `positions`, by default from 0. `more` has other properties of the axis.
    """
    step = -(-len(tokens) // most)
    shown = range(0, len(tokens), step)
    return {
        "title": {"text": title},
        "type": "category",
        "categoryorder": "array",
        "categoryarray": numbered(tokens, positions),
        "tickmode": "array",
        "tickvals": list(shown),
        "ticktext": [escaped(tokens[index]) for index in shown],
        "showgrid": False,
        "zeroline": False,
        **more,
    }


def finished(figure: go.Figure, height: int, **layout_of_its_own: Any) -> go.Figure:
    """A new figure: the given figure with the layout that all figures share.

    The layouts are merged as plain dictionaries, which takes 2 ms for a map of ten tokens. Setting the properties on a figure
    would take 17 ms, because Plotly checks each of them. A test checks every figure as a whole.

    Args:
        figure: the traces and the layout so far.
        height: height of the figure in px.
        layout_of_its_own: more parts of the layout, such as `xaxis={…}`. They replace shared parts.
    """
    shared: Any = figure
    return built([trace.to_plotly_json() for trace in shared.data], shared.layout.to_plotly_json(), height, **layout_of_its_own)


def built(traces: Sequence[dict[str, Any]], layout: dict[str, Any], height: int, **layout_of_its_own: Any) -> go.Figure:
    """A figure with the layout that all figures share, as `finished` makes it, but from plain dictionaries, which Plotly does
    not check. This takes 2 to 4 ms less. Use it for figures that are new for every text. A test checks each of these figures as
    a whole.

    Args:
        traces: the traces as plain dictionaries.
        layout: the layout as a plain dictionary; it is changed in place.
        height, layout_of_its_own: height of the figure in px; more parts of the layout, which replace shared parts.
    """
    _merge(
        layout,
        {
            "height": height,
            "margin": MARGIN,
            "showlegend": False,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
        },
    )
    _merge(layout, layout_of_its_own)
    # Of Plotly's template, which is sent with every figure and has forty kinds of chart, keep only the kinds in this figure.
    template = layout.get("template") or _template()
    drawn = {trace["type"] for trace in traces}
    layout["template"] = {
        "layout": {**template["layout"], "font": {"color": INK}},
        "data": {kind: template["data"].get(kind, []) for kind in drawn},
    }
    for axis in ("xaxis", "yaxis"):  # every figure has them, also if the layout does not name them
        layout.setdefault(axis, {})
    # Every part was checked when it was set, or is a constant above. Checking them again would take 4 ms of 5 for a map of a
    # head, and a page has several maps. Plotly checks parts again that are set from here on.
    result: Any = go.Figure(traces, layout, _validate=False)
    for part in (result, result.layout, *result.data):
        part._validate = True
    return result


@cache
def _template() -> dict[str, Any]:
    """Plotly's default template."""
    figure: Any = go.Figure()
    return figure.layout.template.to_plotly_json()


def _merge(target: dict[str, Any], update: Mapping[str, Any]) -> None:
    """Set the values of `update` in `target`, in place. Dictionaries within it are merged too."""
    for name, value in update.items():
        if isinstance(value, Mapping):
            _merge(target.setdefault(name, {}), value)
        else:
            target[name] = value
