"""The building blocks compute what PyTorch's do, however their matrices lie in memory and wherever a parameter comes from."""

import copy
import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.nn.utils import parametrize, prune

from tests.transformer.small import SOURCE, TARGET, small
from transformer import PRESETS, Pipeline, Transformer, run_traced
from transformer.analysis.call_tree import forward_calls
from transformer.network.modules import LayerNorm, Linear, constant
from transformer.pipeline.untrained import Untrained

CHECKPOINT = Path(__file__).parents[3] / "assets" / "checkpoints" / "reverse.safetensors"


def matrices(model: nn.Module) -> list[torch.Tensor]:
    return [module.weight for module in model.modules() if isinstance(module, nn.Linear)]


@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_map_is_pytorch_s_from_the_same_seed(bias: bool) -> None:
    made = []
    for kind in (Linear, nn.Linear):
        torch.manual_seed(3)
        made.append(kind(5, 7, bias=bias))
    ours, its = made
    assert {name: value.shape for name, value in ours.state_dict().items()} == {
        name: value.shape for name, value in its.state_dict().items()
    }
    assert all(torch.equal(value, its.state_dict()[name]) for name, value in ours.state_dict().items())
    x = torch.randn(2, 3, 5)
    torch.testing.assert_close(ours(x), its(x))


def test_every_matrix_lies_input_by_output_wherever_the_model_comes_from() -> None:
    fresh, other = small("vanilla"), small("vanilla")
    other.load_state_dict({name: value.contiguous() for name, value in fresh.state_dict().items()})
    models = [
        fresh,
        other,
        copy.deepcopy(fresh),
        Untrained("vanilla", ("a",), ("b",)).build().model,
        Pipeline.load(CHECKPOINT).model,
    ]
    for model in models:
        assert matrices(model)
        assert all(matrix.T.is_contiguous() for matrix in matrices(model))
    assert all(map(torch.equal, matrices(fresh), matrices(other)))


def test_what_a_seed_draws_does_not_depend_on_how_a_matrix_lies_in_memory() -> None:
    model = small("vanilla", initialization="xavier")
    torch.manual_seed(5)
    model.initialize()
    torch.manual_seed(5)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            drawn = nn.init.xavier_uniform_(torch.empty(parameter.shape))
            tables = [f"{side}_embedding.table.weight" for side in ("source", "target")]
            assert name in tables or torch.equal(parameter, drawn), name


def test_layer_norm_is_pytorch_s() -> None:
    ours, its = LayerNorm(6, eps=1e-3), nn.LayerNorm(6, eps=1e-3)
    for norm in (ours, its):
        torch.manual_seed(2)
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
    x = torch.randn(2, 3, 6)
    assert torch.equal(ours(x), its(x))


@pytest.mark.parametrize("preset", PRESETS)
def test_a_pruned_and_a_parametrised_matrix_take_part(preset: str) -> None:
    model = small(preset)
    before = model(SOURCE, TARGET)
    last = model.output_projection
    prune.custom_from_mask(last, "weight", torch.zeros_like(last.weight))
    torch.testing.assert_close(model(SOURCE, TARGET), last.bias.expand_as(before))

    norm, x = LayerNorm(6), torch.randn(2, 6)
    prune.custom_from_mask(norm, "weight", torch.zeros(6))
    assert not norm(x).any()

    class Doubled(nn.Module):
        def forward(self, weight: torch.Tensor) -> torch.Tensor:
            return 2 * weight

    model = small(preset)
    parametrize.register_parametrization(model.output_projection, "weight", Doubled())
    bias = model.output_projection.bias
    torch.testing.assert_close(model(SOURCE, TARGET) - bias, 2 * (before - bias), rtol=1e-4, atol=1e-5)


def test_parameters_that_are_put_in_for_one_call_are_used() -> None:
    model = small("pytorch")
    values = {name: torch.zeros_like(parameter) for name, parameter in model.named_parameters()}
    with torch.no_grad():
        assert not functional_call(model, values, (SOURCE, TARGET)).any()
        assert model(SOURCE, TARGET).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("value", [math.sqrt(32), math.sqrt(3), 8.0, -math.inf, -1e9])
def test_a_constant_is_the_number_itself(value: float, dtype: torch.dtype) -> None:
    x = torch.randn(3, 4, 5, dtype=dtype)
    hidden = torch.rand(4, 5) < 0.5
    assert torch.equal(x / constant(value, dtype), x / value)
    assert torch.equal(torch.where(hidden, constant(value, dtype), x), torch.where(hidden, value, x))


def test_a_constant_made_while_nobody_learns_serves_a_training_step() -> None:
    constant.cache_clear()
    model: Transformer = small("pytorch")
    run_traced(model, SOURCE, TARGET)
    model.train()(SOURCE, TARGET).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_the_calls_of_a_pass_are_the_same_whether_a_constant_is_there_or_not() -> None:
    model = small("pytorch")
    constant.cache_clear()
    first = forward_calls(model, SOURCE, TARGET)
    assert first == forward_calls(model, SOURCE, TARGET)
    assert {"Linear", "LayerNorm"} <= {call.name for call in first}


@pytest.mark.parametrize("put", ["__setattr__", "add_module", "register_module", "set_submodule"])
def test_the_child_that_was_put_in_is_the_one_that_runs(put: str) -> None:
    model, other = small("vanilla"), nn.Linear(12, 10)
    before = model(SOURCE, TARGET)
    getattr(model, put)("output_projection", other)
    assert model.output_projection is other
    assert torch.equal(model.state_dict()["output_projection.weight"], other.weight)
    assert not torch.equal(model(SOURCE, TARGET), before)


def test_a_child_that_was_taken_out_is_gone() -> None:
    model = small("pytorch")
    model.encoder.norm = None
    assert model.encoder.norm is None
    assert "norm" not in dict(model.encoder.named_children())
    del model.decoder.norm
    assert not hasattr(model.decoder, "norm")
    with pytest.raises(AttributeError, match="norm"):
        del model.decoder.norm


def test_a_copy_of_a_model_is_traced_as_itself() -> None:
    model = small("vanilla")
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin.output_projection.bias += 1
    ours, its = run_traced(model, SOURCE, TARGET), run_traced(twin, SOURCE, TARGET)
    assert list(ours.steps) == list(its.steps)
    assert set(twin.taps.values()).isdisjoint(model.taps.values())
    assert torch.equal(its.logits, twin(SOURCE, TARGET))
    assert not torch.equal(ours.logits, its.logits)
