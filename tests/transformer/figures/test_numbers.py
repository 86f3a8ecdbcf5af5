"""Tests of the table of a figure's numbers."""

import io

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from transformer.figures import head_map
from transformer.figures.head_steps_figures import Matrix, tensor_maps, terms_bars
from transformer.figures.numbers import has_numbers, numbers
from transformer.figures.token_geometry_figures import aligned_maps
from transformer.figures.whatif_figures import probability_change

WEIGHTS = np.array([[1, 0], [1 / 3, 2 / 3]], np.float32)
ALLOWED = np.array([[True, False], [True, True]])


def test_a_map_becomes_a_matrix_with_empty_masked_cells():
    table = numbers(head_map(WEIGHTS, ALLOWED, ["<sos>", "a&b"], ["x", "<pad>"]))
    assert list(table.index) == ["0: <sos>", "1: a&b"]
    assert list(table.columns) == ["0: x", "1: <pad>"]
    assert np.isnan(table.iloc[0, 1])
    again = pd.read_csv(io.StringIO(table.to_csv()), index_col=0).to_numpy().astype(np.float32)
    assert (again[ALLOWED] == WEIGHTS[ALLOWED]).all()  # exact, through text


def test_subplots_become_a_list_with_their_titles():
    hidden = Matrix(np.array([[1.0, -np.inf]]), ["a"], ["b", "c"], "query", "key", True, title="2. Scores")
    plain = Matrix(np.array([[3.0], [4.0]]), ["a", "b"], None, "query", "d_head", True, title="1. Queries")
    table = numbers(tensor_maps([plain, hidden]))
    assert list(table["value"]) == [3, 4, 1]  # masked cells have no line
    assert [title.split(" query")[0] for title in table["picture"]] == ["1. Queries", "1. Queries", "2. Scores"]
    assert list(table["row"]) == ["0: a", "1: b", "0: a"]


def test_maps_that_share_an_axis_become_one_list():
    panels = {"before": np.array([[1.0, -2.0]]), "after": np.array([[3.0, 0.0]])}
    table = numbers(aligned_maps(panels, ["a"], "token", "dimension"))
    assert table[["picture", "value"]].to_numpy().tolist() == [["before", 1], ["before", -2], ["after", 3], ["after", 0]]


def test_bars_become_a_list_with_their_series_named_as_their_axes():
    table = numbers(probability_change(["<eos>"], np.array([0.25]), np.array([0.5]), ("as it is", "edited")))
    assert list(table.columns) == ["series", "x", "probability"]
    assert table.to_numpy().tolist() == [["as it is", "0: <eos>", 0.25], ["edited", "0: <eos>", 0.5]]
    assert list(numbers(terms_bars([("d_head 0", 2.0, 3.0, 6.0)], 6.0))["y"]) == [6, 6]


def test_has_numbers_is_false_without_numbers():
    assert not has_numbers(go.Figure())
    assert not has_numbers(go.Figure(go.Pie(values=[1])))
    assert has_numbers(go.Figure(go.Bar(y=[1])))
