"""Reference implementations of `vanilla` and `shared_heads` in float64 NumPy, written from the table of variants alone.

Slow and simple on purpose: one head at a time, no modules. It shares no code with the library, only the names of the
weights, which are those of a checkpoint. A mask is True where a query may attend to a key.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray
Weights = dict[str, Array]


@dataclass
class Result:
    """The outputs of a reference; attention weights are `[batch, head, query, key]`, one array per layer."""

    logits: Array = field(default_factory=lambda: np.empty(0))
    encoder: list[Array] = field(default_factory=list)
    decoder: list[Array] = field(default_factory=list)
    cross: list[Array] = field(default_factory=list)


def vanilla(weights: Weights, source: Array | None, target: Array, heads: int, pad: int = 0) -> Result:
    """The outputs of `vanilla`: post-norm, sinusoidal positions, full projections, −10 000; decoder alone without a source."""

    def embedded(ids: Array, side: str) -> Array:
        table = weights[f"{side}_embedding.table.weight"]
        return table[ids] + sinusoid(ids.shape[1], table.shape[1])

    def attend(path: str, x: Array, memory: Array, may_attend: Array, layer_weights: list[Array]) -> Array:
        width = x.shape[-1] // heads
        query = linear(weights, f"{path}.query.projection", x)
        key = linear(weights, f"{path}.key.projection", memory)
        value = linear(weights, f"{path}.value.projection", memory)
        maps, outputs = [], []
        for head in range(heads):
            part = slice(head * width, (head + 1) * width)
            scores = query[..., part] @ key[..., part].swapaxes(1, 2) / np.sqrt(width)
            maps.append(softmax(np.where(may_attend, scores, -10_000.0)))
            outputs.append(maps[-1] @ value[..., part])
        layer_weights.append(np.stack(maps, axis=1))
        return linear(weights, f"{path}.output_projection", np.concatenate(outputs, axis=-1))

    causal = np.tril(np.ones((target.shape[1], target.shape[1]), dtype=bool))[None]
    target_mask = causal & (target != pad)[:, :, None]
    return run(weights, source, target, embedded, attend, target_mask, pad, eps=1e-12)


def shared_heads(weights: Weights, source: Array, target: Array, heads: int, pad: int = 0) -> Result:
    """The outputs of `shared_heads`: post-norm, learned positions, one small projection for all heads, mask before √d, −∞."""

    def embedded(ids: Array, side: str) -> Array:
        positions = weights[f"{side}_embedding.positions.table.weight"]
        return weights[f"{side}_embedding.table.weight"][ids] + positions[: ids.shape[1]]

    def attend(path: str, x: Array, memory: Array, may_attend: Array, layer_weights: list[Array]) -> Array:
        d_model = x.shape[-1]
        width = d_model // heads
        maps, outputs = [], []
        for head in range(heads):
            part = slice(head * width, (head + 1) * width)
            query = x[..., part] @ weights[f"{path}.query.projection.weight"].T
            key = memory[..., part] @ weights[f"{path}.key.projection.weight"].T
            value = memory[..., part] @ weights[f"{path}.value.projection.weight"].T
            scores = np.where(may_attend, query @ key.swapaxes(1, 2), -np.inf) / np.sqrt(d_model)
            maps.append(softmax(scores))
            outputs.append(maps[-1] @ value)
        layer_weights.append(np.stack(maps, axis=1))
        return np.concatenate(outputs, axis=-1) @ weights[f"{path}.output_projection.weight"].T

    causal = np.tril(np.ones((target.shape[1], target.shape[1]), dtype=bool))[None]
    return run(weights, source, target, embedded, attend, causal, pad, eps=1e-5)


def run(
    weights: Weights,
    source: Array | None,
    target: Array,
    embedded: Callable[..., Array],
    attend: Callable[..., Array],
    target_mask: Array,
    pad: int,
    eps: float,
) -> Result:
    """The outputs, from the parts that both variants share: layers with a sum and a norm after each sub-layer, and the final
    linear map."""
    result = Result()

    def normalized(path: str, x: Array) -> Array:
        return layer_norm(x, weights[f"{path}.norm.weight"], weights[f"{path}.norm.bias"], eps)

    def fed_forward(path: str, x: Array) -> Array:
        inner = np.maximum(linear(weights, f"{path}.feed_forward.up_projection", x), 0.0)
        return normalized(f"{path}.feed_forward_add_norm", x + linear(weights, f"{path}.feed_forward.down_projection", inner))

    memory, source_mask = None, None
    if source is not None:
        memory, source_mask = embedded(source, "source"), (source != pad)[:, None, :]
        for layer in layers(weights, "encoder"):
            output = attend(f"{layer}.self_attention", memory, memory, source_mask, result.encoder)
            memory = normalized(f"{layer}.self_attention_add_norm", memory + output)
            memory = fed_forward(layer, memory)
    x = embedded(target, "target")
    for layer in layers(weights, "decoder"):
        output = attend(f"{layer}.self_attention", x, x, target_mask, result.decoder)
        x = normalized(f"{layer}.self_attention_add_norm", x + output)
        if memory is not None:
            output = attend(f"{layer}.cross_attention", x, memory, source_mask, result.cross)
            x = normalized(f"{layer}.cross_attention_add_norm", x + output)
        x = fed_forward(layer, x)
    result.logits = linear(weights, "output_projection", x)
    return result


def layers(weights: Weights, stack: str) -> list[str]:
    count = len({name.split(".")[2] for name in weights if name.startswith(f"{stack}.layers.")})
    return [f"{stack}.layers.{index}" for index in range(count)]


def linear(weights: Weights, path: str, x: Array) -> Array:
    return x @ weights[f"{path}.weight"].T + weights[f"{path}.bias"]


def softmax(scores: Array) -> Array:
    """Softmax over the last axis; a row with only −∞ becomes zeros."""
    out = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        open_keys = scores[row] > -np.inf
        if open_keys.any():
            powers = np.exp(scores[row][open_keys] - scores[row].max())
            out[row][open_keys] = powers / powers.sum()
    return out


def layer_norm(x: Array, gain: Array, bias: Array, eps: float) -> Array:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * gain + bias


def sinusoid(length: int, d_model: int) -> Array:
    table = np.zeros((length, d_model))
    for position in range(length):
        for index in range(d_model):
            angle = position / 10_000 ** (2 * (index // 2) / d_model)
            table[position, index] = np.sin(angle) if index % 2 == 0 else np.cos(angle)
    return table
