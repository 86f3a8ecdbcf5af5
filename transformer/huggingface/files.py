"""The files of a model's folder: which may be read, and what they say about the model before it is opened.

Needs none of the packages that open a model, so that an app can list its folders without them.
"""

import json
import math
import os
import struct
from pathlib import Path
from typing import Any, NamedTuple

from transformer.errors import CheckpointError
from transformer.huggingface.families import FAMILIES
from transformer.huggingface.limits import MODEL_MEGABYTES, PICKLED_WEIGHTS, TOKENIZER_MEGABYTES

CONFIG, INDEX, WEIGHTS = "config.json", "model.safetensors.index.json", "model.safetensors"
GENERATION = "generation_config.json"
PICKLED, PICKLED_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
# Each holds the pieces of a tokenizer, in the format of one or another.
TOKENIZERS = ("tokenizer.json", "vocab.json", "vocab.txt", "spiece.model", "tokenizer.model", "sentencepiece.bpe.model")
# What is said about the pieces, and what is in it without being read: where the tokenizer was when it was written.
TOKENIZER_SETTINGS, NOT_READ = ("tokenizer_config.json", "special_tokens_map.json"), ("name_or_path", "special_tokens_map_file")
MEGABYTE = 1_000_000
HEADER_BYTES = 20 * MEGABYTE  # of the largest header of a safetensors file that is read
NUMBER_BYTES = 4  # weights are read as float32
# As safetensors writes them; weights of any other type are not numbers with a fraction.
FLOATS = ("F64", "F32", "F16", "BF16")


class Folder:
    """The files of a folder that may be read.

    Raises:
        CheckpointError: it is not a folder, or a file in it leads out of it.
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
        """The path of a file.

        Args:
            name: of the file, without a folder.
            most: megabytes.

        Raises:
            CheckpointError: it is missing or larger.
        """
        path = self.root / name
        if Path(name).name != name or not os.path.isfile(path):  # False for any text
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
        """Whether there is such a file."""
        return (self.root / name).is_file()

    def json(self, name: str) -> dict[str, Any]:
        """The object in a JSON file. Raises as `file`, and if the file holds anything but an object."""
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
        """Check the files that a tokenizer may read: their size, and that they ask for no code and no other file. Raises as
        `file`."""
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
        """Refuse settings with the path of a file: a tokenizer would read the file, wherever it is, and show what is in it."""
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
    except ValueError:  # with a zero in it
        return False


def _lies_in(file: Path, root: Path) -> bool:
    """Whether a file lies in a folder when all links are followed; False for links in a circle."""
    try:
        real = file.resolve()
        return real.is_relative_to(root) and not real.is_symlink()  # Python 3.13 leaves a circle as it is
    except (OSError, RuntimeError):  # Python 3.11 raises RuntimeError for a circle
        return False


class Summary(NamedTuple):
    """What the files of a folder say about its model.

    Attributes:
        family: `model_type` of its configuration.
        parameters: numbers in its weight files; of pickled ones, as many as they have room for.
        nbytes: of memory that they take as float32.
    """

    family: str
    parameters: int
    nbytes: int


def summary(path: str | Path) -> Summary:
    """The family and the size of a model, from its configuration and the headers of its weight files. Nothing is opened.

    Raises:
        CheckpointError: a folder that cannot be opened, as far as these files tell; or a model above `MODEL_MEGABYTES`.
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
    """The values of a configuration.

    Raises:
        CheckpointError: no configuration, or a model that cannot be traced: of an unknown family, quantized, or an adapter.
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
    """The safetensors files, of one or several parts.

    Raises:
        CheckpointError: there are none, a name is not that of a safetensors file in the folder, or they are too large.
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
    """The files of weights in PyTorch's own format, where the operator allows them and there are no others.

    Raises:
        CheckpointError: one is missing, or they are too large.
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
    """The numbers in a safetensors file, from the header at its start.

    Raises:
        CheckpointError: it has no such header.
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
