"""The Attention page in a real browser."""

import csv
import io
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.pages.visitor import Visitor

pytestmark = pytest.mark.browser

MAP = 0


@pytest.mark.slow
def test_the_axes_show_the_typed_text_with_its_special_tokens(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&kind=encoder", whole=True)
    visitor.type("Source text", "cab")
    assert visitor.ticks(MAP, "x") == ["<sos>", "c", "a", "b", "<eos>"]
    assert visitor.ticks(MAP, "y") == ["<sos>", "c", "a", "b", "<eos>"]
    assert page.get_by_text("→ bac").is_visible()

    visitor.choose("Kind of attention", "cross")
    assert visitor.ticks(MAP, "x") == ["<sos>", "c", "a", "b", "<eos>"]
    assert visitor.ticks(MAP, "y") == ["<sos> → b", "b → a", "a → c", "c → <eos>"]


@pytest.mark.slow
def test_a_link_a_reload_and_a_visitors_own_lesson_open_the_same_view(visitor: Visitor, stranger: BrowserContext) -> None:
    page = visitor.open("attention?model=reverse", whole=True)
    visitor.type("Source text", "headlamp")
    visitor.choose("Kind of attention", "decoder")
    visitor.choose("Layer", "2")
    visitor.choose("Head", "3")
    link, heading = page.url, "Decoder self-attention, layer 2, head 3"
    assert page.get_by_role("heading", name=heading).is_visible()
    cells = page.locator(".heatmaplayer").nth(MAP).inner_html()

    other = Visitor(stranger, visitor.url)
    fresh = other.open(link.removeprefix(f"{visitor.url}/"), whole=True)
    assert fresh.get_by_role("heading", name=heading).is_visible()
    assert fresh.get_by_label("Source text", exact=True).input_value() == "headlamp"
    rows = [f"{read} → {written}" for read, written in pairwise(["<sos>", *"pmaldaeh", "<eos>"])]
    assert other.ticks(MAP, "y") == visitor.ticks(MAP, "y") == rows
    assert fresh.locator(".heatmaplayer").nth(MAP).inner_html() == cells

    page.reload()
    page.locator("h1").first.wait_for()
    visitor.settle()
    assert page.get_by_label("Source text", exact=True).input_value() == "headlamp"
    assert page.get_by_role("heading", name=heading).is_visible()

    page.get_by_role("button", name="Keep this view").click()
    page.get_by_role("link", name="Lessons").click()
    page.get_by_role("heading", name="Lessons", level=1).wait_for()
    visitor.choose("What to do", "write your own")
    visitor.type("Title of the lesson", "<i>Mine</i>")
    page.reload()  # starts a new session, which reads the lesson from the tab's storage
    page.locator("h1").first.wait_for()
    visitor.settle()
    expect(page.get_by_label("Title of the lesson", exact=True)).to_have_value("<i>Mine</i>")
    visitor.settle()
    link = page.get_by_text("?lesson=z.").inner_text()
    visitor.choose("What to do", "print")
    page.locator(".lesson-sheet table.drawing").first.wait_for()
    fresh.goto(link)
    fresh.locator(".bar section").get_by_text("<i>Mine</i>").wait_for()
    expect(fresh.get_by_role("heading", name=heading)).to_be_attached()
    expect(fresh.get_by_label("Source text", exact=True)).to_have_value("headlamp")
    other.close()
    assert other.complaints == []


@pytest.mark.slow
def test_dark_and_light_both_show_the_tokens(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&source=abc", whole=True)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        visitor.settle()
        assert visitor.ticks(MAP, "x") == ["<sos>", "a", "b", "c", "<eos>"]


def test_a_click_on_a_tile_opens_that_head(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1024, "height": 768})
    page = visitor.open("attention")
    canvas = page.locator(".head_grid .picture")
    # On a projector, all heads and the picked head are on the first screen, inside their columns.
    for picture in (".head_grid .sheet", ".head_grid .legend", ".st-key-head-map .heatmaplayer"):
        bounds = page.locator(picture).bounding_box()
        assert bounds is not None
        assert bounds["y"] + bounds["height"] <= 768
        assert bounds["x"] >= 332
    box = canvas.bounding_box()
    assert box is not None
    # The last tile is at the lower right for every size of the labels.
    canvas.click(position={"x": box["width"] - 20, "y": box["height"] - 20})
    visitor.settle()
    assert page.get_by_role("heading", name="Cross-attention, layer 2, head 4").is_visible()
    assert "head=4" in page.url


@pytest.mark.slow
def test_an_edit_changes_the_run_and_its_link_reproduces_it(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&kind=cross&source=headlight&part=what-if", whole=True)
    assert page.get_by_text("No edit is in force").is_visible()
    page.get_by_role("button", name="Masks, positions, scaling, residuals").click()
    visitor.settle()  # the server knows that the menu is open; before that, it could not close it
    choice = page.get_by_role("button", name="No positional encoding")
    choice.click()
    visitor.settle()
    expect(choice).to_be_hidden()  # the menu would cover the two answers
    difference = page.get_by_text("The two answers differ in every place.").inner_text()
    # The change of each token's probability is written above its bars.
    changes = page.locator(".st-key-probability-change .annotation-text").all_text_contents()
    assert len(changes) == len("headlight") + 1
    falls = [float(change.replace("−", "-")) for change in changes]
    assert min(falls) < -0.1
    said = re.search(r"(\w) changes most: from (\S+) to (\d\.\d\d)", page.get_by_text("changes most").inner_text())
    assert said
    assert min(falls) in [fall for letter, fall in zip("headlight"[::-1], falls, strict=False) if letter == said[1]]
    assert float(said[3]) - float(said[2]) == pytest.approx(min(falls), abs=0.011)
    assert "edits=no+positions" in page.url.replace("%20", "+")

    visitor.open(visitor.become_stranger(), whole=True)
    assert page.get_by_text(difference).is_visible()
    page.get_by_role("button", name="Clear all edits").click()
    visitor.settle()
    assert page.get_by_text("No edit is in force").is_visible()
    assert "edits=" not in page.url


@pytest.mark.slow
def test_hovering_over_the_lines_sends_nothing_to_the_server(visitor: Visitor) -> None:
    sent: list[object] = []
    visitor.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page = visitor.open("attention?model=reverse&kind=cross&layer=1&head=1&source=abc&part=lines", whole=True)
    before, lines = len(sent), page.locator(".lines")
    every = int(lines.get_attribute("data-lines") or 0)
    page.get_by_role("button", name=re.compile("query 1, c")).hover()
    page.wait_for_function("([root, every]) => Number(root.dataset.lines) < every", arg=[lines.element_handle(), every])
    assert page.locator(".lines .token.shaded .share").first.inner_text()  # shares are shown beside the keys
    assert len(sent) == before
    page.get_by_role("button", name=re.compile("query 1, c")).click()
    visitor.settle()
    assert len(sent) > before


def expect_heads(page: Page, *numbers: str) -> None:
    """Wait until the lines of the heads with these numbers, counted from 1, are drawn and no others."""
    expect(page.locator(".lines .pill[aria-pressed=true]")).to_have_text(numbers)


@pytest.mark.slow
def test_lines_of_the_head_in_the_heading_are_always_drawn(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&kind=cross&layer=1&head=1&source=abc&part=lines&heads=2", whole=True)
    expect_heads(page, "1", "2")
    page = visitor.open("attention?model=reverse&kind=cross&layer=1&head=1&source=abc&part=lines", whole=True)
    visitor.choose("Head", "2")
    expect_heads(page, "2")  # only this head, because the head before was the only one on
    assert "heads=" not in page.url
    page.get_by_role("button", name="Head 3", exact=True).click()
    expect(page).to_have_url(re.compile(r"heads=2(,|%2C)3(&|$)"))  # the browser tells the server after a pause
    visitor.settle()
    visitor.choose("Head", "4")
    expect_heads(page, "2", "3", "4")
    expect(page).to_have_url(re.compile(r"heads=2(,|%2C)3(,|%2C)4(&|$)"))
    page.get_by_role("button", name="Head 4", exact=True).click()
    expect(page.get_by_role("heading", name="Cross-attention, layer 1, head 2")).to_be_visible()
    visitor.settle()
    expect_heads(page, "2", "3")
    link = page.url
    visitor.open(link.removeprefix(f"{visitor.url}/"), whole=True)
    expect(page.get_by_role("heading", name="Cross-attention, layer 1, head 2")).to_be_visible()
    expect_heads(page, "2", "3")
    page.get_by_role("button", name="Head 3", exact=True).click(modifiers=["Alt"])
    expect(page.get_by_role("heading", name="Cross-attention, layer 1, head 3")).to_be_visible()
    visitor.settle()
    expect_heads(page, "3")
    assert "heads=" not in page.url


@pytest.mark.slow
def test_a_message_explains_that_the_threshold_hides_all_lines(visitor: Visitor) -> None:
    page = visitor.open("attention?model=english-french&kind=encoder&part=lines&threshold=1&heads=1,2", whole=True)
    assert page.locator(".lines").get_attribute("data-lines") == "0"
    status = page.locator(".lines").get_by_role("status")
    expect(status).to_contain_text(
        re.compile(r"^No weight here reaches 1\.00, so there are no lines: the largest is 0\.\d\d\. Move")
    )
    largest = re.search(r"largest is (0\.\d\d)", status.inner_text())
    assert largest
    page.get_by_role("slider", name="Hide lines below").fill(largest[1])
    expect(status).to_contain_text("Point at a token")
    expect(page.locator(".lines")).to_have_attribute("data-lines", re.compile("[1-9]"))


@pytest.mark.slow
def test_heads_threshold_and_locks_of_the_lines_are_in_the_link(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&kind=cross&layer=1&head=1&source=abc&part=lines", whole=True)
    page.get_by_role("button", name="Head 3", exact=True).click()
    slider = page.get_by_role("slider", name="Hide lines below")
    slider.fill("0.3")
    page.get_by_role("button", name=re.compile("query 1, c")).click()
    page.get_by_role("button", name=re.compile("key 2, b")).click()
    visitor.settle()
    link = page.url
    assert "threshold=0.30" in link.split("&")
    assert re.search(r"locked=q1(,|%2C)k2(&|$)", link)
    assert re.search(r"heads=1(,|%2C)3(&|$)", link)
    drawn = page.locator(".lines").get_attribute("data-lines")

    fresh = visitor.open(visitor.become_stranger(), whole=True)
    pressed = [fresh.get_by_role("button", name=f"Head {at}", exact=True).get_attribute("aria-pressed") for at in range(1, 5)]
    assert pressed == ["true", "false", "true", "false"]
    assert fresh.get_by_role("slider", name="Hide lines below").input_value() == "0.3"
    for token in ("query 1, c", "key 2, b"):
        assert fresh.get_by_role("button", name=re.compile(token)).get_attribute("aria-pressed") == "true"
    assert fresh.locator(".lines").get_attribute("data-lines") == drawn


def saved(visitor: Visitor, picture: int, choice: str) -> tuple[str, bytes]:
    """The name and content of the file saved by a choice in the menu of the picture with this index."""
    page = visitor.page
    menu = page.get_by_role("button", name=re.compile("^Save ")).nth(picture)
    visitor.settle()  # while a run of the page replaces the menu, it does not say whether it is open
    # Not by the buttons in the menu: a current run can replace them, and a second click would close the menu.
    if menu.get_attribute("aria-expanded") != "true":
        menu.click()
        visitor.settle()
    with page.expect_download() as download:
        page.get_by_role("button", name=choice).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def words(svg: bytes) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.slow
def test_every_picture_is_saved_as_it_is_shown(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open("attention?model=reverse&kind=cross&layer=1&head=1&source=abc", whole=True)
    for picture, name, label in ((1, "reverse-cross-all-heads", "head 4"), (0, "reverse-cross-layer1-head1", "<eos>")):
        for ending in ("png", "svg", "csv"):
            choice = {"csv": "Numbers as CSV"}.get(ending, f"Picture as {ending.upper()}")
            file, content = saved(visitor, picture, choice)
            assert file == f"{name}.{ending}"
            if ending == "png":
                assert content.startswith(b"\x89PNG")
            elif ending == "svg":
                assert label in words(content)
        rows = list(csv.reader(io.StringIO(content.decode())))
        # Four queries and five keys: one row for each weight of all 2 × 4 heads, but for a single head one row for each query.
        assert len(rows) - 1 == {1: 2 * 4 * 4 * 5, 0: 4}[picture]
        visitor.page.keyboard.press("Escape")
        assert visitor.page.get_by_role("button", name=f"Save {name}", exact=True).count() == 1
    file, page = saved(visitor, 0, "Picture as HTML")
    assert file == "reverse-cross-layer1-head1.html"
    assert not re.search(rb"<(script|link)[^>]+(src|href)=", page)

    visitor.choose("Look at this head as", "lines")
    _, svg = saved(visitor, 2, "Picture as SVG")
    assert {"<sos>", "c", "b", "a"} <= set(words(svg))
    assert svg.count(b"<path") > 0
    # A picture that Plotly does not draw can also be saved as a page. The page contains the same SVG and loads nothing.
    file, page = saved(visitor, 2, "Picture as HTML")
    assert file == "reverse-cross-layer1-lines.html"
    assert svg in page
    assert not re.search(rb"<(script|link|img)|https?://(?!www\.w3\.org/2000/svg)", page)

    # The view can be saved and used without a server. The locked token is kept, and a click on another head shows that head.
    visitor.page.keyboard.press("Escape")
    visitor.page.locator(".lines .key .token", has_text="b").click()
    visitor.settle()
    file, page = saved(visitor, 2, "This view as HTML")
    assert file == "reverse-cross-layer1-lines-view.html"
    (tmp_path / file).write_bytes(page)
    requests, errors = [], []
    alone = visitor.page.context.new_page()
    alone.on("request", lambda request: requests.append(request.url))
    alone.on("pageerror", lambda error: errors.append(str(error)))
    alone.goto((tmp_path / file).as_uri())
    locked = alone.locator(".lines .token[aria-pressed=true]")
    expect(locked).to_have_text("b")
    expect(alone.locator("#head")).to_contain_text("layer 1, head 1")
    before = alone.locator(".lines").get_attribute("data-lines")
    grid = alone.locator(".head_grid .picture").bounding_box()
    assert grid is not None
    alone.mouse.click(grid["x"] + grid["width"] * 0.9, grid["y"] + grid["height"] * 0.8)
    expect(alone.locator("#head")).to_contain_text("layer 2, head 4")
    expect(locked).to_have_text("b")
    assert int(before or 0) > 0
    assert (requests, errors) == ([(tmp_path / file).as_uri()], [])
    alone.close()


@pytest.mark.slow
def test_64_tokens_scroll_inside_the_map_on_a_phone(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    page = visitor.open(f"attention?model=reverse&kind=encoder&source={'abcdefghijklmnopqrstuvwxyz' * 2}abcdefghij", whole=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".st-key-head-map .chart").evaluate("map => map.scrollWidth > map.clientWidth + 100")
    overview = page.locator(".head_grid .picture").bounding_box()
    assert overview is not None
    assert overview["width"] <= 390
    for axis, side in (("x", "left"), ("y", "top")):
        overlap = """(labels, side) => {
            const at = labels.map((label) => label.getBoundingClientRect()).sort((a, b) => a[side] - b[side]);
            const size = side === 'left' ? () => 10 : (box) => box.height - 4;  // labels of keys are turned
            return at.slice(1).filter((box, index) => box[side] < at[index][side] + size(at[index])).length;
        }"""
        labels = page.locator(f".st-key-head-map .{axis}tick text")
        assert labels.count() == 32
        assert labels.evaluate_all(overlap, side) == 0


@pytest.mark.slow
def test_titles_of_the_steps_do_not_overlap_on_a_phone(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    page = visitor.open("attention?model=reverse&kind=encoder&source=abc&part=steps", whole=True)
    titles = page.locator(".st-key-steps .annotation-text")
    boxes = titles.evaluate_all("all => all.map((title) => title.getBoundingClientRect().toJSON())")
    assert len(boxes) == 11
    for box in boxes:
        for other in boxes:
            apart = box["right"] <= other["left"] or other["right"] <= box["left"] or box["bottom"] <= other["top"]
            assert box is other or apart or other["bottom"] <= box["top"]
