"""The numbers of a watched attention, computed again from the recorded tensors."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from transformer import PathError, Watched, watch
from transformer.watching.watched_number import matrices, watched_number


class Masked(nn.Module):
    """One head, written by hand, with a causal mask."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(-1, -2) / math.sqrt(8)
        later = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        return scores.masked_fill(later, -1e9).softmax(-1) @ self.value(x)


def seen(module: nn.Module) -> Watched:
    torch.manual_seed(0)
    return watch(module.eval(), torch.randn(2, 4, 8))


MODULES = {"torch": lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), "by hand": Masked}


@pytest.mark.parametrize("name", MODULES)
def test_every_number_of_an_attention_is_computed_from_the_recorded_ones(name: str) -> None:
    watched = seen(MODULES[name]())
    (base,) = watched.attentions
    for tensor, count in {"weights": 1, "scores": 2, "head_output": 1}.items():
        path = f"{base}.{tensor}".removeprefix(".")
        values, _ = matrices(watched, path, 1)
        for place in torch.cartesian_prod(*map(torch.arange, values.shape)).tolist():
            computed = watched_number(watched, path, 1, *place)
            value = float(values[tuple(place)])
            if tensor == "scores" and value < -1e8:
                assert computed == ()  # the mask hides it
                continue
            assert len(computed) == count
            assert computed[-1].result == pytest.approx(value, rel=1e-4, abs=1e-6)
    divisor = math.sqrt(8 if name == "by hand" else 4)
    assert watched_number(watched, f"{base}.scores".removeprefix("."), 0, 0, 1, 1)[1].terms[0].right == pytest.approx(divisor)


def test_other_tensors_and_numbers_that_were_changed_are_not_explained() -> None:
    watched = seen(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True))
    assert watched_number(watched, "linear1.output", 0, 0, 1, 1) == ()
    assert watched_number(watched, "self_attn.query", 0, 0, 1, 1) == ()
    changed = {
        path: replace(each, stored=each.values * (path != "self_attn.scores")) for path, each in watched.activations.items()
    }
    assert watched_number(replace(watched, activations=changed), "self_attn.weights", 0, 0, 1, 1) == ()
    without = {path: each for path, each in watched.activations.items() if path != "self_attn.scores"}
    assert watched_number(replace(watched, activations=without), "self_attn.weights", 0, 0, 1, 1) == ()


@pytest.mark.parametrize(
    ("cut", "path"), [("scores", "weights"), ("key", "scores"), ("value", "head_output"), ("weights", "head_output")]
)
def test_tensors_of_a_file_that_do_not_fit_together_explain_nothing(cut: str, path: str) -> None:
    watched = seen(Masked())
    part = watched.activations[cut]
    for axis in (1, 2):
        cut_off = {**watched.activations, cut: replace(part, stored=part.values.narrow(axis, 0, 2))}
        assert watched_number(replace(watched, activations=cut_off), path, 0, 0, 3, 3) == ()


def test_a_place_that_does_not_exist_is_refused() -> None:
    watched = seen(Masked())
    for place in ((0, 1, 0, 0), (0, 0, 4, 0), (0, 0, 0, -1), (2, 0, 0, 0)):
        with pytest.raises(PathError):
            watched_number(watched, "weights", *place)
