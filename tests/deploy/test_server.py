"""What a server of the app gives to a stranger over HTTP: no file of the repository, and nothing for pages of other sites."""

import asyncio
import http.client
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import streamlit
import websockets

from benchmarks.session import ROOT, serving

INDEX = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
# Each is asked for under the paths that a folder could be served at, and with ways out of a folder.
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
def address() -> Iterator[str]:
    with serving(ROOT / "app.py") as server:
        yield server.address.removeprefix("http://")


def ask(address: str, method: str, path: str, **headers: str) -> tuple[int, bytes]:
    """Status and body of the answer to exactly this path, which no client has tidied up."""
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.putrequest(method, path, skip_host=False, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


@pytest.mark.parametrize("prefix", PREFIXES)
def test_no_file_of_the_repository_is_served(address: str, prefix: str) -> None:
    for file in FILES:
        status, body = ask(address, "GET", f"/{prefix}{file}")
        # Streamlit answers a path that it does not know with its page, which then says that there is no such page.
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


def test_the_programs_interface_is_off(address: str) -> None:
    status, _ = ask(address, "POST", "/_stcore/agent/interact", **{"Content-Length": "0"})
    assert status >= 400


@pytest.mark.parametrize(("origin", "status"), [("http://{address}", 101), ("http://elsewhere.example", 403), ("null", 403)])
def test_a_websocket_is_accepted_from_own_pages_alone(address: str, origin: str, status: int) -> None:
    async def open_socket() -> int:
        try:
            async with websockets.connect(
                f"ws://{address}/_stcore/stream",
                origin=websockets.Origin(origin.format(address=address)),
                subprotocols=[websockets.Subprotocol("streamlit")],
            ):
                return 101
        except websockets.InvalidStatus as refused:
            return refused.response.status_code

    with ThreadPoolExecutor(1) as thread:  # the browser tests keep an event loop running in this thread
        assert thread.submit(asyncio.run, open_socket()).result() == status


def test_no_page_of_another_site_may_read_an_answer(address: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=10)
    for path in ("/", "/_stcore/health", "/_stcore/host-config"):
        connection.request("GET", path, headers={"Origin": "http://elsewhere.example"})
        response = connection.getresponse()
        response.read()
        assert response.headers["Access-Control-Allow-Origin"] is None, path
    connection.close()
