"""Measure the server's memory while visitors open random links, and count the pages that fail.

    python -m benchmarks.link_clicks [--links 2400] [--sessions 100]

Each visitor opens a random page with a random model, text and parameters, many of them nonsense, clicks once, and leaves.
`--sessions` is the number of visitors at a time. The server's memory and the errors are printed. The links are sampled with a
fixed seed.
"""

import argparse
import asyncio
import logging
import random
from typing import NamedTuple

from benchmarks.app_server import ROOT, Server, serving
from benchmarks.session import PageError, Session
from pages.shell.frame.navigation import name_of
from tests.fuzz.links import PAGES, parameters
from transformer import PRESETS, Pipeline

STAY = 10.0  # most seconds between a visitor's first page and the click
MODELS = (*Pipeline.available(), *PRESETS, "own-sizes", "nonsense", "")
WORDS = "the animal did not cross street because it was too tired lamp headlight 12+34 ( ) a b c <b> 🙂 ?"
NONSENSE = ("true", "", "zzz", "<script>", "1e999")
# Parameters of lessons, which are not part of a view.
LESSON = ("lesson", "class")


class Link(NamedTuple):
    """A page with the parameters of its address."""

    page: str
    query: dict[str, str]


def random_link(rng: random.Random) -> Link:
    """A link to any page with up to eight of the parameters that the page reads, many of them with nonsense values."""
    page = rng.choice(PAGES)
    read, query = parameters(page), {}
    for name in rng.sample(read.names, min(len(read.names), rng.randint(0, 6))):
        if name not in LESSON:
            query[name] = rng.choice((rng.choice(read.values or NONSENSE), str(rng.randint(-2, 60)), rng.choice(NONSENSE)))
    if rng.random() < 0.9:
        query["model"] = rng.choice(MODELS)
    if rng.random() < 0.9:
        query["source"] = random_text(rng)
    name = name_of(ROOT / page)
    return Link("" if name == "home" else name, query)


def random_text(rng: random.Random) -> str:
    """Up to twelve words, some of which no model knows."""
    return " ".join(rng.choices(WORDS.split(), k=rng.randint(0, 12)))


async def visit(server: Server, link: Link, text: str, seconds: float) -> str | None:
    """Open a link and type a text after some seconds. Returns a description of the error, or None."""
    session = Session(server, link.page, link.query)
    try:
        await session.open()
        await asyncio.sleep(seconds)
        if "source" in session.widgets:
            await session.click(source=text)
    except PageError as error:
        return f"{link}: {error}"
    finally:
        await session.close()
    return None


async def measure(server: Server, links: int, sessions: int) -> None:
    """Visit all links and print memory and errors."""
    rng, places = random.Random(5), asyncio.Semaphore(sessions)
    visits = [(random_link(rng), random_text(rng), STAY * rng.random()) for _ in range(links)]
    peak, errors, done = 0.0, [], 0

    async def one(link: Link, text: str, seconds: float) -> None:
        nonlocal peak, done
        async with places:
            problem = await visit(server, link, text, seconds)
        errors.extend([problem] if problem else [])
        done += 1
        peak = max(peak, server.megabytes)
        if done % max(1, links // 8) == 0:
            print(f"{done:6} links, {server.megabytes:5.0f} MB, at most {peak:5.0f} MB, {len(errors)} errors", flush=True)

    await asyncio.gather(*(one(*each) for each in visits))
    if errors:
        print(*errors[:10], f"The server's log ends with:\n{server.log}", sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=2400)
    parser.add_argument("--sessions", type=int, default=100, help="at a time")
    options = parser.parse_args()
    # The pages are run here once without a server, to find their parameters. Streamlit would log a warning for every widget.
    logging.disable(logging.WARNING)
    with serving(ROOT / "app.py") as server:
        asyncio.run(measure(server, options.links, options.sessions))


if __name__ == "__main__":
    main()
