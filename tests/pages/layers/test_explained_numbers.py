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
