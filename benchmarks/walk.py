"""How long does a step of the walk take on a model of the paper's size, and what does its trace hold in memory?

    python -m benchmarks.walk [--steps 44] [--markdown]

`vanilla` at full size (d_model 512, 8 heads, 6 + 6 layers, d_ff 2048), 64 tokens on each side, in a real browser. Each press
of the arrow key steps one tensor on; time runs from the key to the frame after the picture of the next tensor is painted.
The steps go through one encoder layer and into one decoder layer, so that every kind of tensor is among them.
"""

import argparse
import platform
import statistics
import time
from collections import defaultdict
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from pages.ui.limits import TRACE_BYTES
from tests.pages.conftest import ARGUMENTS, CHROMIUM, ROOT, serving
from transformer.analysis.walk import kind_of
from transformer.pipeline.untrained import Untrained

TOKENS = 64
SECONDS, MEGABYTES = 0.5, 150  # promised for a step, and for a trace
STARTS = ("encoder.layers.2.self_attention.query.projected", "decoder.layers.2.self_attention.query.projected")

WATCH = """() => {
    const host = [...document.querySelectorAll('*')].find((each) => each.shadowRoot?.querySelector('.stop'));
    const stop = host.shadowRoot.querySelector('.stop');
    const seen = window.seen = { pressed: 0, painted: 0, path: '' };
    const path = () => [...stop.querySelectorAll('.panel')].at(-1).dataset.path;
    seen.path = path();
    addEventListener('keydown', () => (seen.pressed = performance.now()), true);
    new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => {
        if (path() === seen.path) return;
        seen.path = path();
        seen.painted = performance.now();
    }))).observe(stop, { attributes: true, attributeFilter: ['data-painted'] });
}"""


def texts() -> tuple[str, str]:
    """64 ids on each side, none of them padding."""
    source, target = (" ".join(str(start + at) for at in range(TOKENS)) for start in (3, 103))
    return source, target


def step(page: Page) -> tuple[str, float]:
    """The next tensor: its path, and the seconds until it was painted."""
    before = page.evaluate("seen.path")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("before => seen.path !== before", arg=before, polling=20)
    path, pressed, painted = page.evaluate("[seen.path, seen.pressed, seen.painted]")
    time.sleep(0.4)  # whatever else the page still draws is no part of the next step
    return path, (painted - pressed) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=44, help="from each of the two starts")
    parser.add_argument("--markdown", action="store_true")
    asked = parser.parse_args()
    source, target = texts()
    trace = Untrained.of("vanilla", (source,), (target,)).build().trace(source, target)
    found: dict[str, list[float]] = defaultdict(list)
    sent = 0

    def received(payload: str | bytes) -> None:
        nonlocal sent
        sent += len(payload)

    with serving(ROOT / "app.py") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.on("websocket", lambda socket: socket.on("framereceived", received))
        for start in STARTS:
            page.goto(f"{address}/layers?{urlencode({'model': 'vanilla', 'source': source, 'target': target, 'stop': start})}")
            page.locator(".stop[data-painted]").wait_for(timeout=120_000)
            time.sleep(3)
            page.evaluate(WATCH)
            sent = 0
            for number in range(asked.steps + 1):
                path, seconds = step(page)
                if number:  # the first is for warming up
                    found[kind_of(path)].append(seconds)
        print(f"Chromium {browser.version}, {platform.machine()}, Python {platform.python_version()}\n")
        browser.close()
    print(f"trace: {trace.nbytes / 2**20:.0f} MB (≤{MEGABYTES}); {TRACE_BYTES // trace.nbytes} of them fit in the cache")
    print(f"sent: {sent / (asked.steps + 1) / 1000:.0f} kB a step on average\n")
    rows = [
        [kind, str(len(times)), f"{statistics.median(times):.2f}", f"{max(times):.2f}"] for kind, times in sorted(found.items())
    ]
    every = [seconds for times in found.values() for seconds in times]
    kept = f"≤{SECONDS:g}: {'yes' if statistics.median(every) <= SECONDS else 'NO'}"
    rows.append([f"all ({kept})", str(len(every)), f"{statistics.median(every):.2f}", f"{max(every):.2f}"])
    header = ["tensor", "steps", "median s", "most s"]
    if asked.markdown:
        rows = [["---"] * len(header), *rows]
    for cells in [header, *rows]:
        print(f"| {' | '.join(cells)} |" if asked.markdown else f"{cells[0]:36}{cells[1]:>7}{cells[2]:>10}{cells[3]:>10}")


if __name__ == "__main__":
    main()
