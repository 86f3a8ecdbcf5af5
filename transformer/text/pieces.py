"""Pieces of words (subword tokens) as labels: the marks of a piece that starts or continues a word, and letters that stand for
bytes."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

CONTINUES = "##"  # at the start of a label: the piece continues a word
SPACE = "▁"  # at the start of a label: the piece starts with a space, so it starts a word


def _byte_letters() -> dict[str, int]:
    """Letter → the byte that the letter stands for in a byte-level tokenizer, such as GPT-2's. A printable byte is written as
    itself; the other bytes are written as the characters from code 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(others)}


# A piece that is one byte of a character which the tokenizer does not know, such as `<0xF0>`.
BYTE = re.compile("<0x([0-9A-F]{2})>")
BYTES = _byte_letters()
BYTE_SPACE = "Ġ"
# The parts of an emoji: the sign that joins two emoji to one, the colours of skin, the letters of which two make a flag, and
# invisible letters that name the region of a flag.
JOINER, SKIN, FLAGS = "\u200d", "🏻🏼🏽🏾🏿", "".join(map(chr, range(0x1F1E6, 0x1F200)))
REGION = "".join(map(chr, range(0xE0020, 0xE0080)))
# Control characters → their pictures, such as `␛`. Control characters are invisible, and an SVG file must not contain them.
PICTURES = {code: 0x2400 + code for code in range(32)} | {ord("\n"): "⏎", 0x7F: "␡"}


def readable(piece: str) -> str:
    """A readable label of a piece (subword token). In a piece of a byte-level tokenizer, such as GPT-2's, the bytes become
    text, with `▁` for a space; a piece that is only part of a character is unchanged. Control characters become pictures such
    as `␛`."""
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
    """One label for all pieces of a word, without the marks `▁` and `##` for the start and the continuation of a word. A single
    piece that is only part of a character keeps its name, such as `<0xF0>`."""
    if any(map(BYTE.fullmatch, pieces)) and (len(pieces) > 1 or "\ufffd" not in text_of_pieces(pieces)):
        return text_of_pieces(pieces)
    return readable("".join(piece.removeprefix(CONTINUES).removeprefix(SPACE) for piece in pieces)) or "".join(pieces)


def text_of_pieces(pieces: Sequence[str]) -> str:
    """The text that pieces spell, without the first space. `▁` becomes a space, and bytes such as `<0xF0>` become characters
    again; bytes that are not valid UTF-8 become `�`."""
    written = bytearray()
    for piece in pieces:
        byte = BYTE.fullmatch(piece)
        written += bytes([int(byte[1], 16)]) if byte else piece.replace(SPACE, " ").encode()
    return written.decode(errors="replace").removeprefix(" ")


def word_numbers(pieces: Iterable[str | None], byte_letters: bool = False) -> tuple[int | None, ...]:
    """For each piece, the number of the word that it belongs to, counted from 0; None for a special token. A piece that starts
    with `▁` or `Ġ` starts a word. A sign of punctuation is a word of its own.

    Args:
        pieces: the pieces of a text; None for a special token, which belongs to no word.
        byte_letters: whether the tokenizer writes bytes as letters, as GPT-2's does. Then any sign outside ASCII counts as a
            letter, because it may be one byte of a letter.
    """
    listed = [*pieces]
    numbers: list[int | None] = []
    number, word = -1, ""  # the word so far
    for piece, (text, is_inside) in zip(listed, _characters(listed), strict=True):
        if piece is None:
            numbers.append(None)
            word = ""
        elif not (word and is_inside):
            goes_on = word and _goes_on(text, word, byte_letters)
            number, word = (number, word + text) if goes_on else (number + 1, text)
            numbers.append(number)
        else:
            numbers.append(number)
    return tuple(numbers)


def _characters(pieces: Sequence[str | None]) -> list[tuple[str, bool]]:
    """For each piece, its text, and whether it continues a character that an earlier piece began. If several pieces of one byte
    each form one character, this character is the text of each of them. A special token has the text ""."""
    found: list[tuple[str, bool]] = []
    while len(found) < len(pieces):
        run = bytearray()
        for piece in pieces[len(found) :]:
            byte = BYTE.fullmatch(piece or "")
            if not byte:
                break
            run.append(int(byte[1], 16))
        if not run:
            found.append((pieces[len(found)] or "", False))
        for character in run.decode(errors="surrogateescape"):  # a byte that is no character becomes a sign
            found += [(character, place > 0) for place in range(len(character.encode(errors="surrogateescape")))]
    return found


def _goes_on(piece: str, word: str, byte_letters: bool) -> bool:
    """Whether a piece continues a word: any piece after a lone `▁`; a letter or digit after another one (with `byte_letters`,
    also any sign outside ASCII); or a joined sign, such as an accent or a part of an emoji."""
    if word == SPACE:
        return True
    if not piece or piece.startswith((SPACE, BYTE_SPACE)):
        return False
    first, last = piece[0], word[-1]
    if all(_is_letter(sign) or (byte_letters and sign > "\x7f") for sign in (first, last)):
        return True
    half_a_flag = (len(word) - len(word.rstrip(FLAGS))) % 2 == 1
    return JOINER in (first, last) or first in SKIN + REGION or _is_mark(first) or (first in FLAGS and half_a_flag)


def _is_letter(sign: str) -> bool:
    return sign.isalnum() or _is_mark(sign)


def _is_mark(sign: str) -> bool:
    """Whether a sign is written upon the sign before it, such as an accent, or chooses how an emoji looks."""
    return unicodedata.category(sign).startswith("M")
