"""A clicked number of the page Positions is explained by a formula whose result is the number in the cell."""

import re
from collections.abc import Callable

import pytest

from pages.ui.text import text
from tests.pages.apps import on_page, unfold
from tests.pages.explained import explained
from transformer import Pipeline
from transformer.analysis.word_trace import WordTrace, word_groups

PAGE = "pages/positions/page.py"
CELLS = (
    ("distances", "positions-products.0.3.7"),
    ("distances", "positions-distances.2.2.7"),
    ("rotation", "positions-rotation.0.2.3"),
    ("rotation", "positions-rotation.0.3.2"),
    ("rotation", "positions-rotation.0.2.2"),
    ("waves", "positions-waves.3.3.11"),
    ("sum", "positions-sum.0.2.5"),
    ("sum", "positions-sum.1.2.5"),
    ("sum", "positions-sum.2.2.5"),
    ("swap", "positions-swap.0.0.2"),
    ("swap", "positions-outputs.2.2.5"),
)


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(("part", "cell"), CELLS)
def test_the_formula_ends_in_the_number_of_the_cell(part: str, cell: str) -> None:
    found = explained(PAGE, cell, model="english-french", part=part)
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("cell", ["positions-swap.0.0.2", "positions-outputs.2.2.5"])
def test_the_change_of_a_word_is_the_mean_over_its_pieces(cell: str) -> None:
    found = explained(PAGE, cell, model="everyday", part="swap", source="The mathematicians sleep.", join="true")
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-6)


WORDS = {"model": "everyday", "part": "sum", "source": "Unbelievably, the grandmother was whispering."}


@pytest.mark.slow
@pytest.mark.parametrize("trace", [0, 1, 2])
def test_a_number_of_a_word_is_the_mean_over_the_rows_of_its_pieces(trace: int) -> None:
    tokens, groups = _words("everyday", WORDS["source"])
    row = max(range(len(tokens)), key=lambda index: len(groups[index]))
    found = explained(PAGE, f"positions-sum.{trace}.{row}.0", **WORDS)
    first, last = groups[row][0], groups[row][-1]
    assert f"its {len(groups[row])} pieces, at positions {first} to {last}" in found.says
    assert tokens[row] in found.says
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-6)


@pytest.mark.slow
def test_a_word_of_one_piece_has_the_position_of_the_piece() -> None:
    tokens, groups = _words("everyday", WORDS["source"])
    row = tokens.index("was")
    ((place,),) = [groups[row]]
    assert place != row
    found = explained(PAGE, f"positions-sum.1.{row}.0", **WORDS)
    assert f"Position {place}, dimension 0" in found.says
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-6)
    assert f"its position, {place}." in explained(PAGE, f"positions-sum.2.{row}.0", **WORDS).says


def _words(model: str, source: str) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """The words of a source text, and the positions of the pieces of each."""
    trace = Pipeline.load(model).trace(source)
    return WordTrace.of(trace).source_tokens[0], word_groups(trace, "source")


def test_the_text_type_is_a_term_of_the_sum(name_folders: Callable[..., None]) -> None:
    pytest.importorskip("transformers")
    from tests.transformer.huggingface.tiny import folder_of

    name_folders(folder_of("bert"))
    view = {"model": "bert", "part": "sum", "source": "the cat <mask> ."}
    found = explained(PAGE, "positions-sum.3.2.5", **view)
    assert "text type" in found.says
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-6)
    assert "table of text types" in explained(PAGE, "positions-sum.2.2.5", **view).says
    unfold(found.app, "numbers")
    assert [*found.app.dataframe[0].value.columns] == [*text("positions")["columns"].values()]


@pytest.mark.parametrize("trace", [0, 2])
def test_rows_that_are_scaled_outside_of_all_modules_are_scaled_in_the_sum(
    trace: int, name_folders: Callable[..., None]
) -> None:
    pytest.importorskip("transformers")
    from tests.transformer.huggingface.tiny import folder_of

    name_folders(folder_of("marian"))
    found = explained(PAGE, f"positions-sum.{trace}.2.5", model="marian", part="sum", source="the cat sleeps .")
    assert (r" \cdot 4 =" in found.formula) == (trace == 0)
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "cell", "says"),
    [
        ("llama", "positions-turned.0.2.1", "pieces, at positions 2 to 3"),
        ("llama", "positions-turned.1.3.1", "position 4 turns it"),
        ("t5", "positions-bias-encoder.0.2.2", "the 4 pairs of their pieces"),
        ("t5", "positions-bias-encoder.0.1.2", "the 2 pairs of their pieces"),
    ],
)
def test_the_angle_and_the_bias_of_a_word_are_those_of_its_pieces(
    model: str, cell: str, says: str, name_folders: Callable[..., None]
) -> None:
    pytest.importorskip("transformers")
    from tests.transformer.huggingface.tiny import folder_in_pieces

    name_folders(folder_in_pieces(model))
    found = explained(PAGE, cell, model=f"{model}-in-pieces", part="sum", source="the cat sleeps. cat", join="true")
    assert says in found.says
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("part", "cell"),
    [("swap", "positions-swap.5.0.0"), ("swap", "positions-swap.1.0.0"), ("distances", "positions-distances.0.1.3")],
)
def test_an_address_of_a_point_that_no_click_names_explains_nothing(part: str, cell: str) -> None:
    """The figure has no such trace, the trace has no such row, or nothing in the trace can be pointed at."""
    app = on_page(PAGE, model="english-french", part=part, cell=cell)
    assert not app.exception
    assert text("common")["explain_close"] not in [each.value for each in app.caption]


def test_a_learned_table_says_that_no_formula_made_its_numbers() -> None:
    found = explained(PAGE, "positions-waves.1.1.4", model="reverse-shared", part="waves")
    assert "No formula made it" in found.says
    assert not found.formula
    assert "training has moved it" in explained(PAGE, "positions-sum.0.1.4", model="reverse-shared", part="sum").says.lower()


@pytest.mark.slow
def test_a_row_of_random_numbers_is_not_said_to_be_trained() -> None:
    found = explained(PAGE, "positions-sum.0.1.1", model="vanilla", part="sum")
    assert "not trained" in found.says
    assert "Training" not in found.says


def test_the_band_of_a_distance_says_where_it_is_least_and_largest() -> None:
    found = explained(PAGE, "positions-distances.1.1.3", model="reverse-shared", part="distances")
    least, most = (
        float(value.replace("−", "-"))
        for value in re.findall(r"product, \*\*(\S+)\*\*, .* largest, \*\*(\S+)\*\*\.", found.says)[0]
    )
    assert least < most == pytest.approx(found.drawn, rel=1e-4)


def test_a_number_outside_the_blocks_of_a_rotation_is_zero() -> None:
    found = explained(PAGE, "positions-rotation.0.0.5", model="english-french", part="rotation")
    assert "no pair" in found.says
    assert found.drawn == 0


def test_a_point_on_the_circle_is_explained_by_its_sine_and_its_cosine() -> None:
    small = explained(PAGE, "positions-circle.1.1.8", model="english-french", part="rotation")
    assert r"\sin" in small.formula
    assert small.formula.count(r"\begin{aligned}") == 2
    # The dotted hand of position 3, 5 positions on, ends at the same point.
    hand = explained(PAGE, "positions-circle.3.3.1", model="english-french", part="rotation")
    assert hand.formula == small.formula
