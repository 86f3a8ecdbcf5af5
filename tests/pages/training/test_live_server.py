"""The section in which a visitor trains a model, tested with a server and with a browser."""

import asyncio
import pickle
import re
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest
from playwright.sync_api import Browser, expect

from benchmarks.app_server import ROOT, Server, serving
from benchmarks.session import Session
from pages.ui.limits import UPLOAD_MEGABYTES
from tests.pages.training.links import TINY
from tests.pages.visitor import Visitor
from tests.waiting import SECONDS, wait_for
from transformer import Pipeline

Result = TypeVar("Result")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(ROOT / "app.py", environment={"HEADLIGHT_TRAINING_NICENESS": "1"}) as server:
        yield server


def children(server: Server) -> list[psutil.Process]:
    return server.process.children(recursive=True)


async def start(server: Server) -> Session:
    """Open a new session and press the button that starts a training; returns the session."""
    session = Session(server, "training", {**TINY, "live_steps": "10000"})
    await session.open()
    while session.unseen:
        await session.scroll()
    await session.click(live_start=True)
    return session


def run_beside(visits: Coroutine[Any, Any, Result]) -> Result:
    """Run visits in another thread, because a browser of another test keeps an event loop running in this one; returns their
    result."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, visits).result()


@pytest.mark.slow
def test_closing_five_tabs_leaves_no_process_and_no_thread(server: Server) -> None:
    """`benchmarks.hostile_clients` measures the memory and the time for twenty tabs."""

    async def visits() -> None:
        sessions = [await start(server) for _ in range(5)]
        waiting = [text for text in sessions[-1].elements.values() if text.kind == "alert"]
        assert waiting
        assert len(children(server)) == 1  # the other trainings wait in the line
        await asyncio.gather(*(session.close() for session in sessions))

    async def one_visit() -> None:  # the threads that the first visit keeps forever do not count as a leak
        await (await start(server)).close()

    run_beside(one_visit())
    wait_for(lambda: not children(server))
    threads = server.process.num_threads()
    run_beside(visits())
    wait_for(lambda: not children(server))
    wait_for(lambda: server.process.num_threads() <= threads)


@pytest.mark.slow
@pytest.mark.browser
def test_a_tiny_model_is_trained_to_the_end_and_opened_on_attention(browser: Browser, server: Server, tmp_path: Path) -> None:
    visitor = Visitor(browser, server.address)
    query = "&".join(f"{name}={value}" for name, value in TINY.items())
    page = visitor.open(f"training?{query}", whole=True)
    # First, two uploads are refused.
    (tmp_path / "large.safetensors").write_bytes(bytes((UPLOAD_MEGABYTES << 20) + 1))
    upload = page.locator("input[type=file]")
    upload.set_input_files(tmp_path / "large.safetensors")
    expect(page.get_by_test_id("stFileUploader")).to_contain_text(f"must be {UPLOAD_MEGABYTES}.0MB or smaller")
    upload.set_input_files({"name": "x.pt", "mimeType": "", "buffer": pickle.dumps([1])})
    refused = "Refused, and nothing has changed: The file 'x.pt' is not a whole safetensors file"
    expect(page.get_by_text(refused)).to_be_visible()
    assert f"model={TINY['model']}" in page.url
    page.get_by_role("button", name="Start training").click()
    done = page.get_by_text(re.compile("done.*Step 40 of 40"))
    expect(done).to_be_visible(timeout=1000 * SECONDS)
    expect(page.locator(".live_answer")).to_contain_text("after step 40")
    expect(page.locator(".live_answer li").first).to_be_visible()
    expect(page.locator(".st-key-live_curves .chart")).to_have_attribute("data-state", "drawn")
    # The page settles, because nothing is redrawn any more.
    visitor.settle()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the model").click()
    download.value.save_as(tmp_path / download.value.suggested_filename)
    assert Pipeline.load(tmp_path / "reverse-trained.safetensors").card.trained_on == 40 * 8
    visitor.choose("Attention to watch", "Encoder self-attention")
    page.get_by_role("button", name="Look inside, on Attention").click()
    expect(page.get_by_role("heading", level=1, name="Attention")).to_be_visible()
    visitor.settle()
    expect(page.get_by_role("heading", name="Encoder self-attention, layer 1, head 1")).to_be_visible()  # as it was watched
    assert "model=my-reverse" in page.url
    expect(page.get_by_text("trained here on reverse: 40 of 40 steps").first).to_be_visible()
    # A reload of the tab keeps the model. The link opens it in no other tab, and takes it from nobody.
    link = page.url
    stranger = Visitor(browser, server.address)
    for _ in range(2):
        other = stranger.page
        other.goto(link)
        expect(other.get_by_text("Only that tab has it")).to_be_visible()
        page.reload()
        expect(page.get_by_text("trained here on reverse: 40 of 40 steps").first).to_be_visible()
        visitor.settle()
        assert page.url == link
        expect(page.get_by_text("Only that tab has it")).to_have_count(0)
    stored = page.evaluate("JSON.parse(sessionStorage.getItem('training')).text")
    assert len(stored) == 22  # 128 bits
    assert stored not in page.content()
    stranger.close()
    visitor.close()
    assert visitor.complaints == []
    assert children(server) == []
