"""Tests of untrained models of any size."""

import threading

import hypothesis.strategies as some
import pytest
import torch
from hypothesis import given, settings
from torch import nn

from transformer.analysis.importance import head_importance
from transformer.errors import ConfigError, InputError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.model import Transformer
from transformer.pipeline.pipeline import MAX_UNTRAINED_TOKENS
from transformer.pipeline.untrained import LARGEST_ID, LONGEST, Ids, Untrained, Weights, are_ids, split_ids

SOURCES = ("1 5 6 4 3 9 5 2 0", "1 8 7 3 4 5 6 7 2")
TARGETS = ("1 7 4 3 5 9 2", "1 5 6 2 4 7 6")
SMALL = {"encoder_layers": 2, "decoder_layers": 1, "heads": 2, "d_model": 16, "d_ff": 32}
WORDS = "the cat sat on the mat"


def small(preset: str, *sources: str, targets: tuple[str | None, ...] = ()) -> Untrained:
    return Untrained.of(preset, sources, targets, SMALL)


# --- the worked example ------------------------------------------------------------------------------------------------


def test_the_worked_example_has_its_shapes_and_its_number_of_parameters():
    untrained = Untrained.of("shared_heads", SOURCES, TARGETS)
    pipeline = untrained.build()
    assert untrained.parameters == 7_616_010 == sum(each.numel() for each in pipeline.model.parameters())
    trace = pipeline.trace(SOURCES, TARGETS)
    assert trace["source_embedding.sum"].shape == (2, 9, 256)
    assert trace["encoder.layers.0.self_attention.query.heads"].shape == (2, 8, 9, 32)
    assert trace["encoder.layers.5.self_attention.weights"].shape == (2, 8, 9, 9)
    assert trace["decoder.layers.5.self_attention.weights"].shape == (2, 8, 7, 7)
    assert trace["decoder.layers.5.cross_attention.weights"].shape == (2, 8, 7, 9)
    assert trace["encoder.layers.0.feed_forward.hidden"].shape == (2, 9, 1024)
    assert trace["encoder.output"].shape == (2, 9, 256)
    assert trace["logits"].shape == (2, 7, 10)
    assert trace.masks.source is not None
    assert trace.masks.source[0, 0, 0].tolist() == [True] * 8 + [False]
    assert trace.masks.source[1].all()
    # Ids are read as typed: no special ids are put around them, and 0 stays 0.
    assert trace.source_tokens == tuple(tuple(text.split()) for text in SOURCES)
    assert trace.target_tokens == tuple(tuple(text.split()) for text in TARGETS)


def test_vanilla_of_the_same_sizes_counts_its_parameters():
    sizes = {"d_model": 256, "d_ff": 1024, "max_len": 100}
    untrained = Untrained.of("vanilla", SOURCES, TARGETS, sizes)
    assert untrained.parameters == 11_066_890 == sum(each.numel() for each in untrained.build().model.parameters())


# --- words and ids -----------------------------------------------------------------------------------------------------


def test_words_get_ids_in_the_order_they_are_typed():
    untrained = small("vanilla", "the Cat sat", "a cat", targets=("le chat", None))
    assert untrained.vocabularies[0].tokens == ("<pad>", "<sos>", "<eos>", "<unk>", "the", "cat", "sat", "a")
    assert untrained.vocabularies[1].tokens == ("<pad>", "<sos>", "<eos>", "<unk>", "le", "chat")
    assert untrained.build().encode("a cat sat").ids == (1, 7, 5, 6, 2)


def test_without_a_target_the_target_words_are_those_of_the_source():
    assert small("vanilla", WORDS).target == small("vanilla", WORDS).source == ("the", "cat", "sat", "on", "mat")
    assert small("vanilla", WORDS, targets=("_",)).target == small("vanilla", WORDS).source


@pytest.mark.parametrize("sign", ["\u200b", "\u200d", "\u00ad", "\ufeff", "\u202e", "\x00", "\u3164", "\ufe0f", "\udc80"])
def test_invisible_characters_are_not_words(sign: str):
    untrained = small("vanilla", f"the {sign} cat {sign}", targets=(f"{sign} le",))
    assert (untrained.source, untrained.target) == (("the", "cat"), ("le",))
    trace = untrained.build().trace(f"the {sign} cat", "le")
    # Half of a surrogate pair is a damaged character, not an invisible one, so it stays a token.
    lost = ["<unk>"] if sign == "\udc80" else []
    assert trace.source_tokens == (("<sos>", "the", *lost, "cat", "<eos>"),)
    with pytest.raises(InputError, match="There is nothing to read"):
        small("vanilla", sign).build().trace(sign)
    assert small("vanilla", "a", targets=(sign,)).target == ("a",)


def test_any_visible_token_is_a_word():
    assert small("vanilla", "é € 漢 😀 ₂ \u0301 ?").source == ("é", "€", "漢", "😀", "₂", "\u0301", "?")


@pytest.mark.parametrize(
    ("texts", "ids"),
    [
        (("1 5 6", "0"), True),
        (("[1, 5, 6]", "(007)"), True),
        (("-1",), True),
        (("1 5 x",), False),
        (("1.5",), False),
        (("1 2", "the cat"), False),
        (("", "  "), False),
        (("٣ ٤",), False),
    ],
)
def test_a_text_of_whole_numbers_is_read_as_ids(texts: tuple[str, ...], ids: bool):
    assert are_ids(texts) is ids


def test_one_word_in_a_target_makes_all_its_tokens_words():
    untrained = small("vanilla", "12 7", targets=("le 3",))
    assert untrained.source == ("1", "2", "7")
    assert untrained.target == ("le", "3")


@pytest.mark.parametrize(("text", "size"), [("0", 10), ("9 1", 10), ("10", 11), (f"{LARGEST_ID}", LARGEST_ID + 1)])
def test_there_are_ten_ids_or_enough_for_the_largest(text: str, size: int):
    untrained = small("vanilla", text)
    assert (untrained.source, untrained.target) == (size, size)
    assert untrained.build().trace(text).logits.shape[-1] == size


@pytest.mark.parametrize("number", [-1, LARGEST_ID + 1, 10**30, "9" * 5_000], ids=["-1", "one more", "large", "no int"])
def test_a_number_that_is_not_an_id_is_refused(number: int | str):
    with pytest.raises(InputError, match=f"allowed are 0 to {LARGEST_ID}"):
        small("vanilla", f"1 {number}")
    with pytest.raises(InputError, match=f"allowed are 0 to {LARGEST_ID}"):
        small("vanilla", "1", targets=(f"1 {number}",))


def test_the_model_refuses_an_id_beyond_its_own():
    pipeline = small("vanilla", "1 2").build()
    for token in ("10", "word"):
        with pytest.raises(InputError, match="allowed are 0 to 9"):
            pipeline.encode(token)


def test_ids_pasted_as_a_list_are_split():
    assert split_ids("[[1, 05, 6],\n [2;3]]") == ["1", "5", "6", "2", "3"]
    assert Ids.up_to(10).text(["1", "0", "2"]) == "1 0 2"


@pytest.mark.parametrize("unit", ["word ", "7 "])
def test_a_text_beyond_the_longest_is_refused(unit: str):
    pipeline = small("pytorch", unit).build()
    for side in ("source", "target"):
        assert len(pipeline.encode(unit * LONGEST, side).tokens) >= LONGEST
        with pytest.raises(InputError, match=f"this model reads up to {LONGEST}\\.$"):
            pipeline.encode(unit * (LONGEST + 1), side)


@pytest.mark.parametrize("text", ["", "   "])
def test_a_text_without_tokens_is_refused(text: str):
    with pytest.raises(InputError, match="There is nothing to read"):
        small("vanilla", text).build().trace(text)
    with pytest.raises(InputError, match="There is nothing to read"):
        small("vanilla", "1").build().encode(text, "target")


# --- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_equal_descriptions_are_equal_keys_and_have_equal_weights(preset: str):
    first, second = small(preset, WORDS), small(preset, WORDS)
    assert first == second
    assert hash(first) == hash(second)
    assert first != small(preset, WORDS + " again")
    torch.manual_seed(7)  # the weights must not depend on PyTorch's own generator
    one = first.build().model.state_dict()
    torch.manual_seed(8)
    other = second.build().model.state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("preset", PRESETS)
def test_shared_weights_equal_weights_that_are_drawn_alone(preset: str):
    weights = Weights()
    for text in (WORDS, f"{WORDS} again", "1 5 6 2", WORDS):
        description = small(preset, text)
        alone, shared = description.build().model.state_dict(), description.build(weights).model.state_dict()
        assert all(torch.equal(alone[name], shared[name]) for name in alone)
    parameters = 4 * description.parameters
    assert 0 < weights.nbytes <= parameters < 4 * weights.nbytes


@pytest.mark.parametrize("preset", PRESETS)
def test_one_more_word_leaves_the_weights_of_the_layers_unchanged(preset: str):
    one, other = (small(preset, text).build().model.state_dict() for text in (WORDS, f"{WORDS} again"))
    differ = {name for name in one if one[name].shape != other[name].shape or not torch.equal(one[name], other[name])}
    assert differ == {
        "source_embedding.table.weight",
        "target_embedding.table.weight",
        "output_projection.weight",
        "output_projection.bias",
    }


@pytest.mark.parametrize("preset", PRESETS)
def test_the_global_generator_is_not_touched(preset: str):
    state = torch.random.get_rng_state()
    small(preset, WORDS).build()
    assert torch.equal(torch.random.get_rng_state(), state)


def test_building_in_several_threads_changes_no_random_numbers():
    torch.manual_seed(3)
    undisturbed = torch.rand(2_000)
    alone = {preset: small(preset, WORDS).build().model.state_dict() for preset in PRESETS}
    built: dict[str, dict[str, torch.Tensor]] = {}
    threads = [
        threading.Thread(target=lambda preset=preset: built.update({preset: small(preset, WORDS).build().model.state_dict()}))
        for preset in PRESETS
    ]
    torch.manual_seed(3)
    for thread in threads:
        thread.start()
    sampled = torch.cat([torch.rand(1) for _ in range(2_000)])
    for thread in threads:
        thread.join()
    assert torch.equal(sampled, undisturbed)
    for preset in PRESETS:
        assert all(torch.equal(alone[preset][name], built[preset][name]) for name in alone[preset])


@pytest.mark.parametrize("preset", PRESETS)
def test_weights_have_the_spread_of_the_variants_initialisation(preset: str):
    untrained = Untrained.of(preset, [WORDS], sizes={**SMALL, "d_model": 128, "d_ff": 256})
    ours = untrained.build().model.state_dict()
    with torch.random.fork_rng():
        torch.manual_seed(12_345)
        theirs = Transformer(untrained.config).state_dict()
    for name, values in ours.items():
        assert values.isfinite().all()
        if values.numel() < 1_000 or values.std() == 0:
            continue
        assert values.std().item() == pytest.approx(theirs[name].std().item(), rel=0.15), name
        assert abs(values.mean().item()) < 0.1 * values.std().item(), name
        assert not torch.equal(values, theirs[name])
    # Each tensor has its own seed, so no two of them are correlated.
    matrices = torch.stack([values.flatten() for values in ours.values() if values.shape == (128, 128)])
    alike = torch.corrcoef(matrices) - torch.eye(len(matrices))
    assert alike.abs().max() < 0.05


@pytest.mark.parametrize("preset", PRESETS)
def test_the_pipeline_is_in_evaluation_mode_and_marked_untrained(preset: str):
    pipeline = small(preset, WORDS).build()
    assert not pipeline.trained
    assert not any(module.training for module in pipeline.model.modules())
    assert (pipeline.card.task, pipeline.card.tested_on) == ("", 0)
    assert torch.equal(pipeline.trace(WORDS).logits, pipeline.trace(WORDS).logits)
    padding = pipeline.model.source_embedding.table.weight[0]
    assert (padding == 0).all() == TransformerConfig.preset(preset).zero_pad_row
    norms = [module for module in pipeline.model.modules() if isinstance(module, nn.LayerNorm)]
    assert all((norm.weight == 1).all() and (norm.bias == 0).all() for norm in norms)


def test_nbytes_counts_the_weights_and_the_fixed_table_of_both_sides_once():
    pipeline = small("vanilla", WORDS).build()
    table = TransformerConfig.preset("vanilla").max_len * 16
    assert pipeline.nbytes == 4 * (small("vanilla", WORDS).parameters + table)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"heads": 3, "d_model": 64}, "d_model is 64; it must be a multiple of heads, which is 3"),
        ({"d_ff": 0}, "d_ff is 0; allowed are 1"),
        ({"wings": 2}, "wings is not a field"),
    ],
)
def test_an_error_about_sizes_names_the_field(sizes: dict[str, int], message: str):
    with pytest.raises(ConfigError, match=message):
        _ = Untrained.of("vanilla", [WORDS], sizes=sizes).parameters


# --- running the model -------------------------------------------------------------------------------------------------


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("text", [WORDS, "3 3 7", "word " * LONGEST, "7"])
def test_an_answer_is_as_long_as_its_source_without_special_tokens(preset: str, text: str):
    pipeline = small(preset, text).build()
    (answer,) = pipeline.answers([text])
    vocabulary = pipeline.target_vocabulary
    assert len(answer.tokens) == min(len(text.split()), MAX_UNTRAINED_TOKENS)
    assert not answer.ended
    assert not {vocabulary.tokens[token_id] for token_id in vocabulary.specials} & set(answer.tokens)
    # An answer typed as a target is read as the same tokens.
    assert pipeline.trace(text, pipeline.as_target(answer)).target_tokens == pipeline.trace(text).target_tokens


@pytest.mark.slow
@settings(max_examples=25)
@given(
    preset=some.sampled_from([*PRESETS]),
    texts=some.lists(some.text(alphabet="ab 1é😀<_'\u0301", min_size=1, max_size=12), min_size=1, max_size=4),
    typed=some.lists(some.booleans(), min_size=4, max_size=4),
)
def test_any_text_is_traced_or_refused(preset: str, texts: list[str], typed: list[bool]):
    targets = tuple(text if with_target else None for text, with_target in zip(texts, typed, strict=False))
    try:
        pipeline = small(preset, *texts, targets=targets).build()
        trace = pipeline.trace(texts, targets)
    except InputError:
        assert any(not text.strip() or not pipeline_reads(preset, text) for text in texts)
        return
    assert trace.logits.isfinite().all()
    assert "<unk>" not in {token for row in (*trace.source_tokens, *trace.target_tokens) for token in row}


def pipeline_reads(preset: str, text: str) -> bool:
    """Whether a text has a token."""
    return bool(small(preset, text).source)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_batch_can_mix_typed_targets_and_own_answers(preset: str):
    texts = ("one two three", "one", "three two")
    pipeline = small(preset, *texts, targets=(None, "two one one", None)).build()
    trace = pipeline.trace(texts, (None, "two one one", None))
    own = pipeline.answers(texts)
    assert [[token for token in row if token != "<pad>"] for row in trace.target_tokens] == [
        ["<sos>", *own[0].tokens],
        ["<sos>", "two", "one", "one"],
        ["<sos>", *own[2].tokens],
    ]


@pytest.mark.parametrize("text", [WORDS, "1 5 6 2 0"])
def test_every_head_can_be_ablated(text: str):
    pipeline = small("shared_heads", text).build()
    trace = pipeline.trace(text)
    rows = [
        pipeline.batch([vocabulary.ids(tokens)], side)
        for vocabulary, tokens, side in (
            (pipeline.source_vocabulary, trace.source_tokens[0], "source"),
            (pipeline.target_vocabulary, trace.target_tokens[0], "target"),
        )
    ]
    *_, last = head_importance(pipeline.model, rows[0], rows[1], 0, 4)
    assert last.done == last.total == 2 * (2 + 1 + 1)
    assert all(abs(drops).max() > 0 for drops in last.drops.values())
