"""A clicked number of the page Layers is explained by a formula whose result is the number that is drawn."""

import pytest

from tests.pages.explained import explained

PAGE = "pages/layers/page.py"
VIEW = {"model": "english-french", "source": "the cat sleeps ."}


@pytest.mark.parametrize("measure", ["norm", "added", "cosine", "similarity"])
@pytest.mark.parametrize(("cell", "more"), [("stream.2.2.1", {}), ("stream.0.0.3", {"stack": "decoder"})])
def test_a_point_of_the_residual_stream_is_a_length_or_a_cosine(cell: str, measure: str, more: dict[str, str]) -> None:
    found = explained(PAGE, cell, part="residual-stream", measure=measure, **more, **VIEW)
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("group", ["encoder-1", "decoder-2"])
@pytest.mark.parametrize(
    "cell",
    [
        *(f"work_residual.{view}.0.5" for view in range(3)),
        *(f"work_norm.{view}.0.5" for view in range(2)),
        *(f"work_ff.{view}.0.7" for view in range(2)),
        "work_units.0.0.1",
    ],
)
def test_a_number_of_the_arithmetic_is_the_result_of_its_step(cell: str, group: str) -> None:
    view = {"model": "reverse", "source": "abcd", "part": "arithmetic", "sublayer": "feed_forward", "group": group}
    found = explained(PAGE, cell, **view)
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-5)
