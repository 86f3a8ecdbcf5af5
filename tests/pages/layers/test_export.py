"""The HTML pages saved from the walk and from the filmstrip."""

import pytest

from pages.layers.filmstrip import KEY
from pages.layers.walk_part import PICTURE
from pages.ui.text import text
from tests.pages.apps import unfold
from tests.pages.layers.opened import LAYER, opened
from tests.pages.visitor import Visitor

SCORES = f"{LAYER}.self_attention.scores"


@pytest.mark.parametrize(("key", "query"), [(PICTURE, {"stop": SCORES}), (KEY, {"part": "filmstrip", "group": "encoder-1"})])
def test_only_an_open_menu_has_buttons(key: str, query: dict[str, str]) -> None:
    app = opened(model="reverse", source="abcd", **query)
    assert not app.download_button
    unfold(app, f"save {key}")
    assert text("common")["save"]["html"] in [button.label for button in app.download_button]


def saved(visitor: Visitor) -> tuple[str, str]:
    """The name and the content of the HTML page that the first menu of a page saves."""
    page = visitor.page
    page.get_by_role("button", name="Save").first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name=text("common")["save"]["html"]).click()
    html = download.value.path().read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert 'src="http' not in html  # the page works offline
    return download.value.suggested_filename, html.partition("Plotly.newPlot")[2]


@pytest.mark.slow
@pytest.mark.browser
def test_the_saved_page_of_a_stop_contains_the_plotly_figure(visitor: Visitor) -> None:
    visitor.open(f"layers?model=reverse&source=abcd&stop={SCORES}")
    name, figure = saved(visitor)
    assert name == f"{SCORES}.html"
    assert '"type":"heatmap"' in figure
    assert "Raw scores" in figure


@pytest.mark.slow
@pytest.mark.browser
def test_the_saved_filmstrip_is_the_figure_of_the_page(visitor: Visitor) -> None:
    visitor.open("layers?model=reverse&source=abcd&part=filmstrip&group=encoder-1")
    name, figure = saved(visitor)
    assert name == "reverse-encoder 1.html"
    assert f'"meta":"{LAYER}.self_attention.output"' in figure
    assert "Residual stream" in figure
