"""One forward pass, everything in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer.errors import InputError
from transformer.network.config import TransformerConfig
from transformer.network.masks import hidden_scores, last_scores
from transformer.network.model import Transformer
from transformer.network.tap import Edit, tracing
from transformer.tracing.selection import check_index, find_tap

# The three kinds of attention: which stack it is in, which sub-layer, and whose tokens are its queries and its keys.
KINDS: dict[str, tuple[str, str, str, str]] = {
    "encoder": ("encoder", "self_attention", "source", "source"),
    "decoder": ("decoder", "self_attention", "target", "target"),
    "cross": ("decoder", "cross_attention", "target", "source"),
}
Tokens = tuple[tuple[str, ...], ...]


def as_array(values: Tensor) -> np.ndarray:
    """Of a trace or a model, read-only on the same memory; a copy in float32 where they are bfloat16, which NumPy lacks."""
    values = values.detach()
    array = (values.float() if values.dtype == torch.bfloat16 else values).numpy()
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Step:
    """One tensor of the forward pass.

    Attributes:
        path: the tap's place in the module tree.
        axes: the name of each axis.
        values: the tensor itself, not a copy. Do not write to it: the trace is shared.
    """

    path: str
    axes: tuple[str, ...]
    values: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    def numpy(self) -> np.ndarray:
        """The values as `as_array` gives them."""
        return as_array(self.values)


class Masks(NamedTuple):
    """Who may look at whom; True = may attend.

    Attributes:
        source: over source keys, for the encoder and for cross-attention; None for a decoder that ran alone.
        target: over target keys, for the decoder's self-attention.
    """

    source: Bool[Tensor, "batch 1 1 source"] | None
    target: Bool[Tensor, "batch 1 target target"]


@dataclass(frozen=True, eq=False)
class Trace:
    """Every tensor of one forward pass, in the order it was computed, with the tokens that stand on its axes.

    Attributes:
        config: of the model that ran.
        steps: path → step.
        source_tokens, target_tokens: per batch item, what stands on the axes. The target tokens are the decoder's input,
            which starts with `<sos>`; row `t` of the logits predicts what comes after it.
    """

    config: TransformerConfig
    steps: Mapping[str, Step]
    source_tokens: Tokens
    target_tokens: Tokens

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps.values())

    def __len__(self) -> int:
        return len(self.steps)

    def __contains__(self, path: object) -> bool:
        return path in self.steps

    def __getitem__(self, path: str) -> Step:
        """The step at a path.

        Raises:
            PathError: there is none; names the nearest.
        """
        return self.steps[find_tap(self.steps, path)]

    @property
    def logits(self) -> Float[Tensor, "batch target vocab"]:
        """Scores for the token after each target position, before softmax."""
        return self["logits"].values

    @property
    def probabilities(self) -> Float[Tensor, "batch target vocab"]:
        """Softmax of the logits: each row adds up to 1."""
        return self["probabilities"].values

    @property
    def masks(self) -> Masks:
        """Who may look at whom, as the masks of this run said."""
        source = self.steps.get("source_mask")
        return Masks(source.values if source else None, self["target_mask"].values)

    @property
    def positional_encoding(self) -> Float[Tensor, "position d_model"]:
        """The rows that were added to the source (to the target, for a decoder alone). Where positions are learned, source
        and target each have their own: `trace["target_embedding.position"]`."""
        side = "source" if "source_embedding.position" in self else "target"
        return self[f"{side}_embedding.position"].values

    def attention(self, kind: str) -> Float[Tensor, "layer batch head query key"]:
        """The attention weights of every layer and head of a kind: `encoder`, `decoder` or `cross`.

        Raises:
            InputError: no such kind, or the decoder ran alone and did not look across.
            PathError: a layer was exchanged, and its taps are not named yet (`tap.name_taps`).
        """
        return torch.stack([self[f"{path}.weights"].values for path in self.attention_paths(kind)])

    def attention_paths(self, kind: str) -> tuple[str, ...]:
        """The path of that kind of attention in each layer, from the first to the last. Raises as `attention`."""
        if not isinstance(kind, str) or kind not in KINDS:
            raise InputError("kind of attention", kind, f"allowed are {', '.join(KINDS)}")
        if kind != "decoder" and "source_mask" not in self:
            raise InputError("kind of attention", kind, "the decoder ran alone, so only decoder attention is there")
        stack, name, _, _ = KINDS[kind]
        layers = self.config.encoder_layers if stack == "encoder" else self.config.decoder_layers
        return tuple(f"{stack}.layers.{layer}.{name}" for layer in range(layers))

    def attention_tokens(self, kind: str, item: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tokens of the queries and of the keys of a kind of attention, for one batch item.

        Raises:
            InputError: as `attention`.
            PathError: no such item.
        """
        self.attention_paths(kind)
        check_index("item", item, len(self.target_tokens))
        sides = {"source": self.source_tokens, "target": self.target_tokens}
        _, _, queries, keys = KINDS[kind]
        return sides[queries][item], sides[keys][item]

    def allowed(self, kind: str) -> Bool[Tensor, "layer batch head query key"]:
        """True where a query was allowed to look: neither masked nor blocked. Raises as `attention`."""
        return ~torch.stack([self.hidden(path) for path in self.attention_paths(kind)])

    def hidden(self, attention: str) -> Bool[Tensor, "batch head query key"]:
        """True where a query of the attention at that path was not allowed to look.

        Raises:
            PathError: there is no such attention; names the nearest.
        """
        name = last_scores(self.config)
        return hidden_scores(self[f"{attention}.{name}"].values, name, self.config)

    def fully_masked(self, kind: str) -> Bool[Tensor, "layer batch head query"]:
        """True for a query that was allowed to look nowhere: its weights are all zero under −∞, uniform under a number.
        Raises as `attention`."""
        return ~self.allowed(kind).any(-1)

    @cached_property
    def nbytes(self) -> int:
        """Bytes of memory the trace holds; tensors that are views of the same memory are counted once."""
        return sum({step.values.untyped_storage().data_ptr(): step.values.nbytes for step in self}.values())


def run_traced(
    model: Transformer,
    source: Int[Tensor, "batch source"] | None,
    target: Int[Tensor, "batch target"],
    edits: Sequence[Edit] = (),
    source_tokens: Tokens | None = None,
    target_tokens: Tokens | None = None,
) -> Trace:
    """One forward pass with every tap kept. The logits are bit for bit those of `model(source, target)`.

    Args:
        model: put into evaluation mode by its owner; a trace of a model in training mode shows its dropout.
        source, target: token ids, as `Transformer.forward` takes them.
        edits: interventions.
        source_tokens, target_tokens: what stands on the axes; the ids themselves where not given.

    Raises:
        InputError: ids or lengths the model has no row for.
        PathError: an edit that does not fit the model, before anything runs.
    """
    with torch.inference_mode(), tracing(model, edits) as values:
        model(source, target)
    steps = {path: Step(path, model.taps[path].axes, tensor) for path, tensor in values.items()}
    return Trace(
        model.config,
        steps,
        source_tokens or (_ids_as_tokens(source) if source is not None else ()),
        target_tokens or _ids_as_tokens(target),
    )


def _ids_as_tokens(ids: Int[Tensor, "batch length"]) -> Tokens:
    return tuple(tuple(map(str, row)) for row in ids.tolist())
