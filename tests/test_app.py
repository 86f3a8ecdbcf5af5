"""The door of the app, as `streamlit run` loads it when the server starts."""

import runpy
from pathlib import Path

import pytest
from streamlit.runtime.pages_manager import PagesManager

from transformer import allocator

APP = Path(__file__).parents[1] / "app.py"


def test_a_server_that_starts_keeps_freed_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[None] = []
    monkeypatch.setattr(allocator, "reuse_freed_memory", lambda: calls.append(None))
    monkeypatch.setattr(PagesManager, "uses_pages_directory", PagesManager.uses_pages_directory)
    runpy.run_path(str(APP))
    assert len(calls) == 1
