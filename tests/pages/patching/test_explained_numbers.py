"""A clicked number of the page Patching is explained by a formula."""

import re

import pytest

from tests.pages.explained import explained

PAGE = "pages/patching/page.py"


@pytest.mark.parametrize("run", [0, 1, 2])
def test_a_probability_of_a_run_is_the_softmax_of_its_logits(run: int) -> None:
    found = explained(PAGE, f"patched-run.{run}.{run}.1", model="english-french", part="places")
    assert found.result == pytest.approx(found.drawn, rel=2e-4, abs=2e-6)


def test_a_dot_of_the_estimate_says_what_the_estimate_misses() -> None:
    found = explained(PAGE, "estimate-dots.1.1.3", model="english-french", part="estimate")
    (estimated, exact) = (float(part.strip("() ")) for part in found.formula.partition(" = ")[0].split(" - ", 1))
    assert estimated == pytest.approx(found.drawn, rel=2e-4)
    assert found.result == pytest.approx(estimated - exact, abs=2e-4)
    (named,) = re.findall(r"Estimate (\S+), patching (\S+); the difference:", found.says)
    assert [float(value.replace("−", "-")) for value in named] == pytest.approx([estimated, exact], rel=2e-3)
