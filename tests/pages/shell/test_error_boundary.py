"""An unexpected error of the app: the page shows an apology with a number, and the log has the reason with this number."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.frame.navigation import page_files


def failing_page() -> None:
    from pages.shell.error_boundary import explained

    with explained():
        raise ZeroDivisionError("a secret of the server")


def test_an_unexpected_error_has_the_same_number_on_the_page_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    app = AppTest.from_function(failing_page)
    app.session_state["page"] = "attention"
    app.run()
    (apology,) = (error.value for error in app.error)
    number = re.search(r"number `([0-9a-f]{8})`", apology)
    assert number
    assert "secret" not in apology
    assert not app.exception
    (record,) = (record for record in caplog.records if number[1] in record.getMessage())
    assert "'attention'" in record.getMessage()
    assert "a secret of the server" in str(record.exc_info)


def test_every_page_is_drawn_within_the_boundary() -> None:
    assert [file for file in page_files() if "with explained():" not in file.read_text(encoding="utf-8")] == []
