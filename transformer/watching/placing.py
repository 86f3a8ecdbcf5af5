"""Weights of somebody's Transformer in a copy of our network: which tensor of theirs is which of ours.

Names decide between query, key and value. Everything else follows from the pass itself: the order of computation, which linear
layer made the queries of an attention, and which one reads its result.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

import torch
from torch import Tensor, nn

from transformer.errors import InputError
from transformer.network.config import TransformerConfig
from transformer.network.embedding import sinusoid
from transformer.network.model import Transformer
from transformer.tracing.paths import BRANCHES, Branch, Kind
from transformer.watching.passes import Pass, Use

# How the rows of a projection are ordered: parts are queries, keys and values in one matrix.
LAYOUTS = tuple(permutations(("part", "head", "d_head")))
JOINS = (("head", "d_head"), ("d_head", "head"))
Layout = tuple[Sequence[str], Sequence[str]]
# Every order of rows and of columns, the usual one first.
ALL_LAYOUTS: tuple[Layout, ...] = tuple(product(LAYOUTS, JOINS))
# Other layouts that are usual: the numbers of a head far apart; queries, keys and values side by side for each head.
USUAL_LAYOUTS: tuple[Layout, ...] = ((("part", "d_head", "head"), JOINS[1]), (("head", "part", "d_head"), JOINS[0]))
COUNTS = "Your module has {mine} {what}; our network of {encoder} + {decoder} layers has {ours}."


@dataclass
class Group:
    """The linear layers of one attention of several heads.

    Attributes:
        branches: `query`, `key`, `value` → the linear layers, one for each head if every head has its own.
        output: the layer that reads the averages of all heads; None if there is none.
    """

    attentions: list[int]
    branches: dict[Branch, list[Use]]
    output: Use | None


@dataclass
class Placed:
    """Tensors of theirs by the names of ours.

    Attributes:
        config: the configuration of a network that can have all of these.
        tensors: name of ours → values.
        names: name of ours → names of theirs.
        extra_norms: LayerNorms of theirs that ours has no place for: name of the place → weight and bias.
        eps: path of a norm of ours → ε of theirs, as far as it is seen.
        no_encoder: whether the encoder of theirs did not run.
        left: names of their parameters without a place.
    """

    config: TransformerConfig
    tensors: dict[str, Tensor] = field(default_factory=dict)
    names: dict[str, frozenset[str]] = field(default_factory=dict)
    extra_norms: dict[str, tuple[Tensor, Tensor | None]] = field(default_factory=dict)
    eps: dict[str, float] = field(default_factory=dict)
    no_encoder: bool = False
    left: list[str] = field(default_factory=list)

    def put(self, name: str, values: Tensor | None, names: Iterable[str]) -> None:
        """Put a tensor in the place `name`."""
        if values is not None:
            self.tensors[name] = values
            self.names[name] = frozenset(names)


def copy_config(config: TransformerConfig) -> TransformerConfig:
    """The same network with room for every weight that theirs may have: biases, matrices that are not shared."""
    return config.replace(
        tied_weights="nothing",
        head_projection="per_head",
        projection_bias=True,
        output_bias=True,
        zero_pad_row=False,
        mask_before_scaling=False,
        dropout=0.0,
    )


def place(
    run: Pass,
    mine: nn.Module,
    ours: Transformer,
    layouts: Mapping[Kind, Layout] | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Placed:
    """Place the weights of theirs.

    Args:
        run: a pass of theirs.
        mine, ours: both networks.
        layouts: kind of attention → its layout; by default the usual one.
        mapping: name of theirs → name of ours, where the caller knows better.

    Raises:
        InputError: a tensor of ours gets no values; the message names it, and what is left of theirs.
    """
    placed = Placed(copy_config(ours.config))
    problem = None
    try:
        _place_all(placed, run, mine, layouts or {})
    except InputError as error:
        if not mapping:
            raise
        problem = error
    own = Transformer(placed.config.replace(max_len=1) if placed.config.position == "sinusoidal" else placed.config)
    shapes = {name: tuple(parameter.shape) for name, parameter in own.named_parameters()}
    for theirs, name in (mapping or {}).items():
        _map(placed, dict(mine.named_parameters()) | dict(mine.named_buffers()), shapes, theirs, name)
    _complete(placed, shapes, mine, problem)
    return placed


def _place_all(placed: Placed, run: Pass, mine: nn.Module, layouts: Mapping[Kind, Layout]) -> None:
    config = placed.config
    groups = _groups(run, config.d_model)
    placed.no_encoder = len(groups) == 2 * config.decoder_layers != 0
    encoder_layers = 0 if placed.no_encoder else config.encoder_layers
    layers = [(kind, layer) for layer in range(encoder_layers) for kind in (Kind.ENCODER,)]
    layers += [(kind, layer) for layer in range(config.decoder_layers) for kind in (Kind.DECODER, Kind.CROSS)]
    _same_number(config, "attentions", len(groups), len(layers))
    in_groups = {id(use) for group in groups for uses in group.branches.values() for use in uses}
    in_groups |= {id(group.output) for group in groups}
    others = [use for use in run.uses if use.kind == "linear" and id(use) not in in_groups]
    _same_number(config, "linear layers outside of attentions", len(others), 2 * (encoder_layers + config.decoder_layers) + 1)
    for (kind, layer), group in zip(layers, groups, strict=True):
        _place_attention(placed, str(kind.path(layer)), group, *layouts.get(kind, ALL_LAYOUTS[0]))
    networks = [f"encoder.layers.{layer}" for layer in range(encoder_layers)]
    networks += [f"decoder.layers.{layer}" for layer in range(config.decoder_layers)]
    for path, up, down in zip(networks, others[0::2], others[1::2], strict=False):
        _put_linear(placed, f"{path}.feed_forward.up_projection", up)
        _put_linear(placed, f"{path}.feed_forward.down_projection", down)
    _put_linear(placed, "output_projection", others[-1])
    _place_tables(placed, run, mine)
    _place_norms(placed, run, mine, layers, groups, others)


def _same_number(config: TransformerConfig, what: str, mine: int, ours: int) -> None:
    if mine != ours:
        raise InputError(COUNTS, mine=mine, what=what, ours=ours, encoder=config.encoder_layers, decoder=config.decoder_layers)


# --- attentions ------------------------------------------------------------------------------------------------------------


def _groups(run: Pass, width: int) -> list[Group]:
    """The attentions of theirs. Heads whose averages are read by one linear layer belong together."""
    readers: dict[int, Use] = {}
    for use in run.uses:
        for number in use.reads:
            readers.setdefault(number, use)
    groups: list[Group] = []
    for number, attention in enumerate(run.attentions):
        reader = readers.get(number)
        operands = (attention.product.query, attention.product.key, attention.value)
        uses = [run.made_by(tensor) for tensor in operands]
        before = groups[-1] if groups else None
        if before is None or before.output is not reader or (reader is None and not _is_head(before, uses, run, width)):
            groups.append(Group([], {branch: [] for branch in BRANCHES}, reader))
        groups[-1].attentions.append(number)
        for branch, use in zip(BRANCHES, uses, strict=True):
            if use is not None:  # otherwise our own weights stay, so that it is a difference
                groups[-1].branches[branch].append(use)
        if uses.count(None) > 1:
            message = (
                "The queries, keys and values of attention {number} of your module come from no linear layers that are seen."
            )
            raise InputError(message, number=number + 1)
    for group in groups:
        _by_name(group)
    return groups


def _is_head(group: Group, uses: Sequence[Use | None], run: Pass, width: int) -> bool:
    """Whether an attention whose averages no layer reads is one more head of a group."""
    rows = sum(len(use.weight) for use in group.branches["query"])
    inner = uses[0]
    return inner is not None and rows + len(inner.weight) <= width and run.attentions[group.attentions[-1]].weights.ndim == 3


def _by_name(group: Group) -> None:
    """Let names decide which layers are query, key and value, if they do. An exchange of them is then a difference."""
    if any(len(uses) != len(group.attentions) for uses in group.branches.values()):
        return
    heads = [[group.branches[branch][head] for branch in BRANCHES] for head in range(len(group.attentions))]
    for head, uses in enumerate(heads):
        if len({id(use) for use in uses}) < 3:
            continue
        by_name = named_branches([min(use.names, key=len) if use.names else "" for use in uses])
        if by_name is None and len({use.names for use in uses}) == 1:  # parts of one matrix: queries, keys, values
            order = sorted(range(3), key=lambda place: uses[place].weight.storage_offset())
            by_name = {branch: order[place] for place, branch in enumerate(BRANCHES)}
        for branch in BRANCHES if by_name else ():
            group.branches[branch][head] = uses[(by_name or {})[branch]]


def named_branches(names: Sequence[str]) -> dict[Branch, int] | None:
    """The number of the name of the query, of the key and of the value; None if the names do not tell."""
    words = [re.split(r"[.]", name) for name in names]
    differing = [parts for parts in zip(*words, strict=False) if len({*parts}) == 3]
    for parts in differing:
        numbers = [int(part) for part in parts if part.isdecimal()]
        if len(numbers) == 3 and sorted(numbers) == [*range(min(numbers), min(numbers) + 3)]:
            ranked = sorted(range(3), key=lambda place: numbers[place])
            return dict(zip(BRANCHES, ranked, strict=True))
        told = [_branch_of(part, parts) for part in parts]
        if sorted(map(str, told)) == sorted(BRANCHES):
            return {branch: told.index(branch) for branch in BRANCHES}
    return None


def _branch_of(part: str, parts: Sequence[str]) -> Branch | None:
    """The branch that a part of a name tells, by the letters that the names do not have in common."""
    start = 0
    while all(len(each) > start and each[start] == part[start] for each in parts):
        start += 1
    own = part[start:].lower() or part.lower()
    for letter, branch in zip("qkv", BRANCHES, strict=True):
        if own.startswith(letter) or re.search(rf"(^|_){letter}(_|$)", part.lower()):
            return branch
    return next((branch for letter, branch in zip("qkv", BRANCHES, strict=True) if letter in own), None)


def _place_attention(placed: Placed, path: str, group: Group, layout: Sequence[str], join: Sequence[str]) -> None:
    config, names = placed.config, frozenset[str]()
    for branch in BRANCHES:
        uses = group.branches[branch]
        if len(uses) != len(group.attentions):
            continue
        weights, biases = zip(*(_branch_rows(config, group, branch, use, layout) for use in uses), strict=True)
        names = frozenset[str]().union(*(use.names for use in uses))
        weight = torch.cat(weights)
        if weight.shape == (config.d_head, config.d_head) and config.heads > 1:  # one map for all heads
            weight = torch.block_diag(*[weight] * config.heads)
            biases = tuple(None if bias is None else bias.repeat(config.heads) for bias in biases)
        placed.put(f"{path}.{branch}.projection.weight", weight, names)
        given = [bias for bias in biases if bias is not None]
        if len(given) == len(uses):
            placed.put(f"{path}.{branch}.projection.bias", torch.cat(given), names)
    if group.output is None:  # our own weights stay, so that it is a difference
        return
    weight = group.output.weight
    if tuple(join) != JOINS[0] and weight.shape[-1] == config.d_model:
        weight = weight.unflatten(1, (config.d_head, config.heads)).transpose(1, 2).flatten(1)
    placed.put(f"{path}.output_projection.weight", weight, group.output.names)
    placed.put(f"{path}.output_projection.bias", group.output.bias, group.output.names)


def _branch_rows(
    config: TransformerConfig, group: Group, branch: Branch, use: Use, layout: Sequence[str]
) -> tuple[Tensor, Tensor | None]:
    """The rows of one branch in a linear layer that may have those of several."""
    parts = [other for other in BRANCHES if use in group.branches[other]]
    heads = config.heads if len(group.branches[branch]) == 1 else 1
    sizes = {"part": len(parts), "head": heads, "d_head": len(use.weight) // (len(parts) * heads) if heads else 0}
    fused = sizes["part"] * sizes["head"] * sizes["d_head"] == len(use.weight)
    if not fused or (len(parts) == 1 and [axis for axis in layout if axis != "part"] == [*JOINS[0]]):
        return use.weight, use.bias
    place = [layout.index(axis) for axis in ("part", "head", "d_head")]

    def rows(values: Tensor) -> Tensor:
        split = values.unflatten(0, [sizes[axis] for axis in layout])
        return split.permute(*place, *range(3, split.ndim))[parts.index(branch)].flatten(0, 1)

    return rows(use.weight), None if use.bias is None else rows(use.bias)


# --- tables, norms ---------------------------------------------------------------------------------------------------------


def _put_linear(placed: Placed, path: str, use: Use) -> None:
    placed.put(f"{path}.weight", use.weight, use.names)
    placed.put(f"{path}.bias", use.bias, use.names)


def _place_tables(placed: Placed, run: Pass, mine: nn.Module) -> None:
    width = placed.config.d_model
    tables = [use for use in run.uses if use.kind == "table" and use.weight.shape[-1] == width]
    source = next((use for use in tables if "target" not in use.origin), None)
    target = next((use for use in tables if "target" in use.origin), None)
    for side, use in (("source", source), ("target", target)):
        if use is not None:
            placed.put(f"{side}_embedding.table.weight", use.weight, use.names)
    positions = [use for use in run.uses if use.kind == "positions" and use.weight.shape[-1] == width]
    trained = dict(mine.named_parameters())
    if placed.config.position == "learned":
        for side, found in (("source", positions[:1]), ("target", positions[-1:])):
            for use in found:
                whole = trained.get(next(iter(use.names)), use.weight).detach().squeeze()  # theirs may read only some rows
                placed.put(f"{side}_embedding.positions.table.weight", whole if whole.ndim == 2 else use.weight, use.names)
        return
    for use in positions:
        if use.names & trained.keys() and not _is_sinusoid(use.weight):
            message = "Your module has trained positions, {names}; ours are sinusoidal. Use position='learned' for ours."
            raise InputError(message, names=", ".join(sorted(use.names)))


def _is_sinusoid(table: Tensor) -> bool:
    """Whether a table of positions is one that is computed."""
    orders = ("alternating", "halves")
    return any(torch.allclose(table.double(), sinusoid(len(table), table.shape[1], order), atol=1e-4) for order in orders)


def _place_norms(
    placed: Placed, run: Pass, mine: nn.Module, layers: Sequence[Any], groups: Sequence[Group], others: Sequence[Use]
) -> None:
    """Place norms: those in the module of a layer by their order, others by the sub-layer that they stand before or after."""
    width = placed.config.d_model
    norms = {use.names: use for use in reversed(run.uses) if use.kind == "norm" and use.weight.shape == (width,)}
    unused = _unused_norms(run, mine, width)
    for stack in ("decoder",) if placed.no_encoder else ("encoder", "decoder"):
        own = [use for use in reversed(norms.values()) if ("target" in run.origin(use.output)) == (stack == "decoder")]
        _fill_stack(placed, stack, _sublayers(placed.config, stack, layers, groups, others), own, unused)


def _sublayers(
    config: TransformerConfig, stack: str, layers: Sequence[Any], groups: Sequence[Group], others: Sequence[Use]
) -> dict[str, tuple[int, int]]:
    """Path of each sub-layer of a stack → the numbers of the operations with which it begins and ends."""
    result = {}
    of_stack = config.encoder_layers if stack == "encoder" else config.decoder_layers
    first = 0 if stack == "encoder" else len(others) // 2 - config.decoder_layers
    for layer in range(of_stack):
        for (kind, number), group in zip(layers, groups, strict=True):
            if kind.stack == stack and number == layer:
                begin = min(use.order for use in group.branches["query"] or group.branches["key"])
                result[str(kind.path(layer))] = begin, begin + 1 if group.output is None else group.output.order
        up, down = others[2 * (first + layer) : 2 * (first + layer) + 2]
        result[f"{stack}.layers.{layer}.feed_forward"] = up.order, down.order
    return result


def _fill_stack(
    placed: Placed, stack: str, sublayers: Mapping[str, tuple[int, int]], own: Sequence[Use], unused: "Unused"
) -> None:
    """Give each sub-layer of a stack its norm, and the stack its last one."""
    slots, filled = [*sublayers], dict[str, Use]()
    modules = {slot: _layer_module(placed, slot.rpartition(".")[0], slots) for slot in slots}
    for layer in dict.fromkeys(slot.rpartition(".")[0] for slot in slots):
        of_layer = [slot for slot in slots if slot.rpartition(".")[0] == layer]
        module = modules[of_layer[0]]
        norms = [use for use in own if module and f"{use.module}.".startswith(f"{module}.")]
        if len(norms) == len(of_layer):
            filled |= dict(zip(of_layer, norms, strict=True))
    rest = [use for use in own if all(use is not other for other in filled.values())]
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
    """The module of theirs in which a layer of ours is; None if their layers are no modules of their own."""

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


# Path of a module of theirs → weight, bias and names.
Unused = dict[str, tuple[Tensor, Tensor | None, frozenset[str]]]


def _unused_norms(run: Pass, mine: nn.Module, width: int) -> Unused:
    """Modules of theirs that look like norms but did not run."""
    used = {name for use in run.uses for name in use.names}
    unused: Unused = {}
    for path, module in mine.named_modules():
        own = {f"{path}.{name}": each.detach() for name, each in module.named_parameters(recurse=False)}
        if own and len(own) <= 2 and all(each.shape == (width,) for each in own.values()) and not own.keys() & used:
            weight, *bias = own.values()
            unused[path] = (weight, bias[0] if bias else None, frozenset(own))
    return unused


def _eliminate(placed: Placed, path: str, unused: Unused, module: str | None) -> None:
    """A norm of ours that theirs does not run gets the weights of one of their norms that did not run, in order. Otherwise it
    changes no scale."""
    near = [name for name in unused if module and name.startswith(f"{module}.")] or [*unused]
    weight, bias, names = unused.pop(near[0]) if near else (torch.ones(placed.config.d_model), None, frozenset[str]())
    placed.put(f"{path}.weight", weight, names)
    placed.put(f"{path}.bias", bias, names)


# --- what is left ----------------------------------------------------------------------------------------------------------


def _map(placed: Placed, theirs: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], name: Any, ours: Any) -> None:
    """Put one tensor where the caller says."""
    if not isinstance(name, str) or name not in theirs:
        raise InputError("mapping names {name!r}, which your module does not have.", name=name)
    if not isinstance(ours, str) or ours not in shapes:
        raise InputError("mapping names {name!r}, which our network does not have.", name=ours)
    values, shape = theirs[name].detach(), shapes[ours]
    if tuple(values.shape) != shape and values.ndim == 2 and tuple(values.T.shape) == shape:
        values = values.T
    placed.put(ours, values, [name])


def _complete(placed: Placed, shapes: Mapping[str, tuple[int, ...]], mine: nn.Module, problem: InputError | None) -> None:
    """Check that every tensor of ours has values of its shape. Biases that theirs does not have are 0.

    Raises:
        InputError: a tensor has none, or of another shape.
    """
    known = {name for names in placed.names.values() for name in names}
    placed.left = [name for name, _ in mine.named_parameters() if name not in known]
    optional = (".bias", ".positions.table.weight", "attention.output_projection.weight", ".projection.weight")
    missing = [name for name in shapes if name not in placed.tensors and not name.endswith(optional)]
    missing = [name for name in missing if not (placed.no_encoder and name.startswith("encoder."))]
    if missing:
        raise InputError(
            "These tensors of our network got no weights of yours: {missing}. Of yours are left: {left}. {problem}"
            " Name them with `mapping={{their name: our name}}`.",
            missing=", ".join(missing[:6]),
            left=", ".join(placed.left[:12]) or "none",
            problem=problem or "",
        )
    for name, shape in shapes.items():
        values = placed.tensors.get(name)
        if values is None:
            if name.endswith(".bias"):
                placed.tensors[name] = torch.zeros(shape)
        elif "positions" in name and values.shape[1:] == shape[1:]:
            whole = torch.zeros(shape)
            whole[: len(values)] = values[: len(whole)]
            placed.tensors[name] = whole
        elif tuple(values.shape) != shape:
            raise InputError(
                "Your {theirs} has the shape {has}; our {name} needs {needs}.",
                theirs=", ".join(sorted(placed.names[name])) or "tensor",
                has=tuple(values.shape),
                name=name,
                needs=shape,
            )
