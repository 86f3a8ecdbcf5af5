"""A running server and a real browser for the tests that need them."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

# Before it is imported: what its checks find is to be told as that of a test is.
pytest.register_assert_rewrite("tests.pages.apps", "tests.pages.layers")

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHROMIUM or os.environ.get("HEADLIGHT_BROWSER") == "required":
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="no Chromium found; install Debian's chromium, or Google Chrome"))


@contextlib.contextmanager
def serving(script: Path) -> Iterator[str]:
    """The address of a fresh Streamlit server of a script, on this machine only; stopped afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port), "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, "--server.address", "127.0.0.1"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                break
            time.sleep(0.1)
        else:
            pytest.fail("the server did not start within 60 s")
        yield address
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """The address of a server of the app."""
    with serving(ROOT / "app.py") as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


# "0,…" when nothing runs, nothing is stale and every chart is drawn; the rest tells whether the page still changes.
UNREST = """() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const busy = all('[data-testid="stStatusWidget"], [data-testid="stSkeleton"], [data-stale="true"]').length;
    const undrawn = all('[data-testid="stPlotlyChart"]').filter((chart) => !chart.querySelector('.main-svg')).length;
    const unpainted = all('.overview').filter((overview) => !overview.dataset.painted).length;
    return [busy + undrawn + unpainted, document.body.innerText, all('*').length].join();
}"""


class Visitor:
    """A person with a fresh browser: opens pages, waits until they are still, and remembers what went wrong."""

    def __init__(self, browser: Browser, url: str, **context: Any) -> None:
        self.url, self.complaints = url, []
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, **context)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("console", lambda said: self._console(said.type, said.text))
        self.page.on("request", lambda request: self._request(request.url))
        self.page.on("response", lambda answer: self._response(answer.status, answer.url))

    def open(self, path: str = "") -> Page:
        self.page.goto(f"{self.url}/{path}")
        self.page.locator("h1").first.wait_for()
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until nothing runs, nothing is stale, and the page has not changed for half a second."""
        last, since, start = "", time.monotonic(), time.monotonic()
        while time.monotonic() - start < 30:
            state = self.page.evaluate(UNREST)
            if state != last:
                last, since = state, time.monotonic()
            elif state.startswith("0,") and time.monotonic() - since > 0.5:
                return
            time.sleep(0.05)
        pytest.fail("the page did not come to rest within 30 s")

    def ticks(self, chart: int, axis: str) -> list[str]:
        """The labels that stand on an axis of a chart."""
        labels = self.page.locator('[data-testid="stPlotlyChart"]').nth(chart).locator(f".{axis}tick text")
        return labels.all_text_contents()

    def type(self, label: str, text: str) -> None:
        box = self.page.get_by_label(label, exact=True)
        box.fill(text)
        box.press("Enter")
        self.settle()

    def choose(self, group: str, option: str) -> None:
        """Press a button of a segmented control."""
        radios = self.page.get_by_test_id("stButtonGroup").filter(has_text=group)
        radios.get_by_text(option, exact=True).click()
        self.settle()

    def _console(self, kind: str, text: str) -> None:
        # Under a page's path Streamlit first asks for its health at the wrong place, by design; what is missing is a 404.
        if kind == "error" and "Failed to load resource" not in text:
            self.complaints.append(f"console: {text}")

    def _response(self, status: int, address: str) -> None:
        if status >= 400 and "/_stcore/" not in address:
            self.complaints.append(f"{status}: {address}")

    def _request(self, address: str) -> None:
        here = (self.url, self.url.replace("http", "ws", 1), "data:", "blob:")
        if not address.startswith(here):
            self.complaints.append(f"another host: {address}")


class Walker(Visitor):
    """A person before the walk of the Layers page."""

    def at(self, query: str) -> "Walker":
        self.open(f"layers?{query}")
        self.root = self.page.locator(".stop").first
        expect(self.root).to_have_attribute("data-painted", re.compile(r"\d+"))
        return self

    @property
    def geometry(self) -> dict[str, Any]:
        return json.loads(self.root.get_attribute("data-geometry") or "{}")

    @property
    def path(self) -> str:
        return self.geometry["panels"][-1]["path"]

    def is_at(self, path: str) -> None:
        expect(self.root).to_have_attribute("data-geometry", re.compile(re.escape(f'"path":"{path}"')))
        for _ in range(100):
            if self.path == path:
                return
            self.page.wait_for_timeout(50)
        assert self.path == path


@pytest.fixture
def visitor(browser: Browser, url: str) -> Iterator[Visitor]:
    """A person whose visit must not end with anything to complain about."""
    visitor = Visitor(browser, url)
    yield visitor
    visitor.context.close()
    assert visitor.complaints == []


@pytest.fixture
def walker(browser: Browser, url: str) -> Iterator[Walker]:
    walker = Walker(browser, url)
    yield walker
    walker.context.close()
    assert walker.complaints == []
