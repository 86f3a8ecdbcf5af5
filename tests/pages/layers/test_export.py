"""The HTML pages saved from the walk and from the filmstrip."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.layers.filmstrip import KEY
from pages.layers.walk import PICTURE
from tests.pages.apps import unfold
from tests.pages.layers.opened import LAYER, opened


@pytest.mark.parametrize(
    ("query", "menu", "name", "titles"),
    [
        ({"stop": f"{LAYER}.self_attention.scores"}, PICTURE, f"{LAYER}.self_attention.scores.html", ["Raw scores"]),
        ({"part": "filmstrip", "group": "encoder-1"}, KEY, "reverse-encoder 1.html", ["Raw scores", "Attention weights"]),
    ],
)
def test_the_saved_page_holds_the_plotly_figure(
    query: dict[str, str], menu: str, name: str, titles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: dict[str, Any] = {}

    def remember(label: str, content: Any, file: str, *others: object, **more: object) -> None:
        pages[file] = content

    monkeypatch.setattr("streamlit.download_button", remember)
    app: AppTest = opened(model="reverse", source="abcd", **query)
    assert not pages  # a closed menu has no buttons
    unfold(app, f"save {menu}")
    assert not app.error
    html = pages[name]()
    assert html.startswith("<!doctype html>")
    assert "Plotly.newPlot" in html
    assert '"type":"heatmap"' in html
    assert 'src="http' not in html  # the page works offline
    for title in titles:
        assert title in html.partition("Plotly.newPlot")[2]
