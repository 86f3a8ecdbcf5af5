"""Measure a model of the size of GPT-2 small in the app, beside BertViz and TransformerLens on the same weights.

    pip install --no-deps bertviz transformer-lens   # and what they import; they are not needed otherwise
    npm install --prefix SCRIPTS d3@5.7.0 jquery@2 requirejs@2.3.6   # BertViz' page asks a host on the internet for these
    python -m benchmarks.peers --scripts SCRIPTS/node_modules [--tokens 64 256]

Random weights (124 million), a tokenizer of numbered words, one thread. For each number of tokens:

- *app*: seconds from a link to a model that was not open until every head and the map of one head are painted; then the median
  seconds from a click on another layer or head until the picture is painted; and the memory that the server gained, relative to
  weights and trace.
- *BertViz*: seconds from the attentions of `transformers` until `model_view` is painted in the same browser. A layer or a head
  needs no click there, because all are drawn at once.
- *TransformerLens*: the median seconds of `run_with_cache`, which draws nothing, and of our `trace`, which keeps as many
  tensors.

The peers are left out if they are not installed.
"""

import argparse
import importlib.util
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from playwright.sync_api import Browser, Route, sync_playwright

from benchmarks.app_server import ROOT, serving
from benchmarks.huggingface import folder
from benchmarks.repaint import WATCH
from tests.pages.visitor import ARGUMENTS, CHROMIUM
from transformer import Trace, open_model

LAYERS = HEADS = 12
WRITTEN = 20  # tokens that a model with only a decoder writes after the text in the app
CLICKS, ROUNDS = 8, 5
STILL = 0.4  # seconds without a change of a picture after which a page counts as painted
SCRIPTS = {"require": "requirejs/require.js", "d3": "d3/dist/d3.min.js", "jquery": "jquery/dist/jquery.min.js"}


def text(tokens: int) -> str:
    """A text of this many tokens."""
    return " ".join(f"w{index}" for index in range(tokens))


def in_app(browser: Browser, path: Path, tokens: int) -> dict[str, float]:
    """Seconds until the page is painted (`opened`), median and largest seconds of a click (`click`, `most`), and the megabytes
    that the server gained (`gained`)."""
    os.environ["HEADLIGHT_MODELS"] = str(path)
    with serving(ROOT / "app.py") as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(f"{server.address}/attention?model=reverse")  # a warm server, which has not opened the model
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
        memory, start = server.megabytes, time.monotonic()
        page.goto(f"{server.address}/attention?model={path.name}&source={text(tokens - WRITTEN)}")
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
        opened, gained = time.monotonic() - start, server.megabytes - memory
        time.sleep(3)
        page.evaluate(WATCH)
        seconds, choice = [], random.Random(0)
        for _ in range(CLICKS):
            what, before = choice.choice(["Layer", "Head"]), page.evaluate("seen.count")
            group = page.get_by_test_id("stButtonGroup").filter(has_text=what)
            group.locator("button[aria-checked=false], button:not([aria-checked=true])").nth(choice.randrange(11)).click()
            _settle(lambda: page.evaluate("seen.count"), before)
            clicked, painted = page.evaluate("[seen.clicked, seen.painted]")
            seconds.append((painted - clicked) / 1000)
        page.close()
    return {"opened": opened, "click": statistics.median(seconds), "most": max(seconds), "gained": gained}


def _settle(count: Callable[[], int], before: int) -> None:
    """Wait until a count has changed and stays the same."""
    last, since, deadline = before, time.monotonic(), time.monotonic() + 60
    while last == before or time.monotonic() - since < STILL:
        time.sleep(0.02)
        now = count()
        if now != last:
            last, since = now, time.monotonic()
        if time.monotonic() > deadline:
            raise TimeoutError("nothing was painted")


def bertviz(browser: Browser, path: Path, tokens: int, scripts: Path) -> float:
    """Seconds from the attentions until BertViz' view of the model is painted."""
    from bertviz import model_view
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(path, attn_implementation="eager").eval()
    with torch.inference_mode():
        attention = model(torch.arange(tokens)[None], output_attentions=True).attentions
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(300_000)
    page.route("https://cdnjs.cloudflare.com/**", lambda route: _script(route, scripts))
    start = time.monotonic()
    html = model_view(attention, text(tokens).split(), html_action="return").data
    file = path.parent / "bertviz.html"
    file.write_text(f"<!doctype html><body>{html}</body>", encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_function(f"document.querySelectorAll('svg g.attention, svg .attn_line, svg line').length > {LAYERS * HEADS}")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    seconds = time.monotonic() - start
    page.close()
    return seconds


def _script(route: Route, scripts: Path) -> None:
    name = next(name for name in SCRIPTS if f"/{name}" in route.request.url)
    route.fulfill(path=scripts / SCRIPTS[name], content_type="text/javascript")


def lens(path: Path, tokens: int) -> float:
    """Median seconds of `run_with_cache` of TransformerLens."""
    from transformer_lens.model_bridge import TransformerBridge

    model, ids = TransformerBridge.boot_transformers(str(path), device="cpu"), torch.arange(tokens)[None]
    with torch.inference_mode():
        return _median(lambda: model.run_with_cache(ids))


def traced(path: Path, tokens: int) -> tuple[float, float, Trace]:
    """Seconds to open the model, median seconds of a trace, and a trace."""
    start = time.monotonic()
    pipeline: Any = open_model(path)
    opened, source = time.monotonic() - start, text(tokens)
    return opened, _median(lambda: pipeline.trace(source, "")), pipeline.trace(source, "")


def _median(act: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS + 1):
        start = time.monotonic()
        act()
        seconds.append(time.monotonic() - start)
    return statistics.median(seconds[1:])  # the first one warms up


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--scripts", type=Path, help="folder with d3, jquery and requirejs, for BertViz")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as above, sync_playwright() as playwright:
        path = Path(above) / "gpt2-small"
        folder("gpt2", path)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for tokens in asked.tokens:
            opened, ours, trace = traced(path, tokens)
            weights = path.joinpath("model.safetensors").stat().st_size
            kept = (weights + sum(step.nbytes for step in trace)) / 1e6
            app = in_app(browser, path, tokens)
            print(f"{tokens} tokens: opened in the library {opened:.1f} s, trace {ours:.2f} s, {kept:.0f} MB")
            shares = f"memory ÷ (weights + trace) {app['gained'] / kept:.2f}"
            print(f"  app: painted {app['opened']:.1f} s, click {app['click']:.2f} s (most {app['most']:.2f}), {shares}")
            if asked.scripts and importlib.util.find_spec("bertviz"):
                print(f"  BertViz: model_view painted after {bertviz(browser, path, tokens, asked.scripts):.1f} s")
            if importlib.util.find_spec("transformer_lens"):
                print(f"  TransformerLens: run_with_cache {lens(path, tokens):.2f} s")
        browser.close()


if __name__ == "__main__":
    main()
