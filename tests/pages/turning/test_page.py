"""The page of the head that turns."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Visitor
from transformer import Pipeline

ROOT = Path(__file__).parents[3]


def test_one_model_has_a_head_that_turns_and_the_other_has_not() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.switch_page("pages/turning/page.py").run()
    assert not app.exception
    assert not app.error
    shifts = [float(metric.value) for metric in app.metric if metric.label == "Shift on these two sentences"]
    assert len(shifts) == 2
    assert shifts[0] >= 0.9
    assert shifts[1] <= 0.2
    shown = " ".join(markdown.value for markdown in app.markdown)
    assert "“il”" in shown
    assert "“elle”" in shown


def test_the_numbers_are_those_of_the_cards() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.switch_page("pages/turning/page.py").run()
    shown = [metric.value for metric in app.metric if metric.label.startswith("Mean shift")]
    assert shown == [
        f"{Pipeline.load(name).card.measures['pronouns']['shift']:.3f}" for name in ("english-french", "english-french-static")
    ]


def test_it_says_which_row_is_shown_and_that_the_sidebar_changes_nothing_here() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["source"] = ""
    app.run().switch_page("pages/turning/page.py").run()
    assert not app.error
    assert any("the row of qu', which writes the pronoun" in markdown.value for markdown in app.markdown)
    assert any("what the sidebar holds is for the other pages" in caption.value for caption in app.caption)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_one_click_from_the_home_page_and_a_link(browser: Browser, url: str, scheme: str) -> None:
    visitor = Visitor(browser, url, color_scheme=scheme)
    page = visitor.open()
    page.get_by_test_id("stMain").locator('a[href*="turning"]').first.click()
    page.get_by_role("heading", name="The head that turns").wait_for()
    visitor.settle()
    assert page.url.split("?")[0].endswith("/turning")
    for chart in (0, 1):
        assert "tired/wide" in visitor.ticks(chart, "x")
        assert visitor.ticks(chart, "y") == ["a: tired → il", "b: wide → elle"]
    visitor.close()
    assert visitor.complaints == []


@pytest.mark.browser
def test_its_head_can_be_opened_on_the_attention_page(visitor: Visitor) -> None:
    page = visitor.open("turning")
    link = page.get_by_role("link", name="Open this head on the Attention page").first.get_attribute("href")
    found = Pipeline.load("english-french").card.measures["pronouns"]
    page = visitor.open((link or "").split("/")[-1])
    assert page.get_by_role("heading", name=f"Cross-attention, layer {found['layer']}, head {found['head']}").is_visible()
    assert page.get_by_label("Source text", exact=True).input_value().endswith("tired")
