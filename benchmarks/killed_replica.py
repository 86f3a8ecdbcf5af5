"""Kill one of two replicas behind nginx under load, and measure when its visitors see their pages again.

    python -m benchmarks.killed_replica [--sessions 40]

Each visitor repeats a round of clicks. The page that the other replica draws must have every element that it had before the
kill; `tests/deploy/test_replicas.py` checks this for a few visitors.
"""

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from websockets.exceptions import WebSocketException

from benchmarks.app_server import ROOT, Server
from benchmarks.load import percentile
from benchmarks.replicas import Replicas, cookie_of, serving_replicas
from benchmarks.session import SIDEBAR, Element, Session
from pages.shell.frame.navigation import name_of, page_files
from pages.ui.link_values import SHARED

THINK = 1.0  # mean seconds between two clicks
LOADED = 2.0  # seconds of clicks before the kill
STEPS_AFTER = 3  # steps that each visitor of the killed replica makes on the other replica
RETRY = 0.25  # seconds between two attempts to connect again
NOTICED = 2.0  # seconds after the kill until every visitor has noticed it
PATIENCE = 60.0  # seconds after the kill that a visitor waits at most, for a busy machine
# The connection died, or cannot be made again yet. If a page shows an exception, that is another error and fails the test.
DISCONNECTED = (OSError, WebSocketException)
ENVIRONMENT = {"STREAMLIT_SERVER_COOKIE_SECRET": "for-the-tests-only", "OMP_NUM_THREADS": "1"}
MODEL, SHARED_TEXT, OTHER_TEXT = "reverse", "headlight", "abcdefg"

View = dict[tuple[int, ...], Element]  # place on the page → element


class Recovery(NamedTuple):
    """How a visitor of the killed replica continued on the other replica.

    Attributes:
        seconds: the time from the kill until the page was complete again.
        in_flight: whether a click was on its way at the time of the kill.
        lost: the elements that differ from the expected view; empty if the view is intact.
    """

    seconds: float
    in_flight: bool
    lost: list[str]


@dataclass
class Lesson:
    """The state that all visitors share.

    Attributes:
        killed: the time at which a replica was killed, by `time.perf_counter`; None before the kill.
        over: set when all disconnected visitors see a page again.
    """

    killed: float | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Visitor:
    """A visitor who repeats a round of five clicks on two pages.

    Attributes:
        picker: the key of the picker that is used on the first page; empty if the page has no picker.
        first_view: the view of the first page when it was opened by a link.
        views: the view after each step of the first round. Every later round must show the same views.
        moving: whether the connection died and is not made again yet.
        recovery: the recovery after the visitor's replica was killed; None if it was not killed.
        steps_after: the number of steps since the recovery.
    """

    session: Session
    first_page: str
    second_page: str
    text: str
    dice: random.Random
    picker: str = ""
    first_view: View = field(default_factory=dict)
    views: list[View] = field(default_factory=list)
    moving: bool = False
    recovery: Recovery | None = None
    steps_after: int = 0

    @property
    def steps(self) -> list[Callable[[], Awaitable[Any]]]:
        return [
            self.pick,
            lambda: self.session.go(self.second_page),
            lambda: self.session.click(source=OTHER_TEXT),
            lambda: self.session.click(source=self.text),
            lambda: self.session.go(self.first_page),
        ]

    async def pick(self) -> None:
        """Pick the last option of the picker. If the page has no picker, run the page again."""
        if self.picker:
            await self.session.click(**{self.picker: self.session.choices[self.picker][-1]})
        else:
            await self.session.rerun()

    async def arrive(self) -> None:
        """Open the link, go through the first round, and record its views."""
        await self.session.open()
        self.first_view = self.session.elements
        elsewhere = {*SIDEBAR, *SHARED}  # choices that would change other pages as well
        pickers = sorted(key for key, options in self.session.choices.items() if key not in elsewhere and len(options) > 1)
        self.picker = next(iter(pickers), "")
        for step in self.steps:
            await step()
            self.views.append(self.session.elements)

    async def stay(self, lesson: Lesson) -> None:
        """Go through more rounds until the lesson is over, and compare the views. If the connection dies, continue on the other
        replica, and leave after a few more steps."""
        while True:
            for index, step in enumerate(self.steps):
                try:
                    await step()
                except DISCONNECTED:
                    await self.recover(lesson, index, in_flight=True)
                else:
                    lost = self.lost(index)
                    assert not lost, f"step {index} on {self.session.page!r} showed something else than before: {lost[:3]}"
                    self.steps_after += self.recovery is not None
                if await self.connection_dies(lesson):
                    await self.recover(lesson, index, in_flight=False)
                if lesson.over.is_set() and (self.recovery is None or self.steps_after >= STEPS_AFTER):
                    return

    async def connection_dies(self, lesson: Lesson) -> bool:
        """Wait before the next click. Returns True immediately if the connection dies meanwhile, otherwise False."""
        leaving, closed = asyncio.create_task(lesson.over.wait()), asyncio.create_task(self.session.closed())
        seconds = self.dice.expovariate(1 / THINK)
        await asyncio.wait([leaving, closed], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        return not closed.cancel()

    async def recover(self, lesson: Lesson, index: int, *, in_flight: bool) -> None:
        """Try to connect until a replica answers. Like a browser, send the address of the page and the values of its
        widgets."""
        assert lesson.killed is not None, "a connection died before the kill"
        assert self.recovery is None, "the other replica closed the connection"
        self.moving = True
        while True:
            try:
                await self.session.open()
                break
            except DISCONNECTED:
                assert time.perf_counter() - lesson.killed < PATIENCE, "no replica answered"
                await asyncio.sleep(RETRY)
        self.recovery = Recovery(time.perf_counter() - lesson.killed, in_flight, self.lost(index))
        self.moving = False

    def lost(self, index: int) -> list[str]:
        """The differences between the page and the view of this step in the first round."""
        lost = differences(self.views[index], self.session.elements)
        # The address does not contain choices of pages that are not open. The killed replica remembered these choices; the
        # other replica does not.
        if index == len(self.views) - 1 and (self.moving or self.recovery):
            lost = min(lost, differences(self.first_view, self.session.elements), key=len)
        return lost


def differences(before: View, after: View) -> list[str]:
    """Descriptions of the elements that are missing, new or changed."""
    places = sorted(before.keys() | after.keys())
    return [f"{place}: {before.get(place)} → {after.get(place)}" for place in places if before.get(place) != after.get(place)]


def visitors(replicas: Replicas, count: int) -> list[Visitor]:
    """Visitors for all pages. Half of them have the same text, and each of the others has its own text."""
    names = ["" if name_of(file) == "home" else name_of(file) for file in page_files()]
    people = []
    for number in range(count):
        first, second = names[number % len(names)], names[(number + 1 + number // len(names)) % len(names)]
        text = "".join(random.Random(number).choices("abcdefghijklmnop", k=8)) if number % 2 else SHARED_TEXT
        session = Session(replicas, first, {"model": MODEL, "source": text}, cookie=cookie_of(replicas.address))
        people.append(Visitor(session, first, second, text, random.Random(number)))
    return people


async def kill_under_load(people: list[Visitor], victim: Server) -> None:
    """Let all visitors arrive and click, then kill the victim. Returns when its visitors have continued on the other
    replica."""
    await asyncio.gather(*(person.arrive() for person in people))
    lesson = Lesson()
    clicking = asyncio.gather(*(person.stay(lesson) for person in people))
    await asyncio.wait([clicking], timeout=LOADED)
    lesson.killed = time.perf_counter()
    victim.process.kill()
    await asyncio.wait([clicking], timeout=NOTICED)
    while not clicking.done() and any(person.moving for person in people):
        await asyncio.wait([clicking], timeout=0.1)
    lesson.over.set()
    await clicking
    await asyncio.gather(*(person.session.close() for person in people))


def killed(count: int) -> list[Visitor]:
    """The `count` visitors of two replicas, after the first replica was killed and all visitors have left."""
    with serving_replicas(ROOT / "app.py", 2, ENVIRONMENT) as replicas:
        people = visitors(replicas, count)
        # In another thread, because the browser tests keep an event loop running in this thread.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, kill_under_load(people, replicas.servers[0])).result()
    return people


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=40)
    sessions = parser.parse_args().sessions
    recoveries = [person.recovery for person in killed(sessions) if person.recovery]
    seconds = [recovery.seconds for recovery in recoveries]
    print(
        f"{len(recoveries)} of {sessions} sessions were on the killed replica, {sum(r.in_flight for r in recoveries)} of them "
        f"with a click on its way; {sum(bool(r.lost) for r in recoveries)} views lost; complete again after "
        f"{statistics.median(seconds):.1f} s at the median, {percentile(seconds, 95):.1f} s at the 95th percentile, "
        f"{max(seconds):.1f} s at most"
    )


if __name__ == "__main__":
    main()
