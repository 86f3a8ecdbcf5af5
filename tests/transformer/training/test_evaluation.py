"""How good a model is."""

import pytest

from tests.transformer.pipeline.test_card import CARD
from tests.transformer.small import small
from transformer.pipeline.pipeline import Answer, Pipeline
from transformer.training import evaluation
from transformer.training.evaluation import accuracy, held_out_pairs
from transformer.worlds import WORLDS, Pair

REVERSE = WORLDS["reverse"]


class Sometimes(Pipeline):
    """Reverses, but stumbles over every word with an x in it."""

    def answers(self, sources: list[str], edits: tuple = ()) -> list[Answer]:
        texts = [source if "x" in source else source[::-1] for source in sources]
        return [Answer(text, tuple(text), True) for text in texts]


@pytest.fixture
def sometimes() -> Pipeline:
    words = REVERSE.source_vocabulary
    return Sometimes("sometimes", small(source_vocab=len(words), target_vocab=len(words)), words, words, CARD)


def pairs(*sources: str) -> list[Pair]:
    return [Pair(source, source[::-1], f"length {len(source)}") for source in sources]


def test_counts_exact_answers_by_form(sometimes: Pipeline):
    found = accuracy(sometimes, pairs("ab", "ax", "xa", "abc", "abcdefghijkl", "xx"))
    assert (found.right, found.total, found.share) == (4, 6, 4 / 6)
    # "xx" backwards is "xx". Forms are in the order a person expects: 2 before 12.
    assert list(found.by_form.items()) == [("length 2", (2, 4)), ("length 3", (1, 1)), ("length 12", (1, 1))]
    assert found.share_by_form == {"length 2": 0.5, "length 3": 1.0, "length 12": 1.0}
    assert sorted((pair.source, answer) for pair, answer in found.wrong) == [("ax", "ax"), ("xa", "xa")]


def test_nothing_to_count_is_no_error(sometimes: Pipeline):
    found = accuracy(sometimes, [])
    assert (found.total, found.share, found.by_form) == (0, 0.0, {})


def test_shows_only_the_first_few_that_went_wrong(sometimes: Pipeline):
    found = accuracy(sometimes, pairs(*(f"x{letter}{other}" for letter in "abcde" for other in "fghij")))
    assert found.total == 25
    assert len(found.wrong) == 20


def test_batches_change_nothing(sometimes: Pipeline, monkeypatch: pytest.MonkeyPatch):
    words = pairs("ab", "ax", "abc", "xabc", "b")
    whole = accuracy(sometimes, words)
    monkeypatch.setattr(evaluation, "BATCH", 2)
    assert accuracy(sometimes, words) == whole


def test_held_out_pairs_are_different_held_out_and_as_many_as_wanted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evaluation, "DRAWS_PER_FORM", 20)
    found = held_out_pairs(REVERSE, per_form=5)
    assert all(REVERSE.is_held_out(pair.source) for pair in found)
    assert len({pair.source for pair in found}) == len(found)
    sizes = [sum(pair.form == f"length {length}" for pair in found) for length in range(1, 13)]
    assert sizes[2:] == [5] * 10
    assert max(sizes) == 5
    assert found == held_out_pairs(REVERSE, per_form=5)


def test_a_form_with_few_pairs_does_not_keep_the_search_going(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evaluation, "DRAWS_PER_FORM", 20)
    single = [pair for pair in held_out_pairs(REVERSE, per_form=300) if pair.form == "length 1"]
    assert len(single) < 26
