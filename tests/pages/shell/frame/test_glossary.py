"""The glossary lists its terms on every page while it is open, and shows the meanings of the terms in a page's sentences."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, expect

from pages.shell.frame.glossary import listed
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


# Scrolls to an element; the middle of the first mention of a word in it.
WORD_IN = """(element, word) => {
    element.scrollIntoView({block: 'center'});
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const [range, place] = [new Range(), texts.currentNode.data.indexOf(word)];
        if (place < 0) continue;
        range.setStart(texts.currentNode, place);
        range.setEnd(texts.currentNode, place + word.length);
        const {left, top, width, height} = range.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
    }
}"""


@pytest.mark.browser
def test_a_term_that_is_not_marked_is_explained_by_pointing_and_a_tap(visitor: Visitor) -> None:
    terms: dict[str, str] = text("glossary")["terms"]
    page = visitor.open("decoding?model=english-french&source=the+vector", whole=True)
    tip = page.locator(".stMain > .meaning")

    def word_in(start: str, word: str) -> list[float]:
        return page.locator(".stMain p", has_text=re.compile(f"^{start}")).first.evaluate(WORD_IN, word)

    page.mouse.move(*word_in("Then it starts again", "decoder"))
    expect(tip).to_have_text(terms["decoder"])
    page.mouse.move(5, 5)
    expect(tip).to_have_count(0)
    later = word_in("The model never writes", "tokens")  # the first mention, "token", is marked
    page.mouse.click(*later)
    expect(tip).to_have_text(terms["token"])
    box = tip.bounding_box()
    assert box is not None
    assert abs(box["y"] - later[1]) < 30
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    # A typed word is not explained anywhere, bold or not.
    page.mouse.move(5, 5)  # so that no other word comes under the pointer when the page scrolls
    page.mouse.click(*word_in("The source has", "vector"))
    page.wait_for_timeout(250)
    assert tip.count() == 0
    page.mouse.click(*word_in("The source has", "<unk>"))
    expect(tip).to_have_text(terms["<unk>"])
    # The terms in the text of a lesson are explained, too.
    visitor.open("attention?lesson=first-look&lesson_stop=3")
    say = page.locator(".st-key-lesson_bar .say", has_text="softmax").first
    page.mouse.click(*say.evaluate(WORD_IN, "Softmax"))
    expect(tip).to_have_text(terms["softmax"])


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
    # The last two are in titles of the player.
    assert {terms[name] for name in ("token", "vocabulary", "cross-attention", "self-attention")} <= {*told}
    assert button.evaluate("button => button === document.activeElement")
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    # In a component they are explained by pointing and a tap, too; a press on what they name is not.
    heading = page.locator(".player h2", has_text="Cross-attention").bounding_box()
    assert heading is not None
    page.mouse.click(heading["x"] + 30, heading["y"] + heading["height"] / 2)
    expect(tip).to_have_text(terms["cross-attention"])
