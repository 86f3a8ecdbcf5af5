"""Tests of folders that are refused: with one sentence, and before anything large is built."""

import base64
import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from safetensors.torch import load_file, save_file

from tests.transformer.huggingface.tiny import folder_of, save_tokenizer
from transformer.assets import assets
from transformer.errors import CheckpointError, InputError
from transformer.huggingface import files
from transformer.huggingface.folder import Folder
from transformer.huggingface.hf_limits import MODEL_MEGABYTES
from transformer.huggingface.hf_opening import open_folder
from transformer.huggingface.pickles import read_pickles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the folder of a tiny GPT-2, which a test may change."""
    return Path(shutil.copytree(folder_of("gpt2"), tmp_path / "model"))


def change(folder: Path, name: str, **values: Any) -> None:
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def weights(folder: Path, edit: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_file(folder / "model.safetensors")
    edit(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def index(folder: Path, part: str) -> None:
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"transformer.wte.weight": part}}))


def header(folder: Path, tensors: dict[str, list[int]]) -> None:
    """Write a file of weights that has names and shapes but no numbers."""
    parts = {name: {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]} for name, shape in tensors.items()}
    text = json.dumps(parts).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text)


class Opened:
    """Creates the file `mark` when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


def as_pickle(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Opened(folder / "opened")))


def link_out(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder.parent / "elsewhere.safetensors")
    (folder / "model.safetensors").symlink_to(folder.parent / "elsewhere.safetensors")


def weight(folder: Path, changed: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Change one weight."""
    weights(folder, lambda tensors: tensors.update({"transformer.ln_f.weight": changed(tensors["transformer.ln_f.weight"])}))


ADDED = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def rules(folder: Path, **values: Any) -> None:
    """Change the rules of the tokenizer."""
    change(folder, "tokenizer.json", **values)


def replacing(letter: str, by: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": letter}, "content": by}


def letters(replacements: bytes) -> dict[str, Any]:
    """A table of letters with an empty index."""
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(bytes(4) + replacements).decode()}


def sentencepiece(folder: Path) -> None:
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.normalizer_spec.precompiled_charsmap = bytes(4) + b"x" * 5000
    (folder / "spiece.model").write_bytes(model.SerializeToString())


WRONG_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no configuration": (lambda f: (f / "config.json").unlink(), "has no file 'config.json'"),
    "no JSON": (lambda f: (f / "config.json").write_text("{"), "is not a JSON object"),
    "a list": (lambda f: (f / "config.json").write_text("[]"), "is not a JSON object"),
    "deep JSON": (lambda f: (f / "config.json").write_text("[" * 100_000), "is not a JSON object"),
    "links in a circle": (lambda f: (f / "a").symlink_to("a"), "'a' leads out of it"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "weights in other formats are not read"),
    "a pickle": (as_pickle, "weights in other formats are not read"),
    "a pickle by another name": (
        lambda f: (f / "model.safetensors").write_bytes(pickle.dumps(Opened(f / "opened"))),
        "are not whole safetensors files",
    ),
    "cut weights": (cut, "are not whole safetensors files"),
    "a link out": (link_out, "leads out of it"),
    "a part outside": (lambda f: index(f, "../elsewhere.safetensors"), "has no file '../elsewhere.safetensors'"),
    "a part that is a pickle": (lambda f: index(f, "part.bin"), "not safetensors"),
    "a part with an endless name": (lambda f: index(f, "x" * 5000 + ".safetensors"), "has no file 'xxx"),
    "a tensor of endless axes": (lambda f: header(f, {"a": [0, *[2**60] * 9]}), "are missing, such as"),
    "a hundred thousand tensors": (lambda f: header(f, {f"a{n}": [0] for n in range(100_000)}), "are more than 20000 tensors"),
    "an index without parts": (lambda f: (f / "model.safetensors.index.json").write_text("{}"), "lists no files"),
    "code of the configuration": (
        lambda f: change(f, "config.json", auto_map={"AutoConfig": "evil.Config"}),
        "asks for code of the folder",
    ),
    "code of the tokenizer": (
        lambda f: change(f, "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Tokenizer", None]}),
        "asks for code of the folder",
    ),
    "whole numbers as weights": (lambda f: weight(f, lambda values: values.to(torch.int8)), "holds numbers of the type int8"),
    "complex weights": (
        lambda f: weight(f, lambda values: values.to(torch.complex64)),
        "of the type complex64; weights are read",
    ),
    "weights of eight bits": (lambda f: weight(f, lambda values: values.to(torch.float8_e4m3fn)), "of the type float8_e4m3fn"),
    "a tokenizer that makes a billion letters of one": (
        lambda f: rules(f, normalizer={"type": "Sequence", "normalizers": [replacing("a", "a" * 1000)] * 3}),
        "replacements that make up to 1000000000 letters of one; allowed are 1000",
    ),
    "a decoder that makes too many letters": (
        lambda f: rules(f, decoder=replacing("e", "e" * 1001)),
        "replacements that make up to 1001 letters of one",
    ),
    "a table of letters with a long replacement": (
        lambda f: rules(f, normalizer=letters(b"aa\0" + b"x" * 101 + b"\0")),
        "a replacement of 101 bytes for a letter; allowed are 100",
    ),
    "no table of letters": (
        lambda f: rules(f, normalizer={"type": "Precompiled", "precompiled_charsmap": "a"}),
        "a table of letters that cannot be read",
    ),
    "a long table of SentencePiece": (sentencepiece, "a replacement of 5000 bytes for a letter"),
    "no file of SentencePiece": (lambda f: (f / "spiece.model").write_bytes(b"\xff" * 9), "that is not of SentencePiece"),
    "a long piece": (
        lambda f: rules(f, added_tokens=[{"id": 39, "content": "x" * 1001, "special": False} | ADDED]),
        "has a piece of 1001 letters",
    ),
    "a tokenizer that reads a file of the server": (
        lambda f: change(f, "tokenizer_config.json", tokenizer_class="BertTokenizer", vocab="/etc/passwd"),
        "'tokenizer_config.json' in the folder 'model' names the file '/etc/passwd'; a tokenizer reads",
    ),
    "a tokenizer that reads a device without end": (
        lambda f: change(f, "tokenizer_config.json", init_inputs=[["/dev/zero"]]),
        "names the file '/dev/zero'",
    ),
    "special tokens that are a file": (
        lambda f: (f / "special_tokens_map.json").write_text(json.dumps({"vocab_file": "/etc/passwd"})),
        "'special_tokens_map.json' in the folder 'model' names the file",
    ),
    "an adapter": (lambda f: (f / "adapter_config.json").write_text("{}"), "has an adapter"),
}
WRONG_CONFIGURATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown type": ({"model_type": "bloom"}, "is of the type 'bloom', which cannot be traced; allowed are marian"),
    "a type that is none": ({"model_type": ["gpt2"]}, "cannot be traced"),
    "quantized": ({"quantization_config": {"quant_method": "gptq"}}, "is quantized"),
    "more layers": ({"n_layer": 3}, "12 are missing, such as transformer.h.2"),
    "fewer layers": ({"n_layer": 1}, "are left over, such as transformer.h.1"),
    "a thousand million layers": ({"n_layer": 10**9}, "n_layer is 1000000000 in the configuration"),
    "an endless number": ({"n_embd": 10**400}, "n_embd is 1"),
    "wider": ({"n_embd": 32}, "are of another shape, such as"),
    "wider than the limit": ({"n_embd": 65_536}, "MB of weights; allowed are"),
    "more positions than memory": ({"n_positions": 9_999_999, "n_embd": 512}, "MB of weights; allowed are"),
    "a number that is a text": ({"layer_norm_epsilon": "small"}, "cannot be"),
    "a number that is not finite": ({"layer_norm_epsilon": float("nan")}, "layer_norm_epsilon is nan in the configuration"),
    "no positions": ({"n_positions": 3}, "has positions for 3 tokens; at least 4 are needed"),
    "no whole heads": ({"n_head": 3}, "cannot be built"),
    "no heads": ({"n_head": 0}, "cannot be built"),
    "another type of value": ({"n_embd": "wide"}, "cannot be built"),
    "an unknown activation": ({"activation_function": "evil"}, "cannot be built"),
    "another attention": ({"reorder_and_upcast_attn": True}, "has an attention of another kind"),
}


@pytest.mark.few_cases(6)
@pytest.mark.parametrize(("spoil", "problem"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_wrong_files_are_refused(folder: Path, spoil: Callable[[Path], object], problem: str) -> None:
    spoil(folder)
    with pytest.raises(CheckpointError) as error:
        open_folder(folder)
    assert problem in str(error.value)
    assert "\n" not in str(error.value)
    assert not (folder / "opened").exists()


@pytest.mark.few_cases(8)
@pytest.mark.parametrize(("values", "problem"), WRONG_CONFIGURATIONS.values(), ids=WRONG_CONFIGURATIONS)
def test_a_wrong_configuration_is_refused(folder: Path, values: dict[str, Any], problem: str) -> None:
    change(folder, "config.json", **values)
    with pytest.raises(CheckpointError) as error:
        open_folder(folder)
    assert problem in str(error.value)


def save_pickle(folder: Path, values: object = None) -> None:
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(tensors if values is None else values, folder / "pytorch_model.bin")


OPEN = """
import json, sys
from transformer.errors import CheckpointError
from transformer.huggingface.hf_opening import open_folder

pipeline = open_folder(sys.argv[1])
answer, weight = pipeline.answer("the cat"), pipeline.network.model.get_input_embeddings().weight.tolist()
try:
    problem = repr(open_folder(sys.argv[2]))
except CheckpointError as error:
    problem = str(error)
print(json.dumps([answer, weight, problem]))
"""


@pytest.mark.slow
def test_pickled_weights_are_read_if_the_operator_allows_it(folder: Path) -> None:
    wrong = Path(shutil.copytree(folder, folder.parent / "wrong"))
    weights(wrong, lambda tensors: tensors["transformer.wte.weight"].fill_(torch.nan))
    for each in (folder, wrong):
        save_pickle(each)
        with pytest.raises(CheckpointError, match="weights in other formats are not read"):
            open_folder(each)
    done = subprocess.run(
        [sys.executable, "-c", OPEN, folder, wrong],
        capture_output=True,
        text=True,
        check=True,
        cwd=assets().parent,
        env=os.environ | {"HEADLIGHT_PICKLED_WEIGHTS": "1"},
    )
    answer, weight, problem = json.loads(done.stdout)
    assert answer == open_folder(folder_of("gpt2")).answer("the cat")
    assert weight == load_file(folder_of("gpt2") / "model.safetensors")["transformer.wte.weight"].tolist()
    assert "transformer.wte.weight holds values that are not finite" in problem


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (lambda f: {"transformer.wte.weight": Opened(f / "opened")}, "holds more than tensors by name"),
        (lambda _: [torch.zeros(2)], "holds more than tensors by name, or is damaged .list."),
        (lambda _: {"transformer.wte.weight": torch.zeros(1).expand(1 << 40)}, "holds more than tensors by name"),
    ],
    ids=["code", "a list", "a tensor larger than memory"],
)
def test_pickled_weights_with_anything_else_are_refused(folder: Path, values: Callable[[Path], object], problem: str) -> None:
    save_pickle(folder, values(folder))
    with pytest.raises(CheckpointError, match=problem):
        read_pickles([folder / "pytorch_model.bin"])
    assert not (folder / "opened").exists()


@pytest.mark.parametrize("compressed", [False, True])
def test_a_pickle_that_is_not_an_uncompressed_archive_is_refused(folder: Path, compressed: bool) -> None:
    as_pickle(folder)
    if compressed:
        with zipfile.ZipFile(folder / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("archive/data.pkl", bytes(1000))
    with pytest.raises(CheckpointError, match="is compressed" if compressed else "is not of the format"):
        read_pickles([folder / "pytorch_model.bin"])
    assert not (folder / "opened").exists()


@pytest.mark.parametrize("shape", [[2**40, 2**40], [2**60] * 300, [10**4000]], ids=len)
def test_a_header_with_more_numbers_than_its_file_is_refused_before_it_is_listed(folder: Path, shape: list[int]) -> None:
    header(folder, {"a": shape})
    with pytest.raises(CheckpointError, match="the header names more numbers than the file has bytes"):
        files.summary(folder)


def test_labels_of_a_text_classifier_are_not_built(folder: Path) -> None:
    change(folder, "config.json", num_labels=10_000_000, label2id="x")  # to build a name for each label would take a minute
    assert open_folder(folder).network.model.config.num_labels == 2
    change(folder, "config.json", num_labels=2, id2label="x", quantization_config=None, dtype="evil")
    assert open_folder(folder).encode("the cat").ids


def test_a_model_whose_logits_are_not_finite_is_refused(folder: Path) -> None:
    weights(folder, lambda tensors: tensors["transformer.wte.weight"].mul_(1e30))
    with pytest.raises(CheckpointError, match="'gpt2' computes logits that are not finite"):
        open_folder(folder)


def test_the_reason_of_a_wrong_value_is_given(folder: Path) -> None:
    change(folder, "config.json", vocab_size="40")
    with pytest.raises(CheckpointError, match=r"Validation error for field 'vocab_size': TypeError: .* expected int, got str"):
        open_folder(folder)


def test_a_text_on_which_the_code_of_a_model_fails_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folder_of("bert"), tmp_path / "model"))
    change(folder, "config.json", chunk_size_feed_forward=5)  # the number of positions in the text that a model is tested on
    pipeline = open_folder(folder)
    assert pipeline.trace("the cat sleeps .").logits.shape[1] == 5
    with pytest.raises(InputError, match=r"This model fails on your text \(The dimension to be chunked 6"):
        pipeline.trace("the old cat sleeps .")
    with pytest.raises(InputError, match="This model fails on your text"):
        pipeline.answer("the old cat <mask> .")


@pytest.mark.parametrize("path", ["nowhere", "a\0b", 7, None])
def test_a_path_that_is_not_a_folder_is_refused(path: Any) -> None:
    with pytest.raises(CheckpointError):
        Folder(path)


@pytest.mark.parametrize("size", [15, 41, 400])
def test_a_tokenizer_of_another_size_is_refused(folder: Path, size: int) -> None:
    save_tokenizer(folder, size=size)
    with pytest.raises(CheckpointError, match=rf"The tokenizer has {size} pieces and the model 40; they do not"):
        open_folder(folder)


def test_a_missing_tokenizer_is_refused(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()
    with pytest.raises(CheckpointError, match="The folder 'model' has no tokenizer; it needs one of tokenizer"):
        open_folder(folder)


def test_wrong_weights_are_refused(folder: Path) -> None:
    weights(folder, lambda tensors: tensors["transformer.wte.weight"].fill_(torch.nan))
    with pytest.raises(CheckpointError, match=r"transformer.wte.weight holds values that are not finite"):
        open_folder(folder)
    weights(folder, lambda tensors: tensors.update({"transformer.wte.weight": torch.zeros(40, 17)}))
    with pytest.raises(CheckpointError, match=r"are of another shape, such as transformer.wte.weight"):
        open_folder(folder)
    weights(folder, lambda tensors: tensors.pop("transformer.wte.weight"))
    with pytest.raises(CheckpointError, match="missing"):
        open_folder(folder)


def test_too_large_a_model_is_refused_before_its_weights_are_read(folder: Path) -> None:
    cut(folder)
    change(folder, "config.json", n_embd=8192)
    with pytest.raises(CheckpointError, match=rf"asks for 6\d\d\d MB of weights; allowed are {MODEL_MEGABYTES} "):
        open_folder(folder)


def test_code_in_the_folder_is_never_run(folder: Path) -> None:
    for name in ("modeling_gpt2.py", "configuration_gpt2.py", "tokenization_gpt2.py", "__init__.py"):
        (folder / name).write_text(f"from pathlib import Path\nPath({str(folder / 'opened')!r}).touch()\n")
    change(folder, "config.json", attn_implementation="someone/kernel", _attn_implementation="sdpa", torch_dtype="float16")
    pipeline = open_folder(folder)
    assert next(pipeline.network.model.parameters()).dtype == torch.float32
    assert pipeline.check(pipeline.trace("the cat sleeps .", "")).equal
    assert not (folder / "opened").exists()


def test_a_model_that_cannot_run_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folder_of("bert"), tmp_path / "model"))
    change(folder, "config.json", chunk_size_feed_forward=3)  # no test text has a multiple of 3 positions
    with pytest.raises(CheckpointError, match="cannot be run"):
        open_folder(folder)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_half_precision_become_float32(folder: Path, dtype: torch.dtype) -> None:
    whole = open_folder(folder).trace("the cat sleeps .", "")
    weights(folder, lambda tensors: tensors.update({key: tensor.to(dtype) for key, tensor in tensors.items()}))
    trace = open_folder(folder).trace("the cat sleeps .", "")
    assert trace.logits.dtype == torch.float32
    assert trace.logits.allclose(whole.logits, atol=0.2)


def test_weights_in_parts_are_read(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    parts = {name: f"part-{number % 2}.safetensors" for number, name in enumerate(names)}
    for part in set(parts.values()):
        save_file({name: tensors[name] for name in names if parts[name] == part}, folder / part)
    whole = open_folder(folder).trace("the cat sleeps .", "")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": parts}))
    assert torch.equal(open_folder(folder).trace("the cat sleeps .", "").logits, whole.logits)


def test_weights_named_as_in_the_published_gpt2_are_read(folder: Path) -> None:
    """The published file leaves out the name of the stack, and contains the causal mask of each layer."""
    whole = open_folder(folder).trace("the cat sleeps .", "")
    tensors = {key.removeprefix("transformer."): tensor for key, tensor in load_file(folder / "model.safetensors").items()}
    masks = {f"h.{layer}.attn.bias": torch.ones(64, 64).tril()[None, None] for layer in range(2)}
    save_file({**tensors, **masks}, folder / "model.safetensors", {"format": "pt"})
    assert torch.equal(open_folder(folder).trace("the cat sleeps .", "").logits, whole.logits)


@pytest.mark.parametrize("shape", ["[-5]", "[NaN]", "[1e308]", "[true]", '"abc"'])
def test_a_header_with_invalid_sizes_is_refused_before_it_is_listed(folder: Path, shape: str) -> None:
    header = f'{{"a": {{"dtype": "F32", "shape": {shape}, "data_offsets": [0, 0]}}}}'.encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(CheckpointError, match="are not whole safetensors files"):
        files.summary(folder)


@pytest.mark.parametrize(
    "name", ["albert", "bloom", "deberta-v2", "falcon", "gemma3", "gpt_neo", "gptj", "longt5", "mpt", "olmo2", "xlnet"]
)
def test_families_that_cannot_be_traced_are_refused_by_name(folder: Path, name: str) -> None:
    change(folder, "config.json", model_type=name)
    with pytest.raises(CheckpointError, match=f"is of the type '{name}', which cannot be traced; allowed are marian, bart"):
        open_folder(folder)


def test_a_text_on_which_the_rules_of_a_tokenizer_fail_is_refused(folder: Path) -> None:
    """The Rust code of the tokenizer panics on this text. A panic is not an `Exception` in Python."""
    rules(
        folder,
        pre_tokenizer={"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False},
    )
    pipeline = open_folder(folder)
    with pytest.raises(InputError, match="The tokenizer of this model cannot read your text"):
        pipeline.encode("a" * 200 + "!")
    assert pipeline.encode("the cat").ids


def test_the_former_place_of_a_tokenizer_does_not_matter(folder: Path) -> None:
    change(folder, "tokenizer_config.json", special_tokens_map_file=__file__, name_or_path=__file__, vocab_file="/no/such/file")
    assert open_folder(folder).encode("the cat").ids


def test_published_kinds_of_rules_are_allowed(folder: Path) -> None:
    spaces = [{"type": "Prepend", "prepend": "▁"}, replacing(" ", "▁"), replacing("``", '"')]
    rules(folder, normalizer={"type": "Sequence", "normalizers": [{"type": "NFKC"}, *spaces]})
    assert open_folder(folder).encode("the cat").ids


def test_masks_in_the_weights_may_be_whole_numbers(folder: Path) -> None:
    mask = {"transformer.h.0.attn.bias": torch.ones(1, 1, 64, 64, dtype=torch.uint8)}
    weights(folder, lambda tensors: tensors.update(mask))
    assert open_folder(folder).answer("the cat")
