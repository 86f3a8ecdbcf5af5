"""The glossary lists its terms on every page while it is open, and shows the meanings of the terms marked in its sentences."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, expect

from pages.shell.frame.glossary import listed, with_marks
from pages.ui.text import text
from tests.pages.apps import on_page, unfold
from tests.pages.visitor import Visitor

# The words on the blocks of Home's map, and the words that are bold in the sentences of the pages.
ON_MAP = ("add & norm", "memory", "linear", "softmax", "feed-forward", "<sos>")
IN_SENTENCES = ("query", "key", "value", "head", "attention weight", "mask", "token")


def test_every_term_is_listed_once_below_a_page() -> None:
    terms = text("glossary")["terms"]
    assert {*ON_MAP, *IN_SENTENCES} <= set(terms)
    assert all(says.endswith(".") for says in terms.values())
    app = on_page("pages/tokens/page.py", model="reverse", source="abc")
    assert listed() not in [element.value for element in app.markdown]
    assert listed() in [element.value for element in unfold(app, "glossary").markdown]


def test_a_bold_term_or_its_plural_in_an_element_gets_a_mark() -> None:
    block = ["ul", {}, ["li", {}, "a ", ["strong", {}, "Queries"], ", ", ["strong", {}, "two"], ["em", {}, "query"]]]
    marked = ["a", {"href": "#word-query"}, ["strong", {}, "Queries"]]
    assert with_marks(block) == ["ul", {}, ["li", {}, "a ", marked, ", ", ["strong", {}, "two"], ["em", {}, "query"]]]


@pytest.mark.slow
@pytest.mark.browser
def test_a_marked_term_is_explained_by_pointing_a_tap_and_the_keyboard(visitor: Visitor) -> None:
    terms: dict[str, str] = text("glossary")["terms"]
    # The typed text is a term, too. It is bold above the pictures, but it is not marked, because it is not a word of the app.
    page = visitor.open("attention?model=reverse&source=vector", whole=True)
    tip, address, entries = page.locator(".meaning"), page.url, page.evaluate("history.length")

    def marked(term: str) -> Locator:
        return page.locator(f'a[href="#word-{quote(term)}"]')

    assert marked("vector").count() == 0
    marked("query").first.hover()
    expect(tip).to_have_text(terms["query"])
    page.mouse.move(5, 5)
    expect(tip).to_have_count(0)
    marked("query").first.focus()
    expect(tip).to_have_text(terms["query"])
    expect(page.locator("header [role=status]")).to_have_text(f"query: {terms['query']}")  # for a screen reader
    page.keyboard.press("Enter")
    expect(tip).to_have_text(terms["query"])
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    marked("attention weight").first.click()
    expect(tip).to_have_text(terms["attention weight"])
    box = tip.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 1440
    assert [page.url, page.evaluate("history.length")] == [address, entries]  # a mark is no link to another place
    # Another page has other terms.
    page.get_by_test_id("stSidebarNav").get_by_text("Masks", exact=True).click()
    marked("mask").first.focus()
    expect(tip).to_have_text(terms["mask"])


@pytest.mark.slow
@pytest.mark.browser
def test_a_button_explains_one_term_of_the_page_after_another_with_the_keyboard(visitor: Visitor) -> None:
    terms: dict[str, str] = text("glossary")["terms"]
    page, tip = visitor.open("decoding?model=english-french&source=the+vector"), visitor.page.locator(".stMain > .meaning")
    button, heard = page.get_by_role("button", name=text("glossary")["walk_help"]), page.locator("header [role=status]")
    button.focus()
    told = []
    for _ in range(len(terms) + 1):
        page.keyboard.press("Enter")
        expect(tip).to_have_count(1)
        told.append(str(tip.text_content()))
        assert heard.text_content().endswith(f": {told[-1]}")
        box = tip.bounding_box()
        assert box is not None
        assert 0 <= box["y"] <= box["y"] + box["height"] <= 900  # scrolled to
        if told[-1] == told[0] and len(told) > 1:
            break
    assert len(told) == len({*told}) + 1  # each once, then the first again
    assert {terms[name] for name in ("token", "vocabulary", "probability")} <= {*told}
    assert button.evaluate("button => button === document.activeElement")
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)


@pytest.mark.slow
@pytest.mark.browser
def test_a_marked_term_in_the_bar_of_a_lesson_is_explained_in_the_same_way(visitor: Visitor) -> None:
    terms: dict[str, str] = text("glossary")["terms"]
    page = visitor.open("?lesson=first-look&lesson_stop=1")
    tip, mark = page.locator(".meaning"), page.locator(".bar").get_by_role("link", name="encoder", exact=True)
    box = mark.bounding_box()
    assert box is not None
    # The pointer and the focus move within the bar, which is a component.
    page.mouse.move(box["x"] + 4, box["y"] - 40)
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    expect(tip).to_have_text(terms["encoder"])
    page.mouse.move(box["x"] + 4, box["y"] - 40)
    expect(tip).to_have_count(0)
    mark.focus()
    page.keyboard.press("Tab")
    expect(tip).to_have_text(terms["decoder"])
    expect(page.locator("header [role=status]")).to_have_text(f"decoder: {terms['decoder']}")
