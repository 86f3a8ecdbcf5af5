"""Tests of checkpoints with a correct digest and wrong contents, or with sizes beyond memory: each is refused."""

import json
import math
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.overrides import TorchFunctionMode

from tests.transformer.pipeline.checkpoints import CARD, SOURCE, TARGET, WORDS, checkpoint, forged, refused
from transformer.errors import CheckpointError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.pipeline.catalogue import model_file
from transformer.pipeline.checkpoint import (
    LARGEST_FLOAT,
    PARTS,
    largest_number,
    load_checkpoint,
    read_card,
    read_metadata,
    save_checkpoint,
)
from transformer.text.vocabulary import Vocabulary
from transformer.tracing.trace import run_traced


def test_a_file_signed_again_without_a_change_is_loaded(path: Path, tmp_path: Path):
    load_checkpoint(forged(path, tmp_path))


SHAPE = (10, 4)  # of output_projection.weight


def one_nan() -> Tensor:
    weight = torch.zeros(SHAPE)
    weight[3, 2] = torch.nan
    return weight


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"output_projection.weight": None}, "parameters; its configuration needs"),
        ({"one_too_many": torch.zeros(2)}, "parameters; its configuration needs"),
        ({"one_too_many": torch.zeros(0)}, "has a tensor one_too_many, which its model lacks"),
        ({"output_projection.weight": torch.zeros(10, 5)}, "parameters; its configuration needs"),
        ({"output_projection.weight": torch.zeros(4, 10)}, "output_projection.weight has shape (4, 10); it must have (10, 4)"),
        ({"output_projection.weight": torch.zeros(40)}, "output_projection.weight has shape (40,); it must have (10, 4)"),
        ({"output_projection.weight": None, "renamed": torch.zeros(SHAPE)}, "lacks the tensor output_projection.weight"),
        ({"output_projection.weight": torch.full(SHAPE, torch.nan)}, "holds values that are not finite"),
        ({"output_projection.weight": one_nan()}, "holds values that are not finite"),
        ({"output_projection.weight": torch.full(SHAPE, torch.inf)}, "holds values that are not finite"),
        ({"output_projection.weight": torch.full(SHAPE, 1e300, dtype=torch.float64)}, "not finite"),
        ({"output_projection.weight": torch.zeros(SHAPE, dtype=torch.int64)}, "not finite"),
        ({"output_projection.weight": torch.zeros(SHAPE, dtype=torch.bool)}, "not finite"),
        ({"scalar": torch.tensor(1.0)}, "parameters; its configuration needs"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else None,
)
def test_tensors_that_do_not_fit_the_model_are_refused(
    path: Path, tmp_path: Path, tensors: dict[str, Tensor | None], message: str
):
    refused(forged(path, tmp_path, tensors), message)


CONFIG = TransformerConfig.preset("pytorch", d_model=4, heads=2, d_ff=4, encoder_layers=1, decoder_layers=1, max_len=16)


def config_with(**values: object) -> str:
    return json.dumps(json.loads(CONFIG.to_json()) | values)


def card_with_pronouns(value: object) -> str:
    return json.dumps(json.loads(CARD.to_json()) | {"measures": {"pronouns": value}})


@pytest.mark.few_cases(20)
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        *(({name: None}, f"is damaged ('{name}')") for name in PARTS),
        *(({name: text}, "") for name in PARTS for text in ("", "garbage", "[]", "null", "7", "{}", "[" * 50_000)),
        ({"config": config_with(d_model="4")}, "holds a bad value. d_model is '4'; it must be a whole number"),
        ({"config": config_with(heads=3)}, "holds a bad value. d_model is 4; it must be a multiple of heads, which is 3"),
        ({"config": config_with(dropout=float("nan"))}, "holds a bad value. dropout is nan"),
        ({"config": config_with(position="sideways")}, "holds a bad value. position is 'sideways'"),
        ({"config": config_with(trust_me=True)}, "is not a field"),
        ({"config": config_with(source_vocab=11)}, "parameters; its configuration needs"),
        ({"config": config_with(target_vocab=9)}, "parameters; its configuration needs"),
        ({"config": config_with(source_pad=3)}, "do not fit its configuration"),
        ({"config": config_with(encoder_layers=2)}, "parameters; its configuration needs"),
        ({"config": config_with(position="learned")}, "parameters; its configuration needs"),
        ({"source_vocabulary": Vocabulary.of("abc", "characters").to_json()}, "do not fit its configuration"),
        ({"config": json.dumps({"x" * 10**6: 1})}, "xxx… is not a field"),
        ({"config": '{"\\ud800<script>": 1}'}, "\\ud800<script> is not a field"),
        ({"source_vocabulary": WORDS.to_json().replace('"a"', '"b"')}, "every token may stand only once"),
        ({"target_vocabulary": WORDS.to_json().replace("characters", "klingon")}, "tokenizer is 'klingon'; allowed are"),
        ({"target_vocabulary": WORDS.to_json().replace("<pad>", "pad")}, "must start with <pad>"),
        (
            {"card": json.dumps(json.loads(CARD.to_json()) | {"longest": "very"})},
            "card's longest is 'very'; it must be",
        ),
        ({"card": card_with_pronouns("il")}, "card's measures is {'pronouns': 'il'}; it must be of the form"),
        *(
            ({"card": card_with_pronouns({part: value})}, f"names the {part} {value!r}; allowed are 1 to {most}.")
            for part, most in (("layer", 1), ("head", 2))
            for value in (0, most + 1, 1.0, True, "1", [1], None)
        ),
    ],
    ids=lambda value: str(value)[:50],
)
def test_invalid_metadata_is_refused(path: Path, tmp_path: Path, parts: dict[str, str | None], message: str):
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(forged(path, tmp_path, parts=parts))
    assert message in str(caught.value)
    assert len(str(caught.value).encode()) < 1500


def nested(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(values) | st.dictionaries(st.text(), values)


@pytest.mark.slow
@given(st.sampled_from(PARTS), st.recursive(st.none() | st.booleans() | st.floats() | st.text(), nested, max_leaves=8))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arbitrary_json_as_metadata_is_refused(path: Path, tmp_path: Path, name: str, value: object):
    with pytest.raises(CheckpointError):
        load_checkpoint(forged(path, tmp_path, parts={name: json.dumps(value)}))


class NothingBuilt(TorchFunctionMode):
    """A context in which the test fails as soon as a parameter of a model is made."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.empty:
            pytest.fail("a model was built")
        return func(*args, **kwargs or {})


class Largest(TorchFunctionMode):
    """A context that keeps the number of rows of the longest tensor that was computed in it."""

    rows = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **kwargs or {})
        if isinstance(result, Tensor):
            self.rows = max([self.rows, *result.shape[:1]])
        return result


@pytest.mark.parametrize(
    "sizes",
    [
        {"d_model": 8192, "heads": 1, "d_ff": 65_536, "encoder_layers": 96, "decoder_layers": 96},
        {"max_len": 65_536, "d_model": 512},
        {"d_ff": 65_536, "d_model": 8192, "max_len": 16},
        {"encoder_layers": 96},
    ],
    ids=str,
)
def test_a_small_file_that_describes_a_large_model_is_refused(path: Path, tmp_path: Path, sizes: dict[str, int]):
    with NothingBuilt():
        refused(forged(path, tmp_path, parts={"config": config_with(**sizes)}), "its configuration needs")


def test_a_small_file_that_describes_large_tables_is_refused(tmp_path: Path):
    save_checkpoint(tmp_path / "wide", checkpoint(d_model=128, heads=2, d_ff=4, encoder_layers=1, decoder_layers=1))
    config = json.loads(read_metadata(tmp_path / "wide")["config"])
    whole = forged(tmp_path / "wide", tmp_path, parts={"config": json.dumps(config | {"max_len": 1024})})
    assert load_checkpoint(whole).model.config.max_len == 1024
    large = forged(tmp_path / "wide", tmp_path, parts={"config": json.dumps(config | {"max_len": 65_536})})
    with NothingBuilt():
        refused(large, "asks for tables of 16777216 numbers")


def test_a_shipped_model_that_claims_the_most_positions_is_refused(tmp_path: Path):
    config = json.loads(read_metadata(model_file("reverse"))["config"])
    claimed = forged(model_file("reverse"), tmp_path, parts={"config": json.dumps(config | {"max_len": 65_536})})
    with NothingBuilt():
        refused(claimed, "asks for tables of 8388608 numbers")


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("d_model", [2, 208, 210, 512])
def test_a_model_of_any_width_with_the_positions_of_its_preset_is_loaded(d_model: int, tmp_path: Path):
    narrow = checkpoint(d_model=d_model, heads=2, d_ff=1, encoder_layers=1, decoder_layers=1, max_len=5000)
    save_checkpoint(tmp_path / "model", narrow)
    assert load_checkpoint(tmp_path / "model").model.config.max_len == TransformerConfig.preset("pytorch").max_len


def test_tables_of_positions_are_not_built_for_tensors_that_do_not_fit(path: Path, tmp_path: Path):
    parts = {"config": config_with(max_len=65_536)}
    with Largest() as fitting:
        load_checkpoint(forged(path, tmp_path, parts=parts))
    assert fitting.rows == 65_536
    large = forged(path, tmp_path, {"output_projection.weight": torch.zeros(4, 10)}, parts)
    with Largest() as refusing:
        refused(large, "output_projection.weight has shape (4, 10); it must have (10, 4)")
    assert refusing.rows < 1000


@pytest.mark.parametrize("value", [3e38, -3e38, 1e30])
@pytest.mark.parametrize("preset", PRESETS)
def test_weights_that_could_overflow_are_refused(preset: str, value: float, tmp_path: Path):
    saved = checkpoint(preset)
    saved.model.target_embedding.table.weight.data[5, 0] = value
    with pytest.raises(CheckpointError, match="a forward pass could overflow"):
        save_checkpoint(tmp_path / "model", saved)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("final_norm", [False, True])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_largest_accepted_weights_do_not_overflow(preset: str, norm_first: bool, final_norm: bool, tmp_path: Path):
    saved = checkpoint(preset, norm_first=norm_first, final_norm=final_norm)
    least, most = 1.0, 1e38
    for _ in range(60):  # enough halvings for every bit of a weight
        weight = math.sqrt(least * most)
        least, most = (weight, most) if largest_number(saved.model.config, weight) < LARGEST_FLOAT else (least, weight)
    generator = torch.Generator().manual_seed(3)
    for signs in (lambda shape: torch.ones(shape), lambda shape: torch.randn(shape, generator=generator).sign()):
        for parameter in saved.model.parameters():
            parameter.data = least * signs(parameter.shape)
        save_checkpoint(tmp_path / "model", saved)
        model = load_checkpoint(tmp_path / "model").model
        trace = run_traced(model, SOURCE[:1, :4], TARGET[:1, :2])
        assert not any(step.values.isnan().any() or (step.values == math.inf).any() for step in trace)
        assert trace.logits.isfinite().all()


def test_sizes_that_cannot_be_built_are_refused(path: Path, tmp_path: Path):
    for sizes in ({"d_model": 10**12}, {"encoder_layers": 10**9}, {"max_len": 2**40}, {"source_vocab": 10**15}):
        refused(forged(path, tmp_path, parts={"config": config_with(**sizes)}), "holds a bad value")


def test_a_header_larger_than_the_file_is_refused(damaged: Callable[[bytes], Path]):
    header = json.dumps({"weight": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}).encode()
    refused(damaged(len(header).to_bytes(8, "little") + header), "is not a whole safetensors file")


def hollow(path: Path, to: Path, size: int) -> Path:
    """A sparse file of the given size that takes a few kilobytes on disk."""
    tensors = {"weight": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}
    header = json.dumps({"__metadata__": read_metadata(path), **tensors}).encode()
    with (to / "hollow.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    return to / "hollow.safetensors"


def test_a_sparse_file_is_refused_before_it_is_read(path: Path, tmp_path: Path):
    # The numbers are counted before any of them is read; else the message would be about their values or the digest.
    refused(hollow(path, tmp_path, 8 << 30), "parameters; its configuration needs")


def test_a_file_larger_than_memory_is_refused(path: Path, tmp_path: Path):
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (60 << 30, before[1]))
    try:
        refused(hollow(path, tmp_path, 64 << 30), "is not a whole safetensors file")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_a_damaged_card_is_refused_when_read_alone(path: Path, tmp_path: Path):
    for parts in ({"card": None}, {"card": "garbage"}, {"headlight": None}):
        with pytest.raises(CheckpointError):
            read_card(forged(path, tmp_path, parts=parts))
