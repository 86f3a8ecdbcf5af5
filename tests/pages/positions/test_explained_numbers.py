"""A clicked number of the page Positions is explained by a formula whose result is the number in the cell."""

import re

import pytest

from tests.pages.apps import on_page, shown
from tests.pages.explained import explained

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


@pytest.mark.parametrize(("part", "cell"), CELLS)
def test_the_formula_ends_in_the_number_of_the_cell(part: str, cell: str) -> None:
    found = explained(PAGE, cell, model="english-french", part=part)
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("cell", ["positions-swap.0.0.2", "positions-outputs.2.2.5"])
def test_the_change_of_a_word_is_the_mean_over_its_pieces(cell: str) -> None:
    found = explained(PAGE, cell, model="everyday", part="swap", source="The mathematicians sleep.", join="true")
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("part", "cell", "says"),
    [("swap", "positions-swap.5.0.0", "with positions"), ("distances", "positions-distances.0.1.3", "the least dot product")],
)
def test_an_address_with_another_trace_explains_the_point_that_is_ringed(part: str, cell: str, says: str) -> None:
    app = on_page(PAGE, model="english-french", part=part, cell=cell)
    assert not app.exception
    assert any(says in shown(each.value) for each in app.markdown)


def test_a_learned_table_says_that_no_formula_made_its_numbers() -> None:
    found = explained(PAGE, "positions-waves.1.1.4", model="reverse-shared", part="waves")
    assert "No formula made it" in found.says
    assert not found.formula
    assert "training has moved it" in explained(PAGE, "positions-sum.0.1.4", model="reverse-shared", part="sum").says.lower()


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
