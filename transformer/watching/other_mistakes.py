"""Mistakes outside of attentions: norms and residual connections, feed-forward networks, embeddings, ids, the output."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from transformer.network.embedding import sinusoid
from transformer.network.tap import Scope
from transformer.watching.alterations import Alteration, Candidate, Change
from transformer.watching.places import Setting

EPS = (1e-3, 1e-2, 1e-1, 1.0, 1e-5, 1e-6, 1e-8, 1e-12)
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "no activation": lambda x: x,
    "ReLU": torch.relu,
    "GELU": nn.functional.gelu,
    "GELU (tanh)": partial(nn.functional.gelu, approximate="tanh"),
    "SiLU": nn.functional.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "leaky ReLU": nn.functional.leaky_relu,
    "ELU": nn.functional.elu,
    "softmax": lambda x: x.softmax(-1),
    "square of ReLU": lambda x: torch.relu(x) ** 2,
}


def other_mistakes(setting: Setting) -> Iterator[Candidate]:
    """Every mistake outside of attentions, at every place."""
    yield from embeddings(setting)
    yield from norms(setting)
    yield from residuals(setting)
    yield from final_norms(setting)
    yield from feed_forwards(setting)
    yield from ids(setting)
    yield from outputs()


# --- embeddings ------------------------------------------------------------------------------------------------------------


def embeddings(setting: Setting) -> Iterator[Candidate]:
    """Another scale of tokens, other positions, or both."""
    root = math.sqrt(setting.config.d_model)
    usual = root if setting.config.scale_embedding else 1.0
    scales: dict[str, tuple[str, float, float]] = {"": ("", usual, 1.0)}
    if usual == 1.0:
        scales["embedding scaled"] = ("token embeddings are multiplied by √d_model, ours are not", root, 1.0)
    else:
        scales["embedding not scaled"] = ("token embeddings are not multiplied by √d_model", 1.0, 1.0)
    scales["positions scaled too"] = ("the sum of token and position is multiplied by √d_model", root, root)
    scales["embedding divided"] = ("token embeddings are divided by √d_model", 1 / root, 1.0)
    for sides, where in ((("source", "target"), "both embeddings"), (("source",), "the source"), (("target",), "the target")):
        for scale, (scale_words, token, position) in scales.items():
            for name, words, make in (("", "", None), *_positions(setting)):
                if scale or name:
                    edits = tuple(_summed(setting, side, token, position, make) for side in sides)
                    names, listed = (tuple(each for each in pair if each) for pair in ((scale, name), (scale_words, words)))
                    parts = tuple(f"{side}_embedding" for side in sides)
                    yield Candidate(names, listed, where, parts, partial(Alteration, edits))


def _positions(setting: Setting) -> Iterator[tuple[str, str, Callable[[str, Tensor, Tensor], Tensor]]]:
    """Name and words of a mistake of positions, and a function of side, positions and ids that returns other positions."""
    yield "positions not added", "positions are not added", lambda _side, positions, _ids: positions * 0
    yield "positions added twice", "positions are added twice", lambda _side, positions, _ids: positions * 2
    config = setting.config
    width, longest = config.d_model, config.max_len
    if config.position == "learned":
        words = "positions are counted from 1 instead of 0"

        def shifted(side: str, positions: Tensor, _ids: Tensor) -> Tensor:
            table = setting.module(f"{side}_embedding.positions.table").get_parameter("weight")
            return table[1 : len(positions) + 1] if len(table) > len(positions) else positions

        yield "positions off by one", words, shifted
        return
    order = config.sinusoid_order
    other = "halves" if order == "alternating" else "alternating"
    tables: dict[str, tuple[str, Callable[[int], Tensor]]] = {
        "positions in another order": (
            f"sines and cosines are {'in halves (all sines first, then all cosines)' if other == 'halves' else 'alternating'}",
            lambda length: sinusoid(length, width, other),
        ),
        "positions off by one": (
            "positions are counted from 1 instead of 0",
            lambda length: sinusoid(length + 1, width, order)[1:],
        ),
        "positions backwards": ("positions are counted backwards", lambda length: sinusoid(length, width, order).flip(0)),
        "sine and cosine exchanged": (
            "sine and cosine are exchanged in the positions",
            lambda length: _angles(length, width, order, 0, True),
        ),
        "every column its own frequency": (
            "the exponent of a position counts columns instead of pairs, so sine and cosine have different frequencies",
            lambda length: _angles(length, width, order, 1, False),
        ),
        "exponent doubled": ("the exponent of a position is doubled", lambda length: _angles(length, width, order, 2, False)),
        "only sines": ("positions have only sines", lambda length: _angles(length, width, order, 3, False)),
    }
    for name, (words, make) in tables.items():
        yield name, words, lambda _side, positions, _ids, make=make: make(len(positions)).to(positions.dtype)
    words = "positions are counted along the texts of the batch instead of along the tokens"
    yield "positions along the batch", words, lambda _side, _p, ids: sinusoid(len(ids), width, order).float()[:, None]
    del longest


def _angles(length: int, width: int, order: str, form: int, exchanged: bool) -> Tensor:
    """Positions whose angles or waves differ: 1, the exponent is the column; 2, twice the pair's; 3, sines only."""
    column = torch.arange(width, dtype=torch.float64)
    pair = column - column % 2
    exponent = {0: pair, 1: 2 * column / 2, 2: 2 * pair, 3: pair}[form]
    angle = torch.arange(length, dtype=torch.float64)[:, None] / 10_000 ** (exponent / width)
    even = column % 2 == (1 if exchanged else 0)
    table = angle.sin() if form == 3 else torch.where(even, angle.sin(), angle.cos())
    return torch.cat([table[:, 0::2], table[:, 1::2]], 1) if order == "halves" else table


def _summed(
    setting: Setting, side: str, token: float, position: float, make: Callable[[str, Tensor, Tensor], Tensor] | None
) -> Change:
    ids = setting.source if side == "source" else setting.target

    def function(_: Tensor, scope: Scope) -> Tensor:
        tokens, positions = (scope.values[f"{side}_embedding.{name}"] for name in ("token", "position"))
        return tokens * token + position * (positions if make is None else make(side, positions, ids))

    return Change(f"{side}_embedding.sum", function)


# --- norms -----------------------------------------------------------------------------------------------------------------


class OtherNorm(nn.Module):
    """A LayerNorm with another formula: the standard deviation instead of the variance, or no mean."""

    def __init__(self, norm: Any, form: str, eps: float) -> None:
        super().__init__()
        self.norm, self.form, self.eps = norm, form, eps

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        if self.form == "rms":
            scaled = x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt()
        elif self.form == "unbiased":
            scaled = centred / (x.std(-1, keepdim=True) + self.eps)
        elif self.form == "unbiased variance":
            scaled = centred / (x.var(-1, keepdim=True) + self.eps).sqrt()
        elif self.form == "variance":
            scaled = centred / (x.var(-1, keepdim=True, unbiased=False) + self.eps)
        else:
            scaled = centred / (x.std(-1, keepdim=True, unbiased=False) + self.eps)
        return scaled * self.norm.weight + self.norm.bias


def norms(setting: Setting) -> Iterator[Candidate]:
    """Norms at another place, left out, or with another formula."""
    first = setting.config.norm_first
    name, words = (
        ("norm after the sub-layer", "the norm comes after the sub-layer and its residual sum, ours comes before (pre-norm)")
        if first
        else ("norm before the sub-layer", "the norm comes before the sub-layer (pre-norm), ours comes after the residual sum")
    )
    yield from _replaced(setting, name, words, lambda path: [(path, "norm_first", not first)])
    yield from _replaced(setting, "no norm", "the norm is left out", lambda path: [(path, "norm", nn.Identity())])
    yield from _epsilons(setting)
    forms = {
        "unbiased": "the norm divides by the standard deviation of d_model − 1 numbers (torch's `std`), and adds ε to it",
        "biased": "the norm adds ε to the standard deviation instead of the variance",
        "unbiased variance": "the norm divides by the root of a variance of d_model − 1 numbers",
        "variance": "the norm divides by the variance instead of its root",
        "rms": "the norm does not subtract the mean (RMSNorm)",
    }
    for form, words in forms.items():
        for eps in (1e-6, 1e-5, 1e-8, 1e-12):
            parts = [(setting.module(f"{path}_add_norm"), "norm", form, eps) for path in setting.sublayers]
            parts += [
                (stack, "norm", form, eps)
                for stack in (setting.model.encoder, setting.model.decoder)
                if setting.config.final_norm
            ]
            made = tuple((owner, key, OtherNorm(owner.norm, kind, least)) for owner, key, kind, least in parts)
            yield Candidate(("another norm",), (words,), "every norm", tuple(setting.sublayers), partial(Alteration, (), made))


def _epsilons(setting: Setting) -> Iterator[Candidate]:
    """Another ε: of each norm, that of theirs, if it is seen; otherwise usual ones."""
    sublayers = [f"{path}_add_norm.norm" for path in setting.sublayers]
    last = [f"{stack}.norm" for stack in ("encoder", "decoder") if setting.config.final_norm]
    own = setting.config.norm_eps
    choices = [{path: eps for path, eps in setting.eps.items() if eps != own}]
    choices += [dict.fromkeys(paths, eps) for eps in EPS for paths in ([*sublayers, *last], sublayers)]
    for choice in filter(None, choices):
        numbers = ", ".join(f"{eps:g}" for eps in dict.fromkeys(choice.values()))
        parts = tuple((setting.module(path), "eps", eps) for path, eps in choice.items())
        where = "every norm" if len(choice) == len(sublayers + last) else f"{len(choice)} norms"
        touched = tuple(path.removesuffix("_add_norm.norm").removesuffix(".norm") for path in choice)
        words = f"the ε of the norm is {numbers}; ours is {own:g}"
        yield Candidate(("another ε",), (words,), where, touched, partial(Alteration, (), parts))


def _replaced(
    setting: Setting, name: str, words: str, parts: Callable[[str], list[tuple[str, str, Any]]]
) -> Iterator[Candidate]:
    for where, paths in setting.sublayer_places():
        listed = tuple((setting.module(owner), key, value) for path in paths for owner, key, value in parts(f"{path}_add_norm"))
        yield Candidate((name,), (words,), where, paths, partial(Alteration, (), listed))


def residuals(setting: Setting) -> Iterator[Candidate]:
    """Residual connections that are left out or go elsewhere."""
    sums: dict[str, tuple[str, str, Callable[[str, Tensor, Scope], Tensor]]] = {
        "no residual": (
            "the residual connection is left out",
            "sum",
            lambda path, _, scope: scope.values[f"{path}.output"],
        ),
        "residual doubled": (
            "the residual connection is added twice",
            "sum",
            lambda path, values, scope: 2 * values - scope.values[f"{path}.output"],
        ),
        "sub-layer added twice": (
            "the result of the sub-layer is added twice",
            "sum",
            lambda path, values, scope: values + scope.values[f"{path}.output"],
        ),
    }
    if setting.config.norm_first:
        sums["residual of the normalised"] = (
            "the residual connection starts after the norm: the normalised vector is added, instead of the one before the norm",
            "sum",
            lambda path, _, scope: scope.values[f"{path}_add_norm.normalized"] + scope.values[f"{path}.output"],
        )
    else:
        sums["norm before the residual sum"] = (
            "the result of the sub-layer is normalised alone, before the residual sum",
            "normalized",
            lambda path, _, scope: _normed_alone(setting, path, scope),
        )
    for name, (words, tap, function) in sums.items():
        for where, paths in setting.sublayer_places():
            edits = tuple(
                Change(f"{path}_add_norm.{tap}", lambda values, scope, path=path, make=function: make(path, values, scope))
                for path in paths
            )
            yield Candidate((name,), (words,), where, paths, partial(Alteration, edits))


def _normed_alone(setting: Setting, path: str, scope: Scope) -> Tensor:
    output = scope.values[f"{path}.output"]
    return scope.values[f"{path}_add_norm.sum"] - output + setting.module(f"{path}_add_norm.norm")(output)


def final_norms(setting: Setting) -> Iterator[Candidate]:
    """A final norm too many or too few; a norm of the embeddings."""
    model, config = setting.model, setting.config
    groups = (("both stacks", ("encoder", "decoder")), ("the encoder", ("encoder",)), ("the decoder", ("decoder",)))
    for where, stacks in groups:
        parts = tuple(
            (model.get_submodule(stack), "norm", _extra(setting, f"{stack}.norm", config.final_norm)) for stack in stacks
        )
        name, words = (
            ("no final norm", "there is no norm after the last layer")
            if config.final_norm
            else ("extra final norm", "there is one more norm after the last layer")
        )
        yield Candidate((name,), (words,), where, stacks, partial(Alteration, (), parts))
    for where, stacks in groups:
        sides = [("source" if stack == "encoder" else "target", stack) for stack in stacks]
        norms = {side: _extra(setting, f"{stack} start", False) for side, stack in sides}
        edits = tuple(
            Change(f"{side}_embedding.sum", lambda values, _, norm=norm: norm(values)) for side, norm in norms.items()
        )
        parts = tuple(f"{side}_embedding" for side in norms)
        words = "there is a norm after the embedding, before the first layer"
        yield Candidate(("norm after the embedding",), (words,), where, parts, partial(Alteration, edits))


def _extra(setting: Setting, name: str, left_out: bool) -> nn.Module:
    """A norm with the weights of theirs, as far as it has such a norm."""
    if left_out:
        return nn.Identity()
    norm = nn.LayerNorm(setting.config.d_model, eps=next(iter(setting.eps.values()), 1e-5))
    weight, bias = setting.extra_norms.get(name, (None, None))
    with torch.no_grad():
        for parameter, values in ((norm.weight, weight), (norm.bias, bias)):
            if values is not None:
                parameter.copy_(values)
    return norm


# --- the rest --------------------------------------------------------------------------------------------------------------


def feed_forwards(setting: Setting) -> Iterator[Candidate]:
    """Another activation, or one at another place."""
    for where, paths in setting.feed_forward_places():
        for name, function in ACTIVATIONS.items():
            parts = tuple((setting.module(path), "activation", function) for path in paths)
            own = setting.config.activation
            words = (
                "the feed-forward network has no activation between its two linear layers"
                if name == "no activation"
                else f"the activation of the feed-forward network is {name}; ours is {own}"
            )
            label = name if name == "no activation" else f"another activation: {name}"
            yield Candidate((label,), (words,), where, paths, partial(Alteration, (), parts))
        edits = tuple(Change(f"{path}.output", lambda values, _: torch.relu(values)) for path in paths)
        words = "there is one more activation, after the second linear layer of the feed-forward network"
        yield Candidate(("activation after the second layer",), (words,), where, paths, partial(Alteration, edits))


def ids(setting: Setting) -> Iterator[Candidate]:
    """Other ids of the target or of the source."""
    source, target, pad = setting.source, setting.target, setting.config.target_pad
    first, fill = target[:, :1], torch.full_like(target[:, :1], pad)
    shifted = {
        "it reads each next token, which it should predict": [
            target[:, 1:],
            target.roll(-1, 1),
            torch.cat([target[:, 1:], fill], 1),
            torch.cat([target[:, 1:], target[:, -1:]], 1),
        ],
        "it leaves out the last token itself, so you should not shift it before": [target[:, :-1]],
        "it shifts the target to the right itself, so it is shifted twice": [
            torch.cat([first, target[:, :-1]], 1),
            torch.cat([fill, target[:, :-1]], 1),
            torch.cat([torch.zeros_like(fill), target[:, :-1]], 1),
            target.roll(1, 1),
        ],
        "it reads the target backwards": [target.flip(1)],
    }
    for words, variants in shifted.items():
        for variant in variants:
            if variant.shape[1] and not torch.equal(variant, target):
                listed = (f"the target is not shifted as for ours: {words}",)
                makes = [partial(Alteration, target=variant)]
                if variant.shape == target.shape:  # the mask may be made of the ids that were given
                    makes.append(partial(Alteration, (_embedded(setting, "target", variant),)))
                for make in makes:
                    yield Candidate(("target not shifted",), listed, "", ("target_embedding",), make)
    if source.shape != target.shape or not torch.equal(source, target):
        make = partial(Alteration, target=source)
        yield Candidate(
            ("decoder reads the source",),
            ("the decoder reads the source instead of the target",),
            "",
            ("target_embedding",),
            make,
        )
        make = partial(Alteration, source=target)
        yield Candidate(
            ("encoder reads the target",),
            ("the encoder reads the target instead of the source",),
            "",
            ("source_embedding",),
            make,
        )
    make = partial(Alteration, source=source.flip(1))
    yield Candidate(("source backwards",), ("the source is read backwards",), "", ("source_embedding",), make)


def _embedded(setting: Setting, side: str, ids: Tensor) -> Change:
    """The embedding of other ids, under the masks of the ids that were given."""
    name = "scaled" if setting.config.scale_embedding else "token"
    factor = math.sqrt(setting.config.d_model) if setting.config.scale_embedding else 1.0
    table = setting.module(f"{side}_embedding.table")
    return Change(f"{side}_embedding.{name}", lambda _values, _scope: table(ids) * factor)


def outputs() -> Iterator[Candidate]:
    """A function of the logits."""
    functions: dict[str, tuple[str, Callable[[Tensor], Tensor]]] = {
        "softmax of the logits": ("it returns probabilities: softmax of the logits", lambda logits: logits.softmax(-1)),
        "log-softmax of the logits": (
            "it returns log-probabilities: log-softmax of the logits",
            lambda logits: logits.log_softmax(-1),
        ),
        "last row left out": ("it returns no logits for the last position", lambda logits: logits[:, :-1]),
        "first row left out": ("it returns no logits for the first position", lambda logits: logits[:, 1:]),
        "activation on the logits": ("there is a ReLU after the last layer", torch.relu),
    }
    for name, (words, function) in functions.items():
        yield Candidate((name,), (words,), "", ("logits",), partial(Alteration, logits=function))
