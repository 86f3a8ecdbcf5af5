"""Hostile clients of a real server on this machine. While they are connected, the page must still answer. Afterwards, the
server must release memory, threads and connections.

Streamlit keeps the session of a closed connection for 120 s (`server.disconnectedSessionTTL`), and at most 128 such sessions.
It drops expired sessions when another session opens or closes. These tests set the time to 1 s.
"""

import asyncio
import contextlib
import http.client
import random
import resource
import socket
import sys
import time
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psutil
import pytest
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.app_server import ROOT, Server, serving
from benchmarks.replicas import behind_nginx
from benchmarks.session import Session
from pages.ui.limits import FILES
from tests.deploy.needs import needs_nginx
from tests.fuzz.hostile import QUICK

OPENED = 60 if QUICK else 1_000  # websockets
WARM_UP = 30 if QUICK else 150  # websockets that are opened before, so that all caches and pools are filled
SLOW = 50  # connections that send single bytes with pauses
ANSWER = 10.0  # seconds in which an ordinary page must answer meanwhile, on a busy machine
RETURNS = 20.0  # seconds in which memory and threads must be released
MORE_MEMORY = 0.08  # the memory may grow by this share of the memory after the warm-up
ENVIRONMENT = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1", "OMP_NUM_THREADS": "1"}
MEGABYTE = 1_000_000
FEW_FILES = 256


class Resources(NamedTuple):
    """The resources that a server uses."""

    megabytes: float
    threads: int
    files: int

    @classmethod
    def of(cls, process: psutil.Process) -> "Resources":
        return cls(process.memory_info().rss / 1e6, process.num_threads(), process.num_fds())


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that was started with a low limit on open files. It has already had its first visitors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, hard))
        try:
            server = stack.enter_context(serving(ROOT / "app.py", environment=ENVIRONMENT))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for page in ("", "attention", "masks", "tokens") * 3:  # fill the caches before a test measures
            run(visit(server, page))
        yield server


def run(work: Awaitable[Any]) -> Any:
    """Run a coroutine in another thread, because the browser tests keep an event loop running in this one; returns its
    result."""

    async def whole() -> Any:
        return await work

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, whole()).result()


async def visit(server: Server, page: str = "tokens") -> float:
    """Open a page as an ordinary visitor, then disconnect. Returns the seconds until the page was complete."""
    session = Session(server, page, {"model": "reverse", "source": "abc"})
    try:
        return (await session.open()).seconds
    finally:
        await session.close()


def report(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Print a line that pytest does not capture."""
    with capsys.disabled():
        sys.stdout.write(f"\n{line}\n")


async def held(server: Server) -> Resources:
    """The resources that a server uses after a visit. The visit makes Streamlit drop expired sessions."""
    await visit(server)
    await asyncio.sleep(0.3)  # until the server has noticed that the visitor has disconnected
    return Resources.of(server.process)


async def come_back(server: Server, before: Resources) -> Resources:
    """Wait until the server uses no more resources than before, at most `RETURNS` seconds; returns the resources that it uses
    then."""
    start = time.perf_counter()
    while True:
        now = await held(server)
        more = now.threads > before.threads or now.files > before.files or now.megabytes > before.megabytes * (1 + MORE_MEMORY)
        if not more or time.perf_counter() - start > RETURNS:
            return now
        await asyncio.sleep(1)


def check_back(before: Resources, after: Resources) -> None:
    assert after.threads <= before.threads
    assert after.files <= before.files
    assert after.megabytes <= before.megabytes * (1 + MORE_MEMORY)


def test_a_server_raises_its_limit_on_open_files(server: Server) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert server.process.rlimit(psutil.RLIMIT_NOFILE)[0] == (FILES if hard == resource.RLIM_INFINITY else min(FILES, hard))


def connected(server: Server) -> Any:
    """A websocket to the server, as a context."""
    address = f"{server.address.replace('http', 'ws', 1)}/_stcore/stream"
    return websockets.connect(address, subprotocols=[websockets.Subprotocol("streamlit")])


async def open_and_close(server: Server, number: int, dice: random.Random) -> None:
    """Open one websocket, and close it immediately, during a run or after a run, with or without a closing handshake."""
    if number % 3 == 0:
        await visit(server)
        return
    async with connected(server) as connection:
        if number % 3 == 1:
            await connection.send(start_of_run("model=reverse&source=abc"))
            await asyncio.sleep(dice.uniform(0, 0.1))
        if number % 2:
            connection.transport.abort()


def start_of_run(query: str) -> bytes:
    """The message with which a browser starts a run of the page at `/`."""
    message = BackMsg()
    message.rerun_script.query_string = query
    return message.SerializeToString()


def test_opening_and_closing_websockets_leaks_no_resources(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(15)

    async def several(count: int) -> None:
        for start in range(0, count, 10):
            await asyncio.gather(*(open_and_close(server, start + number, dice) for number in range(10)))

    async def attack() -> tuple[Resources, Resources]:
        await several(WARM_UP)
        await asyncio.sleep(1.5)
        before = await held(server)
        await several(OPENED)
        assert await visit(server) < ANSWER
        return before, await come_back(server, before)

    before, after = run(attack())
    report(capsys, f"{OPENED} websockets opened and closed: {before} before, {after} after")
    check_back(before, after)


def status_line(address: str, request: bytes) -> bytes:
    """The first line of the answer to raw bytes. Empty if the server closes the connection without an answer."""
    host = urlsplit(address)
    with socket.create_connection((host.hostname, host.port), timeout=ANSWER) as connection:
        with contextlib.suppress(ConnectionError):  # the server may close before it has read everything
            connection.sendall(request)
        with contextlib.suppress(ConnectionError):
            return connection.recv(4096).partition(b"\r\n")[0]
    return b""


LONG_QUERY = "source=" + "x" * MEGABYTE
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def test_a_query_of_a_megabyte_is_refused(server: Server) -> None:
    before = run(held(server))
    for path, headers in (("/attention", ""), ("/_stcore/stream", UPGRADE)):
        line = status_line(server.address, f"GET {path}?{LONG_QUERY} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode())
        assert not line or 400 <= int(line.split()[1]) < 500, line
    assert run(visit(server)) < ANSWER
    check_back(before, run(come_back(server, before)))


def test_a_message_of_a_megabyte_closes_the_connection(server: Server) -> None:
    """A browser sends the query in the message that starts a run."""

    async def send(query: str) -> int | None:
        async with connected(server) as connection:
            await connection.send(start_of_run(query))
            await asyncio.wait_for(connection.wait_closed(), ANSWER)
            return connection.close_code

    before = run(held(server))
    for _ in range(3):
        assert run(send(LONG_QUERY)) == 1009  # message too big
    check_back(before, run(come_back(server, before)))


def test_a_text_message_closes_the_connection(server: Server) -> None:
    async def send() -> int | None:
        async with connected(server) as connection:
            await connection.send("a text")
            await asyncio.wait_for(connection.wait_closed(), ANSWER)
            return connection.close_code

    assert run(send()) == 1003  # unsupported data
    assert "Traceback" not in server.log
    assert run(visit(server)) < ANSWER


# Bytes that are not valid UTF-8, in different parameters of a query.
@pytest.mark.parametrize("name", ["source", "layer", "model", "part", "edits"])
def test_a_query_that_is_not_valid_text_is_answered(server: Server, name: str) -> None:
    for value in (b"\xed\xa0\x80", b"\xff\xfe", b"\x00", b"\xf4\x90\x80\x80", b"\xc0\xaf"):
        session = Session(server, "attention", {"model": "reverse", "source": "abc", name: value})  # type: ignore[dict-item]
        assert run(visit_with(session))


async def visit_with(session: Session) -> list[str]:
    try:
        await session.open()
        return session.texts
    finally:
        await session.close()


class SlowSenders:
    """Connections that send a request byte by byte until they are closed.

    Args:
        address: the address of the server.
        requests: for each connection, the bytes that are sent immediately, and the bytes that are sent one by one.
    """

    def __init__(self, address: str, requests: list[tuple[bytes, bytes]]) -> None:
        host = urlsplit(address)
        self.waiting = [bytearray(slow) for _, slow in requests]
        self.sockets = [socket.create_connection((host.hostname, host.port), timeout=ANSWER) for _ in requests]
        for connection, (quick, _) in zip(self.sockets, requests, strict=True):
            connection.sendall(quick)
            connection.setblocking(False)

    def send_a_byte(self) -> None:
        """Send the next byte on each connection that the server has not closed."""
        for connection, rest in zip(self.sockets, self.waiting, strict=True):
            with contextlib.suppress(OSError):
                connection.send(bytes([rest.pop(0)]))

    @property
    def open(self) -> int:
        """The number of connections that the server has neither answered nor closed."""
        count = 0
        for connection in self.sockets:
            try:
                connection.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                count += 1
            except OSError:
                pass
        return count

    def close(self) -> None:
        for connection in self.sockets:
            connection.close()


# Half of the connections send a header slowly, the other half an upload.
SLOW_HEADER = b"GET /attention HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"x" * 1_000
SLOW_UPLOAD = (
    b"PUT /_stcore/upload_file/session/file HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    b"Content-Length: 900000\r\n\r\n",
    b"x" * 1_000,
)
SLOW_REQUESTS = [SLOW_HEADER, SLOW_UPLOAD] * (SLOW // 2)


def test_a_server_answers_while_slow_senders_are_connected(server: Server) -> None:
    """Without nginx, slow senders keep their connections. They need no thread, and the connections end when they disconnect."""
    before = run(held(server))
    slow = SlowSenders(server.address, SLOW_REQUESTS)
    for _ in range(20):
        slow.send_a_byte()
        time.sleep(0.05)
    assert slow.open > 0
    assert run(visit(server)) < ANSWER
    # The server may start one or two threads of its pool meanwhile. One thread for each sender would be many more.
    assert Resources.of(server.process).threads - before.threads < slow.open // 4
    slow.close()
    check_back(before, run(come_back(server, before)))


@needs_nginx
def test_nginx_disconnects_slow_senders(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """nginx reads a whole request before it sends it to a replica, and waits at most 20 s for the headers."""
    before = run(held(server))
    with behind_nginx(server.address) as address:
        slow = SlowSenders(address, SLOW_REQUESTS)
        start = time.perf_counter()
        while (seconds := time.perf_counter() - start) < 23 and slow.open > SLOW // 2:
            slow.send_a_byte()
            assert Resources.of(server.process).files <= before.files + 8
            time.sleep(0.5)
        report(capsys, f"{slow.open} of {SLOW} slow senders left after {seconds:.0f} s")
        assert slow.open <= SLOW // 2  # uploads continue while a byte comes at least every 20 s, at no cost for the replica
        with contextlib.closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=ANSWER)) as connection:
            connection.request("GET", "/_stcore/health")
            assert connection.getresponse().status == 200
        slow.close()
    check_back(before, run(come_back(server, before)))
