"""The page of the head that turns."""

import pytest
from playwright.sync_api import Browser
from streamlit.testing.v1 import AppTest

from pages.shell.runs import runs
from pages.turning.comparison import read
from tests.pages.apps import on_page
from tests.pages.conftest import Visitor
from transformer import InputError, Pipeline


@pytest.fixture(scope="module")
def app() -> AppTest:
    """The page, with nothing in the sidebar's box: it must not need it."""
    app = on_page("pages/turning/page.py", source="")
    assert not app.exception
    assert not app.error
    return app


def test_one_model_has_a_head_that_turns_and_the_other_has_not(app: AppTest) -> None:
    shifts = [float(metric.value) for metric in app.metric if metric.label == "Shift on these two sentences"]
    assert len(shifts) == 2
    assert shifts[0] >= 0.9
    assert shifts[1] <= 0.2
    words = " ".join(markdown.value for markdown in app.markdown)
    assert "“il”" in words
    assert "“elle”" in words


def test_the_numbers_are_those_of_the_cards(app: AppTest) -> None:
    shifts = [metric.value for metric in app.metric if metric.label.startswith("Mean shift")]
    assert shifts == [
        f"{Pipeline.load(name).card.measures['pronouns']['shift']:.3f}" for name in ("english-french", "english-french-static")
    ]


def test_the_page_names_the_row_and_says_that_the_sidebar_changes_nothing(app: AppTest) -> None:
    assert any("the row of qu', which writes the pronoun" in markdown.value for markdown in app.markdown)
    assert any("what the sidebar holds is for the other pages" in caption.value for caption in app.caption)


def test_an_answer_without_a_pronoun_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        InputError, match=r"^The model's answer '.+' has no pronoun; this page needs one of il, elle, ils, elles\.$"
    ):
        read(runs().pipeline("english-french"), "english-french", "the cat sleeps .")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_one_click_from_the_home_page_and_a_link(browser: Browser, url: str, scheme: str) -> None:
    visitor = Visitor(browser, url, color_scheme=scheme)
    page = visitor.open(whole=True)
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
    measures = Pipeline.load("english-french").card.measures["pronouns"]
    page = visitor.open((link or "").split("/")[-1])
    assert page.get_by_role("heading", name=f"Cross-attention, layer {measures['layer']}, head {measures['head']}").is_visible()
    assert page.get_by_label("Source text", exact=True).input_value().endswith("tired")
