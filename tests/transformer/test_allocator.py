"""Tests of the settings of the C library's allocator."""

import pytest

from transformer import allocator


@pytest.mark.parametrize(("libc", "settings"), [("glibc", [(-1, 1 << 30), (-3, 32 << 20)]), ("musl", [])])
def test_freed_memory_is_reused_with_glibc_only(libc: str, settings: list, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []

    class Library:
        def mallopt(self, name: int, value: int) -> None:
            calls.append((name, value))

    monkeypatch.setattr(allocator.platform, "libc_ver", lambda: (libc, "1"))
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda _: Library())
    allocator.reuse_freed_memory()
    assert calls == settings
