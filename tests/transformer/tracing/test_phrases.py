"""Tests of edits that are written as phrases."""

import re

import pytest

from transformer import Ablate, Block, InputError, Patch, Pipeline, Replace, Scale, TransformerConfig
from transformer.tracing.paths import Kind
from transformer.tracing.phrases import SUBLAYERS, all_interventions, at_head, block, interventions

CONFIG = TransformerConfig.preset("pytorch", d_model=32, heads=4, encoder_layers=2, decoder_layers=3)


@pytest.mark.parametrize(
    ("phrase", "meaning"),
    [
        ("silence cross layer 3 head 2", Ablate("decoder.layers.2.cross_attention.weights", heads=(1,))),
        ("Silence  encoder LAYER 2", Ablate("encoder.layers.1.self_attention.weights")),
        ("average decoder layer 1 head 4", Ablate("decoder.layers.0.self_attention.weights", heads=(3,), to="uniform")),
        ("block cross layer 1 query 3 key 5", Block("decoder.layers.0.cross_attention", edges=((3, 5),))),
        ("block encoder layer 1 head 1 query 0 key 0", Block("encoder.layers.0.self_attention", heads=(0,), edges=((0, 0),))),
        ("no causal mask", Patch("target_mask", values=True)),
        ("no padding mask", Patch("source_mask", values=True)),
        ("no scaling cross layer 1", Scale("decoder.layers.0.cross_attention.scaled_scores", factor=8**0.5)),
        (
            "no residual encoder layer 1 feed_forward",
            Replace("encoder.layers.0.feed_forward_add_norm.sum", by="encoder.layers.0.feed_forward.output"),
        ),
    ],
)
def test_a_phrase_is_parsed_to_its_edits(phrase: str, meaning: object) -> None:
    assert interventions(phrase, CONFIG) == (meaning,)


@pytest.mark.parametrize(
    "phrase",
    [
        "",
        "silence",
        "silence sideways layer 1",
        "silence encoder layer 3",
        "silence cross layer 0",
        "silence cross layer 1 head 5",
        "no residual encoder layer 1 cross_attention",
        "block cross layer 1 query -1 key 2",
        "block cross layer 1 query 99999999999999 key 2",
        "silence cross layer ٣",
        "<script>alert(1)</script>",
        "x" * 5000,
    ],
)
def test_an_invalid_phrase_is_refused_with_the_allowed_forms(phrase: str) -> None:
    with pytest.raises(InputError, match="allowed are"):
        interventions(phrase, CONFIG)


def test_the_error_explains_every_word_in_capitals() -> None:
    with pytest.raises(InputError) as refused:
        interventions("make tea", CONFIG)
    forms, meanings = (refused.value.values[name] for name in ("forms", "words"))
    assert set(re.findall(r"\b[A-Z]+\b", forms)) == set(re.findall(r"\b([A-Z]+) is ", meanings))
    for word in (*Kind, *SUBLAYERS, *SUBLAYERS["decoder"]):
        assert word in meanings
    assert str(refused.value).endswith(meanings)  # the message is not shortened
    assert interventions(meanings.partition("example: ")[2], CONFIG)


def test_several_phrases_are_parsed_together_and_an_invalid_one_is_named() -> None:
    first, second = "no positions", "silence cross layer 1"
    assert all_interventions((first, second), CONFIG) == interventions(first, CONFIG) + interventions(second, CONFIG)
    assert all_interventions((), CONFIG) == ()
    with pytest.raises(InputError, match=r"^The decoder has no layer 99; allowed are 1 to 3\.$"):
        all_interventions(("silence cross layer 99",), CONFIG)
    with pytest.raises(InputError, match=r"^In “silence cross layer 99”: The decoder has no layer 99; allowed are 1 to 3\.$"):
        all_interventions((first, "silence cross layer 99"), CONFIG)
    with pytest.raises(
        InputError, match=r"^In “block encoder layer 1 query 0 key 9”: There is no key 9: the source has 6 tokens"
    ):
        all_interventions((first, "block encoder layer 1 query 0 key 9"), CONFIG, {"source": 6})
    with pytest.raises(InputError, match=r"^'make tea' is not an edit; allowed are"):
        all_interventions((first, "make tea"), CONFIG)


@pytest.mark.parametrize(
    ("kind", "name", "side", "count"),
    [
        ("encoder", "query", "source", 6),
        ("decoder", "key", "target", 4),
        ("cross", "query", "target", 4),
        ("cross", "key", "source", 6),
    ],
)
def test_a_token_out_of_range_is_refused_with_the_number_of_tokens(kind: str, name: str, side: str, count: int) -> None:
    cell = {"query": 0, "key": 0, name: count}
    phrase, lengths = "block {} layer 1 query {} key {}", {"source": 6, "target": 4}
    with pytest.raises(
        InputError, match=rf"^There is no {name} {count}: the {side} has {count} tokens; allowed are 0 to {count - 1}\.$"
    ):
        interventions(phrase.format(kind, cell["query"], cell["key"]), CONFIG, lengths)
    cell[name] -= 1
    assert interventions(phrase.format(kind, cell["query"], cell["key"]), CONFIG, lengths)


def test_phrases_written_by_the_page_are_parsed() -> None:
    assert interventions(at_head("silence", "cross", 2, 1), CONFIG) == interventions("silence cross layer 3 head 2", CONFIG)
    assert interventions(at_head("average", "encoder", 0), CONFIG) == interventions("average encoder layer 1", CONFIG)
    assert interventions(block("decoder", 0, None, 2, 1), CONFIG) == interventions(
        "block decoder layer 1 query 2 key 1", CONFIG
    )


@pytest.mark.parametrize(
    "phrase", ["no positions", "no scaling cross layer 1", "no residual decoder layer 2 cross_attention", "no causal mask"]
)
def test_every_edit_changes_the_logits_of_a_trained_model(phrase: str) -> None:
    pipeline = Pipeline.load("reverse")
    edits = interventions(phrase, pipeline.config)
    assert not pipeline.trace("headlight", "thgildaeh", edits).logits.equal(pipeline.trace("headlight", "thgildaeh").logits)


def test_without_positions_the_encoder_ignores_order() -> None:
    pipeline = Pipeline.load("reverse")
    edits = interventions("no positions", pipeline.config)
    assert sorted(pipeline.trace("abc", edits=edits)["encoder.output"].values[0, 1:4].sum(-1).tolist()) == pytest.approx(
        sorted(pipeline.trace("cba", edits=edits)["encoder.output"].values[0, 1:4].sum(-1).tolist()), abs=1e-4
    )
