"""Mistakes in how layers, and the sub-layers of a layer, are put together: in the input of each layer and sub-layer."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from torch import Tensor, nn

from transformer.network.masks import Mask
from transformer.network.tap import Scope
from transformer.tracing.paths import Kind
from transformer.watching.alterations import Alteration, Candidate, Change
from transformer.watching.mask_mistakes import edited
from transformer.watching.places import Setting

STACKS = (("both stacks", ("encoder", "decoder")), ("the encoder", ("encoder",)), ("the decoder", ("decoder",)))
# A function that runs a layer with a mistake. It gets the layer, and the arguments with which the layer is called.
Layer = Callable[..., Tensor]


def layers(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in the inputs of layers and sub-layers."""
    yield from skipped_layers(setting)
    yield from stacks(setting)
    yield from memories_by_layer(setting)
    words = "cross-attention takes its queries from the input of the layer, so they skip self-attention"
    yield from _changed(setting, "cross-attention skips self-attention", words, _cross_query_skips, ("decoder",))
    words = "cross-attention takes its queries from the normalised input of self-attention"
    yield from _changed(setting, "cross-attention skips self-attention", words, _cross_query_is_own, ("decoder",))
    words = "the result of self-attention is not used: cross-attention reads the input of the layer"
    yield from _changed(setting, "self-attention is not used", words, _self_attention_unused, ("decoder",))
    words = "the result of the attention is not used: the feed-forward network reads the input of the layer"
    yield from _changed(setting, "attention is not used", words, _attention_unused)
    words = "the feed-forward network reads the input of the layer; only the residual sum has the attention"
    yield from _changed(setting, "feed-forward network skips attention", words, _feed_forward_skips)
    words = "cross-attention comes before self-attention"
    yield from _changed(setting, "cross-attention before self-attention", words, _cross_first, ("decoder",))
    if setting.config.norm_first:
        words = "only the queries are normalised; keys and values are made of the vectors before the norm"
        yield from _changed(setting, "keys and values not normalised", words, _keys_before_norm)
        words = "the norm before cross-attention is also applied to the memory"
        yield from _changed(setting, "memory normalised again", words, _memory_normalised, ("decoder",))


def _changed(
    setting: Setting, name: str, words: str, function: Layer, stacks: Sequence[str] = ("encoder", "decoder")
) -> Iterator[Candidate]:
    """Yields a candidate for each group of these `stacks`: all layers of the group run `function` instead of their own
    `forward`."""
    for where, group in STACKS:
        if {*group} <= {*stacks}:
            parts = tuple(
                (layer, "forward", partial(function, layer))
                for stack in group
                for layer in setting.module(f"{stack}.layers").children()
            )
            yield Candidate((name,), (words,), where, _parts_of(setting, group), partial(Alteration, (), parts))


def _parts_of(setting: Setting, stacks: Sequence[str]) -> tuple[str, ...]:
    return (*stacks, *(path for path in setting.sublayers if path.startswith(tuple(stacks))))


# --- a layer, as it should not be -------------------------------------------------------------------------------------------


def _cross_query_skips(layer: Any, start: Tensor, memory: Tensor, own: Mask, other: Mask, *_: object) -> Tensor:
    x = layer.self_attention_add_norm(start, lambda x: layer.self_attention(x, x, own))
    add_norm = layer.cross_attention_add_norm
    query = add_norm.norm(start) if add_norm.norm_first else start
    x = add_norm(x, lambda _: layer.cross_attention(query, memory, other))
    return layer.feed_forward_add_norm(x, layer.feed_forward)


def _cross_query_is_own(layer: Any, start: Tensor, memory: Tensor, own: Mask, other: Mask, *_: object) -> Tensor:
    x = layer.self_attention_add_norm(start, lambda x: layer.self_attention(x, x, own))
    query = layer.self_attention_add_norm.norm(start)
    x = layer.cross_attention_add_norm(x, lambda _: layer.cross_attention(query, memory, other))
    return layer.feed_forward_add_norm(x, layer.feed_forward)


def _self_attention_unused(layer: Any, start: Tensor, memory: Tensor, own: Mask, other: Mask, *_: object) -> Tensor:
    layer.self_attention_add_norm(start, lambda x: layer.self_attention(x, x, own))
    x = layer.cross_attention_add_norm(start, lambda x: layer.cross_attention(x, memory, other))
    return layer.feed_forward_add_norm(x, layer.feed_forward)


def _attention_unused(layer: Any, start: Tensor, *given: Any) -> Tensor:
    _attended(layer, start, *given)
    return layer.feed_forward_add_norm(start, layer.feed_forward)


def _feed_forward_skips(layer: Any, start: Tensor, *given: Any) -> Tensor:
    x, add_norm = _attended(layer, start, *given), layer.feed_forward_add_norm
    read = add_norm.norm(start) if add_norm.norm_first else start
    return add_norm(x, lambda _: layer.feed_forward(read))


def _cross_first(layer: Any, x: Tensor, memory: Tensor, own: Mask, other: Mask, *_: object) -> Tensor:
    # Weights are placed in the order of computation, so the weights of their cross-attention, which runs first, are in our
    # `self_attention`.
    x = layer.self_attention_add_norm(x, lambda x: layer.self_attention(x, memory, other))
    x = layer.cross_attention_add_norm(x, lambda x: layer.cross_attention(x, x, own))
    return layer.feed_forward_add_norm(x, layer.feed_forward)


def _keys_before_norm(layer: Any, start: Tensor, *given: Any) -> Tensor:
    own = given[0] if len(given) == 1 else given[1]
    x = layer.self_attention_add_norm(start, lambda x: layer.self_attention(x, start, own))
    return layer.feed_forward_add_norm(_crossed(layer, x, *given), layer.feed_forward)


def _memory_normalised(layer: Any, x: Tensor, memory: Tensor, own: Mask, other: Mask, *_: object) -> Tensor:
    x = layer.self_attention_add_norm(x, lambda x: layer.self_attention(x, x, own))
    return layer.feed_forward_add_norm(
        _crossed(layer, x, layer.cross_attention_add_norm.norm(memory), own, other), layer.feed_forward
    )


def _attended(layer: Any, x: Tensor, *given: Any) -> Tensor:
    """`x` after the attention sub-layers of a layer. `given` is the mask for a layer of the encoder; for a layer of the
    decoder, the memory, the mask of self-attention and the mask of cross-attention."""
    own = given[0] if len(given) == 1 else given[1]
    return _crossed(layer, layer.self_attention_add_norm(x, lambda x: layer.self_attention(x, x, own)), *given)


def _crossed(layer: Any, x: Tensor, *given: Any) -> Tensor:
    """`x` after the cross-attention of a layer; unchanged for a layer of the encoder. `given` is as for `_attended`."""
    if len(given) == 1:
        return x
    return layer.cross_attention_add_norm(x, lambda x: layer.cross_attention(x, given[0], given[2]))


def skipped_layers(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries if layers are skipped: one candidate for each stack in which the user's network
    runs fewer layers than ours.

    The weights of the layers that ran are in the first layers of our model, so its last layers stand for the skipped ones.
    """
    for stack, ran in setting.layers.items():
        skipped = [*setting.module(f"{stack}.layers").children()][ran:]
        if skipped:
            words = f"only {ran} of the {ran + len(skipped)} layers {'run' if ran > 1 else 'runs'}" if ran else "no layer runs"
            make = partial(Alteration, (), tuple((layer, "forward", _identity) for layer in skipped))
            yield Candidate(("layer skipped",), (words,), f"the {stack}", _parts_of(setting, [stack]), make)


def _identity(x: Tensor, *_: object) -> Tensor:
    return x


# --- a stack of layers ------------------------------------------------------------------------------------------------------


def stacks(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in a stack of layers: every layer reads the embeddings; positions are added in
    every layer; the axes of texts and positions are exchanged."""
    forms: dict[str, tuple[str, Layer]] = {
        "layers not chained": ("every layer reads the embeddings, and only the result of the last layer is used", _unchained),
        "batch_first forgotten": (
            "the axis of the texts is taken for that of the positions, as if `batch_first=True` had been forgotten",
            _transposed,
        ),
    }
    for name, (words, function) in forms.items():
        for where, group in STACKS:
            parts = tuple((setting.module(stack), "forward", partial(function, setting.module(stack))) for stack in group)
            yield Candidate((name,), (words,), where, _parts_of(setting, group), partial(Alteration, (), parts))
    words = "positions are added again before every later layer"
    for where, group in STACKS:
        listed = []
        for stack, side in (("encoder", "source"), ("decoder", "target")):
            positions = setting.module(f"{side}_embedding.positions")
            own = list(setting.module(f"{stack}.layers").children())[1:] if stack in group else []
            listed += [(layer, "forward", partial(_with_positions, layer.forward, positions)) for layer in own]
        if listed:
            make = partial(Alteration, (), tuple(listed))
            yield Candidate(("positions in every layer",), (words,), where, _parts_of(setting, group), make)


def _unchained(stack: Any, x: Tensor, *given: Any) -> Tensor:
    last = x
    for layer in stack.layers:
        last = layer(x, *given)
    return stack.output(stack.norm(last))


def _transposed(stack: Any, x: Tensor, *given: Any) -> Tensor:
    """The result of a stack that takes the axis of the texts for that of the positions. A mask of padding keeps its axes; a
    causal mask fits only if there are as many texts as tokens."""
    memory = given[:1] if len(given) > 1 else ()
    x, given = x.transpose(0, 1), (*(each.transpose(0, 1) for each in memory), *given[len(memory) :])
    for layer in stack.layers:
        x = layer(x, *given)
    return stack.output(stack.norm(x).transpose(0, 1))


def _with_positions(forward: Callable[..., Tensor], positions: nn.Module, x: Tensor, *given: Any) -> Tensor:
    return forward(x + positions(x.shape[1]), *given)


def memories_by_layer(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in the memory: layers of the decoder read a layer of the encoder other than the
    last."""
    config = setting.config
    if config.encoder_layers == 1:
        return
    orders: dict[str, Callable[[int], int]] = {
        "layer i of the decoder reads layer i of the encoder": lambda layer: min(layer, config.encoder_layers - 1),
        "layer i of the decoder reads layer i of the encoder, counted from the end": lambda layer: max(
            config.encoder_layers - 1 - layer, 0
        ),
        "every layer of the decoder reads the first layer of the encoder": lambda _: 0,
    }
    cross = [path for path, kind in setting.attentions.items() if kind == Kind.CROSS]
    for words, order in orders.items():
        for normed in (False, True) if config.final_norm else (False,):
            edits = [
                _from_layer(setting, path, branch, order(layer), normed)
                for layer, path in enumerate(cross)
                for branch in ("key", "value")
            ]
            end = ", instead of its last one"
            yield Candidate(
                ("memory by layer",), (words + end,), "cross-attention", ("encoder", *cross), partial(edited, edits)
            )


def _from_layer(setting: Setting, path: str, branch: str, layer: int, normed: bool) -> Change:
    """A change with which cross-attention makes its keys or values (`branch`) from the output of one layer of the encoder,
    counted from 0; with `normed`, from the final norm of this output."""
    read = f"encoder.layers.{layer}.feed_forward_add_norm.{'sum' if setting.config.norm_first else 'normalized'}"
    projection, norm = (
        setting.module(f"{path}.{branch}.projection"),
        setting.module("encoder.norm") if normed else nn.Identity(),
    )

    def function(values: Tensor, scope: Scope) -> Tensor:
        return projection(norm(scope.values[read])).unflatten(-1, (values.shape[1], -1)).transpose(1, 2)

    return Change(f"{path}.{branch}.heads", function)
