"""Labels of pieces of words: how tokenizers mark where words start and go on, and the letters that stand for bytes."""

from collections.abc import Sequence

CONTINUES = "##"  # in a label: the piece goes on a word
SPACE = "▁"  # in a label: the piece starts with a space, so it starts a word


def _byte_letters() -> dict[str, int]:
    """The letter that stands for each byte in a byte-level tokenizer, such as that of GPT-2: printable bytes stand for
    themselves, the others for letters from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(others)}


BYTES = _byte_letters()
BYTE_SPACE = "Ġ"
# Control characters → their pictures, such as `␛`. They have no ink, and a picture as SVG cannot hold them.
PICTURES = {code: 0x2400 + code for code in range(32)} | {ord("\n"): "⏎", 0x7F: "␡"}


def readable(piece: str) -> str:
    """A piece of a byte-level tokenizer as text, with `▁` for a space before it; of other pieces only control characters are
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
    """The pieces of a word as one label, without the signs of where words start and go on."""
    return readable("".join(piece.removeprefix(CONTINUES).removeprefix(SPACE) for piece in pieces)) or "".join(pieces)
