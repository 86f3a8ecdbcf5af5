"""A training so small that a test can run it to the end."""

import torch

from transformer.pipeline.pipeline import Pipeline
from transformer.training.recipe import Recipe
from transformer.training.run import Training

TINY = Recipe(
    task="reverse",
    steps=6,
    batch=8,
    warmup=2,
    check_every=4,
    check_pairs=3,
    test_pairs=1,
    config=tuple({"d_model": 16, "heads": 2, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1, "max_len": 32}.items()),
)


def weights(training: Training | Pipeline) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in training.model.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(tensor, other[name]) for name, tensor in one.items())
