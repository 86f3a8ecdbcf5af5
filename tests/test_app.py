"""Tests of `app.py`, as `streamlit run` loads it when the server starts."""

import runpy
from pathlib import Path

import pytest
from streamlit.runtime.pages_manager import PagesManager

from pages.ui.limits import FILES, REUSED_KILOBYTES, THREADS
from transformer import process

APP = Path(__file__).parents[1] / "app.py"


def test_a_server_that_starts_sets_memory_threads_and_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str | int] = []
    monkeypatch.setattr(process, "reuse_freed_memory", lambda largest: calls.append(f"memory {largest}"))
    monkeypatch.setattr(process, "use_threads", calls.append)
    monkeypatch.setattr(process, "allow_open_files", calls.append)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", PagesManager.uses_pages_directory)
    runpy.run_path(str(APP))
    assert calls == [f"memory {REUSED_KILOBYTES << 10}", THREADS, FILES]
