"""Enlarged figures for a projector: every text has 18 px or more, and the data are the same."""

import json

import numpy as np

from pages.ui.charts import chart
from pages.ui.presenting import EXPONENT, LEAST, POWER, SCALE, enlarged
from transformer.figures import head_map

TOKENS = tuple("abcdefghijklmnopqrstuvwxyz")


def test_letters_and_lengths_of_a_figure_are_enlarged() -> None:
    spec = json.loads(chart(head_map, np.eye(26), np.ones((26, 26), dtype=bool), TOKENS, TOKENS).finished.packed.text)
    large, before = enlarged(spec), spec["layout"]["height"]
    layout = large["layout"]
    assert layout["height"] == before * SCALE
    assert spec["layout"]["height"] == before
    assert layout["margin"]["t"] == spec["layout"]["margin"]["t"] * SCALE
    for axis in ("xaxis", "yaxis"):
        assert layout[axis]["tickfont"]["size"] >= LEAST
        assert layout[axis]["title"]["font"]["size"] >= LEAST
        assert layout[axis]["title"]["text"] == spec["layout"][axis]["title"]["text"]
    heatmap = next(trace for trace in large["data"] if trace["type"] == "heatmap")
    assert heatmap["colorbar"]["tickfont"]["size"] >= LEAST
    assert heatmap["z"] is next(trace for trace in spec["data"] if trace["type"] == "heatmap")["z"]


def test_small_letters_of_notes_and_titles_as_text_are_readable() -> None:
    spec = {
        "data": [{"type": "bar", "text": ["a"], "textfont": {"size": 9}}],
        "layout": {"annotations": [{"text": "a", "font": {"size": 9}}, {"text": "b"}], "xaxis": {"title": "token"}},
    }
    layout = enlarged(spec)["layout"]
    assert [note["font"]["size"] for note in layout["annotations"]] == [LEAST, LEAST]
    assert layout["xaxis"]["title"]["text"] == "token"
    assert layout["font"]["size"] == LEAST
    assert enlarged(spec)["data"][0]["textfont"]["size"] == LEAST
    assert enlarged(spec)["data"][0]["constraintext"] == "none"  # otherwise Plotly shrinks the letters again


def test_an_axis_without_a_title_is_enlarged() -> None:
    layout = enlarged({"layout": {"xaxis": {"title": None}}})["layout"]
    assert layout["xaxis"]["tickfont"]["size"] == LEAST
    assert "text" not in layout["xaxis"]["title"]


def test_exponents_on_a_logarithmic_axis_are_readable() -> None:
    layout = enlarged({"layout": {"xaxis": {"type": "log"}, "yaxis": {"type": "linear"}}})["layout"]
    assert layout["xaxis"]["tickfont"]["size"] * POWER * EXPONENT >= LEAST
    assert layout["yaxis"]["tickfont"]["size"] == LEAST
