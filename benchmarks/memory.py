"""Measure whether the memory of a server stays the same while visitors come and go, each with new texts.

    python -m benchmarks.memory [--reruns 10000]

There are four visitors at a time. Each opens a random page with a random trained model by a link, types new texts, and leaves;
then another visitor comes. The server's resident memory is recorded after every thousandth rerun. The promise: from 2,000 to
10,000 reruns, it stays within ±5 % of its value after 2,000 reruns.
"""

import argparse
import asyncio
import random

from benchmarks.app_server import ROOT, Server, serving
from benchmarks.session import Session
from pages.shell.frame.navigation import name_of, page_files
from transformer import Pipeline

VISITORS, CLICKS = 4, 10  # visitors at a time; new texts of one visitor
# Reruns between two records of the memory; reruns until the memory has settled; the largest change allowed after that.
EVERY, SETTLED, MOST = 1000, 2000, 0.05


class Visits:
    """The visits of all visitors, and the memory that was recorded."""

    def __init__(self, server: Server, reruns: int) -> None:
        self.server, self.most, self.reruns, self.errors = server, reruns, 0, 0
        self.dice = random.Random(1)
        self.noted: dict[int, float] = {}
        self.tasks = {name: Pipeline.load(name).card.task for name in Pipeline.available()}
        self.words = sorted(Pipeline.load("english-french").source_vocabulary.words)

    def count(self) -> None:
        self.reruns += 1
        if self.reruns % EVERY == 0:
            self.noted[self.reruns] = self.server.megabytes
            print(f"| {self.reruns:,} | {self.server.megabytes:.0f} |", flush=True)

    async def visit(self) -> None:
        """Visit as one visitor after another, until there are enough reruns."""
        pages = ["" if name_of(file) == "home" else name_of(file) for file in page_files()]
        while self.reruns < self.most:
            model = self.dice.choice(list(self.tasks))
            session = Session(self.server, self.dice.choice(pages), {"model": model, "source": self.text(model)})
            await session.open()
            self.count()
            for _ in range(CLICKS):
                await session.click(source=self.text(model))
                self.count()
            self.errors += any("Fault" in text for text in session.texts)
            await session.close()

    def text(self, model: str) -> str:
        """A random text that the model can read, and that most probably was not typed before."""
        task = self.tasks[model]
        if task == "addition":
            return f"{self.dice.randrange(1000)}+{self.dice.randrange(1000)}"
        if task == "dates":
            return f"{self.dice.randrange(1, 29)}/{self.dice.randrange(1, 13)}/{self.dice.randrange(1900, 2100)}"
        if task.startswith("english"):
            return " ".join(self.dice.choices(self.words, k=self.dice.randrange(3, 12)))
        return "".join(self.dice.choices("abcdefghijklmnopqrstuvwxyz", k=self.dice.randrange(1, 13)))


async def run(server: Server, reruns: int) -> Visits:
    visits = Visits(server, reruns)
    await asyncio.gather(*(visits.visit() for _ in range(VISITORS)))
    return visits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reruns", type=int, default=10_000)
    options = parser.parse_args()
    with serving(ROOT / "app.py") as server:
        print("| reruns | MB |\n| --- | --- |")
        visits = asyncio.run(run(server, options.reruns))
    settled = [megabytes for reruns, megabytes in visits.noted.items() if reruns >= SETTLED]
    change = max((abs(megabytes / settled[0] - 1) for megabytes in settled), default=0.0)
    print(f"\nAfter {SETTLED:,} reruns it changed by {change:.1%} at most (promised: {MOST:.0%}); {visits.errors} faults.")


if __name__ == "__main__":
    main()
