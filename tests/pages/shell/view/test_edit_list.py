"""The edits of the model: they stay while a person opens other pages, and end if an address without edits is opened."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.view import edit_list


def follow() -> None:
    from pages.shell.view.edit_list import follow_edits

    follow_edits()


@pytest.mark.parametrize(
    ("from_history", "linked", "left"),
    [(False, False, ["no positions"]), (True, False, []), (True, True, ["no positions"])],
)
def test_an_address_without_edits_removes_earlier_edits(
    from_history: bool, linked: bool, left: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit_list, "opens_from_history", lambda: from_history)
    app = AppTest.from_function(follow)
    app.session_state[edit_list.KEY] = ["no positions"]
    if linked:
        app.query_params[edit_list.KEY] = "no positions"
    app.run()
    assert not app.exception
    assert app.session_state[edit_list.KEY] == left
