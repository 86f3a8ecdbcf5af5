"""The HTML pages saved from the walk and from the filmstrip."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.layers.filmstrip import KEY
from pages.layers.walk_part import PICTURE
from tests.pages.apps import unfold
from tests.pages.layers.opened import LAYER, opened


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """File name → the content of the page's download button for this file."""
    offered: dict[str, Any] = {}

    def remember(label: str, content: Any, file: str, *others: object, **more: object) -> None:
        offered[file] = content

    monkeypatch.setattr("streamlit.download_button", remember)
    return offered


def page_of(pages: dict[str, Any], menu: str, name: str, **query: str) -> str:
    app: AppTest = opened(model="reverse", source="abcd", **query)
    assert not pages  # a closed menu has no buttons
    unfold(app, f"save {menu}")
    assert not app.error
    html = pages[name]()
    assert html.startswith("<!doctype html>")
    assert 'src="http' not in html  # the page works offline
    return html


def test_the_saved_page_of_a_stop_contains_the_plotly_figure(pages: dict[str, Any]) -> None:
    path = f"{LAYER}.self_attention.scores"
    html = page_of(pages, PICTURE, f"{path}.html", stop=path)
    figure = html.partition("Plotly.newPlot")[2]
    assert '"type":"heatmap"' in figure
    assert "Raw scores" in figure


def test_the_saved_filmstrip_is_the_figure_of_the_page(pages: dict[str, Any]) -> None:
    html = page_of(pages, KEY, "reverse-encoder 1.html", part="filmstrip", group="encoder-1")
    figure = html.partition("Plotly.newPlot")[2]
    assert f'"meta":"{LAYER}.self_attention.output"' in figure
    assert "Residual stream" in figure
