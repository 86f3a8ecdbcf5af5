"""Trees of calls: the constructors that build a model, and the functions that a forward pass runs.

Both are recorded with the interpreter's profiler (`sys.setprofile`), which reports the calls of one thread only. Nothing is
registered on the model, because other threads may run it at the same time.
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
from transformer.network import config, id_checks, tap
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer

NETWORK = f"{transformer.network.__name__}."
# Modules of the network that compute nothing: `tap` names the network's tensors, and `config` contains its sizes.
MODULES_WITHOUT_COMPUTATION = (tap.__name__, config.__name__, id_checks.__name__)
MAX_VALUE_LENGTH = 40  # the most characters of a value that is not a tensor
INITIALIZERS = ("uniform_", "normal_", "fill_", "zero_")  # functions that set the initial values of parameters

# id(module) → path of the module, and the module.
Modules = dict[int, tuple[str, nn.Module]]


@dataclass(frozen=True)
class Call:
    """One call, and the calls that it made.

    Attributes:
        path: path of the module that was called, or that called the function; "" for the model itself.
        name: name of the function or method, or of the class whose constructor or `forward` ran.
        function: the function that ran, such as `transformer.network.attention:MultiHeadAttention.forward`.
        inputs: name and value of each argument, as text. For a tensor, the text is its shape, and its dtype unless that is
            float32. For a module, arguments that are the default object are left out.
        output: the returned value as text, in the same form; "" for a constructor.
        parameters: number of parameters of the module and all modules in it; 0 if a function or another method ran.
        count: number of successive equal calls that this call stands for, such as those of `layers.0` and `layers.1`; 1 if it
            stands for itself alone. This call is the first of them.
        calls: the calls that this call made, in order.
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
        """Yield this call and all calls in it, in the order in which they began."""
        yield self
        for call in self.calls:
            yield from call


def constructor_calls(model: Transformer) -> Call:
    """The constructor calls of a model as a tree: the constructor of every module, with its arguments. The root is the call for
    the model itself.

    The model is built again, with parameters that have no memory, so the function takes little time for a model of any size.

    Raises:
        InputError: `model` is not a Transformer.
    """
    check_model(model)
    with NoMemory(), _Recorder("__init__") as recorder:
        built = type(model)(model.config)
    # The paths of modules exist only after the whole model is built. The given model has the true numbers of parameters.
    live = dict(model.named_modules())
    return recorder.tree({id(module): (path, live[path]) for path, module in built.named_modules()})


def forward_calls(model: Transformer, source: Int[Tensor, "batch source"] | None, target: Int[Tensor, "batch target"]) -> Call:
    """The calls of one forward pass as a tree: every module that runs, and every public function of `transformer.network` that
    computes something. The root is the call of the model. A dropout that drops nothing does not run, and is missing.

    Args:
        model: the model to run. The model is not changed.
        source, target: token ids. The source is None for a decoder without an encoder.

    Raises:
        InputError: `model` is not a Transformer, or it cannot read these ids.
    """
    check_model(model)
    for side, ids in (("source", source), ("target", target)):
        if side == "target" or ids is not None:
            model.check_ids(side, ids)  # before the recorder describes them
    with torch.inference_mode(), _Recorder("forward") as recorder:
        model(source, target)
    return recorder.tree({id(module): (path, module) for path, module in model.named_modules()})


def find(function: str) -> Callable[..., Any]:
    """The function that a recorded call ran, found by its name.

    Args:
        function: `Call.function` of the call, such as `transformer.network.attention:MultiHeadAttention.forward`.

    Raises:
        PathError: there is no such function in this library or in `torch.nn`.
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
    """The docstring of the function that a call ran; for a constructor or `forward`, the docstring of the class. It may be
    inherited from a parent class; "" if there is no docstring.

    Raises:
        InputError: `call` is not a Call.
        PathError: the function of the call is not in this library or in `torch.nn`.
    """
    if not isinstance(call, Call):
        raise InputError("The call must be a Call, as `forward_calls` returns it, not {call!r}.", call=call)
    owner, _, method = call.function.rpartition(".")
    return inspect.getdoc(find(owner if method in ("forward", "__init__") else call.function)) or ""


def described(value: object) -> str:
    """A value as a short text. For a tensor, its shape, such as `[1, 9, 512]`, and its dtype unless that is float32."""
    if isinstance(value, Tensor):
        kind = "" if value.dtype == torch.float32 else f" {str(value.dtype).removeprefix('torch.')}"
        return f"{list(value.shape)}{kind}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # a mask, described by its first tensor
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
    """A call that has begun. `owner` is the module whose method was called; None for a function."""

    frame: FrameType
    owner: nn.Module | None
    name: str
    function: str
    inputs: tuple[tuple[str, str], ...]
    output: str = ""
    calls: list["_Open"] = field(default_factory=list)


class _Recorder:
    """Records the calls of this thread within its context: of `method` (`forward` or `__init__`) of all modules, and of every
    public function of the network, except those in `MODULES_WITHOUT_COMPUTATION`."""

    def __init__(self, method: str) -> None:
        self.method, self.roots = method, list[_Open]()
        self.stack: list[_Open] = []
        self.built: dict[int, object] = {}  # id → module whose constructor has begun; kept here, so that its id stays unique

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
            if id(owner) in self.built:  # the constructor of a parent class, called by the constructor of the class
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
        """The recorded calls as a tree. Successive equal calls of numbered modules become one call."""
        (root,) = self.roots
        return _placed(root, modules, "")


def _placed(call: _Open, modules: Modules, above: str) -> Call:
    path, module = modules[id(call.owner)] if call.owner is not None else (above, None)
    name, function, parameters = call.name if module is None else call.name.rpartition(".")[2], call.function, 0
    if module is not None and call.name == type(module).__name__:
        # The function is named by the class of the module itself, even if the class inherits the method from a parent class.
        name, method = call.name, function.rpartition(".")[2]
        function = f"{type(module).__module__}:{type(module).__qualname__}.{method}"
        parameters = sum(parameter.numel() for parameter in module.parameters())
    below = _folded([_placed(below, modules, path) for below in call.calls])
    return Call(path, name, function, call.inputs, call.output, parameters, 1, below)


def _folded(calls: Sequence[Call]) -> tuple[Call, ...]:
    """The calls, with successive equal calls of numbered modules replaced by their first call and their count."""
    folded: list[Call] = []
    for call in calls:
        last = folded[-1] if folded else None
        if last and call.path[-1:].isdecimal() and last.path[-1:].isdecimal() and _alike(last, call):
            folded[-1] = replace(last, count=last.count + 1)
        else:
            folded.append(call)
    return tuple(folded)


def _alike(first: Call, second: Call) -> bool:
    """Whether two calls, and the calls that they made, differ only in their paths."""
    same = all(getattr(first, name) == getattr(second, name) for name in ("name", "inputs", "output", "parameters"))
    return same and len(first.calls) == len(second.calls) and all(map(_alike, first.calls, second.calls))


def _given(called: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor or a method, without those that are the same object as their default."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(called).parameters.items()}
    return {name: value for name, value in arguments.items() if value is not defaults.get(name, inspect.Parameter.empty)}


class NoMemory(TorchFunctionMode):
    """A context in which new parameters of modules have shapes, but no memory and no values. Other threads are not affected."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.empty:
            on_meta: dict[str, Any] = {**kwargs, "device": "meta"}
            return func(*args, **on_meta)
        filled = args[0] if args else kwargs.get("tensor")
        if func.__name__ in INITIALIZERS and isinstance(filled, Tensor) and filled.is_meta:
            return filled
        return func(*args, **kwargs)
