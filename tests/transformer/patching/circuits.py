"""Small networks whose circuit is known, because it is written by hand: a decoder alone, whose heads are functions of what they
read. The last token is the signal: 1 in the clean run, 0 in the corrupt run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from transformer.network.config import NetworkConfig
from transformer.network.tap import Tap, name_taps, tracing
from transformer.patching import RunPair
from transformer.tracing.trace import Activation, Trace

# What the heads of a layer read, [batch, head, target, width] → what they add to the stream, of the same shape.
Layer = Callable[[Tensor], Tensor]
CLEAN, CORRUPT = torch.tensor([[0, 1]]), torch.tensor([[0, 0]])


@dataclass(frozen=True)
class CircuitConfig(NetworkConfig):
    """The sizes of a circuit."""

    heads: int
    decoder_layers: int
    d_model: int
    target_vocab: int = 2
    target_pad: int = -1
    encoder_layers: int = 0
    norm_first: bool = True
    max_len: int = 8


class Value(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.heads = Tap("batch head key d_head")


class Heads(nn.Module):
    """The attention of a layer: what the heads read passes the tap `value.heads`, what they write the tap `head_output`."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.layer, self.value = layer, Value()
        self.head_output = Tap("batch head query d_head")

    def forward(self, stream: Tensor, heads: int) -> Tensor:
        read = self.value.heads(stream[:, None].expand(-1, heads, -1, -1))
        return self.head_output(self.layer(read)).sum(1)


class Circuit(nn.Module):
    """A network of heads without anything else.

    Args:
        heads: number of heads in each layer.
        layers: the function of each layer.
        embed: ids → stream, [batch, target, width].
        read: stream → logits, [batch, target, 2].
    """

    def __init__(
        self, heads: int, layers: Sequence[Layer], embed: Callable[[Tensor], Tensor], read: Callable[[Tensor], Tensor]
    ) -> None:
        super().__init__()
        self.embed, self.read = embed, read
        self.config = CircuitConfig(heads=heads, decoder_layers=len(layers), d_model=embed(CLEAN).shape[-1])
        self.decoder: Any = nn.Module()
        self.decoder.layers = nn.ModuleList(nn.Module() for _ in layers)
        for block, layer in zip(self.decoder.layers, layers, strict=True):
            block.self_attention = Heads(layer)
        self.logits = Tap("batch target vocab")
        self.target_embedding = Embedding()
        self.taps = name_taps(self)
        self.eval()

    def forward(self, source: None, target: Tensor) -> Tensor:
        return self.decode(target, None, None)

    def decode(self, target: Tensor, memory: Any, mask: Any, cache: Any = None, rows: int | None = None) -> Tensor:
        stream = self.target_embedding.sum(self.embed(target))
        for block in self.decoder.layers:
            stream = stream + block.self_attention(stream, self.config.heads)
        logits = self.logits(self.read(stream))
        return logits if rows is None else logits[:, -rows:]

    def encode(self, source: Tensor) -> Any:
        raise NotImplementedError

    def check_ids(self, side: str, ids: object) -> None:
        """Circuits read any ids."""

    def new_cache(self) -> None:
        return None

    def pair(self) -> RunPair:
        return RunPair.of(self, self.trace(CLEAN), self.trace(CORRUPT), tokens=(1, 0))

    def trace(self, ids: Tensor) -> Trace:
        with tracing(self) as values:
            self(None, ids)
        activations = {path: Activation(path, self.taps[path].axes, stored) for path, stored in values.stored.items()}
        rows = tuple(map(tuple, ids.tolist()))
        return Trace(self.config, activations, (), rows, (), tuple(tuple(map(str, row)) for row in rows), {})


class Embedding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sum = Tap("batch target d_model")


def gate(*layers: Sequence[Callable[[Tensor, Tensor], Tensor]], answer: Callable[..., Tensor]) -> RunPair:
    """The pair of a circuit whose heads write one number each.

    Args:
        layers: the heads of each layer: a function of the signal, and of the numbers that the heads of the layers before have
            written, [batch, target, number], in the order of layers and heads.
        answer: a function of all numbers, one after another: 4 × the logit difference.
    """
    heads = len(layers[0])
    width = 1 + heads * len(layers)

    def function(index: int) -> Layer:
        def layer(read: Tensor) -> Tensor:
            written = torch.zeros_like(read)
            for head, of_head in enumerate(layers[index]):
                stream = read[:, head]
                written[:, head, :, 1 + index * heads + head] = of_head(stream[..., 0], stream[..., 1:])
            return written

        return layer

    def embed(ids: Tensor) -> Tensor:
        return nn.functional.pad(ids[..., None].float(), (0, width - 1))

    def read(stream: Tensor) -> Tensor:
        logit = 4 * answer(*stream[..., 1:].unbind(-1))
        return torch.stack([torch.zeros_like(logit), logit], -1)

    return Circuit(heads, [function(index) for index in range(len(layers))], embed, read).pair()


def linear(seed: int = 0) -> RunPair:
    """The pair of a linear network of three layers of two heads: each position adds linear maps of the mean of the positions
    up to it."""
    generator = torch.Generator().manual_seed(seed)
    maps = torch.randn(3, 2, 4, 4, generator=generator) / 3
    table, output = torch.randn(2, 4, generator=generator), torch.randn(4, 2, generator=generator)

    def layer_of(index: int) -> Layer:
        def layer(read: Tensor) -> Tensor:
            mix = torch.ones(read.shape[2], read.shape[2]).tril()
            return (mix / mix.sum(1, keepdim=True)) @ read @ maps[index]

        return layer

    return Circuit(2, [layer_of(index) for index in range(3)], lambda ids: table[ids], lambda stream: stream @ output).pair()
