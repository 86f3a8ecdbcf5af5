"""Tests of the computations at one position. They are compared with the trace and with PyTorch's LayerNorm."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch

from tests.transformer.small import SOURCE, TARGET, VARIANTS, small
from transformer.analysis.sublayer_steps import Recomputed, feed_forward, layer_norm, residual
from transformer.errors import InputError, PathError
from transformer.network.model import Transformer
from transformer.tracing.interventions import Scale
from transformer.tracing.trace import Trace, run_traced

SUBLAYERS = [
    *(f"encoder.layers.{layer}.{part}" for layer in (0, 1) for part in ("self_attention", "feed_forward")),
    *(f"decoder.layers.{layer}.{part}" for layer in (0, 1) for part in ("self_attention", "cross_attention", "feed_forward")),
]


def run(preset: str, norm_first: bool) -> tuple[Transformer, Trace]:
    model = small(preset, norm_first=norm_first)
    with torch.no_grad():  # an untrained LayerNorm has γ = 1 and β = 0, which could hide errors in the computation
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter += torch.randn_like(parameter) * 0.3
    return model, run_traced(model, SOURCE, TARGET)


def test_a_model_in_bfloat16_agrees_up_to_its_own_rounding() -> None:
    model = small("vanilla").bfloat16()
    trace, part = run_traced(model, SOURCE, TARGET), "encoder.layers.0.feed_forward"
    for worked in (residual(trace, part, 1), layer_norm(model, trace, part, 1), feed_forward(model, trace, part, 1)):
        assert worked.largest_difference <= 2**-6 * np.abs(worked.traced).max()


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_every_sublayer_agrees_with_the_trace(preset: str, norm_first: bool) -> None:
    model, trace = run(preset, norm_first)
    for sublayer, item in itertools.product(SUBLAYERS, (0, 1)):
        for position in (0, 1, -1 + trace[f"{sublayer}_add_norm.sum"].shape[1]):
            total = residual(trace, sublayer, position, item)
            assert total.largest_difference <= 1e-6
            assert (total.result == total.x + total.added).all()
            norm = layer_norm(model, trace, sublayer, position, item)
            assert norm.largest_difference <= 1e-5
            # Pre-norm normalises the input of the sub-layer, and post-norm the residual sum.
            assert norm.inputs[0] == (total.inputs[0] if norm_first else total.path)
            if sublayer.endswith("feed_forward"):
                network = feed_forward(model, trace, sublayer, position, item)
                assert network.largest_difference <= 1e-5
                assert np.abs(network.hidden - network.traced_hidden).max() <= 1e-5
                activated = trace[f"{sublayer}.activated"].numpy()[item, position]
                assert network.fires.sum() == np.count_nonzero(activated)


def test_the_intermediate_results_of_a_layer_norm() -> None:
    model, trace = run("vanilla", False)
    norm = layer_norm(model, trace, "encoder.layers.0.feed_forward", 2)
    x = torch.tensor(norm.x)
    assert norm.mean == pytest.approx(float(x.mean()))
    assert norm.variance == pytest.approx(float(x.var(unbiased=False)))
    assert norm.standard.mean() == pytest.approx(0)
    assert norm.standard.std() == pytest.approx(1)
    again = torch.nn.functional.layer_norm(x, x.shape, torch.tensor(norm.gamma), torch.tensor(norm.beta), norm.eps)
    assert np.allclose(norm.result, again)


def test_the_strongest_units_add_the_longest_vectors_to_the_output() -> None:
    model, trace = run("vanilla", False)
    network = feed_forward(model, trace, "decoder.layers.1.feed_forward", 1)
    units = network.strongest(4)
    weights = model.get_parameter("decoder.layers.1.feed_forward.down_projection.weight").detach().double().numpy()
    moves = np.linalg.norm(weights * network.activated, axis=0)
    assert units == list(np.argsort(-moves)[:4])
    assert all(network.fires[unit] for unit in network.strongest(999))
    assert len(network.strongest(999)) == network.fires.sum() == round(network.share * len(network.hidden))
    # The outputs of all units and the bias add up to the result.
    bias = model.get_parameter("decoder.layers.1.feed_forward.down_projection.bias").detach().double().numpy()
    assert np.allclose((weights * network.activated).sum(1) + bias, network.result)


def test_an_edited_output_differs_from_the_recomputed_one() -> None:
    model = small()
    trace = run_traced(model, SOURCE, TARGET, [Scale("encoder.layers.0.feed_forward.output", factor=2.0)])
    assert feed_forward(model, trace, "encoder.layers.0.feed_forward", 0).largest_difference > 0.01
    assert residual(trace, "encoder.layers.0.feed_forward", 0).largest_difference <= 1e-6


def test_a_missing_sublayer_position_or_text_is_refused_with_the_allowed_values() -> None:
    _, trace = run("vanilla", False)
    with pytest.raises(PathError, match="nearest are"):
        residual(trace, "encoder.layers.7.feed_forward", 0)
    with pytest.raises(PathError, match="allowed are 0 to 6"):
        residual(trace, "encoder.layers.0.feed_forward", 7)
    with pytest.raises(PathError, match="allowed are 0 to 1"):
        residual(trace, "encoder.layers.0.feed_forward", 0, 2)


@pytest.mark.parametrize("explained", [layer_norm, feed_forward])
def test_a_trace_of_another_model_is_refused(explained: Callable[..., Recomputed]) -> None:
    _, trace = run("vanilla", False)
    with pytest.raises(InputError, match="must be the one that was traced"):
        explained(small("vanilla", d_ff=8), trace, "encoder.layers.0.feed_forward", 0)
