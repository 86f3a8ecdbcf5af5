"""Mistakes outside of attentions: norms and residual connections, feed-forward networks, embeddings, ids, the output."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn

from transformer.watching.alterations import Alteration, Candidate, Change
from transformer.watching.embedding_mistakes import embeddings, ids
from transformer.watching.layer_mistakes import layers
from transformer.watching.norm_mistakes import final_norms, norms, residuals
from transformer.watching.places import Setting

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
    """Yields the mistakes outside of attentions with which `compare` tries to explain why somebody's module differs from ours:
    each mistake at each place in the model where it could be."""
    yield from embeddings(setting)
    yield from norms(setting)
    yield from residuals(setting)
    yield from final_norms(setting)
    yield from layers(setting)
    yield from feed_forwards(setting)
    yield from ids(setting)
    yield from outputs()


def feed_forwards(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in feed-forward networks: another activation, or an activation at another
    place."""
    for where, paths in setting.feed_forward_places():
        for name, function in ACTIVATIONS.items():
            if name.lower() == setting.config.activation:
                continue
            parts = tuple((setting.module(path), "activation", function) for path in paths)
            own = setting.config.activation
            words = (
                "the feed-forward network has no activation between its two linear layers"
                if name == "no activation"
                else f"the activation of the feed-forward network is {name}; ours is {own}"
            )
            label = name if name == "no activation" else f"another activation: {name}"
            yield Candidate((label,), (words,), where, paths, partial(Alteration, (), parts))
        first = tuple(
            (setting.module(path), "forward", partial(_activated_first, setting.module(path).forward)) for path in paths
        )
        words = "the activation comes before the first linear layer too"
        yield Candidate(("activation before the first layer",), (words,), where, paths, partial(Alteration, (), first))
        swapped = tuple((setting.module(path), "activation", ACTIVATIONS["no activation"]) for path in paths)
        words = "the activation comes after the second linear layer of the feed-forward network instead of between the two"
        name = "activation only after the second layer"
        yield Candidate((name,), (words,), where, paths, partial(Alteration, edits_after(paths), swapped))
        words = "there is one more activation, after the second linear layer of the feed-forward network"
        yield Candidate(("activation after the second layer",), (words,), where, paths, partial(Alteration, edits_after(paths)))


def edits_after(paths: tuple[str, ...]) -> tuple[Change, ...]:
    """Edits that apply ReLU to the result of the sub-layer at each of these paths."""
    return tuple(Change(f"{path}.output", lambda values, _: torch.relu(values)) for path in paths)


def _activated_first(forward: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    return forward(torch.relu(x))


def outputs() -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in the output: a function of the logits, such as their softmax, is returned
    instead of the logits."""
    functions: dict[str, tuple[str, Callable[[Tensor], Tensor]]] = {
        "softmax of the logits": ("it returns probabilities: softmax of the logits", lambda logits: logits.softmax(-1)),
        "log-softmax of the logits": (
            "it returns log-probabilities: log-softmax of the logits",
            lambda logits: logits.log_softmax(-1),
        ),
        "logits transposed": (
            "it returns logits whose axes of texts and positions are exchanged",
            lambda logits: logits.transpose(0, 1),
        ),
        "last row left out": ("it returns no logits for the last position", lambda logits: logits[:, :-1]),
        "first row left out": ("it returns no logits for the first position", lambda logits: logits[:, 1:]),
        "softmax over positions": (
            "it returns a softmax of the logits over the positions",
            lambda logits: logits.softmax(1),
        ),
        "activation on the logits": ("there is a ReLU after the last layer", torch.relu),
    }
    for name, (words, function) in functions.items():
        yield Candidate((name,), (words,), "", ("logits",), partial(Alteration, logits=function))
