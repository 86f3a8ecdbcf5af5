"""Read the configuration and the model in a folder of Hugging Face. The files are checked before anything large is built.

Weights are read only from safetensors files, so nothing is unpickled (unless an operator allows it, see
`transformer.huggingface.pickles`), and no code of the folder is run. To build the model, `transformers` gets a configuration
and tensors, not the folder.
"""

import inspect
import math
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
from transformer.huggingface.files import MEGABYTE, Folder, config_values, pickle_files, weight_files
from transformer.huggingface.hf_limits import MODEL_LAYERS, MODEL_MEGABYTES, MODEL_NUMBER
from transformer.huggingface.output_heads import read_output, without_head
from transformer.huggingface.pickles import read_pickles

# Keys of a configuration that are ignored. Some choose an implementation, a type of numbers, or code. The others hold the
# labels of a classifier, which may be millions; `read_output` reads the labels where they are needed.
IGNORED = re.compile(
    r"_.*|.*attn_implementation|.*experts_implementation|torch_dtype|dtype|use_kernels|num_labels|id2label|label2id"
)
# Names of tensors that a file may contain and that are not used, such as the weights of other heads of a pre-trained model.
SPARE = re.compile(r"(^|\.)(pooler|seq_relationship|position_ids|masked_bias|attn\.bias|inv_freq|discriminator_predictions)\b")
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
TENSORS = 20_000  # most tensors in the files of weights; a model with two stacks of `MODEL_LAYERS` has about 7,000
COMPUTED_TABLE = 1 << 23  # most numbers in a table of positions, which may be computed one by one

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


def read_config(folder: Folder) -> tuple[PreTrainedConfig, Family]:
    """The configuration of a model, and its family, which lists where the tensors of this architecture are.

    Raises:
        CheckpointError: models of the family cannot be traced, a number is not finite or is too large, or a configuration
            cannot be built from the values.
    """
    values = config_values(folder)
    name = values["model_type"]
    _check_numbers(folder, values)
    try:
        # `model_type` alone chooses the class of the configuration.
        config_class = transformers.CONFIG_MAPPING[name]
        config = config_class.from_dict({key: value for key, value in values.items() if not IGNORED.fullmatch(key)})
        family = read_output(folder, values, config, FAMILIES[name](config))
    except CheckpointError:
        raise
    except Exception as error:  # noqa: BLE001 (invalid values can cause any exception)
        raise _cannot_build(folder, error) from None
    if getattr(config, "reorder_and_upcast_attn", False) or getattr(config, "add_cross_attention", False):
        raise CheckpointError("The model in {folder!r} has an attention of another kind.", folder=folder.name)
    return config, family


def read_model(folder: Folder, config: PreTrainedConfig, family: Family) -> tuple[PreTrainedModel, Family]:
    """The model and its family. The model is in evaluation mode, with weights in float32 and the attention of `transformers`
    itself (`eager`). If the files lack the weights of the language head, the result is the model without a head, and its
    family.

    The size of the model, from its configuration, and the sizes of the files are checked before a weight is read.

    Args:
        folder: the folder of the model.
        config, family: what `read_config` returned for this folder.

    Raises:
        CheckpointError: there are no safetensors files, the model is too large, or the weights are not finite or do not fit the
            configuration.
    """
    pickles = pickle_files(folder)
    files = pickles or weight_files(folder)
    model_class = getattr(transformers, family.model_class)
    config._attn_implementation = "eager"
    # The pooled vector of a base model is not used.
    given = {"add_pooling_layer": False} if "add_pooling_layer" in inspect.signature(model_class.__init__).parameters else {}
    try:
        with torch.device("meta"):  # shapes without memory
            empty = model_class(config, **given)
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
    _check_types(folder, weights, [name for name, _ in empty.named_parameters()])
    try:
        model, report = model_class.from_pretrained(
            None,
            config=config,
            state_dict=weights,
            dtype=torch.float32,
            attn_implementation="eager",
            ignore_mismatched_sizes=True,  # tensors of another shape are refused below
            output_loading_info=True,
            **given,
        )
    except Exception as error:  # noqa: BLE001
        raise _cannot_build(folder, error) from None
    missing, base = report["missing_keys"], f"{model.base_model_prefix}."
    if family.output.kind == "tokens" and missing and not any(key.startswith(base) for key in missing):
        named = next(iter(config.architectures or ()), family.model_class)
        return read_model(folder, config, without_head(family, config.model_type, "" if named == family.model_class else named))
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
    return model.eval(), family


def _check_numbers(folder: Folder, values: dict[str, Any]) -> None:
    for key, value in values.items():
        most = MODEL_LAYERS if "layers" in key or key == "n_layer" else MODEL_NUMBER
        listed = value if isinstance(value, list) else [value]
        if any(isinstance(each, float) and not math.isfinite(each) for each in listed):
            template = "{key} is {value!r} in the configuration of {folder!r}; a finite number is needed."
            raise CheckpointError(template, key=key, value=value, folder=folder.name)
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


def _read_weights(folder: Folder, files: list[Path]) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    try:
        for path in files:
            with safe_open(path, framework="pt") as file:
                keys = file.keys()
                if len(weights) + len(keys) > TENSORS:
                    template = "The weights in {folder!r} are more than {most} tensors."
                    raise CheckpointError(template, folder=folder.name, most=TENSORS)
                weights |= {key: file.get_tensor(key) for key in keys}
    except CheckpointError:
        raise
    except (OSError, ValueError, RuntimeError, MemoryError, safetensors.SafetensorError) as error:
        raise CheckpointError(
            "The weights in {folder!r} are not whole safetensors files ({problem}).", folder=folder.name, problem=str(error)
        ) from error
    return weights


def _finite(folder: Folder, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights, unchanged. Raises `CheckpointError` if a number in them is not finite."""
    for key, tensor in weights.items():
        if tensor.numel() and tensor.dtype in FLOATS and not _is_finite(tensor):
            raise CheckpointError("In {folder!r}, {key} holds values that are not finite.", folder=folder.name, key=key)
    return weights


def _is_finite(tensor: Tensor) -> bool:
    """Whether all numbers are finite. The sum is tested first, in a tenth of the time. Only if the sum is not finite is each
    number tested, because a sum of finite numbers can overflow."""
    return bool(tensor.sum().isfinite()) or bool(tensor.isfinite().all())


def _check_types(folder: Folder, weights: dict[str, Tensor], parameters: list[str]) -> None:
    """Refuse parameters whose type is an integer, complex or of eight bits, because they would be read as other numbers. A file
    may leave out the first part of a parameter's name. Other tensors in a file, such as masks and positions, may have any
    type."""
    for key, tensor in weights.items():
        known = tensor.dtype in FLOATS or not any(f".{name}".endswith(f".{key}") for name in parameters)
        if not known:
            raise CheckpointError(
                "In {folder!r}, {key} holds numbers of the type {found}; weights are read from {types}.",
                folder=folder.name,
                key=key,
                found=str(tensor.dtype).removeprefix("torch."),
                types=", ".join(str(dtype).removeprefix("torch.") for dtype in FLOATS),
            )


def _cannot_build(folder: Folder, error: Exception) -> CheckpointError:
    template = "The configuration in {folder!r} cannot be built ({problem})."
    return CheckpointError(template, folder=folder.name, problem=first_line(error))


def first_line(error: Exception) -> str:
    """The first line of an error's message; also the second line if the first ends with a colon. If the message is empty, the
    result is the name of the error's class."""
    first, *rest = map(str.strip, str(error).strip().splitlines() or [type(error).__name__])
    return f"{first} {rest[0]}" if first.endswith(":") and rest else first
