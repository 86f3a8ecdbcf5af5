"""Read and change any tensor of a forward pass from outside, without touching the model.

A `Tap` names a tensor of the network. A module creates the tap in its constructor and calls it in `forward`:

    self.weights = Tap("batch head query key")
    weights = self.weights(scores.softmax(-1))

Outside `with tracing(model):` the tap returns its argument. Inside, it passes the tensor to the `Scope` of that context. The
scope applies the edits for that tensor, and keeps the result.

The scope is stored in a `ContextVar`, never on the model, so many threads can run one model at once, each with its own scope.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from transformer.errors import InputError, PathError
from transformer.network.masks import Mask
from transformer.validation import as_list

if TYPE_CHECKING:
    from transformer.network.config import NetworkConfig


class Tap:
    """The identity, with a name for the tensor that passes through it. `tracing` records and edits tensors by these names.

    It is an ordinary object, not an `nn.Module`, because it has no parameters, and hundreds of calls of modules that do nothing
    would take a seventh of a small model's forward pass (`benchmarks/`).

    Args:
        axes: the axes of the tensor, in order, separated by spaces: `"batch head query key"`. An axis called `1` has
            the size 1 and means "the same for all".
        heads: size of the tensor's head axis, if it is not the `heads` of the model's configuration.

    Attributes:
        path: the tap's place in the model, such as `encoder.layers.0.self_attention.weights`; empty until `name_taps` sets it.
        taps: path → tap, for the whole model. A scope ignores taps whose `taps` is not the same object as its model's `taps`.
    """

    def __init__(self, axes: str, heads: int | None = None) -> None:
        if not isinstance(axes, str):
            raise InputError("axes is {axes!r}; it must be names of axes, such as 'batch head query key'.", axes=axes)
        self.axes, self.heads = tuple(axes.split()), heads
        self.path = ""
        self.taps: dict[str, Tap] = {}

    def __call__(self, values: Tensor, again: Callable[[], Tensor] | None = None) -> Tensor:
        """The tensor, after the edits of the present `Scope`. Outside `with tracing(model)`, `values` is returned unchanged.

        Args:
            values: the tensor.
            again: a function that computes the tensor again, bit for bit, from other tensors that are kept. The scope then
                keeps this function instead of the large tensor, unless the tap has edits.
        """
        scope = _scope.get()
        return values if scope is None else scope.see(self, values, again)

    def __repr__(self) -> str:
        return f"Tap({' '.join(self.axes)!r})"


class MaskTap(Tap):
    """A tap for the mask of one attention. The scope keeps the mask separately from the tensors (`Recording.masks`), and an
    edit may hide more keys (`transformer.tracing.interventions.Block`)."""

    def __init__(self) -> None:
        super().__init__("batch head query key")

    def __call__(self, mask: Mask) -> Mask:
        scope = _scope.get()
        return mask if scope is None else scope.see_mask(self, mask)


class Taps(dict[str, Tap]):
    """Path → tap, for a whole model. It is not a plain dictionary, because `torch.export` copies plain dictionaries, and a
    scope identifies its model by this object.

    Attributes:
        of_masks: path → tap, for the mask of each attention. These taps are not in the dictionary itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self.of_masks: dict[str, MaskTap] = {}


@dataclass(frozen=True, eq=False)
class Derived:
    """A tensor of a forward pass that is not kept, but computed again each time it is read.

    Attributes:
        shape: shape of the tensor.
        compute: a function that returns the tensor, bit for bit as in the forward pass.
    """

    shape: tuple[int, ...]
    compute: Callable[[], Tensor]


# What a recording keeps for a tensor: the tensor itself, or the function that computes it again.
Stored = Tensor | Derived


class Recording(Mapping[str, Tensor]):
    """The recorded tensors of a forward pass: path of a tap → tensor, in the order in which the tensors were computed.

    Attributes:
        stored: path → the tensor, or the function that computes it again.
        masks: path of an attention → the mask it used: True where a query may attend to a key. An axis of size 1 means "the
            same for all".
    """

    def __init__(self, stored: Mapping[str, Stored] | None = None, masks: Mapping[str, Tensor] | None = None) -> None:
        self.stored: dict[str, Stored] = dict(stored or {})
        self.masks: dict[str, Tensor] = dict(masks or {})

    def __getitem__(self, path: str) -> Tensor:
        return loaded(self.stored[path])

    def __contains__(self, path: object) -> bool:
        return path in self.stored

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)

    def shape(self, path: str) -> tuple[int, ...]:
        """The shape of the tensor at a path. If the tensor was not kept, it is not computed again for this."""
        return tuple(self.stored[path].shape)

    def copy(self) -> "Recording":
        """A copy of the mapping, which later forward passes in the same scope do not change. The tensors are not copied."""
        return Recording(self.stored, self.masks)


def loaded(stored: Stored) -> Tensor:
    """The tensor that a recording has stored. A `Derived` tensor is computed again."""
    if isinstance(stored, Tensor):
        return stored
    with torch.inference_mode():
        return stored.compute()


@runtime_checkable
class Traceable(Protocol):
    """A model that can be traced: it has a configuration, and taps that `name_taps` has named."""

    @property
    def config(self) -> "NetworkConfig":
        """The configuration of the model."""
        ...

    taps: dict[str, "Tap"]


class Edit(ABC):
    """The base class of edits, which change a tensor during a forward pass (`transformer.tracing.interventions`). A `Scope`
    calls the methods."""

    @abstractmethod
    def place(self, model: Traceable) -> str:
        """The path of the tap that the edit acts on. Raises `PathError` if the edit does not fit the model."""

    @abstractmethod
    def needs(self, model: Traceable) -> Iterable[str]:
        """The paths of the tensors that `apply` may read from `scope.values`. A scope keeps these tensors even if it keeps no
        others."""

    @abstractmethod
    def apply(self, values: Tensor, tap: "Tap", scope: "Scope") -> Tensor:
        """The tensor that replaces `values`, the tensor at `tap`. It must have the same shape, except for a mask."""


class Scope:
    """The state of one `with tracing(…)`: the edits to apply, and the tensors recorded so far, in the order of computation. The
    arguments are those of `tracing`."""

    def __init__(self, model: Traceable, edits: Sequence[Edit], keep: bool | Collection[str]) -> None:
        edits = as_edits(edits)
        try:
            self.config, self.taps = model.config, model.taps
        except AttributeError:
            raise InputError("{model!r} is not a Transformer: it needs `config` and `taps`.", model=model) from None
        paths: list[Any] | None = [] if isinstance(keep, bool | None) else _listed(keep)
        if paths is None:
            raise InputError("keep is {keep!r}; it must be True, False or a list of paths.", keep=keep)
        self.values = Recording()
        self.edits: defaultdict[str, list[Edit]] = defaultdict(list)
        places = {*self.taps, *getattr(self.taps, "of_masks", ())}
        for path in paths:
            if not isinstance(path, str) or path not in places:
                raise PathError("keep has {path!r}, which is no tap of this model.", path=path)
        # Paths of the tensors that are kept; None for all.
        self.kept: set[str] | None = None if keep is True else {*paths}
        for edit in edits:
            path = edit.place(model)
            if not isinstance(path, str) or path not in places:
                raise PathError("{edit!r} acts on {path!r}, which is no tap of this model.", edit=edit, path=path)
            self.edits[path].append(edit)
            if self.kept is not None:
                self.kept.update(edit.needs(model))

    def see(self, tap: Tap, values: Tensor, again: Callable[[], Tensor] | None = None) -> Tensor:
        """The tensor after the edits for this tap. The scope keeps the tensor without a copy, because copying every tensor
        would make a pass a fifth longer. If there is no edit and `again`, a function that computes the tensor again, is given,
        the scope keeps only this function.

        Raises:
            PathError: the tensor does not have as many axes as its tap, or an edit changed its shape.
        """
        path = tap.path
        if tap.taps is not self.taps:  # the tap belongs to another model, which runs inside the scope of this model
            return values
        if path in self.edits:
            values, again = self._edited(tap, values), None
        if values.ndim != len(tap.axes):
            raise PathError(
                "{path} has the shape {shape}; it must have the axes {axes}.",
                path=path,
                shape=tuple(values.shape),
                axes=" ".join(tap.axes),
            )
        if self.kept is None or path in self.kept:
            self.values.stored[path] = values if again is None else Derived(tuple(values.shape), again)
        return values

    def see_mask(self, tap: MaskTap, mask: Mask) -> Mask:
        """The mask of an attention after the edits for it. A scope that keeps all tensors or has edits keeps the mask, too."""
        if tap.taps is not self.taps:
            return mask
        if self.edits:
            mask = mask.edited(self._edited(tap, mask.keep))
        if self.kept is None or self.edits:
            self.values.masks[tap.path.rpartition(".")[0]] = mask.keep
        return mask

    @contextmanager
    def entered(self) -> Generator[Recording]:
        """A context in which taps use this scope; yields its recording. The scope can be entered again for the next step of an
        answer, because an edit may need tensors of earlier steps, such as those of the encoder."""
        token = _scope.set(self)
        try:
            yield self.values
        finally:
            _scope.reset(token)

    def close(self) -> None:
        """Stop recording and editing for good. An `asyncio` task that was started within the scope may still run in it."""
        self.taps, self.edits = {}, defaultdict(list)

    def _edited(self, tap: Tap, values: Tensor) -> Tensor:
        for edit in self.edits.get(tap.path, ()):
            edited = edit.apply(values, tap, self)
            if edited.shape != values.shape and not isinstance(tap, MaskTap):
                raise PathError(
                    "An edit changed the shape of {path} from {before} to {after}; it must keep the shape.",
                    path=tap.path,
                    before=tuple(values.shape),
                    after=tuple(edited.shape),
                )
            values = edited
        return values


def _listed(keep: Any) -> list[Any] | None:
    """The paths in `keep` as a list. A set or a mapping is allowed too, because order does not matter. None if invalid."""
    return None if isinstance(keep, str | Tensor) else [*keep] if isinstance(keep, Set | Mapping) else as_list(keep)


_scope: ContextVar[Scope | None] = ContextVar("scope", default=None)


@contextmanager
def tracing(model: Traceable, edits: Sequence[Edit] = (), keep: bool | Collection[str] = True) -> Generator[Recording]:
    """A context in which every tap (named tensor) of `model` applies `edits` and records its tensor.

    Other threads are not affected, unless they run in a copy of this context, as the threads of `asyncio.to_thread` do. An
    inner scope replaces the outer scope until the inner one ends; the edits of the outer scope do not apply meanwhile.

    Args:
        model: the model to trace.
        edits: interventions (`transformer.tracing.interventions`), applied in this order.
        keep: True to keep every tensor; False to edit without keeping tensors; or the paths of the tensors to keep.

    Yields:
        The recording: path → tensor, and the masks, filled during the forward pass. Run only one forward pass in the context,
        because a second pass overwrites the tensors of the first pass.

    Raises:
        PathError: an edit names a path, head or position that the model does not have, `keep` names such a path, or an element
            of `edits` is not an edit. The error is raised before anything runs.
        InputError: `model` has no taps, or `keep` is not True, False or a list of paths.
    """
    scope = Scope(model, edits, keep)
    try:
        with scope.entered() as values:
            yield values
    finally:
        scope.close()


def as_edits(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits as a tuple, because a generator can be read only once, and a pass may run twice.

    Raises:
        PathError: `edits` is not a list or another ordered collection, or an element of it is not an edit.
    """
    listed = None if isinstance(edits, str) else as_list(edits)
    if listed is None:
        raise PathError("Edits are a list of interventions, such as [Ablate(path)], not {edits!r}.", edits=edits)
    edits = tuple(listed)
    for edit in edits:
        if isinstance(edit, type):
            raise PathError("{edit!r} is a class; an edit is an intervention with its path, such as Ablate(path).", edit=edit)
        if not isinstance(edit, Edit):
            raise PathError("{edit!r} is not an edit; an edit is an intervention, such as Ablate(path).", edit=edit)
    return edits


def watched() -> bool:
    """Whether the current forward pass runs within `with tracing(…)`."""
    scope = _scope.get()
    return scope is not None and bool(scope.taps)


def name_taps(model: nn.Module) -> dict[str, Tap]:
    """Path → tap, for every tap of `model`; the taps of masks are in `of_masks` (`Taps`). Sets `path` and `taps` of each tap.

    Call `model.taps = name_taps(model)` again after you replace or add a layer, because a trace leaves out unnamed taps.
    """
    taps = Taps()
    for owner, module in model.named_modules():
        for name, tap in vars(module).items():
            if isinstance(tap, Tap):
                tap.path = f"{owner}.{name}" if owner else name
                tap.taps = taps
                if isinstance(tap, MaskTap):
                    taps.of_masks[tap.path] = tap
                else:
                    taps[tap.path] = tap
    return taps
