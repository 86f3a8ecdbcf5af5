"""Open a folder of Hugging Face: check its files, and build its tokenizer and its model."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from transformers import AutoTokenizer, PreTrainedConfig, PreTrainedModel

from transformer.errors import CheckpointError
from transformer.huggingface.families import Family
from transformer.huggingface.files import Folder
from transformer.huggingface.folder import first_line, read_config, read_model
from transformer.huggingface.generation_ids import GenerationIds, read_generation_ids
from transformer.huggingface.hf_limits import MODEL_TOKENS
from transformer.huggingface.hf_network import NO_PAD, Network
from transformer.huggingface.hf_pipeline import HuggingFacePipeline
from transformer.huggingface.tokenizer_rules import caught_panics, check_pieces, check_rules

LEAST_TOKENS = 4  # a model must be able to read texts of this many tokens
LONGROPE = (
    "It reads up to {count} tokens: positions of longer texts are turned by other angles (`longrope`), which neither kept keys "
    "nor threads that share a model allow."
)


class Opened(NamedTuple):
    """The parts of a model that was read from a folder.

    Attributes:
        name: name of the folder.
        model: the model in evaluation mode, with the attention of `transformers` itself.
        family: its architecture, and where its tensors are.
        tokenizer: its tokenizer, of `transformers`.
        pad: id of padding; `NO_PAD` (−1) if there is none, or if the same id ends a text.
        longest: most tokens of a text.
        generation_ids: ids that the model needs to write.
    """

    name: str
    model: PreTrainedModel
    family: Family
    tokenizer: Any
    pad: int
    longest: int
    generation_ids: GenerationIds


def open_folder(path: str | Path) -> HuggingFacePipeline:
    """The pipeline of the model in a folder.

    Raises:
        CheckpointError: the folder is missing, a check of its files fails (`transformer.huggingface.folder`), or the files do
            not fit together.
    """
    opened = read_folder(path)
    with readable_model(opened.name):
        network = Network(opened.model, opened.family, opened.pad, opened.pad, opened.longest, opened.generation_ids.start)
    return HuggingFacePipeline(opened.name, network, opened.tokenizer, opened.generation_ids)


def read_folder(path: str | Path) -> Opened:
    """The model and the tokenizer in a folder. Raises `CheckpointError` as `open_folder`."""
    folder = Folder(path)
    config, family = read_config(folder)
    folder.tokenizer_files()
    check_rules(folder)
    try:
        with caught_panics():
            tokenizer: Any = AutoTokenizer.from_pretrained(
                str(folder.root), config=config, local_files_only=True, trust_remote_code=False
            )
            pad, count, pieces = tokenizer.pad_token_id, len(tokenizer), [*tokenizer.get_vocab()]
    except Exception as error:  # noqa: BLE001 (invalid files can cause any exception)
        template = "The tokenizer in {folder!r} cannot be read ({problem})."
        problem = first_line(error).replace(str(folder.root), folder.name)
        raise CheckpointError(template, folder=folder.name, problem=problem) from None
    check_pieces(folder.name, pieces)
    if not count:
        raise CheckpointError("The tokenizer in {folder!r} has no pieces.", folder=folder.name)
    if getattr(tokenizer, "separate_vocabs", False):
        template = "The tokenizer in {folder!r} has a vocabulary for each side; only one for both can be read."
        raise CheckpointError(template, folder=folder.name)
    pad = NO_PAD if pad is None or pad == tokenizer.eos_token_id else pad
    generation_ids = read_generation_ids(folder, config, tokenizer.eos_token_id)
    with readable_model(folder.name):
        positions = getattr(config, "max_position_embeddings", None) or MODEL_TOKENS
        longest = min(MODEL_TOKENS, positions - family.first_position(config))
        alike = turned_alike(config, longest)
    if alike < longest:
        longest, family = alike, replace(family, note=f"{family.note} {LONGROPE.format(count=alike)}")
    if longest < LEAST_TOKENS:
        template = "The configuration in {folder!r} has positions for {count} tokens; at least {least} are needed."
        raise CheckpointError(template, folder=folder.name, count=longest, least=LEAST_TOKENS)
    model, family = read_model(folder, config, family)
    if family.output.kind == "span" and tokenizer.sep_token_id is not None:
        typed = getattr(config, "type_vocab_size", 0) > 1 and "token_type_ids" in tokenizer.model_input_names
        family = replace(family, output=replace(family.output, separator=tokenizer.sep_token_id, typed=typed))
    return Opened(folder.name, model, family, tokenizer, pad, longest, generation_ids)


def turned_alike(config: PreTrainedConfig, positions: int) -> int:
    """The largest length of a text, in tokens and at most `positions`, up to which the angles of rotary positions do not depend
    on the length. With `longrope`, all positions of a longer text turn by other angles. Then cached keys would be wrong, and
    two threads that share a model would change each other's angles."""
    given: Any = getattr(config, "rope_parameters", None) or {}
    rules = [given, *(rule for rule in given.values() if isinstance(rule, dict))]  # some models have one for each kind of layer
    lengths = [rule["original_max_position_embeddings"] for rule in rules if rule.get("rope_type") == "longrope"]
    return min([positions, *lengths])


@contextmanager
def readable_model(name: str) -> Generator[None]:
    """A context manager for work with the model in the folder `name`. Every exception within the context becomes a
    `CheckpointError`.

    Raises:
        CheckpointError: any exception was raised within the context.
    """
    try:
        yield
    except CheckpointError:
        raise
    except Exception as error:  # noqa: BLE001 (an invalid configuration can cause any exception)
        template = "The model in {folder!r} cannot be run ({problem})."
        raise CheckpointError(template, folder=name, problem=first_line(error)) from None
