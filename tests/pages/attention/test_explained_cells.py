"""A click on a cell of a chart of Attention opens how its number is computed. The result is the number in the cell."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.frame.parts import GOAL
from pages.ui.text import text
from tests.pages.apps import on_page, shown
from tests.pages.explained import explained
from transformer import Pipeline

PAGE = "pages/attention/page.py"
SOURCE = "the cat sleeps ."
VIEW = {"model": "english-french", "source": SOURCE, "kind": "decoder", "layer": "2", "head": "3"}
WORDS = text("attention")["combined_numbers"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["mean-over-heads", "maximum-over-heads", "mean-over-layers", "maximum-over-layers", "mean-over-all", "rollout"]
)
def test_a_combined_number_is_computed_from_its_weights(way: str) -> None:
    cell = explained(PAGE, "combined-map.1.3.1", part="combined", combine=way, **VIEW)
    assert cell.result == pytest.approx(cell.drawn, rel=1e-4)
    weights = Pipeline.load("english-french").trace(SOURCE).attention("decoder").numpy()[:, 0, :, 3, 1]
    named = {"heads": weights[1], "layers": weights[:, 2], "all": weights.mean(1)}.get(way.rpartition("-")[2])
    if named is not None:
        listed = cell.says.splitlines()[-1].split(" · ")
        assert [float(each.partition(": ")[2]) for each in listed] == pytest.approx(named.tolist(), rel=1e-4)


def test_the_first_layer_of_a_rollout_is_half_its_heads_and_half_the_stream() -> None:
    view = VIEW | {"layer": "1", "kind": "encoder"}
    for place in ("2.2", "2.1"):
        cell = explained(PAGE, f"combined-map.0.{place}", part="combined", combine="rollout", **view)
        assert cell.result == pytest.approx(cell.drawn, rel=1e-4)
        assert WORDS["rollout_first"].partition("after")[2] in cell.says


@pytest.mark.parametrize(("way", "name"), [("mean-over-heads", "masked"), ("rollout", "unreachable")])
def test_a_masked_cell_has_nothing_to_combine(way: str, name: str) -> None:
    cell = explained(PAGE, "combined-map.0.1.3", part="combined", combine=way, **VIEW)
    assert WORDS[name].rpartition("**")[2] in cell.says
    assert cell.formula == ""


def test_a_weight_beside_its_gradient_is_the_softmax_of_its_row() -> None:
    cell = explained(PAGE, "gradient-weights.1.3.1", part="gradient", **VIEW)
    assert cell.result == pytest.approx(cell.drawn, rel=1e-4)
    assert not cell.app.warning


def test_weight_times_gradient_is_their_product_in_nats() -> None:
    cell = explained(PAGE, "gradient-products.1.1.0", part="gradient", gradient_of="1", **VIEW)
    product = cell.formula.removesuffix(rf" \text{{ {text('gradients')['nats']}}}")
    cell = cell._replace(formula=product)
    assert abs(cell.drawn) > 1e-3
    assert cell.result == pytest.approx(cell.drawn, rel=1e-4)
    weight = Pipeline.load("english-french").trace(SOURCE).head("decoder", 1, 2)[1, 0]
    assert float(cell.formula.partition(" ")[0]) == pytest.approx(float(weight), rel=1e-3)


def test_a_masked_weight_adds_nothing_to_the_probability() -> None:
    cell = explained(PAGE, "gradient-products.0.1.3", part="gradient", **VIEW)
    assert text("gradients")["explained_masked"].rpartition("**")[2] in cell.says


def test_a_changed_weight_is_the_difference_of_two() -> None:
    view = VIEW | {"kind": "cross", "edits": "average cross layer 1 head 1"}
    cell = explained(PAGE, "difference.0.2.1", part="what-if", **view)
    assert cell.result == pytest.approx(cell.drawn, rel=1e-3)


def test_the_importance_of_a_head_is_the_difference_of_two_log_probabilities() -> None:
    cell = explained(PAGE, "importance.1.1.2", part="what-if", position="2", **VIEW)
    assert cell.result == pytest.approx(cell.drawn, rel=1e-3, abs=1e-6)
    assert "Decoder self-attention, layer 2, head 3" in cell.says


@pytest.mark.slow
@pytest.mark.parametrize(("locked", "name"), [("q3", "steps_of_query"), ("k1", "steps_of_key")])
def test_a_locked_token_offers_the_steps_at_it(locked: str, name: str) -> None:
    app = on_page(PAGE, part="lines", locked=locked, **VIEW)
    weights = Pipeline.load("english-french").trace(SOURCE).head("decoder", 1, 2).numpy()
    query, key = (3, int(weights[3].argmax())) if locked == "q3" else (int(weights[:, 1].argmax()), 1)
    (button,) = (each for each in app.button if each.key == "lines_steps")
    assert shown(button.label).startswith(text("attention")[name].partition("{query}")[0].format(head=3, key="1 · le")[:20])
    button.click().run()
    assert not app.exception
    state = app.session_state
    assert (state["part"], state["step"], state["row"], state["column"]) == ("steps", "weights", query, key)


def open_cell(row: object, column: object) -> None:
    """A page that takes the click on a cell of a head's map."""
    from pages.attention.attention_steps import open_number

    open_number("weights", row, column, row)


@pytest.mark.parametrize(
    ("row", "column", "opens"),
    [(1, 0, True), (True, 0, False), (1, False, False), (-1, 0, False), (1.0, 0, False), ("1", 0, False), (None, 0, False)],
)
def test_a_click_opens_the_steps_only_if_it_sends_whole_numbers(row: object, column: object, opens: bool) -> None:
    app = AppTest.from_function(open_cell, args=(row, column)).run()
    assert not app.exception
    assert (GOAL in app.session_state) == opens


def test_without_a_locked_token_no_steps_are_offered() -> None:
    assert "lines_steps" not in [each.key for each in on_page(PAGE, part="lines", **VIEW).button]


@pytest.mark.slow
def test_a_locked_word_offers_the_steps_at_its_pieces() -> None:
    view = {"model": "everyday", "source": "Zorglub sleeps.", "part": "lines", "kind": "encoder", "locked": "q1"}
    app = on_page(PAGE, **view)
    app.button(key="lines_steps").click().run()
    trace = Pipeline.load("everyday").trace(view["source"])
    pieces = [place for place, word in enumerate(trace.words_of("source")[0]) if word == 0]
    weights = trace.head("encoder", app.session_state["layer"] - 1, app.session_state["head"] - 1).numpy()
    row, column = np.unravel_index(int(weights[pieces].argmax()), weights[pieces].shape)
    assert (app.session_state["row"], app.session_state["column"]) == (pieces[int(row)], int(column))
