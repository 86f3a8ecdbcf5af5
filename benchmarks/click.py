"""Measure the processor time of a click on each page, relative to a bare Streamlit page with the same number of widgets.

    python -m benchmarks.click [--clicks 20] [--model everyday]

Two servers run side by side: the app, and a peer. The peer's only page has text boxes, as many as the measured page has
widgets. Both are clicked in turns, over the websocket (`benchmarks.session`), in short rounds in random order. Only the
processor time of the server's process counts, so the client on the same machine does not matter.

- `seen`: every clicked view has been shown before. The clicks go through the first choices of the page's pickers, and switch
  between two texts.
- `new`: each click types a text that the server has never read: eight random letters. For `everyday` it is a sentence, because
  this model would split random letters into many pieces and translate them into long nonsense.
"""

import argparse
import asyncio
import itertools
import random
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.app_server import ROOT, Server, serving
from benchmarks.session import SIDEBAR, Session
from pages.shell.frame.navigation import name_of, page_files

MODEL = "reverse"
SEEN, NEW = 2.5, 5.0  # promised: at most this many times the bare page
ROUNDS = 4
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = (
    ("I", "You", "We", "They", "My friends", "Her parents", "The teachers"),
    ("like", "see", "want", "need", "know", "forget", "buy", "sell"),
    ("the", "a", "my", "your", "this", "his"),
    ("big", "small", "old", "new", "red", "good", "bad"),
    ("house", "dog", "book", "car", "letter", "table", "garden", "phone"),
    ("today", "here", "again", "now", "at home", "every day", "on Monday"),
)
BARE = """
import streamlit as st

st.title("As many widgets")
for index in range(int(st.query_params["widgets"])):
    st.text_input(f"Box {index}", key=f"box{index}")
"""


def views(session: Session) -> list[dict[str, str]]:
    """Clicks that stay on the page: two choices of each picker of the page, and two texts."""
    own = {key: options for key, options in session.choices.items() if key not in SIDEBAR and len(options) > 1}
    pickers = [{key: option} for key, options in own.items() for option in (options[1], options[0])]
    return [*pickers, {"source": "headlight"}, {"source": "lamp"}]


def new_texts(seed: int, model: str = MODEL) -> Iterator[dict[str, str]]:
    """Yields widget values with texts that a model reads, all different: eight letters, or for `everyday` a sentence."""
    choice = random.Random(seed)
    known: set[str] = set()
    while True:
        text = " ".join(map(choice.choice, WORDS)) + "." if model == "everyday" else "".join(choice.choices(LETTERS, k=8))
        if text not in known:
            known.add(text)
            yield {"source": text}


async def cost(server: Server, session: Session, clicks: list[dict[str, str]]) -> float:
    """Milliseconds of processor time per click."""
    before = server.cpu_seconds
    for click in clicks:
        await session.click(**click)
    return 1000 * (server.cpu_seconds - before) / len(clicks)


async def measure(app: Server, bare: Server, page: str, model: str, clicks: int) -> dict[str, float]:
    """Kind of click (`bare`, `seen`, `new`) → milliseconds of processor time per click on one page. The key `widgets` has the
    page's number of widgets."""
    ours = Session(app, page, {"model": model, "source": "headlight"})
    await ours.open()
    widgets = len(ours.widgets)
    peer = Session(bare, "", {"widgets": str(widgets)})
    await peer.open()
    seen = views(ours)
    for click in (*seen, *seen):  # a click on one picker may add others to the page
        await ours.click(**click)
    fresh = new_texts(hash(page), model)
    milliseconds: dict[str, list[float]] = defaultdict(list)
    for _ in range(ROUNDS):
        seen_clicks = list(itertools.islice(itertools.cycle(seen), clicks))
        tasks = {
            "bare": (bare, peer, [{"box0": str(number)} for number in range(clicks)]),
            "seen": (app, ours, seen_clicks),
            "new": (app, ours, list(itertools.islice(fresh, clicks))),
        }
        for name in random.sample(list(tasks), len(tasks)):
            if name == "seen":  # leave the last new text: the pickers are measured on texts that were shown before
                for text in seen[-2:]:
                    await ours.click(**text)
            milliseconds[name].append(await cost(*tasks[name]))
    await ours.close()
    await peer.close()
    return {name: statistics.median(values) for name, values in milliseconds.items()} | {"widgets": widgets}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clicks", type=int, default=20, help="in a round")
    parser.add_argument("--model", default=MODEL, help="the model that reads the texts (%(default)s)")
    parser.add_argument("--pages", help="names of pages, separated by commas; all by default")
    options = parser.parse_args()
    names = options.pages.split(",") if options.pages else [name_of(file) for file in page_files()]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "bare.py")
        script.write_text(BARE, encoding="utf-8")
        with serving(ROOT / "app.py") as app, serving(script) as bare:
            print("| page | widgets | bare ms | seen ms | seen ÷ bare | new ms | new ÷ bare |")
            print("| --- | --- | --- | --- | --- | --- | --- |")
            for name in names:
                costs = asyncio.run(measure(app, bare, "" if name == "home" else name, options.model, options.clicks))
                ratios = {kind: costs[kind] / costs["bare"] for kind in ("seen", "new")}
                print(
                    f"| {name} | {costs['widgets']} | {costs['bare']:.1f} "
                    + " ".join(f"| {costs[kind]:.1f} | {ratios[kind]:.2f}" for kind in ("seen", "new"))
                    + " |"
                )
    print(f"\nPromised: seen at most {SEEN} times the bare page, new at most {NEW} times.")


if __name__ == "__main__":
    main()
