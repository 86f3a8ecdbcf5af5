"""Tests of the figures of an edit's effect, read back from the figure's JSON."""

import json
import re
from typing import Any

import numpy as np

from transformer.figures.whatif_figures import difference_map, importance_map, probability_change

QUERIES, KEYS = ["<sos>", "le"], ["<sos>", "the", "<eos>"]
CHANGE = np.array([[0.5, -0.5, 0.0], [-0.0004, 0.0, 0.0004]], dtype=np.float32)


def sent(figure: Any) -> dict[str, Any]:
    return json.loads(figure.to_json())


def test_a_change_that_rounds_to_zero_has_no_sign() -> None:
    (heatmap,) = sent(difference_map(CHANGE, np.ones((2, 3), dtype=bool), QUERIES, KEYS))["data"]
    assert [[re.sub("<[^>]+>", "", text) for text in row] for row in heatmap["text"]] == [
        ["+0.50", "−0.50", "0.00"],
        ["0.00", "0.00", "0.00"],
    ]
    assert (heatmap["zmin"], heatmap["zmax"]) == (-0.5, 0.5)


def test_masked_weights_are_not_drawn_as_no_change() -> None:
    allowed = np.array([[True, False, False], [True, True, False]])
    masked, change = difference_map(CHANGE, allowed, QUERIES, KEYS).data
    assert (np.isnan(np.asarray(masked.z, float)) == allowed).all()
    assert (np.isnan(np.asarray(change.z)) == ~allowed).all()


def test_the_change_of_every_token_is_above_its_bars() -> None:
    before, after = np.array([0.9, 0.5]), np.array([0.4, 0.501])
    figure = probability_change(["a", "<eos>"], before, after, ("as it is", "edited"), written=True)
    assert [note.text for note in figure.layout.annotations] == ["−0.50", "0.00"]
    assert [note.y for note in figure.layout.annotations] == [0.9, 0.501]
    assert [list(bars.y) for bars in figure.data] == [
        [np.float32(0.9), 0.5],
        [np.float32(0.4), np.float32(0.501)],
    ]


def test_importance_of_every_kind_has_one_scale_centred_on_zero() -> None:
    drops = {"encoder": np.array([[0.1, -0.2]]), "cross": np.array([[3.0, 0.0], [0.5, 0.25]])}
    first, second = importance_map(drops, {"encoder": "Encoder", "cross": "Cross"}).data
    assert (first.zmin, first.zmax) == (second.zmin, second.zmax) == (-3.0, 3.0)
    assert np.allclose(np.asarray(first.z), drops["encoder"])
    assert np.allclose(np.asarray(second.z), drops["cross"])
    assert list(second.y) == ["1", "2"]
