"""Tests of leaks without a mask: the numbers of a leak equal the numbers of two runs of a shipped model."""

import numpy as np
import pytest
import torch

from transformer import InputError, Patch, Pipeline, run_traced
from transformer.analysis.leaks import append_padding, change_later, fill_padding, padded_answer
from transformer.pipeline.untrained import Untrained
from transformer.tracing.phrases import interventions

SOURCE, TARGET = "she left", "elle est partie"


@pytest.fixture(scope="module")
def translator() -> Pipeline:
    return Pipeline.load("english-french")


@pytest.fixture(scope="module")
def ids(translator: Pipeline) -> tuple[list[int], list[int]]:
    return [*translator.encode(SOURCE).ids], [*translator.encode(TARGET, "target").ids]


def test_before_and_after_equal_the_runs_with_each_token(translator: Pipeline, ids: tuple[list[int], list[int]]) -> None:
    (word,), off = translator.target_vocabulary.ids(["chat"]), interventions("no causal mask", translator.config)
    leak = change_later(translator, *ids, 3, word, off)
    assert leak.tokens == ("elle", "est", "partie")
    expected = translator.target_vocabulary.ids(leak.tokens)
    runs = [translator.trace(SOURCE, target, off).probabilities[0] for target in (TARGET, "elle est chat")]
    for probabilities, measured in zip(runs, (leak.before, leak.after), strict=True):
        assert measured.tolist() == pytest.approx(probabilities[range(3), expected].tolist(), abs=1e-7)
    assert leak.largest == pytest.approx(float((runs[0] - runs[1])[:3].abs().max()), abs=1e-7)
    row, token = np.unravel_index(int((runs[0] - runs[1])[:3].abs().argmax()), runs[0][:3].shape)
    assert (leak.largest_row, leak.largest_token) == (row, *translator.target_vocabulary.tokens_of([int(token)]))
    assert leak.largest > 0.001
    assert not leak.same


def test_with_the_causal_mask_nothing_changes(translator: Pipeline, ids: tuple[list[int], list[int]]) -> None:
    leak = change_later(translator, *ids, 2, translator.target_vocabulary.eos)
    assert leak.same
    assert leak.largest == 0
    assert leak.before.tolist() == leak.after.tolist()
    assert leak.before.tolist() == pytest.approx(
        translator.trace(SOURCE, TARGET).probabilities[0][range(2), ids[1][1:3]].tolist(), abs=1e-7
    )


@pytest.mark.parametrize("position", [-1, 0, 4])
def test_a_position_without_earlier_rows_or_beyond_the_target_is_refused(
    translator: Pipeline, ids: tuple[list[int], list[int]], position: int
) -> None:
    with pytest.raises(InputError, match="allowed are 1 to 3"):
        change_later(translator, *ids, position, 5)


def test_appended_padding_changes_predictions_only_without_the_padding_mask(
    translator: Pipeline, ids: tuple[list[int], list[int]]
) -> None:
    off = interventions("no padding mask", translator.config)
    masked, moved = append_padding(translator, *ids, 8), append_padding(translator, *ids, 8, off)
    assert masked.tokens == moved.tokens == ("elle", "est", "partie", "<eos>")
    assert masked.largest <= 1e-6
    assert moved.largest >= 0.5
    assert moved.before.tolist() == masked.before.tolist()  # the source without padding has no hidden keys
    padded = torch.tensor([[*ids[0], *[translator.source_vocabulary.pad] * 8]])
    run = run_traced(translator.model, padded, torch.tensor([ids[1]]), off).probabilities[0]
    expected = translator.target_vocabulary.ids(moved.tokens)
    assert moved.after.tolist() == pytest.approx(run[range(4), expected].tolist(), abs=1e-7)


def test_tokens_at_hidden_positions_are_not_read_unless_the_mask_is_off(
    translator: Pipeline, ids: tuple[list[int], list[int]]
) -> None:
    assert fill_padding(translator, *ids, 8).same
    assert fill_padding(translator, *ids, 8).largest == 0
    # A later edit opens the mask, so the filled tokens change the output. Equal outputs would mean that no token was filled in.
    assert not fill_padding(translator, *ids, 8, (Patch("source_mask", values=True),)).same


def test_answers_with_and_without_padding(translator: Pipeline, ids: tuple[list[int], list[int]]) -> None:
    off = interventions("no padding mask", translator.config)
    assert padded_answer(translator, ids[0], 0) == padded_answer(translator, ids[0], 8) == translator.answer(SOURCE) == TARGET
    assert padded_answer(translator, ids[0], 0, off) == TARGET
    assert padded_answer(translator, ids[0], 8, off) != TARGET


def test_padding_beyond_the_last_position_is_refused(translator: Pipeline, ids: tuple[list[int], list[int]]) -> None:
    room = translator.config.max_len - len(ids[0])
    assert append_padding(translator, *ids, room).largest <= 1e-5
    with pytest.raises(InputError, match=f"allowed are 0 to {room}"):
        append_padding(translator, *ids, room + 1)


@pytest.mark.parametrize("preset", ["vanilla", "pytorch", "shared_heads"])
def test_leaks_of_an_untrained_model_whose_texts_end_with_padding(preset: str) -> None:
    sizes = {"d_model": 16, "heads": 4, "d_ff": 32, "encoder_layers": 2, "decoder_layers": 2}
    pipeline = Untrained.of(preset, ["1 5 6 2 0 0"], ["1 7 4 0"], sizes).build()
    source, target = [1, 5, 6, 2, 0, 0], [1, 7, 4, 0]
    assert change_later(pipeline, source, target, 2, 5).same
    assert not change_later(pipeline, source, target, 2, 5, interventions("no causal mask", pipeline.config)).same
    assert append_padding(pipeline, source, target, 4).largest <= 1e-6
    assert append_padding(pipeline, source, target, 4, interventions("no padding mask", pipeline.config)).largest > 1e-4
    assert fill_padding(pipeline, source, target, 4).same


def test_between_words_a_word_has_the_product_of_the_probabilities_of_its_pieces() -> None:
    everyday = Pipeline.load("everyday")
    source, target = everyday.encode("The skyscraper disappeared."), everyday.encode("Le gratte-ciel a disparu.", "target")
    off = interventions("no causal mask", everyday.config)
    leak = change_later(everyday, source.ids, target.ids, len(target.ids) - 1, target.ids[1], off)
    joined = leak.between_words()
    assert "".join(leak.tokens).replace("▁", "") == "".join(joined.tokens)
    assert joined.tokens[0] == "Le"
    assert len(joined.tokens) < len(leak.tokens)
    for rows, before, after in zip(leak.words, joined.before, joined.after, strict=True):
        assert before == pytest.approx(leak.before[list(rows)].prod(), rel=1e-5)
        assert after == pytest.approx(leak.after[list(rows)].prod(), rel=1e-5)


def test_between_words_a_leak_of_a_model_that_reads_words_is_the_same(
    translator: Pipeline, ids: tuple[list[int], list[int]]
) -> None:
    leak = change_later(translator, *ids, 3, translator.target_vocabulary.eos)
    assert leak.between_words().tokens == leak.tokens
    assert leak.between_words().before.tolist() == leak.before.tolist()
