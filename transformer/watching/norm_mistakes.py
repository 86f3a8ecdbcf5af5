"""Mistakes in norms and residual connections."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from transformer.network.tap import Scope
from transformer.tracing.paths import BRANCHES
from transformer.watching.alterations import Alteration, Candidate, Change
from transformer.watching.places import Setting

EPS = (1e-3, 1e-2, 1e-1, 1.0, 1e-5, 1e-6, 1e-8, 1e-12)


# Axes other than d_model, over which a norm may run: name → axes, words.
AXES: dict[str, tuple[tuple[int, ...], str]] = {
    "positions": ((1,), "the positions of a text"),
    "texts": ((0,), "the texts of the batch"),
    "text": ((1, 2), "all numbers of a text"),
    "column": ((0, 1), "the texts and positions"),
    "everything": ((0, 1, 2), "all numbers of the batch"),
}


class OtherNorm(nn.Module):
    """A LayerNorm with another formula: the standard deviation instead of the variance, no mean, other axes, or the running
    mean 0 and variance 1 of a new BatchNorm. `form` is a key of `AXES`, `rms`, `batch`, `variance`, `unbiased`, `unbiased
    variance` or `biased`. Weight and bias are those of `norm`."""

    def __init__(self, norm: Any, form: str, eps: float) -> None:
        super().__init__()
        self.norm, self.form, self.eps = norm, form, eps

    def forward(self, x: Tensor) -> Tensor:
        if self.form in AXES:
            axes = AXES[self.form][0]
            variance = x.var(axes, keepdim=True, unbiased=False)
            return (x - x.mean(axes, keepdim=True)) / (variance + self.eps).sqrt() * self.norm.weight + self.norm.bias
        centred = x - x.mean(-1, keepdim=True)
        if self.form == "rms":
            scaled = x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt()
        elif self.form == "unbiased":
            scaled = centred / (x.std(-1, keepdim=True) + self.eps)
        elif self.form == "unbiased variance":
            scaled = centred / (x.var(-1, keepdim=True) + self.eps).sqrt()
        elif self.form == "batch":
            scaled = x / (1 + self.eps) ** 0.5
        elif self.form == "variance":
            scaled = centred / (x.var(-1, keepdim=True, unbiased=False) + self.eps)
        else:
            scaled = centred / (x.std(-1, keepdim=True, unbiased=False) + self.eps)
        return scaled * self.norm.weight + self.norm.bias


def norms(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in norms: a norm at another place, left out, or with another formula."""
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
        yield from _formula(setting, "another norm", words, form)
    words = (
        "the norm is a BatchNorm in evaluation mode: it uses a running mean (0) and variance (1), and not those of each vector"
    )
    yield from _formula(setting, "BatchNorm", words, "batch")
    for form, (_, axes) in AXES.items():
        yield from _formula(setting, "norm over another axis", f"the norm runs over {axes} instead of d_model", form)
    words = "the norm is applied before the sub-layer and again after it"
    yield from _replaced(
        setting, "norm twice", words, lambda path: [(path, "forward", partial(_normed_twice, setting.module(path)))]
    )


def _formula(setting: Setting, name: str, words: str, form: str) -> Iterator[Candidate]:
    """Candidates in which every norm has the formula `form` of `OtherNorm`."""
    inner: list[Any] = [setting.module(f"{path}_add_norm") for path in setting.sublayers]
    last: list[Any] = [setting.model.encoder, setting.model.decoder] if setting.config.final_norm else []
    for where, owners in (("every norm", [*inner, *last]), ("every norm but the final ones", inner))[: 1 + len(last)]:
        for eps in (1e-6, 1e-5, 1e-8, 1e-12):
            made = tuple((owner, "norm", OtherNorm(owner.norm, form, eps)) for owner in owners)
            yield Candidate((name,), (words,), where, tuple(setting.sublayers), partial(Alteration, (), made))


def _normed_twice(add_norm: Any, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    result = sublayer(add_norm.norm(x))
    return add_norm.sum(x + add_norm.norm(result)) if add_norm.norm_first else add_norm.normalize(add_norm.sum(x + result))


def _epsilons(setting: Setting) -> Iterator[Candidate]:
    """Yields mistakes: another ε. First the ε of each norm of the user's network, if it is known; then usual values."""
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
    """Yields the mistakes that `compare` tries in residual connections: they are left out or add something else."""
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
        "sub-layer subtracted": (
            "the result of the sub-layer is subtracted from its input instead of added",
            "sum",
            lambda path, values, scope: values - 2 * scope.values[f"{path}.output"],
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
    for branch in BRANCHES:
        sums[f"residual of the {branch}"] = (
            f"the projected {branch} is added instead of the input of the sub-layer",
            "sum",
            lambda path, _, scope, branch=branch: _with_branch(path, branch, scope),
        )
    sums["residual of the layer's input"] = (
        "the input of the layer is added instead of the input of the sub-layer",
        "sum",
        lambda path, _, scope: scope.values[setting.layer_input(path)] + scope.values[f"{path}.output"],
    )
    for name, (words, tap, function) in sums.items():
        for where, paths in setting.sublayer_places():
            edits = tuple(
                Change(f"{path}_add_norm.{tap}", lambda values, scope, path=path, make=function: make(path, values, scope))
                for path in paths
            )
            yield Candidate((name,), (words,), where, paths, partial(Alteration, edits))


def _with_branch(path: str, branch: str, scope: Scope) -> Tensor:
    """The sum of the result of an attention and its projected queries, keys or values. Raises `ValueError` for a feed-forward
    network, which has none."""
    if path.endswith("feed_forward"):
        raise ValueError(f"{path} has no {branch}")
    return scope.values[f"{path}.{branch}.projected"] + scope.values[f"{path}.output"]


def _normed_alone(setting: Setting, path: str, scope: Scope) -> Tensor:
    output = scope.values[f"{path}.output"]
    return scope.values[f"{path}_add_norm.sum"] - output + setting.module(f"{path}_add_norm.norm")(output)


def final_norms(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in final norms: an extra or a missing final norm; also a norm of the
    embeddings."""
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
    """A norm for a place where our `Transformer` has none, with the weights that the user's network has there, if any; with
    `left_out`, the identity."""
    if left_out:
        return nn.Identity()
    norm = nn.LayerNorm(setting.config.d_model, eps=next(iter(setting.eps.values()), 1e-5))
    norm = norm.to(next(setting.model.parameters()).dtype)
    weight, bias = setting.extra_norms.get(name, (None, None))
    with torch.no_grad():
        for parameter, values in ((norm.weight, weight), (norm.bias, bias)):
            if values is not None:
                parameter.copy_(values)
    return norm
