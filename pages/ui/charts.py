"""Plotly figures on a page."""

from typing import Any

import plotly.graph_objects as go
import streamlit as st
from markupsafe import Markup

from pages.ui.compat import scrolled
from pages.ui.export_menu import saving
from pages.ui.style import style_element
from transformer.figures.numbers import has_numbers, numbers

CONFIG = {
    "displaylogo": False,
    "scrollZoom": False,
    "toImageButtonOptions": {"format": "png", "scale": 2},
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}


def show(figure: go.Figure, key: str, alt: str, name: str | None = None) -> None:
    """Draw a figure as wide as the page, and below it the menu that saves it as a picture, a page or numbers.

    On a page narrower than the figure's `least_width` (px, in the `meta` of its layout) the figure scrolls sideways.

    Args:
        figure: the Plotly figure.
        key: key of the chart.
        alt: a description of the figure for screen readers.
        name: name of saved files without ending; by default the key.
    """
    layout: Any = figure.layout
    least = (layout.meta or {}).get("least_width")
    if least:
        st.html(style_element(scrolled(key, int(least))))
    st.plotly_chart(figure, width="stretch", key=key, config=CONFIG, alt=alt)
    saving(key, name or key, (lambda: numbers(figure)) if has_numbers(figure) else None, lambda: offline(figure, alt))


def offline(figure: go.Figure, alt: str) -> str:
    """An HTML page with the figure alone and Plotly included, so it works without a network."""
    page = figure.to_html(include_plotlyjs=True, config={"displaylogo": False})
    return page.replace("<head>", Markup("<head><title>{}</title>").format(alt), 1)
