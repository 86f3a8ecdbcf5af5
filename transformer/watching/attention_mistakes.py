"""Mistakes in an attention: scaling, masks, softmax, heads, and wrong inputs."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations

import torch
from torch import Tensor, nn

from transformer.network.masks import Mask, padding_keys, source_mask, target_mask
from transformer.network.tap import Scope
from transformer.tracing.paths import BRANCHES, Kind
from transformer.watching.alterations import Alteration, Candidate, Change
from transformer.watching.mask_mistakes import after_softmax, axes, edited, masks
from transformer.watching.places import Setting


def attention_mistakes(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in an attention, at every place."""
    yield from scalings(setting)
    yield from masks(setting)
    yield from after_softmax(setting)
    yield from axes(setting)
    yield from projections(setting)
    yield from heads(setting)
    yield from activations(setting)
    yield from memories(setting)


def scalings(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in the scaling: scores that are not scaled, or are scaled by another factor than
    in our `Transformer`."""
    divisor, config = setting.config.score_scale, setting.config
    numbers = {
        "no scaling": ("scores are not divided by √d_head", 1.0),
        "scaled by √d_head": ("scores are divided by √d_head", math.sqrt(config.d_head)),
        "scaled by √d_model": ("scores are divided by √d_model instead of √d_head", math.sqrt(config.d_model)),
        "scaled by d_head": ("scores are divided by d_head instead of its root, or twice by the root", float(config.d_head)),
        "scaled by d_model": ("scores are divided by d_model", float(config.d_model)),
        "scaled by √heads": ("scores are divided by the root of the number of heads", math.sqrt(config.heads)),
        "multiplied by √d_head": ("scores are multiplied by √d_head instead of divided", 1 / math.sqrt(config.d_head)),
    }
    grouped: dict[float, list[str]] = {}  # with some sizes, two mistakes have equal numbers
    for name, (_, number) in numbers.items():
        if abs(number - divisor) > 1e-6:
            grouped.setdefault(round(number, 6), []).append(name)
    for names in grouped.values():
        name, words = " or ".join(names), ", or ".join(numbers[each][0] for each in names)
        yield from _each(setting, name, words, "scaled_scores", partial(_times, divisor / numbers[names[0]][1]), *Kind)
    words = "scores are divided by the root of the number of keys, so by another axis than d_head"
    yield from _each(
        setting, "scaled by √keys", words, "scaled_scores", lambda x, _: x * divisor / math.sqrt(x.shape[-1]), *Kind
    )


def _times(factor: float, values: Tensor, _scope: Scope) -> Tensor:
    return values * factor


def _each(
    setting: Setting, name: str, words: str, tap: str, function: Callable[[Tensor, Scope], Tensor], *kinds: Kind
) -> Iterator[Candidate]:
    """Yields a candidate for each group of attentions of these `kinds`: `function` changes the tensor `tap` of each
    attention."""
    for where, paths in setting.attention_places(*kinds):
        edits = tuple(Change(f"{path}.{tap}", function) for path in paths)
        yield Candidate((name,), (words,), where, paths, partial(Alteration, edits))


def projections(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in projections: query, key and value exchanged, or a projection left out."""
    for order in [*permutations(range(3))][1:]:
        changed = [f"{BRANCHES[place]} by {BRANCHES[other]}" for place, other in enumerate(order) if place != other]
        pair = [BRANCHES[place] for place, other in enumerate(order) if place != other]
        name = f"{pair[0]} and {pair[1]} exchanged" if len(pair) == 2 else "query, key and value exchanged"
        words = f"{' and '.join(pair) if len(pair) == 2 else 'query, key and value'} are exchanged ({', '.join(changed)})"
        for where, paths in setting.attention_places():
            parts = []
            for path in paths:
                maps = [setting.module(f"{path}.{branch}.projection") for branch in BRANCHES]
                owners = [setting.module(f"{path}.{branch}") for branch in BRANCHES]
                parts += [(owners[place], "projection", maps[other]) for place, other in enumerate(order)]
            yield Candidate((name,), (words,), where, paths, partial(Alteration, (), tuple(parts)))
    words = "query and key are exchanged in the product, so the scores are transposed"
    for where, paths in setting.attention_places():
        edits = [Change(f"{path}.scores", lambda values, _: values.mT) for path in paths]
        yield Candidate(("query and key exchanged",), (words,), where, paths, partial(edited, edits))
    for branch in (*(f"{branch}.projection" for branch in BRANCHES), "output_projection"):
        part = branch.partition(".")[0].replace("_", " ")
        for where, paths in setting.attention_places():
            owners = [setting.module(".".join([path, *branch.split(".")[:-1]])) for path in paths]
            parts = [(owner, branch.rpartition(".")[2], nn.Identity()) for owner in owners]
            words = f"the {part} is not projected" if "." in branch else "the output projection after the heads is left out"
            yield Candidate((f"no {part}",), (words,), where, paths, partial(Alteration, (), tuple(parts)))


def activations(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries with activation functions in an attention, which should have none."""
    functions: dict[str, Callable[[Tensor], Tensor]] = {"ReLU": torch.relu, "GELU": nn.functional.gelu, "tanh": torch.tanh}
    for name, function in functions.items():
        for tap, place in (("output", "after the output projection"), ("concatenated", "before the output projection")):
            words = f"the attention has an activation function, {name}, {place}"
            yield from _each(setting, "activation in the attention", words, tap, partial(_applied, function), *Kind)


def _applied(function: Callable[[Tensor], Tensor], values: Tensor, _scope: Scope) -> Tensor:
    return function(values)


def heads(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in heads: they are split or joined without a transposition, so that positions
    are mixed."""
    for where, paths in setting.attention_places():
        split = [_split(path, branch) for path in paths for branch in BRANCHES]
        joined = [_joined(path) for path in paths]
        words = "heads are split by view or reshape without a transposition, which mixes positions"
        other = "heads are joined without transposing them back, which mixes positions"
        yield Candidate(("heads split without transposition",), (words,), where, paths, partial(edited, split))
        yield Candidate(("heads joined without transposition",), (other,), where, paths, partial(edited, joined))
        names = ("heads split without transposition", "heads joined without transposition")
        yield Candidate(names, (words, other), where, paths, partial(edited, split + joined))


def _split(path: str, branch: str) -> Change:
    return Change(
        f"{path}.{branch}.heads",
        lambda values, scope: scope.values[f"{path}.{branch}.projected"].reshape(values.shape),
    )


def _joined(path: str) -> Change:
    return Change(f"{path}.concatenated", lambda values, scope: scope.values[f"{path}.head_output"].reshape(values.shape))


def memories(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in the inputs of the decoder: it reads the encoder's input, or cross-attention
    makes its queries, keys or values from the wrong stack."""
    encoder = tuple(path for path in setting.sublayers if path.startswith("encoder"))
    words = "the decoder reads the encoder's input (the embeddings) instead of its output"
    edit = Change("encoder.output", lambda _, scope: scope.values["source_embedding.sum"])
    cross = tuple(path for path, kind in setting.attentions.items() if kind == Kind.CROSS)
    yield Candidate(
        ("memory is the encoder's input",), (words,), "cross-attention", ("encoder", *encoder, *cross), partial(edited, [edit])
    )
    words = "cross-attention takes its keys and values from the decoder instead of the encoder"
    square = setting.source.shape[1] == setting.target.shape[1]
    everything = Mask.of(torch.ones(len(setting.target), 1, 1, setting.target.shape[1], dtype=torch.bool))
    own = Mask.of(target_mask(setting.target, setting.config))
    keys = Mask.of(padding_keys(setting.target, setting.config.target_pad))
    source = [Mask.of(source_mask(setting.source, setting.config))] if square else []
    for mask in (everything, own, keys, *source):
        yield from _rewired(setting, "cross-attention reads the decoder", words, mask, ("x", "x"))
        layers = [setting.module(path.rpartition(".")[0]) for path in cross]
        parts = tuple((layer, "forward", partial(_read_own_input, layer.forward, mask)) for layer in layers)
        name, make = "cross-attention reads the decoder", partial(Alteration, (), parts)
        yield Candidate((name,), (f"{words}: the input of the layer",), "cross-attention", cross, make)
    for mask in source:
        words = "cross-attention takes its values from the decoder instead of the encoder"
        yield from _rewired(setting, "values from the decoder", words, mask, ("memory", "x"))
        words = "cross-attention takes its keys from the decoder instead of the encoder"
        yield from _rewired(setting, "keys from the decoder", words, mask, ("x", "memory"))
    words = "cross-attention takes its queries from the encoder and its keys and values from the decoder"
    for mask in (everything, own, keys, *source) if square else ():
        yield from _rewired(setting, "query and memory exchanged", words, mask, ("x", "x"), query="memory")


def _rewired(
    setting: Setting, name: str, words: str, mask: Mask, inputs: tuple[str, str], query: str = "x"
) -> Iterator[Candidate]:
    for where, paths in setting.attention_places(Kind.CROSS):
        modules = [setting.module(path) for path in paths]
        parts = [(module, "forward", partial(_read, module.forward, mask, query, inputs[0])) for module in modules]
        if inputs[0] == inputs[1]:
            yield Candidate((name,), (words,), where, paths, partial(Alteration, (), tuple(parts)))
            continue
        branch = "key" if inputs[0] == "x" else "value"
        for layer_input in (False, True):
            changes = [_from_decoder(setting, path, branch, layer_input) for path in paths]
            yield Candidate((name,), (words,), where, paths, partial(edited, changes))


def _read(forward: Callable[..., Tensor], mask: Mask, query: str, memory: str, x: Tensor, own: Tensor, *_: object) -> Tensor:
    """The result of the attention `forward` with other inputs: for `query` and `memory`, "x" means the vectors of the decoder,
    `x`; "memory" means the output of the encoder, `own`."""
    given = {"x": x, "memory": own}
    return forward(given[query], given[memory], mask)


def _read_own_input(forward: Callable[..., Tensor], mask: Mask, x: Tensor, _memory: Tensor, own: Mask, *_: object) -> Tensor:
    """The result of a layer of the decoder whose cross-attention reads the input of the layer instead of the memory."""
    return forward(x, x, own, mask)


def _from_decoder(setting: Setting, path: str, branch: str, layer_input: bool) -> Change:
    """The change with which cross-attention makes its keys or values (`branch`) from the decoder: from the vectors that the
    queries are made from, or, with `layer_input`, from the input of the layer."""
    first, layer = setting.config.norm_first, path.rpartition(".")[0]
    own = f"{layer}.{'cross' if first else 'self'}_attention_add_norm.normalized"
    read = setting.layer_input(path) if layer_input else own
    projection = setting.module(f"{path}.{branch}.projection")

    def function(values: Tensor, scope: Scope) -> Tensor:
        return projection(scope.values[read]).unflatten(-1, (values.shape[1], -1)).transpose(1, 2)

    return Change(f"{path}.{branch}.heads", function)
