"""Labels of pieces of words: the marks for a piece that starts or continues a word, and the letters that stand for bytes."""

import re
from collections.abc import Sequence

CONTINUES = "##"  # at the start of a label: the piece continues a word
SPACE = "▁"  # at the start of a label: the piece starts with a space, so it starts a word


def _byte_letters() -> dict[str, int]:
    """Letter → the byte that it stands for in a byte-level tokenizer, such as that of GPT-2. A printable byte is written as
    itself, and the other bytes are written as the characters from code 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(others)}


# A piece that is one byte of a character which the tokenizer does not know, such as `<0xF0>`.
BYTE = re.compile("<0x([0-9A-F]{2})>")
BYTES = _byte_letters()
BYTE_SPACE = "Ġ"
# Control characters → their pictures, such as `␛`. Control characters are invisible, and an SVG file must not contain them.
PICTURES = {code: 0x2400 + code for code in range(32)} | {ord("\n"): "⏎", 0x7F: "␡"}


def readable(piece: str) -> str:
    """A piece of a byte-level tokenizer as text, with `▁` for a space before it. In other pieces only control characters are
    replaced."""
    starts_word, letters = piece.startswith(BYTE_SPACE), piece.removeprefix(BYTE_SPACE)
    encoded = starts_word or any(ord(letter) > 127 for letter in letters)
    if not encoded or any(letter not in BYTES for letter in letters):
        return piece.translate(PICTURES)
    try:
        text = bytes(BYTES[letter] for letter in letters).decode()
    except UnicodeDecodeError:
        return piece
    return (SPACE if starts_word else "") + text.replace(" ", SPACE).translate(PICTURES)


def joined_label(pieces: Sequence[str]) -> str:
    """The pieces of a word as one label, without the marks for the start and the continuation of a word."""
    if len(pieces) > 1 and any(map(BYTE.fullmatch, pieces)):
        return text_of_pieces(pieces)
    return readable("".join(piece.removeprefix(CONTINUES).removeprefix(SPACE) for piece in pieces)) or "".join(pieces)


def text_of_pieces(pieces: Sequence[str]) -> str:
    """The text of pieces that mark a space before a word with `▁`. Bytes become characters again."""
    written = bytearray()
    for piece in pieces:
        byte = BYTE.fullmatch(piece)
        written += bytes([int(byte[1], 16)]) if byte else piece.replace(SPACE, " ").encode()
    return written.decode(errors="replace").removeprefix(" ")


def goes_on(piece: str, before: str) -> bool:
    """Whether a piece continues the word of the piece before it, in a vocabulary that marks a space with `▁`. A sign of
    punctuation is a word of its own."""
    return before == SPACE or (not piece.startswith((SPACE, BYTE_SPACE)) and _is_letter(piece, 0) and _is_letter(before, -1))


def _is_letter(piece: str, place: int) -> bool:
    """Whether a piece has part of a word at its start (0) or at its end (−1). A byte, and any sign outside ASCII, counts as a
    letter, because it may be half of one. False for an empty piece."""
    sign = piece[place : place + 1 or None]
    return bool(BYTE.fullmatch(piece)) or sign.isalnum() or sign > "\x7f"
