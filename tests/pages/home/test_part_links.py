"""The links of the Home page in a real browser: the pages that they open, the texts that they keep, and the way back."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from pages.ui.text import text
from tests.pages.visitor import Visitor

pytestmark = pytest.mark.browser
WORDS = text("home")


@pytest.mark.slow
def test_a_first_visit_shows_the_text_box_loads_no_plotly_and_every_link_keeps_the_view(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1366, "height": 650})
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    page = visitor.open("?model=reverse&source=torch&target=hc")
    expect(page.get_by_label(text("sidebar")["source"], exact=True)).to_be_in_viewport(ratio=1)
    assert asked
    assert not [url for url in asked if "plotly" in url.lower()]
    for link in page.locator(".map nav a").all():
        address = link.get_attribute("href") or ""
        assert re.match(r"(tokens|positions|masks|attention|layers)\?", address)
        assert "model=reverse" in address
        assert "source=torch" in address
        assert "target=hc" in address
        assert "{" not in address


@pytest.mark.slow
def test_a_block_opens_its_page_at_the_layer_that_is_picked(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch")
    page.locator(".map .right").get_by_role("button", name="layer 2").click()
    block = page.locator(".map nav a.name").filter(has_text="Cross-attention")
    address = block.get_attribute("href")
    block.click()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    visitor.settle()
    assert page.get_by_role("heading", name="Cross-attention, layer 2, head 2").is_visible()
    assert page.get_by_label("Source text", exact=True).input_value() == "torch"
    asked, opened = urlsplit(str(address)), urlsplit(page.url)
    # The page opens on the second layer of the cross-attention anyway, so the address does not name them.
    assert set(opened.query.split("&")) == set(asked.query.split("&")) - {"kind=cross", "layer=2"}
    assert opened.fragment == asked.fragment == "head"
    page.get_by_test_id("stSidebarNav").get_by_text("Home", exact=True).click()
    page.get_by_role("heading", name=WORDS["heading"]).wait_for()
    visitor.settle()
    assert page.get_by_label("Source text", exact=True).input_value() == "torch"
    # A head of another kind in layer 1: the choices of the earlier visit are not kept.
    page.locator(".map .left .heads a").nth(2).click()
    page.get_by_role("heading", name="Encoder self-attention, layer 1, head 3").wait_for()
    visitor.settle()
    expect(page.locator(".st-key-head-map")).to_be_in_viewport(ratio=0.9)


@pytest.mark.slow
def test_back_opens_home_as_it_was_and_forward_opens_the_block(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch")
    home = page.url
    block = page.locator(".map nav a.name").filter(has_text="Cross-attention")
    head = page.locator(".map .left .heads a").nth(2)
    for link, heading in ((block, "Cross-attention, layer 1, head 2"), (head, "Encoder self-attention, layer 1, head 3")):
        link.click()
        picked = page.get_by_role("heading", name=heading)
        picked.wait_for()
        visitor.settle()
        opened = page.url
        page.go_back()
        page.get_by_role("heading", name=WORDS["heading"]).wait_for()
        visitor.settle()
        assert page.url == home
        assert page.get_by_label("Source text", exact=True).input_value() == "torch"
        page.go_forward()
        picked.wait_for()
        # The choices of a part are added to the address after the page has scrolled to it, which may be after the page has
        # settled.
        expect(page).to_have_url(opened)
        visitor.settle()
        page.go_back()
        page.get_by_role("heading", name=WORDS["heading"]).wait_for()
        visitor.settle()


@pytest.mark.slow
@pytest.mark.parametrize("pressed", [0, 400])  # ms: a tap, and a slow click that is still pressed when the map is drawn again
def test_the_page_of_a_block_gets_the_text_that_was_typed_just_before(visitor: Visitor, pressed: int) -> None:
    page = visitor.open("?model=reverse&source=torch&target=hc")
    page.get_by_label("Target text", exact=True).fill("")
    page.get_by_label("Source text", exact=True).fill("moon")
    page.locator(".map nav a.name").filter(has_text="Cross-attention").click(delay=pressed)
    page.get_by_role("heading", name="Cross-attention, layer 1, head 2").wait_for()
    for heading in ("Attention", WORDS["heading"]):
        page.get_by_role("heading", name=heading, level=1, exact=True).wait_for()
        visitor.settle()
        assert page.get_by_label("Source text", exact=True).input_value() == "moon"
        assert page.get_by_label("Target text", exact=True).input_value() == ""
        assert "source=moon" in page.url
        assert "target" not in page.url
        if heading == "Attention":
            page.go_back()


@pytest.mark.slow
def test_a_click_works_while_the_page_moves_and_moving_away_cancels_it(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch")
    block = page.locator(".map nav a.name").filter(has_text="Cross-attention")
    home = page.url
    for away in (300, 0):  # px between press and release
        block.scroll_into_view_if_needed()
        box = block.bounding_box()
        assert box
        x, y = box["x"] + 20, box["y"] + 10
        page.mouse.move(x, y)
        page.mouse.down()
        page.locator("h1").evaluate("title => title.style.marginBottom = `${(parseInt(title.style.marginBottom) || 0) + 90}px`")
        page.mouse.move(x + away, y)
        page.mouse.up()
        if away:
            visitor.settle()
            assert page.url == home
    page.get_by_role("heading", name="Cross-attention, layer 1, head 2").wait_for()


@pytest.mark.slow
def test_a_click_on_a_block_does_not_load_the_app_again(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch&part=examples", whole=True)
    page.evaluate("window.here = true")
    page.locator(".map nav a.name").filter(has_text="Cross-attention").click()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    visitor.settle()
    assert page.evaluate("window.here")
    page.go_back()
    page.get_by_role("heading", name=WORDS["heading"]).wait_for()
    visitor.settle()
    visitor.see_all()
    with visitor.context.expect_page() as opened:
        page.get_by_role("link").filter(has_text=WORDS["starts"][0]["title"]).click(modifiers=["ControlOrMeta"])
    other = opened.value
    other.get_by_role("heading", level=1).wait_for()
    assert not other.evaluate("window.here === true")
    assert page.get_by_role("heading", name=WORDS["heading"]).is_visible()


@pytest.mark.slow
def test_one_click_opens_the_sentence_that_turns(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch", whole=True)
    page.get_by_role("link").filter(has_text=WORDS["turning"]["silence"]["title"]).click()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    page.locator(".st-key-two-runs").wait_for()
    visitor.settle()
    picker = page.get_by_test_id("stSidebar").get_by_role("combobox").first
    assert picker.input_value() == "english-french"
    assert page.get_by_label("Source text", exact=True).input_value().endswith("too tired")
