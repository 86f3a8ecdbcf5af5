"""Guessing which position is most similar to a given position, before the similarities are shown."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.view.runs import runs
from pages.ui.text import text
from tests.pages.apps import charts, on_page
from transformer.analysis.position_geometry import sinusoidal_table
from transformer.analysis.prediction_scores import likeness

POSITIONS = "pages/positions/page.py"


def opened(**query: str) -> AppTest:
    app = on_page(POSITIONS, model="reverse", source="abc", **query)
    assert not app.exception
    return app


def cells(app: AppTest) -> dict[str, Any]:
    texts = [each.proto.json for each in app.main.get("bidi_component")]
    (data,) = [data for data in map(json.loads, filter(None, texts)) if isinstance(data, dict) and "round" in data]
    return data


def test_after_a_position_is_guessed_the_similarities_are_shown() -> None:
    app = opened(part="table", predict="alike.3:")
    data = cells(app)
    assert data["truth"] is None
    assert data["most"] == 1
    assert data["closed"] == [3]
    assert not charts(app.main)
    app = opened(part="table", predict="alike.3:7~2~shown")
    table = sinusoidal_table(len(cells(app)["columns"]), runs().pipeline("reverse").config.d_model)
    score = likeness(table, 3, 7)
    assert cells(app)["truth"]["values"] == [f"{round(value, 2) + 0.0:.2f}".replace("-", "−") for value in score.values]
    (sentence,) = [markdown.value for markdown in app.markdown if markdown.value.startswith("First answer")]
    first, second = sentence.split("\n\n")
    assert f"rank {score.rank} of {len(table) - 1}. Most alike: 2 and 4" in first
    assert "Right: position 2" in second


@pytest.mark.parametrize(
    ("width", "why"), [("64", "why_sinusoidal"), ("2", "why_few"), ("3", "why_odd"), ("65", "why_odd"), ("1", "why_single")]
)
def test_why_positions_are_alike_fits_the_width_of_the_table(width: str, why: str) -> None:
    app = opened(part="table", width=width, predict="alike.3:7~shown")
    assert text("prediction")["alike"][why] in [caption.value for caption in app.caption]
