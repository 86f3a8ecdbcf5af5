"""Tests of what names tell about query, key and value."""

import pytest

from transformer.watching.placing_attentions import named_branches


@pytest.mark.parametrize(
    "names",
    [
        ("query", "key", "value"),
        ("a.w_q.weight", "a.w_k.weight", "a.w_v.weight"),
        ("layer.q_proj.weight", "layer.k_proj.weight", "layer.v_proj.weight"),
        ("queries.kernel", "keys.kernel", "values.kernel"),
        ("to_q.weight", "to_k.weight", "to_v.weight"),
        ("WQ", "WK", "WV"),
        ("linear_query.weight", "linear_key.weight", "linear_val.weight"),
        ("linears.0.weight", "linears.1.weight", "linears.2.weight"),
        ("fc.4.weight", "fc.5.weight", "fc.6.weight"),
    ],
)
def test_names_tell_in_any_order(names: tuple[str, str, str]) -> None:
    assert named_branches(names) == {"query": 0, "key": 1, "value": 2}
    assert named_branches(names[::-1]) == {"query": 2, "key": 1, "value": 0}


@pytest.mark.parametrize(
    "names", [("a", "b", "c"), ("one.w", "two.w", "three.w"), ("x", "x", "x"), ("0", "2", "5"), ("", "", "")]
)
def test_other_names_do_not_tell(names: tuple[str, str, str]) -> None:
    assert named_branches(names) is None
