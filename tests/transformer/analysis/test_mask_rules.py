"""The rules of a mask, read off the mask itself."""

import numpy as np
import pytest

from transformer.analysis.mask_rules import is_causal, window
from transformer.errors import InputError

CAUSAL = np.tri(6, dtype=bool)
AWAY = abs(np.arange(6)[:, None] - np.arange(6))
REAL = np.ones(6, dtype=bool)


def test_a_mask_is_causal_if_it_hides_all_later_keys() -> None:
    assert is_causal(CAUSAL)
    assert not is_causal(AWAY < 3)


@pytest.mark.parametrize("rule", [CAUSAL, np.ones((6, 6), dtype=bool)])
def test_a_window_is_the_farthest_look(rule: np.ndarray) -> None:
    assert window(rule, REAL) is None
    assert window(rule & (AWAY <= 2), REAL) == 2
    padded = REAL & (np.arange(6) < 5)
    assert window(rule & (AWAY <= 2) & padded, padded) == 2
    assert window(rule & padded, padded) is None


def test_a_mask_that_no_distance_explains_has_no_window() -> None:
    blocks = CAUSAL & (np.arange(6)[:, None] // 3 == np.arange(6) // 3)  # hides a key at distance 1, shows one at 2
    assert window(blocks, REAL) is None
    assert window(np.zeros((6, 6), dtype=bool), REAL) is None


def test_other_shapes_are_refused() -> None:
    with pytest.raises(InputError, match="as many queries as keys"):
        is_causal(np.ones((2, 3), dtype=bool))
    with pytest.raises(InputError, match="each key is a token"):
        window(CAUSAL, REAL[:2])
