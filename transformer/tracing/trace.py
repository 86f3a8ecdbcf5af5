"""`Trace`: every tensor of one forward pass, and `run_traced`, which records it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer.errors import InputError
from transformer.network.masks import hidden_keys, last_scores
from transformer.network.model import Transformer
from transformer.network.tap import Derived, Edit, Stored, read, tracing
from transformer.tracing.paths import SCORES, SIDES, Kind, Side, TensorPath, check_index, find_tap
from transformer.validation import as_list, one_of

# A row for each text of the batch.
Tokens = tuple[tuple[str, ...], ...]
Ids = tuple[tuple[int, ...], ...]
# Of each piece of a word the number of the word, counted from 0 in each text; None for special tokens.
Words = tuple[tuple[int | None, ...], ...]


def as_array(values: Tensor) -> np.ndarray:
    """A tensor as a read-only NumPy array on the same memory; of bfloat16, which NumPy lacks, a copy in float32.

    Raises:
        InputError: it is not a tensor.
    """
    if not isinstance(values, Tensor):
        raise InputError("values must be a tensor, not {values!r}.", values=values)
    values = values.detach()
    array = (values.float() if values.dtype == torch.bfloat16 else values).numpy()
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Step:
    """One tensor of the forward pass.

    Attributes:
        path: of its tap in the module tree.
        axes: the name of each axis.
        stored: the tensor, or how to compute it again: in models of Hugging Face, scores before the softmax are not kept.
    """

    path: str
    axes: tuple[str, ...]
    stored: Stored

    @property
    def values(self) -> Tensor:
        """The tensor itself, not a copy. Do not write to it: the trace is shared."""
        return read(self.stored)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return tuple(self.stored.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor as it is kept; 0 for one that is computed again."""
        return self.stored.nbytes if isinstance(self.stored, Tensor) else 0

    def numpy(self) -> np.ndarray:
        """The values as a read-only array (`as_array`)."""
        return as_array(self.values)


class Masks(NamedTuple):
    """The two masks of a run; True where a query may attend to a key.

    Attributes:
        source: over source keys, for the encoder and for cross-attention; None for a decoder that ran alone.
        target: over target keys, for the decoder's self-attention.
    """

    source: Bool[Tensor, "batch 1 1 source"] | None
    target: Bool[Tensor, "batch 1 target target"]


@dataclass(frozen=True, eq=False)
class Trace:
    """Every tensor of one forward pass, in the order it was computed, with the tokens of its axes.

    Attributes:
        config: of the model that ran: a `TransformerConfig`, or another `NetworkConfig`, which has only some of its fields.
        steps: path → step.
        source_ids, target_ids: the ids that the model read, a row for each text of the batch; no rows for a side that did not
            run. The target is the decoder's input, which starts with `<sos>`; row `t` of the logits predicts token `t + 1`.
        source_tokens, target_tokens: the tokens of those ids, which label the axes.
        used_masks: path of an attention → the mask it used, after all edits: True where a query may attend to a key. Sizes of
            1 stand for "the same for all".
        source_words, target_words: the words that the tokens are pieces of; no rows where every token is a word.
        derived: what other modules have made of the trace and keep as long as it is kept, by name.
    """

    config: Any
    steps: Mapping[str, Step]
    source_ids: Ids
    target_ids: Ids
    source_tokens: Tokens
    target_tokens: Tokens
    used_masks: Mapping[str, Bool[Tensor, "batch heads queries keys"]]
    source_words: Words = ()
    target_words: Words = ()
    # Results of `attention` and `allowed`, one tensor of all layers for each kind.
    _weights: dict[Kind, Tensor] = field(default_factory=dict, init=False, repr=False)
    _allowed: dict[Kind, Tensor] = field(default_factory=dict, init=False, repr=False)
    derived: dict[str, object] = field(default_factory=dict, init=False, repr=False)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps.values())

    def __len__(self) -> int:
        return len(self.steps)

    def __contains__(self, path: object) -> bool:
        text = str(path) if isinstance(path, TensorPath) else path
        return isinstance(text, str) and text in self.steps

    def __getitem__(self, path: str | TensorPath) -> Step:
        """The step at a path; at the path of an attention, that of its weights.

        Raises:
            PathError: no step has that path; the message lists the nearest ones.
        """
        return self.steps[find_tap(self.steps, path)]

    @property
    def logits(self) -> Float[Tensor, "batch target vocab"]:
        """Scores for the token after each target position, before softmax."""
        return self["logits"].values

    @property
    def probabilities(self) -> Float[Tensor, "batch target vocab"]:
        """Softmax of the logits: each row sums to 1."""
        return self["probabilities"].values

    @property
    def masks(self) -> Masks:
        """The source mask and the target mask of this run.

        Raises:
            PathError: an encoder ran alone.
        """
        source = self.steps.get("source_mask")
        return Masks(source.values if source else None, self["target_mask"].values)

    @property
    def positional_encoding(self) -> Float[Tensor, "position d_model"]:
        """The position vectors that were added to the source (to the target, for a decoder alone). With learned positions, the
        target has others: `trace["target_embedding.position"]`. Where padding moves the positions, those of the first text."""
        side = "source" if "source_embedding.position" in self else "target"
        values = self[f"{side}_embedding.position"].values
        return values[0] if values.ndim == 3 else values

    # --- texts -----------------------------------------------------------------------------------------------------------

    @property
    def batch_size(self) -> int:
        """The number of texts in the batch."""
        return len(self.target_ids or self.source_ids)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that ran: `source`, `target`, or both."""
        return tuple(side for side in SIDES if self.ids_of(side))

    def tokens_of(self, side: Side) -> Tokens:
        """The tokens of a side, `source` or `target`, a row for each text of the batch.

        Raises:
            ConfigError: there is no such side.
        """
        return self.source_tokens if one_of("side", side, SIDES) == "source" else self.target_tokens

    def words_of(self, side: Side) -> Words:
        """The number of the word that each token of a side is a piece of; no rows where every token is a word. Raises as
        `tokens_of`."""
        return self.source_words if one_of("side", side, SIDES) == "source" else self.target_words

    def ids_of(self, side: Side) -> Ids:
        """The ids of a side, a row for each text of the batch. Raises as `tokens_of`."""
        return self.source_ids if one_of("side", side, SIDES) == "source" else self.target_ids

    # --- attention -------------------------------------------------------------------------------------------------------

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that ran: all three, or one where there was a source or a target alone."""
        sides = {side for side in ("source", "target") if f"{side}_mask" in self}
        return tuple(kind for kind in Kind if {kind.queries, kind.keys} <= sides)

    def layers(self, kind: str) -> int:
        """The number of layers with that kind of attention. Raises `InputError` as `attention`."""
        kind = self._ran(kind)
        return self.config.encoder_layers if kind.stack == "encoder" else self.config.decoder_layers

    def heads(self, kind: str) -> int:
        """The number of heads in each layer of that kind. Raises as `attention`."""
        return self.weights(kind, 0).shape[1]

    def tokens(self, kind: str, item: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tokens of the queries and of the keys of a kind of attention, for one text of the batch.

        Raises:
            InputError: as `attention`.
            PathError: no such text.
        """
        kind = self._ran(kind)
        check_index("item", item, self.batch_size)
        return self.tokens_of(kind.queries)[item], self.tokens_of(kind.keys)[item]

    def attention(self, kind: str) -> Float[Tensor, "layer batch head query key"]:
        """The attention weights of every layer and head of a kind: `encoder`, `decoder` or `cross`. Stacked once and kept; for
        one layer, `weights` needs no copy. Do not write to it: the trace is shared.

        Raises:
            InputError: no such kind, or it did not run.
            PathError: a layer was replaced, and its taps have no names yet (`tap.name_taps`).
        """
        kind = self._ran(kind)
        if kind not in self._weights:
            self._weights[kind] = torch.stack([self.weights(kind, layer) for layer in range(self.layers(kind))])
        return self._weights[kind]

    def weights(self, kind: str, layer: int) -> Float[Tensor, "batch head query key"]:
        """The attention weights of one layer, not copied.

        Args:
            kind: `encoder`, `decoder` or `cross`.
            layer: counted from 0.

        Raises:
            InputError, PathError: as `attention`; or there is no such layer.
        """
        return self[self.attention_path(kind, layer) / "weights"].values

    def attention_path(self, kind: str, layer: int) -> TensorPath:
        """The path of an attention; raises as `weights`."""
        kind = self._ran(kind)
        check_index("layer", layer, self.layers(kind))
        return kind.path(layer)

    def allowed(self, kind: str) -> Bool[Tensor, "layer batch head query key"]:
        """True where a query may attend to a key: neither masked nor blocked. Stacked, kept and raises as `attention`."""
        kind = self._ran(kind)
        if kind not in self._allowed:
            hidden = [self.hidden(kind.path(layer)) for layer in range(self.layers(kind))]
            if all(of_layer.stride(1) == 0 for of_layer in hidden):  # the same for all heads
                hidden = [of_layer[:, :1] for of_layer in hidden]
            self._allowed[kind] = (~torch.stack(hidden)).expand(-1, -1, self.heads(kind), -1, -1)
        return self._allowed[kind]

    def hidden(self, attention: str | TensorPath) -> Bool[Tensor, "batch head query key"]:
        """True where a query of the attention at a path may not attend to a key.

        Raises:
            PathError: there is no such attention; the message lists the nearest paths.
        """
        path, keep = TensorPath.parse(attention), self.used_masks[str(attention)]
        scores = self[path / last_scores(self.config)]
        if all(isinstance(self[path / name].stored, Derived) for name in SCORES):  # no edit has set one to −∞
            return (~keep).expand(scores.shape)
        return hidden_keys(keep, scores.values)

    def fully_masked(self, kind: str) -> Bool[Tensor, "layer batch head query"]:
        """True for a query that may attend to no key. Its weights are zero; if the mask itself hides every key and `mask_fill`
        is a finite number, they are equal instead. Raises as `attention`."""
        return ~self.allowed(kind).any(-1)

    def _ran(self, kind: str) -> Kind:
        """The kind of that name. Raises `InputError` for an unknown kind, or one that did not run."""
        kind = Kind.of(kind)
        if kind not in self.kinds:
            raise InputError(
                "This run has no {kind} attention; it has {kinds}.", kind=str(kind), kinds=", ".join(self.kinds) or "none"
            )
        return kind

    # --- memory ----------------------------------------------------------------------------------------------------------

    @cached_property
    def tensor_bytes(self) -> int:
        """Bytes of memory of its tensors; tensors that are views of the same memory are counted once."""
        stored = [*(step.stored for step in self), *self.used_masks.values()]
        tensors = (values for values in stored if isinstance(values, Tensor))
        return sum({values.untyped_storage().data_ptr(): values.nbytes for values in tensors}.values())

    @cached_property
    def nbytes(self) -> int:
        """Bytes of memory of the trace once all its methods were called: its tensors, the copies that `attention` and
        `allowed` keep, one of each weight and one byte beside it, and where pieces can be joined, the same between words."""
        weights = (step.values for step in self if step.path.endswith(".weights"))
        return self.tensor_bytes + sum(values.nbytes + values.numel() for values in weights) + self._word_bytes

    @property
    def _word_bytes(self) -> int:
        """Bytes of the weights, masks and copies that `transformer.analysis.words.WordTrace` of this trace keeps."""
        counts = {side: max(map(_word_count, self.words_of(side)), default=0) for side in self.sides}
        lengths = {side: max(map(len, self.ids_of(side))) for side in self.sides}
        counts = {side: count or lengths[side] for side, count in counts.items()}
        if counts == lengths:
            return 0
        total = 0
        for kind in self.kinds:
            for layer in range(self.layers(kind)):
                weights = self.weights(kind, layer)
                batch, heads = weights.shape[:2]
                cells = batch * heads * counts[kind.queries] * counts[kind.keys]
                total += 2 * cells * (weights.element_size() + 1)  # of one layer, and again in the stack of all
        return total


def run_traced(
    model: Transformer,
    source: Int[Tensor, "batch source"] | None,
    target: Int[Tensor, "batch target"],
    edits: Sequence[Edit] = (),
    source_tokens: Tokens | None = None,
    target_tokens: Tokens | None = None,
) -> Trace:
    """The trace of one forward pass, with the tensor of every tap. The logits are bit for bit those of `model(source, target)`.

    Args:
        model: in evaluation mode; a trace of a model in training mode shows its dropout.
        source, target: token ids, as `Transformer.forward` takes them.
        edits: interventions.
        source_tokens, target_tokens: labels of the axes, a row for each text, one for each id; the ids themselves by default.

    Raises:
        InputError: ids or lengths that the model has no row for, or other tokens than one for each id.
        PathError: an edit that does not fit the model; raised before anything runs.
    """
    with torch.inference_mode(), tracing(model, edits) as values:
        model(source, target)
    steps = {path: Step(path, model.taps[path].axes, stored) for path, stored in values.stored.items()}
    source_ids, target_ids = (() if ids is None else tuple(map(tuple, ids.tolist())) for ids in (source, target))
    return Trace(
        model.config,
        steps,
        source_ids,
        target_ids,
        _labels("source_tokens", source_tokens, source_ids),
        _labels("target_tokens", target_tokens, target_ids),
        values.masks,
    )


def _word_count(words: Sequence[int | None]) -> int:
    """The number of words; a special token, whose word is None, is one."""
    return sum(word is None or word != before for before, word in pairwise([None, *words]))


def _labels(name: str, tokens: Tokens | None, ids: Ids) -> Tokens:
    """The tokens as tuples; without tokens, the ids as texts."""
    if tokens is None:
        return tuple(tuple(map(str, row)) for row in ids)
    rows = [() if isinstance(row, str) else tuple(as_list(row) or ()) for row in as_list(tokens) or ()]
    if [len(row) for row in rows] != [len(row) for row in ids] or not all(
        isinstance(token, str) for row in rows for token in row
    ):
        template = "{name} must have a row of tokens for each text, with one token for each id, not {tokens!r}."
        raise InputError(template, name=name, tokens=tokens)
    return tuple(rows)
