"""Colours and fonts that all figures share. `.streamlit/config.toml` repeats some; a test compares the two.

The hues are from Okabe and Ito (2008): they can be told apart with every common colour blindness. No colour depends
on a light or dark page: Streamlit colours text and grid to fit, and marks over data are mid grey.
"""

import html
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import plotly.graph_objects as go
from plotly.colors import get_colorscale

KIND_COLORS = {"encoder": "#0072B2", "decoder": "#D55E00", "cross": "#009E73"}
ROLE_COLORS = {"query": "#CC79A7", "key": "#E69F00", "value": "#56B4E9"}

# Attention weights, 0 to 1. Viridis is perceptually uniform; Magma and Inferno hold near-blacks that Streamlit replaces.
WEIGHTS = "Viridis"
# Signed tensors, centred on zero: red below, white, blue above. As colours: plotly.js has another scale by the name RdBu, from
# blue to red with grey between, and would draw that in figures that Plotly for Python does not check.
SIGNED = get_colorscale("RdBu")

# For series without a colour of their own, such as classes of words or several lines: hue and shape distinguish them,
# and the shape changes once all hues are used.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
SHAPES = ("circle", "diamond", "square", "cross")

MASKED = "rgba(128, 128, 128, 0.28)"
LINE = "rgb(128, 128, 128)"
MASK_SIGN = "╱"

# A colour per head, for a light and for a dark page. Found by search: each at least 3 : 1 against the page, and the first
# eight as far apart as possible, also for the three kinds of colour blindness. Heads also have numbers on their buttons.
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

# Colours of our CSS, by name. Every page has each as a CSS variable, `--headlight-shadow`, also within components.
# The code colours have at least 5 : 1 on a light and a dark page; Streamlit's own fit neither theme, 2.2 : 1 on light.
STYLE_COLORS = {
    "rule": MASKED,
    "edge": "rgba(128, 128, 128, 0.55)",
    "shadow": "rgba(0, 0, 0, 0.25)",
    "unknown": "#D55E00",
    "chosen": KIND_COLORS["decoder"],
    "other": KIND_COLORS["encoder"],
    "page": "light-dark(#FFFFFF, #11161D)",  # as in .streamlit/config.toml
    "code-keyword": "light-dark(#005A8C, #56B4E9)",
    "code-string": "light-dark(#00694B, #5FD0A5)",
    "code-number": "light-dark(#8A3A68, #DD9CC0)",
    "code-operator": "light-dark(#9A4300, #F0A070)",
    "on-primary": "light-dark(#FFFFFF, #11161D)",
    "background": "light-dark(#FFFFFF, #11161D)",  # of the page, for what lies over it
    "code-quiet": "light-dark(#545C69, #A8B0BC)",
}

# Colour of all text on a figure. Streamlit replaces exactly this value by a near-black or a near-white to fit the page
# theme; elsewhere it is black. Streamlit's default for axis labels on a light page is a pale grey.
INK = "#000037"

MARGIN = {"l": 8, "r": 8, "t": 40, "b": 8}
# Layout of a legend in a line above the chart.
LEGEND_ABOVE = {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}, "margin": {"t": 60}}


def escaped(text: str) -> str:
    """A text with markup escaped, because Plotly would drop `<pad>` as an unknown tag."""
    return html.escape(text, quote=False)


def numbered(tokens: Sequence[str]) -> list[str]:
    """Tokens with their positions, counted from 0, so that equal tokens have different names: `3: cat`.

    The format is ASCII, because the payload holds a name for every row and column of a map.
    """
    return [f"{index}: {escaped(token)}" for index, token in enumerate(tokens)]


def token_axis(title: str, tokens: Sequence[str], most: int = 40, **more: Any) -> dict[str, Any]:
    """An axis with a token at each position; of more than `most` tokens only every second, third, … is written out.

    Its categories are the numbered tokens, which hovering shows.
    """
    step = -(-len(tokens) // most)
    shown = range(0, len(tokens), step)
    return {
        "title": {"text": title},
        "type": "category",
        "categoryorder": "array",
        "categoryarray": numbered(tokens),
        "tickmode": "array",
        "tickvals": list(shown),
        "ticktext": [escaped(tokens[index]) for index in shown],
        "showgrid": False,
        "zeroline": False,
        **more,
    }


def finished(figure: go.Figure, height: int, **layout_of_its_own: Any) -> go.Figure:
    """A new figure: the given one with the layout that all figures share. Call it last: it sets the font of the axis titles.

    The layout is merged as plain dictionaries, because Plotly checks each property that is set on a figure: 17 ms for a map of
    ten tokens, where this takes 2. A test checks every figure as a whole.

    Args:
        figure: the traces and the layout so far.
        height: in px.
        layout_of_its_own: more of the layout, such as `xaxis={…}`; it replaces what is shared, but for the colour of the axes.
    """
    shared: Any = figure
    return built([trace.to_plotly_json() for trace in shared.data], shared.layout.to_plotly_json(), height, **layout_of_its_own)


def built(traces: Sequence[dict[str, Any]], layout: dict[str, Any], height: int, **layout_of_its_own: Any) -> go.Figure:
    """What `finished` gives, from plain dictionaries that Plotly does not check: 2 to 4 ms less. For figures that are new with
    every text; a test checks each of them as a whole.

    Args:
        traces: plain dictionaries.
        layout: the same; it is changed.
        height, layout_of_its_own: as for `finished`.
    """
    # Streamlit's theme sets a colour for each of these, so the figure's own font colour has no effect on them.
    ink = {"color": INK}
    _merge(
        layout,
        {
            "height": height,
            "margin": MARGIN,
            "showlegend": False,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": ink,
            "hoverlabel": {"font": ink},
            "legend": {"font": ink, "title": {"font": ink}},
            "coloraxis": {"colorbar": {"tickfont": ink, "title": {"font": ink}}},
        },
    )
    _merge(layout, layout_of_its_own)
    # Plotly's template has defaults for forty kinds of chart, and would be sent with every figure.
    template = layout.get("template") or _template()
    drawn = {trace["type"] for trace in traces}
    layout["template"] = {"layout": template["layout"], "data": {kind: template["data"].get(kind, []) for kind in drawn}}
    # The first pair of axes is there even if the layout has nothing to say of it.
    for name in dict.fromkeys(["xaxis", "yaxis", *(name for name in layout if name.startswith(("xaxis", "yaxis")))]):
        _merge(layout.setdefault(name, {}), {"tickfont": ink, "title": {"font": ink}})
    # Every part has been checked when it was set, or is a constant above. What is set from here on, Plotly checks again.
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
    """Set the values of nested dictionaries in place."""
    for name, value in update.items():
        if isinstance(value, Mapping):
            _merge(target.setdefault(name, {}), value)
        else:
            target[name] = value
