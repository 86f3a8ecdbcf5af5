"""Operations of torch while a module runs: which inputs a tensor is computed from, and which products become attention scores.

`TorchDispatchMode` gets every operation of torch itself, however the module calls it: `F.softmax`, `nn.Softmax` and
`Tensor.softmax` are one operation. In inference mode it also gets whole operations such as `einsum` and
`scaled_dot_product_attention`, before torch takes them apart.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

PRODUCTS = {"matmul": 0, "bmm": 0, "baddbmm": 1}  # operation → place of its first factor
# Operations after which scores are still scores of the same queries and keys.
POINTWISE = {"mul", "div", "add", "sub", "rsub", "masked_fill", "where", "clamp", "clamp_min", "tanh", "exp", "clone", "to"}
POINTWISE |= {"contiguous", "_to_copy", "type_as", "alias", "detach", "dropout", "nan_to_num", "maximum", "minimum", "neg"}
POINTWISE |= {"index_put", "copy", "true_divide", "multiply", "subtract", "divide", "tril", "triu", "masked_scatter"}
RESHAPES = {"view", "reshape", "unflatten", "flatten", "unsqueeze", "squeeze", "_unsafe_view", "slice", "expand"}
TRANSPOSES = {"transpose", "permute", "mT", "swapaxes", "movedim"}
SDPA = "scaled_dot_product_attention"


@dataclass(frozen=True, eq=False)
class Product:
    """How a tensor of scores or weights was computed from a product of queries and keys.

    Attributes:
        query, key: the factors, [.., query, d_head] and [.., key, d_head].
        modules: paths of the modules that were running when the product was computed, from the outermost.
        axes: for each axis of the tensor, `query`, `key`, or for any other axis a number, as a string.
        exponent: the scores, if the tensor is their exponential; None otherwise.
        weights: the index in `Operations.attentions` of the attention whose weights the tensor is; None for scores.
    """

    query: Tensor
    key: Tensor
    modules: tuple[str, ...]
    axes: tuple[str, ...]
    exponent: Tensor | None = None
    weights: int | None = None


@dataclass(eq=False)
class Attention:
    """One attention that was recognised in a pass. Its fields are filled while the module runs.

    Attributes:
        product: the product of its queries and keys.
        scores, weights: the tensors before and after softmax, with the axes `product.axes`.
        modules: paths of the modules that were running both at the product and at the softmax.
        value: [.., key, d_head]; None if the weights were not multiplied with values.
        applied: the weights that were multiplied with the values, if they differ from `weights`, for example by dropout.
        output: the averages of the values.
        value_axes, output_axes: names of the axes of `value` and `output`, if the module used einsum. None for the usual order:
            [.., key, d_head] and [.., query, d_head], with the other axes of the weights before.
    """

    product: Product
    scores: Tensor
    weights: Tensor
    modules: tuple[str, ...]
    value: Tensor | None = None
    applied: Tensor | None = None
    output: Tensor | None = None
    value_axes: tuple[str, ...] | None = None
    output_axes: tuple[str, ...] | None = None


class Operations(TorchDispatchMode):
    """A context in which a module runs. It recognises attentions, and changes nothing.

    Args:
        inputs: name → tensor, for the inputs of the module.

    Attributes:
        modules: paths of the modules that are running now; `entered` and `left` update it.
        attentions: every attention so far.
        products, origins: tensor → its `Product`; tensor → names of the inputs that it is computed from.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # the compiler, which is not used here, would take two seconds to import

    def __init__(self, inputs: dict[str, Tensor]) -> None:
        super().__init__()
        self.modules: list[str] = []
        self.calls: Counter[str] = Counter()
        self.attentions: list[Attention] = []
        self.products: Any = WeakTensorKeyDictionary()
        self.origins: Any = WeakTensorKeyDictionary()
        self.head_first: Any = WeakTensorKeyDictionary()
        for name, tensor in inputs.items():
            self.origins[tensor] = self.origin(tensor) | {name}

    def entered(self, path: str, given: Any, named: dict[str, Any]) -> None:
        """Called before each call of the submodule at `path`, with its positional and keyword arguments. In `modules`, the
        second call of a submodule has the path `path#2`."""
        self.calls[path] += 1
        self.modules.append(path if self.calls[path] == 1 else f"{path}#{self.calls[path]}")

    def left(self, result: Any) -> None:
        """Called after each call of a submodule, with its result."""
        self.modules.pop()

    def origin(self, tensor: Tensor) -> frozenset[str]:
        """The names of the inputs from which a tensor is computed."""
        return self.origins.get(tensor, frozenset())

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name.removeprefix("aten::").rstrip("_")
        if func._schema.is_mutable:
            self.before_write(args[0] if args else None)
        result = self.computed(name, func, args, kwargs)
        given = [*tensors_in(args), *tensors_in(kwargs)]
        origin = frozenset[str]().union(*map(self.origin, given))
        for output in tensors_in((result,)):
            self.origins[output] = origin | self.origin(output)
        self._follow(name, args, kwargs, result)
        self.done(name, args, kwargs, result)
        return result

    def computed(self, name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of the operation `func` of torch, called `name`. A subclass may change the arguments."""
        return func(*args, **kwargs)

    def before_write(self, tensor: Any) -> None:
        """Called before an operation writes into a tensor."""

    def done(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Called after each operation of torch, with its name, arguments and result."""

    def same(self, view: Tensor, tensor: Tensor) -> None:
        """Record that `view`, which this class made from `tensor`, is computed from the same inputs."""
        self.origins[view] = self.origin(tensor)

    def found(self, attention: Attention) -> None:
        """Called for each recognised attention, when its weights are known."""

    def _follow(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Recognise products, the tensors made of them, and attentions."""
        if name == SDPA:
            self._fused(args, kwargs, result)
        elif name in PRODUCTS or name == "einsum":
            self._multiplied(name, args, result)
        elif name in ("softmax", "_softmax", "div") and isinstance(result, Tensor):
            self._normalised(name, args, kwargs, result)
        elif name == "cat" and isinstance(result, Tensor) and (args[1:] or (kwargs.get("dim", 0),))[0] == 0:
            self.head_first[result] = len(args[0])
        if isinstance(result, Tensor) and result not in self.products:
            self._inherit(name, args, result)

    def _multiplied(self, name: str, args: tuple[Any, ...], result: Tensor) -> None:
        if name == "einsum":
            factors = [*args[1]]
            if len(factors) != 2:
                return
        else:
            first = PRODUCTS[name]
            factors = list(args[first : first + 2])
        for weights, value in (factors, factors[::-1]) if name == "einsum" else (factors,):
            known = self.products.get(weights)
            if known is not None and known.weights is not None:
                attention = self.attentions[known.weights]
                if attention.output is None:
                    attention.value, attention.output = value, result
                    attention.applied = None if weights is attention.weights else weights
                    if name == "einsum":
                        attention.value_axes, attention.output_axes = averaged_axes(args[0], factors, weights, known.axes)
                return
        if name == "einsum":
            product = einsum_product(args[0], *factors, modules=tuple(self.modules))
        else:
            axes = default_axes(result.ndim)
            product = Product(factors[0], factors[1].mT, tuple(self.modules), axes) if factors[1].ndim > 1 else None
        # A product with a parameter is a linear layer. Its result depends on an input only through the first factor.
        if product is not None and self.origin(factors[1]) and result.ndim >= 2:
            self.same(product.query, factors[0])
            self.same(product.key, factors[1])
            self.products[result] = product

    def _normalised(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], weights: Tensor) -> None:
        product = self.products.get(args[0])
        if product is not None and product.weights is not None and name != "div":
            self.products[weights] = product  # a second softmax
            return
        if product is None or product.weights is not None or (name == "div" and product.exponent is None):
            return
        if name == "div" and not (isinstance(args[1], Tensor) and args[1].ndim == weights.ndim and 1 in args[1].shape):
            return
        modules = tuple(common(product.modules, self.modules))
        attention = Attention(product, args[0] if product.exponent is None else product.exponent, weights, modules)
        self.products[weights] = replace(product, weights=len(self.attentions))
        self.attentions.append(attention)
        self.found(attention)

    def _fused(self, args: tuple[Any, ...], kwargs: dict[str, Any], result: Tensor) -> None:
        """Record the attention of `scaled_dot_product_attention`. Its weights are computed again from the arguments, because
        torch does not return them."""
        named = dict(zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal"), args, strict=False)) | kwargs
        query, key, value = named["query"], named["key"], named["value"]
        repeats = query.shape[-3] // key.shape[-3] if named.get("enable_gqa") and query.ndim > 2 else 1
        key, value = (each.repeat_interleave(repeats, -3) if repeats > 1 else each for each in (key, value))
        scale = named.get("scale")
        scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
        mask = named.get("attn_mask")
        if named.get("is_causal"):
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
        # A row without any key gets zeros, as in torch's own kernels.
        weights = scores.softmax(-1).nan_to_num(0.0) if mask is not None else scores.softmax(-1)
        product = Product(query, key, tuple(self.modules), default_axes(scores.ndim))
        attention = Attention(product, scores, weights, tuple(self.modules), value, None, result)
        self.attentions.append(attention)
        self.found(attention)

    def _inherit(self, name: str, args: tuple[Any, ...], result: Tensor) -> None:
        """If an operation only scales, masks, reshapes or transposes scores, record that its result is scores too."""
        source = next((each for each in tensors_in(args) if each in self.products), None)
        if source is None or name not in POINTWISE | RESHAPES | TRANSPOSES:
            return
        product, axes = self.products[source], None
        if name in TRANSPOSES and result.ndim == source.ndim:
            axes = moved_axes(name, args, product.axes)
        elif result.ndim == len(product.axes):
            axes = product.axes
        exponent = source if name == "exp" else product.exponent
        self.products[result] = replace(product, axes=axes or default_axes(result.ndim), exponent=exponent)


def tensors_in(values: Any) -> Iterator[Tensor]:
    """Yields every tensor in arguments or results, also in lists and dictionaries."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, dict):
        for value in values.values():
            yield from tensors_in(value)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from tensors_in(value)


def common(one: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    """Yields the longest common prefix of two sequences, item by item."""
    for left, right in zip(one, other, strict=False):
        if left != right:
            return
        yield left


def default_axes(count: int) -> tuple[str, ...]:
    """The usual names for `count` axes: numbers from `0`, and for the last two `query` and `key`."""
    return (*map(str, range(count - 2)), "query", "key")


def moved_axes(name: str, args: tuple[Any, ...], axes: tuple[str, ...]) -> tuple[str, ...] | None:
    """The names `axes` in their order after the transposition `name`, an operation of torch with the arguments `args`. None for
    an operation that is not handled, such as `movedim`."""
    if name == "mT":
        return (*axes[:-2], axes[-1], axes[-2])
    if name == "permute":
        return tuple(axes[place] for place in args[1])
    if name in ("transpose", "swapaxes"):
        moved = [*axes]
        moved[args[1]], moved[args[2]] = axes[args[2]], axes[args[1]]
        return tuple(moved)
    return None


def einsum_product(equation: str, first: Tensor, second: Tensor, modules: tuple[str, ...]) -> Product | None:
    """The queries and keys of an einsum that computes scores, such as `bqhd,bkhd->bhqk`; None for any other einsum. `modules`
    are the paths of the modules that are running."""
    one, other, output = einsum_labels(equation, first, second)
    own = [label for label in output if label in one and label not in other]
    others = [label for label in output if label in other and label not in one]
    shared = [label for label in output if label in one and label in other]
    summed = [label for label in one if label not in output]
    if len(own) != 1 or len(others) != 1 or len(summed) != 1:
        return None
    query, key = (
        tensor.permute([labels.index(label) for label in (*shared, position, *summed)])
        for tensor, labels, position in ((first, one, own[0]), (second, other, others[0]))
    )
    numbers = {own[0]: "query", others[0]: "key"} | {label: str(place) for place, label in enumerate(shared)}
    return Product(query, key, modules, tuple(numbers[label] for label in output))


def averaged_axes(
    equation: str, factors: Sequence[Tensor], weights: Tensor, axes: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the axes of the values and of their averages, for an einsum of weights and values in any order (`factors`).
    `axes` are the names of the axes of the weights."""
    one, other, output = einsum_labels(equation, factors[0], factors[1])
    labels, of_value = (one, other) if weights is factors[0] else (other, one)
    known = dict(zip(labels, axes, strict=False))
    value, averages = (tuple(known.get(label, "d_head") for label in each) for each in (of_value, output))
    return value, averages


def einsum_labels(equation: str, first: Tensor, second: Tensor) -> tuple[str, str, str]:
    """The labels of both factors and of the result of an einsum, with letters in place of `...`. The result has no labels if
    the equation does not name them."""
    left, _, output = equation.replace(" ", "").partition("->")
    one, _, other = left.partition(",")
    more = (tensor.ndim - len(labels) + 3 for tensor, labels in ((first, one), (second, other)) if "..." in labels)
    letters = [chr(0x3B1 + place) for place in range(max(more, default=0))]  # Greek, so that no label of the equation is equal

    def spelled(labels: str, count: int) -> str:
        return labels.replace("...", "".join(letters[len(letters) - count :]))

    one, other = (spelled(labels, each.ndim - len(labels) + 3) for labels, each in ((one, first), (other, second)))
    return one, other, spelled(output, len(letters))
