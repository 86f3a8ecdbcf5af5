"""Tests of exact answers and of held-out pairs."""

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.transformer.pipeline.checkpoints import CARD
from tests.transformer.small import small
from transformer.network.tap import Edit
from transformer.pipeline.pipeline import Answer, Pipeline
from transformer.tasks import TASKS, Pair
from transformer.tracing.interventions import silence
from transformer.training.evaluation import accuracy, held_out_pairs, pronouns_without

REVERSE = TASKS["reverse"]


class Sometimes(Pipeline):
    """A model that reverses words, but returns every word with an x unchanged."""

    def answers(self, sources: list[str], edits: tuple = ()) -> list[Answer]:
        texts = [source if "x" in source else source[::-1] for source in sources]
        return [Answer(text, tuple(text), True) for text in texts]


@pytest.fixture
def sometimes() -> Pipeline:
    words = REVERSE.source_vocabulary
    return Sometimes("sometimes", small(source_vocab=len(words), target_vocab=len(words)), words, words, CARD)


def pairs(*sources: str) -> list[Pair]:
    return [Pair(source, source[::-1], f"length {len(source)}") for source in sources]


def test_exact_answers_are_counted_by_form(sometimes: Pipeline):
    result = accuracy(sometimes, pairs("ab", "ax", "xa", "abc", "abcdefghijkl", "xx"))
    assert (result.right, result.total, result.share) == (4, 6, 4 / 6)
    # "xx" backwards is "xx". Forms are sorted by number: 2 before 12.
    assert list(result.by_form.items()) == [("length 2", (2, 4)), ("length 3", (1, 1)), ("length 12", (1, 1))]
    assert result.share_by_form == {"length 2": 0.5, "length 3": 1.0, "length 12": 1.0}
    assert sorted((pair.source, answer) for pair, answer in result.wrong) == [("ax", "ax"), ("xa", "xa")]


def test_a_pair_counts_once_in_all_and_in_each_of_its_groups(sometimes: Pipeline):
    one, other = Pair("ab", "ba", "length 2", ("no x", "short")), Pair("ax", "xa", "length 2", ("with x", "short"))
    result = accuracy(sometimes, [one, other])
    assert (result.right, result.total) == (1, 2)
    assert result.by_form == {"length 2": (1, 2), "no x": (1, 1), "short": (1, 2), "with x": (0, 1)}


def test_held_out_pairs_fill_every_group():
    held_out = held_out_pairs(TASKS["addition"], per_form=12)
    counts = Counter(stratum for pair in held_out for stratum in pair.strata)
    # There are only a few sums of one digit and one digit.
    assert {name for name, count in counts.items() if count < 12} <= {"1 + 1 digits"}
    assert {"with =", "without =", "0 carries", "1 carry", "2 carries", "3 carries"} <= counts.keys()


FRENCH = TASKS["english-french"]


class NeedsOneHead(Pipeline):
    """A model that translates with the right pronouns, except that without the second head of the second layer of its encoder
    the pronoun of every other sentence is wrong."""

    def answers(self, sources: list[str], edits: Sequence[Edit] = ()) -> list[Answer]:
        (edit,) = edits
        wrong = edit == silence("encoder", 1, (1,))
        texts = [f"{FRENCH.solve(source)}" for source in sources]
        texts = [text.replace("qu'il", "qu'elle") if wrong else text for text in texts]
        return [Answer(text, tuple(self.target_vocabulary.split(text)), True) for text in texts]


@pytest.mark.slow
def test_the_share_of_right_pronouns_is_measured_with_each_head_silenced():
    pipeline = NeedsOneHead("x", small(), FRENCH.source_vocabulary, FRENCH.target_vocabulary, CARD)
    without = pronouns_without(pipeline, FRENCH.reference_pairs(4, "test"))
    assert {kind: shares.shape for kind, shares in without.items()} == dict.fromkeys(("encoder", "decoder", "cross"), (2, 3))
    # In each pair, one pronoun is `elle` and the other `il`.
    assert without["encoder"].tolist() == [[1, 1, 1], [1, 0.5, 1]]
    assert (without["decoder"] == 1).all()
    assert (without["cross"] == 1).all()


def test_accuracy_of_no_pairs_is_zero(sometimes: Pipeline):
    result = accuracy(sometimes, [])
    assert (result.total, result.share, result.by_form) == (0, 0.0, {})


def test_at_most_twenty_wrong_answers_are_kept(sometimes: Pipeline):
    result = accuracy(sometimes, pairs(*(f"x{letter}{other}" for letter in "abcde" for other in "fghij")))
    assert result.total == 25
    assert len(result.wrong) == 20


def test_the_batch_size_does_not_change_the_result(sometimes: Pipeline):
    words = pairs("ab", "ax", "abc", "xabc", "b")
    assert accuracy(sometimes, words, batch_size=2) == accuracy(sometimes, words)


def test_held_out_pairs_are_distinct_held_out_and_as_many_as_asked():
    held_out = held_out_pairs(REVERSE, per_form=5, most_samples=400)
    assert all(REVERSE.is_held_out(pair.source) for pair in held_out)
    assert len({pair.source for pair in held_out}) == len(held_out)
    sizes = [sum(pair.form == f"length {length}" for pair in held_out) for length in range(1, 13)]
    assert sizes[2:] == [5] * 10
    assert max(sizes) == 5
    assert held_out == held_out_pairs(REVERSE, per_form=5, most_samples=400)


def test_a_form_with_few_pairs_does_not_make_the_search_endless():
    single = [pair for pair in held_out_pairs(REVERSE, per_form=300, most_samples=400) if pair.form == "length 1"]
    assert len(single) < 26
