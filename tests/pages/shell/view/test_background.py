"""Computations in the background of a session."""

import threading

import pytest

from pages.shell.view import background
from pages.shell.view.background import Background
from pages.shell.view.runs import Report


def test_a_second_click_does_not_start_the_jobs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    computations: dict[str, Background] = {}
    monkeypatch.setattr(background, "computations", lambda: computations)
    go_on = threading.Event()

    def job(report: Report) -> None:
        go_on.wait(30)
        report(1, 1)

    background._start("patch", [job], 1)
    first = computations["patch"]
    background._start("patch", [job], 1)
    assert computations["patch"] is first
    go_on.set()
    assert first.join(30)
    background._start("patch", [job], 1)
    assert computations["patch"] is not first
    assert computations["patch"].join(30)


def test_a_thread_that_cannot_start_does_not_stand_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError):
        Background([], 0)
    assert background._LINE == []
