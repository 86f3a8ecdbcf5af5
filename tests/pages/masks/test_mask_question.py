"""Drawing the decoder's mask before it is shown."""

import json
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.apps import charts, on_page
from transformer import Pipeline
from transformer.pipeline.untrained import Untrained

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


@pytest.mark.slow
@pytest.mark.parametrize("model", ["reverse", "reverse-shared"])
def test_the_right_mask_is_described_as_it_is_on_the_picture(model: str) -> None:
    asked = on_page(MASKS, model=model, source="ab", batch="abcd", predict="mask:")
    size = len(cells(asked)["columns"])
    # The learned positions of `reverse-shared` belong to a variant in which only the causal mask hides padding.
    assert ("<pad>" in cells(asked)["columns"]) == (model == "reverse")
    trace = Pipeline.load(model).trace(["ab", "abcd"])
    right = np.flatnonzero(trace.masks.target[0, 0, :size, :size].numpy())
    app = on_page(MASKS, model=model, source="ab", batch="abcd", predict=f"mask:{'.'.join(map(str, right))}~shown")
    assert counts(app) == [len(right), 0, 0]
    (sentence,) = [markdown.value for markdown in app.markdown if "That is the mask" in markdown.value]
    assert ("at no padding" in sentence) == (model == "reverse")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "rule"),
    [("vanilla", "padding may look nowhere"), ("pytorch", "at no padding"), ("shared_heads", "all before it.")],
)
def test_padding_typed_before_a_token_is_described_as_each_variant_hides_it(model: str, rule: str) -> None:
    ids = {"model": model, "source": "5 6 7", "target": "5 0 7", "batch": "5 6 7", "batch_targets": "5 6 7"}
    mask = Untrained.of(model, ["5 6 7"] * 2, ["5 0 7", "5 6 7"]).build().trace(["5 6 7"], ["5 0 7"]).masks.target[0, 0]
    right = ".".join(map(str, np.flatnonzero(mask.numpy())))
    app = on_page(MASKS, **ids, item="1", predict=f"mask:{right}~shown")
    assert counts(app)[1:] == [0, 0]
    assert any(rule in markdown.value for markdown in app.markdown if "That is the mask" in markdown.value)
