"""The Positions page shows the position encodings of the model, and tables of any other size."""

import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from pages.positions.geometry_views import shipped_with_learned_positions
from pages.positions.table import Table, origin, trained_rows
from pages.ui.text import text
from tests.pages.apps import charts, on_page, unfold
from tests.pages.visitor import Visitor
from transformer import Pipeline, Transformer, TransformerConfig
from transformer.analysis.position_geometry import model_table, sinusoidal_table

PAGE = "pages/positions/page.py"
FAR = ("inf", "1e999", "-inf", "Infinity", "1e400")


def opened(model: str, source: str, part: str = "table", **numbers: int) -> AppTest:
    app = on_page(PAGE, part=part)
    app.sidebar.selectbox(key="model").set_value(model).run()
    app.text_area(key="source").set_value(source).run()
    for key, value in numbers.items():
        app.number_input(key=key).set_value(value).run()
    fine(app)
    return app


def fine(app: AppTest) -> None:
    assert not app.exception
    assert not app.error


def drawn(app: AppTest, index: int) -> dict[str, Any]:
    return charts(app)[index].spec


def page_text(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption, *app.info, *app.warning])


def number(app: AppTest, label: str) -> float:
    """The value of a metric. If the metric is 0 apart from rounding, the rounding error."""
    (metric,) = [metric for metric in app.metric if metric.label == label]
    written = metric.delta.removeprefix("rounding: ") if metric.value == "≈ 0" else metric.value
    return float(written.replace("−", "-"))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["reverse", "shared_heads"])
def test_token_plus_position_is_the_model_input(model: str) -> None:
    app = opened(model, "a b c", "sum")
    token, position, total = (np.asarray(panel["z"]) for panel in drawn(app, 0)["data"])
    np.testing.assert_allclose(token + position, total, atol=1e-5)
    if model == "reverse":
        assert (position == sinusoidal_table(5, 64)).all()
        trace = Pipeline.load("reverse").trace("a b c")
        assert (total == trace["source_embedding.sum"].numpy()[0]).all()
    else:
        # The added rows are the first rows of the table.
        app.segmented_control(key="part").set_value("table").run()
        assert (position == np.asarray(drawn(app, 0)["data"][0]["z"])[:5]).all()
        assert "**not trained**" in page_text(app)


@pytest.mark.slow
@pytest.mark.parametrize(("length", "d_model", "row", "column"), [(10, 7, 9, 6), (300, 20, 299, 19)])
def test_formula_of_the_picked_cell_matches_the_table_for_any_size(length: int, d_model: int, row: int, column: int) -> None:
    app = opened("reverse", "abc", length=length, width=d_model, position=row, dimension=column)
    table = np.asarray(drawn(app, 0)["data"][0]["z"])
    assert table.shape == (length, d_model)
    value = float(table[row, column])
    pair = column // 2
    assert value == pytest.approx((math.cos if column % 2 else math.sin)(row / 10_000 ** (2 * pair / d_model)), abs=1e-6)
    assert f"The table holds **{value:.6g}**".replace("-", "−") in page_text(app)
    (formula,) = [element.value for element in app.latex if rf"\text{{PE}}[{row},\, {column}]" in element.value]
    result = formula.rsplit("=", 1)[1].partition(r"\end")[0].strip()
    assert float(result.replace(r" \cdot 10^{", "e").replace("}", "")) == pytest.approx(value, abs=1e-5)
    assert "Not this model's own" in page_text(app)


@pytest.mark.slow
def test_smaller_table_clamps_picked_positions_and_dimensions() -> None:
    app = opened("reverse", "abc", "waves")
    app.multiselect(key="waves").set_value(["3", "60"]).run()
    app.segmented_control(key="part").set_value("rotation").run()
    for key, value in (("position", 60), ("dimension", 60), ("shift", 50)):
        app.number_input(key=key).set_value(value).run()
    app.number_input(key="width").set_value(4).run()
    app.number_input(key="length").set_value(8).run()
    fine(app)
    assert [app.number_input(key=key).value for key in ("position", "dimension", "shift")] == [7, 3, 7]
    app.segmented_control(key="part").set_value("waves").run()
    fine(app)
    assert set(app.multiselect(key="waves").value) <= set("0123")


def test_waves_are_the_picked_columns() -> None:
    app = opened("reverse", "abc", "waves")
    app.multiselect(key="waves").set_value(["5", "40"]).run()
    table = sinusoidal_table(64, 64)
    dots = [trace for trace in drawn(app, 0)["data"] if trace["mode"] == "markers"]
    assert [trace["name"].partition(":")[0] for trace in dots] == ["dimension 5", "dimension 40"]
    for trace, dimension in zip(dots, (5, 40), strict=True):
        assert (np.asarray(trace["y"]) == table[:, dimension]).all()
    lines = [np.asarray(trace["y"]) for trace in drawn(app, 0)["data"] if trace["mode"] == "lines"]
    for line, dimension in zip(lines, (5, 40), strict=True):
        np.testing.assert_allclose(line[::8], table[:, dimension], atol=1e-6)  # the curve passes through the dots
    app.multiselect(key="waves").set_value([]).run()
    assert "No dimension is chosen" in page_text(app)


def test_only_for_sinusoids_of_even_width_the_distance_decides_the_dot_product() -> None:
    app = opened("reverse", "abc", "distances")
    along = "Largest difference along a diagonal"
    assert number(app, along) < 1e-5
    assert "decides their dot product" in page_text(app)
    app.number_input(key="width").set_value(3).run()
    assert number(app, along) > 1e-4
    assert "**without its cosine**" in page_text(app)
    app.segmented_control(key="table").set_value("learned").run()
    assert number(app, along) > 1
    assert "Random rows" in page_text(app)


@pytest.mark.parametrize(
    ("kind", "own", "trained", "expected"),
    [
        ("sinusoidal", True, False, "These are the numbers that this model adds"),
        ("sinusoidal", False, False, "the same formula with other sizes"),
        ("learned", True, True, "this model learned for its target side"),
        ("learned", True, False, "**not trained**"),
        ("learned", False, False, "**before** training"),
    ],
)
def test_origin_names_the_source_of_the_table(kind: Any, own: bool, trained: bool, expected: str) -> None:
    words = origin(Table(np.zeros((6, 4), np.float32), kind, own, trained), 100, "target")
    assert expected in words
    assert "6 positions × 4 dimensions" in words
    assert ("100 in all" in words) == own


@pytest.mark.parametrize(("max_len", "more"), [(6, False), (7, True)])
def test_origin_gives_all_positions_only_if_some_are_not_shown(max_len: int, more: bool) -> None:
    words = origin(Table(np.zeros((6, 4), np.float32), "sinusoidal", True, False), max_len, "source")
    assert words.count("6 positions") == 1
    assert (f"The model has {max_len} in all" in words) == more


@pytest.mark.slow
def test_learned_table_ignores_a_width_typed_for_another_model() -> None:
    app = opened("reverse", "a b", width=33)
    app.sidebar.selectbox(key="model").set_value("shared_heads").run()
    fine(app)
    assert app.number_input(key="width").value is None
    assert np.asarray(drawn(app, 0)["data"][0]["z"]).shape == (100, 256)
    app.segmented_control(key="table").set_value("sinusoidal").run()
    app.number_input(key="width").set_value(5).run()
    fine(app)
    assert np.asarray(drawn(app, 0)["data"][0]["z"]).shape == (100, 5)


@pytest.mark.slow
def test_learned_table_can_be_compared_with_one_before_training() -> None:
    app = opened("reverse-shared", "abc", "distances")
    model = Pipeline.load("reverse-shared").model
    trained = model_table(model, "source")[:14]  # texts had at most 12 letters, a start and an end token
    np.testing.assert_allclose(np.asarray(drawn(app, 0)["data"][0]["z"]), trained @ trained.T, rtol=1e-5, atol=1e-4)
    assert "training reached the first 14 rows" in page_text(app)
    assert "neighbours alike" in page_text(app)
    near = (trained @ trained.T).diagonal(1).mean()
    app.segmented_control(key="table").set_value("learned-before-training").run()
    fine(app)
    drawn_rows = np.asarray(drawn(app, 0)["data"][0]["z"])
    assert drawn_rows.shape == (14, 14)
    assert "Random rows" in page_text(app)
    assert near > drawn_rows.diagonal(1).mean() + 5  # the page states that neighbours are alike


def test_trained_rows_are_exactly_the_rows_that_changed() -> None:
    pipeline = Pipeline.load("reverse-shared")
    with torch.random.fork_rng():
        torch.manual_seed(pipeline.card.recipe["seed"])
        start = Transformer(pipeline.config)
    for side in ("source", "target"):
        moved = (model_table(pipeline.model, side) != model_table(start, side)).any(1)
        reached = trained_rows(pipeline, side)
        assert moved[:reached].all()
        assert not moved[reached:].any()


@pytest.mark.slow
def test_shipped_models_with_learned_positions_are_read_from_their_files() -> None:
    configs = {name: Pipeline.load(name).config for name in Pipeline.available()}
    learned = tuple(name for name, config in configs.items() if config.position == "learned")
    assert set(shipped_with_learned_positions()) == set(learned)
    app = opened("shared_heads", "a b", "distances")
    assert ("every model that ships with this app has sinusoidal positions" in page_text(app)) == (not learned)
    assert app.number_input(key="width").disabled
    assert TransformerConfig.preset("shared_heads").position == "learned"


def test_rotation_is_exact_except_for_a_lone_last_sine() -> None:
    app = opened("reverse", "abc", "rotation", shift=9)
    assert 0 < number(app, "Largest error of the rotation") < 1e-6
    assert "≈ 0" in [metric.value for metric in app.metric]  # rounding is not shown as a result
    assert "5 positions" not in page_text(app)
    turn = 9 / 10_000 ** (4 / 64)
    assert f"{turn:.6g} radians ({math.degrees(turn):.6g}°)" in page_text(app)
    matrix = np.asarray(drawn(app, 0)["data"][0]["z"])
    np.testing.assert_allclose(
        matrix[4:6, 4:6], [[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]], atol=1e-6
    )
    assert "The first 8 of 64 dimensions" in page_text(app)
    app.number_input(key="width").set_value(3).run()
    assert number(app, "Largest error of the rotation") < 1e-6
    assert number(app, "Error in the lone last dimension") > 1e-3
    assert "≈ 0" not in [metric.value for metric in app.metric if metric.label == "Error in the lone last dimension"]
    assert "no matrix can turn it" in page_text(app)
    app.number_input(key="dimension").set_value(2).run()
    assert "has no partner" in page_text(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "source"), [("english-french", "the cat sees the dog"), ("shared_heads", "1 5 6 4 3 9 5 2 0")]
)
def test_swap_changes_the_output_only_with_positions(model: str, source: str) -> None:
    app = opened(model, source, "swap")
    assert number(app, "Largest difference, with positions") > 0.1
    assert number(app, "Largest difference, without positions") < 1e-5
    tokens = source.split() if model == "shared_heads" else ["<sos>", *source.split(), "<eos>"]
    options = app.selectbox(key="first").options
    # Two nouns are swapped. Without nouns, the words that are farthest apart.
    pair = ("cat", "dog") if model == "english-french" else (options[0].split()[-1], options[-1].split()[-1])
    first, last = map(tokens.index, pair)
    swapped = list(tokens)
    swapped[first], swapped[last] = tokens[last], tokens[first]
    assert f"→ {' '.join(swapped)}" in page_text(app).replace("\\", "")
    assert len(options) == len(source.split())
    before, after, change = (np.asarray(heatmap["z"]) for heatmap in drawn(app, 1)["data"])
    np.testing.assert_allclose(change, after - before, atol=1e-6)
    view = Pipeline.load(model).trace(source) if model == "english-french" else None
    if view is not None:
        np.testing.assert_allclose(before, view["encoder.output"].numpy()[0], atol=1e-5)
    assert abs(abs(change).max() - number(app, "Largest difference, with positions")) < 0.06
    app.segmented_control(key="run").set_value("without positions").run()
    assert abs(np.asarray(drawn(app, 1)["data"][2]["z"])).max() < 1e-5
    changes = unfold(app, "swap_numbers").dataframe[-1].value
    assert list(changes.index) == [f"{place} · {token}" for place, token in enumerate(tokens)]
    assert changes["without positions"].max() < 1e-5
    app.selectbox(key="second").select(options[2]).run()
    assert int(changes["with positions"].to_numpy().argmax()) in (first, last)
    fine(app)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(("source", "second"), [("level", 4), ("abca", 3), ("ab", 2), ("abc", 3)])
def test_swap_starts_with_different_words(source: str, second: int) -> None:
    app = opened("reverse", source, "swap")
    assert app.selectbox(key="second").value == second
    assert "nothing can change" not in page_text(app)
    fine(app)


@pytest.mark.slow
def test_whole_words_are_swapped_where_tokens_are_pieces() -> None:
    app = opened("everyday", "The skyscraper disappeared.", "swap")
    assert app.selectbox(key="first").options == ["1 · The", "2 · skyscraper", "3 · disappeared", "4 · ."]
    assert "→ <sos> disappeared skyscraper The . <eos>" in page_text(app).replace("\\", "")
    assert [len(heatmap["z"]) for heatmap in drawn(app, 1)["data"]] == [6, 6, 6]
    assert number(app, "Largest difference, without positions") < 1e-5
    app.session_state["join"] = False
    app.run()
    assert len(app.selectbox(key="first").options) > 4
    fine(app)


def test_page_opens_on_the_swap_and_names_the_formula_later() -> None:
    app = on_page(PAGE, model="reverse", source="abc")
    fine(app)
    assert [header.value for header in app.header] == [text("positions")["swap"]]
    assert len(charts(app)) == 2
    assert not any("10000" in element.value for element in [*app.markdown, *app.latex])


def test_swap_of_equal_words_or_a_single_word_is_explained() -> None:
    app = opened("reverse", "aaa", "swap")
    assert "nothing can change" in page_text(app)
    assert number(app, "Largest difference, with positions") < 1e-5
    app.text_area(key="source").set_value("a").run()
    assert "only one word" in page_text(app)
    fine(app)


def test_infinite_numbers_in_a_link_are_ignored() -> None:
    names = ("length", "width", "position", "dimension", "shift")
    app = on_page(PAGE, part="rotation", **dict(zip(names, FAR, strict=True)))
    fine(app)
    assert app.number_input(key="length").value is None
    assert app.number_input(key="width").value is None
    assert [app.number_input(key=name).value for name in names[2:]] == [3, 4, 5]


@pytest.mark.slow
@pytest.mark.browser
def test_waves_and_sizes_are_restored_from_the_link(visitor: Visitor) -> None:
    page = visitor.open("positions?model=reverse&source=cab&part=waves", whole=True)
    visitor.type("d_model: dimensions", "9")
    page.get_by_role("button", name=re.compile("^Remove 1$|^1, ?close", re.IGNORECASE)).first.click()
    visitor.settle()
    assert "width=9" in page.url
    names = page.locator(".legendtext").all_text_contents()
    assert not any(name.startswith("dimension 1:") for name in names)

    fresh = visitor.open(visitor.become_stranger(), whole=True)
    assert fresh.locator(".legendtext").all_text_contents() == names
    assert fresh.get_by_label("d_model: dimensions", exact=True).input_value() == "9"


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("look", ["distances", "rotation"])
def test_page_fits_a_phone_without_sideways_scrolling(visitor: Visitor, look: str) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    page = visitor.open(f"positions?model=english-french&part={look}")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth + 2")
    assert page.locator(".chart .main-svg").first.is_visible()


def test_the_outputs_of_a_sentence_with_equal_words_swapped_are_the_same() -> None:
    app = opened("reverse", "aaa", "swap")
    captions = [caption.value for caption in app.caption]
    assert text("positions")["swap_outputs"]["same"] in captions
    app.segmented_control(key="run").set_value("without positions").run()
    assert text("positions")["swap_outputs"]["same"] in [caption.value for caption in app.caption]
    app.text_area(key="source").set_value("abc").run()
    assert text("positions")["swap_outputs"]["same"] not in [caption.value for caption in app.caption]


@pytest.mark.slow
def test_sentences_fit_a_table_of_one_dimension() -> None:
    words = text("positions")
    assert words["waves_one_speed"] in page_text(opened("reverse", "abc", "waves", width=1))
    app = opened("reverse", "abc", "distances", width=1)
    assert words["distances_single"] in page_text(app)
    assert "full pair" not in page_text(app)
    app = opened("reverse", "abc", "rotation", width=1)
    assert words["circle_none"] in page_text(app)
    assert "Pick another dimension" not in page_text(app)


@pytest.mark.parametrize(("width", "says"), [(3, "lone_differs"), (129, "lone_hidden")])
def test_the_sentence_about_a_lone_sine_agrees_with_the_difference_that_is_shown(width: int, says: str) -> None:
    app = opened("reverse", "abc", "distances", width=width)
    (along,) = [metric for metric in app.metric if metric.label == text("positions")["spread"]]
    assert (along.value == "≈ 0") == (says == "lone_hidden")
    assert text("positions")[says] in page_text(app)


@pytest.mark.slow
def test_a_hand_of_the_circle_that_fits_once_is_not_said_to_turn_alike() -> None:
    assert "from position 0 and 32 alike" in page_text(opened("reverse", "abc", "rotation", shift=0, position=0))
    app = opened("reverse", "abc", "rotation", length=6, shift=5)
    assert "here from position 0." in page_text(app)


@pytest.mark.slow
@pytest.mark.browser
def test_a_click_on_a_cell_of_the_table_computes_its_number(visitor: Visitor) -> None:
    page = visitor.open("positions?model=reverse&source=abc&part=table")
    cells = page.locator(".st-key-positions-table .nsewdrag").first
    box = cells.bounding_box()
    assert box
    cells.click(position={"x": box["width"] * 0.999, "y": box["height"] * 0.999})
    rows, columns = len(model_table(Pipeline.load("reverse").model, "source")), 64
    page.wait_for_url(f"**dimension={columns - 1}**")
    assert f"position={rows - 1}" in page.url
