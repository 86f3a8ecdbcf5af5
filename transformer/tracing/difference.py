"""The difference of two traced runs, A and B: every tensor of B minus the same tensor of A, and the tokens of both runs.

    difference = compare(pipeline.trace("it was too tired"), pipeline.trace("it was too wide"))
    difference.attention("encoder")            # B − A, [layer, batch, head, query, key]
    difference.tokens_of("source")             # "<sos>", "it", "was", "too", "tired / wide", "<eos>"

Texts with equally many tokens are aligned position by position. Other texts are aligned by their equal tokens, in order. Then a
token can stand alone: the other run has no token at this row, and the numbers of the row are NaN.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from transformer.errors import InputError, PathError
from transformer.tracing.aligned_rows import Places, aligned_rows, over_rows, pair_of, sides_of_axes
from transformer.tracing.computed import Computed
from transformer.tracing.paths import Kind, Side, TensorPath, check_index
from transformer.tracing.trace import Activation, Ids, Tokens, Trace
from transformer.validation import as_list, one_of

Alignment = Literal["positions", "words"]
NO_ID, NO_TOKEN = -1, "–"


@dataclass(frozen=True, eq=False, repr=False)
class AlignedTrace(Trace):
    """A trace made by a `Difference` of two runs, A and B: of A, of B, or of B − A. Its axes of tokens have the aligned rows of
    both runs (`Difference.places`), with the same names in all three traces. Its tensors are floating-point numbers, and NaN
    where a run has no token. In A and in B, a row without a token has the id −1.

    Attributes:
        difference: the Difference that made the trace. The other attributes are those of `Trace`.
    """

    difference: "Difference | None" = field(default=None, repr=False)

    def hidden(self, attention: str | TensorPath) -> Bool[Tensor, "batch head query key"]:
        """True where a query may not attend to a key in the attention at a path (in B − A: in neither run), and where a token
        is missing. Raises `PathError` if there is no such attention."""
        return ~self.used_masks[str(self._attention(attention))]

    def query_names(self, kind: str, item: int = 0, end: str = "…") -> tuple[str, ...]:
        """A name for each query of a kind of attention, the same in A, B and B − A. `item` is the number of the text, from 0.
        Errors are those of `Difference.query_names`."""
        assert self.difference is not None
        return self.difference.query_names(kind, item, end)


@dataclass(frozen=True, eq=False)
class Difference:
    """Two runs and their difference B − A. It has the methods of a `Trace` that read attention, tokens and tensors.

    Attributes:
        a, b: the traces of the two runs, called A and B.
        places: side (`source` or `target`) → its aligned rows, in which the tokens of A and B are set side by side: for each
            row, the position of the token in A and in B, counted from 0; None where the run has no token in this row.
        aligned: side → `positions` if both texts have equally many tokens, else `words`: aligned by equal tokens, in order.
    """

    a: Trace = field(repr=False)
    b: Trace = field(repr=False)
    places: Mapping[Side, Places]
    aligned: Mapping[Side, Alignment]

    @classmethod
    def of(cls, a: object, b: object) -> "Difference":
        """The difference of two traces. Their models may differ, but at least one kind of attention must have equally many
        layers and heads in both.

        Raises:
            InputError: `a` or `b` is not a Trace; they have different numbers of texts; no kind of attention has the same
                layers and heads in both; or texts of a batch would be aligned in different ways.
        """
        if not isinstance(a, Trace) or not isinstance(b, Trace):
            wrong = b if isinstance(a, Trace) else a
            raise InputError("Two runs are compared, as `Pipeline.trace` returns them, not {wrong!r}.", wrong=wrong)
        if a.batch_size != b.batch_size:
            template = "A has {a} texts and B has {b}; two runs that are compared need equally many."
            raise InputError(template, a=a.batch_size, b=b.batch_size)
        sides: list[Side] = [side for side in a.sides if side in b.sides]
        places: dict[Side, Places] = {side: aligned_rows(side, a.tokens_of(side), b.tokens_of(side)) for side in sides}
        aligned: dict[Side, Alignment] = {
            side: "positions" if _width(a, side) == _width(b, side) else "words" for side in sides
        }
        difference = cls(a, b, places, aligned)
        if not difference.kinds:
            template = "The two runs have no attention with the same layers and heads. Layers × heads of A: {a}; of B: {b}."
            raise InputError(template, a=_sizes(a), b=_sizes(b))
        return difference

    def __contains__(self, path: object) -> bool:
        return path in self.change

    def __iter__(self) -> Iterator[Activation]:
        return iter(self.change)

    def __len__(self) -> int:
        return len(self.change)

    def __getitem__(self, path: str | TensorPath) -> Activation:
        """The tensor at a path in B minus the same tensor in A. Axes of tokens have the aligned rows of `places`. Truth values
        and whole numbers become floating-point numbers: True is 1.

        Raises:
            PathError: the runs do not both have a tensor at that path, or its axes are not the same in both. Only axes with
                tokens may have different sizes.
        """
        return self.change[path]

    # --- the runs over aligned rows --------------------------------------------------------------------------------------

    @cached_property
    def runs(self) -> tuple[Trace, Trace]:
        """The traces of A and of B, with the tokens of both in the same rows: their axes of tokens have the rows of `places`,
        and NaN in a row in which a run has no token."""
        first, second = (self._trace(run, partial(self._values, run), partial(self._open, run)) for run in (0, 1))
        return first, second

    @cached_property
    def change(self) -> Trace:
        """The difference B − A as a `Trace`, for functions that read the tensors of a trace and do not run the model."""

        def minus(path: str) -> Tensor:
            a, b = (run[path].values for run in self.runs)
            if a.shape != b.shape:
                template = "{path} has the axes {axes} with the sizes {a} in A and {b} in B, so it has no difference."
                raise PathError(template, path=path, axes=" ".join(self.a[path].axes), a=[*a.shape], b=[*b.shape])
            return torch.where(a == b, 0.0, b - a)  # 0 also for two equal infinities

        def either(path: str) -> Tensor:
            a, b = (run.used_masks[path] for run in self.runs)
            return a | b

        return self._trace(None, minus, either)

    def over_rows(self, run: int, values: Shaped[Tensor, "*axes"], sides: Sequence[Side | None]) -> Float[Tensor, "*rows"]:
        """A tensor of A or B with the aligned rows (`places`) on its axes of tokens; NaN in rows where the run has no token.

        Args:
            run: 0 for A, 1 for B.
            values: a tensor that has, on some axes, an index for each token of the run.
            sides: for each axis, the side of its tokens, `source` or `target`; None for an axis without tokens.

        Raises:
            InputError: `sides` does not have an item for each axis, or an axis with tokens does not have one index for each
                token.
            PathError: `run` is neither 0 nor 1.
            ConfigError: there is no such side, or it did not run in both.
        """
        check_index("run", run, 2)
        listed = as_list(sides)
        if not isinstance(values, Tensor) or listed is None or len(listed) != values.ndim:
            template = "values must be a tensor with an axis for each of the sides {sides!r}, not {values!r}."
            raise InputError(template, sides=sides, values=values)
        return over_rows(values, [None if side is None else [pair[run] for pair in self._places_of(side)] for side in listed])

    def _places_of(self, side: str) -> Places:
        return self.places["source" if one_of("side", side, self.sides) == "source" else "target"]

    def _values(self, run: int, path: str) -> Tensor:
        return self.over_rows(run, (self.a, self.b)[run][path].values, self._sides(path))

    def _open(self, run: int, path: str) -> Tensor:
        """True where a query may attend to a key, for the attention at a path. False where a token is missing."""
        kind = TensorPath.parse(path).kind
        assert kind is not None
        hidden = (self.a, self.b)[run].hidden(path)
        return self.over_rows(run, hidden, (None, None, kind.queries, kind.keys)) == 0

    def _sides(self, path: str) -> list[Side | None]:
        """For each axis of the tensor at a path, the side of its tokens; None for an axis without tokens."""
        a, b = self.a[path], self.b[path]
        if a.axes != b.axes:
            template = "{path} has the axes {a} in A and {b} in B, so it has no difference."
            raise PathError(template, path=path, a=" ".join(a.axes), b=" ".join(b.axes))
        sizes = zip(sides_of_axes(path, a.axes), a.shape, b.shape, strict=True)
        return [next((side for side in sides if self._lengths.get(side) == [*pair]), None) for sides, *pair in sizes]

    @cached_property
    def _lengths(self) -> dict[Side, list[int]]:
        """Side → the number of tokens in A and in B."""
        return {side: [_width(self.a, side), _width(self.b, side)] for side in self.places}

    def _trace(self, run: int | None, values: Callable[[str], Tensor], masks: Callable[[str], Tensor]) -> Trace:
        """A trace of run 0 (A) or 1 (B), or of B − A if `run` is None, over the aligned rows. `values` and `masks` compute the
        tensor and the mask at a path when it is read."""
        paths = [path for path in self.a.activations if path in self.b.activations]
        attentions = [path for path in self.a.used_masks if path in self.b.used_masks]
        ids: dict[Side, Ids] = {}
        for side, places in self.places.items():
            texts = zip(self.a.ids_of(side), self.b.ids_of(side), strict=True)
            rows = [[pair_of(pair, *text, NO_ID) for pair in places] for text in texts]
            ids[side] = tuple(tuple(_id_of(pair, run) for pair in row) for row in rows)
        tokens: dict[Side, Tokens] = {
            side: tuple(self.tokens_of(side, item) for item in range(self.batch_size)) for side in ids
        }
        return AlignedTrace(
            (self.a if run is None else (self.a, self.b)[run]).config,
            Computed(paths, lambda path: Activation(path, self.a[path].axes, values(path))),
            ids.get("source", ()),
            ids.get("target", ()),
            tokens.get("source", ()),
            tokens.get("target", ()),
            Computed(attentions, masks),
            difference=self,
        )

    # --- texts -----------------------------------------------------------------------------------------------------------

    @property
    def batch_size(self) -> int:
        """The number of texts in the batch."""
        return self.a.batch_size

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that ran in both runs: `source`, `target`, or both."""
        return tuple(self.places)

    def tokens_of(self, side: Side, item: int = 0) -> tuple[str, ...]:
        """A name for each aligned row of text `item` (counted from 0): the token, if it is the same in A and B; else both, as
        in `tired / wide`. A token that stands alone is `tired / –` if it is in A, and `– / wide` if it is in B.

        Raises:
            ConfigError: `side` is neither `source` nor `target`, or did not run in both.
            PathError: the batch has no text with this number.
        """
        one_of("side", side, self.sides)
        check_index("item", item, self.batch_size)
        return self.joined_names(side, self.a.tokens_of(side)[item], self.b.tokens_of(side)[item])

    def tokens(self, kind: str, item: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the queries and of the keys of a kind of attention (`encoder`, `decoder` or `cross`) in text `item`, as
        in `tokens_of`. Raises `InputError` as `layers` does, and `PathError` if the batch has no text with this number."""
        kind = self._comparable(kind)
        return self.tokens_of(kind.queries, item), self.tokens_of(kind.keys, item)

    def query_names(self, kind: str, item: int = 0, end: str = "…") -> tuple[str, ...]:
        """A name for each query of a kind of attention: the names of `Trace.query_names` in A and B, joined as in `tokens_of`.
        `item` is the number of the text, from 0; `end` is the name of the token that the decoder's last query predicts.

        Raises:
            InputError: as in `layers`; or `end` is not a text.
            PathError: the batch has no text with this number.
        """
        kind = self._comparable(kind)
        return self.joined_names(kind.queries, *(run.query_names(kind, item, end) for run in (self.a, self.b)))

    def joined_names(self, side: Side, a: Sequence[str], b: Sequence[str]) -> tuple[str, ...]:
        """A name for each aligned row of a side, in the form of `tokens_of`, from other names for the tokens.

        Args:
            side: `source` or `target`.
            a, b: a name for each token of A and of B.

        Raises:
            ConfigError: there is no such side, or it did not run in both.
            InputError: `a` or `b` does not have one name for each token.
        """
        places = self._places_of(side)
        first, second = as_list(a), as_list(b)
        if first is None or second is None or [len(first), len(second)] != self._lengths[side]:
            template = "The {side} has {lengths} tokens in A and B; give a list of as many names for each, not {a!r} and {b!r}."
            raise InputError(template, a=a, b=b, side=side, lengths=self._lengths[side])
        pairs = (pair_of(pair, first, second, NO_TOKEN) for pair in places)
        return tuple(one if one == other else f"{one} / {other}" for one, other in pairs)

    # --- attention -------------------------------------------------------------------------------------------------------

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that both runs have, with the same numbers of layers and heads."""
        both = (kind for kind in self.a.kinds if kind in self.b.kinds)
        return tuple(kind for kind in both if _size(self.a, kind) == _size(self.b, kind))

    def layers(self, kind: str) -> int:
        """The number of layers with a kind of attention: `encoder`, `decoder` or `cross`. Raises `InputError` if there is no
        such kind, if it did not run in both, or if the runs have different numbers of its layers or heads."""
        return self.a.layers(self._comparable(kind))

    def heads(self, kind: str) -> int:
        """The number of heads in each layer with a kind of attention: `encoder`, `decoder` or `cross`. Errors are those of
        `layers`."""
        return self.a.heads(self._comparable(kind))

    def attention(self, kind: str) -> Float[Tensor, "layer batch head query key"]:
        """The attention weights of B minus those of A, for one kind: `encoder`, `decoder` or `cross`. Queries and keys are the
        aligned rows (`places`); NaN where A or B lacks the token of the query or the key.

        Raises:
            InputError: there is no such kind, it did not run in both, or the runs have different numbers of layers or heads.
        """
        return self.change.attention(self._comparable(kind))

    def weights(self, kind: str, layer: int) -> Float[Tensor, "batch head query key"]:
        """The attention weights of one layer in B minus those in A; NaN where A or B lacks the token of the query or the key.

        Args:
            kind: `encoder`, `decoder` or `cross`.
            layer: counted from 0.

        Raises:
            InputError: the runs do not both have this kind of attention with the same numbers of layers and heads.
            PathError: there is no such layer.
        """
        return self.change.weights(self._comparable(kind), layer)

    def head(self, kind: str, layer: int, head: int, item: int = 0) -> Float[Tensor, "query key"]:
        """The attention weights of one head in B minus those in A, for one text; NaN where A or B lacks the token of the query
        or the key.

        Args:
            kind: `encoder`, `decoder` or `cross`.
            layer, head, item: counted from 0; `item` is the number of the text.

        Raises:
            InputError: the runs do not both have this kind of attention with the same numbers of layers and heads.
            PathError: there is no such layer, head or text.
        """
        return self.change.head(self._comparable(kind), layer, head, item)

    def allowed(self, kind: str) -> Bool[Tensor, "layer batch head query key"]:
        """True where the query may attend to the key in A, in B or in both. `kind` is `encoder`, `decoder` or `cross`. Errors
        are those of `layers`."""
        return self.change.allowed(self._comparable(kind))

    def head_allowed(self, kind: str, layer: int, head: int, item: int = 0) -> Bool[Tensor, "query key"]:
        """True where the query may attend to the key in A, in B or in both, for one head and one text. `kind` is `encoder`,
        `decoder` or `cross`; numbers count from 0. Errors are those of `head`."""
        return self.change.head_allowed(self._comparable(kind), layer, head, item)

    def _comparable(self, kind: str) -> Kind:
        """The kind of attention with this name. Raises the same errors as `layers`."""
        kind = Kind.of(kind)
        if kind not in self.kinds:
            a, b = (_sizes(run, kind) for run in (self.a, self.b))
            template = "The {kind} attention of A and B cannot be compared. Layers × heads of A: {a}; of B: {b}."
            raise InputError(template, kind=str(kind), a=a, b=b)
        return kind


def _id_of(pair: tuple[int, int], run: int | None) -> int:
    """The id of an aligned row in run 0 (A) or 1 (B), from its ids in A and B. For B − A (`run` is None), the id in A, or the
    id in B if only B has a token in this row."""
    a, b = pair
    return pair[run] if run is not None else b if a == NO_ID else a


def _width(trace: Trace, side: Side) -> int:
    return len(trace.tokens_of(side)[0])


def _size(trace: Trace, kind: Kind) -> tuple[int, int]:
    return trace.layers(kind), trace.heads(kind)


def _sizes(trace: Trace, *kinds: Kind) -> str:
    """The numbers of layers and heads of some kinds of attention, or of all kinds that ran, as a text."""
    listed = [(kind, _size(trace, kind)) for kind in kinds or trace.kinds if kind in trace.kinds]
    return ", ".join(f"{kind} {layers} × {heads}" for kind, (layers, heads) in listed) or "none"
