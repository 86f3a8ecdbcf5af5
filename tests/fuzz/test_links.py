"""Every page opened by links with hostile parameters, and with hostile texts typed in the sidebar.

The app must not raise an exception or show a fault, and the page must answer an ordinary request afterwards. For many of these
inputs, an error that the page explains is the right answer.
"""

import re
from typing import Any

import pytest
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages.shell.models.model_texts import available
from pages.ui.text import text
from tests.fuzz.hostile import EMPTY, texts, try_cases
from tests.fuzz.links import PAGES, parameters
from tests.pages.apps import on_page
from transformer import PRESETS

# Every model is in the list once. Models that are quick to build are in it more often, because a preset of the paper's size
# takes seconds.
SHIPPED = [*available()]
MODELS = [*SHIPPED * 8, *["own-sizes"] * 16, *["shared_heads"] * 4, *PRESETS]
SHARES = {
    "pages/attention/page.py": 0.08,
    "pages/layers/page.py": 0.08,
    "pages/masks/page.py": 0.07,
    "pages/positions/page.py": 0.07,
}
SMALLEST = {"n_layers": "1", "n_heads": "1", "d_model": "8", "d_ff": "8"}
FAULT = re.escape(text("common")["fault"]).partition("\\{number")[0]

Query = dict[str, str | list[str]]


@st.composite
def links(draw: st.DrawFn, names: tuple[str, ...], values: tuple[str, ...]) -> Query:
    """A link to a page with some of its parameters, and sometimes one that no page reads. Values are hostile or valid."""
    choices = text("choices")
    query: Query = {}
    for name in draw(st.lists(st.sampled_from(names), max_size=8, unique=True)):
        valid = st.sampled_from([*choices.get(name, {}), *(values or ["1"]), "true"])
        query[name] = draw(st.one_of(texts, texts, valid, valid, st.lists(st.one_of(texts, valid), max_size=4)))
    if draw(st.integers(0, 9)) == 0:
        query[draw(texts)] = draw(texts)
    parts = [value for value in values if value in choices["part"]]
    if parts and draw(st.integers(0, 3)):
        query["part"] = draw(st.sampled_from(parts))
    if draw(st.booleans()):
        query["model"] = draw(st.sampled_from(MODELS))
        if query["model"] == "own-sizes":
            query |= {name: size for name, size in SMALLEST.items() if draw(st.booleans())}
    return query


def faults(app: AppTest, log: list[str]) -> list[str]:
    """All exceptions, faults that the page apologises for, and warnings in the log. The list must be empty."""
    shown = [f"{each.message}\n{''.join(each.stack_trace)}" for each in app.exception]
    return [*shown, *(error.value for error in app.error if re.match(FAULT, error.value)), *log]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_no_link_makes_a_page_fail(page: str, log: list[str]) -> None:
    plain = on_page(page)
    title = [each.value for each in plain.title]

    def opened(query: Query) -> None:
        log.clear()
        app = on_page(page, **query)
        assert not faults(app, log)
        assert [each.value for each in app.title] == title

    try_cases(SHARES.get(page, 0.04), opened, links(*parameters(page)))
    again = on_page(page)
    assert not faults(again, log)
    assert not again.error
    assert [each.value for each in again.title] == title


@st.composite
def typed(draw: st.DrawFn) -> dict[str, str]:
    """Box of the sidebar → a text to type into it."""
    boxes = draw(st.lists(st.sampled_from(["source", "target", "batch", "batch_targets"]), min_size=1, max_size=4))
    return {
        box: draw(st.one_of(texts, texts, st.lists(texts, max_size=4).map("\n".join), st.sampled_from(EMPTY))) for box in boxes
    }


@pytest.mark.slow
@pytest.mark.parametrize("model", [*SHIPPED, "own-sizes", "shared_heads"])
def test_no_text_makes_a_page_fail(model: str, log: list[str]) -> None:
    sizes = SMALLEST if model == "own-sizes" else {}
    apps: dict[str, AppTest] = {}

    def read(page: str, boxes: dict[str, str]) -> None:
        log.clear()
        app = apps[page] = apps.get(page) or on_page(page, model=model, **sizes)
        for key, value in boxes.items():
            box: Any = next(each for each in (*app.text_input, *app.text_area) if each.key == key)
            box.set_value(value)
        del apps[page]  # after a failure, the next case starts with a new app
        assert not faults(app.run(), log)
        apps[page] = app

    try_cases(0.02, read, st.sampled_from(PAGES), typed())
    assert not on_page(PAGES[0], model=model, **sizes).error
