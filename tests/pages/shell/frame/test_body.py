"""The body of a page: a click in it draws neither the sidebar nor the navigation again."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from benchmarks.session import At, Element, Session
from pages.shell.frame.body import COMPLETE
from pages.ui.link_values import MEMORY, Memory
from tests.pages.visitor import Visitor

MAIN, SIDEBAR = 0, 1  # the first number of an element's place


class Answer(NamedTuple):
    """What the browser receives for a click.

    Attributes:
        elements: place → element, only for the elements that the click's run sent.
        query: the parameters of the address after the run.
    """

    elements: dict[tuple[int, ...], Element]
    query: dict[str, str]


def answers(url: str, page: str, *clicks: dict[str, Any], **query: str) -> list[Answer]:
    """The answers to the clicks of a visitor without a browser."""

    async def visit() -> list[Answer]:
        session, received = Session(At(url), page, query), []
        await session.open()
        for click in clicks:
            await session.click(**click)
            received.append(Answer(session.sent, dict(session.query)))
        await session.close()
        return received

    # Run it in another thread, because Playwright's event loop runs in this one.
    with ThreadPoolExecutor() as pool:
        return pool.submit(lambda: asyncio.run(visit())).result()


@pytest.mark.slow
def test_a_click_in_the_page_sends_only_the_page(url: str) -> None:
    (run,) = answers(url, "attention", {"layer": "1"}, model="reverse", source="abc")
    assert {place[0] for place in run.elements} == {MAIN}
    assert "page_link" not in {element.kind for element in run.elements.values()}
    assert run.query["layer"] == "1"


def test_another_text_sends_the_page_and_what_to_look_for(url: str) -> None:
    example, other = answers(url, "attention", {"source": "headlight"}, {"source": "lamps"}, model="reverse", source="abc")
    for run in (example, other):
        assert "text_input" not in {element.kind for element in run.elements.values()}
        assert {place[0] for place in run.elements} >= {MAIN}
    for run, looked_for in ((example, ["alert"]), (other, [])):
        assert [element.kind for place, element in run.elements.items() if place[0] == SIDEBAR] == looked_for


@pytest.mark.slow
def test_a_text_of_an_untrained_model_sends_the_sidebar_too(url: str) -> None:
    """The sidebar has the model's number of parameters, which depends on the words of the text."""
    (run,) = answers(url, "attention", {"source": "a b c d"}, model="vanilla", source="a b")
    assert "text_input" in {element.kind for place, element in run.elements.items() if place[0] == SIDEBAR}


def app_with_a_body() -> None:
    """An app with a fragment, and a button whose callback draws only the fragment. The session counts the runs of both."""
    import streamlit as st

    from pages.shell.frame.body import BODY, draw_alone

    @st.fragment(key=BODY)
    def body() -> None:
        state["bodies"] = state.get("bodies", 0) + 1

    state = st.session_state
    state["apps"] = state.get("apps", 0) + 1
    st.button("click", on_click=draw_alone, args=(BODY,))
    body()


def test_after_an_interrupted_run_the_whole_app_is_drawn() -> None:
    app = AppTest.from_function(app_with_a_body).run()
    for complete, apps, bodies in ((False, 2, 2), (True, 2, 3)):
        app.session_state[COMPLETE] = complete
        app.button[0].click().run()
        assert not app.exception
        assert (app.session_state["apps"], app.session_state["bodies"]) == (apps, bodies)


@pytest.mark.slow
@pytest.mark.browser
def test_a_button_in_the_page_changes_the_sidebar(visitor: Visitor) -> None:
    page = visitor.open("masks?model=shared_heads&source=1+5+6+2")
    page.get_by_role("button", name="Add other texts").click()
    visitor.settle()
    page.get_by_text("More sentences: a batch").click()
    expect(page.get_by_role("textbox", name="Further source texts")).not_to_have_value("")


def interrupted() -> None:
    from pages.ui.link_values import end_page, memory, start_page

    start_page()
    memory().drawn.add("row")  # another click then interrupts the run before `end_page`
    start_page()
    memory().drawn.add("layer")
    end_page()


def test_an_interrupted_run_does_not_lose_the_names_of_drawn_widgets() -> None:
    app = AppTest.from_function(interrupted)
    app.session_state[MEMORY] = Memory(drawn={"layer", "head"})
    app.query_params |= {"layer": "2", "head": "3", "row": "1"}
    app.run()
    assert not app.exception
    assert app.query_params == {"layer": "2"}


def undrawn() -> None:
    from pages.ui.link_values import end_page, start_page, start_run

    start_run()
    start_page()
    end_page()


def test_a_part_that_a_link_names_stays_until_its_page_draws_it() -> None:
    """The previous page had a widget with the same name. The new page draws its parts only when they come on screen."""
    app = AppTest.from_function(undrawn)
    app.session_state[MEMORY], app.session_state["page"] = Memory(page="tokens", drawn={"part"}), "attention"
    app.query_params["part"] = "what-if"
    app.run()
    assert not app.exception
    assert app.query_params == {"part": "what-if"}


def test_a_session_keeps_the_elements_that_a_click_does_not_send(url: str) -> None:
    """After clicks in the page and in the sidebar, the client of the benchmarks has the same elements as after a run of the
    whole app."""

    async def visit() -> tuple[dict[tuple[int, ...], Element], dict[tuple[int, ...], Element], int]:
        session = Session(At(url), "attention", {"model": "reverse", "source": "headlight"})
        await session.open()
        await session.click(layer="2")
        await session.click(source="lamps")
        shown, sent = session.elements, len(session.sent)
        await session.rerun()
        await session.close()
        return shown, session.elements, sent

    with ThreadPoolExecutor() as pool:
        shown, whole, sent = pool.submit(lambda: asyncio.run(visit())).result()
    assert shown == whole
    assert sent < len(whole)
