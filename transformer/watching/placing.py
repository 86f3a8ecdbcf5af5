"""Weights of a user's Transformer in a copy of our `Transformer`: which tensor of the user's network becomes which of ours.

Names decide between query, key and value. Everything else follows from the pass itself: the order of computation, which linear
layer made the queries of an attention, and which linear layer reads the attention's result.
"""

import functools
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from transformer.errors import InputError
from transformer.network.config import TransformerConfig
from transformer.network.embedding import sinusoid
from transformer.network.model import Transformer
from transformer.tracing.paths import Kind, TensorPath
from transformer.watching.passes import Pass, Use
from transformer.watching.placed import Placed, copy_config
from transformer.watching.placing_attentions import ALL_LAYOUTS, Layout, attention_groups, is_unread, place_attention
from transformer.watching.placing_norms import place_norms

COUNTS = "Your module has {mine} {what}; our network of {encoder} + {decoder} layers has {ours}."


def place(
    run: Pass,
    mine: nn.Module,
    ours: Transformer,
    layouts: Mapping[Kind, Layout] | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Placed:
    """The weights of `mine` under the names of `ours`.

    Args:
        run: a recorded pass of `mine`.
        mine, ours: the user's network, and a network of ours.
        layouts: kind of attention → the order of rows in its projections; by default the usual one.
        mapping: name in `mine` → name in `ours`, for weights that the caller wants to place.

    Raises:
        InputError: a tensor of ours gets no values, or values of another shape; `mine` ran other layers than `ours` has; or a
            name in `mapping` does not exist. The message names what does not fit.
    """
    placed = Placed(copy_config(ours.config))
    problem = None
    try:
        _place_all(placed, run, mine, layouts or {})
    except InputError as error:
        if not mapping:
            raise
        problem = error
    shapes = weight_shapes(placed.config)
    for theirs, name in (mapping or {}).items():
        _map(placed, dict(mine.named_parameters()) | dict(mine.named_buffers()), shapes, theirs, name)
    _complete(placed, shapes, mine, problem)
    return placed


@functools.lru_cache(8)
def weight_shapes(config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """Name → shape, for each weight of our `Transformer` with this configuration. The state of torch's random numbers is not
    changed."""
    with torch.random.fork_rng():
        model = Transformer(config.replace(max_len=1) if config.position == "sinusoidal" else config)
    return {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}


def _place_all(placed: Placed, run: Pass, mine: nn.Module, layouts: Mapping[Kind, Layout]) -> None:
    config = placed.config
    groups = attention_groups(run, config.d_model)
    in_groups = {id(use) for group in groups for uses in group.branches.values() for use in uses}
    in_groups |= {id(group.output) for group in groups}
    others = [use for use in run.uses if use.kind == "linear" and id(use) not in in_groups]
    others = [use for use in others if not any(is_unread(use, group) for group in groups)]
    placed.layers = _layers(config, len(groups), len(others))
    layers = [(kind, layer) for layer in range(placed.layers["encoder"]) for kind in (Kind.ENCODER,)]
    layers += [(kind, layer) for layer in range(placed.layers["decoder"]) for kind in (Kind.DECODER, Kind.CROSS)]
    for (kind, layer), group in zip(layers, groups, strict=True):
        place_attention(placed, str(kind.path(layer)), group, *layouts.get(kind, ALL_LAYOUTS[0]))
    networks = [f"{stack}.layers.{layer}" for stack, ran in placed.layers.items() for layer in range(ran)]
    for path, up, down in zip(networks, others[0::2], others[1::2], strict=False):
        _put_linear(placed, f"{path}.feed_forward.up_projection", up)
        _put_linear(placed, f"{path}.feed_forward.down_projection", down)
    _put_linear(placed, "output_projection", others[-1])
    _place_tables(placed, run, mine)
    place_norms(placed, run, mine, layers, groups, others)


def _layers(config: TransformerConfig, attentions: int, linear_layers: int) -> dict[str, int]:
    """How many layers of each stack the user's network ran: as many as ours has, or fewer if it skips some.

    Raises:
        InputError: no such layers have these numbers of attentions and linear layers.
    """
    both = (linear_layers - 1) // 2  # two in each layer, and one for the logits
    decoder = attentions - both  # a layer of the decoder has two attentions
    encoder = both - decoder
    ours = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    if linear_layers % 2 and 0 <= encoder <= ours["encoder"] and 1 <= decoder <= ours["decoder"]:
        return {"encoder": encoder, "decoder": decoder}
    what, mine, needed = "attentions", attentions, ours["encoder"] + 2 * ours["decoder"]
    if mine == needed:
        what, mine, needed = "linear layers outside of attentions", linear_layers, 2 * sum(ours.values()) + 1
    raise InputError(COUNTS, mine=mine, what=what, ours=needed, **ours)


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
        if use.names & trained.keys() and not is_sinusoid(use.weight):
            message = "Your module has trained positions, {names}; ours are sinusoidal. Use position='learned' for ours."
            raise InputError(message, names=", ".join(sorted(use.names)))


def is_sinusoid(table: Tensor) -> bool:
    """Whether a table of positions holds computed sinusoids."""
    orders = ("alternating", "halves")
    return any(torch.allclose(table.double(), sinusoid(len(table), table.shape[1], order), atol=1e-4) for order in orders)


def _is_skipped(placed: Placed, name: str) -> bool:
    """Whether a tensor of ours belongs to a layer that the user's network did not run, or to a stack of which it ran no
    layer."""
    path = TensorPath.parse(name)
    ran = placed.layers.get(path.stack)
    return ran == 0 or (ran is not None and path.layer is not None and path.layer >= ran)


def _map(placed: Placed, theirs: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], name: Any, ours: Any) -> None:
    """Place one tensor of the user's network under the name `ours`, as the caller's `mapping` says. Raises `InputError` for a
    name that does not exist."""
    if not isinstance(name, str) or name not in theirs:
        raise InputError("mapping has the name {name!r}, which your module does not have.", name=name)
    if not isinstance(ours, str) or ours not in shapes:
        raise InputError("mapping has the name {name!r}, which our network does not have.", name=ours)
    values, shape = theirs[name].detach(), shapes[ours]
    if tuple(values.shape) != shape and values.ndim == 2 and tuple(values.T.shape) == shape:
        values = values.T
    placed.put(ours, values, [name])


def _complete(placed: Placed, shapes: Mapping[str, tuple[int, ...]], mine: nn.Module, problem: InputError | None) -> None:
    """Check that every tensor of ours has values of its shape. Biases that the user's network does not have become 0;
    parameters of the user's network without a place are listed in `placed.left`.

    Raises:
        InputError: a tensor has no values, or values of another shape.
    """
    known = {name for names in placed.names.values() for name in names}
    placed.left = [name for name, _ in mine.named_parameters() if name not in known]
    optional = (".bias", ".positions.table.weight", "attention.output_projection.weight", ".projection.weight")
    missing = [name for name in shapes if name not in placed.tensors and not name.endswith(optional)]
    missing = [name for name in missing if not _is_skipped(placed, name)]
    if missing:
        raise InputError(
            "These tensors of our network got no weights of yours: {missing}. Of yours are left: {left}. {problem}"
            " Name them with `mapping={{their name: our name}}`; or, if the two have other sizes (our {first} has the shape"
            " {shape}), give our network those of yours.",
            first=next(iter(shapes)),
            shape=next(iter(shapes.values())),
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
