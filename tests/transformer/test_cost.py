"""Closed formulas against the model itself."""

import itertools

import pytest

from transformer import PRESETS, Transformer, TransformerConfig
from transformer.cost import parameters


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("final_norm", [False, True])
def test_parameters_are_counted_without_building_the_model(preset: str, final_norm: bool) -> None:
    for projection, position, bias in itertools.product(("per_head", "shared"), ("sinusoidal", "learned"), (False, True)):
        config = TransformerConfig.preset(
            preset,
            source_vocab=7,
            target_vocab=11,
            d_model=12,
            heads=3,
            d_ff=10,
            encoder_layers=1,
            decoder_layers=2,
            max_len=9,
            final_norm=final_norm,
            head_projection=projection,
            position=position,
            projection_bias=bias,
            output_bias=not bias,
        )
        assert parameters(config) == sum(parameter.numel() for parameter in Transformer(config).parameters())
