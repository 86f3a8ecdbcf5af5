"""Every English word of a figure comes from the table of labels, which a translation replaces."""

from collections.abc import Callable, Mapping

import numpy as np
import plotly.graph_objects as go
import pytest

from transformer.figures import head_map
from transformer.figures.comparison_figures import three_bars, three_maps
from transformer.figures.head_steps_figures import Matrix, tensor_map, terms_bars
from transformer.figures.labels import LABELS
from transformer.figures.ledger_figures import growth, shares
from transformer.figures.mask_conventions_figures import empty_rows
from transformer.figures.masks_figures import mask_picture
from transformer.figures.position_geometry_figures import distance_lines, position_map, product_map, rotation_map
from transformer.figures.residual_figures import unit_bars
from transformer.figures.token_geometry_figures import similarity_map, vocabulary_map
from transformer.figures.whatif_figures import difference_map, importance_map, probability_change

ONES, KEEP, TOKENS = np.ones((2, 2), np.float32), np.tri(2, dtype=bool), ["a", "b"]
GAP = np.array([[1, np.nan], [1, 1]], np.float32)
HIDDEN = Matrix(ONES, TOKENS, TOKENS, "Zeile", "Spalte", False, hidden=~KEEP)
COSTS = {"FLOPs": {"projections": 3, "masks": 1}}
Draw = Callable[[Mapping[str, str]], go.Figure]


@pytest.mark.few_cases(4)
@pytest.mark.parametrize(
    ("words", "draw"),
    [
        (
            "query key query_axis key_axis weight masked_cell",
            lambda labels: head_map(ONES, KEEP, TOKENS, TOKENS, labels=labels),
        ),
        ("query_axis may_look may_not_look", lambda labels: mask_picture(KEEP, TOKENS, TOKENS, "#0072B2", labels)),
        ("key_axis nan weight", lambda labels: empty_rows([("x", np.full(2, np.nan))], TOKENS, labels)),
        ("probability change", lambda labels: probability_change(TOKENS, ONES[0], ONES[0], ("x", "y"), labels=labels)),
        ("change change_of_weight", lambda labels: difference_map(ONES, KEEP, TOKENS, TOKENS, labels)),
        (
            "first_run second_run second_minus_first not_in_run masked query key_axis",
            lambda labels: three_maps(ONES, GAP, KEEP, KEEP, TOKENS, TOKENS, labels=labels),
        ),
        ("first_run second_run second_minus_first probability", lambda labels: three_bars(TOKENS, *ONES, labels=labels)),
        ("layer head_axis drop", lambda labels: importance_map({"cross": ONES}, {"cross": "x"}, labels)),
        ("masked_value", lambda labels: tensor_map(HIDDEN, labels)),
        ("sum", lambda labels: terms_bars([("x", 1.0, 2.0, 2.0)], 2.0, labels=labels)),
        ("unit", lambda labels: unit_bars([1], ONES[0, :1], "x", labels)),
        ("projections masks", lambda labels: shares(COSTS, labels)),
        ("projections here", lambda labels: growth([1, 2], {"projections": ONES[0]}, "x", "y", 1, False, labels=labels)),
        ("position dimension", lambda labels: position_map(ONES, labels=labels)),
        ("position dot_product", lambda labels: product_map(ONES, labels)),
        ("distance_axis mean from_to", lambda labels: distance_lines(np.ones((2, 3), np.float32), ("x", "y"), labels)),
        ("from_dimension to_dimension_axis", lambda labels: rotation_map(ONES, labels)),
        ("cosine", lambda labels: similarity_map(ONES, TOKENS, labels)),
        ("token_id variance_axis", lambda labels: vocabulary_map(ONES, TOKENS, ["x", "x"], [0], (0.5, 0.5), labels)),
    ],
)
def test_every_label_appears_in_a_figure_that_plotly_accepts(words: str, draw: Draw) -> None:
    checked = go.Figure(draw(LABELS).to_dict())  # Plotly checks this figure; `finished` skips the checks
    assert len(checked.data) == len(draw(LABELS).data)
    for name in words.split():
        assert "Anders" not in draw(LABELS).to_json()
        assert "Anders" in draw({**LABELS, name: f"Anders {LABELS[name]}"}).to_json(), name
