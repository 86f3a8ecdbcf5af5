"""The glossary lists its terms on every page, while it is open, and explains those that a page sets in bold."""

import pytest
from playwright.sync_api import expect

from pages.shell.glossary import listed
from pages.ui.text import text
from tests.pages.apps import on_page, unfold
from tests.pages.conftest import Visitor

# The words on the blocks of Home's map, and those that the sentences of the pages set in bold.
ON_MAP = ("add & norm", "memory", "linear", "softmax", "feed-forward", "<sos>")
IN_SENTENCES = ("query", "key", "value", "head", "attention weight", "mask", "token")


def test_every_term_is_listed_once_below_a_page() -> None:
    terms = text("glossary")["terms"]
    assert {*ON_MAP, *IN_SENTENCES} <= set(terms)
    assert all(says.endswith(".") for says in terms.values())
    app = on_page("pages/tokens/page.py", model="reverse", source="abc")
    assert listed() not in [element.value for element in app.markdown]
    assert listed() in [element.value for element in unfold(app, "glossary").markdown]


@pytest.mark.browser
def test_a_term_in_bold_is_explained_by_pointing_a_tap_and_the_keyboard(visitor: Visitor) -> None:
    terms: dict[str, str] = text("glossary")["terms"]
    # The text is a term, too: it stands in bold above the pictures, and is none of the page's words.
    page = visitor.open("attention?model=reverse&source=vector", whole=True)
    query, tip = page.locator(".term", has_text="query").first, page.locator(".meaning")
    page.wait_for_function("document.querySelectorAll('.term').length > 3")
    assert page.locator(".term", has_text="query").count() == 1  # where it is met first
    assert page.locator(".term", has_text="vector").count() == 0
    assert query.get_attribute("aria-description") == terms["query"]
    query.hover()
    expect(tip).to_have_text(terms["query"])
    page.mouse.move(5, 5)
    expect(tip).to_have_count(0)
    query.focus()
    expect(tip).to_have_text(terms["query"])
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    page.locator(".term", has_text="attention weight").click()  # set in bold as it is in a sentence
    expect(tip).to_have_text(terms["attention weight"])
    box = tip.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 1440
    # Another page has other terms.
    page.get_by_test_id("stSidebarNav").get_by_text("Masks", exact=True).click()
    expect(page.locator(".term", has_text="mask").first).to_have_attribute("aria-description", terms["mask"])
    expect(tip).to_have_count(0)
