"""The Attention page without a browser: what it draws and answers needs no script."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.apps import on_page, said, shown

PAGE = "pages/attention/page.py"
# Each input that the model cannot read, and what the page answers.
UNREADABLE = {
    "": "There is nothing to read in your text",
    "ab3": "“3”, which this model does not know",
    "🙂": "1 to 12 letters from a to z",
    "<script>alert(1)</script>": "“<”, which this model does not know",
    "x" * 70: "this model reads up to 62",
}


def opened(**query: str) -> AppTest:
    return on_page(PAGE, **{"model": "reverse", **query})


def headings(app: AppTest) -> list[str]:
    return [heading.value for heading in app.subheader]


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in (*app.markdown, *app.caption, *app.info))


def alerts(app: AppTest) -> str:
    assert not app.exception
    return " ".join(shown(alert.value) for alert in (*app.error, *app.warning, *app.info))


def test_a_text_the_model_cannot_read_is_answered_with_what_it_can() -> None:
    app = opened()
    for typed, answer in UNREADABLE.items():
        app.sidebar.text_input(key="source").set_value(typed).run()
        assert answer in alerts(app), typed


def test_an_edit_that_cannot_be_made_is_answered_with_what_is_allowed() -> None:
    app = opened(source="abcd", part="what-if", edits="make tea")
    assert "silence KIND layer N" in said(app)
    app = opened(source="abcd", part="what-if", edits="block cross layer 1 query 99 key 0")
    assert "the target has 5 tokens; allowed are 0 to 4" in said(app)


def test_a_link_with_nonsense_opens_the_first_view() -> None:
    app = opened(model="nobody", layer="99", head="-1", kind="sideways")
    assert said(app) == ""
    assert "Encoder self-attention, layer 1, head 1" in headings(app)


def test_teacher_forcing_puts_the_typed_target_on_the_axis() -> None:
    app = opened(kind="cross", source="abc", target="xyz")
    axis = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["yaxis"]
    assert axis["ticktext"] == ["&lt;sos&gt;", "x", "y", "z"]
    assert "teacher forcing" in texts(app)


@pytest.mark.parametrize("look", ["lines", "pattern", "steps", "combined", "what-if", "map"])
def test_every_way_to_look_at_a_head_is_drawn(look: str) -> None:
    app = opened(kind="cross", source="abc", part=look)
    assert said(app) == ""
    drawn = {"lines": "bidi_component", "pattern": "metric", "what-if": "multiselect"}.get(look, "plotly_chart")
    assert len(app.get(drawn)) >= (2 if look == "lines" else 1)


def test_a_number_of_a_step_is_worked_out_by_a_link() -> None:
    cell = {"part": "steps", "step": "scores", "cell_row": "1 · c", "cell_column": "2 · b", "row": "1 · c"}
    app = opened(kind="cross", layer="2", head="3", source="abc", **cell)
    sums = re.search(r"sum = (\S+); the model computed (\S+)\.", texts(app).replace("*", ""))
    assert sums
    assert sums[1] == sums[2]
    assert "How well the key of" in texts(app)
