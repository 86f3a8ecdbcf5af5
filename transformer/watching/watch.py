"""`watch`: the tensors and attentions of any `torch.nn.Module`, without a change to its code."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from transformer.errors import InputError
from transformer.tracing.trace import Activation, Tokens
from transformer.validation import as_list
from transformer.watching.axis_names import Sizes, main_inputs, sizes_of
from transformer.watching.operations import Attention
from transformer.watching.recorder import Recorder, run_recorded, tensor_path
from transformer.watching.watched import HIDDEN, Watched


def watch(
    module: nn.Module,
    *inputs: Any,
    names: Mapping[str, str] | None = None,
    tokens: Any = None,
    **keywords: Any,
) -> Watched:
    """The tensors of one forward pass of a module: inputs and outputs of every submodule, and its attentions.

        watched = watch(my_transformer, source, target)
        watched.attentions                       # ("encoder.layers.0.attention", …)
        watched.weights("encoder.layers.0.attention")[0]

    An attention is recognised without help if a softmax is computed from a product of two tensors, scaled and masked in any
    way, or if the module calls torch's `scaled_dot_product_attention`. The pass runs in inference mode; modes, weights, buffers
    and random numbers of the module stay as they are. In training mode, the tensors include the effect of dropout.

    Args:
        module: any module.
        inputs, keywords: positional and keyword arguments with which the module is called.
        names: path of a tensor → the names of its axes, separated by spaces: `{"attn.output.1": "batch head query key"}`. If
            the names end in `query key`, the tensor counts as attention weights, even if it was not recognised.
        tokens: labels of the tokens: a list of strings, or one such list for each text of the batch, or `{"source": …,
            "target": …}` with either form. Each list is as long as the module's input, padding included.

    Raises:
        InputError: `module` is not a module, or its parameters have no values (`check_module`); the module fails; or `tokens`
            or `names` have another form.
        PathError: `names` has a path that the module does not have; the message lists the nearest ones.
    """
    check_module("module", module)
    labels, given = as_labels(tokens), main_inputs(module, inputs, keywords)
    sizes = sorted({size for tensor in given.values() for size in tensor.shape})
    if sizes and (wrong := [len(row) for rows in labels.values() for row in rows if len(row) not in sizes]):
        template = "tokens has a row of {count} tokens; the inputs of the module have axes of the sizes {sizes}."
        raise InputError(template, count=wrong[0], sizes=sizes)
    if sizes and (rows := [len(rows) for rows in labels.values() if 1 < len(rows) not in sizes]):
        template = "tokens has {count} rows, one for each text; the inputs of the module have axes of the sizes {sizes}."
        raise InputError(template, count=rows[0], sizes=sizes)
    recorder = Recorder(given)
    run_recorded(module, recorder, lambda: module(*inputs, **keywords))
    return watched_of(module, recorder, given, labels, as_names(names))


def check_module(name: str, module: object) -> None:
    """Check that a value is a module whose parameters have values.

    Args:
        name: the name of the argument, for the error message.
        module: the value.

    Raises:
        InputError: `module` is not a module, was compiled by `torch.jit`, has lazy parameters, or is on the device meta.
    """
    if not isinstance(module, nn.Module):
        raise InputError("{name} must be a torch.nn.Module, not {module!r}.", name=name, module=module)
    if isinstance(module, torch.jit.ScriptModule):
        raise InputError("{name} is compiled by torch.jit; give the module that it was compiled from.", name=name)
    tensors = (*module.parameters(), *module.buffers())
    if any(map(is_lazy, tensors)):
        raise InputError("{name} has parameters without values (a lazy module); run it once before.", name=name)
    if any(each.is_meta for each in tensors):
        raise InputError("{name} is on the device meta, so it has no numbers.", name=name)


def as_labels(tokens: Any) -> dict[str, Tokens]:
    """The labels of the tokens: a dict from side (`source` or `target`) to rows of labels, one for each text of the batch or
    one for all texts. Empty for None. A list without sides counts for both sides.

    Raises:
        InputError: `tokens` has a form that `watch` does not allow.
    """
    if tokens is None:
        return {}
    sides = tokens if isinstance(tokens, Mapping) else {"source": tokens, "target": tokens}
    if not sides or not set(sides) <= {"source", "target"}:
        raise InputError("tokens has the sides {sides!r}; allowed are source and target.", sides=[*sides])
    return {side: _rows(given) for side, given in sides.items()}


def _rows(given: Any) -> Tokens:
    listed = None if isinstance(given, str) else as_list(given)
    if listed and all(isinstance(token, str) for token in listed):
        return (tuple(listed),)
    rows = [None if isinstance(row, str) else as_list(row) for row in listed or ()]
    if not rows or not all(row and all(isinstance(token, str) for token in row) for row in rows):
        raise InputError("tokens must be a list of texts, or a list of such lists, not {tokens!r}.", tokens=given)
    return tuple(tuple(row or ()) for row in rows)


def as_names(names: Any) -> dict[str, tuple[str, ...]]:
    """A dict from the path of a tensor to the names of its axes, from names separated by spaces. Empty for None.

    Raises:
        InputError: `names` is not a mapping from texts to texts.
    """
    names = {} if names is None else names
    if not isinstance(names, Mapping) or not all(isinstance(text, str) for pair in names.items() for text in pair):
        message = "names is {names!r}; it must map paths to axes, such as {{'attn.output': 'batch head query key'}}."
        raise InputError(message, names=names)
    return {path: tuple(axes.split()) for path, axes in names.items()}


def watched_of(
    module: nn.Module,
    recorder: Recorder,
    given: Mapping[str, Tensor],
    labels: Mapping[str, Tokens],
    names: Mapping[str, tuple[str, ...]],
) -> Watched:
    """The tensors of a pass that `recorder` has recorded. Their axes have the names in `names`, or else names that are
    recognised from the inputs `given` (name → tensor) and the `labels` of the tokens. Raises the same errors as `watch`."""
    sizes = sizes_of(module, given, labels)
    _check_lengths(labels, sizes.lengths)
    attentions = {base: _Parts.of(base, attention, recorder, sizes) for base, attention in recorder.bases.items()}
    of_weights = {tensor_path(base, "weights"): parts for base, parts in attentions.items()}
    activations: dict[str, Activation] = {}
    for path, tensor in recorder.tensors.items():
        if path in of_weights:
            activations |= {part.path: part for part in of_weights[path].activations}
        else:
            activations[path] = Activation(path, sizes.names(tensor.shape, recorder.origin(tensor)), tensor)
    sides = {base: parts.sides for base, parts in attentions.items()}
    watched = Watched(activations, tuple(attentions), sides, labels)
    for path, axes in names.items():
        watched = _declared(watched, path, axes, sizes, recorder)
    return watched


def _check_lengths(labels: Mapping[str, Tokens], lengths: Mapping[str, int]) -> None:
    """Check that rows of tokens are as long as the text of their side. If both sides have the same list, its rows need to fit
    only one side.

    Raises:
        InputError: a row is shorter or longer.
    """
    both = len(labels) == 2 and len({*labels.values()}) == 1
    for side, rows in labels.items():
        fitting = {*lengths.values()} if both else {lengths.get(side, len(rows[0]))}
        wrong = [len(row) for row in rows if fitting and len(row) not in fitting]
        if wrong:
            template = "tokens has a row of {count} tokens for the {side}, which is {length} tokens long in this module."
            raise InputError(template, count=wrong[0], side=side, length=" or ".join(map(str, sorted(fitting))))


def _declared(watched: Watched, path: str, axes: tuple[str, ...], sizes: Sizes, recorder: Recorder) -> Watched:
    """The watched pass with the axes `axes` for the tensor at `path`. Axes that end in `query key` make the tensor the weights
    of an attention."""
    activation = watched[path]
    if len(axes) != len(activation.shape) or len({*axes}) != len(axes):
        message = "{path} has the shape {shape}; the axes {axes!r} must be one different name for each size."
        raise InputError(message, path=path, shape=activation.shape, axes=" ".join(axes))
    activations = {**watched.activations, activation.path: Activation(activation.path, axes, activation.stored)}
    is_weights = activation.path in {tensor_path(base, "weights") for base in watched.attentions}
    sides, attentions = dict(watched.sides), watched.attentions
    if axes[-2:] == ("query", "key") and not is_weights:
        lengths = {length: side for side, length in sizes.lengths.items()}
        side = sizes.side(recorder.origin(activation.values))
        shape = activation.shape
        of = [side if sizes.lengths.get(side) == size else lengths.get(size, side) for size in shape[-2:]]
        sides[activation.path] = (of[0], of[1])
        attentions = tuple(dict.fromkeys((*attentions, activation.path)))
    return Watched(activations, attentions, sides, watched.tokens)


class _Parts:
    """The activations of one attention, and the sides (`source` or `target`) of its queries and keys."""

    def __init__(self, base: str, sides: tuple[str, str]) -> None:
        self.base, self.sides = base, sides
        self.activations: list[Activation] = []

    @classmethod
    def of(cls, base: str, attention: Attention, recorder: Recorder, sizes: Sizes) -> "_Parts":
        """The parts of the attention at the path `base`. If the number of heads was unknown, it is set in `sizes`."""
        product = attention.product
        parts = cls(base, (sizes.side(recorder.origin(product.query)), sizes.side(recorder.origin(product.key))))
        axes = product.axes
        leading = _leading(attention, recorder, sizes)
        named = dict(zip([axis for axis in axes if axis not in ("query", "key")], leading[0], strict=False))
        scores_axes = tuple(named.get(axis, axis) for axis in axes)
        if "head" in scores_axes and sizes.heads is None:
            sizes.heads = attention.weights.shape[scores_axes.index("head")]
        mask = attention.scores > HIDDEN
        value_axes, output_axes = (
            (*leading[0], end, "d_head") if given is None else tuple(named.get(axis, axis) for axis in given)
            for end, given in (("key", attention.value_axes), ("query", attention.output_axes))
        )
        everything = [
            ("query", product.query, (*leading[0], "query", "d_head")),
            ("key", product.key, (*leading[0], "key", "d_head")),
            ("value", attention.value, value_axes),
            ("scores", attention.scores, scores_axes),
            ("mask", mask if not mask.all() else None, scores_axes),
            ("weights", attention.weights, scores_axes),
            ("applied_weights", attention.applied, scores_axes),
            ("head_output", attention.output, output_axes),
        ]
        for name, tensor, names in everything:
            if tensor is None:
                continue
            if leading[1] and tensor.ndim == len(names):
                tensor, names = tensor.unflatten(0, leading[1]), (*leading[2], *names[1:])
            if tensor.ndim != len(names) or len({*names}) < len(names):  # a factor that is the same for all heads
                names = sizes.names(tensor.shape, recorder.origin(tensor))
            parts.activations.append(Activation(tensor_path(base, name), names, tensor))
        return parts


def _leading(
    attention: Attention, recorder: Recorder, sizes: Sizes
) -> tuple[tuple[str, ...], tuple[int, int] | None, tuple[str, ...]]:
    """The names of the axes before query and key; and if one axis joins texts and heads, the sizes and the names of the two
    parts, otherwise None and ()."""
    weights, count = attention.weights, attention.weights.ndim - 2
    others = [size for axis, size in zip(attention.product.axes, weights.shape, strict=True) if axis not in ("query", "key")]
    if count == 2:
        reverse = others[0] != sizes.batch and others[1] == sizes.batch
        return (("head", "batch") if reverse else ("batch", "head")), None, ()
    if count == 1:
        size, batch = others[0], sizes.batch
        if batch is None or size == batch or size % batch:
            return (("batch",) if batch is not None and size == batch else ("head",)), None, ()
        heads = recorder.head_first.get(attention.product.query)
        if heads is not None and heads * batch == size:
            return ("axis 0",), (heads, batch), ("head", "batch")
        return ("axis 0",), (batch, size // batch), ("batch", "head")
    return tuple(["batch", *(f"axis {place}" for place in range(1, count))][:count]), None, ()
