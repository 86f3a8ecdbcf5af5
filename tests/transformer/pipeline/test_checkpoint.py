"""Tests of checkpoints: a saved model is loaded bit for bit, and a damaged file is refused."""

import dataclasses
import json
import math
import pickle
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.transformer.pipeline.test_card import CARD
from tests.transformer.small import small
from transformer.errors import CheckpointError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.model import Transformer
from transformer.pipeline import checkpoint as checkpoint_module
from transformer.pipeline.checkpoint import (
    LARGEST_FLOAT,
    PARTS,
    Checkpoint,
    digest,
    largest_number,
    load_checkpoint,
    read_card,
    read_metadata,
    save_checkpoint,
    write_whole,
)
from transformer.text.vocabulary import Vocabulary
from transformer.tracing.trace import run_traced

WORDS = Vocabulary.of("abcdef", "characters")  # ten tokens, as in a small model
SOURCE, TARGET = torch.tensor([[1, 5, 6, 2, 0], [1, 9, 8, 7, 2]]), torch.tensor([[1, 7, 0], [1, 5, 6]])


def checkpoint(preset: str = "pytorch", **values: object) -> Checkpoint:
    return Checkpoint(small(preset, **values), WORDS, WORDS, CARD)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A valid checkpoint of a very small model. Do not change it."""
    path = tmp_path_factory.mktemp("checkpoints") / "small.safetensors"
    save_checkpoint(path, checkpoint(d_model=4, heads=2, d_ff=4, encoder_layers=1, decoder_layers=1))
    return path


@pytest.fixture(scope="module")
def data(path: Path) -> bytes:
    return path.read_bytes()


# --- saving and loading ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_round_trip(preset: str, norm_first: bool, tmp_path: Path):
    saved = checkpoint(preset, norm_first=norm_first)
    save_checkpoint(tmp_path / "model.safetensors", saved)
    loaded = load_checkpoint(tmp_path / "model.safetensors")
    assert loaded.model.config == saved.model.config
    assert loaded[1:] == saved[1:]
    assert not loaded.model.training
    assert loaded.model.state_dict().keys() == saved.model.state_dict().keys()
    assert torch.equal(loaded.model(SOURCE, TARGET), saved.model(SOURCE, TARGET))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_on_disk_becomes_single_in_memory(dtype: torch.dtype, tmp_path: Path):
    saved, sizes = checkpoint(), []
    for name, kind in (("whole", torch.float32), ("half", dtype)):
        save_checkpoint(tmp_path / name, saved, kind)
        sizes.append(sum(tensor.nbytes for tensor in load_file(tmp_path / name).values()))
    assert sizes[0] == 2 * sizes[1]
    loaded = load_checkpoint(tmp_path / "half").model.state_dict()
    for name, tensor in saved.model.state_dict().items():
        assert loaded[name].dtype == torch.float32
        assert torch.equal(loaded[name], tensor.to(dtype).float())


def test_a_loaded_model_can_be_trained(path: Path):
    model = load_checkpoint(path).model
    model(SOURCE, TARGET).sum().backward()
    assert all(parameter.requires_grad and parameter.grad is not None for parameter in model.parameters())


def test_loading_draws_no_random_numbers(path: Path):
    state = torch.get_rng_state()
    load_checkpoint(path)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("preset", PRESETS)
def test_building_a_loaded_model_draws_no_random_numbers(preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Restoring the generator's state afterwards would not help another thread that trains meanwhile."""
    save_checkpoint(tmp_path / "model", checkpoint(preset))
    state, initialize, states = torch.get_rng_state(), Transformer.initialize, []
    monkeypatch.setattr(Transformer, "initialize", lambda self: (initialize(self), states.append(torch.get_rng_state())))
    load_checkpoint(tmp_path / "model")
    assert len(states) == 1
    assert torch.equal(states[0], state)


def test_a_path_may_be_a_text(path: Path, tmp_path: Path):
    save_checkpoint(str(tmp_path / "again"), load_checkpoint(str(path)))
    assert read_card(str(tmp_path / "again")) == CARD


def test_the_card_can_be_read_alone(path: Path):
    assert read_card(path) == CARD


def test_a_changed_text_is_detected_by_loading_but_not_by_reading_the_card(path: Path, data: bytes, tmp_path: Path):
    (tmp_path / "changed").write_bytes(data.replace(b"letters in, the same", b"letters in, no other"))
    assert read_card(tmp_path / "changed").description.startswith("letters in, no other")
    refused(tmp_path / "changed", "do not match its digest")


def test_the_same_model_gives_the_same_file(path: Path, tmp_path: Path):
    save_checkpoint(tmp_path / "again", load_checkpoint(path))
    assert digest_of(tmp_path / "again") == digest_of(path)


def digest_of(path: Path) -> str:
    return read_metadata(path)["digest"]


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "deep" / "folder" / "model.safetensors"
    write_whole(path, b"old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"new, and longer")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("other", ["model.safetensors", "model.bin", "model.part"])
def test_two_writers_can_save_the_same_path_at_once(other: str, tmp_path: Path):
    path = tmp_path / "model.safetensors"
    write_whole(path, b"first", check=lambda _: write_whole(tmp_path / other, b"second, meanwhile"))
    assert path.read_bytes() == b"first"
    assert (tmp_path / other).read_bytes() == (b"first" if path.name == other else b"second, meanwhile")
    assert {file.name for file in tmp_path.iterdir()} == {path.name, other}


def test_a_file_can_be_replaced_while_it_is_read(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    target, first, second = tmp_path / "model", load_checkpoint(path), checkpoint(d_model=8, heads=2, seed=5)
    save_checkpoint(target, first)

    def replaced(file: object, name: str) -> dict[str, str]:
        monkeypatch.undo()
        save_checkpoint(target, second)
        return checkpoint_module._ours(file, name)

    monkeypatch.setattr(checkpoint_module, "_ours", replaced)
    assert torch.equal(load_checkpoint(target).model(SOURCE, TARGET), first.model(SOURCE, TARGET))
    assert torch.equal(load_checkpoint(target).model(SOURCE, TARGET), second.model(SOURCE, TARGET))


# --- checkpoints refused when saved ------------------------------------------------------------------------------------


def with_weight(value: float) -> Checkpoint:
    saved = checkpoint()
    saved.model.output_projection.weight.data[3, 2] = value
    return saved


@pytest.mark.parametrize(
    ("saved", "dtype", "message"),
    [
        (with_weight(math.nan), torch.float32, "output_projection.weight holds values that are not finite"),
        (with_weight(math.inf), torch.float32, "output_projection.weight holds values that are not finite"),
        (with_weight(1e6), torch.float16, "output_projection.weight holds values that are not finite"),
        (checkpoint(), torch.int8, "it must be a floating-point type"),
        (checkpoint(), torch.complex64, "it must be a floating-point type"),
        (
            checkpoint()._replace(source_vocabulary=Vocabulary.of("ab", "characters")),
            torch.float32,
            "vocabularies in the file",
        ),
        (checkpoint()._replace(card=dataclasses.replace(CARD, accuracy=math.nan)), torch.float32, "card's accuracy is nan"),
        (
            checkpoint()._replace(card=dataclasses.replace(CARD, longest=-3)),
            torch.float32,
            "card's longest is -3; it",
        ),
        (checkpoint()._replace(card=dataclasses.replace(CARD, description="\ud800")), torch.float32, "cannot be written"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str | torch.dtype) else "",
)
def test_a_checkpoint_that_could_not_be_loaded_is_not_saved(
    saved: Checkpoint, dtype: torch.dtype, message: str, tmp_path: Path
):
    with pytest.raises(CheckpointError, match=message):
        save_checkpoint(tmp_path / "model", saved, dtype)
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_written_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("first")
    (tmp_path / "folder").mkdir()
    for name in ("folder", "file/model", "a" * 5000):
        with pytest.raises(CheckpointError, match="cannot be written"):
            save_checkpoint(tmp_path / name, checkpoint())
    assert {file.name for file in tmp_path.iterdir()} == {"file", "folder"}


# --- missing, foreign and damaged files --------------------------------------------------------------------------------


def refused(path: Path, message: str = "") -> None:
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path)
    assert message in str(caught.value), str(caught.value)
    assert path.name[:20] in str(caught.value)


@pytest.fixture
def damaged(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(data: bytes) -> Path:
        (tmp_path / "damaged.safetensors").write_bytes(data)
        return tmp_path / "damaged.safetensors"

    return write


def test_a_missing_file_is_refused(tmp_path: Path):
    refused(tmp_path / "nothing.safetensors", "There is no file 'nothing.safetensors'.")
    with pytest.raises(CheckpointError, match="There is no file"):
        read_card(tmp_path / "nothing.safetensors")


def test_an_invalid_file_name_is_refused(tmp_path: Path):
    refused(tmp_path / ("a" * 5000), "File name too long")
    with pytest.raises(CheckpointError, match="File name too long"):
        read_card(tmp_path / ("a" * 5000))


def test_a_folder_is_refused(tmp_path: Path):
    refused(tmp_path, "is a folder; give the path of a file")


@pytest.mark.parametrize(
    "data",
    [b"", b"\0", b"\0" * 8, b"\xff" * 64, b"hello", b"PK\x03\x04" + b"\0" * 100, pickle.dumps({"weights": [1.0] * 100})],
    ids=["empty", "one byte", "no header", "huge header", "text", "archive", "pickle"],
)
def test_a_file_that_is_not_safetensors_is_refused(data: bytes, damaged: Callable[[bytes], Path]):
    refused(damaged(data), "is not a whole safetensors file")


def test_a_pickle_is_refused_and_not_run(tmp_path: Path):
    torch.save(small().state_dict(), tmp_path / "torch.pt")
    (tmp_path / "trap").write_bytes(pickle.dumps(Trap()))
    for name in ("torch.pt", "trap"):
        refused(tmp_path / name, "is not a whole safetensors file")


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return pytest.fail, ("a pickle was opened",)


def test_a_safetensors_file_of_another_program_is_refused(tmp_path: Path):
    for name, metadata in (("bare", None), ("foreign", {"format": "pt"}), ("newer", {"headlight": "2"})):
        save_file({"weight": torch.zeros(3)}, tmp_path / name, metadata)
        refused(tmp_path / name, "is a safetensors file, but Headlight did not write it")


@given(share=st.floats(0, 1, exclude_max=True))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_truncated_file_is_refused(data: bytes, damaged: Callable[[bytes], Path], share: float):
    refused(damaged(data[: int(len(data) * share)]), "is not a whole safetensors file")


@pytest.mark.parametrize("cut", [1, 2, 7, 8, 100])
def test_a_file_without_its_end_is_refused(data: bytes, damaged: Callable[[bytes], Path], cut: int):
    refused(damaged(data[:-cut]), "is not a whole safetensors file")


@given(position=st.integers(0, 10**6), change=st.integers(1, 255))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_with_one_changed_byte_is_refused(data: bytes, damaged: Callable[[bytes], Path], position: int, change: int):
    changed = bytearray(data)
    changed[position % len(data)] ^= change
    # The header is padded with spaces; other white space there leaves it unchanged.
    assume(not (data[position % len(data)] == ord(" ") and chr(changed[position % len(data)]).isspace()))
    refused(damaged(bytes(changed)))


@given(start=st.integers(0, 10**6), junk=st.binary(min_size=1, max_size=200))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_with_an_overwritten_range_is_refused(data: bytes, damaged: Callable[[bytes], Path], start: int, junk: bytes):
    start %= len(data)
    changed = data[:start] + junk + data[start + len(junk) :]
    if changed != data:
        refused(damaged(changed))


# --- files with a correct digest and wrong contents --------------------------------------------------------------------


def forged(
    path: Path,
    to: Path,
    tensors: dict[str, Tensor | None] | None = None,
    parts: dict[str, str | None] | None = None,
) -> Path:
    """The checkpoint with other tensors or texts (None removes one) and a new digest."""
    texts = read_metadata(path) | (parts or {})
    texts = {name: text for name, text in texts.items() if text is not None}
    values = {name: tensor for name, tensor in (load_file(path) | (tensors or {})).items() if tensor is not None}
    signed = {name: texts[name] for name in PARTS if name in texts}
    save_file(values, to / "forged.safetensors", texts | {"digest": digest(values, signed)})
    return to / "forged.safetensors"


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


@given(st.sampled_from(PARTS), st.recursive(st.none() | st.booleans() | st.floats() | st.text(), nested, max_leaves=8))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arbitrary_json_as_metadata_is_refused(path: Path, tmp_path: Path, name: str, value: object):
    with pytest.raises(CheckpointError):
        load_checkpoint(forged(path, tmp_path, parts={name: json.dumps(value)}))


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
def test_a_small_file_that_describes_a_large_model_is_refused(path: Path, tmp_path: Path, sizes: dict[str, int], monkeypatch):
    monkeypatch.setattr(Transformer, "__init__", lambda *_: pytest.fail("a model of that size was built"))
    refused(forged(path, tmp_path, parts={"config": config_with(**sizes)}), "its configuration needs")


def test_a_small_file_that_describes_large_tables_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    save_checkpoint(tmp_path / "wide", checkpoint(d_model=128, heads=2, d_ff=4, encoder_layers=1, decoder_layers=1))
    config = json.loads(read_metadata(tmp_path / "wide")["config"])
    whole = forged(tmp_path / "wide", tmp_path, parts={"config": json.dumps(config | {"max_len": 1024})})
    assert load_checkpoint(whole).model.config.max_len == 1024
    monkeypatch.setattr(Transformer, "__init__", lambda *_: pytest.fail("a model with such tables was built"))
    large = forged(tmp_path / "wide", tmp_path, parts={"config": json.dumps(config | {"max_len": 65_536})})
    refused(large, "asks for tables of 16777216 numbers")


@pytest.mark.parametrize("value", [3e38, -3e38, 1e30])
@pytest.mark.parametrize("preset", PRESETS)
def test_weights_that_could_overflow_are_refused(preset: str, value: float, tmp_path: Path):
    saved = checkpoint(preset)
    saved.model.target_embedding.table.weight.data[5, 0] = value
    with pytest.raises(CheckpointError, match="a forward pass could overflow"):
        save_checkpoint(tmp_path / "model", saved)


@pytest.mark.parametrize("final_norm", [False, True])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_largest_accepted_weights_do_not_overflow(preset: str, norm_first: bool, final_norm: bool, tmp_path: Path):
    saved = checkpoint(preset, norm_first=norm_first, final_norm=final_norm)
    least, most = 1.0, 1e38
    for _ in range(100):
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


def test_a_sparse_file_is_refused_before_it_is_read(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checkpoint_module, "digest", lambda *_: pytest.fail("all of it was read"))
    refused(hollow(path, tmp_path, 1 << 30), "parameters; its configuration needs")


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
