"""Tests of the walk: it has every tensor once, and each can be recomputed from the inputs and parameters of its stop."""

import itertools
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.transformer.small import SOURCE, TARGET, VARIANTS, small
from transformer.analysis.ledger import ledger
from transformer.analysis.provenance import OPERATIONS, ORIGIN_RULES, SOURCE_IDS, TARGET_IDS, UNDESCRIBED
from transformer.analysis.walk import Stop, caller, group_of, kind_of, walk
from transformer.errors import PathError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.model import Transformer
from transformer.network.tap import Tap, name_taps
from transformer.tracing.paths import TensorPath
from transformer.tracing.trace import Trace, run_traced

TEXTS = tomllib.loads((Path(__file__).parents[3] / "assets/text/en/walk.toml").read_text(encoding="utf-8"))
# Every preset with post-norm and pre-norm, a decoder alone, tied weights, and variants with the opposite order of mask and
# division.
CASES: dict[str, tuple[str, dict[str, Any], bool]] = {
    **{f"{preset} {'pre' if first else 'post'}": (preset, {"norm_first": first}, True) for preset, first in VARIANTS},
    "vanilla alone": ("vanilla", {}, False),
    "vanilla alone pre": ("vanilla", {"norm_first": True}, False),
    "vanilla mask first": ("vanilla", {"mask_before_scaling": True}, True),
    "tied": ("vanilla", {"tied_weights": "all", "activation": "gelu", "sinusoid_order": "halves"}, True),
    "output tied": ("pytorch", {"tied_weights": "output", "activation": "swish", "initialization": "xavier"}, True),
    "shared scale first": ("shared_heads", {"mask_before_scaling": False, "final_norm": True}, True),
}


def run(case: str) -> tuple[Transformer, Trace]:
    preset, values, with_source = CASES[case]
    model = small(preset, **values)
    return model, run_traced(model, SOURCE if with_source else None, TARGET)


# --- an independent oracle: each operation written with PyTorch's functions and einsum ---------------------------------


def again(stop: Stop, inputs: list[Tensor], weights: list[Tensor], config: TransformerConfig) -> Tensor:
    """The tensor of a stop, computed from the inputs and parameters of the stop, and from sizes and choices in the
    configuration."""
    first = inputs[0] if inputs else torch.empty(0)
    batch, heads = first.shape[0], config.heads
    fill = torch.tensor(config.mask_fill)
    order = [*range(0, config.d_model, 2), *range(1, config.d_model, 2)]  # all sines, then all cosines
    order = order if config.sinusoid_order == "halves" else sorted(order)

    def attention_weights() -> Tensor:
        return torch.nan_to_num(first.softmax(-1)) if stop.kind == "attention.weights" else first.softmax(-1)

    known: dict[str, Callable[[], Tensor]] = {
        "not padding": lambda: (first != config.source_pad).view(batch, 1, 1, -1),
        "not later": lambda: target_mask(first, config),
        "look up": lambda: weights[0][first],
        "multiply": lambda: first * config.d_model**0.5,
        "first rows": lambda: weights[0][: stop.shape[0]],
        "waves": lambda: waves(stop.shape)[:, order],
        "add": lambda: inputs[0] + inputs[1],
        "linear map": lambda: F.linear(first, *weights),
        "split": lambda: torch.stack(first.chunk(heads, -1), 2),
        "swap axes": lambda: torch.einsum("bphd->bhpd", first),
        "split and swap axes": lambda: torch.stack(first.chunk(heads, -1), 1),
        "rows times rows": lambda: torch.einsum("bhqd,bhkd->bhqk", *inputs),
        "divide": lambda: first / (config.d_head if config.score_divisor == "d_head" else config.d_model) ** 0.5,
        "hide": lambda: torch.where(inputs[1], first, fill),
        "softmax": attention_weights,
        "weights times rows": lambda: torch.einsum("bhqk,bhkd->bhqd", *inputs),
        "join": lambda: torch.cat(list(first.unbind(1)), -1),
        "LayerNorm": lambda: F.layer_norm(first, first.shape[-1:], *weights, eps=config.norm_eps),
        "ReLU": lambda: first.clamp(min=0),
        "GELU": lambda: first * (1 + torch.erf(first / 2**0.5)) / 2,
        "swish": lambda: first / (1 + torch.exp(-first)),
        "as it is": lambda: first,
    }
    assert known.keys() == set(OPERATIONS)
    return known[stop.operation]()


def target_mask(ids: Tensor, config: TransformerConfig) -> Tensor:
    length = ids.shape[1]
    rows, columns = torch.arange(length)[:, None], torch.arange(length)[None]
    real = ids != config.target_pad
    hidden = {"queries": real[:, None, :, None], "keys": real[:, None, None, :], "nothing": torch.tensor(True)}
    return (columns <= rows)[None, None].expand(len(ids), 1, -1, -1) & hidden[config.target_padding]


def waves(shape: tuple[int, ...]) -> Tensor:
    table = torch.zeros(shape, dtype=torch.float64)
    for position in range(shape[0]):
        for dimension in range(shape[1]):
            angle = torch.tensor(position / 10_000 ** (dimension // 2 * 2 / shape[1]), dtype=torch.float64)
            table[position, dimension] = angle.cos() if dimension % 2 else angle.sin()
    return table.float()


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_every_tensor_can_be_computed_from_its_inputs_and_parameters(case: str) -> None:
    model, trace = run(case)
    state: Mapping[str, Tensor] = model.state_dict()
    earlier = {SOURCE_IDS: SOURCE, TARGET_IDS: TARGET}
    for stop in walk(trace):
        if stop.operation != UNDESCRIBED.operation:
            # `earlier` contains only the tensors of the stops before this one.
            inputs = [earlier[path] for path in stop.inputs]
            recomputed = again(stop, inputs, [state[name] for name in stop.parameters], trace.config)
            torch.testing.assert_close(recomputed, trace[stop.path].values, atol=1e-5, rtol=1e-5, msg=stop.path)
        earlier[stop.path] = trace[stop.path].values


@pytest.mark.parametrize("case", CASES)
def test_the_walk_has_every_traced_tap_once_and_every_used_parameter_once(case: str) -> None:
    model, trace = run(case)
    stops = walk(trace)
    assert [stop.path for stop in stops] == list(trace.activations)
    assert len({stop.path for stop in stops}) == len(stops)
    across = [] if CASES[case][2] else ["cross_attention", "encoder", "source_"]
    ran = [path for path in model.taps if not any(part in path for part in across)]
    assert sorted(stop.path for stop in stops) == sorted(ran)
    used = [name for stop in stops for name in stop.parameters]
    assert sorted(used) == sorted(name for name in model.state_dict() if not any(part in name for part in across))
    for stop in stops:
        assert (stop.axes, stop.shape) == (trace[stop.path].axes, trace[stop.path].shape)


@pytest.mark.parametrize("case", CASES)
def test_groups_and_sublayers_come_in_the_order_of_the_network(case: str) -> None:
    _, trace = run(case)
    stops = walk(trace)
    groups = list(dict.fromkeys(stop.group for stop in stops))
    source = ["source", "encoder 1", "encoder 2", "encoder"] if CASES[case][2] else []
    assert groups == [*source, "target", "decoder 1", "decoder 2", "decoder", "output"]
    # The stops of a group are contiguous.
    assert len(groups) == 1 + sum(one.group != two.group for one, two in itertools.pairwise(stops))
    for group, parts in (("encoder 1", ["self_attention", "feed_forward"]), ("decoder 2", None)):
        visited = list(dict.fromkeys(stop.part for stop in stops if stop.group == group))
        whole = ["self_attention", *(["cross_attention"] if CASES[case][2] else []), "feed_forward"]
        if visited:
            assert visited == (parts or whole)


# --- every kind is explained ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_every_tap_is_explained(case: str) -> None:
    for path in small(CASES[case][0], **CASES[case][1]).taps:
        words = TEXTS["kinds"].get(kind_of(path))
        assert words, f"{path} has no explanation in walk.toml"
        for part in ("title", "why", "formula"):
            assert words.get(part), f"{path} has no {part} in walk.toml"


def test_every_explanation_belongs_to_a_tap() -> None:
    taps = {path for preset in PRESETS for path in small(preset).taps}
    kinds = {kind_of(path) for path in taps}
    assert kinds == set(TEXTS["kinds"])
    # A new tap may have no rule, but no present rule may disappear.
    assert set(ORIGIN_RULES) <= kinds
    assert len(ORIGIN_RULES) >= 31
    assert set(TEXTS["operations"]) == {*OPERATIONS, UNDESCRIBED.operation}


def test_a_new_tap_without_a_rule_is_in_the_walk_without_inputs() -> None:
    model = small()
    feed_forward, path = model.encoder.layers[0].feed_forward, "encoder.layers.0.feed_forward.gate"
    feed_forward.gate = Tap("batch source d_ff")
    feed_forward.up_projection.register_forward_hook(lambda _module, _inputs, hidden: feed_forward.gate(hidden))
    model.taps = name_taps(model)
    trace = run_traced(model, SOURCE, TARGET)
    (new,) = [stop for stop in walk(trace) if stop.path == path]
    assert (new.kind, new.operation, new.inputs, new.parameters) == ("feed_forward.gate", "not described", (), ())
    (row,) = [row for row in ledger(model, trace) if row.path == path]
    assert (row.flops, row.shape) == (0, trace[path].shape)


# --- source lines -------------------------------------------------------------------------------------------------------


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("case", CASES)
def test_the_source_line_of_a_tensor_calls_its_tap(case: str) -> None:
    model, trace = run(case)
    for stop in walk(trace):
        method, number = caller(model, stop.path)
        file = Path(method.__code__.co_filename)
        assert f"self.{stop.path.rpartition('.')[2]}(" in file.read_text(encoding="utf-8").splitlines()[number - 1]
        assert f"transformer/network/{file.name}" in str(file)


def test_some_tensors_have_their_known_methods() -> None:
    model, _ = run("shared_heads post")
    assert caller(model, "encoder.layers.1.self_attention.query.split")[0].__qualname__ == "SharedProjection.forward"
    assert caller(model, "decoder.layers.0.cross_attention.masked_scores")[0].__qualname__ == "MultiHeadAttention.hide"
    assert caller(model, "encoder.layers.0.feed_forward_add_norm.normalized")[0].__qualname__ == "AddNorm.normalize"
    assert caller(model, "logits")[0].__qualname__ == "Transformer.decode"
    for path in ("encoder.nothing", "nothing.at.all"):
        with pytest.raises(PathError, match="no such tap"):
            caller(model, path)
    assert group_of(TensorPath.parse("decoder.layers.11.feed_forward.hidden")) == "decoder 12"


# --- the worked example, and the paper's size -------------------------------------------------------------------------

EXAMPLE_SOURCE = torch.tensor([[1, 5, 6, 4, 3, 9, 5, 2, 0], [1, 8, 7, 3, 4, 5, 6, 7, 2]])
EXAMPLE_TARGET = torch.tensor([[1, 7, 4, 3, 5, 9, 2], [1, 5, 6, 2, 4, 7, 6]])


def test_the_worked_example_has_its_shapes_in_the_walk() -> None:
    trace = run_traced(Transformer(TransformerConfig.preset("shared_heads")).eval(), EXAMPLE_SOURCE, EXAMPLE_TARGET)
    shapes = {stop.path: stop.shape for stop in walk(trace)}
    for layer in range(6):
        encoder, decoder = f"encoder.layers.{layer}", f"decoder.layers.{layer}"
        assert shapes[f"{encoder}.self_attention.query.projected"] == (2, 9, 8, 32)
        assert shapes[f"{encoder}.self_attention.query.heads"] == (2, 8, 9, 32)
        assert shapes[f"{encoder}.self_attention.weights"] == (2, 8, 9, 9)
        assert shapes[f"{decoder}.self_attention.weights"] == (2, 8, 7, 7)
        assert shapes[f"{decoder}.cross_attention.weights"] == (2, 8, 7, 9)
        assert shapes[f"{encoder}.feed_forward.hidden"] == (2, 9, 1024)
    assert shapes["encoder.output"] == (2, 9, 256)
    assert shapes["logits"] == (2, 7, 10)
    assert trace.masks.source is not None
    assert trace.masks.source[0].flatten().tolist() == [True] * 8 + [False]


@pytest.mark.slow
def test_a_trace_of_the_papers_size_at_64_tokens_fits_in_memory() -> None:
    model = Transformer(TransformerConfig.preset("vanilla")).eval()
    ids = torch.randint(1, 10, (1, 64))
    trace = run_traced(model, ids, ids)
    assert trace.nbytes <= 150 << 20
    assert len(walk(trace)) == len(model.taps)
