"""Tests of the cost formulas against the model, PyTorch's counter, and the memory of a trace."""

import itertools
from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from torch.utils.flop_counter import FlopCounterMode

from tests.transformer.small import SIZES, SOURCE, TARGET, VARIANTS, Run, runs, small
from transformer import PRESETS, InputError, Transformer, TransformerConfig, draw, run_traced
from transformer.network.cost import (
    ALONG,
    WORK,
    Cost,
    Lengths,
    activation_flops,
    cost,
    crossing,
    growth,
    parameters,
    total,
    work_of,
)
from transformer.tracing.paths import TensorPath


def lengths_of(source: torch.Tensor, target: torch.Tensor) -> Lengths:
    return Lengths(len(source), source.shape[1], target.shape[1])


def by_module(model: Transformer, source: torch.Tensor, target: torch.Tensor) -> dict[str, int]:
    """Path of a module → FLOPs counted by PyTorch. The path "" is the whole model."""
    model.requires_grad_(False)  # otherwise the hooks of FlopCounterMode need gradients, although none are computed
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(source, target)
    flops = {name.removeprefix("Transformer").lstrip("."): sum(ops.values()) for name, ops in counter.get_flop_counts().items()}
    return {path: count for path, count in flops.items() if path not in ("Global", "")} | {"": counter.get_total_flops()}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("final_norm", [False, True])
def test_parameters_are_counted_without_building_the_model(preset: str, final_norm: bool) -> None:
    choices = ("per_head", "shared"), ("sinusoidal", "learned"), (False, True), ("nothing", "output", "all")
    for projection, position, bias, tied in itertools.product(*choices):
        config = TransformerConfig.preset(
            preset,
            source_vocab=11 if tied == "all" else 7,
            target_vocab=11,
            tied_weights=tied,
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


@pytest.mark.few_cases(4)
@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@pytest.mark.parametrize("sizes", [{}, {"heads": 1}, {"d_model": 16, "heads": 4, "d_ff": 6, "encoder_layers": 1}])
def test_flops_of_each_module_equal_pytorchs_count(preset: str, norm_first: bool, sizes: dict[str, int]) -> None:
    model = small(preset, norm_first=norm_first, target_vocab=11, **sizes)
    lengths = lengths_of(SOURCE, TARGET)
    counted = by_module(model, SOURCE, TARGET)
    closed: Counter[str] = Counter()
    for path in model.taps:
        place = TensorPath.parse(path)
        flops, parts = activation_flops(model.config, place.stack, place.sublayer, place.name, lengths), path.split(".")
        for end in range(len(parts)):
            closed[".".join(parts[:end])] += flops
    for path in list(closed):  # `AddNorm` calls its sub-layer, so PyTorch counts the sub-layer's FLOPs for it too
        if path.endswith("_add_norm"):
            closed[path] = closed[path.removesuffix("_add_norm")]
    # PyTorch also counts modules without taps, such as each Linear. Only modules with taps are compared.
    compared = {path for path in counted if path in closed}
    assert {"", "encoder", "decoder.layers.1.cross_attention.key", "decoder.layers.0.feed_forward"} <= compared
    assert {path: counted[path] for path in compared} == {path: closed[path] for path in compared}


@pytest.mark.slow
@given(run=runs())
@settings(max_examples=40)
def test_the_cost_of_each_kind_of_work_equals_its_formula(run: Run) -> None:
    trace, config, lengths = run_traced(run.model, run.source, run.target), run.model.config, lengths_of(run.source, run.target)
    costs = cost(config, lengths)
    assert tuple(costs) == WORK
    size = sum(step.values.nbytes for step in trace)
    assert total(costs.values()) == Cost(parameters(config), by_module(run.model, run.source, run.target)[""], size)
    sizes, flops = Counter[str](), Counter[str]()
    for step in trace:
        path = TensorPath.parse(step.path)
        work = work_of(path.stack, path.sublayer, path.name)
        sizes[work] += step.values.nbytes
        flops[work] += activation_flops(config, path.stack, path.sublayer, path.name, lengths)
    assert {work: (part.bytes, part.flops) for work, part in costs.items()} == {
        work: (sizes[work], flops[work]) for work in WORK
    }


def test_only_the_scores_grow_with_the_square_of_the_length() -> None:
    config = TransformerConfig.preset("vanilla", **SIZES)
    once, twice = (cost(config, Lengths(1, n, n)) for n in (100, 200))
    ratios = {work: twice[work].flops / once[work].flops for work in WORK if once[work].flops}
    assert ratios == {"projections": 2, "scores and weights": 4, "feed-forward": 2, "output": 2}
    assert twice["scores and weights"].bytes > 3.8 * once["scores and weights"].bytes
    assert twice["feed-forward"].bytes == 2 * once["feed-forward"].bytes


def test_costs_of_the_papers_base_model() -> None:
    """d_model 512, 6 + 6 layers, d_ff 2048, ten tokens in the vocabulary. The FLOPs of one token on each side, by hand."""
    config = TransformerConfig.preset("vanilla")
    attention = 2 * 4 * 512 * 512 + 2 * 2 * 512
    by_hand = 18 * attention + 12 * 2 * 2 * 512 * 2048 + 2 * 512 * 10
    assert total(cost(config, Lengths(1, 1, 1)).values()).flops == by_hand
    assert parameters(TransformerConfig.preset("shared_heads")) == 7_616_010
    sizes = {"d_model": 256, "d_ff": 1024, "max_len": 100}
    assert parameters(TransformerConfig.preset("vanilla", **sizes)) == 11_066_890


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("along", ALONG)
def test_growth_equals_the_costs_of_a_model_of_each_size(preset: str, along: str) -> None:
    config = TransformerConfig.preset(preset, **SIZES | {"max_len": 40, "decoder_layers": 3})
    lengths = Lengths(2, 9, 7)
    grown = growth(config, lengths, along)
    assert list(grown.sizes) == sorted(set(grown.sizes))
    assert grown.costs[grown.sizes.index(grown.present)] == cost(config, lengths)
    assert total(grown.costs[0].values()) != total(grown.costs[-1].values())
    for size, costs in list(zip(grown.sizes, grown.costs, strict=True))[:5]:
        if along == "length":
            batch, source, target = lengths.batch, size, size - 2
            assert costs == cost(config, Lengths(batch, source, target))
            continue
        values = {
            "d_model": {"d_model": size, "d_ff": round(20 / 12 * size)},
            "heads": {"heads": size},
            "layers": {"encoder_layers": size, "decoder_layers": size + 1},
        }[along]
        model = Transformer(config.replace(**values))
        assert sum(part.parameters for part in costs.values()) == sum(each.numel() for each in model.parameters())
        trace = run_traced(model.eval(), torch.ones(2, 9).long(), torch.ones(2, 7).long())
        assert sum(part.bytes for part in costs.values()) == sum(step.values.nbytes for step in trace)


def test_growth_stays_within_buildable_sizes_and_marks_the_last_position() -> None:
    short = TransformerConfig.preset("shared_heads")
    grown = growth(short, Lengths(1, 5, 9), "length")
    assert (grown.limit, grown.present, grown.sizes[0]) == (100, 5, 1)
    assert growth(short, Lengths(1, 9, 5), "length").sizes[0] == 5  # then the target has one token
    alone = growth(short, Lengths(1, 0, 5), "length")
    assert (alone.present, alone.sizes[0]) == (5, 1)
    assert alone.costs[0] == cost(short, Lengths(1, 0, 1))
    long = TransformerConfig.preset("vanilla", max_len=65_536)
    assert growth(long, Lengths(1, 5, 9), "length").limit is None
    assert growth(long, Lengths(1, 5, 9), "d_model").sizes[-1] == 512  # a wider table of positions would be too large
    deep = TransformerConfig.preset("vanilla", encoder_layers=30)
    assert growth(deep, Lengths(1, 5, 9), "layers").sizes[-1] == 30
    assert growth(deep, Lengths(1, 5, 9), "layers").sizes[0] == 25  # the decoder has 24 layers fewer, and at least one
    uneven = TransformerConfig.preset("vanilla", encoder_layers=1, decoder_layers=90)
    assert growth(uneven, Lengths(1, 5, 9), "layers").sizes == tuple(range(1, 8))  # at 7, the decoder has 96 layers
    assert growth(deep, Lengths(1, 5, 9), "heads").sizes == (1, 2, 4, 8, 16, 32, 64, 128, 256)
    with pytest.raises(InputError, match="allowed are length, d_model, heads, layers"):
        growth(deep, Lengths(1, 5, 9), "depth")


@pytest.mark.parametrize("preset", PRESETS)
def test_the_crossing_is_the_first_length_at_which_scores_take_more_flops(preset: str) -> None:
    config = TransformerConfig.preset(preset, **SIZES)
    first_length = crossing(config, batch=2)

    def scores_take_more(length: int) -> bool:
        costs = cost(config, Lengths(2, length, length))
        return costs["scores and weights"].flops > costs["feed-forward"].flops

    assert scores_take_more(first_length)
    assert not scores_take_more(first_length - 1)
    # By hand: 6 attentions take 6 · 2·2·n²·d FLOPs, and 4 feed-forward networks take 4 · 2·2·n·d·d_ff.
    assert first_length == 4 * 20 // 6 + 1


def test_growth_is_drawn_in_one_call() -> None:
    trace = run_traced(small("pytorch"), SOURCE, TARGET)
    figure: Any = draw.growth(trace, "d_model", "parameters").figure
    totals = growth(trace.config, Lengths(2, 7, 5), "d_model")
    assert list(figure.data[-1].x) == list(totals.sizes)
    assert list(figure.data[-1].y) == [total(costs.values()).parameters for costs in totals.costs]
