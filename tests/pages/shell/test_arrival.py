"""A link scrolls its page to the part that it names, on a laptop and on a phone. Back restores the scroll position of a
page."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect

from pages.ui.text import text
from tests.pages.visitor import Visitor

pytestmark = pytest.mark.browser

TOP = "name => document.getElementById(name).getBoundingClientRect().top"
PHONE: ViewportSize = {"width": 390, "height": 844}


# Whether the heading of a part is right below the header, or as near to it as the end of the page allows.
IS_AT = f"""name => {{
    const {{scrollTop, scrollHeight, clientHeight}} = document.querySelector('.stMain');
    const left = scrollHeight - clientHeight - scrollTop;
    const below = document.getElementById(name) ? ({TOP})(name) - 76 : NaN;
    return Math.abs(below) < 3 || (left < 3 && below > 0 && below < clientHeight / 2);
}}"""


def wait_at(page: Page, part: str) -> None:
    """Wait until a link has scrolled to the heading of a part."""
    page.wait_for_function(IS_AT, arg=part)


def test_a_link_scrolls_to_the_part_that_it_names(visitor: Visitor) -> None:
    page = visitor.page
    page.set_viewport_size(PHONE)
    # Parts above the named part are drawn only when they are on screen. One of them is drawn after scrolling back up.
    visitor.open("decoding?model=reverse&source=headlight#forcing")
    wait_at(page, "forcing")
    assert page.url.endswith("#forcing")
    visitor.settle()
    wait_at(page, "forcing")
    page.mouse.move(200, 400)
    page.mouse.wheel(0, -2_000)
    visitor.settle()
    assert page.evaluate(TOP, "forcing") > 200  # after a person has scrolled, the page does not scroll by itself


@pytest.mark.slow
def test_an_anchor_in_a_link_opens_the_part_with_its_heading(visitor: Visitor) -> None:
    page = visitor.open("tokens?model=reverse&source=headlight#padding")
    page.locator("#padding").wait_for()
    visitor.settle()
    assert page.url.endswith("part=padding#padding")
    # If a person picks another part, the address names that part.
    visitor.choose("Look at", "× √d_model")
    page.locator("#scaling").wait_for()
    visitor.settle()
    assert page.url.endswith("part=scaling#scaling")


@pytest.mark.slow
def test_an_anchor_is_read_again_when_its_script_was_loaded_before_the_one_that_restores_it(visitor: Visitor) -> None:
    held: list[Route] = []
    page = visitor.page
    page.route("**/arrival.js", lambda route: held.append(route), times=1)
    with page.expect_request("**/arrival.js"):
        page.goto(f"{visitor.url}/tokens?model=reverse&source=headlight#padding")
    page.locator(".anchor").wait_for(state="attached")
    page.wait_for_function("!location.hash")  # Streamlit drops it
    held[0].continue_()
    page.locator("#padding").wait_for()
    visitor.settle()
    assert page.url.endswith("part=padding#padding")


@pytest.mark.slow
@pytest.mark.parametrize("look", ["steps", "no-such-look", 'a"b c'])
def test_a_link_scrolls_to_the_look_that_it_names(visitor: Visitor, look: str) -> None:
    """The address of a picked look has `part`, but no anchor of a heading. An unknown look is removed from the
    address."""
    page = visitor.page
    page.set_viewport_size(PHONE)
    visitor.open(f"attention?model=reverse&source=torch&part={quote(look)}")
    wait_at(page, "head")
    visitor.settle()
    wait_at(page, "head")
    assert ("part=" in page.url) == (look == "steps")
    # The part was drawn before it was on screen. The first click in it has an effect.
    page.locator(".st-key-part").get_by_text("lines", exact=True).click()
    page.wait_for_url("**part=lines*")


@pytest.mark.slow
def test_a_link_to_the_map_of_a_head_shows_the_map_above_the_picker(visitor: Visitor) -> None:
    page = visitor.page
    page.set_viewport_size(PHONE)
    visitor.open("attention?model=reverse&source=torch&part=map")
    visitor.settle()
    expect(page.locator(".st-key-head-map")).to_be_in_viewport(ratio=0.75)  # below its heading
    page.set_viewport_size({"width": 1280, "height": 1000})
    visitor.open("attention?model=reverse&source=torch&part=map")
    visitor.settle()
    expect(page.locator(".st-key-head-map")).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_a_part_on_the_first_screen_is_not_scrolled_to(visitor: Visitor) -> None:
    page = visitor.open("tokens?model=reverse&source=torch&part=alike")
    assert page.evaluate("document.querySelector('.stMain').scrollTop") == 0


@pytest.mark.slow
def test_back_restores_the_picked_look(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&source=torch#head")
    page.locator(".st-key-part").wait_for()
    visitor.settle()
    visitor.choose("what-if", "what-if")
    page.get_by_test_id("stSidebarNav").get_by_text("Layers", exact=True).click()
    page.get_by_role("heading", name="Layers", level=1).wait_for()
    visitor.settle()
    page.go_back()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    visitor.settle()
    assert "part=what-if" in page.url
    expect(page.get_by_role("radio", name="what-if")).to_be_checked()


@pytest.mark.slow
def test_an_example_scrolls_to_its_part_and_back_restores_the_scroll_position(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch&part=examples")
    start = next(start for start in text("home")["starts"] if start["query"].get("part") == "what-if")
    card = page.get_by_role("link", name=start["title"], exact=False).first
    visitor.see_all()
    card.scroll_into_view_if_needed()
    left = page.evaluate("document.querySelector('.stMain').scrollTop")
    assert left > 100
    card.click()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    wait_at(page, "head")
    visitor.settle()
    wait_at(page, "head")
    page.go_back()
    page.get_by_role("heading", name=text("home")["heading"]).wait_for()
    page.wait_for_function("left => Math.abs(document.querySelector('.stMain').scrollTop - left) < 3", arg=left)
