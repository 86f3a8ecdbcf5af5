"""Tests of our models written for `transformers`, and opened again like any other model."""

from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from transformers import MarianMTModel

from transformer.errors import CheckpointError
from transformer.huggingface.hf_export import joint_tokens
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer
from transformer.opening import open_model, save_huggingface
from transformer.pipeline.pipeline import Pipeline
from transformer.text.vocabulary import Vocabulary


def written(pipeline: Pipeline, folder: Path) -> Any:
    save_huggingface(pipeline, folder)
    return open_model(folder)


def compare(ours: Pipeline, theirs: Any, source: str, target: str) -> tuple[float, float]:
    """The largest differences of logits and of attention weights between both models, on a padded batch."""
    sources, targets = [source, source.split()[0] if " " in source else source[:2]], [target, target.split()[0]]
    one, other = ours.trace(sources, targets), theirs.trace(sources, targets)
    assert other.source_tokens == one.source_tokens
    assert other.target_tokens == one.target_tokens
    joint = joint_tokens(ours)
    columns = [joint.index(token) for token in ours.target_vocabulary.tokens]
    real = {"source": torch.tensor(one.source_ids) != 0, "target": torch.tensor(one.target_ids) != 0}  # not padding
    logits = (other.logits[..., columns] - one.logits)[real["target"]].abs().max()
    weights = 0.0
    for kind in one.kinds:
        differences = other.attention(kind)[: one.layers(kind)] - one.attention(kind)  # [layer, batch, head, query, key]
        weights = max(weights, float(differences.movedim(3, 2)[:, real[kind.queries]].abs().max()))
    unwritten = [index for index in range(len(joint)) if index not in columns]
    assert not unwritten or other.probabilities[..., unwritten].max() == 0
    return float(logits), weights


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("english-french", "The animal did not cross the street because it was too tired"),
        ("dates", "3 july 1999"),
        ("reverse", "headlight"),
    ],
)
def test_texts_are_read_and_written_as_by_our_own_model(name: str, source: str, tmp_path: Path) -> None:
    ours = Pipeline.load(name)
    theirs = written(ours, tmp_path / "model")
    assert theirs.encode(source).tokens == ours.encode(source).tokens
    answer = ours.answer(source)
    assert theirs.answer(source) == answer
    assert theirs.encode(answer, "target").tokens == ours.encode(answer, "target").tokens
    typed = answer.replace("'", "’").upper()
    assert theirs.encode(typed, "target").tokens == ours.encode(typed, "target").tokens


@pytest.mark.slow
def test_the_shipped_translation_model_answers_the_same_as_marian(tmp_path: Path) -> None:
    ours = Pipeline.load("english-french")
    theirs = written(ours, tmp_path / "model")
    encoding = ours.encode("the cat sleeps .")
    (answer,) = ours.answers([encoding])
    (again,) = theirs.answers([" ".join(encoding.typed)])
    assert again.tokens == answer.tokens
    assert again.ended
    logits, weights = compare(ours, theirs, " ".join(encoding.typed), " ".join(answer.tokens))
    assert logits < 1e-4
    assert weights < 1e-5
    # The layer for the norm after each stack adds nothing to the stream.
    trace = theirs.trace(" ".join(encoding.typed))
    last = f"decoder.layers.{ours.config.decoder_layers}"
    assert (trace[f"{last}.feed_forward.output"].values == 0).all()
    assert (trace[f"{last}.cross_attention.output"].values == 0).all()
    # `transformers` itself reads the folder, too.
    _, report = MarianMTModel.from_pretrained(tmp_path / "model", output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert theirs.check(trace).equal


def test_a_model_without_a_norm_after_its_stacks_agrees_to_rounding(tmp_path: Path) -> None:
    torch.manual_seed(5)
    vocabularies = Vocabulary.of("abcde", "characters"), Vocabulary.of("abcdefg", "characters")
    sizes = {"d_model": 16, "heads": 2, "d_ff": 24, "encoder_layers": 2, "decoder_layers": 1, "max_len": 32}
    config = TransformerConfig.preset(
        "pytorch", source_vocab=len(vocabularies[0]), target_vocab=len(vocabularies[1]), final_norm=False, **sizes
    )
    shipped = Pipeline.load("reverse")
    ours = Pipeline("letters", Transformer(config).eval(), *vocabularies, shipped.card)
    theirs = written(ours, tmp_path)
    assert theirs.config.encoder_layers == 2
    logits, weights = compare(ours, theirs, "abcdde", "gfe")
    assert max(logits, weights) < 1e-5


def test_a_model_that_reads_pieces_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="a vocabulary of words or letters can be written"):
        save_huggingface(Pipeline.load("everyday"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("preset", "field"), [("vanilla", "norm_eps"), ("shared_heads", "position")])
def test_a_model_that_marian_cannot_represent_is_refused(preset: str, field: str, tmp_path: Path) -> None:
    vocabulary = Vocabulary.of("abc", "characters")
    config = TransformerConfig.preset(preset, source_vocab=7, target_vocab=7, d_model=16, heads=2, d_ff=8, max_len=16)
    pipeline = Pipeline("letters", Transformer(config).eval(), vocabulary, vocabulary, Pipeline.load("reverse").card)
    with pytest.raises(CheckpointError, match=f"its {field} is"):
        save_huggingface(pipeline, tmp_path / "model")
    assert not (tmp_path / "model").exists()
