"""The sentence about a head's strongest attention pattern."""

import numpy as np
import pytest

from pages.attention.head_patterns import TELLING, in_words, measure_names
from pages.shell.view.view import View
from pages.ui.text import text
from transformer import Pipeline
from transformer.analysis.head_measures import SHARES, measure

WORDS = text("head_patterns")


def measures(**shares: float) -> dict[str, np.ndarray]:
    """The measures of a single head. Shares that are not passed are 0."""
    return {name: np.array([[shares.get(name.replace("-", "_"), 0.0)]]) for name in ("entropy", *SHARES)}


@pytest.mark.parametrize("name", TELLING)
def test_the_sentence_names_the_largest_share(name: str) -> None:
    shares = {other.replace("-", "_"): 0.6 for other in TELLING if other != name}
    expected = WORDS["sentence"].format(verb=WORDS["verbs"][name], share="90%")
    assert in_words(measures(**shares | {name.replace("-", "_"): 0.9}), 0, 0) == expected


def test_of_two_equal_shares_the_sentence_names_the_more_specific_pattern() -> None:
    expected = WORDS["sentence"].format(verb=WORDS["verbs"]["previous"], share="80%")
    assert in_words(measures(previous=0.801, diagonal=0.804, first=0.8), 0, 0) == expected


def test_without_a_clear_share_the_sentence_gives_the_spread() -> None:
    assert in_words(measures(entropy=2.0, previous=0.49, next=0.4), 0, 0) == WORDS["spread"].format(entropy="2.00", keys="4.0")


def test_the_sentence_describes_the_requested_head() -> None:
    weights = np.zeros((2, 1, 6, 6), dtype=np.float32)
    weights[0, 0], weights[1, 0, :, 0] = np.eye(6), 1
    measured = measure(weights)
    assert WORDS["verbs"]["self"] in in_words(measured, 0, 0)
    assert WORDS["verbs"]["first"] in in_words(measured, 1, 0)


@pytest.mark.parametrize(("source", "shown"), [("abca", True), ("abcd", False)])
def test_repetitions_are_measured_if_a_token_occurs_twice(source: str, shown: bool) -> None:
    view, trace = View("reverse", (source,), (None,), "reverse"), Pipeline.load("reverse").trace(source)
    for kind in ("encoder", "decoder"):
        assert ({"duplicate", "induction"} <= {*measure_names(view, trace, kind)}) == shown
        assert {"duplicate", "induction"} <= {*WORDS["meanings"]}
    assert not {"duplicate", "induction"} & {*measure_names(view, trace, "cross")}
