"""The Layers page: checks that apply to several of its views."""

import tomllib

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.app_server import ROOT
from tests.pages.apps import EXAMPLE, WORKED, charts
from tests.pages.layers.opened import LAYER, opened
from tests.pages.visitor import Walker

PARTS = list(tomllib.loads((ROOT / "assets/text/en/layers.toml").read_text(encoding="utf-8"))["parts"])


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("model", ["reverse", "english-french", "vanilla", "pytorch", "shared_heads"])
def test_every_view_shows_every_kind_of_model(part: str, model: str) -> None:
    sizes = {"variant": model, "n_layers": "2", "d_model": "32", "d_ff": "64"}
    own = {"model": "own-sizes", **sizes, **EXAMPLE} if model in ("vanilla", "pytorch", "shared_heads") else {"model": model}
    app = opened(part=part, **own)
    assert not [error.value for error in app.error]
    for chart in charts(app):
        assert chart.alt


# --- in a browser ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.browser
def test_pickers_and_charts_fit_a_phone(browser: Browser, url: str) -> None:
    walker = Walker(browser, url, has_touch=True)
    walker.page.set_viewport_size({"width": 390, "height": 844})
    walker.at(f"{WORKED}&stop={LAYER}.self_attention.weights")
    heads = walker.page.locator(".st-key-head button")
    expect(heads).to_have_count(9)
    group = heads.first.locator("..")
    assert group.evaluate("group => group.scrollWidth <= group.clientWidth")

    # The legend and the buttons of a chart do not cover its lines or bars.
    for part, keys in (("residual-stream", ["stream"]), ("ledger", ["ledger-shares", "ledger-growth"])):
        page = walker.open(f"layers?model=english-french&part={part}", whole=True)
        for chart in keys:
            picture = page.locator(f".st-key-{chart} .js-plotly-plot")
            drawn, names, buttons = (
                picture.locator(each).evaluate("part => part.getBoundingClientRect().toJSON()")
                for each in (".nsewdrag", ".legend .bg", ".modebar")
            )
            assert drawn["width"] > 0.6 * 390, chart
            assert names["top"] >= drawn["bottom"], chart
            assert buttons["bottom"] <= names["top"], chart
    walker.close()
    assert walker.complaints == []
