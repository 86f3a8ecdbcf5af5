"""Tests of checkpoints: a saved model is loaded bit for bit, and a damaged file is refused."""

import dataclasses
import math
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save, save_file
from torch.overrides import TorchFunctionMode

from tests.transformer.pipeline.checkpoints import CARD, SOURCE, TARGET, checkpoint, refused
from tests.transformer.small import small
from transformer.errors import CheckpointError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.pipeline.checkpoint import (
    Checkpoint,
    load_checkpoint,
    opened,
    read_card,
    read_metadata,
    read_safetensors,
    save_checkpoint,
    write_whole,
)
from transformer.text.vocabulary import Vocabulary

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


@pytest.mark.parametrize("tied", ["output", "all"])
def test_tied_matrices_are_stored_once_and_are_tied_again_when_loaded(tied: str, tmp_path: Path):
    saved = checkpoint("pytorch", tied_weights=tied)
    save_checkpoint(tmp_path / "model.safetensors", saved)
    loaded = load_checkpoint(tmp_path / "model.safetensors").model
    assert torch.equal(loaded(SOURCE, TARGET), saved.model(SOURCE, TARGET))
    assert loaded.output_projection.weight is loaded.target_embedding.table.weight
    assert (loaded.source_embedding.table.weight is loaded.target_embedding.table.weight) == (tied == "all")
    assert load_file(tmp_path / "model.safetensors").keys() == {name for name, _ in loaded.named_parameters()}


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


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("preset", PRESETS)
def test_building_a_loaded_model_draws_no_random_numbers(preset: str, tmp_path: Path):
    """Restoring the generator's state afterwards would not be enough: another thread may sample numbers meanwhile."""
    save_checkpoint(tmp_path / "model", checkpoint(preset))
    state, states = torch.get_rng_state(), []

    class AfterEachFunction(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **kwargs or {})
            states.append(torch.get_rng_state())
            return result

    with AfterEachFunction():
        load_checkpoint(tmp_path / "model")
    assert states
    assert all(torch.equal(each, state) for each in states)


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


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path):
    path = tmp_path / "deep" / "folder" / "model.safetensors"
    write_whole(path, b"old")

    def interrupted(beside: Path) -> None:
        assert beside.read_bytes() == b"new, and longer"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"new, and longer", check=interrupted)
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("other", ["model.safetensors", "model.bin", "model.part"])
def test_two_writers_can_save_the_same_path_at_once(other: str, tmp_path: Path):
    path = tmp_path / "model.safetensors"
    write_whole(path, b"first", check=lambda _: write_whole(tmp_path / other, b"second, meanwhile"))
    assert path.read_bytes() == b"first"
    assert (tmp_path / other).read_bytes() == (b"first" if path.name == other else b"second, meanwhile")
    assert {file.name for file in tmp_path.iterdir()} == {path.name, other}


@pytest.mark.parametrize("present", [True, False])
def test_a_link_stays_and_the_file_that_it_leads_to_is_written(present: bool, tmp_path: Path):
    kept, link = tmp_path / "kept" / "model.safetensors", tmp_path / "latest"
    if present:
        write_whole(kept, b"old")
    link.symlink_to(kept)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert kept.read_bytes() == b"new"
    assert [*kept.parent.iterdir()] == [kept]


def test_nothing_but_a_file_is_replaced(tmp_path: Path):
    pipe, circle, to_pipe = (tmp_path / name for name in ("pipe", "circle", "to_pipe"))
    os.mkfifo(pipe)
    circle.symlink_to(circle)
    to_pipe.symlink_to(pipe)
    for path in (pipe, circle, to_pipe):
        with pytest.raises(CheckpointError, match=f"The file '{path.name}' cannot be written"):
            save_checkpoint(path, checkpoint())
    assert pipe.is_fifo()
    assert circle.is_symlink()
    assert to_pipe.is_symlink()
    assert {file.name for file in tmp_path.iterdir()} == {"pipe", "circle", "to_pipe"}


def test_a_file_can_be_replaced_while_it_is_read(path: Path, tmp_path: Path):
    target, first, second = tmp_path / "model", load_checkpoint(path), checkpoint(d_model=8, heads=2, seed=5)
    save_checkpoint(target, first)
    with opened(target, "model") as file:
        save_checkpoint(target, second)
        assert TransformerConfig.from_json(file.metadata()["config"]) == first.model.config
        for name, parameter in first.model.named_parameters():
            assert torch.equal(file.get_tensor(name), parameter), name
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
        (checkpoint(), torch.int16, "it must be a floating-point type"),
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
        refused(tmp_path / name, "is a safetensors file, but no model that Headlight wrote")


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


def test_a_file_that_begins_with_the_byte_of_a_pickle_can_be_a_safetensors_file():
    # A safetensors file begins with the length of its header, which is padded to a multiple of 8. One of 32 such lengths
    # begins with the first byte of a pickle.
    starts = set()
    for count in range(0, 256, 8):
        data = save({"weight": torch.ones(2)}, {"text": count * "x"})
        starts.add(data[0])
        metadata, tensors = read_safetensors(data, "file")
        assert metadata == {"text": count * "x"}
        assert tensors["weight"].tolist() == [1, 1]
    assert 0x80 in starts
    with pytest.raises(CheckpointError, match="begins like a pickle"):
        read_safetensors(pickle.dumps([1]), "file")
