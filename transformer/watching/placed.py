"""The weights of a user's Transformer under the names of ours."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from torch import Tensor

from transformer.network.config import TransformerConfig


@dataclass
class Placed:
    """Tensors of the user's network under the names that they have in ours.

    Attributes:
        config: the configuration of a network of ours that has a place for all of these tensors.
        tensors: name in our `Transformer` → values.
        names: name in our network → names in the user's network.
        extra_norms: LayerNorms of the user's network that ours has no place for: name of the place → weight and bias.
        eps: path of a norm of ours → ε in the user's network; only norms whose ε is known.
        layers: stack → how many of its layers the user's network ran; they are placed in the first layers of ours.
        left: names of parameters of the user's network without a place.
    """

    config: TransformerConfig
    tensors: dict[str, Tensor] = field(default_factory=dict)
    names: dict[str, frozenset[str]] = field(default_factory=dict)
    extra_norms: dict[str, tuple[Tensor, Tensor | None]] = field(default_factory=dict)
    eps: dict[str, float] = field(default_factory=dict)
    layers: dict[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    def put(self, name: str, values: Tensor | None, names: Iterable[str]) -> None:
        """Store a tensor of the user's network under `name`, its name in our `Transformer`. `names` are its names in the user's
        network. If `values` is None, nothing is stored."""
        if values is not None:
            self.tensors[name] = values
            self.names[name] = frozenset(names)


def copy_config(config: TransformerConfig) -> TransformerConfig:
    """The configuration of the same network, but with a place for every weight that the user's network may have: biases, and
    matrices that are not shared. It has no dropout."""
    return config.replace(
        tied_weights="nothing",
        head_projection="per_head",
        projection_bias=True,
        output_bias=True,
        zero_pad_row=False,
        mask_before_scaling=False,
        dropout=0.0,
    )
