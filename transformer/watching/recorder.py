"""Records the tensors of one pass of a module: inputs and outputs of its submodules, and its attentions."""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from transformer.errors import HeadlightError, InputError
from transformer.watching.operations import Attention, Operations, tensors_in


class Recorder(Operations):
    """A context that records the tensors of a module's pass under their paths, in the order of computation.

    Attributes:
        tensors: path → tensor. If the module later writes into a tensor, the recorded tensor is a copy from before.
        bases: path of an attention → the attention.
    """

    def __init__(self, inputs: dict[str, Tensor]) -> None:
        super().__init__(inputs)
        self.tensors: dict[str, Tensor] = {}
        self.bases: dict[str, Attention] = {}

    def keep(self, path: str, tensor: Tensor) -> None:
        """Store a tensor in `tensors` under a path."""
        self.tensors[path] = tensor

    def before_write(self, tensor: Any) -> None:
        if not isinstance(tensor, Tensor):
            return
        memory = tensor.untyped_storage().data_ptr()
        copies: dict[int, Tensor] = {}
        for path, kept in self.tensors.items():
            if kept.untyped_storage().data_ptr() == memory:
                self.tensors[path] = self._copy(kept, copies)
        for attention in self.attentions:
            for name in ("scores", "weights", "value", "applied", "output"):
                kept = getattr(attention, name)
                if isinstance(kept, Tensor) and kept.untyped_storage().data_ptr() == memory:
                    setattr(attention, name, self._copy(kept, copies))

    def _copy(self, kept: Tensor, copies: dict[int, Tensor]) -> Tensor:
        if id(kept) not in copies:
            copies[id(kept)] = kept.clone()
            self.origins[copies[id(kept)]] = self.origin(kept)
        return copies[id(kept)]

    def found(self, attention: Attention) -> None:
        base = attention.modules[-1] if attention.modules else ""
        own = sum(known == base or known.startswith(f"{base}.attention#" if base else "attention#") for known in self.bases)
        if own:
            base = f"{base}.attention#{own + 1}".removeprefix(".")
        self.bases[base] = attention
        # The weights mark the place of the attention in the order; its other tensors are put beside them.
        self.keep(tensor_path(base, "weights"), attention.weights)

    def entered(self, path: str, given: Any, named: dict[str, Any]) -> None:
        super().entered(path, given, named)
        call = self.modules[-1]
        for name, tensor in numbered(given):
            self.keep(tensor_path(call, f"input{name}"), tensor)
        for argument, value in named.items():
            for name, tensor in numbered(value):
                self.keep(tensor_path(call, f"input.{argument}{name}"), tensor)

    def left(self, result: Any) -> None:
        call = self.modules[-1]
        super().left(result)
        for name, tensor in numbered(result):
            self.keep(tensor_path(call, f"output{name}"), tensor)


def tensor_path(module: str, name: str) -> str:
    """The path of the tensor `name` of a module: `module.name`, or `name` for the outermost module."""
    return f"{module}.{name}" if module else name


def numbered(values: Any) -> Iterator[tuple[str, Tensor]]:
    """Yields, for every tensor in arguments or results, a suffix for its name and the tensor. The suffixes are `.0`, `.1`, …;
    if there is only one tensor, its suffix is empty."""
    listed = [*tensors_in(tuple(values.values()) if isinstance(values, dict) else (values,))]
    for place, tensor in enumerate(listed):
        yield f".{place}" if len(listed) > 1 else "", tensor


@contextmanager
def hooked(module: nn.Module, recorder: Operations) -> Generator[None]:
    """A context within which each call of a submodule in this thread also calls `recorder.entered` and `recorder.left`."""
    thread, handles = threading.get_ident(), []

    def before(path: str) -> Callable[..., None]:
        def hook(_module: nn.Module, given: Any, named: Any) -> None:
            if threading.get_ident() == thread:
                recorder.entered(path, given, named)

        return hook

    def after(_module: nn.Module, _given: Any, result: Any) -> None:
        if threading.get_ident() == thread:
            recorder.left(result)

    try:
        for path, each in module.named_modules():
            handles.append(each.register_forward_pre_hook(before(path), with_kwargs=True))
            handles.append(each.register_forward_hook(after))
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def unchanged(module: nn.Module) -> Generator[None]:
    """A context after which the module is as it was before: attributes, modes and buffers of every submodule. So are the random
    numbers and the setting of PyTorch's fast path, which is off within the context because it computes no weights."""
    state = [(each, vars(each).copy(), each._modules.copy(), each._buffers.copy()) for each in module.modules()]
    buffers = [(buffer, buffer.clone()) for buffer in module.buffers()]
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for each, attributes, modules, tables in state:
            vars(each).clear()
            vars(each).update(attributes)
            each._modules.clear()
            each._modules.update(modules)
            each._buffers.clear()
            each._buffers.update(tables)
        with torch.no_grad():
            for buffer, values in buffers:
                if not torch.equal(buffer, values):
                    buffer.copy_(values)


def run_recorded(module: nn.Module, recorder: Operations, call: Callable[[], Any]) -> Any:
    """The result of `call`, which runs the module. `recorder` records the tensors of the pass.

    The module runs twice. A module may keep tensors of its first pass for later passes, such as a table of positions in a
    dictionary. Because the first pass is not in inference mode, these are ordinary tensors. Tensors of the recorded pass, which
    is in inference mode, would make the next training step fail.

    Raises:
        InputError: the module fails.
    """
    try:
        with torch.no_grad(), unchanged(module):
            call()
        with torch.inference_mode(), unchanged(module), hooked(module, recorder), recorder:
            return call()
    except HeadlightError:
        raise
    except Exception as error:  # a module may raise anything
        problem = str(error).strip().splitlines()[:1] or [""]
        raise InputError(
            "Your module fails on these inputs ({kind}: {problem}).", kind=type(error).__name__, problem=problem[0]
        ) from error
