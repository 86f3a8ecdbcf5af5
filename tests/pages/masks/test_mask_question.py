"""Drawing the decoder's mask before it is shown."""

import json
import re
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.pages.apps import charts, on_page

MASKS = "pages/masks/page.py"


def opened(**query: str) -> AppTest:
    app = on_page(MASKS, model="reverse", source="ab", batch="abcd", **query)
    assert not app.exception
    return app


def cells(app: AppTest) -> dict[str, Any]:
    texts = [each.proto.json for each in app.main.get("bidi_component")]
    (data,) = [data for data in map(json.loads, filter(None, texts)) if isinstance(data, dict) and "round" in data]
    return data


def counts(app: AppTest) -> list[int]:
    (sentence,) = [markdown.value for markdown in app.markdown if " too many" in markdown.value]
    return [int(number) for number in re.findall(r"(\d+) (?:right|missed|too many)", sentence)]


def test_the_page_hides_the_masks_while_the_learner_draws_one() -> None:
    app = opened(predict="mask:")
    assert not charts(app.main)
    data = cells(app)
    assert data["truth"] is None
    assert data["closed"] == []
    (tokens,) = {tuple(data["rows"]), tuple(data["columns"])}
    assert tokens == ("<sos>", "b", "a", "<pad>", "<pad>")


def test_the_page_counts_the_cells_of_the_drawn_mask_and_explains_a_wrong_cell() -> None:
    # Row 0 opens its own cell and the cell of the next token. Row 1 opens its own cell and the one before it. All others stay
    # closed.
    app = opened(predict="mask:0.1.5.6~shown")
    data = cells(app)
    open_ = np.array(data["truth"]["values"]).reshape(5, 5) == "open"
    lower = np.tril(np.ones((5, 5), bool)) & np.array([True, True, True, False, False])
    assert (open_[:3] == lower[:3]).all()
    assert not open_[:, 3:].any()
    assert counts(app) == [3, int(open_.sum()) - 3, 1]
    assert any("the very token that it has to predict there" in markdown.value for markdown in app.markdown)
    assert charts(app.main)
    padded = opened(predict="mask:0.23~shown")
    assert any("lets the decoder read padding" in markdown.value for markdown in padded.markdown)
