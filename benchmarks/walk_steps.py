"""Measure the time of one step of the walk through all tensors (page Layers) on a model of the paper's size.

    python -m benchmarks.walk_steps [--steps 12] [--peer FOLDER] [--markdown]

The model is `vanilla` at full size (d_model 512, 8 heads, 6 + 6 layers, d_ff 2048), with 64 tokens on each side, in a real
browser. Each press of the arrow key moves on by one tensor. Time is measured from the key press to the frame after the last
change of the picture. The steps go through an encoder layer and through a decoder layer. With `--peer`, another checkout of
this project is measured in the same run; the two checkouts take turns at each step.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright

from benchmarks import app_server
from benchmarks.app_server import ROOT
from pages.ui.limits import CACHE_MEGABYTES
from tests.pages.visitor import ARGUMENTS, CHROMIUM
from transformer.analysis.walk import walk
from transformer.pipeline.untrained import Untrained

TOKENS = 64
SECONDS, MEGABYTES = 0.6, 150  # targets: seconds of a step, megabytes of a trace
STARTS = ("encoder.layers.2.self_attention.query.projected", "decoder.layers.2.self_attention.query.projected")
STILL = 0.5  # seconds without a change after which a step counts as done

# Records when the picture last changed and when the next frame was shown.
WATCH = """() => {
    const seen = window.seen = { pressed: 0, painted: 0, count: 0 };
    const pictures = '.chart, .stop';  // .stop was a canvas of earlier versions
    addEventListener('keydown', () => (seen.pressed = performance.now()), true);
    const note = (records) => {
        if (!records.some(({ target }) => (target.closest ? target : target.parentElement)?.closest(pictures))) return;
        seen.count += 1;
        requestAnimationFrame(() => setTimeout(() => (seen.painted = performance.now())));
    };
    const all = { childList: true, subtree: true, attributes: true };
    new MutationObserver(note).observe(document.body, all);
    for (const host of document.querySelectorAll('*')) {
        if (host.shadowRoot?.querySelector('.stop')) new MutationObserver(note).observe(host.shadowRoot, all);
    }
}"""


def texts() -> tuple[str, str]:
    """A source and a target of 64 ids each, none of them padding."""
    source, target = (" ".join(str(start + at) for at in range(TOKENS)) for start in (3, 103))
    return source, target


@contextmanager
def pages(peer: Path | None) -> Generator[dict[str, str]]:
    """Name of a checkout → address of its app, each with its own server."""
    with ExitStack() as stack:
        addresses = {"this": stack.enter_context(app_server.serving(ROOT / "app.py")).address}
        if peer is not None:
            port = app_server.free_port()
            command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
            command += ["--server.address", "127.0.0.1", "--server.port", str(port)]
            environment = {**os.environ, "PYTHONPATH": str(peer)}
            addresses["peer"] = stack.enter_context(app_server.started(command, port, peer, environment, "")).address
        yield addresses


class Visit:
    """An open page of the walk to step through."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.address, self.sent = address, 0
        self.page = browser.new_page(viewport={"width": 1440, "height": 900})
        self.page.set_default_timeout(120_000)
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._received))

    def _received(self, payload: str | bytes) -> None:
        self.sent += len(payload)

    def start(self, path: str) -> None:
        source, target = texts()
        link = urlencode({"model": "vanilla", "source": source, "target": target, "stop": path})
        self.page.goto(f"{self.address}/layers?{link}")
        self.page.locator(".stop[data-painted], .chart[data-state=drawn]").first.wait_for()
        time.sleep(3)
        self.page.evaluate(WATCH)

    def step(self) -> tuple[float, float]:
        """Seconds until the next tensor was painted, and kilobytes sent for it."""
        self.page.bring_to_front()
        before, sent = self.page.evaluate("seen.count"), self.sent
        self.page.keyboard.press("ArrowRight")
        last, since, deadline = before, time.monotonic(), time.monotonic() + 60
        while last == before or time.monotonic() - since < STILL:
            time.sleep(0.02)
            count = self.page.evaluate("seen.count")
            if count != last:
                last, since = count, time.monotonic()
            if time.monotonic() > deadline:
                raise TimeoutError("nothing was painted after the arrow key")
        pressed, painted = self.page.evaluate("[seen.pressed, seen.painted]")
        return (painted - pressed) / 1000, (self.sent - sent) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=12, help="from each of the two starts")
    parser.add_argument("--peer", type=Path, help="another checkout, to compare with")
    parser.add_argument("--markdown", action="store_true")
    asked = parser.parse_args()
    source, target = texts()
    trace = Untrained.of("vanilla", (source,), (target,)).build().trace(source, target)
    paths = [stop.path for stop in walk(trace)]
    kinds = {stop.path: stop.kind for stop in walk(trace)}
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    sent: dict[str, list[float]] = defaultdict(list)
    with ExitStack() as stack:
        addresses = stack.enter_context(pages(asked.peer and asked.peer.resolve()))
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        visits = {name: Visit(browser, address) for name, address in addresses.items()}
        for start in STARTS:
            for visit in visits.values():
                visit.start(start)
            for number in range(asked.steps + 1):
                kind = kinds[paths[paths.index(start) + number + 1]]
                for name, visit in visits.items():
                    seconds, kilobytes = visit.step()
                    if number:  # the first step warms up
                        times[name][kind].append(seconds)
                        sent[name].append(kilobytes)
                        print(kind, name, f"{seconds:.2f} s {kilobytes:.0f} kB", file=sys.stderr)
        load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        print(f"Chromium {browser.version}, {platform.machine()}, Python {platform.python_version()}, {load}\n")
        browser.close()
    megabytes = trace.nbytes / 2**20
    print(f"trace: {megabytes:.0f} MB (≤{MEGABYTES}); {int(CACHE_MEGABYTES / megabytes)} of them fit in the cache\n")
    header = ["tensor", "steps", *(f"{name}, {what}" for name in times for what in ("median s", "most s"))]
    rows = [_row(kind, [times[name][kind] for name in times]) for kind in sorted(times["this"])]
    every = [[seconds for kind in times[name].values() for seconds in kind] for name in times]
    rows.append(_row("all", every))
    if asked.markdown:
        rows = [["---"] * len(header), *rows]
    for cells in [header, *rows]:
        print(f"| {' | '.join(cells)} |" if asked.markdown else f"{cells[0]:30}" + "".join(f"{cell:>18}" for cell in cells[1:]))
    print()
    for name, seconds in zip(times, every, strict=True):
        middle = statistics.median(seconds)
        print(f"{name}: {middle:.2f} s, {statistics.median(sent[name]):.0f} kB a step; ≤{SECONDS:g} s: {middle <= SECONDS}")


def _row(kind: str, columns: list[list[float]]) -> list[str]:
    return [kind, str(len(columns[0])), *(f"{f(seconds):.2f}" for seconds in columns for f in (statistics.median, max))]


if __name__ == "__main__":
    main()
