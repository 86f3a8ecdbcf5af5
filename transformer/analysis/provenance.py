"""How each kind of tensor in the network is computed: from which tensors, with which parameters, by which operation.

`ORIGIN_RULES` has one rule for each kind of tensor. A rule needs only the tensor's path, the model's configuration, and whether
the decoder ran alone. A tensor of a kind without a rule gets the origin `UNDESCRIBED`, which has no inputs. A tap is the point
in the network's code where a tensor is recorded; tap and tensor have the same path.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from transformer.network.config import TransformerConfig
from transformer.tracing.paths import STACK_SIDES, SUBLAYERS, TensorPath

# The names of the token ids, from which the first tensors are computed. They are not taps.
SOURCE_IDS, TARGET_IDS = "source_ids", "target_ids"


class Origin(NamedTuple):
    """How a tensor was computed.

    Attributes:
        operation: the operation, such as `softmax`; one of `OPERATIONS`, or `not described`.
        inputs: paths of the tensors that the tensor was computed from, in the order of the formula.
        parameters: names, in the model's state dict, of the parameters that the tensor was computed with.
    """

    operation: str
    inputs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class TapContext:
    """A tensor's path and its surroundings: all that a rule of `ORIGIN_RULES` needs to name the inputs of the tensor.

    Attributes:
        path: path of the tensor.
        config: configuration of the model.
        decoder_only: whether the decoder ran without an encoder.
    """

    path: TensorPath
    config: TransformerConfig
    decoder_only: bool

    def siblings(self, *names: str) -> tuple[str, ...]:
        """The paths of the tensors or parameters called `names` in the module that computes the tensor at `self.path`."""
        return tuple(str(self.path.owner / name) for name in names)

    def linear(self, module: str, bias: bool = True) -> tuple[str, ...]:
        """The names of the weight and, if `bias` is True, of the bias of the submodule `module`: a part of the module
        that computes the tensor at `self.path`."""
        return self.siblings(f"{module}.weight", f"{module}.bias") if bias else self.siblings(f"{module}.weight")

    @property
    def sublayers(self) -> list[str]:
        """The names of the sub-layers that run in a layer of the stack `self.path.stack` (encoder or decoder), in order."""
        return [name for name in SUBLAYERS[self.path.stack] if not (self.decoder_only and name == "cross_attention")]

    def after(self, layer: int, part: str) -> str:
        """The path of the residual stream after the sub-layer `part` of a layer (from 0) of the stack `self.path.stack`."""
        end = "sum" if self.config.norm_first else "normalized"
        return str(TensorPath(self.path.stack, layer, part).add_norm / end)

    @property
    def end(self) -> str:
        """The path of the residual stream after the last layer of the stack `self.path.stack` (encoder or decoder)."""
        layers = self.config.encoder_layers if self.path.stack == "encoder" else self.config.decoder_layers
        return self.after(layers - 1, "feed_forward")

    @property
    def stream(self) -> str:
        """The path of the residual stream before the sub-layer that the tensor at `self.path` belongs to."""
        layer, index = self.path.layer or 0, self.sublayers.index(self.path.part)
        if index:
            return self.after(layer, self.sublayers[index - 1])
        if layer:
            return self.after(layer - 1, "feed_forward")
        return f"{STACK_SIDES[self.path.stack]}_embedding.sum"

    @property
    def input_path(self) -> str:
        """The path of the input of the sub-layer that the tensor at `self.path` belongs to: the residual stream, or in a
        pre-norm model the normalised stream."""
        return str(self.path.add_norm / "normalized") if self.config.norm_first else self.stream

    @property
    def mask(self) -> str:
        """The path of the mask for the scores of the attention that the tensor at `self.path` belongs to."""
        assert self.path.kind is not None
        return str(self.path.kind.mask)


# --- the rules ---------------------------------------------------------------------------------------------------------


def _token(tap: TapContext) -> Origin:
    return Origin("look up", (SOURCE_IDS if tap.path.side == "source" else TARGET_IDS,), tap.siblings("table.weight"))


def _position(tap: TapContext) -> Origin:
    learned = tap.config.position == "learned"
    return Origin("first rows", (), tap.siblings("positions.table.weight")) if learned else Origin("waves")


def _embedding_sum(tap: TapContext) -> Origin:
    return Origin("add", tap.siblings("scaled" if tap.config.scale_embedding else "token", "position"))


def _projection_input(tap: TapContext) -> str:
    """The path of the input of a projection. The input of keys and values of cross-attention is the encoder's output."""
    across = tap.path.sublayer == "cross_attention" and not tap.path.name.startswith("query.")
    return "encoder.output" if across else tap.input_path


def _projected(tap: TapContext) -> Origin:
    shared = tap.config.head_projection == "shared"
    inputs = tap.siblings("split") if shared else (_projection_input(tap),)
    return Origin("linear map", inputs, tap.linear("projection", tap.config.projection_bias))


def _split(tap: TapContext) -> Origin:
    return Origin("split", (_projection_input(tap),))


def _heads(tap: TapContext) -> Origin:
    shared = tap.config.head_projection == "shared"
    return Origin("swap axes" if shared else "split and swap axes", tap.siblings("projected"))


def _scores(tap: TapContext) -> Origin:
    return Origin("rows times rows", tap.siblings("query.heads", "key.heads"))


def _scaled(tap: TapContext) -> Origin:
    return Origin("divide", tap.siblings("masked_scores" if tap.config.mask_before_scaling else "scores"))


def _masked(tap: TapContext) -> Origin:
    return Origin("hide", (*tap.siblings("scores" if tap.config.mask_before_scaling else "scaled_scores"), tap.mask))


def _weights(tap: TapContext) -> Origin:
    return Origin("softmax", tap.siblings("scaled_scores" if tap.config.mask_before_scaling else "masked_scores"))


def _residual_sum(tap: TapContext) -> Origin:
    return Origin("add", (tap.stream, str(tap.path.whole / "output")))


def _normalized(tap: TapContext) -> Origin:
    inputs = (tap.stream,) if tap.config.norm_first else tap.siblings("sum")
    return Origin("LayerNorm", inputs, tap.linear("norm"))


def _stack_output(tap: TapContext) -> Origin:
    if tap.config.final_norm:
        return Origin("LayerNorm", (tap.end,), tap.linear("norm"))
    return Origin("as it is", (tap.end,))


# An activation of the configuration → its operation.
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "swish": "swish"}
ORIGIN_RULES: dict[str, Callable[[TapContext], Origin]] = {
    "source_mask": lambda _: Origin("not padding", (SOURCE_IDS,)),
    "target_mask": lambda _: Origin("not later", (TARGET_IDS,)),
    "embedding.token": _token,
    "embedding.scaled": lambda tap: Origin("multiply", tap.siblings("token")),
    "embedding.position": _position,
    "embedding.sum": _embedding_sum,
    **{f"attention.{role}.split": _split for role in ("query", "key", "value")},
    **{f"attention.{role}.projected": _projected for role in ("query", "key", "value")},
    **{f"attention.{role}.heads": _heads for role in ("query", "key", "value")},
    "attention.scores": _scores,
    "attention.scaled_scores": _scaled,
    "attention.masked_scores": _masked,
    "attention.weights": _weights,
    "attention.head_output": lambda tap: Origin("weights times rows", tap.siblings("weights", "value.heads")),
    "attention.concatenated": lambda tap: Origin("join", tap.siblings("head_output")),
    "attention.output": lambda tap: Origin(
        "linear map", tap.siblings("concatenated"), tap.linear("output_projection", tap.config.output_bias)
    ),
    "add_norm.sum": _residual_sum,
    "add_norm.normalized": _normalized,
    "feed_forward.hidden": lambda tap: Origin("linear map", (tap.input_path,), tap.linear("up_projection")),
    "feed_forward.activated": lambda tap: Origin(ACTIVATIONS[tap.config.activation], tap.siblings("hidden")),
    "feed_forward.output": lambda tap: Origin("linear map", tap.siblings("activated"), tap.linear("down_projection")),
    "encoder.output": _stack_output,
    "decoder.output": _stack_output,
    "logits": lambda _: Origin("linear map", ("decoder.output",), ("output_projection.weight", "output_projection.bias")),
    "probabilities": lambda _: Origin("softmax", ("logits",)),
}
# The origin of a tensor whose kind has no rule.
UNDESCRIBED = Origin("not described")
OPERATIONS = (
    *("not padding", "not later", "look up", "multiply", "first rows", "waves", "add", "linear map"),
    *("split", "swap axes", "split and swap axes", "rows times rows", "divide", "hide", "softmax"),
    *("weights times rows", "join", "LayerNorm", *ACTIVATIONS.values(), "as it is"),
)
