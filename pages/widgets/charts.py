"""Figures on a page."""

import plotly.graph_objects as go
import streamlit as st

CONFIG = {"displaylogo": False, "scrollZoom": False, "toImageButtonOptions": {"format": "png", "scale": 2}}


def show(figure: go.Figure, key: str, alt: str) -> None:
    """Draw a figure as wide as the page; `alt` says in words what it shows, for those who do not see it."""
    st.plotly_chart(figure, width="stretch", key=key, config=CONFIG, alt=alt)
