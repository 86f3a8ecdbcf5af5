"""Parts below the first screen: each is drawn after it was on screen, and stays until another page is opened."""

import re

import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from pages.shell.frame.parts import ALL, SEEN, UNSEEN, WATCH
from tests.pages.apps import charts, on_page
from tests.pages.visitor import Visitor

WRITING, LEARNING = "pages/decoding/page.py", "pages/training/page.py"
BOXES = "[...document.querySelectorAll('.unseen')].map((box) => box.dataset.part)"


def test_parts_that_were_not_on_screen_are_neither_computed_nor_sent() -> None:
    app = on_page(LEARNING, model="reverse", source="abc", part="settings")
    count = len(charts(app.main))
    del app.session_state[ALL]
    app.run()
    assert not charts(app.main)
    assert count > 1
    headings = [header.proto.anchor for header in app.header]
    for seen, unseen in ((set(), ["schedule", "warmup", "overfit"]), ({"warmup"}, ["schedule", "overfit"])):
        app.session_state[SEEN] = seen
        app.run()
        assert re.findall('data-part="(.*?)"', " ".join(html.proto.body for html in app.main.get("html"))) == unseen
        assert [header.proto.anchor for header in app.header] == headings


def test_a_part_that_is_drawn_at_once_stays() -> None:
    app = on_page("pages/attention/page.py", model="reverse", source="abc", kind="cross")
    del app.session_state[ALL]
    app.session_state[SEEN] = set()
    app.run()
    assert "head" in app.session_state[UNSEEN]
    app.query_params["part"] = "map"
    app.run()
    assert app.session_state[SEEN] == {"head"}
    assert "head" not in app.run().session_state[UNSEEN]


def test_another_page_resets_the_parts_that_were_on_screen() -> None:
    app = on_page(WRITING, model="reverse", source="abc")
    del app.session_state[ALL]
    app.session_state[SEEN] = {"lens"}
    app.run()
    assert app.session_state[SEEN] == {"lens"}
    app.switch_page("pages/masks/page.py").run()
    assert app.session_state[SEEN] == set()


@pytest.mark.slow
@pytest.mark.browser
def test_parts_are_drawn_as_a_person_scrolls_to_them(visitor: Visitor) -> None:
    page = visitor.open("decoding?model=reverse&source=headlight")
    visitor.choose("Look at", "inside the model")
    assert "pushed" in page.evaluate(BOXES)
    page.evaluate("document.getElementById('lens').scrollIntoView()")
    lens = page.locator(".st-key-lens .js-plotly-plot")
    expect(lens).to_be_visible()
    visitor.settle()
    # A part that was on screen stays after another text is typed.
    visitor.type("Source text", "lamp")
    expect(lens).to_be_visible()
    visitor.see_all()
    assert page.evaluate(BOXES) == []
    # A step redraws only the parts on screen. A part below that depends on the step is drawn when it is on screen again.
    page.get_by_label("Step", exact=True).press("ArrowRight")
    page.wait_for_function(f"{BOXES}.length")
    visitor.settle()
    assert page.evaluate(BOXES) == ["pushed"]
    expect(lens).to_be_visible()
    visitor.see_all()
    assert page.evaluate(BOXES) == []
    expect(page.get_by_text("at step 2 is a sum")).to_be_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_all_parts_are_drawn_for_a_search(visitor: Visitor) -> None:
    page = visitor.open("decoding?model=reverse&source=headlight")
    visitor.choose("Look at", "inside the model")
    assert page.evaluate(BOXES)
    page.keyboard.press("Control+f")
    page.wait_for_function(f"!{BOXES}.length")


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_does_not_move_while_a_part_is_drawn(visitor: Visitor) -> None:
    page = visitor.open("decoding?model=reverse&source=headlight")
    visitor.choose("Look at", "how it was taught")
    assert page.evaluate("document.querySelector('.stMain').firstElementChild.style.minHeight") == ""
    # Scroll to the middle of the last box, then note the scroll position at each frame until the part is drawn.
    places = page.evaluate(
        """async () => {
            const page = document.querySelector('.stMain');
            const {top, height} = document.querySelector('.unseen[data-part=smoothing]').getBoundingClientRect();
            page.scrollTop += top + height / 2;
            const places = [page.scrollTop];
            while (!document.querySelector('.st-key-smoothing .main-svg')) {
                await new Promise(requestAnimationFrame);
                places.push(page.scrollTop);
            }
            return places;
        }"""
    )
    assert set(places) == {places[0]}


@pytest.mark.slow
@pytest.mark.browser
def test_a_choice_in_a_link_is_kept_until_its_part_is_drawn(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 400})
    page = visitor.open("training?model=reverse&source=abc&measure=diagonal")
    assert "turned" in page.evaluate(BOXES)
    page.get_by_test_id("stExpandSidebarButton").click()
    visitor.type("Source text", "lamp")
    assert "measure=diagonal" in page.url
    visitor.see_all()
    assert "measure=diagonal" in page.url
    expect(page.get_by_role("combobox", name="Measure")).to_have_value(re.compile("diagonal"))


@pytest.mark.slow
@pytest.mark.browser
def test_an_anchor_that_names_no_heading_is_ignored(visitor: Visitor) -> None:
    page = visitor.open("positions?model=reverse&source=abc#%zz", whole=True)
    assert page.evaluate(BOXES) == []


@pytest.mark.slow
@pytest.mark.browser
def test_unknown_names_of_parts_are_ignored(visitor: Visitor) -> None:
    page = visitor.open("decoding?model=reverse&source=abc")
    visitor.choose("Look at", "how it was taught")
    # Check the last box, because boxes near the screen can have been reported with their real names before.
    page.evaluate("document.querySelectorAll('.unseen').forEach((box, place) => { box.dataset.part = `<b>${place}`; })")
    last, sent = page.evaluate(BOXES)[-1], page.evaluate("window.sentMessages")
    page.locator(".unseen").last.scroll_into_view_if_needed()
    page.wait_for_function("sent => window.sentMessages > sent && !window.isUnanswered", arg=sent)
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    assert last.startswith("<b>")
    assert last in page.evaluate(BOXES)


def report_seen() -> None:
    from pages.shell.frame.parts import take_seen

    take_seen()


@pytest.mark.parametrize("sent", [None, {}, {"seen": None}, {"seen": "alike"}, {"seen": [["alike"], 7]}, "alike", 3, ["alike"]])
def test_reports_that_are_not_lists_of_names_are_ignored(sent: object) -> None:
    app = AppTest.from_function(report_seen)
    app.session_state[SEEN], app.session_state[UNSEEN] = set(), ["alike"]
    app.run()
    assert not app.exception
    assert app.session_state[SEEN] == set()
    for report, seen in ((sent, set()), ({"seen": ["alike", "nothing"]}, {"alike"})):
        app.session_state[WATCH] = report
        app.run()
        assert not app.exception
        assert app.session_state[SEEN] == seen
