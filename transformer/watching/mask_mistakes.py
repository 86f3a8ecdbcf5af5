"""Mistakes in masks and in softmax."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn

from transformer.network.masks import causal, padding_keys, padding_queries, source_mask, target_mask
from transformer.network.tap import Scope
from transformer.tracing.paths import Kind
from transformer.watching.alterations import Alteration, Candidate, Change
from transformer.watching.places import Setting

LOW = -1e9
# Hidden scores with these values leave a visible weight. They are tried even if they are not seen in the scores of theirs.
SMALL_FILLS = (-1.0, -5.0)
OTHER_PADS = 4  # ids below this are tried as padding


# A function that returns weights, given the scaled scores and the mask (True where a query may attend to a key).
Weighing = Callable[[Tensor, Tensor], Tensor]


def masks(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in masks: another mask, or a mask that is used in another way."""
    own, target = causal(setting.target.shape[1]), setting.target
    pad_keys, pad_rows = (make(target, setting.config.target_pad) for make in (padding_keys, padding_queries))
    base = target_mask(target, setting.config)
    everything = torch.ones_like(base)
    decoder = {
        "no causal mask": (
            "there is no causal mask: a token attends to later ones",
            [base | ~own, pad_keys & everything, pad_rows & everything, everything],
        ),
        "target padding attended": ("padding of the target is attended", [own & everything]),
        "target padding hidden as keys": ("padding of the target is hidden from all tokens, as keys", [own & pad_keys]),
        "target padding hidden as queries": ("padded tokens of the target attend to nothing", [own & pad_rows]),
        "inverted mask": (
            "the mask is inverted: what should be hidden is attended",
            [~base, ~own & everything, ~own & pad_keys],
        ),
        "causal mask hides the token itself": (
            "the causal mask also hides the token itself",
            [base & everything.tril(-1), everything.tril(-1)],
        ),
        "causal mask one token late": (
            "the causal mask lets a token see the next one",
            [(base | ~own) & everything.tril(1), pad_keys & everything.tril(1), everything.tril(1)],
        ),
        "causal mask the wrong way": (
            "the causal mask hides earlier tokens instead of later ones",
            [(base | ~own) & everything.triu(), pad_keys & everything.triu(), everything.triu()],
        ),
    }
    for name, (words, keeps) in decoder.items():
        for keep in keeps:
            if not torch.equal(keep & everything, base):
                yield from _masked(setting, name, words, keep, Kind.DECODER)
    pads = source_mask(setting.source, setting.config)
    for kinds in ((Kind.ENCODER, Kind.CROSS), (Kind.ENCODER,), (Kind.CROSS,)):
        if not bool(pads.all()):
            words = "padding of the source is attended"
            yield from _masked(setting, "source padding attended", words, torch.ones_like(pads), *kinds)
            words = "the mask of the source is inverted: padding is attended, and tokens are hidden"
            yield from _masked(setting, "inverted mask", words, ~pads, *kinds)
    length = setting.source.shape[1]
    words = "there is a causal mask in the encoder"
    for keep in (pads & causal(length), causal(length)):
        yield from _masked(setting, "causal mask in the encoder", words, keep, Kind.ENCODER)
    yield from _masks_of_others(setting)
    yield from _uses_of_the_mask(setting)


def _masks_of_others(setting: Setting) -> Iterator[Candidate]:
    """Yields mistakes: the mask of another attention, a causal mask in cross-attention, or another id of padding."""
    source, target, config = setting.source, setting.target, setting.config
    pads, own = source_mask(source, config), target_mask(target, config)
    square, queries = source.shape[1] == target.shape[1], target.shape[1]
    later = torch.ones(1, 1, queries, source.shape[1], dtype=torch.bool).tril()
    words = "there is a causal mask in cross-attention"
    for keep in (pads & later, later):
        yield from _masked(setting, "causal mask in cross-attention", words, keep, Kind.CROSS)
    if square:
        keys = padding_keys(target, config.target_pad)
        for kinds in ((Kind.CROSS,), (Kind.ENCODER,), (Kind.ENCODER, Kind.CROSS)):
            for keep in (own, keys, keys & causal(queries)):
                yield from _masked(setting, "mask of the target", "the mask of the target is used", keep, *kinds)
        for keep in (pads, pads & causal(queries)):
            yield from _masked(setting, "mask of the source", "the mask of the source is used", keep, Kind.DECODER)
    for pad in range(OTHER_PADS):
        words = f"padding is taken to be the id {pad}"
        if pad != config.source_pad and bool((source == pad).any()):
            yield from _masked(setting, "another padding id", words, padding_keys(source, pad), Kind.ENCODER, Kind.CROSS)
        if pad != config.target_pad and bool((target == pad).any()):
            keep = padding_keys(target, pad) & causal(queries)
            yield from _masked(setting, "another padding id", words, keep, Kind.DECODER)


def _masked(setting: Setting, name: str, words: str, keep: Tensor, *kinds: Kind) -> Iterator[Candidate]:
    """Yields candidates whose attentions have the mask `keep`, True where a query may attend to a key. If the mask hides every
    key of a query, the weights depend on how it hides. Then several ways are tried: a low number or −∞ in place of a score, or
    a low number added to the score."""
    ways: list[Weighing] = [lambda scores, _: scores.masked_fill(~keep, LOW).softmax(-1)]
    if not bool(keep.any(-1).all()):
        ways.append(lambda scores, _: (scores + torch.where(keep, 0.0, -1e4)).softmax(-1))
        ways.append(lambda scores, _: scores.masked_fill(~keep, -math.inf).softmax(-1).nan_to_num(0.0))
        ways.append(lambda scores, _: scores.masked_fill(~keep, -math.inf).softmax(-1))
    for way in ways:
        yield from _weighed(setting, name, words, way, kinds)


def _weighed(setting: Setting, name: str, words: str, way: Weighing, kinds: tuple[Kind, ...]) -> Iterator[Candidate]:
    """Yields a candidate for each group of attentions: `way` computes the weights from the scaled scores and the mask."""

    def change(path: str) -> Change:
        def function(_: Tensor, scope: Scope) -> Tensor:
            scores = scope.values[f"{path}.scaled_scores"]
            return way(scores, scope.values.masks[path].expand(scores.shape))

        return Change(f"{path}.weights", function)

    for where, paths in setting.attention_places(*kinds):
        yield Candidate((name,), (words,), where, paths, partial(edited, [change(path) for path in paths]))


def edited(edits: list[Change]) -> Alteration:
    """An alteration of a pass that consists of these edits of tensors."""
    return Alteration(tuple(edits))


def _uses_of_the_mask(setting: Setting) -> Iterator[Candidate]:
    divisor = setting.config.score_scale
    ways: dict[str, tuple[str, Weighing]] = {
        "hidden scores are 0": (
            "hidden scores become 0 (or nearly 0, such as 1e-9) instead of −∞",
            lambda scores, keep: scores.masked_fill(~keep, 0.0).softmax(-1),
        ),
        "mask added as 1 and 0": (
            "the mask is added as numbers 1 and 0",
            lambda scores, keep: (scores + keep.float()).softmax(-1),
        ),
        "hidden added as 1": (
            "the mask is added as 1 where a key is hidden",
            lambda scores, keep: (scores + (~keep).float()).softmax(-1),
        ),
        "inverted mask": ("the mask is inverted", lambda scores, keep: scores.masked_fill(keep, LOW).softmax(-1)),
        "mask with the wrong sign": (
            "the mask is added with the wrong sign: hidden keys get all attention",
            lambda scores, keep: scores.masked_fill(~keep, -LOW).softmax(-1),
        ),
        "scaling after softmax": (
            "the weights are divided by √d_head after softmax, instead of the scores before it",
            lambda scores, keep: (scores * divisor).masked_fill(~keep, LOW).softmax(-1) / divisor,
        ),
        "scaling also after softmax": (
            "the weights are divided by √d_head again, after softmax",
            lambda scores, keep: scores.masked_fill(~keep, LOW).softmax(-1) / divisor,
        ),
        "softmax twice": (
            "softmax is applied twice",
            lambda scores, keep: scores.masked_fill(~keep, LOW).softmax(-1).softmax(-1),
        ),
        "1 added in softmax": (
            "the exponentials are divided by their sum plus 1, so that the weights of a query do not sum to 1",
            lambda scores, keep: _with_a_score_of_0(scores.masked_fill(~keep, LOW)),
        ),
        "no mask": ("no mask is applied", lambda scores, _: scores.softmax(-1)),
    }
    for fill in dict.fromkeys((*SMALL_FILLS, *setting.hidden)):
        ways[f"hidden scores are −{-fill:g}"] = (
            f"hidden scores become −{-fill:g} instead of −∞: that is not low enough",
            lambda scores, keep, fill=fill: scores.masked_fill(~keep, fill).softmax(-1),
        )
    for name, (words, way) in ways.items():
        yield from _weighed(setting, name, words, way, tuple(Kind))


def _with_a_score_of_0(scores: Tensor) -> Tensor:
    """The weights if there were one more key, with the score 0. The weight of this key is left out of the result."""
    return nn.functional.pad(scores, (0, 1)).softmax(-1)[..., :-1]


def after_softmax(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries with masks after softmax: a mask is applied to the weights, so a row does not
    sum to 1."""
    words = "the mask is multiplied after softmax, so that the weights of a query no longer sum to 1"
    yield from _weighed(setting, "mask after softmax", words, lambda scores, keep: scores.softmax(-1) * keep, tuple(Kind))
    for fill in dict.fromkeys((*setting.fills, LOW, -1e4, -math.inf)):
        words = "the mask is applied after softmax, to the weights instead of the scores"

        def added(scores: Tensor, keep: Tensor, fill: float = fill) -> Tensor:
            return scores.softmax(-1) + torch.where(keep, 0.0, fill)

        def filled(scores: Tensor, keep: Tensor, fill: float = fill) -> Tensor:
            return scores.softmax(-1).masked_fill(~keep, fill)

        yield from _weighed(setting, "mask after softmax", words, filled, tuple(Kind))
        yield from _weighed(setting, "mask after softmax", words, added, tuple(Kind))


def axes(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in the axis of softmax: an axis other than the keys."""
    for axis, of in ((2, "queries"), (1, "heads"), (0, "texts of the batch")):
        for least, empty in ((LOW, None), (-math.inf, 0.0), (-math.inf, None)):

            def change(path: str, axis: int = axis, least: float = least, empty: float | None = empty) -> Change:
                def function(_: Tensor, scope: Scope) -> Tensor:
                    scores, keep = scope.values[f"{path}.scaled_scores"], scope.values.masks[path]
                    weights = scores.masked_fill(~keep, least).softmax(axis)
                    return weights if empty is None else weights.nan_to_num(empty)

                return Change(f"{path}.weights", function)

            words = f"softmax runs over the {of} instead of the keys"
            for where, paths in setting.attention_places():
                make = partial(edited, [change(path) for path in paths])
                yield Candidate((f"softmax over {of}",), (words,), where, paths, make)
