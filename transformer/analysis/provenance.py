"""What each kind of tensor in the network is made of: from which tensors, with which parameters, by which operation.

Derived from the structure and the configuration, with one entry of `RULES` for each kind of tap. A kind without an entry is
`UNDESCRIBED`: it is shown without inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from transformer.network.config import TransformerConfig
from transformer.tracing.paths import STACK_SIDES, SUBLAYERS, TensorPath

# What goes in before there is any tensor: the ids of the tokens. They are no tap.
SOURCE_IDS, TARGET_IDS = "source_ids", "target_ids"


class Found(NamedTuple):
    """How a tensor was made."""

    operation: str
    inputs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where a tap is, and how the variant is built around it.

    Attributes:
        path: of the tap.
        config: of the model.
        alone: whether the decoder ran without an encoder.
    """

    path: TensorPath
    config: TransformerConfig
    alone: bool

    def beside(self, *names: str) -> tuple[str, ...]:
        """Paths of taps or parameters of the module that has this tap."""
        return tuple(str(self.path.owner / name) for name in names)

    def linear(self, module: str, bias: bool = True) -> tuple[str, ...]:
        """The parameters of a linear map that the same module has."""
        return self.beside(f"{module}.weight", f"{module}.bias") if bias else self.beside(f"{module}.weight")

    @property
    def sublayers(self) -> list[str]:
        """Those that run in a layer of this stack, in order."""
        return [name for name in SUBLAYERS[self.path.stack] if not (self.alone and name == "cross_attention")]

    def after(self, layer: int, part: str) -> str:
        """The residual stream after a sub-layer."""
        end = "sum" if self.config.norm_first else "normalized"
        return str(TensorPath(self.path.stack, layer, part).add_norm / end)

    @property
    def end(self) -> str:
        """The residual stream after the last layer of this stack."""
        layers = self.config.encoder_layers if self.path.stack == "encoder" else self.config.decoder_layers
        return self.after(layers - 1, "feed_forward")

    @property
    def stream(self) -> str:
        """The residual stream before this sub-layer."""
        layer, before = self.path.layer or 0, self.sublayers.index(self.path.part)
        if before:
            return self.after(layer, self.sublayers[before - 1])
        if layer:
            return self.after(layer - 1, "feed_forward")
        return f"{STACK_SIDES[self.path.stack]}_embedding.sum"

    @property
    def read(self) -> str:
        """What this sub-layer reads."""
        return str(self.path.add_norm / "normalized") if self.config.norm_first else self.stream

    @property
    def mask(self) -> str:
        """The mask that is laid on the scores of this attention."""
        assert self.path.kind is not None
        return str(self.path.kind.mask)


# --- what each kind of tensor is made of -----------------------------------------------------------------------------


def _token(place: Place) -> Found:
    return Found("look up", (SOURCE_IDS if place.path.side == "source" else TARGET_IDS,), place.beside("table.weight"))


def _position(place: Place) -> Found:
    learned = place.config.position == "learned"
    return Found("first rows", (), place.beside("positions.table.weight")) if learned else Found("waves")


def _embedded(place: Place) -> Found:
    return Found("add", place.beside("scaled" if place.config.scale_embedding else "token", "position"))


def _reads(place: Place) -> str:
    """What a projection to queries, keys or values reads: keys and values of cross-attention come from the encoder."""
    across = place.path.sublayer == "cross_attention" and not place.path.name.startswith("query.")
    return "encoder.output" if across else place.read


def _projected(place: Place) -> Found:
    shared = place.config.head_projection == "shared"
    inputs = place.beside("split") if shared else (_reads(place),)
    return Found("linear map", inputs, place.linear("projection", place.config.projection_bias))


def _split(place: Place) -> Found:
    return Found("split", (_reads(place),))


def _heads(place: Place) -> Found:
    shared = place.config.head_projection == "shared"
    return Found("swap axes" if shared else "split and swap axes", place.beside("projected"))


def _scores(place: Place) -> Found:
    return Found("rows times rows", place.beside("query.heads", "key.heads"))


def _scaled(place: Place) -> Found:
    return Found("divide", place.beside("masked_scores" if place.config.mask_before_scaling else "scores"))


def _masked(place: Place) -> Found:
    return Found("hide", (*place.beside("scores" if place.config.mask_before_scaling else "scaled_scores"), place.mask))


def _weights(place: Place) -> Found:
    return Found("softmax", place.beside("scaled_scores" if place.config.mask_before_scaling else "masked_scores"))


def _summed(place: Place) -> Found:
    return Found("add", (place.stream, str(place.path.whole / "output")))


def _normalized(place: Place) -> Found:
    inputs = (place.stream,) if place.config.norm_first else place.beside("sum")
    return Found("LayerNorm", inputs, place.linear("norm"))


def _put_out(place: Place) -> Found:
    """The end of a stack."""
    return (
        Found("LayerNorm", (place.end,), place.linear("norm")) if place.config.final_norm else Found("as it is", (place.end,))
    )


RULES: dict[str, Callable[[Place], Found]] = {
    "source_mask": lambda _: Found("not padding", (SOURCE_IDS,)),
    "target_mask": lambda _: Found("not later", (TARGET_IDS,)),
    "embedding.token": _token,
    "embedding.scaled": lambda place: Found("multiply", place.beside("token")),
    "embedding.position": _position,
    "embedding.sum": _embedded,
    **{f"attention.{role}.split": _split for role in ("query", "key", "value")},
    **{f"attention.{role}.projected": _projected for role in ("query", "key", "value")},
    **{f"attention.{role}.heads": _heads for role in ("query", "key", "value")},
    "attention.scores": _scores,
    "attention.scaled_scores": _scaled,
    "attention.masked_scores": _masked,
    "attention.weights": _weights,
    "attention.head_output": lambda place: Found("weights times rows", place.beside("weights", "value.heads")),
    "attention.concatenated": lambda place: Found("join", place.beside("head_output")),
    "attention.output": lambda place: Found(
        "linear map", place.beside("concatenated"), place.linear("output_projection", place.config.output_bias)
    ),
    "add_norm.sum": _summed,
    "add_norm.normalized": _normalized,
    "feed_forward.hidden": lambda place: Found("linear map", (place.read,), place.linear("expand")),
    "feed_forward.activated": lambda place: Found("ReLU", place.beside("hidden")),
    "feed_forward.output": lambda place: Found("linear map", place.beside("activated"), place.linear("contract")),
    "encoder.output": _put_out,
    "decoder.output": _put_out,
    "logits": lambda _: Found("linear map", ("decoder.output",), ("output_projection.weight", "output_projection.bias")),
    "probabilities": lambda _: Found("softmax", ("logits",)),
}
# How a tensor was made whose kind has no rule.
UNDESCRIBED = Found("not described")
OPERATIONS = (
    *("not padding", "not later", "look up", "multiply", "first rows", "waves", "add", "linear map"),
    *("split", "swap axes", "split and swap axes", "rows times rows", "divide", "hide", "softmax"),
    *("weights times rows", "join", "LayerNorm", "ReLU", "as it is"),
)
