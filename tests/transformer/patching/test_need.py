"""Tests of needed against enough: circuits written by hand, whose heads have known roles."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.transformer.patching.circuits import gate
from transformer.errors import ConfigError, InputError
from transformer.patching import Head, Needs, Place, RunPair, changes_elsewhere, needs, patch_everywhere, ranks_agree, role


def copies(signal: Tensor, _: Tensor) -> Tensor:
    return signal


def idle(signal: Tensor, _: Tensor) -> Tensor:
    return torch.ones_like(signal)


def takes_over(signal: Tensor, written: Tensor) -> Tensor:
    """Writes the signal if the first head has not written it, and a tenth of it otherwise."""
    return signal * (1 - 0.9 * written[..., 0])


def roles(pair: RunPair, metric: str = "logit") -> list[str]:
    *_, denoised = patch_everywhere(pair)
    *_, noised = patch_everywhere(pair, direction="noise")
    return list(needs(denoised, noised, metric).roles.values())


@pytest.mark.parametrize("metric", ["logit", "probability", "exact"])
def test_and_needs_partners_and_or_has_backups(metric: str) -> None:
    heads = [copies, copies, idle]
    both = gate(heads, answer=lambda first, second, _: torch.relu(first + second - 1) - 0.5)
    assert roles(both, metric) == ["partner", "partner", "bystander"]
    either = gate(heads, answer=lambda first, second, _: (first + second).clamp(max=1) - 0.5)
    assert roles(either, metric) == ["backup", "backup", "bystander"]
    one = gate(heads, answer=lambda first, second, third: first - 0.5 + 0 * second * third)
    assert roles(one, metric) == ["alone", "bystander", "bystander"]


def test_a_head_that_pushes_the_answer_down_is_against_it() -> None:
    pair = gate([copies, copies], answer=lambda main, inhibition: 1.5 * main - 0.5 * inhibition)
    assert roles(pair) == ["alone", "against"]


def main_and_backup() -> RunPair:
    return gate([copies, idle], [takes_over, idle], answer=lambda main, _, backup, __: (main + backup).clamp(max=1))


def test_a_backup_head_is_seen_only_if_the_main_head_is_missing() -> None:
    pair, main, backup = main_and_backup(), Head("decoder", 0, 0), Head("decoder", 1, 0)
    *_, denoised = patch_everywhere(pair)
    *_, noised = patch_everywhere(pair, direction="noise")
    assert needs(denoised, noised).roles == {
        main: "backup",
        Head("decoder", 0, 1): "bystander",
        backup: "bystander",
        Head("decoder", 1, 1): "bystander",
    }
    *_, without_main = patch_everywhere(pair, direction="noise", also=[Place(*main)])
    assert without_main.base["logit"] == without_main.ends["logit"][1]  # the backup makes up for it
    assert without_main.shares()["decoder"][..., 0].tolist() == [[1, 1], [0, 1]]
    # In the clean run the backup writes a tenth, and without the main head ten times as much.
    changes = changes_elsewhere(pair, main)
    assert changes["decoder"] == pytest.approx(np.array([[1, 0], [9, 0]]), abs=1e-5)
    assert changes_elsewhere(pair, backup)["decoder"].tolist() == [[0, 0], [1, 0]]


def test_a_head_that_wrote_nothing_before_has_an_infinite_change() -> None:
    pair = gate([copies, idle], [lambda signal, written: signal - written[..., 0], idle], answer=lambda main, *_: main)
    assert changes_elsewhere(pair, Head("decoder", 0, 0))["decoder"].tolist() == [[1, 0], [math.inf, 0]]


def test_another_network_has_other_roles_by_another_measure() -> None:
    """The answer is certain with either head, so the probability does not see the second one, which doubles the logit."""
    pair = gate([copies, copies], answer=lambda first, second: 5 * first + 5 * second)
    assert roles(pair) == ["alone", "alone"]
    assert roles(pair, "probability") == ["backup", "backup"]


@pytest.mark.parametrize(
    ("lost", "restored", "expected"),
    [
        (0.5, 0.5, "alone"),
        (0.49, 0.5, "backup"),
        (0.5, 0.49, "partner"),
        (0.49, 0.49, "bystander"),
        (-0.24, 0.4, "bystander"),
        (-0.25, 0.4, "against"),
        (0.4, -0.25, "against"),
        (-3.0, 0.6, "backup"),
    ],
)
def test_the_edges_of_the_roles(lost: float, restored: float, expected: str) -> None:
    assert role(lost, restored) == expected


def test_ranks_agree_is_the_rank_correlation() -> None:
    first = {"encoder": np.array([[1.0, 5.0], [3.0, 3.0]]), "cross": np.array([[2.0]])}
    assert ranks_agree(first, first) == pytest.approx(1)
    assert ranks_agree(first, {kind: -values for kind, values in first.items()}) == pytest.approx(-1)
    assert ranks_agree(first, {kind: np.exp(values) for kind, values in first.items()}) == pytest.approx(1)
    # By hand: ranks 1 5 3.5 3.5 2 and 2 5 1 3 4.
    second = {"encoder": np.array([[2.0, 9.0], [1.0, 3.0]]), "cross": np.array([[7.0]])}
    ranks = np.array([1, 5, 3.5, 3.5, 2]), np.array([2, 5, 1, 3, 4])
    assert ranks_agree(first, second) == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert math.isnan(ranks_agree(first, {kind: 0 * values for kind, values in first.items()}))
    assert math.isnan(ranks_agree(first, {"encoder": np.full((2, 2), np.nan), "cross": np.array([[1.0]])}))


def test_needs_takes_complete_results_of_both_directions() -> None:
    pair = main_and_backup()
    *_, denoised = patch_everywhere(pair)
    *_, noised = patch_everywhere(pair, direction="noise")
    other = dataclasses.replace(noised, ends={**noised.ends, "logit": (0.0, 9.0)})
    *_, values = patch_everywhere(pair, what="value", direction="noise")
    *_, each = patch_everywhere(pair, direction="noise", positions="each")
    *_, also = patch_everywhere(pair, direction="noise", also=[Place("decoder", 0, 0)])
    for wrong in (denoised, other, values, each, also):
        with pytest.raises(InputError):
            needs(denoised, wrong)
    with pytest.raises(InputError):
        needs(noised, denoised)
    with pytest.raises(ConfigError, match="metric is 'kl'"):
        needs(denoised, noised, "kl")
    assert isinstance(needs(denoised, noised), Needs)
