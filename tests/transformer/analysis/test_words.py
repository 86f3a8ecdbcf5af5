"""Pieces of words joined to words: labels, sums over keys and means over queries."""

import numpy as np
import pytest

from transformer.analysis.words import groups, join
from transformer.errors import InputError
from transformer.text.pieces import joined_label

# A special token, a word of two pieces, a word of one, a special token.
QUERIES = ((0,), (1, 2), (3,), (4,))
KEYS = ((0,), (1, 2, 3))


def test_words_are_the_runs_of_one_number() -> None:
    assert groups((None, 0, 0, 1, None)) == QUERIES
    assert groups((None, None, 3)) == ((0,), (1,), (2,))
    assert groups(()) == ()


def test_labels_lose_the_signs_of_pieces() -> None:
    assert joined_label(["▁sle", "eps"]) == "sleeps"
    assert joined_label(["sle", "##eps"]) == "sleeps"
    assert joined_label(["▁"]) == "▁"
    assert joined_label(["▁dÃ", "©", "jÃł"]) == joined_label(["déjà"]) == "déjà"


def test_weights_are_summed_over_keys_and_averaged_over_queries() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 3, 5)).astype(np.float32)
    joined = join(weights, QUERIES, KEYS)
    assert joined.shape == (2, 3, 4, 2)
    assert joined.sum(-1) == pytest.approx(1, abs=1e-6)
    for row, of in enumerate(QUERIES):
        for column, on in enumerate(KEYS):
            expected = sum(weights[1, 2, query, key] for query in of for key in on) / len(of)
            assert joined[1, 2, row, column] == pytest.approx(expected, abs=1e-6)


def test_other_positions_are_refused() -> None:
    with pytest.raises(InputError, match="does not fit the words"):
        join(np.ones((5, 3)), QUERIES, KEYS)
