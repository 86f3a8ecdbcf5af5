"""Parts below the first screen: drawn when they have been on screen, until another page is opened."""

import pytest
from playwright.sync_api import expect

from pages.shell import parts
from pages.shell.parts import ALL, SEEN, UNSEEN, WATCH
from tests.pages.apps import on_page
from tests.pages.conftest import Visitor

TOKENS = ["scaling", "alike", "plane", "padding", "vocabulary"]
BOXES = "[...document.querySelectorAll('.unseen')].map((box) => box.dataset.part)"


def test_what_has_not_been_on_screen_is_neither_computed_nor_sent() -> None:
    app = on_page("pages/tokens/page.py", model="reverse", source="abc")
    charts = len(app.main.get("plotly_chart"))
    del app.session_state[ALL]
    app.run()
    assert len(app.main.get("plotly_chart")) == 1 < charts
    assert not app.dataframe
    boxes = [html.proto.body for html in app.main.get("html") if 'class="unseen"' in html.proto.body]
    assert len(boxes) == len(TOKENS)
    app.session_state[SEEN] = {"alike", "vocabulary"}
    app.run()
    assert len(app.main.get("plotly_chart")) == 2
    assert len(app.dataframe) == 2


def test_another_page_forgets_what_was_seen() -> None:
    app = on_page("pages/tokens/page.py", model="reverse", source="abc")
    del app.session_state[ALL]
    app.session_state[SEEN] = set(TOKENS)
    app.run()
    assert app.session_state[SEEN] == set(TOKENS)
    app.switch_page("pages/masks/page.py").run()
    assert app.session_state[SEEN] == set()


@pytest.mark.browser
def test_parts_are_drawn_as_a_person_scrolls_to_them(visitor: Visitor) -> None:
    page = visitor.open("tokens?model=reverse&source=headlight")
    assert page.evaluate(BOXES) == TOKENS
    page.get_by_role("heading", name="Which tokens are alike?").scroll_into_view_if_needed()
    expect(page.get_by_role("combobox", name="Nearest words of")).to_be_visible()
    visitor.settle()
    assert "vocabulary" in page.evaluate(BOXES)
    # What has been seen stays after a click on another text.
    visitor.type("Source text", "lamp")
    page.get_by_role("combobox", name="Nearest words of").scroll_into_view_if_needed()
    visitor.see_all()
    assert page.evaluate(BOXES) == []


@pytest.mark.browser
def test_a_link_to_a_choice_in_a_part_below_is_kept_until_it_is_drawn(visitor: Visitor) -> None:
    page = visitor.open("positions?model=reverse&source=abc&part=waves")
    visitor.type("Source text", "lamp")
    assert "part=waves" in page.url
    visitor.see_all()
    assert "part=waves" in page.url
    expect(page.get_by_role("radio", name="Waves")).to_be_checked()


@pytest.mark.browser
def test_values_that_no_page_sends_are_ignored(visitor: Visitor) -> None:
    page = visitor.open("tokens?model=reverse&source=abc")
    before = page.evaluate(BOXES)
    page.evaluate("document.querySelectorAll('.unseen').forEach((box, place) => { box.dataset.part = `<b>${place}`; })")
    page.locator(".unseen").first.scroll_into_view_if_needed()
    visitor.settle()
    assert len(page.evaluate(BOXES)) == len(before)


@pytest.mark.parametrize("sent", [None, {}, {"seen": None}, {"seen": "alike"}, {"seen": [["alike"], 7]}, "alike", 3, ["alike"]])
def test_reports_that_are_not_lists_of_names_are_ignored(sent: object, monkeypatch: pytest.MonkeyPatch) -> None:
    state = {SEEN: set(), UNSEEN: ["alike"], WATCH: sent}
    monkeypatch.setattr(parts.st, "session_state", state)
    parts._note()
    assert state[SEEN] == set()
    del state[WATCH]
    parts._note()
    assert state[SEEN] == set()
    state[WATCH] = {"seen": ["alike", "nothing"]}
    parts._note()
    assert state[SEEN] == {"alike"}
