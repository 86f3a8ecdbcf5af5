"""Gradients beside attention on the page Attention, tested without a browser."""

import numpy as np
import pytest

from pages.attention.gradient_view import SURE
from pages.shell.view.runs import runs
from pages.ui.text import text
from tests.pages.apps import charts, on_page, shown, shown_errors
from transformer.analysis.gradients import attention_gradients

PAGE = "pages/attention/page.py"
SOURCE = "the street is old because it was built early ."


@pytest.mark.slow
def test_the_maps_are_of_the_least_sure_token_first_and_of_the_picked_one_then() -> None:
    app = on_page(PAGE, model="english-french", source=SOURCE, part="gradient", kind="cross", layer="2", head="2")
    assert shown_errors(app) == ""
    pipeline = runs().pipeline("english-french")
    trace = pipeline.trace(SOURCE)
    ids = [*trace.target_ids[0][1:], pipeline.vocabulary("target").eos]
    asked = trace.probabilities[0].numpy()[np.arange(len(ids)), ids]
    assert app.session_state["gradient_of"] == asked.argmin()
    for place in (int(asked.argmin()), int(asked.argmax())):
        app.session_state["gradient_of"] = place
        app.run()
        by_key = {each.key: each for each in charts(app)}
        expected = attention_gradients(pipeline, trace, place, ids[place])["cross"][1, 1]
        drawn = np.array(by_key["gradient-products"].spec["data"][-1]["z"], float)
        assert np.nan_to_num(drawn) == pytest.approx(expected, abs=1e-6)
        sure = any("nearly sure" in info.value for info in app.info)
        assert sure == (asked[place] > SURE)
        assert "gradient-row" in by_key


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_the_row_is_compared_where_the_queries_write(kind: str) -> None:
    app = on_page(PAGE, model="english-french", source=SOURCE, part="gradient", kind=kind, gradient_of="4")
    assert shown_errors(app) == ""
    assert ("gradient-row" in {each.key for each in charts(app)}) == (kind == "decoder")
    said = [shown(line.value) for line in app.markdown]
    assert any("rank correlation" in line for line in said) == (kind == "decoder")
    assert text("gradients")["intro"][:30] in " ".join(line.value for line in app.markdown)
