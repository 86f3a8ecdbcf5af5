"""Tests of the map of one head, read back from the figure's JSON, and of weights as bytes."""

import base64
import json
import re
from typing import Any

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from transformer.figures import head_map, small_head_map
from transformer.figures.attention_figures import LEAST_WRITTEN, LEVELS, MASKED_LEVEL, in_cells, percent_width, quantized

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


def test_the_error_of_a_quantized_weight_is_at_most_half_a_level() -> None:
    exact = weights(2, 3, 5, 7)
    levels = quantized(exact, np.ones_like(exact, dtype=bool))
    assert levels.dtype == np.uint8
    assert abs(levels / LEVELS - exact).max() <= 0.5 / LEVELS + 1e-7


def test_a_masked_weight_is_quantized_to_the_mask_level() -> None:
    exact = np.array([[0.0, 1.0]])
    assert quantized(exact, np.array([[False, True]])).tolist() == [[MASKED_LEVEL, LEVELS]]


def test_a_head_map_has_the_exact_weights_and_every_token() -> None:
    exact = weights(1, 1, 3, 4)[0, 0]
    picture = sent(head_map(exact, np.ones_like(exact, dtype=bool), QUERIES, KEYS))
    (heatmap,) = picture["data"]
    assert (array(heatmap["z"]) == exact).all()
    assert picture["layout"]["xaxis"]["ticktext"] == ["&lt;sos&gt;", "the", "cat", "&lt;eos&gt;"]
    assert picture["layout"]["yaxis"]["ticktext"] == ["&lt;sos&gt;", "le", "&lt;b&gt;chat&lt;/b&gt;"]
    assert picture["layout"]["xaxis"]["title"]["text"].startswith("key")
    assert picture["layout"]["yaxis"]["title"]["text"].startswith("query")
    assert (heatmap["zmin"], heatmap["zmax"]) == (0, 1)
    assert heatmap["showscale"] is False  # the numbers are in the cells
    tokens = tuple("abcdefghijklmnopqrstuvwxyz")
    (large,) = sent(head_map(np.eye(26), np.ones((26, 26), dtype=bool), tokens, tokens))["data"]
    assert large["colorbar"]["title"]["text"] == "weight"


def test_masked_cells_of_a_head_map_are_not_drawn_as_weights() -> None:
    exact, allowed = weights(1, 1, 3, 3)[0, 0], np.tril(np.ones((3, 3), dtype=bool))
    masked, shown = sent(head_map(exact, allowed, QUERIES, QUERIES))["data"]
    assert (np.isnan(array(shown["z"])) == ~allowed).all()
    assert (np.isnan(np.array(masked["z"], float)) == allowed).all()
    assert "masked" in masked["hovertemplate"]


@pytest.mark.parametrize(("tokens", "labels"), [(10, 10), (32, 32), (40, 20), (64, 32)])
def test_fewer_labels_are_written_if_they_would_overlap(tokens: int, labels: int) -> None:
    exact = weights(1, 1, tokens, tokens)[0, 0]
    names = [f"word{index}" for index in range(tokens)]
    picture = sent(head_map(exact, np.ones_like(exact, dtype=bool), names, names))
    assert len(picture["layout"]["xaxis"]["ticktext"]) == labels
    assert len(picture["data"][0]["x"]) == tokens


@pytest.mark.parametrize("scale", ["Viridis", "RdBu"])
def test_numbers_in_cells_have_enough_contrast_on_every_colour(scale: str) -> None:
    values = np.linspace(0, 1, 101)[None]
    (written,) = in_cells(values, "{:.2f}", scale)["text"]
    for value, markup in zip(values[0].tolist(), written, strict=True):
        # Contrast by the formula of WCAG 2, computed independently of the library.
        (shade,) = sample_colorscale(scale, [value], colortype="tuple")
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in shade)
        light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        black, white = (light + 0.05) / 0.05, 1.05 / (light + 0.05)
        assert (black if "color:black" in markup else white) >= 4.5


def test_numbers_that_may_not_fit_have_no_markup() -> None:
    options = in_cells(np.array([[-0.001, -0.5, 10.0]]), "{:.2f}", "RdBu", -10.0, 10.0)
    assert options == {"text": [["0.00", "−0.50", "10.00"]], "texttemplate": "%{text}"}


def test_masked_cells_are_empty() -> None:
    exact, allowed = weights(1, 1, 3, 3)[0, 0], np.tril(np.ones((3, 3), dtype=bool))
    _, shown = head_map(exact, allowed, QUERIES, QUERIES).data
    assert [[bool(text) for text in row] for row in shown.text] == allowed.tolist()
    assert f"{exact[1, 0]:.2f}" in shown.text[1][0]


def test_weights_that_round_to_nothing_have_no_number_if_asked() -> None:
    exact = np.array([[0.0, 0.0049, 0.9951], [0.0051, 0.0, 0.9949], [0.2, 0.3, 0.5]], np.float32)
    (shown,) = head_map(exact, np.ones((3, 3), dtype=bool), QUERIES, QUERIES, least=LEAST_WRITTEN).data
    assert [[bool(text) for text in row] for row in shown.text] == (exact >= 0.005).tolist()
    (every,) = head_map(exact, np.ones((3, 3), dtype=bool), QUERIES, QUERIES).data
    assert all(text for row in every.text for text in row)


def test_a_small_map_has_weights_in_percent_if_asked() -> None:
    exact, tokens, every = np.array([[0.004, 0.996], [0.57, 0.43]], np.float32), ["a", "b"], np.ones((2, 2), dtype=bool)
    _, shown = small_head_map(exact, np.triu(every), tokens, tokens, percent=True).data
    assert [[re.sub("<.*?>", "", cell) for cell in row] for row in shown.text] == [["0", "100"], ["", "43"]]
    (shown,) = small_head_map(exact, every, tokens, tokens).data
    assert shown.text is None


def test_weights_in_percent_fit_into_a_narrower_place() -> None:
    row, allowed, keys = np.full((1, 9), 1 / 9), np.ones((1, 9), dtype=bool), [*"headlight"]
    assert percent_width(["a"], keys) < head_map(row, allowed, ["a"], keys, wide=True).layout.meta["least_width"]


def test_the_sign_of_masked_cells_is_in_no_other_cell() -> None:
    allowed = np.tril(np.ones((3, 3), dtype=bool))
    below, _ = head_map(weights(1, 1, 3, 3)[0, 0], allowed, QUERIES, QUERIES).data
    assert [[bool(text) for text in row] for row in below.text] == (~allowed).tolist()
