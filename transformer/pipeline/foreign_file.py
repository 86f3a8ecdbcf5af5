"""Checks of a safetensors file from an untrusted source, whose metadata is JSON. The file's reader checks each part."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformer.errors import CheckpointError


@dataclass(frozen=True)
class ForeignFile:
    """A file from an untrusted source: its name and expected kind, with methods that check a part or make an error.

    Attributes:
        name: the name of the file, for error messages.
        what: the expected kind of file, with an article, for error messages: "the film of a training".
    """

    name: str
    what: str

    def refused(self, problem: str) -> CheckpointError:
        """An error to raise: "The file … is not …", with the reason `problem`, a clause such as "its axes cannot be read"."""
        template = "The file {name!r} is not {what}: {problem}."
        return CheckpointError(template, name=self.name, what=self.what, problem=problem)

    def need(self, condition: bool, part: str) -> None:
        """Check a condition on a part of the file. `part` is the name of the part for the message, such as "steps".

        Raises:
            CheckpointError: `condition` is False; the message says that the file's `part` cannot be right.
        """
        if not condition:
            raise self.refused(f"its {part} cannot be right")

    def json(self, metadata: Mapping[str, str], part: str) -> Any:
        """The value of the entry `part` of the metadata, parsed from JSON.

        Raises:
            CheckpointError: the part is missing, or is not JSON.
        """
        try:
            return json.loads(metadata[part])
        except (KeyError, ValueError, TypeError, RecursionError):
            raise self.refused(f"its {part} cannot be read") from None


def are_texts(texts: Any, most: int, letters: int) -> bool:
    """Whether a value is a list of up to `most` texts of up to `letters` characters each."""
    whole = isinstance(texts, list) and len(texts) <= most
    return whole and all(isinstance(text, str) and len(text) <= letters for text in texts)
