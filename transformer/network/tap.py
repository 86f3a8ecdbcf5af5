"""Observing and editing a forward pass from outside, without touching the model.

A `Tap` is a name for a point in the network, and `tapped` is what a tensor goes through there:

    self.weights = Tap("batch head query key")            # in the constructor
    weights = tapped(self, "weights", scores.softmax(-1))  # in `forward`

Nobody looking, that returns what it was given. Inside `with tracing(model):` it hands each tensor to that context's `Scope`,
which first applies the edits meant for that point and then keeps the result.

The scope lives in a `ContextVar`, never on the model: one model serves many threads at once, and none sees another's scope.
"""

import ctypes
import functools
import platform
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from torch import Tensor, nn

from transformer.errors import InputError, PathError

if TYPE_CHECKING:
    from transformer.network.config import TransformerConfig


class Tap(nn.Module):
    """The identity, with a name for the tensor that passes through. No `forward` calls it: `tapped` does its work, so a hook of
    PyTorch's on it is not called either.

    Args:
        axes: the axes of that tensor, in order, separated by spaces: `"batch head query key"`. An axis called `1` has
            that size and stands for "the same for all".

    Attributes:
        ndim: how many axes.
        path: where it is in the model, from the module tree: `encoder.layers.0.self_attention.weights`; empty until
            `name_taps` says so.
        taps: path → tap, for all of that model, itself among them: by it a scope knows a tap of its model.
    """

    def __init__(self, axes: str) -> None:
        super().__init__()
        self.axes = tuple(axes.split())
        self.ndim = len(self.axes)
        self.path = ""
        self.taps: dict[str, Tap] = {}

    def forward(self, values: Tensor) -> Tensor:
        scope = _scope.get()
        return values if scope is None else scope.see(self, values)

    def extra_repr(self) -> str:
        return " ".join(self.axes)


class Taps(dict[str, Tap]):
    """Path → tap, for all of a model. A class of its own, because `torch.export` puts a copy in the place of every plain
    dictionary of a model, and a scope knows its model by this one."""


def tapped(module: nn.Module, name: str, values: Tensor) -> Tensor:
    """What `getattr(module, name)(values)` returns, a `Tap` being there, at a twentieth of the cost.

    There are hundreds of these calls in a forward pass, and mostly nobody looks. The tap is not even fetched then: it is one
    object of hundreds, and has left the processor's cache since the last pass, while this function is used all the time.

    Args:
        module: that has the tap.
        name: of the attribute that is the tap.
        values: the tensor that passes there, with the axes of the tap.

    Returns:
        `values` itself, or what edits have made of it: a tensor of the same shape.

    Raises:
        AttributeError: somebody looks, and the module has nothing of that name.
        PathError: somebody looks, and `values` has not the axes of that tap, or an edit has changed its shape.
    """
    scope = _scope.get()
    if scope is None:
        return values
    tap: Tap = getattr(module, name)
    if scope.unedited is tap.taps and values.ndim == tap.ndim:  # what `see` does for most taps, without another call
        scope.values[tap.path] = values
        return values
    return scope.see(tap, values)


@runtime_checkable
class Traceable(Protocol):
    """A model whose taps have been named."""

    config: "TransformerConfig"
    taps: dict[str, "Tap"]


@runtime_checkable
class Edit(Protocol):
    """What a scope needs to know of an intervention (`transformer.tracing.interventions`)."""

    def place(self, model: Traceable) -> str:
        """The path of the tap it acts on. Raises `PathError` where it does not fit the model."""
        ...

    def apply(self, values: Tensor, tap: "Tap", scope: "Scope") -> Tensor:
        """What takes the place of that tap's tensor: another of the same shape."""
        ...


class Scope:
    """What one `with tracing(…)` sees: the edits to make, and the tensors that passed, in the order they were computed."""

    __slots__ = ("config", "edits", "keep", "taps", "unedited", "values")  # asked by every tap, so each is one step away

    def __init__(self, model: Traceable, edits: Sequence[Edit], keep: bool) -> None:
        edits = as_edits(edits)
        try:
            self.config, self.taps = model.config, model.taps
        except AttributeError:
            raise InputError("model", model, "must be a Transformer, or have its `config` and `taps`") from None
        self.keep = keep or bool(edits)  # an edit may need what passed before it
        self.values: dict[str, Tensor] = {}
        self.edits: dict[str, list[Edit]] = defaultdict(list)
        for edit in edits:
            self.edits[edit.place(model)].append(edit)
        # The taps whose tensors have only to be kept; None where there is more to do, or less.
        self.unedited = model.taps if keep and not edits else None

    def see(self, tap: Tap, values: Tensor) -> Tensor:
        """Edit, check, keep. Tensors are kept by reference: copying each would cost a fifth of the forward pass.

        Raises:
            PathError: the tensor has not the axes of its tap, or an edit has changed its shape.
        """
        path = tap.path
        if tap.taps is not self.taps:  # another model, run inside this one's scope
            return values
        if path in self.edits:
            values = self._edited(tap, values)
        if values.ndim != tap.ndim:
            raise PathError(path, tuple(values.shape), f"has the axes {' '.join(tap.axes)}")
        if self.keep:
            self.values[path] = values
        return values

    def close(self) -> None:
        """See and edit nothing from now on. A task that was started within the scope may still hold it."""
        self.taps, self.unedited, self.edits = {}, None, {}

    def _edited(self, tap: Tap, values: Tensor) -> Tensor:
        for edit in self.edits[tap.path]:
            edited = edit.apply(values, tap, self)
            if edited.shape != values.shape:
                raise PathError(tap.path, tuple(edited.shape), f"an edit must keep the shape {tuple(values.shape)}")
            values = edited
        return values


_scope: ContextVar[Scope | None] = ContextVar("scope", default=None)


@contextmanager
def tracing(model: Traceable, edits: Sequence[Edit] = (), keep: bool = True) -> Iterator[dict[str, Tensor]]:
    """Within this context, every tap of `model` applies `edits` and hands over its tensor.

    Other threads do not see it, unless they run in a copy of this context, as those of `asyncio.to_thread` do. A scope inside
    another takes its place until it ends; edits do not add up.

    Args:
        model: whose taps to watch.
        edits: interventions (`transformer.tracing.interventions`), applied in the order given.
        keep: False to edit without keeping the tensors.

    Yields:
        path → tensor, filled as the forward pass goes. Run one forward pass in a scope; a second one overwrites the first.

    Raises:
        PathError: an edit names a path, head or position that the model does not have, or is no edit. Raised before anything
            runs.
        InputError: `model` has no taps.
    """
    scope = Scope(model, edits, keep)
    reuse_freed_memory()
    token = _scope.set(scope)
    try:
        yield scope.values
    finally:
        scope.close()
        _scope.reset(token)


def as_edits(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits as a tuple: a generator could be gone through only once, and a pass may be run twice.

    Raises:
        PathError: they are no list, or something in it is no edit.
    """
    if not isinstance(edits, Iterable) or isinstance(edits, str):
        raise PathError("edits", edits, "must be a list of interventions")
    edits = tuple(edits)
    for edit in edits:
        if not isinstance(edit, Edit):
            raise PathError("edit", edit, "must be an intervention, such as Ablate(path)")
    return edits


def watched() -> bool:
    """Whether somebody looks at the forward pass that is running."""
    scope = _scope.get()
    return scope is not None and bool(scope.taps)


def editing() -> bool:
    """Whether somebody edits the forward pass that is running, so that what its masks promise may not hold."""
    scope = _scope.get()
    return scope is not None and bool(scope.edits)


def name_taps(model: nn.Module) -> dict[str, Tap]:
    """Tell each tap where it is in `model`; return path → tap, in the order of the module tree.

    After a layer was exchanged or added, do it again (`model.taps = name_taps(model)`): a trace leaves out what is not named.
    """
    taps = Taps((path, module) for path, module in model.named_modules() if isinstance(module, Tap))
    for path, tap in taps.items():
        tap.path, tap.taps = path, taps
    return taps


@functools.cache
def reuse_freed_memory() -> None:
    """Ask the C library, once per process, to keep freed memory for the next trace instead of giving it back.

    A trace is hundreds of tensors that live as long as it does. By default glibc returns such blocks to the kernel and
    faults fresh pages in for the next trace, which took longer than the forward pass itself: 1.26 × at 32 tokens, 3 × at
    512 (`benchmarks/`). The process keeps the size of its peak instead, which a bounded cache of traces has anyway.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(trim_threshold, 1 << 30)
    mallopt(mmap_threshold, 32 << 20)  # the largest that glibc takes
