"""Tests of each family: a tiny model with random weights against the same weights in `transformers` without our code."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.transformer.huggingface.tiny import LONG, MODELS, SHORT, opened, reference, save_model, save_tokenizer
from transformer.opening import open_model
from transformer.pipeline.pipeline import Agreement
from transformer.tracing.interventions import Ablate, Scale
from transformer.tracing.trace import Trace

# Two modules of layer 1 (counted from 0): the one after the joined heads of its last attention, and the one after the hidden
# layer of its feed-forward network.
LAST_LAYER = {
    "marian": ("model.decoder.layers.1.encoder_attn.out_proj", "model.decoder.layers.1.fc2"),
    "bart": ("model.decoder.layers.1.encoder_attn.out_proj", "model.decoder.layers.1.fc2"),
    "mbart": ("model.decoder.layers.1.encoder_attn.out_proj", "model.decoder.layers.1.fc2"),
    "m2m_100": ("model.decoder.layers.1.encoder_attn.out_proj", "model.decoder.layers.1.fc2"),
    "t5": ("decoder.block.1.layer.1.EncDecAttention.o", "decoder.block.1.layer.2.DenseReluDense.wo"),
    "t5-gated": ("decoder.block.1.layer.1.EncDecAttention.o", "decoder.block.1.layer.2.DenseReluDense.wo"),
    "pegasus": ("model.decoder.layers.1.encoder_attn.out_proj", "model.decoder.layers.1.fc2"),
    "mt5": ("decoder.block.1.layer.1.EncDecAttention.o", "decoder.block.1.layer.2.DenseReluDense.wo"),
    "gpt2": ("transformer.h.1.attn.c_proj", "transformer.h.1.mlp.c_proj"),
    "opt": ("model.decoder.layers.1.self_attn.out_proj", "model.decoder.layers.1.fc2"),
    "opt-post-norm": ("model.decoder.layers.1.self_attn.out_proj", "model.decoder.layers.1.fc2"),
    "phi": ("model.layers.1.self_attn.dense", "model.layers.1.mlp.fc2"),
    "gpt_neox": ("gpt_neox.layers.1.attention.dense", "gpt_neox.layers.1.mlp.dense_4h_to_h"),
    "gpt_neox-one-after-the-other": ("gpt_neox.layers.1.attention.dense", "gpt_neox.layers.1.mlp.dense_4h_to_h"),
    "blenderbot": ("model.decoder.layers.1.encoder_attn.out_proj", "model.decoder.layers.1.fc2"),
    "bert": ("bert.encoder.layer.1.attention.output.dense", "bert.encoder.layer.1.output.dense"),
    "roberta": ("roberta.encoder.layer.1.attention.output.dense", "roberta.encoder.layer.1.output.dense"),
    "xlm-roberta": ("roberta.encoder.layer.1.attention.output.dense", "roberta.encoder.layer.1.output.dense"),
    "electra": ("electra.encoder.layer.1.attention.output.dense", "electra.encoder.layer.1.output.dense"),
    "distilbert": ("distilbert.transformer.layer.1.attention.out_lin", "distilbert.transformer.layer.1.ffn.lin2"),
    "modernbert": ("model.layers.1.attn.Wo", "model.layers.1.mlp.Wo"),
}
LLAMA = ("model.layers.1.self_attn.o_proj", "model.layers.1.mlp.down_proj")


def traced(name: str, edits: Any = ()) -> Trace:
    """The trace of two texts of different length; the source and the target of the shorter one are padded."""
    pipeline = opened(name)
    target = None if pipeline.stacks == ("encoder",) else ["a dog runs .", "it sees the big cat ."]
    return pipeline.trace([SHORT, LONG], target, edits)


def inputs(trace: Trace, pad: int) -> dict[str, Any]:
    """The arguments of `transformers` for the same run. The mask is 0 where the shorter text is padded."""
    sides = {"": trace.source_ids or trace.target_ids} | ({"decoder_": trace.target_ids} if trace.source_ids else {})
    # With a cache, keys are at another place in memory, so the last bit of a product may differ.
    given: dict[str, Any] = {"use_cache": False} if trace.target_ids else {}
    for prefix, rows in sides.items():
        if rows:
            ids = torch.tensor(rows)
            mask = (ids != pad).long()
            mask[:, 0] = 1
            assert mask.sum() < mask.numel()  # there is padding
            given |= {f"{prefix}input_ids": ids.clamp(min=0), f"{prefix}attention_mask": mask}
    return given


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", MODELS)
def test_logits_and_attention_are_those_of_eager_bit_for_bit(name: str) -> None:
    pipeline, trace = opened(name), traced(name)
    with torch.inference_mode():
        output = reference(name)(**inputs(trace, pipeline.config.target_pad), output_attentions=True)
    assert torch.equal(trace.logits, output.logits)
    assert pipeline.check(trace) == Agreement(equal=True, difference=0.0)
    kinds = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    for kind in trace.kinds:
        theirs = getattr(output, kinds[kind] if len(trace.kinds) == 3 else "attentions")
        assert torch.equal(trace.attention(kind), torch.stack(theirs))
    assert len(trace.kinds) == {2: 3, 1: 1}[len(pipeline.stacks)]


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("name", MODELS)
def test_the_trace_has_every_point_of_a_layer_with_its_axes(name: str) -> None:
    pipeline, trace = opened(name), traced(name)
    assert pipeline.missing == ()
    assert all(len(step.axes) == len(step.shape) for step in trace)
    for kind in trace.kinds:
        for layer in range(2):
            attention, length = kind.path(layer), {"source": 9, "target": trace.logits.shape[1]}
            queries, keys = length[kind.queries], length[kind.keys]
            heads = trace.heads(kind)
            assert trace[attention / "weights"].shape == (2, heads, queries, keys)
            assert trace[attention / "query.heads"].axes == ("batch", "head", "query", "d_head")
            grouped = trace[attention / "key.heads"].shape[1] < heads
            assert trace[attention / "key.heads"].axes[1] == ("key_head" if grouped else "head")
            assert trace[attention / "head_output"].shape[:3] == (2, heads, queries)
            assert trace[attention / "output"].axes == ("batch", "query", "d_model")
            assert trace[attention.add_norm / "normalized"].axes == ("batch", kind.queries, "d_model")
            hidden = f"{kind.stack}.layers.{layer}.feed_forward"
            assert trace[f"{hidden}.activated"].axes == ("batch", kind.queries, "d_ff")
            assert trace[f"{hidden}.output"].axes == ("batch", kind.queries, "d_model")
            assert trace[f"{hidden}_add_norm.sum"].axes == ("batch", kind.queries, "d_model")
    assert trace.probabilities.sum(-1).allclose(torch.ones(1))


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("name", MODELS)
def test_the_configuration_says_whether_rows_of_the_token_table_are_scaled(name: str) -> None:
    """Marian and Pegasus scale them outside of all modules, Gemma without a setting."""
    scaled = getattr(reference(name).config, "scale_embedding", False) or name.startswith("gemma")
    assert opened(name).config.scale_embedding == scaled


def test_equal_widths_get_the_right_names(tmp_path: Path) -> None:
    """The joined heads of this Llama are as wide as its hidden layer. The rows of the OPT's table are half as wide as its
    residual stream."""
    save_model("llama", tmp_path, head_dim=6)
    save_tokenizer(tmp_path, ends=False)
    trace = open_model(tmp_path).trace(SHORT, "")
    attention = "decoder.layers.0.self_attention"
    assert trace[f"{attention}.concatenated"].axes == ("batch", "query", "feature")
    assert trace[f"{attention}.query.projected"].axes == ("batch", "query", "feature")
    assert trace[f"{attention}.output"].axes == ("batch", "query", "d_model")
    embedding = {part: traced("opt-post-norm")[f"target_embedding.{part}"].values for part in ("token", "position", "sum")}
    assert (embedding["token"] + embedding["position"]).equal(embedding["sum"])


# Models that add the outputs of both sub-layers at once, or a multiple of an output.
OTHER_SUMS = ("phi", "gpt_neox", "granite")


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("name", [name for name in MODELS if name not in OTHER_SUMS])
def test_the_residual_stream_is_the_sum_of_the_outputs_of_the_sub_layers(name: str) -> None:
    trace = traced(name)
    stack = "decoder" if "decoder" in opened(name).stacks else "encoder"
    layer = f"{stack}.layers.1"
    last = "cross_attention" if len(trace.kinds) == 3 else "self_attention"
    # The output of a norm after the sum is the stream of the next sub-layer. The output of a norm after the sub-layer is added.
    norm_first = f"{layer}.feed_forward_add_norm.normalized" in trace.activations and torch.equal(
        trace[f"{layer}.feed_forward_add_norm.sum"].values, _layer_output(name, trace)
    )
    before = trace[f"{layer}.{last}_add_norm.{'sum' if norm_first else 'normalized'}"].values
    added = f"{layer}.feed_forward_add_norm.normalized_output"
    added = trace[added if added in trace else f"{layer}.feed_forward.output"].values
    assert (before + added).allclose(trace[f"{layer}.feed_forward_add_norm.sum"].values, atol=1e-6)


def _layer_output(name: str, trace: Trace) -> Tensor:
    """The output of layer 1, taken from the reference."""
    model, kept = reference(name), {}
    parts = (LAST_LAYER.get(name) or LLAMA)[1].split(".")
    layer = model.get_submodule(".".join(parts[: parts.index("1") + 1]))
    layer.register_forward_hook(lambda _module, _inputs, result: kept.update(layer=result))
    with torch.inference_mode():
        model(**inputs(trace, opened(name).config.target_pad))
    return kept["layer"][0] if isinstance(kept["layer"], tuple) else kept["layer"]


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("name", MODELS)
def test_edits_have_the_same_effect_as_a_forward_hook(name: str) -> None:
    pipeline, plain = opened(name), traced(name)
    heads, hidden = LAST_LAYER.get(name) or LLAMA
    kind = plain.kinds[-1]
    stack, d_head = kind.stack, plain[kind.path(1) / "head_output"].shape[-1]
    edits = [
        Ablate(f"{kind.path(1)}.head_output", heads=(1,)),
        Scale(f"{stack}.layers.1.feed_forward.activated", factor=-2.0, items=(1,)),
    ]
    edited = traced(name, edits)
    model: nn.Module = reference(name)

    def silence(_module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor]:
        changed = given[0].clone()
        changed[..., d_head : 2 * d_head] = 0
        return (changed,)

    def turn(_module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor]:
        changed = given[0].clone()
        rows = changed.view(2, -1, changed.shape[-1])
        rows[1] *= -2.0
        return (changed,)

    model.get_submodule(heads).register_forward_pre_hook(silence)
    model.get_submodule(hidden).register_forward_pre_hook(turn)
    with torch.inference_mode():
        expected = model(**inputs(plain, pipeline.config.target_pad)).logits
    assert edited.logits.allclose(expected, atol=1e-6)
    assert not edited.logits.allclose(plain.logits, atol=1e-3)
    assert pipeline.check(plain).equal  # the edit did not change the model
