"""A second run beside that of the page: on five pages, from the link, with one cursor for A, B and B − A."""

import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from pages.shell.view.second_run import MENU, MOST_EDITS, Asked
from pages.shell.view.two_runs import KEY
from pages.ui.limits import TEXT_CHARACTERS
from pages.ui.link_values import SECOND_RUN
from pages.ui.text import text
from tests.fuzz.hostile import MARKUP
from tests.pages.apps import SentChart, charts, on_page, shown, shown_errors, unfold
from tests.pages.explained import explained
from tests.pages.visitor import Visitor
from transformer import Pipeline
from transformer.tasks import find_task

PAGES = ("attention", "layers", "tokens", "positions", "decoding")
TIRED, WIDE = (example.source for example in find_task("english-french").examples[:2])
SHORT = "the cat sleeps ."


def opened(page: str, **query: str) -> AppTest:
    return on_page(f"pages/{page}/page.py", **query)


def figure(app: AppTest) -> SentChart | None:
    return next((chart for chart in charts(app) if chart.key == KEY), None)


def maps(app: AppTest) -> list[Any]:
    """The numbers of A, of B and of B − A."""
    chart = figure(app)
    assert chart
    return [np.array(chart.spec["data"][at]["z"]) for at in chart.spec["layout"]["meta"]["together"]]


def said(app: AppTest) -> str:
    assert not app.exception
    return shown("\n".join(each.value for each in (*app.markdown, *app.caption, *app.info, *app.warning)))


def linked(app: AppTest) -> dict[str, str]:
    """What the address has of the second run."""
    query = {name: app.query_params[name] for name in SECOND_RUN if name in app.query_params}
    return {name: value[0] if isinstance(value, list) else value for name, value in query.items()}


# --- the pages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_a_page_without_a_second_run_has_one_button_and_a_clean_link(page: str) -> None:
    app = opened(page)
    assert figure(app) is None
    assert linked(app) == {}
    assert not {*SECOND_RUN} & {each.key for each in (*app.text_input, *app.selectbox, *app.multiselect)}
    (button,) = [each for each in app.get("popover") if each.proto.popover.label == text("second_run")["compare"]]
    assert not button.children


@pytest.mark.parametrize("page", PAGES)
def test_a_page_draws_both_runs_of_a_link(page: str) -> None:
    app = opened(page, b=WIDE)
    assert shown_errors(app) == ""
    assert linked(app) == {"b": WIDE}
    lines = said(app)
    assert f"A** · {TIRED[:-5]}**tired** → l'animal n'a pas traversé la rue parce **qu'il** était trop **fatigué**" in lines
    assert f"B** · {TIRED[:-5]}**wide** → l'animal n'a pas traversé la rue parce **qu'elle** était trop **large**" in lines
    assert (figure(app) is None) == (page == "positions")  # the same positions have the same vectors
    assert (text("second_run")["equal"] in lines) == (page == "positions")


def test_attention_shows_the_weights_of_the_picked_head() -> None:
    a, b, change = maps(opened("attention", b=WIDE, kind="encoder", layer="2", head="3"))
    pipeline = Pipeline.load("english-french")
    first, second = (pipeline.trace(source).head("encoder", 1, 2).numpy() for source in (TIRED, WIDE))
    np.testing.assert_allclose(a, first, atol=1e-6)
    np.testing.assert_allclose(b, second, atol=1e-6)
    np.testing.assert_allclose(change, second - first, atol=1e-6)


def test_the_last_row_of_the_decoder_is_named_by_the_end_that_it_writes() -> None:
    chart = figure(opened("attention", b=WIDE, kind="cross"))
    assert chart
    names = [trace["y"][-1] for trace in chart.spec["data"] if "y" in trace]
    assert {unescape(name) for name in names if "→" in name} == {"14: fatigué → <eos> / large → <eos>"}


@pytest.mark.slow
def test_attention_says_which_head_changes_most_and_opens_it() -> None:
    app = opened("attention", b=WIDE, kind="encoder", layer="2", head="3")
    traces = [Pipeline.load("english-french").trace(source) for source in (TIRED, WIDE)]
    kinds = ("encoder", "decoder", "cross")
    largest = {kind: (traces[1].attention(kind) - traces[0].attention(kind)).abs().amax((1, 3, 4)) for kind in kinds}
    kind = max(kinds, key=lambda name: float(largest[name].max()))
    layer, head = divmod(int(largest[kind].argmax()), largest[kind].shape[1])
    words = text("attention")
    title = words["head_title"].format(kind=words["kinds"][kind], layer=layer + 1, head=head + 1)
    here, most = (f"{float(value):.2f}" for value in (largest["encoder"][1, 2], largest[kind].max()))
    assert shown(words["changes_more"].format(here=here, head=title, most=most)) in said(app)
    app = press(app, words["changes_open"])
    assert f"**{title}**" in said(app)  # above the three maps
    assert shown(words["changes_most"].format(here=most)) in said(app)


def test_texts_of_different_lengths_are_aligned_by_words() -> None:
    app = opened("attention", b="the animal did not cross the street because it was wide", kind="encoder")
    assert "word by word, because the source has 14 tokens in A and 13 in B" in said(app)
    a, b, change = maps(app)
    assert a.shape == b.shape == change.shape == (14, 14)
    assert np.isnan(b).sum() == 14 * 14 - 13 * 13
    assert not np.isnan(a).any()


@pytest.mark.slow
def test_layers_shows_the_tensor_of_the_walk() -> None:
    app = opened("layers", b=WIDE, stop="encoder.layers.0.feed_forward.hidden")
    path = "encoder.layers.0.feed_forward.hidden"
    first, second = (Pipeline.load("english-french").trace(source)[path].numpy()[0] for source in (TIRED, WIDE))
    columns = [int(name) for name in figure_names(app)]  # of a wide tensor, those that differ most
    assert len(columns) < first.shape[1]
    np.testing.assert_allclose(maps(app)[2], (second - first)[:, columns], atol=1e-5)
    assert np.abs(second - first).max(0)[columns].min() >= np.median(np.abs(second - first).max(0))
    one = maps(opened("layers", b=WIDE, stop="encoder.layers.0.self_attention.weights", head="2"))
    assert one[0].shape == (14, 14)


def figure_names(app: AppTest) -> list[str]:
    chart = figure(app)
    assert chart
    return chart.spec["layout"]["xaxis"]["ticktext"]


@pytest.mark.parametrize("page", ["tokens", "layers"])
def test_only_the_first_text_of_a_batch_is_compared(page: str) -> None:
    app = opened(page, b=WIDE, batch=SHORT)
    assert said(app).count(text("second_run")["first_alone"]) == 1
    assert maps(app)[0].shape[0] == 14


def compare_first_of_two() -> None:
    """A page that computes the difference of two runs, the first of a batch, and draws nothing."""
    import streamlit as st

    from pages.shell.view.second_run import Asked, second_run
    from pages.shell.view.two_runs import difference_of
    from pages.shell.view.view import view_of

    view = view_of("reverse", ("abc", "abcd"), (None, None))
    difference = difference_of(view, view.batch_trace(), second_run(view, Asked(source="abd")))
    st.session_state["places"] = len(difference.tokens_of("source"))


def test_the_difference_of_a_batch_is_computed_without_drawing() -> None:
    app = AppTest.from_function(compare_first_of_two).run(timeout=60)
    assert not app.exception
    assert app.session_state["places"] == 5  # with <sos> and <eos>
    assert not app.main.children


def test_a_button_opens_the_step_at_which_the_answers_part() -> None:
    app = press(opened("decoding", b=WIDE), text("second_run")["open_step"].format(step=11))
    assert app.query_params["step"] in ("11", ["11"])
    assert not [each for each in app.button if each.key == "open_step"]


def test_watch_it_write_compares_the_step_that_is_shown() -> None:
    app = opened("decoding", b=WIDE, step="11")
    assert "Step 11: both have written the same so far. They write different tokens from step 11 on." in said(app)
    chart = figure(app)
    assert chart
    bars = [np.array(bar["y"]) for bar in chart.spec["data"]]
    names = chart.spec["layout"]["xaxis"]["ticktext"]
    a, b, change = ({name: values[names.index(name)] for name in ("il", "elle")} for values in bars)
    assert a["il"] > 0.9 > 0.1 > a["elle"]
    assert b["elle"] > 0.9 > 0.1 > b["il"]
    assert change["elle"] == pytest.approx(b["elle"] - a["elle"], abs=1e-6)
    assert "B ended before step 11" in said(opened("decoding", b=SHORT, step="11"))


# --- what B has of its own ---------------------------------------------------------------------------------------------


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"b_model": "english-french-redundant"}, "model english-french-redundant"),
        ({"model": "reverse", "b_model": "reverse@000000"}, "model reverse@000000"),
        ({"b_edits": "silence cross layer 2 head 1;no positions"}, "edits: silence cross layer 2 head 1, no positions"),
        ({"b_target": "le chat dort"}, "reads le chat dort"),
        ({"target": "le chat dort", "b_answer": "true"}, "reads its own answer"),
    ],
)
def test_another_model_snapshot_edit_or_target(query: dict[str, str], words: str) -> None:
    app = opened("attention", **query)
    assert shown_errors(app) == ""
    assert words in said(app)
    assert np.abs(np.nan_to_num(maps(app)[2])).max() > 0.001


def test_an_equal_second_run_is_called_equal() -> None:
    for page in PAGES:
        assert text("second_run")["equal"] in said(opened(page, b=TIRED)), page


HOSTILE: dict[str, dict[str, str]] = {
    "There is no model": {"b_model": "nobody"},
    "too many": {"b_edits": ";".join(f"silence cross layer 1 head {at}" for at in range(MOST_EDITS + 1))},
    "is not an edit": {"b_edits": "make tea"},
    "There is no head 99": {"b_edits": "silence cross layer 1 head 99"},
    "has no layer 9": {"b_edits": "silence encoder layer 9"},
    "this model reads up to 62": {"b": "x" * 70, "model": "reverse"},
    "cannot be compared": {"b_model": "vanilla", "b": "a b"},
}


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(("words", "query"), HOSTILE.items(), ids=HOSTILE)
def test_an_impossible_second_run_is_one_sentence_beside_the_page_of_a(words: str, query: dict[str, str]) -> None:
    app = opened("attention", **query)
    errors = shown_errors(app)
    assert words.replace("too many", f"up to {MOST_EDITS}") in errors
    assert len(app.error) == 1
    alone = opened("attention", **({"model": query["model"]} if "model" in query else {}))
    assert [each.value for each in app.header] == [each.value for each in alone.header]
    assert [chart.key for chart in charts(app)] == [chart.key for chart in charts(alone)]


def test_a_tensor_of_another_size_is_refused_in_a_sentence_that_names_the_size() -> None:
    app = opened("layers", b="abc", b_model="reverse")
    assert "The size of d_model is 128 in A and 64 in B, so B − A cannot be computed." in shown_errors(app)


def test_an_unknown_word_of_b_is_named() -> None:
    app = opened("attention", b="the zebra sleeps .", b_target="le zèbre")
    assert "The source has “zebra”, which this model does not know" in said(app)
    assert "The target has “zèbre”, which this model does not know" in said(app)
    assert figure(app)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("page", PAGES)
def test_markup_and_long_values_of_a_link_break_no_page(page: str) -> None:
    for nasty in (MARKUP[0], "x" * (TEXT_CHARACTERS + 50), "\n\t ", "a\u202eb"):
        app = opened(page, b=nasty, b_target=nasty, b_model=nasty, b_edits=nasty)
        assert len(app.error) <= 1
        assert not app.exception
        assert len(linked(app).get("b", "")) <= TEXT_CHARACTERS


# --- the menu ----------------------------------------------------------------------------------------------------------


def press(app: AppTest, label: str) -> AppTest:
    (button,) = [each for each in app.button if each.label == label]
    return button.click().run()


def test_the_example_puts_tired_beside_wide() -> None:
    app = unfold(opened("attention", source=SHORT), MENU)
    app = press(app, "tired / wide")
    assert app.session_state["source"] == TIRED
    assert linked(app) == {"b": WIDE}
    assert figure(app)


def test_the_head_that_turns_is_one_example() -> None:
    app = press(unfold(opened("attention", kind="encoder"), MENU), text("second_run")["turning"])
    named = Pipeline.load("english-french").card.measures["pronouns"]
    assert linked(app) == {"b": WIDE}
    assert [app.session_state[name] for name in ("kind", "layer", "head")] == ["cross", named["layer"], named["head"]]


def test_the_snapshot_before_training_reads_the_answer_of_the_trained_model() -> None:
    app = press(unfold(opened("attention", model="reverse", source="abcd"), MENU), text("second_run")["before"])
    assert linked(app) == {"b_target": "dcba", "b_model": "reverse@000000"}
    assert "token by token" in said(app)
    assert not np.isnan(maps(app)[2]).any()


def test_what_is_typed_in_the_menu_is_compared_and_is_in_the_link() -> None:
    app = unfold(opened("attention"), MENU)
    app.text_input(key="b").set_value(WIDE)
    app.selectbox(key="b_model").set_value("english-french-redundant")
    app.multiselect(key="b_edits").set_value(["silence cross layer 1", "no positions"]).run()
    asked = {"b": WIDE, "b_model": "english-french-redundant", "b_edits": "silence cross layer 1;no positions"}
    assert linked(app) == asked
    app = app.switch_page("pages/masks/page.py").run()  # has no second run
    app = app.switch_page("pages/layers/page.py").run()
    assert linked(app) == asked
    assert figure(app)


def test_swap_exchanges_both_runs_and_swapping_again_restores_them() -> None:
    query = {"target": "le chat dort", "b": WIDE, "b_answer": "true", "b_model": "english-french-redundant"}
    app = unfold(opened("attention", **query), MENU)
    before = maps(app)
    app = press(app, text("second_run")["swap"])
    assert (app.session_state["source"], app.session_state["model"]) == (WIDE, "english-french-redundant")
    assert app.session_state["target"] == ""
    assert linked(app) == {"b": TIRED, "b_target": "le chat dort", "b_model": "english-french"}
    head = {name: app.query_params[name] for name in ("kind", "layer", "head") if name in app.query_params}
    app = press(unfold(app, MENU), text("second_run")["swap"])
    assert app.session_state["target"] == "le chat dort"
    assert linked(app) == {name: value for name, value in query.items() if name != "target"}
    if not head:
        np.testing.assert_array_equal(maps(app)[0], before[0])


def test_a_model_of_own_sizes_cannot_be_swapped_because_only_a_can_have_its_sizes() -> None:
    app = unfold(opened("attention", model="own-sizes", n_heads="8", b=WIDE, b_model="reverse"), MENU)
    (swap,) = [button for button in app.button if button.label == text("second_run")["swap"]]
    assert swap.disabled
    assert swap.help == text("second_run")["swap_no"]


def test_stop_removes_everything_from_the_page_and_the_link() -> None:
    app = press(unfold(opened("attention", b=WIDE, b_edits="no positions"), MENU), text("second_run")["stop"])
    assert linked(app) == {}
    assert figure(app) is None


def test_the_values_of_an_address_are_read_as_they_were_written() -> None:
    asked = Asked("a b", "", True, "reverse", ("no positions", "silence cross layer 1"))
    assert {*asked.written()} == {*SECOND_RUN}
    assert asked.written()["b_edits"] == "no positions;silence cross layer 1"
    assert not any(Asked().written().values())


# --- a browser ---------------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_one_cursor_goes_through_all_three_maps(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&source=abc&b=abd&kind=encoder&layer=1&head=1")
    chart = page.locator(f".st-key-{KEY} .chart")
    chart.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    labels = chart.locator(".hovertext")
    expect(labels).to_have_count(3)
    weights = [Pipeline.load("reverse").trace(source).head("encoder", 0, 0)[1, 1] for source in ("abc", "abd")]
    spoken = chart.locator("[aria-live]")
    for name, weight in zip("AB", weights, strict=True):
        expect(spoken).to_contain_text(f"{name}: {float(weight):.4g}")
    expect(spoken).to_have_text(re.compile(r"B − A: [+−]?\d"))
    page.keyboard.press("Escape")
    expect(labels).to_have_count(0)
    cell = chart.locator(".nsewdrag").nth(2).bounding_box()
    assert cell
    page.mouse.move(cell["x"] + 3, cell["y"] + 3)
    page.mouse.move(cell["x"] + 6, cell["y"] + 6)
    expect(labels).to_have_count(3)
    page.mouse.move(0, 0)
    expect(labels).to_have_count(0)


def test_a_cell_of_the_three_maps_is_explained_as_a_difference() -> None:
    view = {"kind": "encoder", "layer": "2", "head": "3", "b": WIDE, "model": "english-french", "source": TIRED}
    found = explained("pages/attention/page.py", "two-runs.2.3.4", **view)
    first, second = (Pipeline.load("english-french").trace(source).head("encoder", 1, 2).numpy() for source in (TIRED, WIDE))
    assert found.result == pytest.approx(float(second[3, 4] - first[3, 4]), abs=1e-5)


def test_two_masked_scores_are_not_said_to_be_missing() -> None:
    stop = "decoder.layers.0.self_attention.masked_scores"
    view = {"model": "english-french", "source": SHORT, "stop": stop, "head": "1", "b": "the dog sleeps ."}
    masked = explained("pages/layers/page.py", "two-runs.2.0.2", **view)
    assert text("second_run")["explained_masked"] in masked.says
    assert masked.formula == ""
    assert explained("pages/layers/page.py", "two-runs.2.2.0", **view).formula
    with_one = explained("pages/layers/page.py", "two-runs.2.0.2", **(view | {"b_edits": "no causal mask"}))
    assert text("second_run")["explained_difference"] in with_one.says
    assert r"- (-\infty) = \infty" in with_one.formula
