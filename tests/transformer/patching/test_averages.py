"""Tests of averages over pairs, by hand; and of the shipped models about pronouns, whose heads are known from their cards."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.transformer.patching.pairs import last
from transformer.patching import AverageNeeds, Head, average_needs, needs, run_pair
from transformer.pipeline.pipeline import Pipeline
from transformer.tasks import find_task

PAIRS = 20


def texts(pipeline: Pipeline, count: int) -> list[tuple[str, str]]:
    pairs = find_task(pipeline.card.task).reference_pairs(count, "test")
    return [(pair.source_a, pair.source_b) for pair in pairs]


def last_of(pipeline: Pipeline, pairs: Sequence[tuple[str, str]]) -> AverageNeeds:
    *_, averages = average_needs(pipeline, pairs)
    return averages


@pytest.fixture(scope="module")
def static() -> Pipeline:
    return Pipeline.load("english-french-static")


@pytest.mark.slow
def test_means_and_pairs_left_out_are_those_by_hand(static: Pipeline) -> None:
    (first, second), third = texts(static, 3)[:2], texts(static, 3)[2]
    shorter = (first[0], first[1].replace("the ", "", 1))
    pairs = [first, (first[0], first[0]), second, shorter, third]
    reports = [*average_needs(static, pairs)]
    assert [(report.done, report.left_out, report.pairs) for report in reports] == [
        (1, 0, 1),
        (2, 1, 1),
        (3, 1, 2),
        (4, 2, 2),
        (5, 2, 3),
    ]
    for metric in ("logit", "probability"):
        expected = []
        for clean, corrupt in (first, second, third):
            pair = run_pair(static, clean, corrupt)
            expected.append(needs(last(pair), last(pair, direction="noise"), metric))
        for kind in ("encoder", "decoder", "cross"):
            for name in ("lost", "restored"):
                of_pairs = np.stack([getattr(of_pair, name)[kind] for of_pair in expected])
                assert np.array_equal(getattr(reports[-1], name)[metric][kind], of_pairs)
                assert np.array_equal(getattr(reports[0], name)[metric][kind], of_pairs[:1])  # later pairs do not change it
                assert getattr(reports[-1].needs(metric), name)[kind] == pytest.approx(of_pairs.mean(0))


@pytest.mark.slow
def test_the_interval_is_the_bootstrap_by_hand(static: Pipeline) -> None:
    averages = last_of(static, texts(static, 4))
    for which in ("lost", "restored"):
        interval = averages.interval(which, "probability", seed=3)
        chosen = np.random.default_rng(3).integers(0, 4, (2000, 4))
        for kind, values in getattr(averages, which)["probability"].items():
            means = np.array([values[rows].mean(0) for rows in chosen])
            assert interval.mean[kind] == pytest.approx(values.mean(0))
            assert interval.low[kind] == pytest.approx(np.percentile(means, 2.5, axis=0))
            assert interval.high[kind] == pytest.approx(np.percentile(means, 97.5, axis=0))
            assert (interval.low[kind] <= interval.high[kind]).all()
    assert averages.interval("lost").low["cross"] == pytest.approx(averages.interval("lost").low["cross"], abs=0)


def test_without_a_pair_that_says_something_there_are_no_heads(static: Pipeline) -> None:
    (clean, _), *_ = texts(static, 1)
    averages = last_of(static, [(clean, clean)])
    assert (averages.pairs, averages.left_out) == (0, 1)
    assert averages.needs().roles == {}
    assert averages.interval("lost").low == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["english-french", "english-french-redundant"])
def test_the_head_that_turns_is_alone_or_has_become_a_bystander(name: str) -> None:
    """The card says which head turns, and how often the pronoun is right without it."""
    pipeline = Pipeline.load(name)
    card = pipeline.card.measures["pronouns"]
    averages = last_of(pipeline, texts(pipeline, PAIRS))
    assert averages.pairs >= PAIRS - 2
    turning = Head("cross", card["layer"] - 1, card["head"] - 1)
    assert turning == ("cross", 0, 1)
    found = averages.needs()
    lost, restored = (of["cross"][turning[1:]] for of in (found.lost, found.restored))
    assert card["shift"] > 0.99
    if card["right_without"] < 0.6:  # without it, the model guesses
        assert name == "english-french"
        assert found.roles[turning] == "alone"
        assert averages.interval("lost").low["cross"][0, 1] > 0.9
        assert [head for head, role in found.roles.items() if head.kind == "cross" and role != "bystander"] == [turning]
    else:  # it turns, but others do its work
        assert name == "english-french-redundant"
        assert found.roles[turning] == "bystander"
        assert max(lost, restored) < 0.3
        assert averages.interval("lost").high["cross"][0, 1] < 0.5


@pytest.mark.slow
def test_without_a_head_that_turns_another_one_is_needed(static: Pipeline) -> None:
    card = static.card.measures["pronouns"]
    assert np.abs(card["shifts"]).max() < 0.01
    needed = Head(card["needed"]["kind"], card["needed"]["layer"] - 1, card["needed"]["head"] - 1)
    assert needed == ("cross", 0, 2)
    averages = last_of(static, texts(static, PAIRS))
    found = averages.needs()
    assert found.lost["cross"].argmax() == np.ravel_multi_index(needed[1:], found.lost["cross"].shape)
    assert averages.interval("lost").low["cross"][0, 2] > 0.3
    pair = run_pair(static, *texts(static, 1)[0])
    where, carried = last(pair, what="weights").shares()["cross"], last(pair).shares()["cross"]
    assert np.abs(where).max() < 0.05 < carried[0, 2, 0]  # no head looks elsewhere; what this head carries differs
