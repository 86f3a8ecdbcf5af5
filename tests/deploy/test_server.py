"""The answers of a server of the app to any HTTP client: it serves no file of the repository, and nothing to pages of other
sites."""

import asyncio
import gzip
import http.client
import re
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import streamlit
import streamlit as st
import websockets
from starlette.responses import PlainTextResponse

from benchmarks.app_server import ROOT, serving
from pages.shell.server.requests import middleware
from pages.ui.scripts import address_of

INDEX = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
# The tests request each file below all prefixes. A prefix is a path at which a folder could be served, or a way out of a
# folder.
FILES = [
    "requirements.txt",
    "app.py",
    "transformer/__init__.py",
    "pages/ui/limits.py",
    ".git/config",
    ".git/HEAD",
    ".streamlit/config.toml",
]
PREFIXES = [
    "",
    "app/static/",
    "static/",
    "app/static/../../",
    "../",
    "static/../../../../",
    "%2e%2e/",
    "..%2f",
    "component/",
    "media/",
    "_stcore/",
]


@pytest.fixture(scope="module")
def proxy() -> Iterator[socket.socket]:
    """A socket that accepts what the server asks of any other host."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        yield proxy


@pytest.fixture(scope="module")
def address(proxy: socket.socket) -> Iterator[str]:
    asked = f"http://127.0.0.1:{proxy.getsockname()[1]}"
    proxies = {"HTTP_PROXY": asked, "HTTPS_PROXY": asked, "http_proxy": asked, "https_proxy": asked, "NO_PROXY": ""}
    with serving(ROOT / "app.py", environment=proxies) as server:
        yield server.address.removeprefix("http://")


def ask(address: str, method: str, path: str, **headers: str) -> tuple[int, bytes]:
    """The status and body of the answer to exactly this path. The client does not normalize the path."""
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.putrequest(method, path, skip_host=False, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip, deflate, br", True),
        ("br, gzip;q=0.5", True),
        ("gzip ;q=1.0", True),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip;q=0.0", False),
        ("xgzip", False),
    ],
)
def test_scripts_are_sent_compressed_to_browsers_that_accept_it(address: str, accepted: str, packed: bool) -> None:
    (file,) = re.findall(rb'src="\./(static/js/index\.[^"]+\.js)"', INDEX)
    path = f"/{file.decode()}"
    _, plain = ask(address, "GET", path)
    status, body = ask(address, "GET", path, **{"Accept-Encoding": accepted})
    assert (status, body != plain) == (200, packed)
    assert (gzip.decompress(body) if packed else body) == plain
    assert len(body) < 0.5 * len(plain) or not packed
    assert ask(address, "GET", path, **{"Accept-Encoding": accepted, "Range": "bytes=0-9"}) == (206, plain[:10])
    assert ask(address, "HEAD", path, **{"Accept-Encoding": accepted}) == (200, b"")
    assert ask(address, "GET", "/static/js/none.js", **{"Accept-Encoding": accepted}) == (200, INDEX)  # as Streamlit does


def app_with(settings: Mapping[str, object]) -> Any:
    """An app that answers "as before", with the middleware of our app. `settings` are those of the server that are not the
    default."""
    app: Any = PlainTextResponse("as before")
    for each in reversed(middleware(lambda name: settings.get(name, st.get_option(name)))):
        app = each.cls(app, *each.args, **each.kwargs)
    return app


def answer_of(path: str, base: str = "", **headers: str) -> tuple[dict[bytes, bytes], bytes]:
    """The headers and body that the middleware of our app answers below a base path. The body is "as before" if it leaves the
    answer to the app."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": given}
    packed = app_with({"server.baseUrlPath": base})
    with ThreadPoolExecutor(1) as thread:  # Playwright's event loop may run in this thread
        thread.submit(asyncio.run, packed(scope, receive, send)).result()
    return dict(sent[0]["headers"]), sent[1]["body"]


def test_scripts_are_also_compressed_below_the_base_path_of_the_operator() -> None:
    (file,) = re.findall(r'src="\./(static/js/index\.[^"]+\.js)"', INDEX.decode())

    def coding_of(path: str) -> bytes | None:
        return answer_of(path, "/school/headlight/", accept_encoding="gzip")[0].get(b"content-encoding")

    assert coding_of(f"/school/headlight/{file}") == b"gzip"
    assert coding_of(f"/other/{file}") is None
    assert coding_of(f"/school/headlight-other/{file}") is None


def test_scripts_of_the_app_are_sent_compressed_if_the_browser_accepts_it() -> None:
    script = ROOT / "pages" / "ui" / "format.js"
    path = f"/{address_of(script)}"
    headers, packed = answer_of(path, accept_encoding="gzip")
    assert headers[b"content-encoding"] == b"gzip"
    assert headers[b"content-type"] == b"text/javascript; charset=utf-8"
    assert b"immutable" in headers[b"cache-control"]
    assert gzip.decompress(packed) == script.read_bytes()
    headers, plain = answer_of(path)
    assert b"content-encoding" not in headers
    assert plain == script.read_bytes()
    folder = path.removesuffix("ui/format.js")
    for other in ("ui/none.js", "ui/format.py", "ui/../ui/format.js", "../app.py", ""):
        assert answer_of(f"{folder}{other}", accept_encoding="gzip")[1] == b"", other
    assert answer_of("/headlight/another-version/ui/format.js")[1] == b""
    assert answer_of(f"/school{path}", "school")[1] == plain
    assert answer_of(path, "school")[1] == b"as before"


@pytest.mark.parametrize("prefix", PREFIXES)
def test_no_file_of_the_repository_is_served(address: str, prefix: str) -> None:
    for file in FILES:
        status, body = ask(address, "GET", f"/{prefix}{file}")
        # Streamlit answers an unknown path with its page, which then shows that there is no such page.
        assert status >= 300 or body == INDEX, f"/{prefix}{file} gave {body[:80]!r}"
        content = (ROOT / file).read_bytes() if (ROOT / file).is_file() else b""
        assert not content or content[:60] not in body, file


@pytest.mark.parametrize(
    "path", ["/../", "/..", "/app/static/", "/app/static", "/static/", "/assets/", "/.git/", "//etc/passwd", "/etc/passwd"]
)
def test_no_folder_is_listed(address: str, path: str) -> None:
    status, body = ask(address, "GET", path)
    assert status >= 300 or body == INDEX, f"{path} gave {body[:80]!r}"


def test_an_upload_without_the_token_is_refused(address: str) -> None:
    status, _ = ask(address, "PUT", "/_stcore/upload_file/session/file", **{"Content-Length": "0"})
    assert status == 403


def test_the_interface_for_agents_is_off(address: str) -> None:
    status, _ = ask(address, "POST", "/_stcore/agent/interact", **{"Content-Length": "0"})
    assert status >= 400


@pytest.mark.parametrize(("origin", "status"), [("http://{address}", 101), ("http://elsewhere.example", 403), ("null", 403)])
def test_a_websocket_is_accepted_only_from_own_pages(address: str, origin: str, status: int) -> None:
    assert status_of_websocket(address, origin.format(address=address)) == status


def status_of_websocket(address: str, origin: str, host: str = "") -> int:
    """The status of the answer when a page of this origin opens a session. `host` is the requested host if it is another name
    than that of the address."""
    name, port = address.split(":")

    async def open_socket() -> int:
        try:
            async with websockets.connect(
                f"ws://{host or address}/_stcore/stream",
                host=name,
                port=int(port),
                origin=websockets.Origin(origin),
                subprotocols=[websockets.Subprotocol("streamlit")],
            ):
                return 101
        except websockets.InvalidStatus as refused:
            return refused.response.status_code

    with ThreadPoolExecutor(1) as thread:  # the browser tests keep an event loop running in this thread
        return thread.submit(asyncio.run, open_socket()).result()


@pytest.mark.slow
def test_only_allowed_hosts_get_a_session() -> None:
    """Names after one another, with spaces, are the only form that Streamlit reads from the variable (docs/HOSTING.md)."""
    with serving(ROOT / "app.py", environment={"STREAMLIT_SERVER_ALLOWED_HOSTS": "a.example *.b.example"}) as server:
        place = server.address.removeprefix("http://")
        statuses = {
            host: status_of_websocket(place, f"http://{host}", host)
            for host in ("a.example", "a.example:8501", "x.b.example", "x.a.example", "c.example", place)
        }
    allowed = [host for host, status in statuses.items() if status == 101]
    assert allowed == ["a.example", "a.example:8501", "x.b.example"]
    assert {status for host, status in statuses.items() if host not in allowed} == {403}


def test_a_request_from_another_site_makes_the_server_ask_no_other_host(address: str, proxy: socket.socket) -> None:
    """Streamlit alone would ask another host for this machine's public address, to compare the other site with it."""
    assert status_of_websocket(address, "http://elsewhere.example") == 403
    assert ask(address, "GET", "/_stcore/health", Origin="http://elsewhere.example")[0] == 200
    with pytest.raises(BlockingIOError):
        proxy.accept()


@pytest.mark.parametrize(
    ("origin", "settings", "foreign"),
    [
        ("http://here.example", {}, False),
        ("https://here.example", {}, False),  # TLS ends at a proxy
        ("http://localhost:3000", {}, False),
        ("http://elsewhere.example", {}, True),
        ("http://here.example.elsewhere.example", {}, True),
        ("http://elsewhere.example/here.example", {}, True),
        ("http://here.example@elsewhere.example", {}, True),
        ("null", {}, True),
        ("", {}, True),
        ("http://[", {}, True),
        ("\xff", {}, True),
        ("https://school.example", {"server.corsAllowedOrigins": ["https://school.example"]}, False),
        ("https://elsewhere.example", {"server.corsAllowedOrigins": ["https://school.example"]}, True),
        ("https://school.example", {"server.corsAllowedOrigins": ["http://[", "https://school.example"]}, False),
        ("https://elsewhere.example", {"server.enableCORS": False}, False),
    ],
)
def test_pages_of_other_sites_are_foreign(origin: str, settings: dict[str, object], foreign: bool) -> None:
    headers = [(b"host", b"here.example"), (b"origin", origin.encode("latin-1"))]
    assert is_closed(headers, settings) == foreign
    assert not is_closed(headers[:1], settings)


def is_closed(headers: list[tuple[bytes, bytes]], settings: dict[str, object]) -> bool:
    """Whether a websocket that is requested with these headers is closed before the app is asked."""
    sent: list[str] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": headers}
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, app_with(settings)(scope, receive, send)).result()
    return sent == ["websocket.close"]


def test_no_page_of_another_site_may_read_an_answer(address: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=10)
    for path in ("/", "/_stcore/health", "/_stcore/host-config"):
        connection.request("GET", path, headers={"Origin": "http://elsewhere.example"})
        response = connection.getresponse()
        response.read()
        assert response.headers["Access-Control-Allow-Origin"] is None, path
    connection.close()
