"""A clicked number of the page Patching is explained by a formula."""

import re

import pytest

from tests.pages.explained import explained

PAGE = "pages/patching/page.py"


@pytest.mark.slow
@pytest.mark.parametrize("run", [0, 1, 2])
def test_a_probability_of_a_run_is_the_softmax_of_its_logits(run: int) -> None:
    found = explained(PAGE, f"patched-run.{run}.{run}.1", model="english-french", part="places")
    assert found.result == pytest.approx(found.drawn, rel=2e-4, abs=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("tokens", "dot"), [("together", 3), ("each", 257)])
def test_a_dot_of_the_estimate_says_how_it_is_computed_and_what_it_misses(tokens: str, dot: int) -> None:
    found = explained(PAGE, f"estimate-dots.1.1.{dot}", model="english-french", part="estimate", tokens=tokens)
    computed, difference = found.formula.split("\n")
    assert found._replace(formula=computed).result == pytest.approx(found.drawn, rel=2e-4)
    (estimated, exact) = (float(part.strip("() ")) for part in difference.partition(" = ")[0].split(" - ", 1))
    assert estimated == pytest.approx(found.drawn, rel=2e-4)
    assert found.result == pytest.approx(estimated - exact, abs=2e-4)
    (named,) = re.findall(r"Estimate (\S+), patching (\S+); the difference:", found.says)
    assert [float(value.replace("−", "-")) for value in named] == pytest.approx([estimated, exact], rel=2e-3)


LONG = "My older sister and her two little children usually spend the whole summer in a small {} near the sea."


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["estimated-map.0.4.15", "estimated-map.2.9.19"])
def test_a_cell_of_the_map_of_estimates_is_the_sum_of_gradient_times_change(cell: str) -> None:
    view = {"model": "everyday", "part": "estimate", "tokens": "each", "source": LONG.format("house"), "b": LONG.format("tent")}
    found = explained(PAGE, cell, **view)
    assert found.drawn
    assert found.result == pytest.approx(found.drawn, rel=2e-4)
    assert "gradient" in found.says
