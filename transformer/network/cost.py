"""The cost of a model with a given configuration, without running it. Trainable numbers, multiplications and additions are
computed by formulas, and the bytes of a trace (all tensors of a forward pass) from the axes that the modules declare for them.

FLOPs follow the convention of `torch.utils.flop_counter`: a product of matrices `[m, k] · [k, n]` takes 2·m·n·k, one
multiplication and one addition for each term of each sum. Nothing else is counted: no bias, softmax, LayerNorm, ReLU, residual
sum, scaling, masking or look-up in a table. In a model of the paper's size these are less than a hundredth of the arithmetic.
"""

import bisect
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import torch

from transformer.errors import InputError
from transformer.network.config import LARGEST, LARGEST_TABLE, TransformerConfig
from transformer.network.model import Transformer

# The sizes that `growth` can vary, and the largest length (in tokens), width and number of layers that it computes.
ALONG = ("length", "d_model", "heads", "layers")
LONGEST, WIDEST, DEEPEST = 4096, 4096, 24
FLOAT, BOOL = 4, 1  # bytes of a number and of a mask's cell

# The kinds of work. Everything that grows with the square of the length is in `scores and weights` (and in `masks`).
EMBEDDING, MASKS, PROJECTIONS, SCORES = "embedding", "masks", "projections", "scores and weights"
FEED_FORWARD, ADD_NORM, OUTPUT = "feed-forward", "add and norm", "output"
WORK = (EMBEDDING, MASKS, PROJECTIONS, SCORES, FEED_FORWARD, ADD_NORM, OUTPUT)


class Lengths(NamedTuple):
    """The size of the model's input: rows of the batch, and tokens of each source and of each target, padding included."""

    batch: int
    source: int
    target: int


class Cost(NamedTuple):
    """The cost of a part of the model.

    Attributes:
        parameters: number of trainable numbers.
        flops: multiplications and additions of one forward pass: 2·m·n·k for each product of matrices `[m, k] · [k, n]`, and
            nothing for other steps.
        bytes: size of all tensors of one forward pass (a `Trace`), if each had its own memory. A trace needs fewer bytes
            (`Trace.tensor_bytes`), because some tensors share memory.
    """

    parameters: int
    flops: int
    bytes: int


def total(costs: Iterable[Cost]) -> Cost:
    """The sum of several costs: one `Cost` with the sums of their parameters, FLOPs and bytes."""
    return Cost(*(sum(values) for values in zip(Cost(0, 0, 0), *costs, strict=True)))


def parameters(config: TransformerConfig) -> int:
    """How many trainable numbers a model has: `sum(p.numel() for p in Transformer(config).parameters())`, but without building
    the model."""
    return sum(_parameters(config).values())


def cost(config: TransformerConfig, lengths: Lengths) -> dict[str, Cost]:
    """The cost of each kind of work (`WORK`, such as `projections` or `feed-forward`) in one forward pass with a source and a
    target: kind of work → cost, in the order of `WORK`. No model of this size is built or run.

    Args:
        config: configuration of the model.
        lengths: size of the input. Lengths beyond `config.max_len` are counted as if the model had positions for them.
    """
    parameters, flops, sizes = _parameters(config), _flops(config, lengths), _bytes(config, lengths)
    return {work: Cost(parameters.get(work, 0), flops.get(work, 0), sizes.get(work, 0)) for work in WORK}


class Growth(NamedTuple):
    """The cost of each kind of work for growing values of one size, as `growth` returns it.

    Attributes:
        sizes: the values of the size that grows, in rising order.
        costs: for each value in `sizes`: kind of work → cost.
        present: the value of this size in the arguments of `growth`; one of `sizes`.
        models: for each value in `sizes`: the configuration of the model and the lengths of its input.
        limit: the model's `max_len`, if the length grows and `sizes` has values beyond `max_len`; else None.
    """

    sizes: tuple[int, ...]
    costs: tuple[dict[str, Cost], ...]
    present: int
    models: tuple[tuple[TransformerConfig, Lengths], ...]
    limit: int | None = None


def growth(config: TransformerConfig, lengths: Lengths, along: str) -> Growth:
    """The costs of a model for smaller and larger values of one of its sizes, or of the length of its text.

    Args:
        config, lengths: the present model and the size of its input.
        along: which size changes, one of `ALONG`. `length`: the lengths of source and target, whose difference stays the same;
            without a source, the length of the target. `d_model`: multiples of the number of heads; d_ff keeps its ratio to
            d_model. `heads`: the divisors of d_model. `layers`: the numbers of encoder and decoder layers, whose difference
            stays the same.

    Raises:
        InputError: `along` is not in `ALONG`.
    """
    if along not in ALONG:
        raise InputError("{along!r} cannot grow; allowed are {allowed}.", along=along, allowed=", ".join(ALONG))
    if along == "length":
        less, present = lengths.target - lengths.source, lengths.source
        if not lengths.source:  # a decoder alone
            less, present = 0, lengths.target
        sizes = _spread(max(1, 1 - less), LONGEST, present)
        models = [(config, Lengths(lengths.batch, size if lengths.source else 0, size + less)) for size in sizes]
        return _growth(sizes, present, models, config.max_len if config.max_len < sizes[-1] else None)
    if along == "d_model":
        widest = min(WIDEST, LARGEST_TABLE // config.max_len) // config.heads
        sizes = tuple(config.heads * width for width in _spread(1, widest, config.d_head))
        ratio = config.d_ff / config.d_model
        configs = [config.replace(d_model=size, d_ff=min(LARGEST["d_ff"], max(1, round(ratio * size)))) for size in sizes]
        present = config.d_model
    elif along == "heads":
        sizes = tuple(size for size in range(1, LARGEST["heads"] + 1) if config.d_model % size == 0)
        configs, present = [config.replace(heads=size) for size in sizes], config.heads
    else:
        less = config.decoder_layers - config.encoder_layers
        deepest = min(max(DEEPEST, config.encoder_layers), LARGEST["decoder_layers"] - less)
        sizes = tuple(range(max(1, 1 - less), deepest + 1))
        configs = [config.replace(encoder_layers=size, decoder_layers=size + less) for size in sizes]
        present = config.encoder_layers
    return _growth(sizes, present, [(grown, lengths) for grown in configs])


def _growth(
    sizes: tuple[int, ...], present: int, models: Sequence[tuple[TransformerConfig, Lengths]], limit: int | None = None
) -> Growth:
    return Growth(sizes, tuple(cost(*model) for model in models), present, tuple(models), limit)


def crossing(config: TransformerConfig, batch: int) -> int:
    """The smallest length in tokens, the same for source and target, at which the scores and weighted averages of all
    attentions take more FLOPs than all feed-forward networks."""

    def over(length: int) -> bool:
        costs = cost(config, Lengths(batch, length, length))
        return costs[SCORES].flops > costs[FEED_FORWARD].flops

    most = 1
    while not over(most):
        most *= 2
    return bisect.bisect_left(range(most + 1), True, lo=most // 2, key=over)


def _spread(least: int, most: int, present: int, count: int = 60) -> tuple[int, ...]:
    """At most `count` + 2 rising whole numbers from `least` to `most` (to `present`, if it is larger). Each is larger than the
    one before by about the same factor. `present` is one of them."""
    ratio = max(most, present) / least
    return tuple(sorted({*(round(least * ratio ** (step / count)) for step in range(count + 1)), present}))


def work_of(stack: str, sublayer: str, name: str) -> str:
    """The kind of work that computes a tensor of the forward pass: one of `WORK`.

    Args:
        stack, sublayer, name: the parts of the tensor's path, such as `decoder`, `cross_attention` and `scores`
            (`TensorPath`). `stack` is empty outside encoder and decoder, `sublayer` outside the layers.
    """
    if not stack and name.endswith("_mask"):
        return MASKS
    if not stack and "_embedding." in name:
        return EMBEDDING
    if not stack:
        return OUTPUT
    if sublayer == "feed_forward":
        return FEED_FORWARD
    if sublayer.endswith("_attention"):
        return PROJECTIONS if name.startswith(("query.", "key.", "value.")) or name == "output" else SCORES
    return ADD_NORM


def activation_flops(config: TransformerConfig, stack: str, sublayer: str, name: str, lengths: Lengths) -> int:
    """FLOPs of the product of matrices whose result is a given tensor of the forward pass: 2 × numbers in the tensor × terms in
    the sum for each number. 0 if the tensor is not a product of matrices.

    Args:
        config, lengths: the model and the size of its input.
        stack, sublayer, name: the parts of the tensor's path, such as `decoder`, `cross_attention` and `scores`.
    """
    factors = flop_factors(config, stack, sublayer, name, lengths)
    return math.prod(size for _, size in factors) if factors else 0


# The name of a size, such as an axis, and the size. A constant has an empty name.
Factors = tuple[tuple[str, int], ...]


def flop_factors(config: TransformerConfig, stack: str, sublayer: str, name: str, lengths: Lengths) -> Factors:
    """The factors whose product is `activation_flops` of the same arguments: ("", 2), then (name, size) of each axis. Empty if
    the tensor is not a product of matrices."""
    sizes = axis_sizes(config, lengths, stack, sublayer)
    if not stack and name == "logits":
        axes = ("batch", "target", "vocab", "d_model")
    elif sublayer == "feed_forward":
        axes = ("batch", "position", "d_model", "d_ff") if name in ("hidden", "output") else ()
    elif not sublayer.endswith("_attention"):
        axes = ()
    elif name in ("scores", "head_output"):
        axes = ("batch", "head", "query", "key", "d_head")
    elif name == "output":
        axes = ("batch", "query", "d_model", "d_model")
    elif name.endswith(".projected"):
        width = "d_model" if config.head_projection == "per_head" else "d_head"  # of the input of one sum
        axes = ("batch", "query" if name.startswith("query") else "key", "d_model", width)
    else:
        axes = ()
    return (("", 2), *((axis, sizes[axis]) for axis in axes)) if axes else ()


def axis_sizes(config: TransformerConfig, lengths: Lengths, stack: str, sublayer: str, name: str = "") -> dict[str, int]:
    """Name of an axis, such as `query` → its size in a given tensor of the forward pass.

    Args:
        config, lengths: the model and the size of its input.
        stack, sublayer, name: the parts of the tensor's path, such as `decoder`, `cross_attention`, `scores`. `name` matters
            only if `stack` is empty.
    """
    queries = lengths.source if stack == "encoder" or name.startswith("source_") else lengths.target
    keys = lengths.source if sublayer == "cross_attention" else queries
    sizes = {"batch": lengths.batch, "head": config.heads, "vocab": config.target_vocab, "1": 1}
    sizes |= {"d_model": config.d_model, "d_head": config.d_head, "d_ff": config.d_ff}
    return sizes | {"source": lengths.source, "target": lengths.target, "query": queries, "key": keys, "position": queries}


def _projection_width(config: TransformerConfig) -> int:
    """The width of the vectors that the linear maps to queries, keys and values are applied to."""
    return config.d_model if config.head_projection == "per_head" else config.d_head


def _parameters(config: TransformerConfig) -> dict[str, int]:
    d_model, width = config.d_model, _projection_width(config)
    # A matrix that the embedding and the output share is counted in the embedding.
    attentions, layers = config.encoder_layers + 2 * config.decoder_layers, config.encoder_layers + config.decoder_layers
    projections = 3 * (width**2 + width * config.projection_bias) + d_model**2 + d_model * config.output_bias
    positions = 2 * config.max_len * (config.position == "learned")
    return {
        EMBEDDING: (config.source_vocab * (config.tied_weights != "all") + config.target_vocab + positions) * d_model,
        PROJECTIONS: attentions * projections,
        FEED_FORWARD: layers * (2 * d_model * config.d_ff + config.d_ff + d_model),
        ADD_NORM: (attentions + layers + 2 * config.final_norm) * 2 * d_model,
        OUTPUT: config.target_vocab * (d_model * (config.tied_weights == "nothing") + 1),
    }


def _flops(config: TransformerConfig, lengths: Lengths) -> dict[str, int]:
    attention = ("query.projected", "key.projected", "value.projected", "scores", "head_output", "output")
    multiplied = {"self_attention": attention, "cross_attention": attention, "feed_forward": ("hidden", "output")}
    flops = {OUTPUT: activation_flops(config, "", "", "logits", lengths)}
    for stack, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for sublayer, names in multiplied.items():
            if (stack, sublayer) == ("encoder", "cross_attention"):
                continue
            for name in names:
                work = work_of(stack, sublayer, name)
                flops[work] = flops.get(work, 0) + layers * activation_flops(config, stack, sublayer, name, lengths)
    return flops


def _bytes(config: TransformerConfig, lengths: Lengths) -> dict[str, int]:
    sizes: dict[str, int] = dict.fromkeys(WORK, 0)
    layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    for tensor in _tensors(_variant(config)):
        own = axis_sizes(config, lengths, tensor.stack, tensor.sublayer, tensor.name)
        times = layers[tensor.stack] if tensor.sublayer else 1
        number = BOOL if tensor.work == MASKS else FLOAT
        sizes[tensor.work] += times * number * math.prod(own[axis] for axis in tensor.axes)
    return sizes


class _Tensor(NamedTuple):
    """A tensor of a trace: the parts of its path as in `work_of`, the kind of work that computes it, and its axes."""

    stack: str
    sublayer: str
    name: str
    work: str
    axes: tuple[str, ...]


def _variant(config: TransformerConfig) -> TransformerConfig:
    """The smallest configuration whose model has the same taps in each layer as the model of `config`."""
    vocabularies = {"source_vocab": 4, "target_vocab": 4, "source_pad": 0, "target_pad": 0}
    sizes = {"d_model": 2, "heads": 1, "d_ff": 1, "max_len": 1, "encoder_layers": 1, "decoder_layers": 1}
    return config.replace(**vocabularies, **sizes, dropout=0.0)


@lru_cache(maxsize=64)
def _tensors(variant: TransformerConfig) -> tuple[_Tensor, ...]:
    """The tensors of a trace of a model with one layer in each stack, read from the taps that its modules declare."""
    with torch.device("meta"):
        taps = Transformer(variant).taps
    tensors = []
    for path, tap in taps.items():
        stack, _, inside = path.partition(".")
        if stack not in ("encoder", "decoder"):
            stack, inside = "", path
        sublayer, _, name = (
            inside.removeprefix("layers.0.").partition(".") if inside.startswith("layers.") else ("", "", inside)
        )
        tensors.append(_Tensor(stack, sublayer, name, work_of(stack, sublayer, name), tap.axes))
    return tuple(tensors)
