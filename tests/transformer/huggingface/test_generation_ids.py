"""Tests of the ids that a model needs to write, as the files of its folder name them."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from transformers import BartForConditionalGeneration, GPT2Config

from tests.transformer.huggingface.tiny import SHORT, VOCAB, save_model, save_tokenizer
from transformer.errors import CheckpointError
from transformer.huggingface.files import GENERATION, Folder
from transformer.huggingface.generation_ids import NO_ID, GenerationIds, read_generation_ids
from transformer.opening import open_model
from transformer.pipeline.decoding.generation import Generation

END = 2


def named(folder: Path, given: dict[str, Any] | None, **config: Any) -> GenerationIds:
    if given is not None:
        (folder / GENERATION).write_text(json.dumps(given))
    return read_generation_ids(
        Folder(folder), GPT2Config(**{"vocab_size": VOCAB, "bos_token_id": None, "eos_token_id": None, **config}), END
    )


@pytest.mark.slow
def test_a_model_starts_with_the_ids_of_its_generation_config(tmp_path: Path) -> None:
    save_model("bart", tmp_path)
    save_tokenizer(tmp_path)
    values = json.loads((tmp_path / GENERATION).read_text())
    values = {**values, "decoder_start_token_id": 5, "forced_bos_token_id": 7, "forced_eos_token_id": None}
    (tmp_path / GENERATION).write_text(json.dumps(values))
    pipeline: Any = open_model(tmp_path)
    encoding = pipeline.encode(SHORT)
    model: Any = BartForConditionalGeneration.from_pretrained(tmp_path)
    max_new_tokens = 2 * len(encoding.ids) + 8
    expected = model.generate(
        torch.tensor([encoding.ids]), max_new_tokens=max_new_tokens, do_sample=False, bad_words_ids=[[0]]
    )[0].tolist()
    assert expected[:2] == [5, 7]
    assert [5, *pipeline.answers([SHORT])[0].ids] == [index for index in expected if index != END]
    assert Generation.of(pipeline.generate(SHORT)).ids()[0] == 7
    assert pipeline.trace(SHORT).target_ids[0][:2] == (5, 7)


def test_the_generation_config_is_used_before_the_configuration(tmp_path: Path) -> None:
    assert named(tmp_path, None) == GenerationIds(0, NO_ID, {})
    assert named(tmp_path, None, eos_token_id=9, bos_token_id=4) == GenerationIds(4, 9, {})
    assert named(tmp_path, {"eos_token_id": 8, "decoder_start_token_id": 3}, eos_token_id=9, bos_token_id=4).end == 8
    assert named(tmp_path, {"eos_token_id": None, "bos_token_id": 6}, eos_token_id=9).end == 9
    assert named(tmp_path, {"forced_bos_token_id": 7}).forced == {0: 7}


def test_of_several_end_ids_the_one_of_the_tokenizer_is_used(tmp_path: Path) -> None:
    assert named(tmp_path, {"eos_token_id": [9, END]}).end == END
    assert named(tmp_path, {"eos_token_id": [9, 8]}).end == 9


@pytest.mark.parametrize("value", [VOCAB, -1, True, 2.0, "2", [], [[2]], {"a": 2}, 10**400])
def test_a_value_that_is_not_an_id_is_ignored(tmp_path: Path, value: Any) -> None:
    names = ("eos_token_id", "decoder_start_token_id", "forced_bos_token_id", "bos_token_id")
    assert named(tmp_path, dict.fromkeys(names, value)) == GenerationIds(0, NO_ID, {})


def test_a_generation_config_that_is_not_an_object_is_refused(tmp_path: Path) -> None:
    (tmp_path / GENERATION).write_text("[" * 100_000)
    with pytest.raises(CheckpointError, match=f"'{GENERATION}' in the folder .* is not a JSON object"):
        named(tmp_path, None)
