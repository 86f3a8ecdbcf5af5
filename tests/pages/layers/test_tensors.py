"""The picture of a stop in a real browser: access to every number, and columns that are opened."""

import re

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.pages.apps import EXAMPLE, WORKED
from tests.pages.layers.opened import LAYER, spot
from tests.pages.visitor import Walker
from transformer.pipeline.pipeline import Pipeline
from transformer.pipeline.untrained import Untrained

pytestmark = pytest.mark.browser


def label(walker: Walker) -> Locator:
    """The label at the point that the mouse or the keyboard is on."""
    return walker.root.locator(".hoverlayer .hovertext")


def value(walker: Walker) -> float:
    """The number in the label."""
    expect(label(walker)).to_have_count(1)
    return float(lines(walker)[-1].replace("−", "-"))


def lines(walker: Walker) -> list[str]:
    return label(walker).locator("tspan.line").all_text_contents()


@pytest.mark.slow
def test_hovering_shows_exact_numbers(walker: Walker) -> None:
    walker.at("model=reverse&source=abcd&stop=logits")
    logits = Pipeline.load("reverse").trace("abcd")["logits"].numpy()[0]
    walker.page.mouse.move(*spot(walker, (2, 5), logits.shape).values())
    assert value(walker) == pytest.approx(float(logits[2, 5]), rel=1e-6)


@pytest.mark.slow
def test_the_keyboard_reaches_every_number(walker: Walker) -> None:
    path = f"{LAYER}.self_attention.weights"
    page = walker.at(f"model=reverse&source=abcd&stop={path}").page
    weights = Pipeline.load("reverse").trace("abcd")[path].numpy()[0]
    walker.root.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageDown")  # from the scores to the weights
    expect(label(walker)).to_contain_text("Attention weights")
    expect(label(walker)).to_contain_text(f"{weights[0, 0, 0]:.8g}"[:7])
    assert value(walker) == pytest.approx(weights[0, 0, 0], rel=1e-6)
    for key, (head, query, to) in {
        "ArrowRight": (0, 0, 1),
        "ArrowDown": (0, 1, 1),
        "End": (0, 1, -1),
        "ArrowLeft": (0, 1, -2),
        "Home": (0, 1, 0),
    }.items():
        page.keyboard.press(key)
        expect(label(walker)).to_contain_text(f"{weights[head, query, to]:.8g}"[:7].replace("-", "−"))
        assert value(walker) == pytest.approx(weights[head, query, to], rel=1e-6)
    for _ in range(weights.shape[1]):
        page.keyboard.press("ArrowDown")  # from the last row of a head into the head below
    expect(label(walker)).to_contain_text("head 2")
    expect(label(walker)).to_contain_text(f"{weights[1, 1, 0]:.8g}"[:7])
    assert value(walker) == pytest.approx(weights[1, 1, 0], rel=1e-6)
    expect(walker.root.locator("p[aria-live]")).to_have_text(", ".join(lines(walker)))
    page.keyboard.press("Escape")
    expect(label(walker)).to_have_count(0)

    assert walker.path == path
    walker.root.blur()
    page.keyboard.press("ArrowRight")  # outside the picture the arrow keys step through the walk
    walker.is_at(f"{LAYER}.self_attention.head_output")
    walker.root.locator(".nsewdrag").last.click()
    page.keyboard.press("ArrowLeft")  # the arrow keys also step after a click on the picture
    walker.is_at(path)


@pytest.mark.slow
def test_a_tap_shows_a_number(browser: Browser, url: str) -> None:
    walker = Walker(browser, url, has_touch=True)
    walker.page.set_viewport_size({"width": 390, "height": 844})
    walker.at("model=reverse&source=abcd&stop=logits")
    logits = Pipeline.load("reverse").trace("abcd")["logits"].numpy()[0]
    narrow = "document.querySelector('.st-key-walk_picture .chart > div').style.minWidth.replace('px', '') < 390"
    walker.page.wait_for_function(narrow)  # the picture is drawn again when the server knows how wide the page is
    walker.settle()
    place = spot(walker, (1, 1), logits.shape)
    walker.page.touchscreen.tap(place["x"], place["y"])
    assert value(walker) == pytest.approx(float(logits[1, 1]), rel=1e-6)
    walker.close()
    assert walker.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("look", ["walk&stop=logits", "walk&stop=encoder.layers.0.self_attention.scores", "filmstrip"])
def test_nothing_of_a_picture_is_cut_on_a_narrow_projector(browser: Browser, url: str, look: str) -> None:
    walker = Walker(browser, url)
    walker.page.set_viewport_size({"width": 1024, "height": 768})
    page = walker.page
    page.goto(f"{url}/layers?part={look}")
    fits = "(chart => chart && chart.scrollWidth <= chart.clientWidth)(document.querySelector('.st-key-KEY .chart'))"
    key = "film" if look == "filmstrip" else "walk_picture"
    page.wait_for_selector(f".st-key-{key} .heatmaplayer")
    page.wait_for_function(fits.replace("KEY", key))
    walker.close()
    assert walker.complaints == []


@pytest.mark.slow
def test_columns_are_opened_until_each_cell_is_one_number(walker: Walker) -> None:
    page = walker.at(f"{WORKED}&stop={LAYER}.feed_forward.hidden").page
    key = Untrained.of("shared_heads", (EXAMPLE["source"], EXAMPLE["batch"]), (EXAMPLE["target"], EXAMPLE["batch_targets"]))
    trace = key.build().trace([EXAMPLE["source"], EXAMPLE["batch"]], [EXAMPLE["target"], EXAMPLE["batch_targets"]])
    hidden = trace[f"{LAYER}.feed_forward.hidden"].numpy()[0]
    says = page.get_by_text(re.compile(r"each cell stands for 1 × \d+ numbers"))
    expect(says).to_be_visible()
    walker.root.scroll_into_view_if_needed()

    # A click on a cell for several numbers opens the columns around them, and explains the strongest.
    page.mouse.move(*spot(walker, (0, 100), (len(hidden), 256)).values())
    expect(label(walker)).to_contain_text("greatest of 4")
    middle = int(lines(walker)[2].removeprefix("d_ff ").split("–")[0])
    page.mouse.down()
    page.mouse.up()
    expect(says).to_have_count(0)
    walker.settle()
    first, last = drawn_columns(walker)
    assert (first, last) == (middle - 32, middle + 36)
    strongest = middle + int(abs(hidden[0, middle : middle + 4]).argmax())
    page.wait_for_url(re.compile(rf"number=1\.0\.0\.{strongest}\b"))
    expect(page.locator(".st-key-card-number .katex-display")).to_be_visible()
    page.mouse.move(*spot(walker, (3, 7), (len(hidden), last - first + 1)).values())
    expect(label(walker)).to_contain_text(f"d_ff {first + 7}")
    assert value(walker) == pytest.approx(float(hidden[3, first + 7]), rel=1e-5)
    page.get_by_role("button", name="Show the whole picture again").click()
    expect(says).to_be_visible()
    walker.settle()

    # Dragging opens the columns that were dragged over, and a double click shows all again.
    start, end = (spot(walker, (row, column), (len(hidden), 256)) for row, column in ((1, 10), (len(hidden) - 2, 20)))
    page.mouse.move(*start.values())
    page.mouse.down()
    page.mouse.move(*end.values(), steps=5)
    page.mouse.up()
    expect(says).to_have_count(0)
    walker.settle()
    first, last = drawn_columns(walker)
    assert first == pytest.approx(40, abs=4)
    assert last == pytest.approx(84, abs=4)
    page.mouse.dblclick(*spot(walker, (1, 1), (2, 2)).values())
    expect(says).to_be_visible()


def drawn_columns(walker: Walker) -> tuple[int, int]:
    """The first and the last column of the last tensor, as its hover labels name them."""
    names = walker.page.evaluate(
        "Object.values(document.querySelector('.st-key-walk_picture .chart > div').layout.xaxis.labelalias)"
    )
    return int(names[0].split()[1]), int(names[-1].split()[1])


@pytest.mark.slow
@pytest.mark.parametrize("width", [1440, 390])
def test_no_picture_is_wider_than_the_page(walker: Walker, width: int) -> None:
    walker.page.set_viewport_size({"width": width, "height": 800})
    for path in (f"{LAYER}.self_attention.masked_scores", f"{LAYER}.feed_forward.activated"):
        walker.at(f"{WORKED}&stop={path}")
        walker.settle()
        assert walker.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        assert walker.root.evaluate("root => root.scrollWidth - root.clientWidth") <= 1, path
