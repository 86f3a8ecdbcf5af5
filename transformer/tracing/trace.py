"""`Trace`: every tensor of one forward pass, and `run_traced`, which records it."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer.errors import InputError, PathError
from transformer.network.masks import hidden_keys, last_scores
from transformer.network.model import Transformer
from transformer.network.tap import Derived, Edit, Stored, loaded, tracing
from transformer.tracing.paths import SCORES, SIDES, Kind, Side, TensorPath, check_index, find_tap
from transformer.validation import as_list, one_of

# Tokens and ids: one row for each text of the batch.
Tokens = tuple[tuple[str, ...], ...]
Ids = tuple[tuple[int, ...], ...]
# For each token, the number of the word that it is a piece of, counted from 0 in each text; None for special tokens.
Words = tuple[tuple[int | None, ...], ...]


def as_array(values: Tensor) -> np.ndarray:
    """A tensor as a read-only NumPy array that shares its memory. A bfloat16 tensor is copied to float32, because NumPy has no
    bfloat16.

    Raises:
        InputError: `values` is not a tensor.
    """
    if not isinstance(values, Tensor):
        raise InputError("values must be a tensor, not {values!r}.", values=values)
    values = values.detach()
    array = (values.float() if values.dtype == torch.bfloat16 else values).numpy()
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Activation:
    """One tensor of a traced forward pass.

    Attributes:
        path: the tensor's place in the model, such as `encoder.layers.0.self_attention.weights`.
        axes: the name of each axis, such as `("batch", "head", "query", "key")`.
        stored: the tensor, or a function that computes it again. For example, scores of models of Hugging Face are not kept.
    """

    path: str
    axes: tuple[str, ...]
    stored: Stored

    @property
    def values(self) -> Tensor:
        """The tensor itself, not a copy; if it was not kept, it is computed again. Do not write to it, because the trace is
        shared."""
        return loaded(self.stored)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return tuple(self.stored.shape)

    @property
    def nbytes(self) -> int:
        """Number of bytes of the kept tensor; 0 for a tensor that is computed again each time it is read."""
        return self.stored.nbytes if isinstance(self.stored, Tensor) else 0

    def numpy(self) -> np.ndarray:
        """The values as a read-only array (`as_array`)."""
        return as_array(self.values)


class Masks(NamedTuple):
    """The two masks of a run, True where a query may attend to a key.

    Attributes:
        source: mask of the source keys, for the encoder and for cross-attention; None for a decoder that ran alone.
        target: mask of the target keys, for the decoder's self-attention.
    """

    source: Bool[Tensor, "batch 1 1 source"] | None
    target: Bool[Tensor, "batch 1 target target"]


@dataclass(frozen=True, eq=False)
class Trace:
    """Every tensor of one forward pass in the order of computation, and the tokens that label the axes.

    Attributes:
        config: configuration of the model: a `TransformerConfig`, or another `NetworkConfig`, which has only some of its
            fields.
        activations: path of a tensor → the tensor with its axes.
        source_ids, target_ids: the ids that the model read, a row for each text of the batch; no rows for a side that did not
            run. The target is the decoder's input, which starts with `<sos>`; row `t` of the logits predicts token `t + 1`.
        source_tokens, target_tokens: the tokens of these ids, which label the axes.
        used_masks: path of an attention → the mask that it used, after all edits: True where a query may attend to a key. An
            axis of size 1 means "the same for all".
        source_words, target_words: for each token, the number of the word that it is a piece of, counted from 0 in each text;
            None for special tokens. No rows if every token is a word.
        derived: name → a result that another module has computed from the trace. It is kept as long as the trace.
    """

    config: Any
    activations: Mapping[str, Activation]
    source_ids: Ids
    target_ids: Ids
    source_tokens: Tokens
    target_tokens: Tokens
    used_masks: Mapping[str, Bool[Tensor, "batch heads queries keys"]]
    source_words: Words = ()
    target_words: Words = ()
    # Kind → result of `attention` and of `allowed`: one tensor for all layers.
    _weights: dict[Kind, Tensor] = field(default_factory=dict, init=False, repr=False)
    _allowed: dict[Kind, Tensor] = field(default_factory=dict, init=False, repr=False)
    derived: dict[str, object] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        sides = (f"{side} {' '.join(self.tokens_of(side)[0])!r}" for side in self.sides)
        texts = f", the first of {self.batch_size} texts" if self.batch_size > 1 else ""
        return f"<{type(self).__name__} of {len(self)} tensors: {', '.join(sides)}{texts}>"

    def __iter__(self) -> Iterator[Activation]:
        return iter(self.activations.values())

    def __len__(self) -> int:
        return len(self.activations)

    def __contains__(self, path: object) -> bool:
        text = str(path) if isinstance(path, TensorPath) else path
        return isinstance(text, str) and text in self.activations

    def __getitem__(self, path: str | TensorPath) -> Activation:
        """The tensor at a path, as an Activation. For the path of an attention, the attention weights.

        Raises:
            PathError: no tensor has that path; the message lists the nearest paths.
        """
        return self.activations[find_tap(self.activations, path)]

    @property
    def logits(self) -> Float[Tensor, "batch ..."]:
        """The output before softmax: a number for each possible token after each target position, `[batch, target, vocab]`; of
        a classifier, a number for each label, `[batch, label]`. Raises `PathError` for a model without an output layer."""
        return self["logits"].values

    @property
    def probabilities(self) -> Float[Tensor, "batch ..."]:
        """Softmax of `logits`: each row sums to 1. Raises `PathError` for a model without an output layer."""
        return self["probabilities"].values

    @property
    def masks(self) -> Masks:
        """The source mask and the target mask of this run.

        Raises:
            PathError: the encoder ran alone.
        """
        source = self.activations.get("source_mask")
        return Masks(source.values if source else None, self["target_mask"].values)

    @property
    def positional_encoding(self) -> Float[Tensor, "position d_model"]:
        """The position vectors that were added to the source, or to the target if the decoder ran alone. With learned
        positions, the target has other vectors: `trace["target_embedding.position"]`. If padding shifts the positions, so that
        each text has its own vectors, these are the vectors of the first text of the batch. Raises `PathError` if the run
        added no position vectors."""
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
        """For each token of a side, `source` or `target`, the number of the word that it is a piece of (`source_words`). Raises
        `ConfigError` if there is no such side."""
        return self.source_words if one_of("side", side, SIDES) == "source" else self.target_words

    def ids_of(self, side: Side) -> Ids:
        """The token ids of a side, `source` or `target`, a row for each text of the batch. Raises `ConfigError` if there is no
        such side."""
        return self.source_ids if one_of("side", side, SIDES) == "source" else self.target_ids

    # --- attention -------------------------------------------------------------------------------------------------------

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that ran, of `encoder`, `decoder` and `cross`: all three, or only one if the run had only a
        source or only a target."""
        sides = {side for side in ("source", "target") if f"{side}_mask" in self}
        return tuple(kind for kind in Kind if {kind.queries, kind.keys} <= sides)

    def layers(self, kind: str) -> int:
        """The number of layers with a kind of attention: `encoder`, `decoder` or `cross`. Raises `InputError` if there is no
        such kind, or if it did not run."""
        kind = self._ran(kind)
        return self.config.encoder_layers if kind.stack == "encoder" else self.config.decoder_layers

    def heads(self, kind: str) -> int:
        """The number of heads in each layer with a kind of attention: `encoder`, `decoder` or `cross`. Errors are those of
        `attention`."""
        return self.weights(kind, 0).shape[1]

    def tokens(self, kind: str, item: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tokens of the queries and of the keys of a kind of attention, for one text of the batch.

        Args:
            kind: `encoder`, `decoder` or `cross`.
            item: number of the text, counted from 0.

        Raises:
            InputError: there is no such kind, or this kind did not run.
            PathError: the batch has no text with this number.
        """
        kind = self._ran(kind)
        check_index("item", item, self.batch_size)
        return self.tokens_of(kind.queries)[item], self.tokens_of(kind.keys)[item]

    def query_names(self, kind: str, item: int = 0, end: str = "…") -> tuple[str, ...]:
        """A name for each query of a kind of attention, for one text of the batch. A query of the decoder reads a token and
        predicts the next one, so its name has both: `la → rue`. Other queries, and padding, have the name of their token.

        Args:
            kind, item: `encoder`, `decoder` or `cross`, and the number of the text, counted from 0.
            end: the name of the token that the decoder's last query predicts, because the target does not contain it.

        Raises:
            InputError, PathError: as in `tokens`; or `end` is not a text.
        """
        if not isinstance(end, str):
            raise InputError("end is {end!r}; it must be a text.", end=end)
        queries, _ = self.tokens(kind, item)
        if Kind.of(kind).queries == "source":
            return queries
        length = unpadded_length(self.ids_of("target")[item], getattr(self.config, "target_pad", None))
        written = (*queries[1:length], end)[:length]
        return (*(f"{read} → {then}" for read, then in zip(queries, written, strict=False)), *queries[length:])

    def attention(self, kind: str) -> Float[Tensor, "layer batch head query key"]:
        """The attention weights of every layer and head of a kind: `encoder`, `decoder` or `cross`. The layers are copied into
        one tensor, which the trace keeps: do not write to it. `weights` returns one layer without a copy.

        Raises:
            InputError: there is no such kind, or this kind did not run.
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
            InputError, PathError: as in `attention`; or there is no such layer.
        """
        return self[self.attention_path(kind, layer) / "weights"].values

    def head(self, kind: str, layer: int, head: int, item: int = 0) -> Float[Tensor, "query key"]:
        """The attention weights of one head for one text of the batch, not copied.

        Args:
            kind: `encoder`, `decoder` or `cross`.
            layer, head, item: counted from 0.

        Raises:
            InputError, PathError: as in `weights`; or there is no such head or text.
        """
        self._check_head(kind, layer, head, item)
        return self.weights(kind, layer)[item, head]

    def attention_path(self, kind: str, layer: int) -> TensorPath:
        """The path of the attention of a kind in a layer, such as `decoder.layers.0.cross_attention`. `kind` is `encoder`,
        `decoder` or `cross`; `layer` counts from 0. Errors are those of `weights`."""
        kind = self._ran(kind)
        check_index("layer", layer, self.layers(kind))
        return kind.path(layer)

    def allowed(self, kind: str) -> Bool[Tensor, "layer batch head query key"]:
        """True where a query may attend to a key, because neither a mask nor an edit hides the key. The trace keeps the tensor.
        `kind` is `encoder`, `decoder` or `cross`. Errors are those of `attention`."""
        kind = self._ran(kind)
        if kind not in self._allowed:
            hidden = [self.hidden(kind.path(layer)) for layer in range(self.layers(kind))]
            if all(of_layer.stride(1) == 0 for of_layer in hidden):  # all heads share the same values
                hidden = [of_layer[:, :1] for of_layer in hidden]
            self._allowed[kind] = (~torch.stack(hidden)).expand(-1, -1, self.heads(kind), -1, -1)
        return self._allowed[kind]

    def head_allowed(self, kind: str, layer: int, head: int, item: int = 0) -> Bool[Tensor, "query key"]:
        """True where a query may attend to a key, for one head and one text. `kind` is `encoder`, `decoder` or `cross`; numbers
        count from 0. Errors are those of `head`."""
        self._check_head(kind, layer, head, item)
        return self.allowed(kind)[layer, item, head]

    def hidden(self, attention: str | TensorPath) -> Bool[Tensor, "batch head query key"]:
        """True where a query may not attend to a key, for the attention at a path such as `encoder.layers.0.self_attention`.

        Raises:
            PathError: there is no such attention in this run; the message lists the nearest paths.
        """
        path = self._attention(attention)
        keep = self.used_masks[str(path)]
        scores = self[path / last_scores(self.config)]
        if all(isinstance(self[path / name].stored, Derived) for name in SCORES):  # no edit has set a score to −∞
            return (~keep).expand(scores.shape)
        return hidden_keys(keep, scores.values)

    def fully_masked(self, kind: str) -> Bool[Tensor, "layer batch head query"]:
        """True for a query that may attend to no key. Its weights are zero, or equal to each other if the mask itself hides
        every key and `mask_fill` is a finite number. `kind` is `encoder`, `decoder` or `cross`. Errors are those of
        `attention`."""
        return ~self.allowed(kind).any(-1)

    def _attention(self, attention: str | TensorPath) -> TensorPath:
        """The path of an attention of this run. Raises `PathError` if there is no such attention."""
        path = TensorPath.parse(attention)
        if str(path) not in self.used_masks:
            near = difflib.get_close_matches(str(path), self.used_masks, n=3, cutoff=0.4) or [*self.used_masks][:3]
            template = "In this run there is no such attention as {path!r}; nearest are {near}."
            raise PathError(template, path=str(path), near=", ".join(near))
        return path

    def _check_head(self, kind: str, layer: int, head: int, item: int) -> None:
        """Raise an error if the run has no such kind of attention, layer, head or text."""
        check_index("layer", layer, self.layers(kind))
        check_index("head", head, self.heads(kind))
        check_index("item", item, self.batch_size)

    def _ran(self, kind: str) -> Kind:
        """The kind of attention with this name. Raises `InputError` if the kind is unknown or did not run."""
        kind = Kind.of(kind)
        if kind not in self.kinds:
            raise InputError(
                "This run has no {kind} attention; it has {kinds}.", kind=str(kind), kinds=", ".join(self.kinds) or "none"
            )
        return kind

    # --- memory ----------------------------------------------------------------------------------------------------------

    @cached_property
    def tensor_bytes(self) -> int:
        """Number of bytes of the trace's tensors and masks. Tensors that are views of the same memory are counted once."""
        stored = [*(activation.stored for activation in self), *self.used_masks.values()]
        tensors = (values for values in stored if isinstance(values, Tensor))
        return sum({values.untyped_storage().data_ptr(): values.nbytes for values in tensors}.values())

    @cached_property
    def nbytes(self) -> int:
        """Number of bytes that the trace needs after all its methods were called: its tensors; a copy of each attention weight,
        which `attention` keeps; one byte for each weight, which `allowed` keeps; and, if tokens are pieces of words, the
        tensors of the trace between words (`transformer.analysis.word_trace.WordTrace`)."""
        weights = (activation.values for activation in self if activation.path.endswith(".weights"))
        return self.tensor_bytes + sum(values.nbytes + values.numel() for values in weights) + self._word_bytes

    @property
    def _word_bytes(self) -> int:
        """Bytes of the weights, masks and copies that a `transformer.analysis.word_trace.WordTrace` of this trace keeps."""
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
                total += 2 * cells * (weights.element_size() + 1)  # once for the layer, once in the tensor of all layers
        return total


def unpadded_length(ids: Sequence[int], pad: int | None) -> int:
    """The number of ids in a row without the padding at its end. `pad` is the id of padding, or None. The first id always
    counts, because a target of T5 starts with the id of padding. Negative ids are padding, too."""
    return max((place + 1 for place, token in enumerate(ids) if token >= 0 and token != pad), default=1)


def run_traced(
    model: Transformer,
    source: Int[Tensor, "batch source"] | None,
    target: Int[Tensor, "batch target"],
    edits: Sequence[Edit] = (),
    source_tokens: Tokens | None = None,
    target_tokens: Tokens | None = None,
    source_words: Words = (),
    target_words: Words = (),
) -> Trace:
    """Run the model once, and return a trace with every tensor of the forward pass. Without edits, its logits equal
    `model(source, target)` bit for bit.

    Args:
        model: the model, in evaluation mode. A trace of a model in training mode shows its dropout.
        source, target: token ids, as in `Transformer.forward`.
        edits: interventions, which change tensors during the pass.
        source_tokens, target_tokens: labels of the axes: a row for each text, a label for each id. By default, the ids.
        source_words, target_words: for each id, the number of its word, as in `Trace`. Leave them out if every token is a word.

    Raises:
        InputError: as in `Transformer.forward`; or there is not exactly one label, or one word, for each id.
        PathError: an edit does not fit the model. It is raised before anything runs.
    """
    with torch.inference_mode(), tracing(model, edits) as values:
        model(source, target)
    activations = {path: Activation(path, model.taps[path].axes, stored) for path, stored in values.stored.items()}
    source_ids, target_ids = (() if ids is None else tuple(map(tuple, ids.tolist())) for ids in (source, target))
    return Trace(
        model.config,
        activations,
        source_ids,
        target_ids,
        _labels("source_tokens", source_tokens, source_ids),
        _labels("target_tokens", target_tokens, target_ids),
        values.masks,
        _words("source_words", source_words, source_ids),
        _words("target_words", target_words, target_ids),
    )


def _word_count(words: Sequence[int | None]) -> int:
    """The number of words in a text, from the word of each token. A special token, whose word is None, counts as a word."""
    return sum(word is None or word != before for before, word in pairwise([None, *words]))


def _labels(name: str, tokens: Tokens | None, ids: Ids) -> Tokens:
    """The tokens as tuples; if `tokens` is None, the ids as texts."""
    if tokens is None:
        return tuple(tuple(map(str, row)) for row in ids)
    rows = [() if isinstance(row, str) else tuple(as_list(row) or ()) for row in as_list(tokens) or ()]
    if [len(row) for row in rows] != [len(row) for row in ids] or not all(
        isinstance(token, str) for row in rows for token in row
    ):
        template = "{name} must have a row of tokens for each text, with one token for each id, not {tokens!r}."
        raise InputError(template, name=name, tokens=tokens)
    return tuple(rows)


def _words(name: str, words: Words, ids: Ids) -> Words:
    """The words as tuples; empty if `words` is empty."""
    listed = [] if words is None else as_list(words)
    rows = tuple(() if isinstance(row, str) else tuple(as_list(row) or ()) for row in listed or ())
    numbers = all(word is None or isinstance(word, int) for row in rows for word in row)
    if listed is None or (rows and ([len(row) for row in rows] != [len(row) for row in ids] or not numbers)):
        template = "{name} must have a row for each text, with the number of a word or None for each id, not {words!r}."
        raise InputError(template, name=name, words=words)
    return rows
