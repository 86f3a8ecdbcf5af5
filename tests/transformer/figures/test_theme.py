"""Tests of the colours: each has one meaning, and figures and Streamlit's settings have the same colours."""

import itertools
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.colors import sample_colorscale

from transformer.figures.masks_figures import mask_picture
from transformer.figures.theme import INK, KIND_COLORS, ROLE_COLORS, STYLE_COLORS, escaped, finished, numbered
from transformer.figures.token_geometry_figures import aligned_maps

ROOT = Path(__file__).parents[3]


def test_every_colour_means_one_thing() -> None:
    colours = [*KIND_COLORS.values(), *ROLE_COLORS.values()]
    assert len(set(colours)) == len(colours)


def test_streamlit_draws_with_the_same_colours() -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
    for scheme in ("light", "dark"):
        assert theme[scheme]["chartCategoricalColors"] == [*KIND_COLORS.values(), *ROLE_COLORS.values()]
        assert theme[scheme]["primaryColor"] in [*KIND_COLORS.values(), *ROLE_COLORS.values()]
    for name, of_streamlit in (("page", "backgroundColor"), ("surface", "secondaryBackgroundColor")):
        light, dark = (theme[scheme][of_streamlit] for scheme in ("light", "dark"))
        assert STYLE_COLORS[name] == f"light-dark({light}, {dark})"


def luminance(colour: str) -> float:
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_text_has_enough_contrast_to_its_background() -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
    for scheme, ground in itertools.product(("light", "dark"), ("backgroundColor", "secondaryBackgroundColor")):
        pair = sorted([luminance(theme[scheme]["textColor"]), luminance(theme[scheme][ground])])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 7  # WCAG 2.2, level AAA


def test_all_words_of_a_figure_are_in_ink() -> None:
    """No part of a figure has a colour of its own, so the template decides, which a page replaces by its theme."""
    axes = {"xaxis2": {"title": {"text": "key"}}, "yaxis2": {"tickfont": {"size": 10}}}
    layout: Any = finished(go.Figure(go.Bar(x=[1], y=[2]), axes), height=100).layout
    assert layout.template.layout.font.color == INK
    assert layout.yaxis2.tickfont.size == 10
    fonts = (layout.font, layout.xaxis.tickfont, layout.yaxis2.tickfont, layout.xaxis2.title.font, layout.legend.font)
    assert {font.color for font in fonts} == {None}


@pytest.mark.parametrize(
    "change",
    [
        {"height": "tall"},
        {"nonsense": 1},
        {"xaxis": {"title": {"font": {"size": "large"}}}},
    ],
)
def test_plotly_checks_properties_that_are_set_on_a_finished_figure(change: dict[str, Any]) -> None:
    figure = finished(go.Figure(go.Bar(x=[1], y=[2])), height=100)
    with pytest.raises(ValueError, match="Invalid"):
        figure.update_layout(change)
    with pytest.raises(ValueError, match="Invalid"):
        figure.update_traces(opacity="much")


def test_a_template_has_defaults_only_for_the_drawn_kinds_of_chart() -> None:
    figure = go.Figure([go.Heatmap(z=[[1]]), go.Scatter(x=[1], y=[2])])
    whole: Any = figure.to_dict()["layout"]["template"]
    sent: Any = finished(figure, height=100).to_dict()["layout"]["template"]
    assert set(whole["data"]) > {"heatmap", "scatter"}
    assert sent["data"] == {kind: whole["data"][kind] for kind in ("heatmap", "scatter")}
    assert sent["layout"] == whole["layout"] | {"font": {"color": INK}}


def test_tokens_that_look_like_markup_are_escaped() -> None:
    assert escaped("<pad>") == "&lt;pad&gt;"
    assert numbered(["<sos>", "a", "a"]) == ["0: &lt;sos&gt;", "1: a", "2: a"]


@pytest.mark.parametrize(
    "figure",
    [
        mask_picture(np.tri(3, dtype=bool), "abc", "abc", "#0072B2"),
        aligned_maps({"one": np.ones((3, 4), np.float32)}, "abc", "token", "dimension"),
    ],
)
def test_plotly_accepts_figures_that_are_built_without_its_checks(figure: go.Figure) -> None:
    spec = figure.to_dict()
    assert len(go.Figure(spec).data) == len(spec["data"])  # raises if a name or a value is not allowed


def test_blue_is_above_zero_in_a_figure_that_plotly_does_not_check() -> None:
    """If the scale were given by its name, plotly.js would draw RdBu in reverse: from blue through grey to red."""
    layout: Any = aligned_maps({"one": np.ones((3, 4), np.float32)}, "abc", "token", "dimension").to_dict()["layout"]
    low, middle, high = sample_colorscale(
        [list(stop) for stop in layout["coloraxis"]["colorscale"]], [0.0, 0.5, 1.0], colortype="tuple"
    )
    assert low[0] > 2 * low[2]
    assert high[2] > 2 * high[0]
    assert middle == pytest.approx((0.97, 0.97, 0.97), abs=0.01)
