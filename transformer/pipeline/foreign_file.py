"""Checks of a safetensors file that may come from anybody. Its metadata is JSON, and its reader checks each part."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformer.errors import CheckpointError


@dataclass(frozen=True)
class ForeignFile:
    """The name and the kind of a file that may come from anybody, for the sentences that refuse the file.

    Attributes:
        name: the name of the file.
        what: the expected kind of file, with an article: "the film of a training".
    """

    name: str
    what: str

    def refused(self, problem: str) -> CheckpointError:
        """The error to raise, which says why the file is refused. `problem` is a clause: "its axes cannot be read"."""
        template = "The file {name!r} is not {what}: {problem}."
        return CheckpointError(template, name=self.name, what=self.what, problem=problem)

    def need(self, condition: bool, part: str) -> None:
        """Refuse the file if `condition` is False.

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
