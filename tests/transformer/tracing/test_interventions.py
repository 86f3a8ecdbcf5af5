"""Tests of Ablate, Scale and Patch: each changes only the tensors that it names."""

import itertools
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transformer.small import SOURCE, TARGET, Run, runs, small
from tests.transformer.tracing.edits import ATTENTIONS, CROSS, DECODER, ENCODER, edited, equal_before
from transformer.errors import HeadlightError, PathError
from transformer.network.model import Transformer
from transformer.tracing.interventions import Ablate, Patch, Scale, silence
from transformer.tracing.paths import Kind
from transformer.tracing.trace import Trace, run_traced

# --- Ablate ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_ablating_a_head_zeroes_only_that_head(model: Transformer, plain: Trace, attention: str):
    path = f"{attention}.weights"
    trace = edited(model, Ablate(attention, heads=(1,)))
    before, after = plain[path].values, trace[path].values
    assert (after[:, 1] == 0).all()
    assert torch.equal(after[:, [0, 2]], before[:, [0, 2]])
    assert (trace[f"{attention}.head_output"].values[:, 1] == 0).all()
    assert torch.equal(trace[f"{attention}.head_output"].values[:, [0, 2]], plain[f"{attention}.head_output"].values[:, [0, 2]])
    assert equal_before(plain, trace, path)
    assert not torch.equal(trace.logits, plain.logits)


@pytest.mark.parametrize("heads", [None, (0, 2), (2,)])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_uniform_weights_are_equal_over_allowed_keys(model: Transformer, plain: Trace, attention: str, heads):
    path = f"{attention}.weights"
    trace = edited(model, Ablate(path, heads=heads, to="uniform"))
    chosen = list(range(3)) if heads is None else list(heads)
    others = [head for head in range(3) if head not in chosen]
    allowed = plain.masks.target if attention == DECODER else plain.masks.source
    before, after = plain[path].values, trace[path].values
    allowed = allowed.expand(2, 3, *before.shape[2:])
    nowhere = ~allowed.any(-1, keepdim=True)
    share = torch.where(nowhere, before, allowed / allowed.sum(-1, keepdim=True).clamp(min=1))
    torch.testing.assert_close(after[:, chosen], share[:, chosen])
    assert torch.equal(after[:, others], before[:, others])
    assert equal_before(plain, trace, path)


@pytest.mark.parametrize("path", ["logits", "encoder.layers.0.feed_forward.activated", f"{CROSS}.head_output"])
def test_any_tensor_can_be_zeroed(model: Transformer, path: str):
    assert (edited(model, Ablate(path))[path].values == 0).all()


def test_ablating_a_mask_hides_every_key(model: Transformer):
    trace = edited(model, Ablate("source_mask"))
    assert not trace.masks.source.any()
    assert trace.fully_masked("encoder").all()
    assert trace.fully_masked("cross").all()
    assert trace.logits.isfinite().all()


@pytest.mark.parametrize("kind", [*Kind])
def test_silenced_heads_have_zero_weights(model: Transformer, plain: Trace, kind: Kind):
    trace = edited(model, silence(str(kind), 0, (0, 2), items=(1,)))
    assert (trace.weights(kind, 0)[1, [0, 2]] == 0).all()
    assert torch.equal(trace.weights(kind, 0)[1, 1], plain.weights(kind, 0)[1, 1])
    assert torch.equal(trace.weights(kind, 0)[0], plain.weights(kind, 0)[0])


def test_silencing_is_ablating_the_attention():
    assert silence("cross", 1, (2,)) == Ablate("decoder.layers.1.cross_attention", heads=(2,))


@pytest.mark.parametrize(
    ("kind", "layer", "message"),
    [
        ("sideways", 0, "not a kind of attention"),
        *(("cross", layer, "layer is .*; it must be a whole number") for layer in (-1, "1", True, None, 0.5)),
    ],
)
def test_a_layer_that_cannot_be_silenced_is_refused(kind: str, layer: Any, message: str):
    with pytest.raises(HeadlightError, match=message):
        silence(kind, layer, (0,))


# --- Scale -------------------------------------------------------------------------------------------------------------


@given(runs(), st.data())
@settings(max_examples=12)
def test_scaling_by_one_changes_no_bit(run: Run, data: st.DataObject):
    path = data.draw(st.sampled_from(sorted(set(run.model.taps) - {"source_mask", "target_mask"})))
    plain = run_traced(run.model, run.source, run.target)
    trace = run_traced(run.model, run.source, run.target, [Scale(path, factor=1.0)])
    assert all(torch.equal(step.values, trace[step.path].values) for step in plain)


@pytest.mark.parametrize("factor", [0.0, -1.0, 2.5])
def test_scaling_multiplies(model: Transformer, plain: Trace, factor: float):
    path = "encoder.layers.1.feed_forward.output"
    trace = edited(model, Scale(path, factor=factor))
    torch.testing.assert_close(trace[path].values, plain[path].values * factor)
    assert equal_before(plain, trace, path)


def test_scaling_positions_and_heads(model: Transformer, plain: Trace):
    path = f"{CROSS}.head_output"
    trace = edited(model, Scale(path, factor=2.0, heads=(0, 2), positions=(1, 3)))
    expected = plain[path].values.clone()
    for head, position in itertools.product((0, 2), (1, 3)):
        expected[:, head, position] *= 2
    assert torch.equal(trace[path].values, expected)


def test_scaling_the_path_of_an_attention_scales_its_output(model: Transformer, plain: Trace):
    trace = edited(model, Scale(DECODER, factor=0.0, positions=(2,)))
    assert (trace[f"{DECODER}.output"].values[:, 2] == 0).all()
    assert torch.equal(trace[f"{DECODER}.output"].values[:, :2], plain[f"{DECODER}.output"].values[:, :2])


def test_positions_beyond_the_sequence_are_ignored(model: Transformer, plain: Trace):
    trace = edited(model, Scale("decoder.output", factor=0.0, positions=(1, 15)))
    assert (trace["decoder.output"].values[:, 1] == 0).all()
    assert torch.equal(trace["decoder.output"].values[:, 2:], plain["decoder.output"].values[:, 2:])


@pytest.mark.parametrize("factor", [0.0, -1.0, 0.5])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_scores_scaled_after_the_mask_keep_hidden_keys_hidden(attention: str, factor: float):
    model = small("shared_heads", mask_fill=-10_000.0)
    trace = edited(model, Scale(f"{attention}.scaled_scores", factor=factor, heads=(0, 2)))
    kind = {ENCODER: "encoder", DECODER: "decoder", CROSS: "cross"}[attention]
    assert (trace.attention(kind)[~run_traced(model, SOURCE, TARGET).allowed(kind)] == 0).all()


# --- Patch -------------------------------------------------------------------------------------------------------------


def test_patching_encoder_output_and_mask_of_another_run_gives_the_logits_of_that_run(model: Transformer):
    other = run_traced(model, SOURCE.flip(1), TARGET)
    memory, mask = other["encoder.output"].values, other.masks.source
    trace = edited(model, Patch("encoder.output", values=memory), Patch("source_mask", values=mask))
    # The patched mask also changes the encoder, but the encoder's output is patched after it.
    assert torch.equal(trace.logits, other.logits)


@pytest.mark.parametrize(
    ("edit", "where"),
    [
        (lambda values: Patch(f"{CROSS}.weights", values=values, heads=(2,)), (slice(None), [2])),
        (lambda values: Patch(f"{CROSS}.weights", values=values, positions=(0, 4)), (slice(None), slice(None), [0, 4])),
        (lambda values: Patch(f"{CROSS}.weights", values=values), (slice(None),)),
    ],
)
def test_patching_a_part(model: Transformer, plain: Trace, edit, where: tuple):
    path, expected = f"{CROSS}.weights", plain[f"{CROSS}.weights"].values.clone()
    new = torch.rand(expected[where].shape, generator=torch.Generator().manual_seed(0))
    trace = edited(model, edit(new))
    expected[where] = new
    assert torch.equal(trace[path].values, expected)
    assert equal_before(plain, trace, path)


def test_patching_heads_at_positions(model: Transformer, plain: Trace):
    path, new = f"{ENCODER}.query.heads", torch.arange(2 * 2 * 3 * 4.0).view(2, 2, 3, 4)
    trace = edited(model, Patch(path, values=new, heads=(0, 2), positions=(1, 2, 5)))
    expected = plain[path].values.clone()
    for (i, head), (j, position) in itertools.product(enumerate((0, 2)), enumerate((1, 2, 5))):
        expected[:, head, position] = new[:, i, j]
    assert torch.equal(trace[path].values, expected)


@pytest.mark.parametrize("values", [0.25, 1, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [[0.5]], torch.tensor(0.5)])
def test_patched_values_broadcast(model: Transformer, plain: Trace, values: object):
    path = f"{CROSS}.weights"
    trace = edited(model, Patch(path, values=values))
    assert torch.equal(trace[path].values, torch.as_tensor(values).float().expand_as(plain[path].values))


@pytest.mark.parametrize("values", [[1.0, 2.0], torch.zeros(2, 3, 5, 8), torch.zeros(1, 2, 3, 5, 7), []])
def test_values_of_another_shape_are_refused(model: Transformer, values: object):
    with pytest.raises(PathError, match=r"weights, which takes \(2, 3, 5, 7\) \(batch head query key\)"):
        edited(model, Patch(f"{CROSS}.weights", values=values))


@pytest.mark.parametrize(
    "values",
    [None, "abc", {}, [[1.0], [1.0, 2.0]], [None], 1j, math.nan, [0.0, math.nan], math.inf, -math.inf, 1e30, 10**40, 1e300],
)
def test_values_that_are_not_usable_numbers_are_refused(model: Transformer, values: object):
    with pytest.raises(PathError, match=f"^The values .* do not fit {CROSS}.weights: "):
        Patch(f"{CROSS}.weights", values=values).place(model)


def test_scores_may_be_patched_with_minus_infinity(model: Transformer, plain: Trace):
    scores = plain[f"{CROSS}.masked_scores"].values
    assert torch.equal(edited(model, Patch(f"{CROSS}.masked_scores", values=scores)).logits, plain.logits)
    trace = edited(model, Patch(f"{CROSS}.masked_scores", values=-math.inf))
    assert (trace[f"{CROSS}.weights"].values == 0).all()
    assert trace.logits.isfinite().all()
    with pytest.raises(PathError, match="-inf for scores only"):
        Patch(f"{CROSS}.masked_scores", values=math.inf).place(model)


def test_patching_a_mask(model: Transformer, plain: Trace):
    only_first = torch.zeros(2, 1, 1, 7, dtype=torch.bool)
    only_first[..., 0] = True
    trace = edited(model, Patch("source_mask", values=only_first))
    assert trace.masks.source.dtype == torch.bool
    assert torch.equal(trace.masks.source, only_first)
    for kind in ("encoder", "cross"):
        assert (trace.attention(kind)[..., 0] == 1).all()
        assert (trace.attention(kind)[..., 1:] == 0).all()
    everything = edited(model, Patch("target_mask", values=True))
    assert everything.allowed("decoder").all()
    assert (everything.attention("decoder")[0, 1, :, 0, 1:] > 0).all()


def test_an_edit_does_not_change_a_learned_table():
    model = small("shared_heads")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    for path in ("source_embedding.position", "source_embedding.token"):
        edited(model, Patch(path, values=0.0))
        edited(model, Scale(path, factor=0.0, positions=(0,)))
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
