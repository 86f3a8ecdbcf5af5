"""A text that a tab of the browser stores is recalled once, even if a report of it was lost or malformed."""

import json

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    """A page that recalls a text, with a button that does what a report of the tab does."""
    import streamlit as st

    from pages.ui.tab_memory import tab_memory, take_report

    recalls = st.session_state.setdefault("recalls", [])
    tab_memory("name", "", recalls.append, waits=True)
    st.button("report", on_click=take_report, args=("name", recalls.append))


def asked(app: AppTest) -> int:
    """How many runs have asked the tab, as its script is told."""
    assert not app.exception
    (component,) = app.get("bidi_component")
    return json.loads(component.proto.json)["asked"]


def test_a_tab_is_asked_in_each_run_until_it_has_reported() -> None:
    app = AppTest.from_function(page)
    assert [asked(app.run()) for _ in range(2)] == [1, 2]  # another page has opened before the first report arrived
    app.session_state["tab_memory_name"] = {"recall": {"text": "stored"}}
    for _ in range(2):  # both reports arrive
        app.button[0].click().run()
        assert app.session_state["recalls"] == ["stored"]
        assert asked(app) == 2


@pytest.mark.parametrize("report", [None, "stored", {}, {"text": 1, "forbidden": True}, {"forbidden": True}])
def test_a_malformed_report_is_ignored(report: object) -> None:
    app = AppTest.from_function(page).run()
    for sent, recalls in ((report, []), ({"text": "stored", "forbidden": False}, ["stored"])):
        app.session_state["tab_memory_name"] = {"recall": sent}
        app.button[0].click().run()
        assert app.session_state["recalls"] == recalls
        assert ("tab_recalled name" in app.session_state) == bool(recalls)
        assert "tab_forbidden" not in app.session_state or not app.session_state["tab_forbidden"]
