"""The two attention pictures, read back from the figure that would be sent."""

import base64
import json
from typing import Any

import numpy as np
import pytest

from transformer.figures import KIND_COLORS, head_map, mosaic
from transformer.figures.attention import LEVELS, MASKED_LEVEL, quantized, tiled

QUERIES = ["<sos>", "le", "<b>chat</b>"]
KEYS = ["<sos>", "the", "cat", "<eos>"]


def weights(layers: int, heads: int, queries: int, keys: int) -> np.ndarray:
    values = np.random.default_rng(0).random((layers, heads, queries, keys), dtype=np.float32)
    return values / values.sum(-1, keepdims=True)


def sent(figure: Any) -> dict[str, Any]:
    return json.loads(figure.to_json())


def array(values: dict[str, str]) -> np.ndarray:
    shape = [int(size) for size in values["shape"].split(",")]
    return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).reshape(shape)


def test_a_weight_as_a_byte_is_off_by_at_most_half_a_level() -> None:
    exact = weights(2, 3, 5, 7)
    levels = quantized(exact, np.ones_like(exact, dtype=bool))
    assert levels.dtype == np.uint8
    assert abs(levels / LEVELS - exact).max() <= 0.5 / LEVELS + 1e-7


def test_a_masked_weight_is_a_sign_and_no_number() -> None:
    exact = np.array([[0.0, 1.0]])
    assert quantized(exact, np.array([[False, True]])).tolist() == [[MASKED_LEVEL, LEVELS]]


def test_tiles_stand_with_layers_down_and_heads_across() -> None:
    tiles = np.arange(2 * 3 * 4 * 5, dtype=np.uint8).reshape(2, 3, 4, 5)
    whole = tiled(tiles)
    assert whole.shape == (8, 15)
    for layer in range(2):
        for head in range(3):
            assert (whole[layer * 4 : layer * 4 + 4, head * 5 : head * 5 + 5] == tiles[layer, head]).all()


def test_a_mosaic_is_one_heatmap_of_bytes_with_every_head_in_it() -> None:
    exact = weights(2, 3, 3, 4)
    allowed = np.ones_like(exact, dtype=bool)
    allowed[..., 3] = False
    picture = sent(mosaic(exact, allowed, QUERIES, KEYS, (1, 2), KIND_COLORS["cross"]))
    (heatmap,) = picture["data"]
    assert heatmap["z"]["dtype"] == "u1"
    assert (array(heatmap["z"]) == tiled(quantized(exact, allowed))).all()
    assert len(set(heatmap["x"])) == 12  # hovering tells equal tokens of different heads apart
    assert len(set(heatmap["y"])) == 6
    assert heatmap["x"][4] == "head 2, 0: &lt;sos&gt;"
    frame = [shape for shape in picture["layout"]["shapes"] if shape["type"] == "rect"]
    assert [(shape["x0"], shape["x1"], shape["y0"], shape["y1"]) for shape in frame] == [(7.5, 11.5, 2.5, 5.5)]
    assert frame[0]["line"]["color"] == KIND_COLORS["cross"]


def test_a_mosaic_of_48_large_maps_stays_below_1_4_of_its_raw_bytes() -> None:
    exact = weights(6, 8, 128, 128)
    tokens = [f"word{index}" for index in range(128)]
    size = len(mosaic(exact, np.ones_like(exact, dtype=bool), tokens, tokens, (0, 0), "red").to_json())
    assert size <= 1.4 * 6 * 8 * 128 * 128


def test_a_head_map_holds_the_exact_weights_and_every_token() -> None:
    exact = weights(1, 1, 3, 4)[0, 0]
    picture = sent(head_map(exact, np.ones_like(exact, dtype=bool), QUERIES, KEYS))
    (heatmap,) = picture["data"]
    assert (array(heatmap["z"]) == exact).all()
    assert picture["layout"]["xaxis"]["ticktext"] == ["&lt;sos&gt;", "the", "cat", "&lt;eos&gt;"]
    assert picture["layout"]["yaxis"]["ticktext"] == ["&lt;sos&gt;", "le", "&lt;b&gt;chat&lt;/b&gt;"]
    assert picture["layout"]["xaxis"]["title"]["text"].startswith("key")
    assert picture["layout"]["yaxis"]["title"]["text"].startswith("query")
    assert (heatmap["zmin"], heatmap["zmax"]) == (0, 1)
    assert heatmap["colorbar"]["title"]["text"] == "weight"


def test_masked_cells_of_a_head_map_are_not_drawn_as_weights() -> None:
    exact, allowed = weights(1, 1, 3, 3)[0, 0], np.tril(np.ones((3, 3), dtype=bool))
    masked, shown = sent(head_map(exact, allowed, QUERIES, QUERIES))["data"]
    assert (np.isnan(array(shown["z"])) == ~allowed).all()
    assert (np.isnan(array(masked["z"])) == allowed).all()
    assert "masked" in masked["hovertemplate"]


@pytest.mark.parametrize(("tokens", "labels"), [(10, 10), (32, 32), (40, 20), (64, 32)])
def test_labels_thin_out_where_they_would_overlap(tokens: int, labels: int) -> None:
    exact = weights(1, 1, tokens, tokens)[0, 0]
    names = [f"word{index}" for index in range(tokens)]
    picture = sent(head_map(exact, np.ones_like(exact, dtype=bool), names, names))
    assert len(picture["layout"]["xaxis"]["ticktext"]) == labels
    assert len(picture["data"][0]["x"]) == tokens
