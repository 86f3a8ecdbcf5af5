"""Fixtures for tests of the pages: folders of models, a running server, and a browser that records errors."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import jaxtyping
import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, sync_playwright

from benchmarks.app_server import ROOT
from tests.pages.visitor import ARGUMENTS, CHROMIUM, SCREEN, Visitor, Walker, new_context, prepared, serving

# Called before these modules are imported, so that their failed asserts show values, as asserts in tests do.
pytest.register_assert_rewrite("tests.pages.apps", "tests.pages.layers.opened")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHROMIUM or os.environ.get("HEADLIGHT_BROWSER") == "required":
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="no Chromium found; install Debian's chromium, or Google Chrome"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Switch off the checks of shapes. The tests of the library run the same code with these checks, and without them the tests
    of the pages are a fifth faster."""
    jaxtyping.config.update("jaxtyping_disable", True)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    jaxtyping.config.update("jaxtyping_disable", False)


# On two busy cores, optimising scripts takes more time than it saves while a test's page is open: 85 s instead of 92. Only for
# tests: the benchmarks measure the browser that people have.
IN_TESTS = [*ARGUMENTS, "--js-flags=--no-opt"]


@pytest.fixture
def name_folders(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Names folders of models to the app until the end of the test, as an operator does (docs/HOSTING.md)."""

    def name(*paths: Path) -> None:
        monkeypatch.setenv("HEADLIGHT_MODELS", os.pathsep.join(map(str, paths)))

    return name


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """The address of a server that runs the app."""
    with serving(ROOT / "app.py") as address:
        yield address


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A browser with an empty cache in every new context."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=IN_TESTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def warm_context(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """The browser context that all tests of a process use, one after another (see `known`)."""
    profile = tmp_path_factory.mktemp("profile")
    context = playwright.chromium.launch_persistent_context(profile, executable_path=CHROMIUM, args=IN_TESTS, **SCREEN)
    yield prepared(context)
    context.close()


@pytest.fixture
def known(warm_context: BrowserContext) -> Iterator[BrowserContext]:
    """A browser context with a warm cache: the scripts of Streamlit and Plotly are already compiled, which takes half of the
    time to open a page. Nothing else is left from earlier visits."""
    yield warm_context
    # A failed visit leaves its page open. The page would try to reach its stopped server during the next test.
    for page in warm_context.pages:
        if page.url != "about:blank":
            page.goto("about:blank")


@pytest.fixture(scope="session")
def stranger(browser: Browser) -> Iterator[BrowserContext]:
    """The browser context of another visitor. It shares no cookies and no storage with `known`. Its cache is also kept."""
    context = new_context(browser)
    yield context
    context.close()


@pytest.fixture
def visitor(known: BrowserContext, url: str) -> Iterator[Visitor]:
    """A visitor of the app. The test fails if an error was recorded during the visit."""
    visitor = Visitor(known, url)
    yield visitor
    visitor.close()
    assert visitor.complaints == []


@pytest.fixture
def walker(known: BrowserContext, url: str) -> Iterator[Walker]:
    walker = Walker(known, url)
    yield walker
    walker.close()
    assert walker.complaints == []
