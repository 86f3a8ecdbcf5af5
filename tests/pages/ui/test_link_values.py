"""A value from a link is kept, even if the browser did not receive the first drawing of its widget."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.pages.visitor import Visitor, serving

# The second run draws the picker only when the third was requested. At the start of the third, Streamlit drops what it has not
# sent of the second. It sends at most every 10 ms, so it sends the line above the picker, and drops the picker.
SCRIPT = """
import time

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

from pages.ui.link_values import end_page, start_page, start_run
from pages.ui.pickers import pick

state = st.session_state
state["page"] = "one"
start_run()


@st.fragment
def body():
    run = state["run"] = state.get("run", 0) + 1
    requests = get_script_run_ctx().script_requests
    start_page()
    st.button("Run")
    while run == 2 and requests._state != ScriptRequestType.RERUN:
        time.sleep(0.02)
    st.text("Above the picker")
    time.sleep(0.003)
    picked = None if run == 1 else pick("Picked", ["first", "second", "third"], "picked", as_list=True)
    end_page()
    st.text(f"Run {run} has {picked}")


body()
"""


@pytest.mark.slow
@pytest.mark.browser
def test_a_value_of_a_link_survives_the_loss_of_its_first_message(known: BrowserContext, tmp_path: Path) -> None:
    script = tmp_path / "lost.py"
    script.write_text(SCRIPT, encoding="utf-8")
    with serving(script) as address:
        visitor = Visitor(known, address)
        page = visitor.page
        page.goto(f"{address}/?picked=second")
        button = page.get_by_role("button", name="Run")
        expect(page.get_by_text("Run 1 has None")).to_be_visible()
        button.click()
        button.click()
        expect(page.get_by_text("Run 3 has second")).to_be_visible()
        button.click()
        expect(page.get_by_text("Run 4 has second")).to_be_visible()
        page.get_by_role("combobox", name="Picked").click()
        page.get_by_role("option", name="third").click()
        expect(page.get_by_text("Run 5 has third")).to_be_visible()
        visitor.close()
        assert visitor.complaints == []
