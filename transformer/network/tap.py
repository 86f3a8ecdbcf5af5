"""Read and change any tensor of a forward pass from outside, without touching the model.

A `Tap` names a point in the network. It is made in the constructor and called in `forward`:

    self.weights = Tap("batch head query key")
    weights = self.weights(scores.softmax(-1))

Outside `with tracing(model):` it returns its argument. Inside, it hands the tensor to that context's `Scope`, which applies
the edits meant for that point and keeps the result.

The scope is held in a `ContextVar`, never on the model: many threads can run one model at once, each with its own scope.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from torch import Tensor, nn

from transformer.errors import InputError, PathError

if TYPE_CHECKING:
    from transformer.network.config import TransformerConfig


class Tap:
    """The identity, with a name for the tensor that passes through it.

    An ordinary object, not an `nn.Module`: it has no parameters, and calling hundreds of modules to do nothing would take a
    seventh of a small model's forward pass (`benchmarks/`).

    Args:
        axes: the axes of that tensor, in order, separated by spaces: `"batch head query key"`. An axis called `1` has
            that size and stands for "the same for all".

    Attributes:
        path: the tap's place in the model, such as `encoder.layers.0.self_attention.weights`; empty until `name_taps` sets it.
        taps: path → tap, for the whole model. A scope compares it with its own to ignore the taps of other models.
    """

    def __init__(self, axes: str) -> None:
        self.axes = tuple(axes.split())
        self.path = ""
        self.taps: dict[str, Tap] = {}

    def __call__(self, values: Tensor) -> Tensor:
        scope = _scope.get()
        return values if scope is None else scope.see(self, values)

    def __repr__(self) -> str:
        return f"Tap({' '.join(self.axes)!r})"


class Taps(dict[str, Tap]):
    """Path → tap, for a whole model. A class of its own because `torch.export` replaces every plain dictionary of a model by a
    copy, and a scope recognises its model by this very object."""


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
    """The state of one `with tracing(…)`: the edits to make, and the tensors so far, in the order they were computed."""

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
        if values.ndim != len(tap.axes):
            raise PathError(path, tuple(values.shape), f"has the axes {' '.join(tap.axes)}")
        if self.keep:
            self.values[path] = values
        return values

    def close(self) -> None:
        """See and edit nothing from now on. A task that was started within the scope may still hold it."""
        self.taps, self.edits = {}, {}

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
    """Path → tap, for every tap of `model`; each tap is told its path.

    Call it again after a layer was exchanged or added (`model.taps = name_taps(model)`): a trace leaves out unnamed taps.
    """
    taps = Taps()
    for owner, module in model.named_modules():
        for name, tap in vars(module).items():
            if isinstance(tap, Tap):
                tap.path = f"{owner}.{name}" if owner else name
                tap.taps = taps
                taps[tap.path] = tap
    return taps
