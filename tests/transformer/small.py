"""Small models and batches for tests."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.model import Transformer

PAD = 0
# Every variant, each normalising after and before its sub-layers.
VARIANTS = [(preset, norm_first) for preset in PRESETS for norm_first in (False, True)]
SIZES = {"d_model": 12, "heads": 3, "d_ff": 20, "max_len": 16, "encoder_layers": 2, "decoder_layers": 2}
# Two rows of different length on both sides; 0 is padding.
SOURCE = torch.tensor([[1, 5, 6, 4, 2, 0, 0], [1, 8, 7, 3, 4, 5, 2]])
TARGET = torch.tensor([[1, 7, 4, 0, 0], [1, 5, 6, 2, 4]])


def small(preset: str = "vanilla", seed: int = 0, **values: Any) -> Transformer:
    """A small model in evaluation mode, with weights drawn from the seed."""
    torch.manual_seed(seed)
    return Transformer(TransformerConfig.preset(preset, **SIZES | values)).eval()


@torch.no_grad()
def logits(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    return model(source, target)


@dataclass(frozen=True)
class Run:
    """A model and a batch. The model is built on first use, not while Hypothesis draws, because beartype uses `random` to pick
    the items that it checks. Hypothesis does not allow `random` while it draws."""

    seed: int
    settings: dict[str, Any]
    source: Tensor
    target: Tensor

    @cached_property
    def model(self) -> Transformer:
        return small(seed=self.seed, **self.settings)

    def logits(self) -> Tensor:
        return logits(self.model, self.source, self.target)


def ids(rows: int, length: int) -> st.SearchStrategy[Tensor]:
    """Random ids with padding anywhere: at the end, in the middle, or everywhere."""
    row = st.lists(st.sampled_from([PAD, PAD, *range(10)]), min_size=length, max_size=length)
    return st.lists(row, min_size=rows, max_size=rows).map(torch.tensor)


def padded(rows: int, length: int) -> st.SearchStrategy[Tensor]:
    """Ids as from a pipeline: at least one token, then padding to the length of the longest."""
    row = st.lists(st.integers(1, 9), min_size=1, max_size=length)
    return st.lists(row, min_size=rows, max_size=rows).map(
        lambda rows: torch.tensor([[*row, *[PAD] * (max(map(len, rows)) - len(row))] for row in rows])
    )


@st.composite
def runs(draw: st.DrawFn, at_end: bool = False) -> Run:
    """Runs of any variant in any small size on any small batch; `at_end` puts padding only after the tokens."""
    preset, norm_first = draw(st.sampled_from(VARIANTS))
    heads, d_head = draw(st.sampled_from([(1, 4), (2, 3), (3, 3), (4, 2)]))
    settings = {
        "preset": preset,
        "norm_first": norm_first,
        "heads": heads,
        "d_model": heads * d_head,
        "encoder_layers": draw(st.integers(1, 2)),
        "decoder_layers": draw(st.integers(1, 2)),
    }
    rows, make = draw(st.integers(1, 3)), padded if at_end else ids
    source, target = (draw(make(rows, draw(st.integers(1, 6)))) for _ in range(2))
    return Run(draw(st.integers(0, 9)), settings, source, target)
