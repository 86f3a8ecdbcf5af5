"""The elements below a page are hidden while it is drawn. `benchmarks.layout_shift` measures what moves after a click."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from benchmarks.app_server import ROOT
from pages.ui.text import text
from tests.pages.visitor import Visitor, serving

pytestmark = pytest.mark.browser
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_another_page_opens_at_its_top(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=abc")
    page.evaluate("document.querySelector('.stMain').scrollTo(0, 600)")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=text("lessons")["title"], exact=True).click()
    page.wait_for_url("**/lessons*")
    visitor.settle()
    assert page.evaluate("document.querySelector('.stMain').scrollTop") == 0
