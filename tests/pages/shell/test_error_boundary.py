"""An unexpected error of the app: the page shows an apology with a number, and the log has the reason with this number."""

import re

import pytest

from pages.ui import head_grid
from tests.pages.apps import on_page


def test_an_unexpected_error_has_the_same_number_on_the_page_and_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret of the server")

    monkeypatch.setattr(head_grid, "parcel", fail)
    app = on_page("pages/attention/page.py", model="reverse", source="abc")
    (apology,) = (error.value for error in app.error)
    number = re.search(r"number `([0-9a-f]{8})`", apology)
    assert number
    assert "secret" not in apology
    assert not app.exception
    (record,) = (record for record in caplog.records if number[1] in record.getMessage())
    assert "'attention'" in record.getMessage()
    assert "a secret of the server" in str(record.exc_info)
