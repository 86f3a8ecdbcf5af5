"""Tests of sub-layers: the residual sum, the norm, and the places of dropout."""

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.small import SIZES, SOURCE, TARGET, small
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.layers import AddNorm, FeedForward
from transformer.network.tap import tracing

X = torch.randn(2, 3, 12, generator=torch.Generator().manual_seed(0))


def config(preset: str = "vanilla", **values: object) -> TransformerConfig:
    return TransformerConfig.preset(preset, **SIZES | values)


@pytest.mark.parametrize("preset", PRESETS)
def test_post_norm_normalises_the_sum(preset: str):
    layer = AddNorm(config(preset), "source").eval()
    expected = nn.functional.layer_norm(X + 2 * X.relu(), (12,), eps=layer.norm.eps)
    torch.testing.assert_close(layer(X, lambda x: 2 * x.relu()), expected)


@pytest.mark.parametrize("preset", PRESETS)
def test_pre_norm_does_not_normalise_the_residual_stream(preset: str):
    layer = AddNorm(config(preset, norm_first=True), "source").eval()
    expected = X + 2 * nn.functional.layer_norm(X, (12,), eps=layer.norm.eps).relu()
    torch.testing.assert_close(layer(X, lambda x: 2 * x.relu()), expected)
    assert torch.equal(layer(X, torch.zeros_like), X)


@pytest.mark.parametrize("preset", PRESETS)
def test_feed_forward_is_two_linears_and_a_relu_at_each_position(preset: str):
    layer = FeedForward(config(preset), "source").eval()
    expected = layer.down_projection(torch.maximum(layer.up_projection(X), torch.zeros(())))
    assert torch.equal(layer(X), expected)
    torch.testing.assert_close(layer(X[:, 1:2]), layer(X)[:, 1:2])


# In training mode a trace shows which values dropout has set to 0. At p = 0.5, dropout doubles the other values.


def trained(preset: str) -> tuple[nn.Module, dict[str, Tensor]]:
    model = small(preset, dropout=0.5, d_ff=64).train()
    with torch.no_grad(), tracing(model) as values:
        model(SOURCE, TARGET)
    return model, values


def struck(before: Tensor, after: Tensor) -> bool:
    """Whether `after` is `before` with about half of the values dropped and the others doubled."""
    dropped, doubled = (after.abs() <= 1e-5), torch.isclose(after, 2 * before, atol=1e-5)
    return bool((dropped | doubled).all() and 0.2 < dropped.float().mean() < 0.8)


@pytest.mark.parametrize(("preset", "on_sublayer"), [("vanilla", True), ("pytorch", True), ("shared_heads", False)])
def test_dropout_is_on_the_sublayer_or_on_the_norm(preset: str, on_sublayer: bool):
    _, values = trained(preset)
    layer = "encoder.layers.0"
    normalized, output = values[f"{layer}.self_attention_add_norm.normalized"], values[f"{layer}.feed_forward.output"]
    total = values[f"{layer}.feed_forward_add_norm.sum"]
    assert struck(output, total - normalized) == on_sublayer
    assert struck(normalized, total - output) == (not on_sublayer)


@pytest.mark.parametrize(("preset", "inside"), [("vanilla", True), ("pytorch", True), ("shared_heads", False)])
def test_dropout_is_inside_the_feed_forward_network_of_some_variants(preset: str, inside: bool):
    model, values = trained(preset)
    layer = "decoder.layers.1.feed_forward"
    expected = model.get_submodule(f"{layer}.down_projection")(values[f"{layer}.activated"])
    assert torch.allclose(values[f"{layer}.output"], expected, atol=1e-6) == (not inside)


def test_the_decoder_alone_skips_cross_attention():
    model = small("vanilla")
    with tracing(model) as values:
        model(None, TARGET)
    assert not any("cross_attention" in path or path.startswith(("source", "encoder")) for path in values)
    after_attention = values["decoder.layers.0.self_attention_add_norm.normalized"]
    fed = values["decoder.layers.0.feed_forward.output"]
    torch.testing.assert_close(values["decoder.layers.0.feed_forward_add_norm.sum"], after_attention + fed)
