"""Tests of traces: they are complete, exact and in order, and every tensor can be computed again from them."""

import math
from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
import pytest
import torch
from einops import rearrange
from torch import Tensor

from tests.transformer.small import SOURCE, TARGET, VARIANTS, Run, runs, small
from transformer.errors import HeadlightError, InputError, PathError
from transformer.network.attention import MultiHeadAttention, SharedProjection
from transformer.network.config import PRESETS
from transformer.network.embedding import Embedding
from transformer.network.layers import AddNorm, FeedForward
from transformer.network.model import Transformer
from transformer.network.tap import tracing
from transformer.tracing.paths import Kind
from transformer.tracing.trace import Activation, Trace, run_traced


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda variant: f"{variant[0]}-{'pre' if variant[1] else 'post'}")
def model(request: pytest.FixtureRequest) -> Transformer:
    preset, norm_first = request.param
    return small(preset, norm_first=norm_first, decoder_layers=3)


@pytest.fixture(scope="module")
def trace(model: Transformer) -> Trace:
    return run_traced(model, SOURCE, TARGET)


@hypothesis.given(runs())
@hypothesis.settings(max_examples=20)
def test_tracing_changes_no_bit_of_the_logits(run: Run):
    assert torch.equal(run_traced(run.model, run.source, run.target).logits, run.model(run.source, run.target))


def test_every_tap_is_traced_exactly_once(model: Transformer, trace: Trace):
    assert len(trace) == len(list(trace)) == len(model.taps)
    assert {activation.path for activation in trace} == set(model.taps)


def test_the_trace_of_a_decoder_alone_lacks_only_encoder_and_cross_attention():
    model = small("vanilla")
    trace = run_traced(model, None, TARGET)
    missing = set(model.taps) - {activation.path for activation in trace}
    assert {path for path in model.taps if path.startswith(("source", "encoder")) or "cross_attention" in path} == missing
    assert trace.masks.source is None
    assert trace.source_tokens == ()
    assert torch.equal(trace.positional_encoding, trace["target_embedding.position"].values)
    with pytest.raises(InputError, match="This run has no cross attention; it has decoder"):
        trace.attention("cross")


def test_steps_are_in_the_order_of_computation(trace: Trace):
    order = [activation.path for activation in trace]
    first = ["source_mask", "source_embedding.token", "encoder.layers.0.self_attention.query.projected"]
    layers = [f"encoder.layers.{layer}.feed_forward.output" for layer in range(2)]
    then = ["encoder.output", "target_mask", "target_embedding.token"]
    for layer in range(3):
        then += [f"decoder.layers.{layer}.{part}.output" for part in ("self_attention", "cross_attention", "feed_forward")]
    expected = [*first, *layers, *then, "decoder.output", "logits", "probabilities"]
    assert [path for path in order if path in expected] == expected
    for attention in (path.removesuffix(".weights") for path in order if path.endswith(".weights")):
        places = [
            order.index(f"{attention}.{name}")
            for name in ("query.heads", "key.heads", "value.heads", "scores")
            + (("masked_scores", "scaled_scores") if trace.config.mask_before_scaling else ("scaled_scores", "masked_scores"))
            + ("weights", "head_output", "concatenated", "output")
        ]
        assert places == sorted(places)


def test_axes_have_the_sizes_of_their_names(model: Transformer, trace: Trace):
    config = trace.config
    sizes = {
        "batch": 2,
        "head": config.heads,
        "d_head": config.d_head,
        "d_model": config.d_model,
        "d_ff": config.d_ff,
        "source": SOURCE.shape[1],
        "target": TARGET.shape[1],
        "vocab": config.target_vocab,
        "1": 1,
    }
    for activation in trace:
        side = "source" if activation.path.startswith(("encoder", "source")) else "target"
        lengths = {"query": sizes[side], "key": sizes[side], "position": sizes[side]}
        if "cross_attention." in activation.path:
            lengths["key"] = sizes["source"]
        assert activation.axes == model.taps[activation.path].axes
        assert activation.shape == tuple((sizes | lengths)[axis] for axis in activation.axes), activation.path


def test_the_error_for_an_unknown_path_names_the_nearest_path(trace: Trace):
    with pytest.raises(PathError) as caught:
        trace["encoder.layers.0.self_atention.weights"]
    assert "there is no such tap" in str(caught.value)
    assert "encoder.layers.0.self_attention.weights" in str(caught.value)


@pytest.mark.parametrize("path", ["", "nothing at all", "encoder.layers.7.self_attention", "<script>", "é" * 500])
def test_any_unknown_path_is_a_path_error(trace: Trace, path: str):
    assert path not in trace
    with pytest.raises(PathError, match="no such tap"):
        trace[path]


def test_the_path_of_an_attention_gives_its_weights(trace: Trace):
    assert trace["encoder.layers.1.self_attention"] is trace["encoder.layers.1.self_attention.weights"]


@pytest.mark.parametrize(
    ("kind", "shape"), [("encoder", (2, 2, 3, 7, 7)), ("decoder", (3, 2, 3, 5, 5)), ("cross", (3, 2, 3, 5, 7))]
)
def test_attention_of_a_kind_is_stacked_over_layers(trace: Trace, kind: str, shape: tuple[int, ...]):
    weights = trace.attention(kind)
    assert weights.shape == shape
    assert (trace.layers(kind), trace.heads(kind)) == (shape[0], shape[2])
    for layer in range(trace.layers(kind)):
        assert torch.equal(weights[layer], trace[Kind.of(kind).path(layer) / "weights"].values)
        assert trace.weights(kind, layer) is trace[Kind.of(kind).path(layer)].values
    queries, keys = trace.tokens(kind, item=1)
    assert (len(queries), len(keys)) == shape[-2:]
    assert trace.fully_masked(kind).shape == shape[:-1]


def test_one_head_of_one_text(trace: Trace):
    for kind in trace.kinds:
        weights, allowed = trace.attention(kind), trace.allowed(kind)
        assert torch.equal(trace.head(kind, 1, 2), weights[1, 0, 2])
        assert torch.equal(trace.head(kind, 1, 2, item=1), weights[1, 1, 2])
        assert torch.equal(trace.head_allowed(kind, 1, 2), allowed[1, 0, 2])
        assert torch.equal(trace.head_allowed(kind, 1, 2, item=1), allowed[1, 1, 2])


@pytest.mark.parametrize("method", ["head", "head_allowed"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sideways", 0, 0), "not a kind of attention"),
        (("cross", 3, 0), "layer is 3; allowed are 0 to 2"),
        (("cross", 0, 3), "head is 3; allowed are 0 to 2"),
        (("cross", 0, -1), "head is -1; allowed are 0 to 2"),
        (("cross", 0, 0, 2), "item is 2; allowed are 0 to 1"),
    ],
)
def test_a_head_that_the_trace_lacks_is_refused(trace: Trace, method: str, arguments: tuple[Any, ...], message: str):
    with pytest.raises(HeadlightError, match=message):
        getattr(trace, method)(*arguments)


def test_an_unknown_kind_of_attention_is_refused(trace: Trace):
    with pytest.raises(InputError, match="allowed are encoder, decoder, cross"):
        trace.layers("sideways")


def test_weights_and_allowed_are_stacked_once(trace: Trace):
    first, allowed = trace.attention("cross"), trace.allowed("cross")
    assert trace.attention("cross") is first
    assert trace.attention(Kind.CROSS) is first
    assert trace.allowed("cross") is trace.allowed(Kind.CROSS) is allowed
    assert trace.weights("cross", 1) is trace["decoder.layers.1.cross_attention.weights"].values
    assert torch.equal(first[1], trace.weights("cross", 1))


def test_the_bytes_of_stacked_tensors_are_counted_before_they_are_stacked(model: Transformer):
    trace = run_traced(model, SOURCE, TARGET)
    before = trace.nbytes
    stacked = [tensor for kind in trace.kinds for tensor in (trace.attention(kind), trace.allowed(kind))]
    assert before == trace.tensor_bytes + sum(tensor.nbytes for tensor in stacked)
    assert trace.nbytes == before


def test_a_trace_has_only_the_kinds_that_ran(model: Transformer, trace: Trace):
    assert trace.kinds == (Kind.ENCODER, Kind.DECODER, Kind.CROSS)
    assert run_traced(small("vanilla"), None, TARGET).kinds == (Kind.DECODER,)
    with torch.inference_mode(), tracing(model) as values:
        model.encode(SOURCE)
    activations = {path: Activation(path, model.taps[path].axes, tensor) for path, tensor in values.items()}
    ids = tuple(map(tuple, SOURCE.tolist()))
    alone = Trace(model.config, activations, ids, (), tuple(tuple(map(str, row)) for row in ids), (), trace.used_masks)
    assert (alone.kinds, alone.batch_size) == ((Kind.ENCODER,), 2)
    assert torch.equal(alone.attention("encoder"), trace.attention("encoder"))
    assert alone.tokens("encoder", 1) == trace.tokens("encoder", 1)
    with pytest.raises(InputError, match="This run has no decoder attention; it has encoder"):
        alone.heads("decoder")


def test_a_trace_has_the_ids_that_the_model_read(trace: Trace):
    assert [list(row) for row in trace.source_ids] == SOURCE.tolist()
    assert [list(row) for row in trace.ids_of("target")] == TARGET.tolist()
    assert trace.batch_size == 2
    assert (trace.tokens_of("source"), trace.tokens_of("target")) == (trace.source_tokens, trace.target_tokens)
    alone = run_traced(small("vanilla"), None, TARGET)
    assert (alone.source_ids, alone.ids_of("source"), alone.tokens_of("source")) == ((), (), ())


@pytest.mark.parametrize("layer", [2, -1, pytest.param(10**5000, id="huge")])
def test_a_layer_out_of_range_is_refused(trace: Trace, layer: int):
    with pytest.raises(PathError, match="layer"):
        trace.weights("encoder", layer)


def test_tokens_default_to_the_ids(trace: Trace):
    assert trace.source_tokens[0] == ("1", "5", "6", "4", "2", "0", "0")
    assert trace.tokens("cross", 1) == (("1", "5", "6", "2", "4"), ("1", "8", "7", "3", "4", "5", "2"))


def test_masks_and_positional_encoding_equal_the_tensors_of_the_steps(trace: Trace, model: Transformer):
    assert torch.equal(trace.masks.source, trace["source_mask"].values)
    assert torch.equal(trace.masks.target, trace["target_mask"].values)
    assert trace.masks.target.dtype == torch.bool
    assert trace.positional_encoding.shape == (SOURCE.shape[1], model.config.d_model)


def test_an_array_of_a_step_is_read_only_and_shares_its_memory(trace: Trace):
    activation = trace["logits"]
    array = activation.numpy()
    assert np.shares_memory(array, activation.values.numpy())
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 0


def test_only_texts_and_paths_are_in_a_trace(trace: Trace):
    assert "logits" in trace
    for path in (["logits"], None, {}, 3):
        assert path not in trace


def test_nbytes_counts_memory_once(trace: Trace):
    everything = sum(activation.values.nbytes for activation in trace)
    scores = sum(activation.values.nbytes for activation in trace if activation.path.endswith((".scores", ".weights")))
    assert scores < trace.nbytes < everything
    # Heads are views of the projected tensor, so they add nothing.
    views = [activation.values.nbytes for activation in trace if activation.path.endswith(".query.heads")]
    assert trace.nbytes <= everything - sum(views)


def test_a_longer_run_takes_more_memory():
    model = small()
    assert run_traced(model, SOURCE[:, :3], TARGET).nbytes < run_traced(model, SOURCE, TARGET).nbytes


# --- recomputing every tensor ------------------------------------------------------------------------------------------

Recorded = Callable[[str], Tensor]


@pytest.mark.parametrize("rows", [1, 2])
@torch.inference_mode()
def test_every_tensor_can_be_computed_from_earlier_tensors(model: Transformer, rows: int):
    source, target = SOURCE[:rows], TARGET[:rows]
    trace = run_traced(model, source, target)
    tensors = recomputed(model, trace, source, target)
    assert set(tensors) == set(model.taps)
    for path, values in tensors.items():
        torch.testing.assert_close(trace[path].values, values, atol=1e-6, rtol=1e-6, msg=f"{path} does not follow")
    # The same operation on the same tensor gives equal bits.
    for path in tensors:
        if path.endswith((".scores", ".scaled_scores", ".masked_scores", ".head_output", ".concatenated", ".output", ".sum")):
            assert torch.equal(trace[path].values, tensors[path]), path


def recomputed(model: Transformer, trace: Trace, source: Tensor, target: Tensor) -> dict[str, Tensor]:
    """Path → the tensor, computed again from the parameters and from tensors that were recorded before it."""
    config, tensors = model.config, {}

    def recorded(path: str) -> Tensor:
        return trace[path].values

    tensors["source_mask"] = (source != config.source_pad)[:, None, None, :]
    length = target.shape[1]
    causal = torch.ones(length, length, dtype=torch.bool).tril().expand(len(target), 1, length, length)
    real = target != config.target_pad
    hidden = {"queries": real[:, None, :, None], "keys": real[:, None, None, :], "nothing": torch.tensor(True)}
    tensors["target_mask"] = causal & hidden[config.target_padding]
    for side, ids in (("source", source), ("target", target)):
        tensors |= embedded(model.get_submodule(f"{side}_embedding"), f"{side}_embedding", ids, recorded)
    for stack, side, depth in (("encoder", "source", 2), ("decoder", "target", 3)):
        x = recorded(f"{side}_embedding.sum")
        for layer in range(depth):
            block = f"{stack}.layers.{layer}"
            memory = recorded("encoder.output") if stack == "decoder" else None
            for part in ("self_attention", "cross_attention", "feed_forward")[:: 1 if stack == "decoder" else 2]:
                other = memory if part == "cross_attention" else None
                module, norm = model.get_submodule(f"{block}.{part}"), model.get_submodule(f"{block}.{part}_add_norm")
                into = recorded(f"{block}.{part}_add_norm.normalized") if config.norm_first else x
                mask = recorded("source_mask" if stack == "encoder" or other is not None else "target_mask")
                if part == "feed_forward":
                    tensors |= fed_forward(module, f"{block}.{part}", into, recorded)
                else:
                    tensors |= attended(module, f"{block}.{part}", into, into if other is None else other, mask, recorded)
                tensors |= added(norm, f"{block}.{part}_add_norm", x, recorded(f"{block}.{part}.output"), recorded)
                x = recorded(f"{block}.{part}_add_norm.{'sum' if config.norm_first else 'normalized'}")
        tensors[f"{stack}.output"] = model.get_submodule(stack).norm(x)
    tensors["logits"] = model.output_projection(recorded("decoder.output"))
    tensors["probabilities"] = recorded("logits").softmax(-1)
    return tensors


def embedded(module: Embedding, path: str, ids: Tensor, recorded: Recorded) -> dict[str, Tensor]:
    tensors = {f"{path}.token": module.table.weight[ids], f"{path}.position": module.positions(ids.shape[1])}
    tokens = recorded(f"{path}.token")
    if module.scale is not None:
        tensors[f"{path}.scaled"] = tokens * math.sqrt(tokens.shape[-1])
        tokens = recorded(f"{path}.scaled")
    return tensors | {f"{path}.sum": tokens + recorded(f"{path}.position")}


def attended(
    module: MultiHeadAttention, path: str, x: Tensor, memory: Tensor, mask: Tensor, recorded: Recorded
) -> dict[str, Tensor]:
    tensors = {}
    for name, given in (("query", x), ("key", memory), ("value", memory)):
        projection, branch = getattr(module, name), f"{path}.{name}"
        if isinstance(projection, SharedProjection):
            tensors[f"{branch}.split"] = rearrange(given, "b p (h d) -> b p h d", h=module.query.count)
            tensors[f"{branch}.projected"] = projection.projection(recorded(f"{branch}.split"))
            tensors[f"{branch}.heads"] = recorded(f"{branch}.projected").transpose(1, 2)
        else:
            tensors[f"{branch}.projected"] = projection.projection(given)
            tensors[f"{branch}.heads"] = rearrange(
                recorded(f"{branch}.projected"), "b p (h d) -> b h p d", h=module.query.count
            )
    tensors[f"{path}.scores"] = recorded(f"{path}.query.heads") @ recorded(f"{path}.key.heads").mT
    before, after = ("masked", "scaled") if module.mask_before_scaling else ("scaled", "masked")
    for activation, given in ((before, recorded(f"{path}.scores")), (after, recorded(f"{path}.{before}_scores"))):
        hidden = given.masked_fill(~mask, module.fill)
        tensors[f"{path}.{activation}_scores"] = hidden if activation == "masked" else given / module.divisor
    tensors[f"{path}.weights"] = recorded(f"{path}.{after}_scores").softmax(-1).nan_to_num(0.0)
    tensors[f"{path}.head_output"] = recorded(f"{path}.weights") @ recorded(f"{path}.value.heads")
    tensors[f"{path}.concatenated"] = rearrange(recorded(f"{path}.head_output"), "b h q d -> b q (h d)")
    tensors[f"{path}.output"] = module.output_projection(recorded(f"{path}.concatenated"))
    return tensors


def fed_forward(module: FeedForward, path: str, x: Tensor, recorded: Recorded) -> dict[str, Tensor]:
    return {
        f"{path}.hidden": module.up_projection(x),
        f"{path}.activated": recorded(f"{path}.hidden").clamp(min=0),
        f"{path}.output": module.down_projection(recorded(f"{path}.activated")),
    }


def added(module: AddNorm, path: str, x: Tensor, output: Tensor, recorded: Recorded) -> dict[str, Tensor]:
    normalized = module.norm(x if module.norm_first else recorded(f"{path}.sum"))
    return {f"{path}.sum": x + output, f"{path}.normalized": normalized}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_probabilities_are_the_softmax_of_the_logits(preset: str):
    trace = run_traced(small(preset), SOURCE, TARGET)
    assert (trace.probabilities.sum(-1) - 1).abs().max() < 1e-6
    assert torch.equal(trace.probabilities.argmax(-1), trace.logits.argmax(-1))


def test_a_query_of_the_decoder_is_named_by_what_it_reads_and_what_it_writes(trace: Trace):
    (tokens, keys), padding = trace.tokens("cross"), trace.target_ids[0].count(trace.config.target_pad)
    read = tokens[: len(tokens) - padding]
    names = trace.query_names("cross", end="<eos>")[: len(read)]
    assert [name.split(" → ") for name in names] == [list(pair) for pair in zip(read, [*read[1:], "<eos>"], strict=True)]
    assert trace.query_names("decoder")[len(read) - 1 :] == (f"{read[-1]} → …", *tokens[len(read) :])
    assert trace.query_names("encoder") == trace.tokens("encoder")[0] == keys


def test_padding_before_a_token_has_the_name_of_what_it_reads_and_writes():
    inside = run_traced(small("vanilla"), SOURCE[:1], torch.tensor([[1, 5, 0, 7, 0, 0]]))
    assert inside.query_names("decoder") == ("1 → 5", "5 → 0", "0 → 7", "7 → …", "0", "0")
