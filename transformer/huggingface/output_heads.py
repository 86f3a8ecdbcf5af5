"""Choose the class of `transformers` for a folder's model: with a language head, with a head for labels or spans, or a base
model.

The configuration names the class that was saved (`architectures`). A base model, such as `BertModel`, has no output layer.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import transformers
from transformers.models.auto import modeling_auto

from transformer.errors import CheckpointError
from transformer.huggingface.families import Family, Point, Points, Stack
from transformer.huggingface.files import Folder
from transformer.huggingface.output import Output
from transformer.pipeline.protocol import OutputKind

LABELS = 10_000  # most labels of a classifier
LETTERS = 200  # most letters of a label
# Kind of output → model type → name of the class with this output.
HEADS: Mapping[OutputKind, Mapping[str, str]] = {
    "label": modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    "labels": modeling_auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
    "span": modeling_auto.MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES,
}
# Model type → name of the class without an output layer (`BASES`), or of the class with the encoder alone (`ENCODERS`).
BASES: Mapping[str, Any] = modeling_auto.MODEL_MAPPING_NAMES
ENCODERS: Mapping[Any, str] = modeling_auto.MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES
# The kinds of output that each combination of stacks may have, besides tokens and vectors.
OF_STACKS: Mapping[tuple[str, ...], tuple[OutputKind, ...]] = {
    ("encoder",): ("label", "labels", "span"),
    ("decoder",): ("label", "labels"),
}
UNSHOWN = (
    "Its output layer, of the class {name}, is not shown here, so its last vectors are its result, and it writes no answer."
)
HEADLESS = "It has no output layer, so its last vectors are its result, and it writes no answer."
ENCODER_ONLY = "Only its encoder is in the folder."


def read_output(folder: Folder, values: Mapping[str, Any], config: Any, family: Family) -> Family:
    """The family, with the model class that the configuration names and the output of that class. The names of the labels are
    written to `config`.

    Args:
        folder: the folder of the model, for the messages of errors.
        values: the values in `config.json`.
        config: the configuration of `transformers` that was built from these values.
        family: the family of the model type, with a language head.

    Raises:
        CheckpointError: a model with these stacks cannot be traced with this output layer, or its labels are invalid.
    """
    names, model_type = values.get("architectures"), values["model_type"]
    name = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""
    if name == _encoder_class(model_type) and family.decoder is not None:
        return _bare(replace(family, decoder=None), name, f"{ENCODER_ONLY} {HEADLESS}")
    if name == base_class(model_type):
        return without_head(family, model_type)
    kind = next((kind for kind, classes in HEADS.items() if classes.get(model_type) == name), None)
    if kind is None:
        return family
    stacks = tuple(stack for stack in ("encoder", "decoder") if getattr(family, stack) is not None)
    if kind not in OF_STACKS.get(stacks, ()):
        template = "The model in {folder!r} is a {name}, which cannot be traced; its family opens with a language head or none."
        raise CheckpointError(template, folder=folder.name, name=name)
    if kind != "span":
        config.id2label = dict(enumerate(_labels(folder, values)))
    independent = values.get("problem_type") == "multi_label_classification"
    labels = () if kind == "span" else tuple(config.id2label.values())
    return replace(family, model_class=name, output=Output(kind, labels, independent))


def base_class(model_type: str) -> str:
    """The name of the class of `transformers` without an output layer, for a model type: `BertModel` for `bert`. Empty if there
    is no such class."""
    return BASES.get(model_type, "")


def without_head(family: Family, model_type: str, name: str = "") -> Family:
    """The family with its base class, which has no output layer. `name` is the model's own class if it has an output layer that
    is not used, and empty for a base model."""
    return _bare(family, base_class(model_type), UNSHOWN.format(name=name) if name else HEADLESS)


def _encoder_class(model_type: str) -> str:
    """The name of the class that holds only the encoder of a family, such as `T5EncoderModel`; empty if there is none."""
    return ENCODERS.get(model_type, "")


def _bare(family: Family, name: str, note: str) -> Family:
    """The family of a class without an output layer: the prefix of the base model is left out of the paths of its modules."""
    prefix = re.compile(rf"(^|(?<=\|)){getattr(transformers, name).base_model_prefix}(\.|$|(?=\|))")
    encoder, decoder = (_moved_stack(stack, prefix) for stack in (family.encoder, family.decoder))
    moved = _moved(family.other, prefix)
    return replace(
        family,
        model_class=name,
        encoder=encoder,
        decoder=decoder,
        other=moved,
        note=f"{family.note} {note}".strip(),
        output=Output("vectors"),
    )


def _moved_stack(stack: Stack | None, prefix: re.Pattern[str]) -> Stack | None:
    if stack is None:
        return None
    module, layers = prefix.sub("", stack.module), prefix.sub("", stack.layers)
    return replace(stack, module=module, layers=layers, embedding=_moved(stack.embedding, prefix))


def _moved(points: Points, prefix: re.Pattern[str]) -> dict[str, Point]:
    return {path: point._replace(module=prefix.sub("", point.module)) for path, point in points.items()}


def _labels(folder: Folder, values: Mapping[str, Any]) -> list[str]:
    """The names of the labels, in the order of the logits. Raises `CheckpointError` if they are not names, numbered from 0."""
    given, count = values.get("id2label"), values.get("num_labels", 2)
    if given is None and isinstance(count, int) and 0 < count <= LABELS:
        return [f"LABEL_{index}" for index in range(count)]
    listed = {str(index): name for index, name in given.items()} if isinstance(given, dict) and len(given) <= LABELS else {}
    labels = [listed.get(str(index)) for index in range(len(listed))]
    if not labels or not all(isinstance(label, str | int) and len(str(label)) <= LETTERS for label in labels):
        template = "The labels in the configuration of {folder!r} are not names, numbered from 0; allowed are up to {most}."
        raise CheckpointError(template, folder=folder.name, most=LABELS)
    return [str(label) for label in labels]
