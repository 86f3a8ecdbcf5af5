"""Tests of a Marian model in our own network against the same weights in `transformers`."""

from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from transformers import MarianConfig, MarianMTModel

from tests.transformer.huggingface.tiny import LONG, MODELS, SHORT, VOCAB, folder_of, save_model, save_tokenizer
from transformer import Pipeline
from transformer.analysis.leaks import change_later, fill_padding, padded_answer
from transformer.errors import CheckpointError, InputError
from transformer.huggingface.own_network import own_network
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer
from transformer.opening import open_model
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Beam
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.interventions import Ablate
from transformer.tracing.phrases import interventions
from transformer.tracing.trace import run_traced

PAD = 39
SIZES = {**MODELS["marian"][1], "decoder_attention_heads": 2, "pad_token_id": PAD, "decoder_start_token_id": PAD}
SOURCE, TARGET = torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, PAD, PAD]]), torch.tensor([[PAD, 5, 8, 7], [PAD, 9, 6, PAD]])
# First as in the published models: one table, and the decoder starts with the id of padding. Then two tables, and three.
VARIANTS: dict[str, dict[str, Any]] = {
    "all": {"activation_function": "swish", "scale_embedding": True, "encoder_layers": 3},
    "output": {"activation_function": "gelu", "share_encoder_decoder_embeddings": False, "decoder_vocab_size": 47},
    "nothing": {"activation_function": "relu", "tie_word_embeddings": False, "share_encoder_decoder_embeddings": False},
}


def marian(**changes: Any) -> Any:
    """A Marian model with random weights, output bias included."""
    torch.manual_seed(3)
    model = MarianMTModel(MarianConfig(**{**SIZES, **changes}))
    with torch.no_grad():
        for values in (*model.parameters(), model.final_logits_bias):
            if values.requires_grad or values is model.final_logits_bias:
                values.add_(0.3 * torch.randn_like(values))
    model.set_attn_implementation("eager")
    return model.eval()


@pytest.mark.parametrize("tied", VARIANTS)
@torch.no_grad()
def test_logits_and_attention_are_those_of_transformers(tied: str) -> None:
    model = marian(**VARIANTS[tied])
    network = own_network(model, PAD, 64)
    assert network.config.tied_weights == tied
    trace = run_traced(network, SOURCE, TARGET)
    keep = (SOURCE != PAD).long()
    theirs = model(input_ids=SOURCE, attention_mask=keep, decoder_input_ids=TARGET, output_attentions=True)
    assert (trace.logits - theirs.logits).abs().max() < 1e-5
    recorded = {"encoder": theirs.encoder_attentions, "decoder": theirs.decoder_attentions, "cross": theirs.cross_attentions}
    for kind, weights in recorded.items():
        assert (trace.attention(kind) - torch.stack(weights)).abs().max() < 1e-5
    assert (trace["encoder.output"].values - theirs.encoder_last_hidden_state)[SOURCE != PAD].abs().max() < 1e-5
    # The weights are shared, so the network needs no memory of its own for them.
    assert network.source_embedding.table.weight.data_ptr() == model.model.encoder.embed_tokens.weight.data_ptr()


def test_positions_that_are_not_sinusoids_are_a_learned_table() -> None:
    model = marian(activation_function="silu")
    with torch.no_grad():
        model.model.decoder.embed_positions.weight[3, 2] += 0.5
        network = own_network(model, PAD, 6)
        assert (network.config.position, network.config.max_len) == ("learned", 6)
        theirs = model(input_ids=SOURCE, attention_mask=(SOURCE != PAD).long(), decoder_input_ids=TARGET).logits
        assert (network(SOURCE, TARGET) - theirs).abs().max() < 1e-5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decoder_attention_heads": 4}, "the same heads; in this model they are 2 and 4"),
        ({"decoder_ffn_dim": 20}, "the same d_ff; in this model they are 24 and 20"),
        ({"activation_function": "tanh"}, "'tanh'; our own network has relu, gelu, swish, silu"),
        ({"dropout": 1.0}, "dropout is 1.0"),
    ],
)
def test_a_model_that_our_network_cannot_represent_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        own_network(marian(**changes), PAD, 64)


@pytest.mark.slow
def test_a_folder_in_our_own_network_answers_as_it_does_in_transformers(tmp_path: Path) -> None:
    save_model("marian", tmp_path, decoder_attention_heads=2, activation_function="swish")
    save_tokenizer(tmp_path)
    ours: Any = open_model(tmp_path, own_network=True)
    theirs: Any = open_model(tmp_path)
    assert isinstance(ours, TextPipeline)
    assert isinstance(ours.model, Transformer)
    texts = [SHORT, LONG]
    assert ours.answers(texts) == theirs.answers(texts)
    assert (
        Generation.of(ours.generate(SHORT, Beam(width=2))).ids() == Generation.of(theirs.generate(SHORT, Beam(width=2))).ids()
    )
    trace, reference = ours.trace(texts, [SHORT, LONG]), theirs.trace(texts, [SHORT, LONG])
    assert isinstance(trace.config, TransformerConfig)
    assert {step.path for step in trace} == set(ours.model.taps)
    assert trace.target_tokens == reference.target_tokens
    real = torch.tensor(trace.target_ids) != 0
    assert (trace.logits - reference.logits)[real].abs().max() < 1e-5
    assert trace.source_words == reference.source_words != ()
    assert trace.target_words == reference.target_words
    assert ours.check(trace).difference < 1e-5
    with pytest.raises(InputError, match="must be a Trace"):
        ours.check(None)
    with pytest.raises(InputError, match="There is no token id"):
        ours.check(Pipeline.load("english-french").trace("the cat sleeps ."))
    source, target = trace.source_ids[1], trace.target_ids[1]
    assert fill_padding(ours, source, target, 3).same
    assert not change_later(ours, source, target, 2, 5, interventions("no causal mask", ours.config)).same
    assert padded_answer(ours, source, 2) == ours.answer(LONG)
    with pytest.raises(InputError, match="own network"):
        fill_padding(theirs, source, target, 3)
    edit = [Ablate("decoder.layers.0.cross_attention.weights", heads=(1,))]
    edited, their_edited = (each.trace(SHORT, SHORT, edit).logits for each in (ours, theirs))
    assert (edited - their_edited).abs().max() < 1e-5 < (edited - trace.logits[:1, : edited.shape[1]]).abs().max()
    # `transformers` counts the position tables as parameters, and our network counts the bias of the output.
    assert ours.parameters == theirs.parameters - 2 * 64 * 16 + VOCAB


def test_only_a_marian_runs_in_our_own_network() -> None:
    with pytest.raises(CheckpointError, match="of the type marian runs in our own network; this one is of the type 'bart'"):
        open_model(folder_of("bart"), own_network=True)
