"""The shared pieces of the pages."""

import threading
import time
from pathlib import Path

import pytest
from cachetools import LRUCache

from pages.shell import runs
from pages.shell.navigation import page_files
from pages.ui.escaping import literal
from pages.ui.limits import TRACE_BYTES
from pages.ui.text import text

WIDGETS = {
    *("common", "sidebar", "head_patterns", "lines", "head_grid", "steps", "whatif"),
    *("tensors", "walk", "filmstrip", "residual", "arithmetic", "ledger", "calls", "parameters"),
}
PAGES = Path(__file__).parents[3] / "pages"
TEXTS = Path(__file__).parents[3] / "assets" / "text" / "en"


def test_sessions_that_ask_for_the_same_at_once_compute_it_once() -> None:
    calls: list[str] = []

    def slow(key: str) -> str:
        calls.append(key)
        time.sleep(0.05)
        return key

    shared = runs._shared(LRUCache(8), slow)
    threads = [threading.Thread(target=shared, args=("a",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == ["a"]


def test_a_failure_is_not_remembered() -> None:
    answers = iter([ValueError("first"), "second"])

    def sometimes(_: str) -> str:
        answer = next(answers)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    shared = runs._shared(LRUCache(8), sometimes)
    with pytest.raises(ValueError, match="first"):
        shared("a")
    assert shared("a") == "second"


def test_traces_are_kept_by_their_bytes_and_the_least_used_goes_first() -> None:
    found = runs.Runs()
    first = found.trace("reverse", ("abc",), (None,), ())
    assert found.trace("reverse", ("abc",), (None,), ()) is first
    assert found.trace("reverse", ("abd",), (None,), ()) is not first
    room = TRACE_BYTES // first.nbytes
    small = runs._shared(LRUCache(2 * first.nbytes, getsizeof=lambda trace: trace.nbytes), found.pipeline("reverse").trace)
    kept = [small(word) for word in ("abc", "abd", "abe")]
    assert small("abe") is kept[2]
    assert small("abc") is not kept[0]
    assert room > 100  # a class of sentences of a shipped model fits


def test_markdown_of_a_person_is_shown_and_not_obeyed() -> None:
    assert literal("**a** $b$ [c](d) <e>") == r"\*\*a\*\* \$b\$ \[c\]\(d\) \<e\>"


def test_no_page_is_left_out_for_want_of_texts() -> None:
    scripts = set(PAGES.glob("*/page.py"))
    assert set(page_files()) == scripts


@pytest.mark.parametrize("page", [file.parent.name for file in page_files()])
def test_every_page_has_its_texts(page: str) -> None:
    words = text(page)
    assert words["title"]
    assert words["sentence"].endswith(".")
    assert isinstance(words["order_in_group"], int)


def test_no_text_belongs_to_no_page() -> None:
    assert {file.stem for file in TEXTS.glob("*.toml")} == {file.parent.name for file in page_files()} | WIDGETS
