"""The app in a browser after its server was killed, and behind nginx with strict security headers."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from benchmarks.app_server import ROOT, serving
from benchmarks.replicas import behind_nginx
from pages.shell.frame.navigation import name_of, page_files
from pages.ui.text import text
from tests.deploy.needs import needs_nginx
from tests.pages.visitor import PATIENCE, Visitor

pytestmark = pytest.mark.browser
APP = ROOT / "app.py"


@pytest.mark.slow
def test_an_open_tab_continues_after_its_server_is_killed_and_started_again(known: BrowserContext) -> None:
    with serving(APP) as server:
        visitor = Visitor(known, server.address)
        page = visitor.open("attention?model=reverse&source=abcdefg")
        visitor.choose("Layer", "2")
        main, disconnected = page.get_by_test_id("stMain"), page.get_by_test_id("stStatusWidget")
        address, before = page.url, main.inner_text()
        server.process.kill()
        server.process.wait(PATIENCE / 1000)
        disconnected.wait_for()
        with serving(APP, urlsplit(server.address).port or 0):
            disconnected.wait_for(state="hidden", timeout=60_000)
            visitor.settle()
            assert page.url == address
            assert main.inner_text() == before
            # The new server knows the fragments of the page only after a run of the whole app, which a typed text starts.
            visitor.type("Source text", "gfedcba")
            visitor.choose("Layer", "1")
            expect(page).to_have_url(re.compile("source=gfedcba.*layer=1|layer=1.*source=gfedcba"))
            assert main.inner_text() != before
            assert visitor.page.get_by_test_id("stException").count() == 0
            visitor.close()


@pytest.mark.slow
def test_a_page_opened_by_a_link_asks_twice_in_vain_and_connects(browser: Browser, url: str) -> None:
    """docs/HOSTING.md describes the two 404. All other browser tests accept them and no other."""
    visitor = Visitor(browser, url)
    failed: list[str] = []
    visitor.page.on("response", lambda answer: failed.append(answer.url.removeprefix(url)) if answer.status >= 400 else None)
    sockets: list[str] = []
    visitor.page.on("websocket", lambda socket: sockets.append(socket.url))
    visitor.open("tokens?model=reverse")
    assert sorted(failed) == ["/tokens/_stcore/health", "/tokens/_stcore/host-config"]
    assert sockets == [f"{url.replace('http', 'ws', 1)}/_stcore/stream"]
    assert visitor.page.url == f"{url}/tokens?model=reverse"
    assert visitor.complaints == []
    visitor.close()


@pytest.mark.slow
@needs_nginx
def test_no_page_violates_the_content_security_policy_of_nginx(known: BrowserContext, url: str) -> None:
    with behind_nginx(url, url) as address:
        visitor = Visitor(known, address)
        page = visitor.open("?model=reverse&source=abc")
        for file in page_files():
            name = name_of(file)
            # Open the page with a link of the app, so that the document and its policy stay, and Streamlit's scripts load only
            # once.
            page.get_by_test_id("stSidebarNav").get_by_role("link", name=text(name)["title"], exact=True).click()
            page.wait_for_url(re.compile(rf"/{'' if name == 'home' else name}(\?|$)"))
            visitor.settle()
            for expander in page.locator("details > summary").all()[:3]:
                if expander.is_visible():
                    expander.click()
            visitor.settle()
            assert visitor.complaints == [], name
        visitor.close()
