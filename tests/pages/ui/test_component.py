"""Components: their files, their shared CSS rules, and what they report."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.component import SHARED_STYLE
from tests.pages.visitor import Visitor

PAGES = Path(__file__).parents[3] / "pages"
ENTRIES = [file for file in sorted(PAGES.rglob("*.js")) if "export default" in file.read_text(encoding="utf-8")]


def test_every_js_file_is_a_component_or_imported() -> None:
    imported = "".join(file.read_text(encoding="utf-8") for file in PAGES.rglob("*.js"))
    unused = [file.name for file in PAGES.rglob("*.js") if file not in ENTRIES and f'/{file.name}"' not in imported]
    assert unused == []


def test_shared_css_rules_are_only_in_the_shared_style() -> None:
    shared = (PAGES / "ui" / "component.css").read_text(encoding="utf-8")
    components = [file for file in PAGES.rglob("*.css") if file.with_suffix(".js").exists() and file.stem != "component"]
    assert len(components) >= 8
    focus = "  outline: 3px solid var(--accent);\n  outline-offset: 1px;"
    for rule in ("--ink:", "--page:", "--accent:", "--quiet:", "font-family: var(--st-font)", focus):
        assert rule in shared
        assert [file.name for file in components if rule in file.read_text(encoding="utf-8")] == []


# JavaScript that returns the HTML of each element within a shadow root that moves by itself.
MOVING = """() => {
    const elements = (root) => [...root.querySelectorAll("*")].flatMap((element) => (
        element.shadowRoot ? elements(element.shadowRoot) : root === document ? [] : [element]));
    return elements(document).map((element) => [element, getComputedStyle(element)]).filter(([, style]) => (
        style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0) || style.animationName !== "none"
            || style.scrollBehavior !== "auto")).map(([{outerHTML}]) => outerHTML);
}"""


@pytest.mark.slow
@pytest.mark.browser
def test_nothing_in_a_component_moves_for_a_person_who_wants_less_motion(visitor: Visitor) -> None:
    visitor.page.emulate_media(reduced_motion="no-preference")
    page = visitor.open(whole=True)
    page.wait_for_function(f"({MOVING})().length")  # waits for the cards, because their script may load last
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(MOVING) == []
    page.emulate_media(reduced_motion="no-preference")


def test_no_style_of_a_component_overrides_less_motion() -> None:
    """The shared style stops all motion with `!important`, and only another `!important` could override it."""
    moving = re.compile(r"^\s*(?:transition|animation|scroll-behavior)[\w-]*:[^;]*!important", re.MULTILINE)
    stopped = {file: len(moving.findall(file.read_text(encoding="utf-8"))) for file in PAGES.rglob("*.css")}
    assert {file: count for file, count in stopped.items() if count} == {SHARED_STYLE: 3}


def test_no_script_moves_anything_for_a_visitor_who_wants_less_motion() -> None:
    """CSS cannot stop the motion of a script, so a script that animates must ask."""
    sources = {file: file.read_text(encoding="utf-8") for file in PAGES.rglob("*.js")}
    assert [file for file, source in sources.items() if re.search(r"""["']smooth["']""", source)] == []
    moving = [source for source in sources.values() if ".animate(" in source]
    assert moving
    assert all("prefers-reduced-motion: reduce" in source for source in moving)


def pick() -> None:
    """A page that writes which of its names was picked."""
    import streamlit as st

    from pages.ui.component import picked

    st.text(picked("tree", ["encoder"]))


@pytest.mark.parametrize(
    "sent", [None, [], {}, {"pick": None}, {"pick": ["encoder"]}, {"pick": "elsewhere"}, {"pick": "encoder"}]
)
def test_only_existing_names_can_be_picked(sent: object) -> None:
    app = AppTest.from_function(pick)
    app.session_state["tree"] = sent
    (picked,) = app.run().text
    assert picked.value == ("encoder" if sent == {"pick": "encoder"} else "None")
