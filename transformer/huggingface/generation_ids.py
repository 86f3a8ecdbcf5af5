"""The ids that a model needs to write a text, from the files of its folder."""

from collections.abc import Mapping
from typing import NamedTuple

from transformers import PreTrainedConfig

from transformer.huggingface.files import GENERATION, Folder

NO_ID = -1  # stands for the id of a token that does not exist


class GenerationIds(NamedTuple):
    """The ids with which a decoder starts and ends an answer, and the ids that it must write at certain steps.

    Attributes:
        start: the id that the decoder reads first, if an encoder reads the text.
        end: the id that ends a text; `NO_ID` (−1) if there is no such id.
        forced: step, counted from 0 → the id that is always written in this step, such as the code of a language.
    """

    start: int = 0
    end: int = NO_ID
    forced: Mapping[int, int] = {}


def read_generation_ids(folder: Folder, config: PreTrainedConfig, tokenizer_end: int | None) -> GenerationIds:
    """The `GenerationIds` in the files of a folder. An id in `generation_config.json` takes precedence over an id in the
    configuration, because newer versions of `transformers` leave some ids out of the configuration.

    Args:
        folder: the folder of the model.
        config: the configuration of the model.
        tokenizer_end: the id with which the tokenizer ends a text, or None. If the files name several ids for the end, this one
            is chosen if it is among them, otherwise the first.

    Raises:
        CheckpointError: `generation_config.json` is too large, is not a JSON object, or names code to run.
    """
    given = folder.json(GENERATION) if folder.has(GENERATION) else {}
    rows = getattr(config, "decoder_vocab_size", None) or config.vocab_size

    def named(name: str) -> list[int]:
        value = given.get(name)
        value = getattr(config, name, None) if value is None else value
        listed = value if isinstance(value, list) else [value]
        return [each for each in listed if type(each) is int and 0 <= each < rows]

    ends = named("eos_token_id")
    forced = named("forced_bos_token_id")
    return GenerationIds(
        start=next(iter(named("decoder_start_token_id") or named("bos_token_id")), 0),
        end=tokenizer_end if tokenizer_end in ends else next(iter(ends), NO_ID),
        forced={0: forced[0]} if forced else {},
    )
