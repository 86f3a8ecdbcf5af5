"""Tests of the facts about what stands out in a figure."""

import numpy as np
import plotly.graph_objects as go

from transformer.figures import head_map
from transformer.figures.head_steps_figures import Matrix, tensor_maps
from transformer.figures.highlights import Highlight, highlights
from transformer.figures.masks_figures import mask_picture
from transformer.figures.token_geometry_figures import aligned_maps
from transformer.figures.whatif_figures import probability_change

ALONE = {"picture": "", "series": ""}


def test_the_highlights_of_a_map_are_the_largest_cells_of_its_strongest_rows():
    weights = np.array([[1, 0, 0], [0.3, 0.7, 0], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5]], np.float32)
    allowed = np.array([[True, False, False], *[[True] * 3] * 3])
    told = highlights(head_map(weights, allowed, ["it", "b", "c", "d"], ["animal", "x", "<pad>"]))
    assert [(kind, names["row"], names["column"]) for kind, names, *_ in told] == [
        ("cell", "0: it", "0: animal"),
        ("cell", "2: c", "1: x"),
        ("cell", "1: b", "1: x"),
    ]
    assert [round(values["value"], 3) for _, _, values, _ in told] == [1, 0.8, 0.7]


def test_highlights_have_signs_and_leave_out_empty_cells():
    figure = go.Figure(go.Heatmap(z=[[np.nan, 1.0], [-3.0, 2.0], [np.nan, np.nan]]))
    assert highlights(figure) == (
        Highlight("cell", ALONE | {"row": "1", "column": "0"}, {"value": -3.0}),
        Highlight("cell", ALONE | {"row": "0", "column": "1"}, {"value": 1.0}),
    )


def test_a_map_of_pairs_leaves_out_each_pair_of_a_row_with_itself():
    names = ["cat", "dog", "the"]
    figure = go.Figure(go.Heatmap(z=[[1, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 1]], x=names, y=names))
    assert highlights(figure)[0] == Highlight("cell", ALONE | {"row": "cat", "column": "dog"}, {"value": 0.5})
    assert [(names["row"], names["column"]) for _, names, *_ in highlights(figure)] == [("cat", "dog"), ("dog", "the")]
    # A token that attends only to itself is not such a pair.
    itself = highlights(head_map(np.eye(2, dtype=np.float32), np.ones((2, 2), dtype=bool), ["a", "b"], ["a", "b"]))
    assert [(names["row"], names["column"]) for _, names, *_ in itself] == [("0: a", "0: a"), ("1: b", "1: b")]


def test_the_highlights_of_bars_are_the_largest_of_each_series():
    tokens = ["a", "b", "c", "<eos>"]
    before, after = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.7, 0.1, 0.1, 0.1])
    told = highlights(probability_change(tokens, before, after, ("as it is", "edited")))
    assert [(names["series"], names["label"]) for _, names, *_ in told[:3]] == [
        ("as it is", "3: <eos>"),
        ("as it is", "2: c"),
        ("as it is", "1: b"),
    ]
    assert (told[3].names["series"], told[3].names["label"], told[3].values) == ("edited", "0: a", {"value": np.float32(0.7)})
    flat = go.Figure(go.Bar(x=[2.0, -5.0], y=["up", "down"], orientation="h"))
    assert [(names["label"], values["value"]) for _, names, values, _ in highlights(flat)] == [("down", -5), ("up", 2)]
    assert highlights(go.Figure(go.Bar(x=["a", "b"], y=[0.0, 0.0]))) == ()  # no bar stands out


def test_the_highlight_of_a_line_is_its_course_and_broken_or_level_lines_have_none():
    line = go.Scatter(y=[1.0, -4.0, 2.0], mode="lines", name="loss")
    assert highlights(go.Figure(line)) == (Highlight("line", ALONE, {"first": 1, "last": 2, "most": -4}),)
    broken, level = go.Scatter(y=[1.0, None, 2.0], mode="lines"), go.Scatter(y=[2, 2], mode="lines")
    mask = mask_picture(np.array([[True, False], [True, True]]), ["a", "b"], ["a", "b"], "#009e73")
    assert highlights(go.Figure([broken, level, *mask.data, go.Scatter(y=[1, 2], mode="markers")])) == ()
    looks = go.Scatter(y=[1, 2], mode="lines", hoverinfo="skip")  # a line without hover texts has no highlight
    assert highlights(go.Figure(looks)) == ()


def test_equally_large_cells_are_counted_and_a_single_weight_of_one_is_a_highlight():
    """If all cells of a row are equal, the first one is not larger than the others, so the others are counted."""
    ((_, names, values, alike),) = highlights(go.Figure(go.Heatmap(z=[[0.25, 0.25, 0.25, 0.25]], x=list("abcd"), y=["it"])))
    assert (names["column"], values["value"], alike) == ("a", 0.25, 3)
    ((_, names, values, alike),) = highlights(go.Figure(go.Heatmap(z=[[1.0]], x=["a"], y=["it"])))
    assert (names["row"], values["value"], alike) == ("it", 1.0, 0)


def test_all_maps_that_share_an_axis_have_highlights():
    panels = {"before": np.array([[1.0, -2.0], [0.5, 0.0]]), "after": np.array([[3.0, 0.0], [1.0, -9.0]])}
    told = highlights(aligned_maps(panels, ["a", "b"], "token", "dimension"))
    assert [(names["picture"], names["row"], values["value"]) for _, names, values, _ in told] == [
        ("before", "0: a", -2.0),
        ("before", "1: b", 0.5),
        ("after", "1: b", -9.0),
        ("after", "0: a", 3.0),
    ]


def test_each_picture_has_a_highlight_and_the_lines_on_top_come_first():
    matrices = [
        Matrix(np.array([[2.0, 1.0], [3.0, 4.0], [5.0, 6.0]]), list("abc"), None, "query", "d_head", True, title=str(index))
        for index in range(12)
    ]
    assert [names["picture"][:2].strip() for _, names, *_ in highlights(tensor_maps(matrices))] == list(map(str, range(12)))
    lines = [go.Scatter(y=[0, index], mode="lines", name=str(index)) for index in range(1, 49)]
    told = highlights(go.Figure(lines))
    assert [names["series"] for _, names, *_ in told] == [str(index) for index in range(48, 36, -1)]  # drawn last, so on top
