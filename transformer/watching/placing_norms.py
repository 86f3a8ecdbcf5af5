"""Norms of a user's Transformer in a copy of our `Transformer`: which norm of the user's network becomes which of ours."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer.watching.passes import Pass, Use
from transformer.watching.placed import Placed
from transformer.watching.placing_attentions import Group

# Path of a module of theirs → weight, bias and names.
Unused = dict[str, tuple[Tensor, Tensor | None, frozenset[str]]]


def place_norms(
    placed: Placed, run: Pass, mine: nn.Module, layers: Sequence[Any], groups: Sequence[Group], others: Sequence[Use]
) -> None:
    """Copy the norms of the user's network into `placed`, each to a sub-layer of our network. For a norm inside the module of a
    layer, its order in the layer decides which; for any other norm, the sub-layer before or after it.

    Args:
        placed: the copy of the user's network in our form, with the weights found so far; it is changed.
        run, mine: a recorded pass of the user's network, and that network.
        layers: (kind of attention, number of its layer from 0) for each attention in `groups`.
        groups: the linear layers of each attention.
        others: the linear layers outside of attentions.
    """
    width = placed.config.d_model
    norms = [use for use in run.uses if use.kind == "norm" and use.weight.shape == (width,)]
    unused = _unused_norms(run, mine, width)
    in_decoder = frozenset[str]().union(*(use.names for use in norms if "target" in run.origin(use.output)))
    for stack in [stack for stack, ran in placed.layers.items() if ran]:
        own = [use for use in norms if ("target" in run.origin(use.output)) == (stack == "decoder")]
        sublayers = _sublayers(placed, stack, layers, groups, others)
        if stack == "encoder" and len(own) > len(sublayers) + placed.config.final_norm:
            own = [use for use in own if not use.names & in_decoder]  # a layer of the decoder may normalise the memory
        _fill_stack(placed, stack, sublayers, own, unused)


def _sublayers(
    placed: Placed, stack: str, layers: Sequence[Any], groups: Sequence[Group], others: Sequence[Use]
) -> dict[str, tuple[int, int]]:
    """Path of each sub-layer of a stack → numbers of the operations (`Use.order`) with which it begins and ends."""
    result = {}
    first = 0 if stack == "encoder" else placed.layers["encoder"]
    for layer in range(placed.layers[stack]):
        for (kind, number), group in zip(layers, groups, strict=True):
            if kind.stack == stack and number == layer:
                begin = min(use.order for use in group.branches["query"] or group.branches["key"])
                result[str(kind.path(layer))] = begin, begin + 1 if group.output is None else group.output.order
        up, down = others[2 * (first + layer) : 2 * (first + layer) + 2]
        result[f"{stack}.layers.{layer}.feed_forward"] = up.order, down.order
    return result


def _fill_stack(
    placed: Placed, stack: str, sublayers: Mapping[str, tuple[int, int]], own: Sequence[Use], unused: Unused
) -> None:
    """Give each sub-layer of a stack its norm, and the stack its final norm. `own` are the norms that ran in this stack of the
    user's network."""
    slots, filled = [*sublayers], dict[str, Use]()
    modules = {slot: _layer_module(placed, slot.rpartition(".")[0], slots) for slot in slots}
    for layer in dict.fromkeys(slot.rpartition(".")[0] for slot in slots):
        of_layer = [slot for slot in slots if slot.rpartition(".")[0] == layer]
        module = modules[of_layer[0]]
        norms = [use for use in own if module and f"{use.module}.".startswith(f"{module}.")]
        if len(norms) > len(of_layer):  # a norm may be used twice
            norms = list({use.names: use for use in reversed(norms)}.values())[::-1]
        if len(norms) == len(of_layer):
            filled |= dict(zip(of_layer, norms, strict=True))
    known = {use.names for use in filled.values()}
    rest = [use for use in own if use.names not in known]
    first_begin = min(begin for begin, _ in sublayers.values())
    pre = any(use.order < first_begin for use in rest)
    for use in rest:
        ended = sum(end < use.order for _, end in sublayers.values())
        place = ended if pre else ended - 1
        outside = all(module and not f"{use.module}.".startswith(f"{module}.") for module in modules.values())
        if outside and ended in (0, len(slots)):
            place = -1
        if 0 <= place < len(slots) and slots[place] not in filled:
            filled[slots[place]] = use
        elif ended == len(slots) and placed.config.final_norm:
            _put_norm(placed, f"{stack}.norm", use)
        else:
            placed.extra_norms[f"{stack}.norm" if ended == len(slots) else f"{stack} start"] = use.weight, use.bias
            placed.names[f"extra {stack} {ended}"] = use.names
    for slot in slots:
        if slot in filled:
            _put_norm(placed, f"{slot}_add_norm.norm", filled[slot])
        else:
            _eliminate(placed, f"{slot}_add_norm.norm", unused, modules[slot])
    if placed.config.final_norm and f"{stack}.norm.weight" not in placed.tensors:
        _eliminate(placed, f"{stack}.norm", unused, stack)


def _put_norm(placed: Placed, path: str, use: Use) -> None:
    placed.put(f"{path}.weight", use.weight, use.names)
    placed.put(f"{path}.bias", use.bias, use.names)
    if use.eps is not None:
        placed.eps[path] = use.eps


def _layer_module(placed: Placed, layer: str, slots: Sequence[str]) -> str | None:
    """The path of the module of the user's network that corresponds to a layer of ours; None if its layers are not modules of
    their own."""

    def prefix(path: str) -> str:
        words = [name.split(".") for ours, names in placed.names.items() if ours.startswith(f"{path}.") for name in names]
        shared = []
        for parts in zip(*words, strict=False):
            if len({*parts}) > 1:
                break
            shared.append(parts[0])
        return ".".join(shared)

    prefixes = {path: prefix(path) for path in dict.fromkeys(slot.rpartition(".")[0] for slot in slots)}
    own = prefixes[layer]
    alone = all(not f"{other}.".startswith(f"{own}.") for path, other in prefixes.items() if path != layer)
    return own if own and alone else None


def _unused_norms(run: Pass, mine: nn.Module, width: int) -> Unused:
    """Modules of `mine` that have the weights of a norm but did not run."""
    used = {name for use in run.uses for name in use.names}
    unused: Unused = {}
    for path, module in mine.named_modules():
        own = {f"{path}.{name}": each.detach() for name, each in module.named_parameters(recurse=False)}
        if own and len(own) <= 2 and all(each.shape == (width,) for each in own.values()) and not own.keys() & used:
            weight, *bias = own.values()
            unused[path] = (weight, bias[0] if bias else None, frozenset(own))
    return unused


def _eliminate(placed: Placed, path: str, unused: Unused, module: str | None) -> None:
    """Place weights for a norm of ours that the pass of the user's network lacks: those of a norm in `unused`, if possible of
    one inside `module`, and remove that norm from `unused`; if `unused` is empty, the weight 1 and no bias."""
    near = [name for name in unused if module and name.startswith(f"{module}.")] or [*unused]
    weight, bias, names = unused.pop(near[0]) if near else (torch.ones(placed.config.d_model), None, frozenset[str]())
    placed.put(f"{path}.weight", weight, names)
    placed.put(f"{path}.bias", bias, names)
