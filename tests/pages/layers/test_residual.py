"""The residual stream on the Layers page."""

import pytest

from pages.layers.residual import signed


@pytest.mark.parametrize(("value", "said"), [(-0.034, "−0.03"), (-0.0012, "0.00"), (0.0, "0.00"), (0.746, "0.75")])
def test_a_cosine_has_a_true_minus_and_none_at_zero(value: float, said: str) -> None:
    assert signed(value) == said
