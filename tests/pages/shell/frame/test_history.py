"""State in the address, tested in a browser: after a change of page, Back and Forward, a reload, and on a new server."""

import re

import pytest
from playwright.sync_api import Browser, Page

from benchmarks.app_server import ROOT
from pages.shell.frame.history import BY_ITSELF, CHOICES, INTERRUPTED, Change
from pages.ui.text import text
from tests.pages.apps import LINKED, WORKED, on_page
from tests.pages.visitor import Visitor, serving

SCROLL = "document.querySelector('.stMain').scrollTop"
BOXES = {
    "Source text": "source",
    "Target text": "target",
    "Further source texts": "batch",
    "Their target texts": "batch_targets",
}


def held(page: Page) -> dict[str, str]:
    """The values of the text boxes and the model picker of the sidebar."""
    boxes = {name: page.get_by_label(label, exact=True).input_value() for label, name in BOXES.items()}
    return {"model": page.get_by_test_id("stSidebar").get_by_role("combobox").first.input_value(), **boxes}


def go(visitor: Visitor, title: str) -> None:
    visitor.page.get_by_test_id("stSidebarNav").get_by_text(title, exact=True).click()
    visitor.page.get_by_role("heading", name=title, level=1).wait_for()
    visitor.settle()


@pytest.mark.slow
@pytest.mark.browser
def test_sidebar_survives_navigation_history_and_reload(visitor: Visitor) -> None:
    page = visitor.open(f"attention?{WORKED}")
    assert held(page) == LINKED
    go(visitor, "Lessons")  # its box of the text is hidden
    go(visitor, "Layers")
    assert held(page) == LINKED
    visitor.type("Source text", "1 2 3")
    changed = {**LINKED, "source": "1 2 3"}
    page.go_back()
    visitor.settle()
    assert held(page) == LINKED  # Back undoes the typing
    page.go_back()
    page.get_by_role("heading", name="Lessons", level=1).wait_for()
    page.go_back()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    visitor.settle()
    assert held(page) == LINKED  # further back, the views of the previous pages
    # Each page is waited for: Streamlit opens a page that was asked for earlier, and drawn later, once more.
    for title in ("Lessons", "Layers"):
        page.go_forward()
        page.get_by_role("heading", name=title, level=1).wait_for()
        visitor.settle()
    page.go_forward()
    visitor.settle()
    assert held(page) == changed
    page.reload()
    page.locator("h1").first.wait_for()
    visitor.settle()
    assert held(page) == changed


@pytest.mark.slow
@pytest.mark.browser
def test_sidebar_survives_the_links_at_the_foot(visitor: Visitor) -> None:
    page = visitor.open(f"attention?{WORKED}&kind=cross", whole=True)
    foot = page.locator(".st-key-foot")
    foot.get_by_role("link").first.click()
    visitor.settle()
    assert "/attention" not in page.url
    assert held(page) == LINKED
    assert all(value.replace(" ", "+") in page.url for value in LINKED.values())


@pytest.mark.slow
@pytest.mark.browser
def test_back_undoes_one_choice_after_another_and_so_does_a_button(visitor: Visitor) -> None:
    """Choices on three pages. The navigation and a link of the tour lead from one page to the next."""
    page = visitor.open("masks?model=reverse&source=torch", whole=True)
    undo = page.get_by_role("button", name=text("common")["undo"])
    assert not undo.is_visible()
    addresses = [page.url]
    visitor.choose("three conventions", "three conventions")
    addresses.append(page.url)
    go(visitor, "Attention")
    addresses.append(page.url)
    visitor.choose("encoder", "encoder")
    addresses.append(page.url)
    # A click on another widget ends the typing and sends the text. They are one choice if the click interrupts the text's run,
    # and two if the run was done by then.
    page.get_by_label("Source text", exact=True).fill("lamp")
    visitor.choose("decoder", "decoder")
    page.wait_for_url(re.compile("kind=decoder.*source=lamp"))
    visitor.settle()
    for _ in range(2):
        if (after := page.url) != addresses[-1]:
            undo.click()
            page.wait_for_function("after => location.href !== after", arg=after)
            visitor.settle()
    assert page.url == addresses[-1]
    page.mouse.move(700, 400)
    page.mouse.wheel(0, 10)  # after this, the page no longer scrolls by itself
    visitor.see_all()
    link = page.get_by_test_id("stMain").get_by_role("link", name="Layers").last  # the next stop of the tour
    link.scroll_into_view_if_needed()
    left = page.evaluate(SCROLL)
    link.click()
    page.get_by_role("heading", name="Layers", level=1).wait_for()
    page.wait_for_function(f"{SCROLL} === 0")  # another page starts at its top
    visitor.settle()
    addresses.append(page.url)
    page.keyboard.press("ArrowRight")
    visitor.settle()
    assert ["part=three" in addresses[1], "kind=encoder" in addresses[3], "stop=" in page.url] == [True] * 3
    titles = ("Masks", "Masks", "Attention", "Attention", "Layers")
    for address, title in zip(reversed(addresses), reversed(titles), strict=True):
        page.go_back()
        page.get_by_role("heading", name=title, level=1).wait_for()
        visitor.settle()
        assert page.url == address
        if title == "Attention" and "encoder" in address:
            page.wait_for_function(f"left => Math.abs({SCROLL} - left) < 3", arg=left)
            assert page.get_by_role("heading", name="Encoder self-attention, layer 1, head 1").count() == 1
    assert not undo.is_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_back_in_a_lesson_leads_only_to_addresses_that_the_person_chose(visitor: Visitor) -> None:
    page = visitor.open("?lesson=first-look&lesson_stop=2")
    page.wait_for_url("**/positions?**")  # the address with the stop's view replaces the address without a view
    visitor.settle()
    undo = page.get_by_role("button", name=text("common")["undo"])
    assert page.evaluate("history.state.entry") == 0
    assert not undo.is_visible()
    visitor.open("lessons")
    page.get_by_role("button", name="Start First look").click()
    page.wait_for_url("**source=the+cat+sleeps**")
    visitor.settle()
    page.locator(".st-key-lesson_bar .question button").first.click()
    page.wait_for_url("**answers=**")
    visitor.settle()
    undo.click()  # Back does not undo an answer, so this undoes the start
    page.get_by_role("heading", name="Lessons", level=1).wait_for()
    page.wait_for_url("**/lessons")


@pytest.mark.slow
def test_the_server_counts_choices_but_not_what_the_app_changes_by_itself() -> None:
    app = on_page("pages/masks/page.py", model="reverse", source="torch")

    def choices_after(**parameters: str) -> tuple[int, int]:
        """How many choices were made: all, and those before the open address was opened."""
        for name, value in parameters.items():
            app.query_params[name] = value
        choices = app.run().session_state[CHOICES]
        return choices.count, choices.opened

    assert choices_after() == (0, 0)  # the parameters of the link
    assert choices_after(made_by_a_click="yes") == (1, 0)
    assert choices_after() == (1, 0)
    assert choices_after(answers="1~2") == (1, 0)  # the answers in a lesson stay
    app.session_state[BY_ITSELF] = Change.ANY
    assert choices_after(made_by_a_click="no") == (1, 0)
    assert choices_after(made_by_a_click="maybe", another="yes") == (2, 0)  # one run, one choice
    app.session_state[BY_ITSELF], app.session_state[INTERRUPTED] = Change.ANY, Change.NOTHING
    assert choices_after(made_by_a_click="again") == (3, 0)  # a run of the app interrupted the run of the choice
    app.session_state[BY_ITSELF] = Change.REMOVAL
    assert choices_after(made_by_a_click="at once") == (4, 0)  # the click arrived together with what the app did by itself
    app.session_state[BY_ITSELF] = Change.REMOVAL
    del app.query_params["another"]
    assert choices_after() == (4, 0)
    app.switch_page("pages/tokens/page.py")
    assert choices_after() == (4, 4)  # Streamlit adds an entry for another page


@pytest.mark.slow
@pytest.mark.browser
def test_each_page_keeps_its_own_computed_part_open(visitor: Visitor) -> None:
    page = visitor.open("positions?computed=true")
    go(visitor, "Masks")
    assert page.locator("details[open] pre").count() == 0
    page.get_by_text("How it is computed").click()
    visitor.settle()
    address = page.url
    assert address.endswith("masks?computed=true")
    page.go_back()
    page.wait_for_function("document.querySelector('details[open] pre') === null")
    page.go_back()
    page.get_by_role("heading", name="Positions", level=1).wait_for()
    visitor.settle()
    assert page.url.endswith("positions?computed=true")
    assert page.locator("details[open] pre").count() > 0
    page.go_forward()
    page.get_by_role("heading", name="Masks", level=1).wait_for()
    page.go_forward()
    visitor.settle()
    assert page.url == address
    assert page.locator("details[open] pre").count() > 0


@pytest.mark.slow
@pytest.mark.browser
def test_back_restores_model_and_sizes_after_a_change(visitor: Visitor) -> None:
    page = visitor.open("attention?model=own-sizes&n_heads=2&n_layers=1&source=big+cat")
    assert page.get_by_role("heading", name="layers × heads: 1 × 2").is_visible()
    go(visitor, "Lessons")
    assert page.get_by_label("heads", exact=True).input_value() == "2"
    page.get_by_test_id("stSidebar").get_by_role("combobox").first.click()
    page.get_by_role("option", name="reverse", exact=True).click()
    visitor.settle()
    assert held(page) == {"model": "reverse", "source": "headlight", "target": "", "batch": "", "batch_targets": ""}
    page.go_back()
    visitor.settle()
    assert held(page)["model"] == "own-sizes"
    assert page.get_by_label("heads", exact=True).input_value() == "2"
    page.go_back()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    visitor.settle()
    assert held(page)["model"] == "own-sizes"
    assert held(page)["source"] == "big cat"
    assert page.get_by_label("heads", exact=True).input_value() == "2"
    assert page.get_by_role("heading", name="layers × heads: 1 × 2").is_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_link_opens_on_a_new_server(browser: Browser) -> None:
    with serving(ROOT / "app.py") as url:
        visitor = Visitor(browser, url)
        page = visitor.open(f"attention?{WORKED}&kind=cross&layer=6&head=8", whole=True)
        assert held(page) == LINKED
        assert page.get_by_role("heading", name="Cross-attention, layer 6, head 8").is_visible()
        assert visitor.ticks(0, "x") == LINKED["source"].split()
        assert page.get_by_text("untrained").first.is_visible()
        visitor.close()
        assert visitor.complaints == []


@pytest.mark.browser
def test_a_button_copies_the_address_without_a_secret(visitor: Visitor) -> None:
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open("attention?model=reverse&source=abc&kind=cross#head")
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="✓ Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    assert page.url.endswith("#head")
    page.evaluate("history.replaceState(history.state, '', '#teacher=secret')")
    page.get_by_role("button", name="✓ Copied").click()
    page.wait_for_function("async () => !(await navigator.clipboard.readText()).includes('#')")
    page.get_by_role("heading", level=1).hover()
    page.get_by_role("button", name="Copy link").wait_for()
