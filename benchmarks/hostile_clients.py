"""Measure the memory, threads and open files of a server before and after hostile clients, and after closed trainings.

    python -m benchmarks.hostile_clients [--sockets 1000] [--trainings 20]

Streamlit keeps the session of a closed connection for 120 s (`server.disconnectedSessionTTL`), and at most 128 such sessions.
It drops expired sessions when another session opens or closes. In this benchmark, sessions expire after 1 s.
"""

import argparse
import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import psutil

from benchmarks.app_server import ROOT, Server, serving
from benchmarks.replicas import behind_nginx
from benchmarks.session import Session
from tests.fuzz.clients import LONG_QUERY, SLOW_REQUESTS, SlowSenders, connected, start_of_run, visit
from tests.pages.training.links import TINY

ENVIRONMENT = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1", "OMP_NUM_THREADS": "1", "HEADLIGHT_TRAINING_NICENESS": "1"}
RETURNS = 20.0  # seconds in which memory and threads should be released
WARM_UP = 150  # websockets opened before the measurement, so that all caches and pools are filled


class Resources(NamedTuple):
    """The memory, threads and open files that a server uses."""

    megabytes: float
    threads: int
    files: int

    @classmethod
    def of(cls, process: psutil.Process) -> "Resources":
        return cls(process.memory_info().rss / 1e6, process.num_threads(), process.num_fds())


async def resources(server: Server) -> Resources:
    """The resources that a server uses after a visit. The visit makes Streamlit drop expired sessions."""
    await visit(server)
    await asyncio.sleep(0.3)  # until the server has noticed that the visitor has disconnected
    return Resources.of(server.process)


async def released(server: Server, before: Resources) -> Resources:
    """The resources of a server as soon as it has as few threads and files as before, or after `RETURNS` seconds."""
    end = time.perf_counter() + RETURNS
    while True:
        now = await resources(server)
        if (now.threads <= before.threads and now.files <= before.files) or time.perf_counter() > end:
            return now
        await asyncio.sleep(1)


async def open_and_close(server: Server, number: int, dice: random.Random) -> None:
    """Open one websocket, and close it at once, during a run or after a run, with or without a closing handshake."""
    if number % 3 == 0:
        await visit(server)
        return
    async with connected(server) as connection:
        if number % 3 == 1:
            await connection.send(start_of_run("model=reverse&source=abc"))
            await asyncio.sleep(dice.uniform(0, 0.1))
        if number % 2:
            connection.transport.abort()


async def open_sockets(server: Server, count: int) -> None:
    dice = random.Random(15)
    for start in range(0, count, 10):
        await asyncio.gather(*(open_and_close(server, start + number, dice) for number in range(10)))


async def send_long_query(server: Server) -> None:
    """Send a query of a megabyte, as a browser sends it: in the message that starts a run."""
    async with connected(server) as connection:
        await connection.send(start_of_run(LONG_QUERY))
        await connection.wait_closed()


async def send_slowly(server: Server) -> None:
    """Send a byte every half second on 50 connections through nginx, until nginx has closed the connections with a slow
    header."""
    with behind_nginx(server.address) as address:
        slow = SlowSenders(address, SLOW_REQUESTS)
        start = time.perf_counter()
        while slow.open > len(SLOW_REQUESTS) // 2 and time.perf_counter() - start < 30:
            slow.send_a_byte()
            await asyncio.sleep(0.5)
        print(f"{slow.open} of {len(SLOW_REQUESTS)} slow senders left after {time.perf_counter() - start:.0f} s", flush=True)
        slow.close()


async def close_trainings(server: Server, count: int) -> None:
    """Start `count` trainings, each in its own tab, close the tabs, and wait until no training has a process."""
    sessions = []
    for _ in range(count):
        session = Session(server, "training", {**TINY, "live_steps": "10000"})
        await session.open()
        while session.unseen:
            await session.scroll()
        await session.click(live_start=True)
        sessions.append(session)
    start = time.perf_counter()
    await asyncio.gather(*(session.close() for session in sessions))
    while server.process.children(recursive=True):
        await asyncio.sleep(0.02)
    print(f"{count} closed tabs have no process after {time.perf_counter() - start:.1f} s (promised: 2)", flush=True)


async def measure(server: Server, name: str, attack: Callable[[], Coroutine[Any, Any, None]]) -> None:
    before = await resources(server)
    await attack()
    after = await released(server, before)
    cells = (f"{one:.0f} → {other:.0f}" for one, other in zip(before, after, strict=True))
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


async def run(server: Server, sockets: int, trainings: int) -> None:
    await open_sockets(server, WARM_UP)
    await close_trainings(server, 1)
    await asyncio.sleep(1.5)
    print("| clients | MB | threads | open files |\n| --- | --- | --- | --- |", flush=True)
    await measure(server, f"{sockets} websockets opened and closed", lambda: open_sockets(server, sockets))
    await measure(server, "a message of 1 MB", lambda: send_long_query(server))
    await measure(server, "50 slow senders behind nginx", lambda: send_slowly(server))
    await measure(server, f"{trainings} trainings in closed tabs", lambda: close_trainings(server, trainings))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sockets", type=int, default=1_000)
    parser.add_argument("--trainings", type=int, default=20)
    options = parser.parse_args()
    with serving(ROOT / "app.py", environment=ENVIRONMENT) as server:
        asyncio.run(run(server, options.sockets, options.trainings))


if __name__ == "__main__":
    main()
