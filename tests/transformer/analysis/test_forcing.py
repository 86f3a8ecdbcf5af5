"""Tests of teacher forcing, and of the target distribution of label smoothing."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from transformer import Pipeline
from transformer.analysis.forcing import forcing, parting, target_of
from transformer.analysis.label_smoothing import entropy, smoothed_target
from transformer.analysis.word_trace import WordTrace
from transformer.errors import InputError
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.untrained import Untrained


def test_the_losses_of_a_models_own_answer_are_the_log_probabilities_of_its_steps(reverse: Pipeline) -> None:
    generation = Generation.of(reverse.generate("headlight"))
    forced = forcing(reverse, reverse.trace("headlight"))
    chain = generation.chain(generation.best)
    assert forced.ids == tuple(made.token for made in chain) == forced.best
    np.testing.assert_allclose(-forced.losses, [made.log_probability for made in chain], atol=1e-5)
    assert forced.loss == pytest.approx(-generation.best.total / len(chain), abs=1e-5)


def test_padding_of_a_batch_is_not_counted(reverse: Pipeline) -> None:
    alone, together = (forcing(reverse, reverse.trace(texts)) for texts in ("abc", ["abc", "headlight"]))
    assert together.ids == alone.ids
    np.testing.assert_allclose(together.losses, alone.losses, atol=1e-5)


def test_padding_that_is_typed_before_a_token_is_read() -> None:
    pipeline = Untrained.of("vanilla", ["5 6"], ["5 0 7 0"]).build()
    assert target_of(pipeline, pipeline.trace("5 6", "5 0 7 0")) == (5, 0, 7)


def test_words_and_the_run_of_another_model_are_refused(reverse: Pipeline) -> None:
    with pytest.raises(InputError, match="not of words"):
        forcing(reverse, WordTrace.of(reverse.trace("abc")))
    with pytest.raises(InputError, match="must be the one that was traced"):
        forcing(reverse, Pipeline.load("addition").trace("1+2"))


def test_a_wrong_token_has_a_large_loss_and_later_rows_still_count(reverse: Pipeline) -> None:
    vocabulary = reverse.target_vocabulary
    forced = forcing(reverse, reverse.trace("abc", "cxa"))
    assert forced.losses.argmax() == 1
    assert vocabulary.tokens_of(forced.best)[1] == "b"
    assert forced.probabilities == pytest.approx(np.exp(-forced.losses))


def test_the_rows_of_the_text_are_left_out_for_a_decoder_alone(reverse: Pipeline) -> None:
    trace = reverse.trace("headlight")
    whole, rest = forcing(reverse, trace), forcing(reverse, trace, first=4)
    assert (rest.ids, rest.best) == (whole.ids[4:], whole.best[4:])
    np.testing.assert_array_equal(rest.losses, whole.losses[4:])
    with pytest.raises(InputError, match=r"^first is 10; allowed are 0 to 9\.$"):
        forcing(reverse, trace, first=10)


def test_a_target_that_has_nothing_to_predict_is_refused(tmp_path: Path) -> None:
    tiny = pytest.importorskip("tests.transformer.huggingface.tiny", reason="transformers is not installed")
    tiny.save_model("bart", tmp_path, eos_token_id=None)
    tiny.save_tokenizer(tmp_path, ends=False)
    settings = tmp_path / "tokenizer_config.json"
    settings.write_text(settings.read_text().replace("eos_token", "no_token"))
    pipeline = tiny.open_model(tmp_path)
    assert forcing(pipeline, pipeline.trace("the cat", "it runs")).losses.shape == (2,)
    with pytest.raises(InputError, match=r"There is nothing to predict\.$"):
        forcing(pipeline, pipeline.trace("the cat", ""))


@pytest.mark.parametrize(
    ("first", "second", "at"), [((1, 2), (1, 2), None), ((1, 2), (1, 3), 1), ((1,), (1, 2), 1), ((), (4,), 0)]
)
def test_parting_is_where_two_answers_differ(first: tuple[int, ...], second: tuple[int, ...], at: int | None) -> None:
    assert parting(first, second) == at


@pytest.mark.parametrize("smoothing", [0.0, 0.05, 0.3])
def test_the_loss_of_training_is_the_cross_entropy_with_the_smoothed_target(smoothing: float) -> None:
    torch.manual_seed(0)
    logits = torch.randn(1, 12)
    expected = nn.CrossEntropyLoss(label_smoothing=smoothing)(logits, torch.tensor([5]))
    target = smoothed_target(12, 5, smoothing)
    assert target.sum() == pytest.approx(1)
    assert -(target * logits[0].log_softmax(-1).numpy()).sum() == pytest.approx(float(expected), rel=1e-5)
    assert entropy(target) <= float(expected)
    assert entropy(target) == pytest.approx(-(target[target > 0] * np.log(target[target > 0])).sum())


def test_a_smoothing_above_1_or_a_missing_token_is_refused() -> None:
    with pytest.raises(InputError, match=r"^smoothing is 2\.0; allowed are 0 to 1\.$"):
        smoothed_target(10, 0, 2.0)
    with pytest.raises(InputError, match=r"^token is 10; allowed are 0 to 9\.$"):
        smoothed_target(10, 10, 0.1)
