"""The views and messages of the Attention page, without a browser."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from pages.attention.lines_view import is_switched_off
from pages.ui.format import number
from pages.ui.head_grid import strongest_rows
from pages.ui.text import text
from tests.pages.apps import charts, notes, on_page, shown, shown_errors, unfold
from tests.pages.visitor import Visitor
from transformer import Pipeline

PAGE = "pages/attention/page.py"
# Unreadable input → a part of its error message.
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
    return [heading.value for heading in app.header]


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in (*app.markdown, *app.caption, *app.info))


def alerts(app: AppTest) -> str:
    assert not app.exception
    return " ".join(shown(alert.value) for alert in (*app.error, *app.warning, *app.info))


@pytest.mark.slow
def test_the_page_says_why_cells_have_no_number_if_any_has_none() -> None:
    says = text("attention")["unwritten"].format(least=0.005)
    assert says in texts(opened(source="abcd", kind="cross", layer="2", head="1"))
    assert says not in texts(opened(source="a", model="own-sizes", kind="cross"))  # untrained: no weight is small


def test_a_token_of_the_answer_has_the_step_that_writes_it() -> None:
    """The same number as on Patching and Watch it write, where steps are counted from 1."""
    app = opened(source="abcd", part="what-if")
    assert list(app.segmented_control(key="position").options) == ["1: d", "2: c", "3: b", "4: a", "5: <eos>"]


def test_the_page_opens_on_the_head_that_the_card_names_and_describes_its_picture_in_words() -> None:
    """First the head that attends most along the diagonal; a button opens the one that finds what *it* refers to."""
    app = on_page(PAGE, model="english-french")
    measures, title = Pipeline.load("english-french").card.measures, text("attention")["head_title"]
    straight, turning = measures["strongest"]["cross"]["diagonal"], measures["pronouns"]
    assert title.format(kind="Cross-attention", layer=straight["layer"], head=straight["head"]) in headings(app)
    app.button(key="turning").click().run()
    assert title.format(kind="Cross-attention", layer=turning["layer"], head=turning["head"]) in headings(app)
    assert not [each for each in app.button if each.key == "turning"]
    weights = np.array([[0.1, 0.9], [0.96, 0.04]], dtype=np.float32)
    everywhere = np.ones((2, 2), dtype=bool)
    said = strongest_rows(weights, everywhere, ("il", "fatigué"), ("animal", "street"))
    assert said == "The largest weights: row 1: fatigué puts 0.96 on 0: animal; row 0: il puts 0.90 on 1: street."
    told = [chart.alt for chart in charts(app) if "The largest weights: row" in chart.alt]
    assert len(told) == 1


def test_the_description_mentions_equal_and_hidden_weights() -> None:
    weights, allowed = np.full((2, 3), 1 / 3, dtype=np.float32), np.array([[True, True, True], [False, False, False]])
    said = strongest_rows(weights, allowed, ("a", "b"), ("x", "y", "z"))
    assert said == "The largest weights: row 0: a puts 0.33 on 0: x (and on 2 more)."
    assert strongest_rows(weights, np.zeros_like(allowed), ("a", "b"), ("x", "y", "z")) == "No row may look at anything."


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("model", [name for name in Pipeline.available() if not name.startswith("english-french")])
def test_the_page_opens_on_the_head_that_finds_what_its_task_needs(model: str) -> None:
    measures = Pipeline.load(model).card.measures
    aligned = measures.get("alignment") or measures["strongest"]["cross"]["alignment"]
    place = text("attention")["head_title"].format(kind="Cross-attention", layer=aligned["layer"], head=aligned["head"])
    assert place in headings(on_page(PAGE, model=model))


def test_a_note_on_an_unreadable_text_names_what_is_allowed() -> None:
    app = opened()
    for typed, answer in UNREADABLE.items():
        app.text_area(key="source").set_value(typed).run()
        assert any(answer in note for note in notes(app)), typed


def test_an_invalid_edit_shows_an_error_that_names_what_is_allowed() -> None:
    app = opened(source="abcd", part="what-if", edits="make tea")
    assert "silence KIND layer N" in shown_errors(app)
    app = opened(source="abcd", part="what-if", edits="block cross layer 1 query 99 key 0")
    assert "the target has 5 tokens; allowed are 0 to 4" in shown_errors(app)


def test_a_link_with_invalid_values_opens_the_first_view() -> None:
    app = opened(model="nobody", layer="99", head="-1", kind="sideways")
    assert shown_errors(app) == ""
    assert headings(app) == headings(opened(model="english-french"))


def test_teacher_forcing_shows_the_typed_target_on_the_axis() -> None:
    app = opened(kind="cross", source="abc", target="xyz")
    axis = charts(app)[0].spec["layout"]["yaxis"]
    assert axis["ticktext"] == ["&lt;sos&gt; → x", "x → y", "y → z", "z → &lt;eos&gt;"]
    assert "teacher forcing" in texts(app)


@pytest.mark.parametrize("look", ["lines", "pattern", "steps", "combined", "what-if", "map"])
def test_every_view_of_a_head_is_drawn(look: str) -> None:
    app = opened(kind="cross", source="abc", part=look)
    assert shown_errors(app) == ""
    keys = {each.key for each in app.get("bidi_component")}
    drawn = {"pattern": app.metric, "what-if": app.multiselect, "lines": keys & {"lines-cross"}}
    assert drawn.get(look, [each for each in charts(app) if each.key != "picked-head"])


def test_a_link_opens_the_computation_of_a_number_of_a_step() -> None:
    cell = {"part": "steps", "step": "scores", "cell_row": "1 · c", "cell_column": "2 · b", "row": "1 · c"}
    app = opened(kind="cross", layer="2", head="3", source="abc", **cell)
    sums = re.search(r"sum = (\S+); the model computed (\S+)\.", texts(app).replace("*", ""))
    assert sums
    assert sums[1] == sums[2]
    assert "How well the key of" in texts(app)


def test_the_steps_follow_the_query_for_which_the_card_names_the_head() -> None:
    """The followed row is the one that predicts the pronoun. The picker names the steps in words. No picker below the picture
    picks a number: a click on a cell does."""
    app = opened(model="english-french", part="steps", step="weights", layer="1", head="2")
    assert not app.exception
    followed, row, column = (app.session_state[key] for key in ("query", "row", "column"))
    assert followed == row
    assert column == 0
    drawn = {chart.key: chart.spec for chart in charts(app)}
    assert drawn["step-weights"]["data"][-1]["y"][followed].endswith("qu' → il")
    assert "steps" not in drawn  # one picture at a time
    assert {each.key for each in app.selectbox}.isdisjoint({"query", "row", "column"})
    steps = next(group for group in app.button_group if group.key == "step")
    assert "Scaled scores" in steps.options
    assert not [name for name in steps.options if "_" in name]
    app.button(key="all_matrices").click().run()
    assert "steps" in [chart.key for chart in charts(app)]
    app = unfold(app, "all_steps")
    assert text("steps")["steps"]["scaled_scores"]["why"] in texts(app)


def test_a_link_with_a_number_outside_of_the_matrix_of_a_step_opens_its_first_number() -> None:
    app = opened(source="abc", part="steps", step="weights", query="99", row="99", column="-1")
    assert shown_errors(app) == ""
    assert app.session_state["row"] == app.session_state["query"]
    assert app.session_state["column"] == 0
    app = opened(source="abc", part="steps", step="weights", query="2", row="3", column="1")
    assert [app.session_state[name] for name in ("query", "row", "column")] == [2, 3, 1]


@pytest.mark.slow
def test_a_link_with_a_row_alone_follows_this_row() -> None:
    """`row` names the row of a number. Where rows are queries, it is also the row to follow; where they are keys, it is not."""
    first = opened(source="abcdef", part="steps").session_state["query"]
    row = 5 if first != 5 else 4
    for link in ({"step": "weights", "row": str(row)}, {"row": str(row)}):
        app = opened(source="abcdef", part="steps", **link)
        assert app.session_state["query"] == row
        assert (app.query_params["query"], "row" in app.query_params) == (str(row), False)
    app = opened(source="abcdef", part="steps", step="key", row=str(row))
    assert [app.session_state[name] for name in ("query", "row")] == [first, row]
    app = opened(source="abcdef", part="steps", step="weights", row="99")
    assert app.session_state["query"] == app.session_state["row"] == first
    assert "row=99" in shown(app.toast[0].value)


@pytest.mark.slow
def test_a_large_map_and_the_steps_follow_the_same_row(tmp_path: Path, name_folders: Callable[..., None]) -> None:
    tiny = pytest.importorskip("tests.transformer.huggingface.tiny", reason="transformers is not installed")
    folder = tmp_path / "long"
    tiny.save_model("bert", folder, max_position_embeddings=200)
    tiny.save_tokenizer(folder)
    name_folders(folder)
    app = opened(model="long", source="the cat sleeps . " * 40, row="7")
    assert shown_errors(app) == ""
    assert app.slider(key="query").value == 7  # an older link names the row of a large map so
    hidden = opened(model="long", source="the cat sleeps . " * 40, query="7", hide_special="true")
    assert "row 7: ." in shown(texts(hidden))
    app.slider(key="query").set_value(9).run()
    app.session_state["part"] = "steps"
    assert app.run().query_params["query"] == "9"
    app.session_state["step"] = "weights"
    assert app.run().session_state["query"] == app.session_state["row"] == 9
    app.session_state["part"] = "map"
    assert app.run().slider(key="query").value == 9


def test_a_head_is_switched_off_only_if_it_was_on() -> None:
    assert is_switched_off(before=(0, 1), on=(1,), head=0)
    assert not is_switched_off(before=(0, 1), on=(0,), head=0)
    assert not is_switched_off(before=(0,), on=(), head=0)  # no head is left that could be picked instead
    assert not is_switched_off(before=(1,), on=(1, 2), head=3)  # picked before the browser has reported head 2


@pytest.mark.slow
@pytest.mark.browser
def test_a_click_on_a_weight_opens_its_computation(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&source=abc&kind=encoder")  # the part with the computation is not drawn yet
    chart = page.locator(".st-key-head-map .chart")
    chart.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight"):  # row 2, column 1
        page.keyboard.press(key)
    expect(chart.locator(".hovertext")).to_contain_text("2: b")
    page.keyboard.press("Enter")
    visitor.settle()
    assert {"part=steps", "step=weights", "query=2", "column=1"} <= {*page.url.partition("?")[2].split("&")}
    opened = page.locator(".st-key-card-step")
    expect(opened).to_be_focused()
    expect(opened.locator(".katex").first).to_be_in_viewport()
    weight = Pipeline.load("reverse").trace("abc").head("encoder", 0, 0)[2, 1]
    expect(page.get_by_text(f"{number(float(weight))}; the model computed").first).to_be_visible()
    # In the picture at reading size, a number of the next row.
    chart = page.locator(".st-key-step-weights .chart")
    chart.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    visitor.settle()
    assert {"step=weights", "query=3", "column=1"} <= {*page.url.partition("?")[2].split("&")}
    # In the pictures of all steps, another number: the first of the first step.
    page.get_by_role("button", name=text("steps")["back"]).click()
    visitor.settle()
    chart = page.locator(".st-key-steps .chart")
    chart.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    visitor.settle()
    assert "step=input" in page.url


def test_tokens_keep_their_positions_if_special_tokens_are_hidden() -> None:
    query = {"model": "english-french", "source": "the cat sleeps .", "kind": "encoder"}
    whole, hidden = opened(**query), opened(hide_special="true", **query)
    (all_names,), (names,) = (
        [each.spec["data"][0]["x"] for each in charts(app) if each.key == "head-map"] for app in (whole, hidden)
    )
    assert all_names == ["0: &lt;sos&gt;", "1: the", "2: cat", "3: sleeps", "4: .", "5: &lt;eos&gt;"]
    assert names == all_names[1:5]
    query |= {"kind": "decoder", "target": "le chat dort ."}
    (drawn,) = (each for each in charts(opened(hide_special="true", **query)) if each.key == "head-map")
    numbers, layout = drawn.spec["data"][-1], drawn.spec["layout"]
    expected = ["1: le", "2: chat", "3: dort", "4: ."]
    assert numbers["x"] == layout["xaxis"]["categoryarray"] == expected
    assert [name.partition(" → ")[0] for name in numbers["y"]] == expected
    assert layout["yaxis"]["categoryarray"] == numbers["y"]
    rows = re.findall(r"row (\d+): (\w+|\.)", drawn.alt)
    assert rows
    assert {f"{row}: {token}" for row, token in rows} <= {*expected}


def test_an_unknown_word_stays_if_special_tokens_are_hidden() -> None:
    app = opened(model="english-french", source="the catt sleeps .", kind="encoder", hide_special="true")
    (drawn,) = (each for each in charts(app) if each.key == "head-map")
    assert [name.partition(": ")[2] for name in drawn.spec["data"][0]["x"]] == ["the", "&lt;unk&gt;", "sleeps", "."]
