"""Answers of small models."""

import torch
from torch import Tensor

from tests.transformer.small import PAD, SOURCE, small
from transformer.network.model import Transformer
from transformer.pipeline.decoding.generate import DecodingStep, generate

SOS, EOS, MAX_NEW_TOKENS = 1, 2, 8
ONE = SOURCE[1:]


def model_with_ends(preset: str = "vanilla", seed: int = 0, **values: object) -> Transformer:
    """A small model that writes `<eos>` often enough, and no `<pad>`."""
    model = small(preset, seed=seed, **values)
    with torch.no_grad():
        model.output_projection.bias[EOS] += 0.3
        model.output_projection.bias[PAD] -= 9
    return model


def steps(model: Transformer, source: Tensor = ONE, **choices: object) -> list[DecodingStep]:
    return [*generate(model, source, SOS, EOS, MAX_NEW_TOKENS, **choices)]


@torch.inference_mode()
def forced_total(model: Transformer, tokens: list[int]) -> float:
    """The sum of the log-probabilities of the tokens when the decoder is forced to read them."""
    logits = model(ONE, torch.tensor([[SOS, *tokens[:-1]]]))[0]
    return float(logits.log_softmax(-1)[range(len(tokens)), tokens].sum())
