"""Computations in the background of a session."""

import threading

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.view.background import Background, start
from pages.shell.view.runs import Report


def test_a_second_click_does_not_start_the_jobs_again() -> None:
    computations: dict[str, Background] = {}
    go_on = threading.Event()

    def job(report: Report) -> None:
        go_on.wait(30)
        report(1, 1)

    start(computations, "patch", [job], 1, "text")
    first = computations["patch"]
    start(computations, "patch", [job], 1, "text")
    assert computations["patch"] is first
    go_on.set()
    assert first.join(30)
    start(computations, "patch", [job], 1, "text")
    assert computations["patch"] is not first
    assert computations["patch"].join(30)


def test_jobs_of_another_value_end_those_that_run() -> None:
    computations: dict[str, Background] = {}
    started = threading.Event()

    def endless(report: Report) -> None:
        while True:
            started.set()
            report(0, 1)

    start(computations, "patch", [endless], 1, "one text")
    first = computations["patch"]
    assert started.wait(30)
    start(computations, "patch", [lambda report: report(1, 1)], 1, "another text")
    assert first.join(30)
    assert computations["patch"].join(30)
    assert computations["patch"].step == 1


def test_a_bug_in_a_job_gets_a_number_in_the_log_and_on_the_page(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: Report) -> None:
        raise ZeroDivisionError("a bug")

    computation = Background([broken, lambda report: report(1, 1)], 1, "text")
    assert computation.join(30)
    assert (computation.step, computation.problem) == (0, None)
    (record,) = caplog.records
    assert computation.fault in record.getMessage()
    assert record.exc_info

    def page(fault: str) -> None:
        from pages.shell.error_boundary import show_fault

        show_fault(fault)

    app = AppTest.from_function(page, kwargs={"fault": computation.fault}).run()
    assert computation.fault in app.error[0].value


def test_a_thread_that_cannot_start_does_not_stand_in_the_line() -> None:
    usual = threading.stack_size(1 << 47)  # more than the addresses of a process
    try:
        with pytest.raises(RuntimeError, match="can't start new thread"):
            Background([], 0)
    finally:
        threading.stack_size(usual)
    later = Background([lambda report: report(1, 1)], 1)
    assert later.join(30)
    assert later.step == 1
