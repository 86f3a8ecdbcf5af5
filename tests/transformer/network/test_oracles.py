"""Tests of the whole network against other implementations, and against the worked example."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.transformer import reference
from tests.transformer.small import PAD, SOURCE, TARGET, small
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer
from transformer.tracing.trace import run_traced

TOLERANCE = 1e-5
KINDS = ("encoder", "decoder", "cross")
# d_model is odd. The number and the width of the heads differ from the numbers of layers and rows.
ODD = {"d_model": 15, "heads": 3, "d_ff": 22, "encoder_layers": 2, "decoder_layers": 3}


# --- against plain NumPy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("preset", ["vanilla", "shared_heads"])
def test_the_network_equals_the_numpy_reference(preset: str, dtype: torch.dtype):
    model = small(preset, **ODD).to(dtype)
    randomize(model)
    trace = run_traced(model, SOURCE, TARGET)
    expected = getattr(reference, preset)(weights_of(model), SOURCE.numpy(), TARGET.numpy(), heads=3)
    np.testing.assert_allclose(trace.logits.numpy(), expected.logits, atol=TOLERANCE, rtol=0)
    for kind in KINDS:
        np.testing.assert_allclose(
            trace.attention(kind).numpy(), np.stack(getattr(expected, kind)), atol=TOLERANCE, rtol=0, err_msg=kind
        )


def test_the_decoder_alone_equals_the_numpy_reference():
    model = small("vanilla", **ODD)
    randomize(model)
    trace = run_traced(model, None, TARGET)
    expected = reference.vanilla(weights_of(model), None, TARGET.numpy(), heads=3)
    np.testing.assert_allclose(trace.logits.numpy(), expected.logits, atol=TOLERANCE, rtol=0)
    np.testing.assert_allclose(trace.attention("decoder").numpy(), np.stack(expected.decoder), atol=TOLERANCE, rtol=0)


def randomize(model: Transformer) -> None:
    """Replace all weights by values far from any default: gains far from 1, biases far from 0."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.4)


def weights_of(model: Transformer) -> reference.Weights:
    return {name: tensor.double().numpy() for name, tensor in model.state_dict().items()}


# --- against torch.nn.Transformer --------------------------------------------------------------------------------------


# PyTorch warns that it does not use a fast path. This does not change any number.
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("depths", [(2, 2), (1, 3), (3, 1)])
def test_the_network_equals_torch(depths: tuple[int, int], norm_first: bool):
    model = small("pytorch", **ODD | {"encoder_layers": depths[0], "decoder_layers": depths[1]}, norm_first=norm_first)
    randomize(model)
    theirs = torch_twin(model)
    torch_weights = record_torch_attention(theirs)
    ours = run_traced(model, SOURCE, TARGET)
    with torch.no_grad():
        source, target = ours["source_embedding.sum"].values, ours["target_embedding.sum"].values
        masks = {"src_key_padding_mask": SOURCE == PAD, "memory_key_padding_mask": SOURCE == PAD}
        future = torch.ones(TARGET.shape[1], TARGET.shape[1], dtype=torch.bool).triu(1)
        memory = theirs.encoder(source, src_key_padding_mask=SOURCE == PAD)
        torch_weights.clear()
        decoded = theirs(source, target, tgt_mask=future, tgt_key_padding_mask=TARGET == PAD, **masks)
        logits = model.output_projection(decoded)
    torch.testing.assert_close(ours["encoder.output"].values, memory, atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(ours["decoder.output"].values, decoded, atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(ours.logits, logits, atol=TOLERANCE, rtol=0)
    theirs_by_kind = {
        "encoder": [torch_weights[layer.self_attn] for layer in theirs.encoder.layers],
        "decoder": [torch_weights[layer.self_attn] for layer in theirs.decoder.layers],
        "cross": [torch_weights[layer.multihead_attn] for layer in theirs.decoder.layers],
    }
    for kind, weights in theirs_by_kind.items():
        torch.testing.assert_close(ours.attention(kind), torch.stack(weights), atol=TOLERANCE, rtol=0)


def torch_twin(model: Transformer) -> nn.Transformer:
    """PyTorch's own Transformer with the same weights, in training mode without dropout to avoid its fast path."""
    config = model.config
    twin = nn.Transformer(
        config.d_model,
        config.heads,
        config.encoder_layers,
        config.decoder_layers,
        config.d_ff,
        dropout=0.0,
        batch_first=True,
        norm_first=config.norm_first,
    )
    parts = {"feed_forward.up_projection": "linear1", "feed_forward.down_projection": "linear2"}
    kinds = {
        "encoder": {"self_attention": ("self_attn", "norm1"), "feed_forward": ("", "norm2")},
        "decoder": {
            "self_attention": ("self_attn", "norm1"),
            "cross_attention": ("multihead_attn", "norm2"),
            "feed_forward": ("", "norm3"),
        },
    }
    with torch.no_grad():
        for stack, sublayers in kinds.items():
            mine, its = getattr(model, stack), getattr(twin, stack)
            its.norm.load_state_dict(mine.norm.state_dict())
            for my_layer, its_layer in zip(mine.layers, its.layers, strict=True):
                for mine_name, its_name in parts.items():
                    its_layer.get_submodule(its_name).load_state_dict(my_layer.get_submodule(mine_name).state_dict())
                for name, (attention, norm) in sublayers.items():
                    my_norm = my_layer.get_submodule(f"{name}_add_norm.norm")
                    its_layer.get_submodule(norm).load_state_dict(my_norm.state_dict())
                    if attention:
                        copy_attention(my_layer.get_submodule(name), its_layer.get_submodule(attention))
    return twin


def copy_attention(mine: nn.Module, its: nn.Module) -> None:
    projections = [mine.get_submodule(f"{name}.projection") for name in ("query", "key", "value")]
    its.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    its.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    its.out_proj.load_state_dict(mine.output_projection.state_dict())


def record_torch_attention(model: nn.Module) -> dict[nn.Module, Tensor]:
    """Make every attention of a PyTorch model compute its weights for each head, and record them."""
    weights: dict[nn.Module, Tensor] = {}
    asked = {"need_weights": True, "average_attn_weights": False}
    for module in model.modules():
        if isinstance(module, nn.MultiheadAttention):
            module.register_forward_pre_hook(lambda _, given, options: (given, options | asked), with_kwargs=True)
            module.register_forward_hook(lambda module, _, outputs: weights.update({module: outputs[1]}))
    return weights


# --- the worked example ------------------------------------------------------------------------------------------------

WORKED_SOURCE = torch.tensor([[1, 5, 6, 4, 3, 9, 5, 2, 0], [1, 8, 7, 3, 4, 5, 6, 7, 2]])
WORKED_TARGET = torch.tensor([[1, 7, 4, 3, 5, 9, 2, 0], [1, 5, 6, 2, 4, 7, 6, 2]])[:, :-1]
WORKED_SHAPES = {
    "source_mask": (2, 1, 1, 9),
    "target_mask": (2, 1, 7, 7),
    "source_embedding.token": (2, 9, 256),
    "source_embedding.position": (9, 256),
    "source_embedding.sum": (2, 9, 256),
    "target_embedding.sum": (2, 7, 256),
    **{
        f"encoder.layers.{layer}.{path}": shape
        for layer in range(6)
        for path, shape in {
            **{f"self_attention.{name}.split": (2, 9, 8, 32) for name in ("query", "key", "value")},
            **{f"self_attention.{name}.projected": (2, 9, 8, 32) for name in ("query", "key", "value")},
            **{f"self_attention.{name}.heads": (2, 8, 9, 32) for name in ("query", "key", "value")},
            **{f"self_attention.{name}": (2, 8, 9, 9) for name in ("scores", "masked_scores", "scaled_scores", "weights")},
            "self_attention.head_output": (2, 8, 9, 32),
            "self_attention.concatenated": (2, 9, 256),
            "self_attention.output": (2, 9, 256),
            "self_attention_add_norm.sum": (2, 9, 256),
            "self_attention_add_norm.normalized": (2, 9, 256),
            "feed_forward.hidden": (2, 9, 1024),
            "feed_forward.activated": (2, 9, 1024),
            "feed_forward.output": (2, 9, 256),
            "feed_forward_add_norm.normalized": (2, 9, 256),
        }.items()
    },
    **{
        f"decoder.layers.{layer}.{path}": shape
        for layer in range(6)
        for path, shape in {
            "self_attention.query.heads": (2, 8, 7, 32),
            "self_attention.weights": (2, 8, 7, 7),
            "cross_attention.query.heads": (2, 8, 7, 32),
            "cross_attention.key.heads": (2, 8, 9, 32),
            "cross_attention.value.heads": (2, 8, 9, 32),
            "cross_attention.scores": (2, 8, 7, 9),
            "cross_attention.weights": (2, 8, 7, 9),
            "cross_attention.output": (2, 7, 256),
            "feed_forward.hidden": (2, 7, 1024),
        }.items()
    },
    "encoder.output": (2, 9, 256),
    "decoder.output": (2, 7, 256),
    "logits": (2, 7, 10),
    "probabilities": (2, 7, 10),
}


def test_the_worked_example_has_its_shapes_at_every_tap():
    model = Transformer(TransformerConfig.preset("shared_heads")).eval()
    trace = run_traced(model, WORKED_SOURCE, WORKED_TARGET)
    assert {path: trace[path].shape for path in WORKED_SHAPES} == WORKED_SHAPES
    assert trace.masks.source[0, 0, 0].tolist() == [True] * 8 + [False]
    assert trace.masks.source[1].all()


@pytest.mark.parametrize(
    ("config", "count"),
    [
        (TransformerConfig.preset("shared_heads"), 7_616_010),
        (TransformerConfig.preset("vanilla", d_model=256, d_ff=1024, max_len=100), 11_066_890),
    ],
)
def test_the_worked_example_has_its_number_of_parameters(config: TransformerConfig, count: int):
    assert sum(parameter.numel() for parameter in Transformer(config).parameters()) == count
