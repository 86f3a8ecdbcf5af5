"""The class of frames (kinds of sentences), and functions for the words that may open and close a sentence."""

from collections.abc import Callable
from typing import NamedTuple

from transformer.tasks.conversation.path import Path, Table

PERIOD_SHARE, QUESTION_MARK_SHARE = 0.45, 0.75
PLEASE = ["s'", "il", "te", "plaît"]


class Frame(NamedTuple):
    """A kind of sentence.

    Attributes:
        name: the name of the frame, under which accuracy is reported.
        share: its share of sampled sentences, relative to other frames.
        sentence: a function that samples or parses the sentence and returns the French words before elision (`la église`).
        opens: whether the sentence may have an opening, such as `hello` or `yes`.
    """

    name: str
    share: float
    sentence: Callable[[Path], list[str]]
    opens: bool = True


OPENINGS = Table(
    [
        ("hello", "bonjour"),
        ("hi", "salut"),
        ("good morning", "bonjour"),
        ("yes", "oui"),
        ("no", "non"),
        ("sorry", "désolé"),
        ("excuse me", "excuse-moi"),
        ("thank you", "merci"),
        ("ok", "d'accord"),
    ],
    [4, 2, 1, 3, 3, 0.7, 1, 0.7, 0.3],
)
OPENING_SHARE = 0.05


def opening(path: Path) -> list[str]:
    """The words of the French translation of an opening before a sentence, such as `hello` or `yes`, with or without a period.
    A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text. Empty without an opening."""
    french = path.optional(OPENINGS, OPENING_SHARE)
    if french is None:
        return []
    return [*french.replace("'", "' ").split(), *["."] * path.says(".", 0.25)]


def period(path: Path) -> list[str]:
    return ["."] if path.says(".", PERIOD_SHARE) else []


def question_mark(path: Path) -> list[str]:
    return ["?"] if path.says("?", QUESTION_MARK_SHARE) else []


def please(path: Path, share: float = 0.15) -> list[str]:
    return PLEASE if path.says("please", share) else []
