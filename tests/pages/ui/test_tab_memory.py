"""A text that a tab of the browser stores is recalled once, even if a report of it was lost."""

from typing import Any

import pytest

from pages.ui import tab_memory as module
from pages.ui.tab_memory import recalled, tab_memory


def test_a_tab_is_asked_in_each_run_until_it_has_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {}
    mounted: list[dict[str, Any]] = []
    recalls: list[str] = []
    monkeypatch.setattr(module.st, "session_state", state)
    monkeypatch.setattr(module, "_mount", lambda **given: mounted.append(given))
    for _ in range(2):  # another page has opened before the first report arrived
        tab_memory("name", "", recalls.append, waits=True)
    assert [given["data"]["asked"] for given in mounted] == [1, 2]
    state["tab_memory_name"] = {"recall": {"text": "stored"}}
    for given in mounted:  # both reports arrive
        given["on_recall_change"]()
    assert recalls == ["stored"]
    assert recalled("name")
    tab_memory("name", "stored", recalls.append, waits=True)
    assert mounted[-1]["data"]["asked"] == 2
