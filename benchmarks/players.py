"""Measure the time from a key to the repaint of the players: a step of Watch it write, a snapshot of Watch it learn.

    python -m benchmarks.players [--rounds 12]

A real browser presses the right and the left arrow key on the slider of a player. Two times are measured from the key press:

- `player`: until the frame that shows the step. The player already has all its steps.
- `charts`: until the frame after the last change of the charts on screen. The server draws them when the player stands still.
"""

import argparse
import os
import platform
import statistics
import time
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.app_server import ROOT
from tests.pages.visitor import ARGUMENTS, CHROMIUM, serving

STILL = 0.8  # seconds without a change after which a page counts as idle


class Player(NamedTuple):
    """A player: its page with a query, the selector of its root, and the target for its repaint in seconds."""

    page: str
    root: str
    seconds: float


PLAYERS = (
    Player("decoding?model=english-french", ".player", 0.3),
    Player("decoding?model=english-french&method=beam&width=4", ".player", 0.3),
    Player("training?model=reverse&source=headlight", ".film", 0.4),
    Player("training?model=english-french", ".film", 0.4),
)

# Records when a key was pressed, and when the frame after the last change of the player and of a chart was shown.
WATCH = """(root) => {
    const now = () => performance.now();
    const times = (window.times = { pressed: 0, player: 0, charts: 0, count: 0 });
    addEventListener("keydown", () => Object.assign(times, { pressed: now(), player: 0, charts: 0 }), true);
    const note = (what) => () => {
        times.count += 1;
        if (what === "player" && times.player) return; // painted again with what the server sends
        times[what] = -1;
        requestAnimationFrame(() => setTimeout(() => (times[what] = now())));
    };
    const all = { childList: true, subtree: true, attributes: true, characterData: true };
    new MutationObserver(note("player")).observe(root, all);
    const inChart = ({ target }) => (target.closest ? target : target.parentElement)?.closest('.chart');
    const noteCharts = note("charts");
    new MutationObserver((records) => records.some(inChart) && noteCharts()).observe(document.body, all);
}"""


def press(page: Page, key: str) -> tuple[float | None, ...]:
    """Seconds until the player and until the charts were painted, each None if nothing in it changed."""
    before = page.evaluate("times.count")
    page.keyboard.press(key)
    last, since, deadline = before, time.monotonic(), time.monotonic() + 60
    while last == before or time.monotonic() - since < STILL:
        time.sleep(0.02)
        count = page.evaluate("times.count")
        if count != last:
            last, since = count, time.monotonic()
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing was painted after {key}")
    times = page.evaluate("times")
    return tuple((times[what] - times["pressed"]) / 1000 if times[what] else None for what in ("player", "charts"))


def measure(browser: Browser, address: str, player: Player, rounds: int) -> list[tuple[float | None, ...]]:
    """The times of each key press; the first round warms up."""
    page = browser.new_page(viewport={"width": 1440, "height": 1400})
    page.set_default_timeout(120_000)
    page.goto(f"{address}/{player.page}")
    root = page.locator(player.root)
    root.wait_for()
    time.sleep(5)
    root.evaluate(WATCH)
    root.get_by_role("slider").first.focus()
    results = [press(page, key) for _ in range(rounds + 1) for key in ("ArrowRight", "ArrowLeft")]
    page.close()
    return results[2:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    with sync_playwright() as playwright, serving(ROOT / "app.py") as address:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        busy = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        print(f"Chromium {browser.version}, {platform.machine()}, Python {platform.python_version()}, {busy}\n")
        print(f"{'page':60} {'player':>14} {'charts':>14}  (seconds: median, most)")
        for player in PLAYERS:
            times = measure(browser, address, player, rounds)
            own, charts = ([seconds for seconds in column if seconds is not None] for column in zip(*times, strict=True))
            cells = [f"{statistics.median(row):.2f}, {max(row):.2f}" if row else "–" for row in (own, charts)]
            kept = "yes" if statistics.median(own) <= player.seconds else "NO"
            print(f"{player.page:60} {cells[0]:>14} {cells[1]:>14}  {kept} (≤{player.seconds:g} s)", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
