"""Trees of calls: of the constructors that build a model, and of the functions that a forward pass runs.

Both are recorded with the interpreter's profiler (`sys.setprofile`), which reports the calls of one thread only. Nothing is
registered on the model, which other threads may be running at the same time.
"""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

import transformer.network
from transformer.analysis.checks import check_model
from transformer.errors import InputError, PathError, cut
from transformer.network import config, tap
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer

NETWORK = f"{transformer.network.__name__}."
# Modules of the network that compute nothing: one names its tensors, the other holds its sizes.
MODULES_WITHOUT_COMPUTATION = (tap.__name__, config.__name__)
MAX_VALUE_LENGTH = 40  # characters of a value that is not a tensor
INITIALIZERS = ("uniform_", "normal_", "fill_", "zero_")  # functions that set the first values of parameters

# Path → module, found by identity.
Modules = dict[int, tuple[str, nn.Module]]


@dataclass(frozen=True)
class Call:
    """One call, and the calls it made.

    Attributes:
        path: of the module it belongs to; "" for the model itself.
        name: of the class that was built or whose `forward` ran, or of the function.
        function: the function that ran, for `find`: `module:qualified name`.
        inputs: name and value of each argument; a tensor as its shape, and its type unless that is float32. Arguments that
            were left at their defaults are left out.
        output: the returned value, likewise; "" for a constructor.
        parameters: number of trainable numbers of the module and all modules in it; 0 for a function.
        count: number of equal calls in a row, of modules numbered as in `layers.0`, `layers.1`; this call is the first.
        calls: those it made, in order.
    """

    path: str
    name: str
    function: str
    inputs: tuple[tuple[str, str], ...]
    output: str
    parameters: int
    count: int
    calls: tuple["Call", ...]

    def __iter__(self) -> Iterator["Call"]:
        """This call and all calls in it, in the order they began."""
        yield self
        for call in self.calls:
            yield from call


def constructor_calls(model: Transformer) -> Call:
    """The constructor calls of a model: every module with its arguments.

    The model is built again with parameters that have no memory, so this takes little time for a model of any size.

    Raises:
        InputError: not a model.
    """
    check_model(model)
    with _NoMemory(), _Recorder("__init__") as recorder:
        built = type(model)(model.config)
    # A module has its path only once the whole model is built; numbers of parameters are taken from the given model.
    live = dict(model.named_modules())
    return recorder.tree({id(module): (path, live[path]) for path, module in built.named_modules()})


def forward_calls(model: Transformer, source: Int[Tensor, "batch source"] | None, target: Int[Tensor, "batch target"]) -> Call:
    """The calls of one forward pass: every module that runs, and every function of this library. A dropout inside a
    layer does not run where it drops nothing.

    Args:
        model: only run, never changed.
        source, target: token ids, as `Transformer.forward` takes them.

    Raises:
        InputError: not a model, or ids or lengths the model has no row for.
    """
    check_model(model)
    with torch.inference_mode(), _Recorder("forward") as recorder:
        model(source, target)
    return recorder.tree({id(module): (path, module) for path, module in model.named_modules()})


def find(function: str) -> Callable[..., Any]:
    """The function that a call ran, by its `function`.

    Raises:
        PathError: there is none.
    """
    if not isinstance(function, str):
        raise PathError("The function {function!r} is not that of a recorded call.", function=function)
    module, _, qualified = function.partition(":")
    function_or_class: Any = sys.modules.get(module) if module.startswith(("transformer.", "torch.nn.")) else None
    for name in qualified.split("."):
        function_or_class = getattr(function_or_class, name, None)
    if not callable(function_or_class):
        raise PathError("The function {function!r} is not that of a recorded call.", function=function)
    return function_or_class


def explanation(call: Call) -> str:
    """The docstring of the class or the function that a call ran, inherited if it has none of its own.

    Raises:
        InputError: not a call.
        PathError: the call has no function of this library or of torch.
    """
    if not isinstance(call, Call):
        raise InputError("The call must be a Call, as `forward_calls` returns it, not {call!r}.", call=call)
    owner, _, method = call.function.rpartition(".")
    return inspect.getdoc(find(owner if method in ("forward", "__init__") else call.function)) or ""


def described(value: object) -> str:
    """A value as a short text: `[1, 9, 512]` for a tensor, with its type unless that is float32."""
    if isinstance(value, Tensor):
        kind = "" if value.dtype == torch.float32 else f" {str(value.dtype).removeprefix('torch.')}"
        return f"{list(value.shape)}{kind}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # a mask: its first tensor
        return f"{type(value).__name__} {described(value[0])}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(described, value))})"
    if isinstance(value, (TransformerConfig, nn.Module)):
        return type(value).__name__
    if inspect.isgenerator(value):
        return "…"
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__).rpartition(".")[2].strip("<>")
    return cut(repr(value), MAX_VALUE_LENGTH)


# --- recording ---------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Open:
    """A call that has begun. `owner` is the module whose method it is; None for a function."""

    frame: FrameType
    owner: nn.Module | None
    name: str
    function: str
    inputs: tuple[tuple[str, str], ...]
    output: str = ""
    calls: list["_Open"] = field(default_factory=list)


class _Recorder:
    """Records the calls of this thread within its context: of one method of modules, and of every function of this library."""

    def __init__(self, method: str) -> None:
        self.method, self.roots = method, list[_Open]()
        self.stack: list[_Open] = []
        self.built: dict[int, object] = {}  # id → module whose constructor has begun; kept, so that no other gets its id

    def __enter__(self) -> "_Recorder":
        self.before = sys.getprofile()
        sys.setprofile(self._record)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self.before)

    def _record(self, frame: FrameType, event: str, value: Any) -> None:
        if event == "call":
            self._begin(frame)
        elif event == "return" and self.stack and self.stack[-1].frame is frame:
            call = self.stack.pop()
            call.output = "" if frame.f_code.co_name == "__init__" else described(value)

    def _begin(self, frame: FrameType) -> None:
        code = frame.f_code
        # Code without a file comes from the shape checks that run in the tests.
        if code.co_filename.startswith("<") or code.co_name.startswith("<"):
            return
        own = frame.f_locals.get("self")
        owner = own if isinstance(own, nn.Module) else None
        module = frame.f_globals.get("__name__", "")
        ours = module.startswith(NETWORK) and module not in MODULES_WITHOUT_COMPUTATION and not code.co_name.startswith("_")
        if not (ours or (owner is not None and code.co_name == self.method)):
            return
        if constructs := owner is not None and code.co_name == "__init__":
            if id(owner) in self.built:  # the constructor of a parent class, called by the class's own
                return
            self.built[id(owner)] = owner
        names = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name not in ("self", "cls")]
        given = {name: frame.f_locals[name] for name in names}
        called = type(owner) if constructs else getattr(type(owner), code.co_name, None)
        if owner is not None and called is not None:
            given = _given(called, given)
        call = _Open(
            frame,
            owner,
            type(owner).__name__ if owner is not None and code.co_name in ("__init__", "forward") else code.co_qualname,
            f"{frame.f_globals['__name__']}:{code.co_qualname}",
            tuple((name, described(value)) for name, value in given.items()),
        )
        (self.stack[-1].calls if self.stack else self.roots).append(call)
        self.stack.append(call)

    def tree(self, modules: Modules) -> Call:
        """The recorded calls as a tree; equal calls of numbered modules are folded into one."""
        (root,) = self.roots
        return _placed(root, modules, "")


def _placed(call: _Open, modules: Modules, above: str) -> Call:
    path, module = modules[id(call.owner)] if call.owner is not None else (above, None)
    name, function, parameters = call.name if module is None else call.name.rpartition(".")[2], call.function, 0
    if module is not None and call.name == type(module).__name__:
        # Named by the class of the module itself, which may have the method from a parent.
        name, method = call.name, function.rpartition(".")[2]
        function = f"{type(module).__module__}:{type(module).__qualname__}.{method}"
        parameters = sum(parameter.numel() for parameter in module.parameters())
    below = _folded([_placed(below, modules, path) for below in call.calls])
    return Call(path, name, function, call.inputs, call.output, parameters, 1, below)


def _folded(calls: Sequence[Call]) -> tuple[Call, ...]:
    """The calls with each run of equal calls of numbered modules as one, with its count."""
    folded: list[Call] = []
    for call in calls:
        last = folded[-1] if folded else None
        if last and call.path[-1:].isdecimal() and last.path[-1:].isdecimal() and _alike(last, call):
            folded[-1] = replace(last, count=last.count + 1)
        else:
            folded.append(call)
    return tuple(folded)


def _alike(first: Call, second: Call) -> bool:
    """Whether two calls differ in their paths alone."""
    same = all(getattr(first, name) == getattr(second, name) for name in ("name", "inputs", "output", "parameters"))
    return same and len(first.calls) == len(second.calls) and all(map(_alike, first.calls, second.calls))


def _given(called: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor or a method that differ from their defaults."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(called).parameters.items()}
    return {name: value for name, value in arguments.items() if value is not defaults.get(name, inspect.Parameter.empty)}


class _NoMemory(TorchFunctionMode):
    """Parameters of modules built in this context, and in this thread alone, have shapes but neither memory nor values."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.empty:
            return func(*args, **{**kwargs, "device": "meta"})
        filled = args[0] if args else kwargs.get("tensor")
        if func.__name__ in INITIALIZERS and isinstance(filled, Tensor) and filled.is_meta:
            return filled
        return func(*args, **kwargs)
