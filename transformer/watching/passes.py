"""One pass of a user's Transformer for `compare`: every tensor, and every use of a parameter, in the order of computation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from transformer.watching.operations import (
    POINTWISE,
    RESHAPES,
    SDPA,
    TRANSPOSES,
    Attention,
    Operations,
    einsum_labels,
    tensors_in,
)

# Operations that take vectors apart or put them together, but mix no numbers.
PARTS = {"chunk", "split", "split_with_sizes", "select", "index", "cat", "stack", "unbind", "tensor_split", "repeat", "roll"}
PASSING = (POINTWISE | RESHAPES | TRANSPOSES | PARTS) - {"add", "sub"}
ACTIVATIONS = {"relu", "gelu", "silu", "leaky_relu", "elu", "sigmoid"}
CONVOLUTIONS = ("conv1d", "convolution")


@dataclass(eq=False)
class Use:
    """An operation of a pass that uses parameters.

    Attributes:
        kind: `linear`; `norm`; `table`, a table whose rows are picked by ids of the module's input; `positions`, any other
            table, or a matrix that is added.
        weight: of a linear layer [out, in]; of a norm [d_model]; of a table [row, d_model].
        bias: the bias; None if there is none.
        names: names of the parameters.
        module: path of the module that ran.
        order: number of the operation, in the order of computation, counted from 1.
        output: the result.
        ids: the ids that pick the rows of a table; None if there are none.
        origin: names of the inputs of the module from which the input of a linear layer, or the ids of a table, are computed;
            empty for other kinds.
        reads: indices of the attentions (`Operations.attentions`) whose averages of values a linear layer reads.
        eps: ε of a norm; None if it is unknown.
    """

    kind: Literal["linear", "norm", "table", "positions"]
    weight: Tensor
    bias: Tensor | None
    names: frozenset[str]
    module: str
    order: int
    output: Tensor
    ids: Tensor | None = None
    origin: frozenset[str] = frozenset()
    reads: frozenset[int] = frozenset()
    eps: float | None = None


class Pass(Operations):
    """A context that records every tensor (`values`) and every use of a parameter (`uses`) of a module's pass. Dropout is off
    within it, so that the numbers can be compared; `dropped` is True if dropout would have been on.

    Args:
        inputs: name → tensor, for the inputs of the module.
        parameters: name → tensor, for its parameters and buffers.
    """

    def __init__(self, inputs: dict[str, Tensor], parameters: dict[str, Tensor]) -> None:
        super().__init__(inputs)
        self.values: list[Tensor] = []
        self.uses: list[Use] = []
        self.dropped = False
        self.parameters: Any = WeakTensorKeyDictionary()
        for name, tensor in parameters.items():
            self.parameters[tensor] = frozenset([name])
        self._made_by: Any = WeakTensorKeyDictionary()  # tensor → the use whose result it is a part of
        self._norm_of: Any = WeakTensorKeyDictionary()  # tensor → the norm, written by hand, that it is made by
        self._averages: Any = WeakTensorKeyDictionary()  # tensor → numbers of the attentions whose averages it has
        self._order = 0

    def made_by(self, tensor: Tensor | None) -> Use | None:
        """The linear layer that made a tensor, if its result was only reshaped, split, joined or changed number by number since
        then; otherwise None."""
        return None if tensor is None else self._made_by.get(tensor)

    def computed(self, name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name == "dropout" and args[2] and args[1] > 0:
            self.dropped = True
            return args[0].clone()
        if name == SDPA and (args[4] if len(args) > 4 else kwargs.get("dropout_p", 0)):
            self.dropped = True
            args = (*args[:4], 0.0, *args[5:]) if len(args) > 4 else args
            kwargs = kwargs if len(args) > 4 else kwargs | {"dropout_p": 0.0}
        return func(*args, **kwargs)

    def before_write(self, tensor: Any) -> None:
        if isinstance(tensor, Tensor):
            memory = tensor.untyped_storage().data_ptr()
            for place, kept in enumerate(self.values):
                if kept is not tensor and kept.untyped_storage().data_ptr() != memory:
                    continue
                self.values[place] = kept.clone()

    def same(self, view: Tensor, tensor: Tensor) -> None:
        super().same(view, tensor)
        if tensor in self._made_by:
            self._made_by[view] = self._made_by[tensor]

    def found(self, attention: Attention) -> None:
        self.values += [attention.scores, attention.weights]

    def done(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        self._order += 1
        self.values += [each for each in tensors_in((result,)) if each.is_floating_point()]
        given = [*tensors_in(args), *tensors_in(kwargs)]
        for output in tensors_in((result,)):
            if not self.origin(output):
                names = frozenset[str]().union(*(self.parameters.get(each, frozenset()) for each in given))
                if names:
                    self.parameters[output] = names
            self._pass_on(name, given, output)
        if isinstance(result, Tensor):
            self._use(name, args, result)
        for number, attention in enumerate(self.attentions):
            if attention.output is result:
                self._averages[result] = frozenset([number])

    def _pass_on(self, name: str, given: list[Tensor], output: Tensor) -> None:
        averages = frozenset[int]().union(*(self._averages.get(each, frozenset()) for each in given))
        if averages and name in PASSING | ACTIVATIONS:
            self._averages[output] = averages
        if name not in PASSING:
            return
        norm = next((self._norm_of[each] for each in given if each in self._norm_of), None)
        if norm is not None and norm.bias is None and output not in self._norm_of:  # scaled again, before its bias is added
            self._norm_of[output] = norm
        use = next((self._made_by[each] for each in given if each in self._made_by), None)
        if use is not None and output not in self._made_by:
            self._made_by[output] = use

    def _is_parameter(self, tensor: Any) -> bool:
        return isinstance(tensor, Tensor) and bool(self.parameters.get(tensor)) and not self.origin(tensor)

    def _use(self, name: str, args: Any, result: Tensor) -> None:
        if name == "linear" and self._is_parameter(args[1]):
            self._linear(args[1], args[2] if len(args) > 2 else None, args[0], result)
        elif name in ("matmul", "bmm", "mm") and self._is_parameter(args[1]) and args[1].ndim in (2, 3):
            weight = args[1].mT if args[1].ndim == 2 or len(args[1]) == 1 else args[1].mT.flatten(0, 1)
            self._linear(weight.reshape(-1, weight.shape[-1]), None, args[0], result, args[1])
        elif name == "addmm" and self._is_parameter(args[2]):
            self._linear(args[2].mT, args[0], args[1], result, args[2])
        elif name in CONVOLUTIONS and self._is_parameter(args[1]) and args[1].shape[2:] == (1,):
            self._linear(args[1][..., 0], args[2], args[0], result, args[1])
        elif name == "einsum" and len(args[1]) == 2:
            self._einsum(args[0], args[1], result)
        elif name in ("embedding", "index") and self._is_parameter(args[0]):
            ids = args[1] if name == "embedding" else next(iter(tensors_in(args[1])), None)
            if ids is not None and args[0].ndim == 2:
                origin = self.origin(ids)
                self._add("table" if origin else "positions", args[0], None, [args[0]], result, ids=ids, origin=origin)
        elif name == "layer_norm" and len(args) > 2 and self._is_parameter(args[2]):
            bias = args[3] if len(args) > 3 else None
            self._add("norm", args[2], bias, [args[2], bias], result, eps=args[4] if len(args) > 4 else 1e-5)
        elif name in ("mul", "add") and len(args) > 1:
            self._by_hand(name, args, result)

    def _by_hand(self, name: str, args: tuple[Any, ...], result: Tensor) -> None:
        """Record a bias, a norm or positions, if the module itself multiplies or adds a parameter."""
        own = [each for each in args[:2] if self._is_parameter(each)]
        others = [each for each in args[:2] if isinstance(each, Tensor) and self.origin(each)]
        if len(own) != 1 or len(others) != 1:
            return
        parameter, other = own[0], others[0]
        if name == "add" and parameter.squeeze().ndim == 2:
            self._add("positions", parameter.squeeze(), None, [parameter], result)
        elif parameter.squeeze().ndim != 1:
            return
        elif name == "mul" and parameter.numel() == other.shape[-1]:
            self._norm_of[result] = self._add("norm", parameter.flatten(), None, [parameter], result)
        elif name == "add":
            before = self._norm_of.get(other) or next((use for use in reversed(self.uses) if use.output is other), None)
            if before is not None and before.bias is None and before.kind in ("linear", "norm"):
                before.bias, before.output = parameter.flatten(), result
                before.names |= self.parameters[parameter]
                if before.kind == "linear":
                    self._made_by[result] = before

    def _einsum(self, equation: str, factors: list[Tensor], result: Tensor) -> None:
        own = [place for place, each in enumerate(factors) if self._is_parameter(each)]
        if len(own) != 1 or factors[own[0]].ndim not in (2, 3):
            return
        *labels, output = einsum_labels(equation, factors[0], factors[1])
        weight, of_weight, other = factors[own[0]], labels[own[0]], labels[1 - own[0]]
        out = [label for label in output if label in of_weight and label not in other]
        summed = [label for label in of_weight if label in other and label not in output]
        if len(out) + len(summed) != len(of_weight) or not out or not summed:
            return
        # The labels in the order that they have in the weight: heads, then the dimensions of a head.
        if len(summed) == 1:
            out.sort(key=of_weight.index)
        ordered = weight.permute([of_weight.index(label) for label in (*out, *summed)])
        sizes = [weight.shape[of_weight.index(label)] for label in out]
        columns = 1
        for size in sizes:
            columns *= size
        self._linear(ordered.reshape(columns, -1), None, factors[1 - own[0]], result, weight)

    def _linear(
        self, weight: Tensor, bias: Tensor | None, given: Tensor, result: Tensor, parameter: Tensor | None = None
    ) -> None:
        reads = self._averages.get(given, frozenset())
        use = self._add(
            "linear",
            weight,
            bias,
            [weight if parameter is None else parameter, bias],
            result,
            origin=self.origin(given),
            reads=reads,
        )
        self._made_by[result] = use

    def _add(self, kind: Any, weight: Tensor, bias: Tensor | None, named: list[Any], output: Tensor, **more: Any) -> Use:
        names = frozenset[str]().union(*(self.parameters.get(each, frozenset()) for each in named if each is not None))
        use = Use(kind, weight, bias, names, self.modules[-1] if self.modules else "", self._order, output, **more)
        self.uses.append(use)
        return use
