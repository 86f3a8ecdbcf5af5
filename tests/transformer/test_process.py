"""Tests of the settings that a program makes for its process."""

import gc
import resource
import subprocess
import sys
import threading

import pytest
import torch

from transformer import process


@pytest.mark.parametrize(("libc", "settings"), [("glibc", [(-1, 1 << 30), (-3, 32 << 20), (-8, 2)]), ("musl", [])])
def test_freed_memory_is_reused_with_glibc_only(libc: str, settings: list, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []

    class Library:
        def mallopt(self, name: int, value: int) -> None:
            calls.append((name, value))

    monkeypatch.setattr(process.platform, "libc_ver", lambda: (libc, "1"))
    monkeypatch.setattr(process.ctypes, "CDLL", lambda _: Library())
    process.reuse_freed_memory()
    assert calls == settings


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        ((1_024, 20_000), 8_192),
        ((1_024, 4_096), 4_096),
        ((1_024, resource.RLIM_INFINITY), 8_192),
        ((10_000, 20_000), None),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), None),
    ],
)
def test_the_limit_on_files_is_raised_and_never_lowered(
    limits: tuple[int, int], allowed: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda name, both: calls.append((name, both)))
    process.allow_open_files(8_192)
    assert calls == ([] if allowed is None else [(resource.RLIMIT_NOFILE, (allowed, limits[1]))])


def test_the_number_of_threads_holds_in_every_thread() -> None:
    before, counts = torch.get_num_threads(), []
    try:
        process.use_threads(2)
        thread = threading.Thread(target=lambda: counts.append(torch.get_num_threads()))
        thread.start()
        thread.join()
    finally:
        process.use_threads(before)
    assert counts == [2]


def test_a_collection_skips_objects_that_existed_before() -> None:
    before = gc.get_freeze_count()
    try:
        process.ignore_present_objects()
        assert gc.get_freeze_count() > before
        assert len(gc.get_objects()) < gc.get_freeze_count()
    finally:
        gc.unfreeze()


@pytest.mark.parametrize(("libc", "calls_expected"), [("glibc", [0]), ("musl", [])])
def test_freed_memory_is_returned_with_glibc_only(
    libc: str, calls_expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    library = type("Library", (), {"malloc_trim": lambda _, pad: calls.append(pad)})
    monkeypatch.setattr(process.platform, "libc_ver", lambda: (libc, "1"))
    monkeypatch.setattr(process.ctypes, "CDLL", lambda _: library())
    process.return_freed_memory()
    assert calls == calls_expected


def test_nothing_loads_the_compiler_of_pytorch() -> None:
    """The compiler would take 80 MB of a server's memory."""
    script = """
import sys
import torch
from transformer.analysis.ledger import counted
from transformer.training.recipe import recipe
from transformer.training.run import Training

training = Training("reverse", recipe("reverse").replace(steps=1, batch=2, check_pairs=1))
training.advance()
counted(training.model, torch.ones(1, 3, dtype=torch.long), torch.ones(1, 3, dtype=torch.long))
print("torch._dynamo" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
