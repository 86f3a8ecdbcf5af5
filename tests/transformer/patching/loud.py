"""Small models whose answers depend on their input: as they are initialized, all their runs are nearly the same."""

from typing import Any

import torch

from tests.transformer.small import small
from transformer.network.model import Transformer


def loud(preset: str = "vanilla", seed: int = 0, **values: Any) -> Transformer:
    """A small model with larger weights."""
    model = small(preset, seed, **values)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(2)
        model.output_projection.weight.mul_(2)
    return model
