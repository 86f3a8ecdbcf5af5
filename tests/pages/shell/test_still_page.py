"""The content of the screen does not move after a click: the sum of the browser's layout shifts is at most 0.1."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from benchmarks.app_server import ROOT
from pages.ui.text import text
from tests.pages.visitor import Visitor, serving

pytestmark = pytest.mark.browser
MOST = 0.1
# From now on, record all layout shifts, including those within half a second after a click.
WATCH = """() => {
    window.shifts = [];
    window.watching ??= new PerformanceObserver((list) => window.shifts.push(...list.getEntries()));
    window.watching.observe({type: 'layout-shift'});
}"""
ALL, LATE = (
    "shifts.reduce((sum, {value}) => sum + value, 0)",
    "shifts.reduce((sum, e) => sum + (e.hadRecentInput ? 0 : e.value), 0)",
)


def shift(page: Page, which: str = ALL) -> float:
    return page.evaluate(which)


def test_another_page_opens_without_a_jump(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=abc")
    for name in ("lessons", "turning"):
        page.evaluate("document.querySelector('.stMain').scrollTo(0, 600)")
        visitor.settle()
        page.evaluate(WATCH)
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=text(name)["title"], exact=True).click()
        page.wait_for_url(f"**/{name}*")
        visitor.settle()
        assert shift(page) <= MOST, name
        assert page.evaluate("document.querySelector('.stMain').scrollTop") == 0


SPINNER = f"""
import time
import streamlit as st
from pages.ui.style import app_style
from pathlib import Path
st.html(app_style(Path({str(ROOT / "assets" / "app.css")!r})))
st.title("Title")
if st.button("Wait"):
    with st.spinner("Waiting"):
        time.sleep(1)
st.html("<div style='height: 90vh'>below</div>")
"""


def test_the_first_spinner_of_a_visit_moves_nothing(known: BrowserContext, tmp_path: Path) -> None:
    """The browser loads the spinner's script at its first use. Until then, a placeholder is in its place."""
    script = tmp_path / "spinner.py"
    script.write_text(SPINNER, encoding="utf-8")
    with serving(script) as address:
        visitor = Visitor(known, address)
        page = visitor.open()
        page.evaluate(WATCH)
        page.get_by_role("button", name="Wait").click()
        page.get_by_test_id("stSpinner").wait_for()
        visitor.settle()
        assert shift(page) <= MOST
        visitor.close()


SLOW = f"""
import time
from pathlib import Path
import streamlit as st
from pages.shell.frame.body import draw_page
from pages.ui.style import app_style
def one():
    st.html("<div style='height: 150vh'>one</div>")
def two():
    for number in range(6):
        with st.container(border=True):
            st.markdown(f"Line {{number}}")
        time.sleep(0.2)
st.html(app_style(Path({str(ROOT / "assets" / "app.css")!r})))
page = st.navigation([st.Page(one), st.Page(two)])
st.session_state["page"] = page.title
draw_page(page)
with st.container(key="ending"):
    st.container(horizontal=True).button("Below every page")
"""
# Count the frames in which the button below the page is visible.
FRAMES = """() => {
    window.frames_with_end = 0;
    const look = () => {
        const end = document.querySelector('.stMain .stButton');
        const seen = end?.checkVisibility({visibilityProperty: true}) && end.getBoundingClientRect().top < innerHeight;
        window.frames_with_end += Boolean(seen);
        requestAnimationFrame(look);
    };
    look();
}"""


def test_the_elements_below_a_page_are_not_visible_while_the_page_is_drawn(known: BrowserContext, tmp_path: Path) -> None:
    """A slow server sends a new page in steps. Meanwhile, the elements below every page are hidden."""
    script = tmp_path / "slow.py"
    script.write_text(SLOW, encoding="utf-8")
    with serving(script) as address:
        visitor = Visitor(known, address)
        page = visitor.page
        page.goto(address)
        page.get_by_role("button", name="Below every page").wait_for(state="attached")
        visitor.settle()
        page.evaluate(FRAMES)
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="two").click()
        page.get_by_text("Line 5").wait_for()
        visitor.settle()
        assert page.evaluate("window.frames_with_end") == 0
        visitor.close()


def test_a_fold_opens_and_closes_at_once(visitor: Visitor) -> None:
    page = visitor.open("layers?model=reverse&source=abc&part=calls", whole=True)
    fold = page.locator(".stMain details").first
    for is_open in (True, False):
        page.evaluate(WATCH)
        fold.locator("summary").click()
        visitor.settle()
        assert fold.evaluate("fold => fold.open") == is_open
        assert shift(page, LATE) <= MOST
