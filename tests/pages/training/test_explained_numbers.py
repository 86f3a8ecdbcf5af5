"""A clicked number of the page *Watch it learn* is explained by a formula, or leads to a frame."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.explained import explained

PAGE = "pages/training/page.py"


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("part", "cell"),
    [
        ("step", "token-losses.0.0.2"),
        ("step", "gradient-norms.0.0.1"),
        ("settings", "smoothed-target.0.0.0"),
        ("settings", "smoothed-target.0.0.3"),
        ("settings", "learning-rate.0.0.1"),
        ("settings", "learning-rate.0.0.20"),
        ("settings", "learning-rate.0.0.5"),
    ],
)
def test_the_formula_ends_in_the_number_that_is_drawn(part: str, cell: str) -> None:
    found = explained(PAGE, cell, model="reverse", part=part, norms="true")
    assert found.result == pytest.approx(found.drawn, rel=2e-4, abs=2e-6)
    # The logarithm is that of the whole number, also if it is a power of ten.
    assert re.search(r"\\ln\([^()]+\)\)", found.formula) or not cell.startswith("token-losses")


def go() -> None:
    """A page that goes to the frame of a click on a line."""
    from pages.training.film_curves import go_to

    go_to("own-loss", "own_frame", [0, 100, 200])


def test_a_click_on_a_line_goes_to_the_nearest_frame() -> None:
    app = AppTest.from_function(go)
    for step, frame in ((149, 1), (float("nan"), 1), ("200", 1), (10**6, 2)):
        app.session_state["own-loss"] = {"click": {"data": step}}
        app.run()
        assert not app.exception
        assert app.session_state["own_frame"] == frame
