"""Checks of the rules in a tokenizer's files, before a rule is applied to a text.

A tokenizer may replace letters by texts. Rules that replace each letter by a thousand letters, four times in a row, would fill
the memory of a server with the first word. Also, a piece may be as long as the file it is in.
"""

import base64
import binascii
import struct
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from transformer.errors import CheckpointError
from transformer.huggingface.files import Folder

# The most letters that all replacements together may make of one letter, and the most bytes of a replacement in a table of
# letters. In published tokenizers, one letter becomes at most 1 letter, and a replacement has at most 33 bytes (four Arabic
# words that replace one sign).
GROWTH, REPLACEMENT_BYTES = 1_000, 100
# Most letters of a piece. The longest pieces in published vocabularies consist of spaces or dashes, and have 128.
PIECE = 1_000
# Parts of `tokenizer.json` that change texts.
CHANGING = ("normalizer", "pre_tokenizer", "decoder")


def check_rules(folder: Folder) -> None:
    """Check that the rules of a tokenizer in a folder cannot make a text far longer: at most `GROWTH` (1,000) letters from one
    letter, and replacements in tables of letters with at most `REPLACEMENT_BYTES` (100) bytes.

    Raises:
        CheckpointError: the tokenizer has other rules, or a file does not have the format that its name says.
    """
    if folder.has("tokenizer.json"):
        _check_json(folder, folder.json("tokenizer.json"))
    for path in sorted(folder.root.iterdir()):
        if path.suffix in (".model", ".spm"):
            _check_sentencepiece(folder, path.name)


def _check_json(folder: Folder, values: dict[str, Any]) -> None:
    growth = 1
    for rule in (rule for part in CHANGING for rule in _rules(values.get(part))):
        text = next((rule[name] for name in ("content", "prepend", "replacement") if isinstance(rule.get(name), str)), "")
        growth *= max(1, len(text))
        table = rule.get("precompiled_charsmap")
        if isinstance(table, str):
            try:
                _check_letters(folder, base64.b64decode(table))
            except binascii.Error:
                raise _refusal(folder, "a table of letters that cannot be read") from None
    if growth > GROWTH:
        raise _refusal(folder, f"replacements that make up to {growth} letters of one; allowed are {GROWTH}")


def _rules(part: Any) -> Iterator[dict[str, Any]]:
    """A rule of `tokenizer.json`, and all rules in it: a rule can contain lists of rules."""
    waiting = [part]
    while waiting:
        rule = waiting.pop()
        if isinstance(rule, dict):
            yield rule
            waiting += rule.values()
        elif isinstance(rule, list):
            waiting += rule


def _check_sentencepiece(folder: Folder, name: str) -> None:
    from google.protobuf.message import DecodeError
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()  # pyrefly: ignore[missing-attribute] (made when it is imported)
    try:
        model.ParseFromString(folder.file(name).read_bytes())
    except DecodeError:
        raise _refusal(folder, f"a file {name!r} that is not of SentencePiece") from None
    for spec in (model.normalizer_spec, model.denormalizer_spec):
        _check_letters(folder, spec.precompiled_charsmap)


def _check_letters(folder: Folder, table: bytes) -> None:
    """Check a table of letters and their replacements, in the form that SentencePiece compiles: the size of an index, the
    index, and all replacements, each with a zero byte after it."""
    if not table:
        return
    (index,) = struct.unpack("<I", table[:4].ljust(4, b"\0"))
    longest = max(map(len, table[4 + index :].split(b"\0")))
    if longest > REPLACEMENT_BYTES:
        raise _refusal(folder, f"a replacement of {longest} bytes for a letter; allowed are {REPLACEMENT_BYTES}")


def check_pieces(folder: str, pieces: list[str]) -> None:
    """Check that no piece of a tokenizer is too long to be shown. `folder` is the name of the tokenizer's folder, for the
    message. Raises `CheckpointError` for a piece of more than `PIECE` (1,000) letters."""
    longest = max(map(len, pieces), default=0)
    if longest > PIECE:
        template = "The tokenizer in {folder!r} has a piece of {longest} letters; allowed are {most}."
        raise CheckpointError(template, folder=folder, longest=longest, most=PIECE)


def _refusal(folder: Folder, problem: str) -> CheckpointError:
    return CheckpointError("The tokenizer in {folder!r} has {problem}.", folder=folder.name, problem=problem)


@contextmanager
def caught_panics() -> Generator[None]:
    """A context manager for calls of a tokenizer, in which a panic of its Rust code becomes a `RuntimeError`. A panic is not an
    `Exception` in Python, so it would otherwise end the thread.

    Raises:
        RuntimeError: the code panicked.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(str(error)) from None
