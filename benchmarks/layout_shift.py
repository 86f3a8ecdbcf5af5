"""Measure by how much the content of the screen moves after a click: the sum of the browser's layout shifts.

    python -m benchmarks.layout_shift

A busy machine draws a page in more steps, so its sums can be larger.
"""

import tempfile
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.app_server import ROOT
from pages.ui.text import text
from tests.pages.visitor import ARGUMENTS, CHROMIUM, Visitor, serving

MOST = 0.1  # the largest sum that counts as good: https://web.dev/articles/cls
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


def tell(what: str, page: Page, which: str = ALL) -> None:
    shift = page.evaluate(which)
    print(f"| {what} | {shift:.3f} | {'yes' if shift <= MOST else 'NO'} |", flush=True)


def pages(visitor: Visitor) -> None:
    """Open other pages of the navigation from the middle of a page."""
    page = visitor.open("?model=reverse&source=abc")
    for name in ("lessons", "patching"):
        page.evaluate("document.querySelector('.stMain').scrollTo(0, 600)")
        visitor.settle()
        page.evaluate(WATCH)
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=text(name)["title"], exact=True).click()
        page.wait_for_url(f"**/{name}*")
        visitor.settle()
        tell(f"the page {name} opens", page)


def fold(visitor: Visitor) -> None:
    page = visitor.open("layers?model=reverse&source=abc&part=calls", whole=True)
    for does in ("opens", "closes"):
        page.evaluate(WATCH)
        page.locator(".stMain details").first.locator("summary").click()
        visitor.settle()
        tell(f"a fold {does}, half a second after the click", page, LATE)


def spinner(browser: Browser) -> None:
    """Show the first spinner of a visit. The browser then loads the script of spinners, and shows a placeholder meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "spinner.py")
        script.write_text(SPINNER, encoding="utf-8")
        with serving(script) as address, closing(Visitor(browser, address)) as visitor:
            page = visitor.open()
            page.evaluate(WATCH)
            page.get_by_role("button", name="Wait").click()
            page.get_by_test_id("stSpinner").wait_for()
            visitor.settle()
            tell("the first spinner of a visit", page)


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        print(f"| what | shift | at most {MOST} |\n| --- | --- | --- |")
        with serving(ROOT / "app.py") as address, closing(Visitor(browser, address)) as visitor:
            pages(visitor)
            fold(visitor)
        spinner(browser)
        browser.close()


if __name__ == "__main__":
    main()
