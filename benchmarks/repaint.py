"""Measure the time from a click on the Attention page to its paint, and the bytes sent for it.

    python -m benchmarks.repaint [--rounds 6] [--markdown]

A real browser clicks on pages served side by side, in a new random order each round:

- `ours`: the app's own Attention page with all its parts: reading, overview of every head, the head as a map, and the menus to
  save them;
- `one heatmap`: the same page, but its overview is one Plotly heatmap with gaps between the heads, sent as bytes to the app's
  own chart. The app keeps its canvas because a click that draws this heatmap anew, on another kind, takes longer;
- pages with only the pickers and a picture of all heads of the same weights: `canvas`, the overview of the app; `subplots`, one
  Plotly heatmap per head in `st.plotly_chart`.

The weights come from an untrained model of the measured size (`own-sizes` in the sidebar). For the last size, the model is a
Llama of Hugging Face with random weights and narrow heads, opened from a folder. Only `ours` is measured for it: the others
would need 1,024 heatmaps. A click changes the layer, the head or the kind; the trace is already cached. Time is measured from
the click to the frame after the last change of a picture. Bytes are everything that the server sends over the websocket until
the page is idle.

Before these sizes, the page of the model `english-french` is measured as it opens: clicks on heads that were all shown before,
timed until the map of the head is painted and until the last picture is painted.
"""

import argparse
import os
import platform
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright

from benchmarks.app_server import ROOT
from benchmarks.app_server import serving as app_serving
from benchmarks.repaint_pages import ONE_HEATMAP, PICKERS, PICTURES
from tests.pages.visitor import ARGUMENTS, CHROMIUM, serving

KINDS = ("encoder", "decoder", "cross")
LABELS = {"kind": "Kind of attention", "layer": "Layer", "head": "Head"}
STILL = 0.6  # seconds without a change of a picture after which a page counts as idle


class Size(NamedTuple):
    """A model size with its targets: seconds until painted, and kilobytes sent."""

    layers: int
    heads: int
    tokens: int
    d_model: int
    seconds: float
    kilobytes: float
    folder: bool = False  # True for a model of Hugging Face, which has only a decoder

    def __str__(self) -> str:
        return f"{self.layers} × {self.heads} × {self.tokens}"

    @property
    def query(self) -> str:
        """The page's URL parameters for this size."""
        if self.folder:
            source = " ".join(f"w{index % 500}" for index in range(self.tokens - WRITTEN))
            return urlencode({"model": FOLDER, "source": source})
        source, target = (" ".join(str(start + at) for at in range(self.tokens)) for start in (3, 103))
        sizes = {"n_layers": self.layers, "n_heads": self.heads, "d_model": self.d_model, "d_ff": 2 * self.d_model}
        return urlencode({"model": "own-sizes", "variant": "vanilla", **sizes, "source": source, "target": target})


SIZES = (Size(6, 8, 30, 128, 0.4, 120), Size(12, 12, 64, 192, 1.0, 800), Size(32, 32, 512, 128, 1.0, 800, folder=True))
FOLDER, WRITTEN = "wide", 20  # name of the folder, and the tokens that a model with only a decoder writes after the text

# Records when a picture last changed and when the next frame was shown. The overview sets an attribute after it has painted.
WATCH = """() => {
    const now = () => performance.now();
    const seen = window.seen = { clicked: 0, changed: 0, painted: 0, count: 0, map: 0 };
    addEventListener("click", () => (seen.clicked = now()), true);
    const note = (records) => {
        const pictures = '[data-testid="stPlotlyChart"], .chart, .head_grid, h3';
        if (!records.some(({ target }) => (target.closest ? target : target.parentElement)?.closest(pictures))) return;
        seen.changed = now();
        seen.count += 1;
        if (records.some(({ target }) => (target.closest ? target : target.parentElement)?.closest(".st-key-head-map .chart")))
            requestAnimationFrame(() => setTimeout(() => (seen.map = now())));
        requestAnimationFrame(() => setTimeout(() => (seen.painted = now())));
    };
    const all = { childList: true, subtree: true, attributes: true, characterData: true };
    new MutationObserver(note).observe(document.body, all);
    for (const host of document.querySelectorAll('*')) {
        if (host.shadowRoot?.querySelector('.head_grid')) new MutationObserver(note).observe(host.shadowRoot, all);
    }
}"""


class Clicked(NamedTuple):
    """The cost of a click: seconds until the last picture was painted, kilobytes sent, and seconds until the head's map was
    painted."""

    seconds: float
    kilobytes: float
    map_seconds: float = 0.0


class Visit:
    """An open page to click on."""

    def __init__(self, browser: Browser, address: str, size: Size | None) -> None:
        """Open a page with a model of a size; if `size` is None, the page as its address opens it."""
        self.size, self.sent = size, 0
        self.page = browser.new_page(viewport={"width": 1440, "height": 900})
        self.page.set_default_timeout(120_000)
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._received))
        self.page.goto(f"{address}?{size.query}" if size else address, timeout=600_000)
        self.page.locator(".js-plotly-plot .main-svg, .head_grid[data-painted]").first.wait_for(timeout=600_000)
        time.sleep(3)
        self.page.evaluate(WATCH)
        self.now = {"kind": KINDS[0], "layer": "1", "head": "1"}

    def _received(self, payload: str | bytes) -> None:
        self.sent += len(payload)

    def click(self, what: str, option: str) -> Clicked:
        """Choose another kind, layer or head, and wait until the page is idle."""
        before, start = self.page.evaluate("seen.count"), self.sent
        group = self.page.get_by_test_id("stButtonGroup").filter(has_text=LABELS[what])
        if not (self.size and self.size.folder):
            group.get_by_text(option, exact=True).click()
        else:  # too many options for buttons
            box = self.page.get_by_test_id("stSelectbox").filter(has_text=LABELS[what]).get_by_role("combobox")
            box.click()
            box.fill(option)
            self.page.get_by_role("option", name=option, exact=True).click()
        last, since, deadline = before, time.monotonic(), time.monotonic() + 60
        while last == before or time.monotonic() - since < STILL:
            time.sleep(0.02)
            count = self.page.evaluate("seen.count")
            if count != last:
                last, since = count, time.monotonic()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.size}: nothing was painted after a click on {what} {option}")
        self.now[what] = option
        clicked, painted, mapped = self.page.evaluate("[seen.clicked, seen.painted, seen.map]")
        return Clicked((painted - clicked) / 1000, (self.sent - start) / 1000, (mapped - clicked) / 1000)

    def another(self, what: str, choice: random.Random) -> str:
        assert self.size
        count = {"layer": self.size.layers, "head": self.size.heads}.get(what, 0)
        options = KINDS if what == "kind" else [str(at + 1) for at in range(count)]
        return choice.choice([option for option in options if option != self.now[what]])


def write_folder(folder: Path, size: Size) -> None:
    """Write a Llama of a size with random weights, and a tokenizer."""
    # Imported here, because everything else is measured without `transformers`.
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests.transformer.huggingface.tiny import save_tokenizer

    config = LlamaConfig(
        vocab_size=600,
        hidden_size=size.d_model,
        intermediate_size=2 * size.d_model,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        max_position_embeddings=size.tokens + 1,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    save_tokenizer(folder, size=600, ends=False)


@contextmanager
def pages(size: Size) -> Generator[dict[str, str]]:
    """Name → address of the pages, each with its own server; for a model of Hugging Face, only of our page."""
    with ExitStack() as stack:
        if size.folder:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / FOLDER
            write_folder(folder, size)
            os.environ["HEADLIGHT_MODELS"] = str(folder)
            yield {"ours": f"{stack.enter_context(serving(ROOT / 'app.py'))}/attention"}
            return
        folder, addresses = Path(stack.enter_context(tempfile.TemporaryDirectory())), {}
        for name, picture in PICTURES.items():
            script = folder / f"{name.replace(' ', '_')}.py"
            script.write_text(PICKERS + picture, encoding="utf-8")
            addresses[name] = stack.enter_context(serving(script))
        script = folder / "one_heatmap.py"
        script.write_text(f"APP = {str(ROOT / 'app.py')!r}\n{ONE_HEATMAP}", encoding="utf-8")
        with app_serving(script) as one_heatmap:
            ours = stack.enter_context(serving(ROOT / "app.py"))
            yield {"ours": f"{ours}/attention", "one heatmap": f"{one_heatmap.address}/attention"} | addresses


def measure(browser: Browser, size: Size, rounds: int) -> dict[tuple[str, str], list[Clicked]]:
    """A mapping from (page, changed picker) to its clicks."""
    results: dict[tuple[str, str], list[Clicked]] = defaultdict(list)
    choice = random.Random(0)
    with pages(size) as addresses:
        visits = {name: Visit(browser, address, size) for name, address in addresses.items()}
        for turn in range(rounds + 1):
            clicks = [(name, what) for name in visits for what in LABELS if not (size.folder and what == "kind")]
            choice.shuffle(clicks)
            for name, what in clicks:
                visit = visits[name]
                visit.page.bring_to_front()
                clicked = visit.click(what, visit.another(what, choice))
                if turn:  # the first round warms up
                    results[name, what].append(clicked)
    return results


def measure_seen(browser: Browser, rounds: int) -> list[Clicked]:
    """Clicks on all heads of the layer that the page opens with; each head was shown before."""
    with serving(ROOT / "app.py") as address:
        visit = Visit(browser, f"{address}/attention", None)
        group = visit.page.get_by_role("radiogroup", name=LABELS["head"], exact=True)
        opened = group.get_by_role("radio", checked=True).inner_text()
        heads = sorted(group.get_by_role("radio").all_inner_texts(), key=lambda head: head == opened)  # `opened` last
        clicks = [visit.click("head", head) for _ in range(rounds + 1) for head in heads]
        return clicks[len(heads) :]  # the first round warms up


def row(size: Size, name: str, what: str, clicks: Sequence[Clicked]) -> list[str]:
    seconds, kilobytes = ([getattr(click, field) for click in clicks] for field in ("seconds", "kilobytes"))
    median, most, sent = statistics.median(seconds), max(seconds), max(kilobytes)
    promise = ""
    if name == "ours":
        promise = "yes" if median <= size.seconds and sent <= size.kilobytes else "NO"
        promise += f" (≤{size.seconds:g} s, ≤{size.kilobytes:g} kB)"
    return [str(size), name, what, f"{median:.2f}", f"{most:.2f}", f"{sent:.0f}", promise]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--large", action="store_true", help="only the model of Hugging Face")
    asked = parser.parse_args()

    def line(cells: Sequence[str]) -> None:
        print(f"| {' | '.join(cells)} |" if asked.markdown else "  ".join(f"{cell:>14}" for cell in cells), flush=True)

    header = ["layers × heads × tokens", "page", "click on", "median s", "most s", "most kB", "promise kept"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        busy = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        print(f"Chromium {browser.version}, {platform.machine()}, Python {platform.python_version()}, {busy}\n")
        clicks = measure_seen(browser, asked.rounds)
        for what, seconds in (("map", [each.map_seconds for each in clicks]), ("page", [each.seconds for each in clicks])):
            median, most = statistics.median(seconds), max(seconds)
            print(f"english-french, a head that was shown before, {what}: {median:.2f} s, at most {most:.2f} s", flush=True)
        line(header)
        if asked.markdown:
            line(["---"] * len(header))
        for size in (size for size in SIZES if size.folder or not asked.large):
            for (name, what), clicks in sorted(measure(browser, size, asked.rounds).items()):
                line(row(size, name, what, clicks))
        browser.close()


if __name__ == "__main__":
    main()
