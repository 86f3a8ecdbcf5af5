"""Truths about patching, beside the library called directly; and what the lesson *Needed or enough?* says of its models."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pages.lessons.content.grading import judge
from pages.lessons.content.lesson import Question, Stop, Truth
from pages.lessons.content.library import shipped
from pages.lessons.content.patching_truths import ROLES, share_of
from pages.lessons.content.truths import filled, truth_of
from pages.shell.view.runs import runs
from pages.ui.caches import RESULTS
from tests.pages.apps import charts, on_page
from transformer import HeadlightError
from transformer.patching import Head, Place, RunPair, patch_everywhere, patched_logits, path_effects, run_pair
from transformer.tracing.interventions import silence

TIRED = "the animal did not cross the street because it was too tired"
WIDE = TIRED.replace("tired", "wide")
FIRST, SECOND = "english-french", "english-french-redundant"
STOPS = shipped()["needed-or-enough"].stops
OPTIONS = ("`cross L2 H1`", "see cross L1 H2", "encoder L1 H1: words")


def stop(model: str = FIRST, source: str = TIRED, **view: str) -> Stop:
    parameters = {"model": model, "source": source, "b": WIDE if source == TIRED else TIRED, **view}
    return Stop(title="a", say="b", page="patching", view=tuple(parameters.items()))


def asked(of: Stop, name: str, options: tuple[str, ...] = (), **truth: Any) -> Stop:
    kind = "choose" if options else "number"
    return replace(of, question=Question(kind=kind, ask="?", options=options, truth=Truth(name=name, **truth)))


def number_of(of: Stop, name: str, options: tuple[str, ...] = (), **truth: Any) -> float:
    value = truth_of(asked(of, name, options, **truth))
    assert value
    return value.number


def pair_of(model: str, clean: str = TIRED) -> RunPair:
    return run_pair(runs().pipeline(model), clean, WIDE if clean == TIRED else TIRED)


def moved(pair: RunPair, places: list[tuple[str, int, int]], direction: str) -> tuple[float, int]:
    """The share of the difference that is lost or restored by some heads together, and the preferred token; from the logits."""

    def difference(row: np.ndarray) -> float:
        return float(row[pair.tokens[0]] - row[pair.tokens[1]])

    with_places, same = (
        patched_logits(pair, tuple(Place(*place) for place in of), "head_output", direction).numpy()[0].astype(float)
        for of in (places, [])
    )
    (other,) = (
        patched_logits(pair, (), "head_output", way).numpy()[0].astype(float)
        for way in ("denoise", "noise")
        if way != direction
    )
    share = (difference(with_places) - difference(same)) / (difference(other) - difference(same))
    return share, int(with_places.argmax())


# --- the truths ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("model", [FIRST, SECOND])
@pytest.mark.parametrize("head", [("cross", 1, 2), ("encoder", 1, 2), ("decoder", 2, 1)], ids=str)
def test_a_share_is_that_of_the_patched_logits(model: str, head: tuple[str, int, int]) -> None:
    kind, layer, number = head
    for name, direction in (("lost-share", "noise"), ("restored-share", "denoise")):
        given = number_of(stop(model), name, kind=kind, layer=layer, head=number)
        assert given == pytest.approx(moved(pair_of(model), [(kind, layer - 1, number - 1)], direction)[0], abs=1e-4)
        # The head of the view is meant if the truth names none.
        assert given == number_of(stop(model, kind=kind, layer=str(layer), head=str(number)), name)


def test_nearly_all_of_the_difference_is_in_the_vectors_of_a_few_tokens() -> None:
    """Stop 1 says so of its map: each share is large or small."""
    view = dict(STOPS[0].view)
    assert (view["part"], view["tokens"]) == ("places", "each")
    *_, found = patch_everywhere(pair_of(FIRST), view["what"], positions="each")
    shares = np.concatenate([of.ravel() for of in found.shares().values()])
    assert 0 < np.count_nonzero(shares > 0.8) <= 5
    assert np.count_nonzero(np.abs(shares) > 0.1) <= 5


def test_what_one_order_of_the_texts_loses_the_other_restores() -> None:
    head = {"kind": "encoder", "layer": 1, "head": 2}
    lost = number_of(stop(SECOND, TIRED), "lost-share", (), **head)
    restored = number_of(stop(SECOND, WIDE), "restored-share", (), **head)
    assert lost == pytest.approx(restored, abs=1e-4)


def test_a_head_is_needed_if_half_of_the_difference_is_lost_without_it() -> None:
    for model, is_needed in ((FIRST, True), (SECOND, False)):
        head = {"kind": "cross", "layer": 1, "head": 2}
        assert (number_of(stop(model), "lost-share", (), **head) >= 0.5) == is_needed
        assert number_of(stop(model), "head-is-needed", ("No.", "Yes."), **head) == is_needed


@pytest.mark.slow
def test_the_head_that_moves_most_is_the_right_option_and_all_shares_are_told() -> None:
    for name, direction in (("most-restoring-head", "denoise"), ("most-needed-head", "noise")):
        with_question = asked(stop(), name, OPTIONS)
        value, shares = (
            truth_of(with_question),
            [moved(pair_of(FIRST), [of], direction)[0] for of in [("cross", 1, 0), ("cross", 0, 1), ("encoder", 0, 0)]],
        )
        assert value
        assert value.row == pytest.approx(shares, abs=1e-4)
        assert value.number == np.argmax(shares)
        assert with_question.question
        verdict = judge(with_question.question, str(int(value.number) + 1), value)
        assert verdict.right
        assert f"cross L1 H2 {shares[1]:.0%}" in verdict.says


def test_the_parting_token_is_the_first_that_a_does_not_share() -> None:
    answers = [answer.text.split() for answer in runs().pipeline(FIRST).answers([TIRED, WIDE])]
    (first,) = {(a, b) for a, b in zip(*answers, strict=True) if a != b and a.startswith("qu'")}
    value = truth_of(asked(stop(), "parting-token", ("fatigué", "il")))
    assert value
    assert value.number == 1
    words = dict(value.words)
    assert tuple(words["query"] + words[name] for name in ("first", "second")) == first


def test_the_step_and_the_tensor_of_the_view_are_those_of_the_truth() -> None:
    pair = pair_of(FIRST)
    *_, of_weights = patch_everywhere(pair, "weights")
    weights = number_of(stop(what="weights"), "restored-share", kind="cross", layer=1, head=2)
    assert weights == pytest.approx(of_weights.shares()["cross"][0, 1, 0], abs=1e-4)
    # At the last word, the answers are fatigué and large.
    assert number_of(stop(step=str(pair.row + 3)), "parting-token", ("il", "fatigué")) == 1


def test_a_role_is_the_option_at_its_place() -> None:
    of = asked(stop(SECOND), "head-role", tuple("abcd"), kind="encoder", layer=1, head=2)
    value = truth_of(of)
    assert of.question
    verdicts = [judge(of.question, str(option), value) for option in range(1, 5)]
    assert [verdict.right for verdict in verdicts] == [role == "partner" for role in ROLES]
    assert "needs a partner" in verdicts[0].says


HEAD: dict[str, Any] = {"kind": "cross", "layer": 1, "head": 2}


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        (asked(replace(stop(), view=(("model", FIRST),)), "lost-share", **HEAD), "needs a second text: b in the view"),
        (asked(stop(b=TIRED), "lost-share", **HEAD), "barely differ"),
        (asked(stop(b=f"{TIRED} ."), "lost-share", **HEAD), "tokens"),
        (asked(stop(step="99"), "lost-share", **HEAD), "99"),
        (asked(stop(), "lost-share", kind="cross", layer=1, head=5), "no head cross L1 H5"),
        (asked(stop("reverse"), "lost-share", **HEAD), ""),
        (asked(stop(), "parting-token", ("fatigué", "large")), "None of the options is 'il'"),
        (asked(stop(), "most-needed-head", ("cross L1 H2", "cross")), "'cross' names no head"),
        (asked(stop(), "most-needed-head", ("cross L1 H2", "cross L9 H1")), "no head cross L9 H1"),
        (asked(stop(), "most-needed-head", ("cross L1 H2", "cross L0 H1")), "no head cross L0 H1"),
        (asked(stop(), "head-role", ("a", "b"), **HEAD), "four options"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_truth_that_cannot_be_computed_is_refused_with_a_sentence(of: Stop, sentence: str) -> None:
    with pytest.raises(HeadlightError) as error:
        truth_of(of)
    assert sentence in str(error.value)


def test_shares_are_filled_into_the_words_and_wrong_ones_stay() -> None:
    share = share_of(stop(), "lost-share", Head("cross", 0, 1))
    assert filled(stop(), "a {lost-share cross 1 2} b") == f"a {share:.0%} b"
    for words in ("{lost-share cross 9 9}", "{lost-share cross 0 0}", "{lost-share x 1 1}"):
        assert filled(stop(), words) == words


def passes(*works: Callable[[], object]) -> list[int]:
    """How many forward passes of the model each of these takes, after another, when nothing is in the cache before."""
    RESULTS.clear()
    counts: list[int] = []
    for work in works:
        counts.append(0)

        def count(*_: object) -> None:
            counts[-1] += 1

        counting = runs().own_network(FIRST).register_forward_pre_hook(count)
        work()
        counting.remove()
    return counts


@pytest.mark.slow
def test_the_page_takes_what_the_truth_has_computed() -> None:
    of = stop(part="need")

    def truth() -> None:
        number_of(of, "lost-share", **HEAD)

    def page() -> None:
        app = on_page("pages/patching/page.py", **dict(of.view))
        assert not app.exception
        assert "need-map" in [chart.key for chart in charts(app)]

    (alone,) = passes(page)
    before, after = passes(truth, page)
    assert before > 2
    assert before + after == alone


# --- what the lesson says ------------------------------------------------------------------------------------------------


def test_stop_2_is_right_that_two_heads_of_one_chain_are_enough() -> None:
    assert number_of(STOPS[1], "restored-share", kind="cross", layer=1, head=2) > 1
    second = number_of(STOPS[1], "restored-share", kind="encoder", layer=2, head=3)
    assert second > 0.5
    through = path_effects(pair_of(FIRST), ("encoder", 1, 2), "key")["cross"][0, 1]
    assert through == pytest.approx(second, rel=0.1)


def test_stop_4_is_right_that_the_head_has_a_backup() -> None:
    pair, vocabulary = pair_of(SECOND, WIDE), runs().pipeline(SECOND).vocabulary("target")
    head, backup = ("encoder", 0, 1), ("encoder", 0, 0)
    assert moved(pair, [head], "denoise")[0] > 0.5
    (alone, kept), (of_backup, _), (both, other) = (moved(pair, of, "noise") for of in ([head], [backup], [head, backup]))
    assert max(alone, of_backup) < 0.2 < 0.8 < both
    assert vocabulary.tokens_of([kept, other]) == ("elle", "il")


@pytest.mark.parametrize("model", [FIRST, SECOND])
def test_stop_5_is_right_that_the_head_looks_at_the_noun(model: str) -> None:
    answer = runs().pipeline(model).answers([TIRED])[0]
    for source, noun in ((TIRED, "animal"), (WIDE, "street")):
        trace = runs().pipeline(model).trace([source], [answer])
        row = trace.weights("cross", 0)[0, 1, pair_of(model).row]
        assert row[trace.tokens("cross")[1].index(noun)] > 0.9


@pytest.mark.slow
def test_stop_5_is_right_that_cross_attention_carries_all_and_no_head_a_half() -> None:
    heads = [("cross", layer, head) for layer in range(2) for head in range(4)]
    for direction in ("denoise", "noise"):
        assert moved(pair_of(SECOND), heads, direction)[0] == pytest.approx(1, abs=0.02)
        assert max(moved(pair_of(SECOND), [head], direction)[0] for head in heads) < 0.5
    value = truth_of(STOPS[4])
    assert value
    assert ROLES[int(value.number)] == "bystander"


@pytest.mark.slow
def test_stop_6_is_right_about_the_partner_and_about_silencing() -> None:
    assert number_of(STOPS[5], "lost-share") > 0.5 > number_of(STOPS[5], "restored-share")
    pipeline, pair = runs().pipeline(FIRST), pair_of(FIRST)
    (silenced,) = pipeline.answers([TIRED], [silence("encoder", 0, (1,))])
    assert silenced.text == pipeline.answers([TIRED])[0].text
    assert pipeline.vocabulary("target").tokens_of([moved(pair, [("encoder", 0, 1)], "noise")[1]]) == ("elle",)
