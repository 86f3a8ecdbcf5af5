"""A visitor with a browser: it opens pages, waits until they have settled, and records errors."""

import contextlib
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Request, WebSocket, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import app_server as server

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
SCREEN: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
PATIENCE = 60_000  # ms that a test waits at most; on a loaded machine, a server's first page needs more than 20 s
QUIET = 150  # ms without a change after which a page is at rest: longer than a chart's last frames after it is drawn
expect.set_options(timeout=PATIENCE)
# A page opened by a link is also asked for these two, and answers 404: docs/HOSTING.md. Any other 404 is an error.
TRIED = re.compile(r"https?://[^/]+(?:/[\w-]+)+/_stcore/(?:health|host-config)")


# A server of a test's script that sends the scripts of components, as the app's own server does.
SERVER = """
import streamlit as st

from pages.shell.server.requests import middleware

app = st.App({script!r}, middleware=middleware())
"""


@contextlib.contextmanager
def serving(script: Path) -> Iterator[str]:
    """Start a Streamlit server for the app's script or a script of a test, which only this machine can reach; yields its
    address. It is stopped at the end."""
    if script != server.ROOT / "app.py":
        app = script.with_name(f"{script.stem}_server.py")
        app.write_text(SERVER.format(script=str(script)), encoding="utf-8")
        script = app
    with server.serving(script) as running:
        yield running.address


# The numbers of the fields of Streamlit's messages that matter below.
KINDS = ", ".join(
    f"{name} = {number}"
    for name, number in {
        "BY_ITSELF": ClientState.IS_AUTO_RERUN_FIELD_NUMBER,
        "NEW_SESSION": ForwardMsg.NEW_SESSION_FIELD_NUMBER,
        "RERUN_SCRIPT": BackMsg.RERUN_SCRIPT_FIELD_NUMBER,
    }.items()
)
# Runs in each document before the app's scripts. Notes whether the server has not begun the last requested run yet, because
# Streamlit shows that a run was requested only when the server's first message about the run arrives. The runs that a fragment
# asks for every few seconds do not count: the server does not answer them once the fragment is gone.
WATCH_CONNECTION = (
    f"{{ const {KINDS};"
    + """
// The fields of a protobuf message: by number, the bytes of each field that has a length, or undefined.
const fieldsOf = (bytes) => {
    const fields = new Map();
    let place = 0;
    const number = () => {
        let [value, shift] = [0, 0];
        for (; bytes[place] > 127; shift += 7) value += (bytes[place++] & 127) * 2 ** shift;
        return value + bytes[place++] * 2 ** shift;
    };
    while (place < bytes.length) {
        const tag = number();
        const size = number();
        fields.set(tag >> 3, (tag & 7) === 2 ? bytes.subarray(place, place + size) : undefined);
        if ((tag & 7) === 2) place += size;
    }
    return fields;
};
window.sentMessages = 0;
window.WebSocket = class extends WebSocket {
    constructor(...given) {
        super(...given);
        this.addEventListener("message", ({ data }) => {
            if (fieldsOf(new Uint8Array(data)).has(NEW_SESSION)) window.isUnanswered = false;
        });
    }
    send(message) {
        const asked = fieldsOf(new Uint8Array(message)).get(RERUN_SCRIPT);
        if (asked && !fieldsOf(asked).has(BY_ITSELF)) window.isUnanswered = true;
        window.sentMessages += 1;
        super.send(message);
    }
};
}"""
)
# Also runs in each document. Streamlit's placeholders pulse until their element is drawn. Each frame of the pulse is painted by
# the processor, which takes a third of the browser's time on a busy machine. All other motion stays.
STOP_PULSE = """{
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('[data-testid="stSkeleton"] { animation: none !important; }');
    document.adoptedStyleSheets.push(sheet);
}"""
# Resolves to true as soon as the server has answered, no script runs, no element is stale, all charts and all parts on the
# screen are drawn, and the page has not changed for `quiet` ms. Resolves to false after 60 s.
REST = """(quiet) => new Promise((resolve) => {
    const some = (selector) => document.querySelector(selector) !== null;
    const isNear = ({top, bottom, height}) => height > 0 && top < innerHeight + 100 && bottom > -100;  // as in parts.js
    const busy = () => window.isUnanswered
        || !some('[data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]')
        || some('[data-testid="stStatusWidget"], [data-testid="stSkeleton"], [data-stale="true"]')
        || some('.chart:not([data-state]), .chart[data-state="drawing"]') || some('.head_grid:not([data-painted])')
        || document.getAnimations().some(({id}) => id === 'move')
        || [...document.querySelectorAll('.unseen')].some((box) => isNear(box.getBoundingClientRect()));
    const start = performance.now();
    let since = start;
    const observer = new MutationObserver(() => { since = performance.now(); });
    observer.observe(document, {subtree: true, childList: true, characterData: true});
    // At idle moments, because React draws a large change in several tasks: between them, nothing changes for long on a loaded
    // machine.
    const check = () => requestIdleCallback(() => {
        const now = performance.now();
        if (busy()) since = now;
        if (now - since < quiet && now - start < 60_000) return setTimeout(check, 50);
        observer.disconnect();
        resolve(now - since >= quiet);
    }, {timeout: 5_000});
    check();
})"""


def new_context(browser: Browser, **settings: Any) -> BrowserContext:
    """A browser context with the screen `SCREEN`, unless the settings name another one, in which a `Visitor` can settle."""
    return prepared(browser.new_context(**(SCREEN | settings)))


def prepared(context: BrowserContext) -> BrowserContext:
    """The context, in which a `Visitor` can settle from now on."""
    context.add_init_script(WATCH_CONNECTION)
    context.add_init_script(STOP_PULSE)
    return context


# Scrolls to the next part that is not drawn yet. Resolves to true when fewer than `count` are left.
SEE_NEXT = """(count) => {
    const boxes = document.querySelectorAll('.unseen');
    boxes[0]?.scrollIntoView();
    return boxes.length < count;
}"""


class Visitor:
    """A visitor with a browser. It opens pages, waits until they have settled, and records errors in `complaints`.

    Args:
        browser: if it is a browser, the visitor gets a new context with the settings `context` and an empty cache. If it is a
            context, the visitor uses the context's tab after earlier visitors. This is faster, because half of the time to open
            a page is the compilation of the scripts of Streamlit and Plotly, and a tab keeps its compiled scripts.
    """

    def __init__(self, browser: Browser | BrowserContext, url: str, **context: Any) -> None:
        self.url, self.complaints = url, []
        self.loading = set[Request]()  # of scripts; a component is drawn only when its script is loaded
        self.fresh = isinstance(browser, Browser)
        self.context = new_context(browser, **context) if isinstance(browser, Browser) else browser
        self.page: Page = self.context.pages[0] if self.context.pages else self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.listeners: tuple[tuple[Any, Callable[[Any], None]], ...] = (
            ("pageerror", lambda error: self.complaints.append(f"error: {error}")),
            ("console", lambda message: self._console(message.type, message.text, message.location["url"])),
            ("request", self._request),
            ("requestfinished", lambda request: self.loading.discard(request)),
            ("requestfailed", lambda request: self.loading.discard(request)),
            ("response", lambda answer: self._response(answer.status, answer.url)),
            ("websocket", self._connect),
        )
        for event, listener in self.listeners:
            self.page.on(event, listener)

    def open(self, path: str = "", whole: bool = False) -> Page:
        """Open a page and wait until it has settled. With `whole`, also draw the parts below the first screen."""
        self.loading.clear()
        self.page.goto(f"{self.url}/{path}")
        self.page.locator("h1").first.wait_for(state="attached")  # a stop of a lesson may hide the page
        self.settle()
        return self.see_all() if whole else self.page

    def close(self) -> None:
        """Leave the site, close other tabs, clear cookies and storage, and reset the screen, so that the next visit finds
        nothing of this one."""
        if self.fresh:
            self.context.close()
            return
        self._forget(self.listeners)
        self.page.set_viewport_size(SCREEN["viewport"])
        self.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        self.page.mouse.move(-9, -9)

    def become_stranger(self) -> str:
        """Leave the site and clear what the browser has stored, so that the link of the last page is opened like a link of
        another person. Returns the path of that page for `open`. Another browser would start and compile all scripts."""
        path = self.page.url.removeprefix(f"{self.url}/")
        self._forget()
        return path

    def settle(self) -> None:
        """Wait until the server has answered, the page is drawn, and it has not changed for a moment (`REST`)."""
        end = time.monotonic() + PATIENCE / 1000
        while True:
            loading = frozenset(self.loading)
            assert self.page.evaluate(REST, QUIET), "the page did not come to rest within 60 s"
            if not loading and not self.loading:
                return
            assert time.monotonic() < end, f"scripts did not load: {[request.url for request in self.loading]}"

    def see_all(self) -> Page:
        """Scroll down until every part of the page has been on the screen and is drawn, then back to the top."""
        boxes = self.page.locator(".unseen")
        # A link that names a part keeps the part on the screen until the page has settled, or until the first input.
        self.page.keyboard.press("Shift")
        while count := boxes.count():
            # Not by the locator, because a run may replace the box. Repeatedly, because a run may scroll the page meanwhile.
            self.page.wait_for_function(SEE_NEXT, arg=count)
            self.settle()
        self.page.evaluate("document.querySelector('.stMain').scrollTo(0, 0)")
        return self.page

    def ticks(self, chart: int, axis: str) -> list[str]:
        """The tick labels on an axis of a chart."""
        labels = self.page.locator(".chart").nth(chart).locator(f".{axis}tick text")
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

    def _forget(self, listeners: Sequence[tuple[Any, Callable[[Any], None]]] = ()) -> None:
        """Close other tabs, clear storage and cookies, and leave the site without these listeners."""
        for page in self.context.pages:
            if page is not self.page:
                page.close()
        if self.page.url.startswith(self.url):
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        for event, listener in listeners:
            self.page.remove_listener(event, listener)
        self.page.goto("about:blank")
        self.context.clear_cookies()

    def _console(self, kind: str, text: str, address: str) -> None:
        if kind == "error" and not (text.endswith("404 (Not Found)") and TRIED.fullmatch(address)):
            self.complaints.append(f"console: {text}")

    def _connect(self, socket: WebSocket) -> None:
        """Called when the page connects to the server."""

    def _response(self, status: int, address: str) -> None:
        if status >= 400 and not (status == 404 and TRIED.fullmatch(address)):
            self.complaints.append(f"{status}: {address}")

    def _request(self, request: Request) -> None:
        address = request.url
        if request.resource_type == "script":
            self.loading.add(request)
        allowed = (self.url, self.url.replace("http", "ws", 1), "data:", "blob:")
        if not address.startswith(allowed):
            self.complaints.append(f"another host: {address}")


# The path of the tensor that the walk has drawn.
PATH = "document.querySelector('.st-key-walk_picture .chart > div')?.layout?.meta.path"


class Walker(Visitor):
    """A visitor on the walk of the Layers page.

    Attributes:
        plays: whether the browser asks for the next step by itself, as the server last told it. False for a moment within each
            step, so a test may only assert that it is False after the walk has settled.
        timers: how often the server has told the browser to ask for the next step by itself.
    """

    def __init__(self, *given: Any, **context: Any) -> None:
        super().__init__(*given, **context)
        self.plays, self.timers = False, 0

    def _connect(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._receive)

    def _receive(self, frame: str | bytes) -> None:
        message = ForwardMsg.FromString(frame) if isinstance(frame, bytes) else ForwardMsg()
        match message.WhichOneof("type"):
            case "auto_rerun":
                self.plays, self.timers = True, self.timers + 1
            case "stop_auto_rerun":
                self.plays = False
            case "new_session" if not message.metadata.run.fragment_ids:
                self.plays = False  # a run of the whole page ends the timers of its fragments

    def at(self, query: str) -> "Walker":
        """Open the page at the query parameters, with the list of stops, which is below the first screen."""
        self.open(f"layers?{query}", whole=True)
        self.root = self.page.locator(".st-key-walk_picture .chart")
        expect(self.root).to_have_attribute("data-state", "drawn")
        return self

    @property
    def path(self) -> str:
        return self.page.evaluate(PATH)

    def is_at(self, path: str) -> None:
        """Wait until the walk is at a stop. The browser checks this at every frame, because a playing walk leaves a stop
        soon."""
        self.page.wait_for_function(f"(path) => {PATH} === path", arg=path)
