"""Measure a class that arrives at once: many sessions over the websocket, each with pauses between two clicks.

    python -m benchmarks.load [--sessions 100] [--page attention | --page mix] [--clicks 10] [--think 5]
                              [--heavy texts | longest | importance | patching] [--training] [--replicas 1]

The client runs beside the server on the same machine, and its processor time is printed. Half of the sessions show one shared
text, like a class that opened one link. The others type a new text at every third click. All other clicks are on a picker of
the page; with `--page mix` every fifth click opens another page.

Latency is the time from the request to the end of the script's run, without the drawing in a browser. `first` is the time from
connecting to the end of the first run.

With `--heavy`, one more session asks without a pause for expensive work on a model of the paper's base size: ever new texts of
30 words (`texts`), of nearly the most words that the model reads (`longest`), of 30 words with a search for the importance of
every head (`importance`), or of 10 words with every head patched (`patching`). The figures do not include this session. With
`--training`, the sessions are repeated beside one more session whose model is in training all the time.

With `--replicas 2` or more, this number of servers runs behind nginx (Debian's) with the settings of `deploy/nginx.conf`.
Memory and processor time are then the sums over all servers.
"""

import argparse
import asyncio
import json
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import psutil

from benchmarks.app_server import ROOT, Server, serving
from benchmarks.click import new_texts
from benchmarks.replicas import Replicas, cookie_of, serving_replicas
from benchmarks.session import SIDEBAR, PageError, Session
from pages.shell.frame.navigation import name_of, page_files

SHARED_TEXT = "headlight"
MODEL = "reverse"
# Number of words in the texts of the session with heavy work.
WORDS = {"texts": 30, "longest": 62, "importance": 30, "patching": 10}
SECONDS_TO_ARRIVE = 10.0  # the time in which a class opens the link


@dataclass
class Figures:
    """The measured figures. Times are in milliseconds, memory is in megabytes."""

    sessions: int
    page: str
    first: list[float] = field(default_factory=list)
    clicks: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    heavy_clicks: int = 0
    peak_megabytes: float = 0.0
    server_cpu_seconds: float = 0.0
    client_cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    def summary(self) -> dict[str, float | int | str]:
        """The figures as a row of a table."""
        return {
            "sessions": self.sessions,
            "page": self.page,
            "first p50": percentile(self.first, 50),
            "first p95": percentile(self.first, 95),
            "click p50": percentile(self.clicks, 50),
            "click p95": percentile(self.clicks, 95),
            "click p99": percentile(self.clicks, 99),
            "clicks a second": round(len(self.clicks) / self.wall_seconds, 1),
            "errors": len(self.errors),
            "heavy clicks": self.heavy_clicks,
            "peak MB": round(self.peak_megabytes),
            "server CPU s": round(self.server_cpu_seconds, 1),
            "client CPU s": round(self.client_cpu_seconds, 1),
        }


def percentile(values: Sequence[float], share: float) -> float:
    """The percentile number `share` (1 to 99) of the values, to one decimal; NaN if there are no values."""
    if not values:
        return float("nan")
    if len(values) == 1:
        return round(values[0], 1)
    return round(statistics.quantiles(values, n=100, method="inclusive")[round(share) - 1], 1)


async def visit(
    number: int, server: Server | Replicas, figures: Figures, pages: Sequence[str], clicks: int, think: float
) -> None:
    """Run one session: it arrives, clicks with pauses, and leaves. Its times and errors are added to `figures`."""
    dice = random.Random(number)
    texts = new_texts(number)
    await asyncio.sleep(dice.uniform(0, SECONDS_TO_ARRIVE))
    own_texts = number % 2 == 1
    start = next(texts)["source"] if own_texts else SHARED_TEXT
    cookie = await asyncio.to_thread(cookie_of, server.address) if isinstance(server, Replicas) else ""
    session = Session(server, dice.choice(pages), {"model": MODEL, "source": start}, cookie=cookie)
    try:
        figures.first.append(1000 * (await session.open()).seconds)
        for click in range(clicks):
            await asyncio.sleep(dice.expovariate(1 / think) if think else 0)
            if len(pages) > 1 and click % 5 == 4:
                reply = await session.go(dice.choice(pages))
            elif own_texts and click % 3 == 2:
                reply = await session.click(**next(texts))
            else:
                reply = await session.click(**picker_click(session, dice))
            figures.clicks.append(1000 * reply.seconds)
    except (PageError, OSError) as error:
        figures.errors.append(f"{session.page}: {error}"[:300])
    finally:
        await session.close()


def picker_click(session: Session, dice: random.Random) -> dict[str, str]:
    """A random choice in one of the page's pickers; if the page has no picker, the shared text."""
    pickers = sorted(key for key, options in session.choices.items() if key not in SIDEBAR and len(options) > 1)
    if not pickers:
        return {"source": SHARED_TEXT}
    key = dice.choice(pickers)
    return {key: dice.choice(session.choices[key])}


async def heavy_work(server: Server | Replicas, kind: str, figures: Figures) -> None:
    """Run one session that asks for expensive work again and again, until it is cancelled.

    Args:
        server: the server of the session.
        kind: a key of `WORDS`.
        figures: the clicks are counted in its `heavy_clicks`.
    """
    texts = new_texts(10**6)
    query = {"part": "what-if", "position": "1"} if kind == "importance" else {}
    page = "patching" if kind == "patching" else "attention"
    session = Session(server, page, {"model": "vanilla", "source": "one two three", **query})
    await session.open()
    while kind == "importance" and session.unseen:
        await session.scroll()
    try:
        while True:
            words = [next(texts)["source"] for _ in range(WORDS[kind])]
            # As its second text, the page Patching takes the same text with another animal in place of the cat.
            await session.click(source=" ".join([*words, "cat"]))
            figures.heavy_clicks += 1
    finally:
        await session.close()


async def train(server: Server | Replicas) -> Session:
    """Start a training in a new session. Returns the session; the training runs until it is closed."""
    query = {"model": "copy", "source": SHARED_TEXT, "live_steps": "10000"}
    session = Session(server, "training", query)
    await session.open()
    while session.unseen:
        await session.scroll()
    await session.click(live_start=True)
    while not any("running" in text for text in session.texts):
        await asyncio.sleep(1)
        await session.rerun()
    return session


async def measure(server: Server | Replicas, options: argparse.Namespace) -> Figures:
    pages = [options.page] if options.page != "mix" else [name_of(file) for file in page_files()]
    pages = ["" if name == "home" else name for name in pages]
    figures = Figures(options.sessions, options.page)
    client = psutil.Process()
    before, own_before, start = server.cpu_seconds, sum(client.cpu_times()[:2]), time.perf_counter()
    heavy = asyncio.create_task(heavy_work(server, options.heavy, figures)) if options.heavy else None
    visits = asyncio.gather(
        *(visit(number, server, figures, pages, options.clicks, options.think) for number in range(options.sessions))
    )
    while not visits.done():
        figures.peak_megabytes = max(figures.peak_megabytes, server.megabytes)
        await asyncio.wait([visits], timeout=0.5)
    await visits
    if heavy:
        heavy.cancel()
    figures.wall_seconds = time.perf_counter() - start
    figures.server_cpu_seconds = server.cpu_seconds - before
    figures.client_cpu_seconds = sum(client.cpu_times()[:2]) - own_before
    return figures


async def measure_alone(server: Server | Replicas, options: argparse.Namespace) -> list[Figures]:
    return [await measure(server, options)]


async def measure_both(server: Server | Replicas, options: argparse.Namespace) -> list[Figures]:
    """The figures without a training, and beside a training; both with warm caches."""
    await measure(server, options)
    without = await measure(server, options)
    session = await train(server)
    try:
        return [without, await measure(server, options)]
    finally:
        await session.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--page", default="attention", help="name of a page, or mix")
    parser.add_argument("--clicks", type=int, default=10, help="of each session")
    parser.add_argument("--think", type=float, default=5.0, help="mean seconds between two clicks")
    parser.add_argument("--heavy", choices=WORDS, help="one more person asks for such work all the time")
    parser.add_argument("--training", action="store_true", help="once without and once beside a person who trains a model")
    parser.add_argument("--replicas", type=int, default=1, help="servers; behind nginx if more than one")
    parser.add_argument("--json", help="file for all the figures")
    options = parser.parse_args()
    app = ROOT / "app.py"
    with serving(app) if options.replicas == 1 else serving_replicas(app, options.replicas) as server:
        runs = asyncio.run(measure_both(server, options) if options.training else measure_alone(server, options))
    print("| " + " | ".join(runs[0].summary()) + " |")
    print("|" + " --- |" * len(runs[0].summary()))
    for figures in runs:
        print("| " + " | ".join(map(str, figures.summary().values())) + " |")
    for error in sorted({error for figures in runs for error in figures.errors})[:5]:
        print("error:", error)
    if options.training:
        without, beside = (figures.summary() for figures in runs)
        ratios = {name: float(beside[name]) / float(without[name]) for name in ("click p50", "click p95")}
        print("beside a training ÷ without:", ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([asdict(figures) for figures in runs], file)


if __name__ == "__main__":
    main()
