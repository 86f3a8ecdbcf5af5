"""The terms of a cost add up to it."""

import itertools

import pytest

from transformer import PRESETS, ConfigError, Pipeline, TransformerConfig
from transformer.analysis.cost_terms import COUNTED, cost_terms
from transformer.network.cost import WORK, Lengths, cost

SIZES = {"d_model": 12, "heads": 3, "d_ff": 10, "encoder_layers": 1, "decoder_layers": 3, "max_len": 9, "target_vocab": 11}
LENGTHS = Lengths(2, 5, 4)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("tied", ["nothing", "output", "all"])
def test_the_terms_of_every_count_add_up_to_the_cost(preset: str, tied: str) -> None:
    for projection, position, bias in (("per_head", "sinusoidal", False), ("shared", "learned", True)):
        variant = {"final_norm": bias, "tied_weights": tied, "head_projection": projection, "position": position}
        variant |= {"projection_bias": bias, "output_bias": not bias, "source_vocab": 11 if tied == "all" else 7}
        config = TransformerConfig.preset(preset, **SIZES, **variant)
        costs = cost(config, LENGTHS)
        for work, counted in itertools.product(WORK, COUNTED):
            amounts = [term.amount for term in cost_terms(config, LENGTHS, counted, work)]
            assert sum(amounts) == getattr(costs[work], counted), (variant, work, counted)
            assert all(amounts)


def test_terms_of_equal_factors_are_one_and_name_the_tokens_of_each_side() -> None:
    config = Pipeline.load("reverse").config
    terms = cost_terms(config, Lengths(1, 6, 5), "flops", "scores and weights")
    factors = [(term.times, *(size for _, size in term.factors)) for term in terms]
    assert factors == [(4, 2, 1, 4, 6, 6, 16), (4, 2, 1, 4, 5, 5, 16), (4, 2, 1, 4, 5, 6, 16)]
    assert [name for name, _ in terms[2].factors] == ["", "batch", "head", "target", "source", "d_head"]
    assert terms[2].names == ("decoder.cross_attention.scores", "decoder.cross_attention.head_output")
    assert not cost_terms(config, Lengths(1, 6, 5), "flops", "masks")


def test_another_count_and_another_kind_of_work_are_refused() -> None:
    config = Pipeline.load("reverse").config
    with pytest.raises(ConfigError, match="counted"):
        cost_terms(config, LENGTHS, "FLOPs", WORK[0])
    with pytest.raises(ConfigError, match="work"):
        cost_terms(config, LENGTHS, "flops", "everything")
