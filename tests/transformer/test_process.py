"""Tests of what a program sets for its process."""

import threading

import pytest
import torch

from transformer import process


@pytest.mark.parametrize(("libc", "settings"), [("glibc", [(-1, 1 << 30), (-3, 32 << 20)]), ("musl", [])])
def test_freed_memory_is_reused_with_glibc_only(libc: str, settings: list, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []

    class Library:
        def mallopt(self, name: int, value: int) -> None:
            calls.append((name, value))

    monkeypatch.setattr(process.platform, "libc_ver", lambda: (libc, "1"))
    monkeypatch.setattr(process.ctypes, "CDLL", lambda _: Library())
    process.reuse_freed_memory()
    assert calls == settings


def test_threads_hold_in_every_thread() -> None:
    before, counts = torch.get_num_threads(), []
    try:
        process.use_threads(2)
        thread = threading.Thread(target=lambda: counts.append(torch.get_num_threads()))
        thread.start()
        thread.join()
    finally:
        process.use_threads(before)
    assert counts == [2]
