"""The files of a model's folder: which of them may be read, and facts about the model that are read before it is opened.

This module needs none of the packages that open a model, so an app can list its folders without them.
"""

import json
import math
import os
import struct
from pathlib import Path
from typing import Any, NamedTuple

from transformer.errors import CheckpointError
from transformer.huggingface.families import FAMILIES
from transformer.huggingface.hf_limits import MODEL_MEGABYTES, PICKLED_WEIGHTS, TOKENIZER_MEGABYTES

CONFIG, INDEX, WEIGHTS = "config.json", "model.safetensors.index.json", "model.safetensors"
GENERATION = "generation_config.json"
PICKLED, PICKLED_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
# Each of these files contains the pieces of a tokenizer, in one of several formats.
TOKENIZERS = ("tokenizer.json", "vocab.json", "vocab.txt", "spiece.model", "tokenizer.model", "sentencepiece.bpe.model")
# Files with the settings of a tokenizer, and the keys in them that are not read, because their values are old paths: the place
# of the tokenizer when the file was written.
TOKENIZER_SETTINGS, NOT_READ = ("tokenizer_config.json", "special_tokens_map.json"), ("name_or_path", "special_tokens_map_file")
MEGABYTE = 1_000_000
HEADER_BYTES = 20 * MEGABYTE  # the largest header of a safetensors file that is read
NUMBER_BYTES = 4  # weights are read as float32
# The floating-point types, as safetensors names them.
FLOATS = ("F64", "F32", "F16", "BF16")


class Folder:
    """The folder of a model, whose files are checked before they are read.

    Raises:
        CheckpointError: the path is not a folder, or a link in the folder leads out of it.
    """

    def __init__(self, path: str | Path) -> None:
        if not isinstance(path, str | Path) or "\0" in str(path):
            raise CheckpointError("A model is opened from the path of a folder, not from {path!r}.", path=path)
        self.path = Path(path)
        self.name = self.path.name
        if not self.path.is_dir():
            raise CheckpointError("There is no folder {path!r}.", path=str(path))
        self.root = self.path.resolve()
        for file in sorted(self.path.iterdir()):
            if not _lies_in(file, self.root):
                raise CheckpointError(
                    "In the folder {folder!r}, {file!r} leads out of it; copy the files themselves (`cp -rL`).",
                    folder=self.name,
                    file=file.name,
                )

    def file(self, name: str, most: int = TOKENIZER_MEGABYTES) -> Path:
        """The path of a file in the folder, after a check of its size.

        Args:
            name: name of the file, without a folder.
            most: the largest size, in megabytes (10⁶ bytes).

        Raises:
            CheckpointError: the file is missing, or larger than `most`.
        """
        path = self.root / name
        if Path(name).name != name or not os.path.isfile(path):  # `isfile` raises no error for any text
            raise CheckpointError("The folder {folder!r} has no file {file!r}.", folder=self.name, file=name)
        if path.stat().st_size > most * MEGABYTE:
            raise CheckpointError(
                "{file!r} in the folder {folder!r} has {size} MB; allowed are {most}.",
                file=name,
                folder=self.name,
                size=path.stat().st_size // MEGABYTE,
                most=most,
            )
        return path

    def has(self, name: str) -> bool:
        """Whether the folder has a file of this name."""
        return (self.root / name).is_file()

    def json(self, name: str) -> dict[str, Any]:
        """The object in the JSON file `name`. Raises `CheckpointError` if the file is missing or too large, is not a JSON
        object, or names code to run (`auto_map`)."""
        data = self.file(name).read_bytes()
        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise CheckpointError("{file!r} in the folder {folder!r} is not a JSON object.", file=name, folder=self.name)
        if "auto_map" in values:
            raise CheckpointError(
                "{file!r} in the folder {folder!r} asks for code of the folder (`auto_map`), which is never run.",
                file=name,
                folder=self.name,
            )
        return values

    def tokenizer_files(self) -> None:
        """Check the files of the tokenizer: there is one, its files are not too large, and its settings name neither code nor a
        file. Raises `CheckpointError` otherwise."""
        if not any(self.has(name) for name in TOKENIZERS):
            raise CheckpointError(
                "The folder {folder!r} has no tokenizer; it needs one of {names}.",
                folder=self.name,
                names=", ".join(TOKENIZERS),
            )
        for path in self.root.iterdir():
            if path.suffix in (".json", ".txt", ".model", ".spm", ".jinja") and path.name not in (INDEX, CONFIG):
                self.file(path.name)
        for name in TOKENIZER_SETTINGS:
            if self.has(name):
                self._check_paths(name, self.json(name))

    def _check_paths(self, name: str, settings: dict[str, Any]) -> None:
        """Refuse settings that contain the path of a file. A tokenizer would read this file, even outside the folder, and show
        its contents."""
        waiting: list[Any] = [value for key, value in settings.items() if key not in NOT_READ]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict | list):
                waiting += value.values() if isinstance(value, dict) else value
            elif isinstance(value, str) and _is_file(value):
                raise CheckpointError(
                    "{file!r} in the folder {folder!r} names the file {path!r}; a tokenizer reads files of its folder only.",
                    file=name,
                    folder=self.name,
                    path=value,
                )


def _is_file(text: str) -> bool:
    """Whether a text is the path of a file of this computer, or of a device."""
    try:
        return os.path.exists(text) and not os.path.isdir(text)
    except ValueError:  # the text has a null character
        return False


def _lies_in(file: Path, root: Path) -> bool:
    """Whether a file lies in a folder when all links are followed; False for links in a circle."""
    try:
        real = file.resolve()
        return real.is_relative_to(root) and not real.is_symlink()  # Python 3.13 does not resolve a circle
    except (OSError, RuntimeError):  # Python 3.11 raises RuntimeError for a circle
        return False


class Summary(NamedTuple):
    """Facts about a model, from the files of its folder.

    Attributes:
        family: `model_type` of its configuration.
        parameters: the count of numbers in its weight files; for pickled files, how many numbers of four bytes fit into their
            size.
        nbytes: bytes of memory that the parameters take as float32.
    """

    family: str
    parameters: int
    nbytes: int


def summary(path: str | Path) -> Summary:
    """The family and the size of a model, from its configuration and the headers of its weight files. The model is not opened.

    Raises:
        CheckpointError: the folder cannot be opened, as far as these files show; or the model is larger than `MODEL_MEGABYTES`.
    """
    folder = Folder(path)
    family = config_values(folder)["model_type"]
    folder.tokenizer_files()
    pickles = pickle_files(folder)
    # The numbers of a pickle cannot be counted before it is read.
    parameters = sum(file.stat().st_size // NUMBER_BYTES for file in pickles) if pickles else 0
    parameters = parameters or sum(_numbers(folder, file) for file in weight_files(folder))
    size = NUMBER_BYTES * parameters
    if size > MODEL_MEGABYTES * MEGABYTE:
        raise CheckpointError(
            "The model in {folder!r} takes {size} MB of memory; allowed are {most} (HEADLIGHT_MODEL_MEGABYTES).",
            folder=folder.name,
            size=size // MEGABYTE,
            most=MODEL_MEGABYTES,
        )
    return Summary(family, parameters, size)


def config_values(folder: Folder) -> dict[str, Any]:
    """The values in `config.json`, after a check that a model with these values can be traced.

    Raises:
        CheckpointError: there is no configuration; or the model cannot be traced, because its family is unknown, its weights
            are quantized, or it is an adapter.
    """
    values = folder.json(CONFIG)
    if folder.has("adapter_config.json"):
        raise CheckpointError("The folder {folder!r} has an adapter; merge it into its model first.", folder=folder.name)
    if values.get("quantization_config") is not None:
        raise CheckpointError("The model in {folder!r} is quantized; only full weights can be traced.", folder=folder.name)
    name = values.get("model_type")
    if not isinstance(name, str) or name not in FAMILIES:
        raise CheckpointError(
            "The model in {folder!r} is of the type {type!r}, which cannot be traced; allowed are {types}.",
            folder=folder.name,
            type=name,
            types=", ".join(FAMILIES),
        )
    return values


def weight_files(folder: Folder) -> list[Path]:
    """The paths of the safetensors files with the weights of a model.

    Raises:
        CheckpointError: the folder has no such file, its index lists a file that is missing or is not in this format, or the
            files are too large.
    """
    if folder.has(INDEX):
        parts = folder.json(INDEX).get("weight_map")
        if not isinstance(parts, dict) or not all(isinstance(name, str) for name in parts.values()):
            raise CheckpointError("{file!r} in the folder {folder!r} lists no files.", file=INDEX, folder=folder.name)
        names = sorted(set(parts.values()))
    elif folder.has(WEIGHTS):
        names = [WEIGHTS]
    else:
        raise CheckpointError(
            "The folder {folder!r} has no {file}; weights in other formats are not read, because they can hold code.",
            folder=folder.name,
            file=WEIGHTS,
        )
    if not all(name.endswith(".safetensors") for name in names):
        raise CheckpointError("{file!r} names files that are not safetensors.", file=INDEX)
    paths = [folder.file(name, MODEL_MEGABYTES) for name in names]
    if sum(path.stat().st_size for path in paths) > MODEL_MEGABYTES * MEGABYTE:
        raise CheckpointError(
            "The weights in {folder!r} have more than {most} MB (HEADLIGHT_MODEL_MEGABYTES).",
            folder=folder.name,
            most=MODEL_MEGABYTES,
        )
    return paths


def pickle_files(folder: Folder) -> list[Path]:
    """The paths of the files with weights in PyTorch's own format, which is a pickle. Empty if the environment variable
    `HEADLIGHT_PICKLED_WEIGHTS` does not allow them, or if there are safetensors files.

    Raises:
        CheckpointError: a file is missing, or the files are too large.
    """
    if not PICKLED_WEIGHTS or folder.has(INDEX) or folder.has(WEIGHTS):
        return []
    names = [PICKLED] if folder.has(PICKLED) else []
    if folder.has(PICKLED_INDEX):
        parts = folder.json(PICKLED_INDEX).get("weight_map")
        names = sorted({str(name) for name in parts.values()}) if isinstance(parts, dict) else []
    paths = [folder.file(name, MODEL_MEGABYTES) for name in names]
    if sum(path.stat().st_size for path in paths) > MODEL_MEGABYTES * MEGABYTE:
        raise CheckpointError("The weights in {folder!r} have more than {most} MB.", folder=folder.name, most=MODEL_MEGABYTES)
    return paths


def _numbers(folder: Folder, file: Path) -> int:
    """The count of floating-point numbers in a safetensors file, from the header at its start.

    Raises:
        CheckpointError: the file has no valid header.
    """
    try:
        with file.open("rb") as opened:
            (length,) = struct.unpack("<Q", opened.read(8))
            if length > min(HEADER_BYTES, file.stat().st_size):
                raise ValueError("the header is longer than the file")
            tensors = json.loads(opened.read(length))
        tensors.pop("__metadata__", None)
        shapes = [tensor["shape"] for tensor in tensors.values() if tensor["dtype"] in FLOATS]
        if any(type(size) is not int or size < 0 for shape in shapes for size in shape):
            raise ValueError("a size is not a whole number from 0")
        numbers = sum(map(math.prod, shapes))
        if numbers > file.stat().st_size:
            raise ValueError("the header names more numbers than the file has bytes")
        return numbers
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error) as error:
        raise CheckpointError(
            "The weights in {folder!r} are not whole safetensors files ({problem}).", folder=folder.name, problem=str(error)
        ) from None
