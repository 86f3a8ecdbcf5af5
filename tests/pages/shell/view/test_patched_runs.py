"""Patching on the pages."""

import pytest

from pages.shell.view.background import silent
from pages.shell.view.patched_runs import Choice, Runs, patch
from pages.shell.view.view import View
from transformer import InputError


def test_patching_ends_after_its_limit() -> None:
    clean, corrupt = (View("reverse", (source,), ("ab",), "reverse") for source in ("stream", "streak"))
    with pytest.raises(InputError, match="Patching was stopped after 0 seconds, at place"):
        patch(Runs(clean, corrupt), Choice(positions="each"), silent, 0)
