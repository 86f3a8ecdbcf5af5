"""Hostile clients of a real server on this machine: the server refuses them, and answers others meanwhile.

`benchmarks.hostile_clients` measures memory, threads and open files before and after such clients.
"""

import asyncio
import contextlib
import resource
import socket
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from benchmarks.app_server import ROOT, Server, serving
from benchmarks.session import Session
from pages.ui.limits import FILES
from tests.fuzz.clients import ANSWER, LONG_QUERY, SLOW_REQUESTS, SlowSenders, connected, start_of_run, visit

ENVIRONMENT = {"OMP_NUM_THREADS": "1"}
FEW_FILES = 256


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that was started with a low limit on open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, hard))
        try:
            server = stack.enter_context(serving(ROOT / "app.py", environment=ENVIRONMENT))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        yield server


def run(work: Awaitable[Any]) -> Any:
    """Run a coroutine in another thread, because the browser tests keep an event loop running in this one; returns its
    result."""

    async def whole() -> Any:
        return await work

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, whole()).result()


@pytest.mark.slow
def test_a_server_raises_its_limit_on_open_files(server: Server) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert server.process.rlimit(psutil.RLIMIT_NOFILE)[0] == (FILES if hard == resource.RLIM_INFINITY else min(FILES, hard))


@pytest.mark.slow
def test_a_server_answers_after_connections_that_are_dropped_at_any_moment(server: Server) -> None:
    async def drop(moment: int) -> None:
        async with connected(server) as connection:
            if moment:
                await connection.send(start_of_run("model=reverse&source=abc"))
            for _ in range(moment - 1):
                await connection.recv()  # during the run
            connection.transport.abort()

    async def attack() -> None:
        await asyncio.gather(*(drop(moment) for moment in range(4) for _ in range(3)))
        await visit(server)

    run(attack())
    assert "Traceback" not in server.log


def status_line(address: str, request: bytes) -> bytes:
    """The first line of the answer to raw bytes. Empty if the server closes the connection without an answer."""
    host = urlsplit(address)
    with socket.create_connection((host.hostname, host.port), timeout=ANSWER) as connection:
        with contextlib.suppress(ConnectionError):  # the server may close before it has read everything
            connection.sendall(request)
        with contextlib.suppress(ConnectionError):
            return connection.recv(4096).partition(b"\r\n")[0]
    return b""


UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def test_a_query_of_a_megabyte_is_refused(server: Server) -> None:
    for path, headers in (("/attention", ""), ("/_stcore/stream", UPGRADE)):
        line = status_line(server.address, f"GET {path}?{LONG_QUERY} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode())
        assert not line or 400 <= int(line.split()[1]) < 500, line
    run(visit(server))


def test_a_message_of_a_megabyte_closes_the_connection(server: Server) -> None:
    """A browser sends the query in the message that starts a run."""

    async def send(query: str) -> int | None:
        async with connected(server) as connection:
            await connection.send(start_of_run(query))
            await asyncio.wait_for(connection.wait_closed(), ANSWER)
            return connection.close_code

    assert run(send(LONG_QUERY)) == 1009  # message too big
    run(visit(server))


def test_a_text_message_closes_the_connection(server: Server) -> None:
    async def send() -> int | None:
        async with connected(server) as connection:
            await connection.send("a text")
            await asyncio.wait_for(connection.wait_closed(), ANSWER)
            return connection.close_code

    assert run(send()) == 1003  # unsupported data
    assert "Traceback" not in server.log
    run(visit(server))


# Bytes that are not valid UTF-8, in different parameters of a query.
@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", ["source", "layer", "model", "part", "edits"])
def test_a_query_that_is_not_valid_text_is_answered(server: Server, name: str) -> None:
    for value in (b"\xed\xa0\x80", b"\xff\xfe", b"\x00", b"\xf4\x90\x80\x80", b"\xc0\xaf"):
        session = Session(server, "attention", {"model": "reverse", "source": "abc", name: value})
        assert run(visit_with(session))


async def visit_with(session: Session) -> list[str]:
    try:
        await session.open()
        return session.texts
    finally:
        await session.close()


def test_a_server_answers_while_slow_senders_are_connected(server: Server) -> None:
    """Slow senders keep their connections, and need no thread each. `nginx.conf` limits their time."""
    threads = server.process.num_threads()
    slow = SlowSenders(server.address, SLOW_REQUESTS)
    for _ in range(20):
        slow.send_a_byte()
    assert slow.open > 0
    run(visit(server))
    # The server may start one or two threads of its pool meanwhile. One thread for each sender would be many more.
    assert server.process.num_threads() - threads < slow.open // 4
    slow.close()
    run(visit(server))
