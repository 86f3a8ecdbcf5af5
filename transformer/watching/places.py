"""`Setting`: a copy of our `Transformer` to make mistakes in, and the places where they can be made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor, nn

from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer
from transformer.tracing.paths import Kind

KIND_WORDS = {
    Kind.ENCODER: "the encoder's self-attention",
    Kind.DECODER: "the decoder's self-attention",
    Kind.CROSS: "cross-attention",
}


@dataclass(frozen=True, eq=False)
class Setting:
    """A copy of our `Transformer` in which mistakes are made, and facts about the user's network.

    Attributes:
        model: a copy of our network with the weights of the user's network.
        source, target: the ids that the copy reads.
        extra_norms: LayerNorms of the user's network that ours has no place for: name of the place → weight and bias.
        eps: path of a norm of ours → ε in the user's network; only norms whose ε is known.
        layers: stack → how many of its layers the user's network runs.
        fills: numbers that the user's network writes into its weights after softmax.
        hidden: numbers that the user's network writes into its scores before softmax, if they are not low enough to hide a key.
    """

    model: Transformer
    source: Tensor
    target: Tensor
    extra_norms: Mapping[str, tuple[Tensor, Tensor | None]]
    eps: Mapping[str, float]
    layers: Mapping[str, int]
    fills: tuple[float, ...] = ()
    hidden: tuple[float, ...] = ()

    @property
    def config(self) -> TransformerConfig:
        """The configuration of the copy of our `Transformer`."""
        return self.model.config

    def module(self, path: str) -> nn.Module:
        """The module of the copy of our `Transformer` at a path."""
        return self.model.get_submodule(path)

    @cached_property
    def attentions(self) -> dict[str, Kind]:
        """Path of each attention → its kind."""
        config = self.config
        listed = {str(Kind.ENCODER.path(layer)): Kind.ENCODER for layer in range(config.encoder_layers)}
        for layer in range(config.decoder_layers):
            listed |= {str(kind.path(layer)): kind for kind in (Kind.DECODER, Kind.CROSS)}
        return listed

    @cached_property
    def sublayers(self) -> list[str]:
        """The path of every sub-layer, in the order of computation."""
        config = self.config
        listed = [
            f"encoder.layers.{layer}.{part}"
            for layer in range(config.encoder_layers)
            for part in ("self_attention", "feed_forward")
        ]
        decoder = ("self_attention", "cross_attention", "feed_forward")
        return listed + [f"decoder.layers.{layer}.{part}" for layer in range(config.decoder_layers) for part in decoder]

    def layer_input(self, path: str) -> str:
        """The path of the tensor that a layer reads; `path` is the path of one of its sub-layers."""
        stack, _, layer, _ = path.split(".")[:4]
        if int(layer):
            return f"{stack}.layers.{int(layer) - 1}.feed_forward_add_norm.{'sum' if self.config.norm_first else 'normalized'}"
        return f"{'source' if stack == 'encoder' else 'target'}_embedding.sum"

    def attention_places(self, *kinds: Kind) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yields, for each group of attentions of these `kinds` (all by default) in which a mistake may be made, the group in
        words and the paths of its attentions."""
        kinds = kinds or tuple(Kind)
        groups: list[tuple[str, tuple[Kind, ...]]] = [("every attention", tuple(Kind))]
        groups += [
            ("both self-attentions", (Kind.ENCODER, Kind.DECODER)),
            ("encoder and cross-attention", (Kind.ENCODER, Kind.CROSS)),
        ]
        groups += [("the decoder", (Kind.DECODER, Kind.CROSS)), *((words, (kind,)) for kind, words in KIND_WORDS.items())]
        for words, group in groups:
            if {*group} <= {*kinds}:
                yield words, tuple(path for path, kind in self.attentions.items() if kind in group)
        for path, kind in self.attentions.items():
            if kind in kinds and self._layers(path) > 1:
                yield f"{KIND_WORDS[kind]} of layer {int(path.split('.')[2]) + 1}", (path,)

    def sublayer_places(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yields, for each group of sub-layers in which a mistake may be made, the group in words and the paths of its
        sub-layers."""
        yield "every sub-layer", tuple(self.sublayers)
        for stack in ("encoder", "decoder"):
            yield f"every sub-layer of the {stack}", tuple(path for path in self.sublayers if path.startswith(stack))
        yield "every attention", tuple(path for path in self.sublayers if "attention" in path)
        yield from self.feed_forward_places(all_of_them=True)
        for path in self.sublayers:
            yield sublayer_words(path), (path,)
        for end in ("self_attention", "cross_attention"):
            yield f"every {end.replace('_', '-')}", tuple(path for path in self.sublayers if path.endswith(end))
        for layer in range(max(self.config.encoder_layers, self.config.decoder_layers)):
            for stack in ("encoder", "decoder"):
                paths = tuple(path for path in self.sublayers if path.startswith(f"{stack}.layers.{layer}."))
                if paths and self._layers(paths[0]) > 1:
                    yield f"layer {layer + 1} of the {stack}", paths
        for end in ("self_attention", "feed_forward"):
            for stack in ("encoder", "decoder"):
                paths = tuple(path for path in self.sublayers if path.endswith(end) and path.startswith(stack))
                if len(paths) > 1:
                    yield f"every {end.replace('_', '-')} of the {stack}", paths
        for left_out in self.sublayers:
            if len(self.sublayers) > 4:
                yield (
                    f"every sub-layer but {sublayer_words(left_out)}",
                    tuple(path for path in self.sublayers if path != left_out),
                )

    def feed_forward_places(self, all_of_them: bool = False) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yields, for each group of feed-forward networks in which a mistake may be made, the group in words and their paths.
        With `all_of_them`, only the group of all feed-forward networks."""
        networks = [path for path in self.sublayers if path.endswith("feed_forward")]
        yield "every feed-forward network", tuple(networks)
        for stack in () if all_of_them else ("encoder", "decoder"):
            yield f"the feed-forward networks of the {stack}", tuple(path for path in networks if path.startswith(stack))
        for path in () if all_of_them else networks:
            if self._layers(path) > 1:
                yield sublayer_words(path), (path,)

    def _layers(self, path: str) -> int:
        return self.config.encoder_layers if path.startswith("encoder") else self.config.decoder_layers


def sublayer_words(path: str) -> str:
    """The sub-layer at a path in words, with its layer counted from 1: `the decoder's cross-attention of layer 2`."""
    stack, _, layer, part = path.split(".")[:4]
    return f"the {stack}'s {part.replace('_', '-').replace('feed-forward', 'feed-forward network')} of layer {int(layer) + 1}"
