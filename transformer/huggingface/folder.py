"""What may be opened: a folder of a Hugging Face model, checked file by file before anything large is built.

Weights come from safetensors files alone, so nothing is unpickled (unless an operator allows it, see
`transformer.huggingface.pickles`), and no code of the folder is run. All files are read by this module or from paths it has
checked; `transformers` gets a configuration and tensors, never the folder of the weights.
"""

import json
import re
from pathlib import Path
from typing import Any

import safetensors
import torch
import transformers
from safetensors import safe_open
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from transformer.errors import CheckpointError
from transformer.huggingface.families import FAMILIES, Family
from transformer.huggingface.limits import MODEL_LAYERS, MODEL_MEGABYTES, MODEL_NUMBER, PICKLED_WEIGHTS, TOKENIZER_MEGABYTES
from transformer.huggingface.pickles import read_pickles

CONFIG, INDEX, WEIGHTS = "config.json", "model.safetensors.index.json", "model.safetensors"
PICKLED, PICKLED_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
# Each holds the pieces of a tokenizer, in the format of one or another.
TOKENIZERS = ("tokenizer.json", "vocab.json", "vocab.txt", "spiece.model", "tokenizer.model", "sentencepiece.bpe.model")
MEGABYTE = 1_000_000
# Keys of a configuration that choose an implementation, another type of number, or code; the model is built without them.
IGNORED = re.compile(r"_.*|.*attn_implementation|.*experts_implementation|torch_dtype|dtype|use_kernels")
# Weights of heads that a pre-trained model may have besides the one that is used.
SPARE = re.compile(r"(^|\.)(pooler|seq_relationship|position_ids|masked_bias|attn\.bias|inv_freq|discriminator_predictions)\b")
COMPUTED_TABLE = 1 << 23  # numbers in a table of positions, which may be computed number by number

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


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
            if not file.resolve().is_relative_to(self.root):
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
        if Path(name).name != name or not path.is_file():
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
        """Check the files that a tokenizer may read: their size, and that they ask for no code. Raises as `file`."""
        if not any(self.has(name) for name in TOKENIZERS):
            raise CheckpointError(
                "The folder {folder!r} has no tokenizer; it needs one of {names}.",
                folder=self.name,
                names=", ".join(TOKENIZERS),
            )
        for path in self.root.iterdir():
            if path.suffix in (".json", ".txt", ".model", ".spm", ".jinja") and path.name not in (INDEX, CONFIG):
                self.file(path.name)
        if self.has("tokenizer_config.json"):
            self.json("tokenizer_config.json")


def read_config(folder: Folder) -> tuple[PreTrainedConfig, Family]:
    """The configuration of a model, and its family.

    Raises:
        CheckpointError: a family that cannot be traced, or values that cannot be built.
    """
    values = folder.json(CONFIG)
    if folder.has("adapter_config.json"):
        raise CheckpointError("The folder {folder!r} has an adapter; merge it into its model first.", folder=folder.name)
    if "quantization_config" in values:
        raise CheckpointError("The model in {folder!r} is quantized; only full weights can be traced.", folder=folder.name)
    name = values.get("model_type")
    if not isinstance(name, str) or name not in FAMILIES:
        raise CheckpointError(
            "The model in {folder!r} is of the type {type!r}, which cannot be traced; allowed are {types}.",
            folder=folder.name,
            type=name,
            types=", ".join(FAMILIES),
        )
    _check_numbers(folder, values)
    try:
        # Every family has one class, so the configuration's own type is that of a model built from nothing.
        config_class = transformers.CONFIG_MAPPING[name]
        config = config_class.from_dict({key: value for key, value in values.items() if not IGNORED.fullmatch(key)})
        family = FAMILIES[name](config)
    except Exception as error:  # noqa: BLE001 (of whatever kind, from values of whatever kind)
        raise _cannot_build(folder, error) from None
    if getattr(config, "reorder_and_upcast_attn", False) or getattr(config, "add_cross_attention", False):
        raise CheckpointError("The model in {folder!r} has an attention of another kind.", folder=folder.name)
    return config, family


def read_model(folder: Folder, config: PreTrainedConfig, family: Family) -> PreTrainedModel:
    """The model, in evaluation mode, with weights in float32 and the attention of `transformers` itself (`eager`).

    Sizes are counted from the configuration and from the headers of the files before a weight is read.

    Raises:
        CheckpointError: no safetensors files, a model that is too large, or weights that do not fit the configuration.
    """
    pickles = _pickle_files(folder)
    files = pickles or _weight_files(folder)
    model_class = getattr(transformers, family.model_class)
    config._attn_implementation = "eager"
    try:
        with torch.device("meta"):  # shapes without memory
            empty = model_class(config)
    except Exception as error:  # noqa: BLE001
        raise _cannot_build(folder, error) from None
    tensors = {id(tensor): tensor for tensor in [*empty.parameters(), *empty.buffers()]}.values()
    size = 4 * sum(tensor.numel() for tensor in tensors)
    if size > MODEL_MEGABYTES * MEGABYTE:
        raise CheckpointError(
            "The configuration in {folder!r} asks for {size} MB of weights; allowed are {most} (HEADLIGHT_MODEL_MEGABYTES).",
            folder=folder.name,
            size=size // MEGABYTE,
            most=MODEL_MEGABYTES,
        )
    _check_tables(folder, empty)
    weights = _finite(folder, read_pickles(files) if pickles else _read_weights(folder, files))
    try:
        model, report = model_class.from_pretrained(
            None,
            config=config,
            state_dict=weights,
            dtype=torch.float32,
            attn_implementation="eager",
            ignore_mismatched_sizes=True,  # they are refused below
            output_loading_info=True,
        )
    except Exception as error:  # noqa: BLE001
        raise _cannot_build(folder, error) from None
    for problem in ("mismatched_keys", "missing_keys", "unexpected_keys"):
        wrong = sorted(key if isinstance(key, str) else key[0] for key in report[problem])
        wrong = [key for key in wrong if problem != "unexpected_keys" or not SPARE.search(key)]
        if wrong:
            raise CheckpointError(
                "The weights in {folder!r} do not fit its configuration: {count} are {problem}, such as {key}.",
                folder=folder.name,
                count=len(wrong),
                problem={"mismatched": "of another shape", "missing": "missing"}.get(problem.split("_")[0], "left over"),
                key=wrong[0],
            )
    return model.eval()


def _check_numbers(folder: Folder, values: dict[str, Any]) -> None:
    for key, value in values.items():
        most = MODEL_LAYERS if "layers" in key or key == "n_layer" else MODEL_NUMBER
        listed = value if isinstance(value, list) else [value]
        if len(listed) > MODEL_NUMBER or any(isinstance(each, int) and abs(each) > most for each in listed):
            raise CheckpointError(
                "{key} is {value!r} in the configuration of {folder!r}; allowed are up to {most}.",
                key=key,
                value=value,
                folder=folder.name,
                most=most,
            )


def _check_tables(folder: Folder, model: PreTrainedModel) -> None:
    for name, module in model.named_modules():
        tables = [*module.parameters(recurse=False), *module.buffers(recurse=False)]
        if "Sinusoidal" in type(module).__name__ and sum(table.numel() for table in tables) > COMPUTED_TABLE:
            raise CheckpointError(
                "The configuration in {folder!r} asks for a computed table {name} of more than {most} numbers.",
                folder=folder.name,
                name=name,
                most=COMPUTED_TABLE,
            )


def _weight_files(folder: Folder) -> list[Path]:
    """The safetensors files, of one or several parts."""
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


def _pickle_files(folder: Folder) -> list[Path]:
    """The files of weights in PyTorch's own format, where the operator allows them and there are no others."""
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


def _read_weights(folder: Folder, files: list[Path]) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    try:
        for path in files:
            with safe_open(path, framework="pt") as file:
                for key in file.keys():  # noqa: SIM118 (no mapping, only has its `keys`)
                    weights[key] = file.get_tensor(key)
    except (OSError, ValueError, RuntimeError, MemoryError, safetensors.SafetensorError) as error:
        raise CheckpointError(
            "The weights in {folder!r} are not whole safetensors files ({problem}).", folder=folder.name, problem=str(error)
        ) from error
    return weights


def _finite(folder: Folder, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights, if all numbers in them are finite."""
    for key, tensor in weights.items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise CheckpointError("In {folder!r}, {key} holds values that are not finite.", folder=folder.name, key=key)
    return weights


def _cannot_build(folder: Folder, error: Exception) -> CheckpointError:
    template = "The configuration in {folder!r} cannot be built ({problem})."
    return CheckpointError(template, folder=folder.name, problem=first_line(error))


def first_line(error: Exception) -> str:
    """The first line of what an error says, or its name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
