"""Figures on a page."""

import plotly.graph_objects as go
import streamlit as st

CONFIG = {
    "displaylogo": False,
    "scrollZoom": False,
    "toImageButtonOptions": {"format": "png", "scale": 2},
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}


def show(figure: go.Figure, key: str, alt: str) -> None:
    """Draw a figure as wide as the page; `alt` says in words what it shows, for those who do not see it."""
    st.plotly_chart(figure, width="stretch", key=key, config=CONFIG, alt=alt)


def download_figure(label: str, figure: go.Figure, name: str) -> None:
    """A button that saves the figure as one HTML file that works offline; made only when it is pressed."""
    st.download_button(
        label,
        lambda: figure.to_html(include_plotlyjs=True, config={"displaylogo": False}),
        f"{name}.html",
        "text/html",
        icon=":material/download:",
        on_click="ignore",
    )
