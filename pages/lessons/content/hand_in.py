"""The hand-in code of a lesson: a short signed text with the results of its questions. A student pastes it into any form;
`pages.lessons.desk.check_codes` reads a list of them.

A code of seven questions has 28 letters and digits. It does not name the person: two codes of one person have only the seat in
common, a random number of the session.
"""

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from typing import NamedTuple

from pages.lessons.content.lesson import Lesson, LessonError
from pages.lessons.content.reading import as_toml

# The key of the signatures. Codes are checked with the same key, so an operator who hosts the app for homework sets it.
VARIABLE = "HEADLIGHT_HAND_IN_KEY"
KEY = os.environ.get(VARIABLE, "").encode() or secrets.token_bytes(32)

FIRST_DAY = date(2025, 1, 1)
NAME_BYTES, DAY_BYTES, SEAT_BYTES, SIGNATURE_BYTES = 4, 2, 3, 6
DAY = NAME_BYTES + DAY_BYTES  # where the day ends
HEAD = DAY + SEAT_BYTES
GROUP = 5  # characters between two dashes


class Result(IntEnum):
    """How a question was answered."""

    OPEN = 0  # not at all
    WRONG = 1
    RIGHT = 2  # at once
    CHANGED = 3  # right after a change


class HandIn(NamedTuple):
    """The contents of a hand-in code, with which a student reports the results of a lesson.

    Attributes:
        lesson: the title of the lesson.
        day: the day on which the code was made, in UTC.
        seat: the random number of the student's session.
        results: how each question was answered, in the order of the lesson.
    """

    lesson: str
    day: date
    seat: int
    results: tuple[Result, ...]

    @property
    def right(self) -> int:
        """How many questions were answered right, at once or after a change."""
        return sum(result >= Result.RIGHT for result in self.results)


def new_seat() -> int:
    """A random number that identifies a session in its hand-in codes."""
    return secrets.randbelow(256**SEAT_BYTES)


def code_of(lesson: Lesson, results: Sequence[Result], seat: int, key: bytes = KEY) -> str:
    """The hand-in code for the results of a lesson, one for each of its questions, in groups of five letters and digits. `seat`
    is a number from `new_seat`, and `key` signs the code."""
    bits = sum(int(result) << (2 * place) for place, result in enumerate(results))
    day = (datetime.now(UTC).date() - FIRST_DAY).days
    body = _name(lesson) + day.to_bytes(DAY_BYTES) + seat.to_bytes(SEAT_BYTES) + bits.to_bytes(_size(len(results)))
    written = base64.b32encode(body + _signature(body, key)).decode().rstrip("=")
    return "-".join(written[start : start + GROUP] for start in range(0, len(written), GROUP))


def read_code(code: str, lessons: Sequence[Lesson], key: bytes = KEY) -> HandIn:
    """The contents of a hand-in code (`code_of`) that was signed with `key` and belongs to one of the lessons. Spaces, dashes
    and small letters make no difference.

    Raises:
        LessonError: the text is not a code, its signature is wrong, or its lesson is not among `lessons`.
    """
    written = "".join(code.split()).replace("-", "").upper()
    try:
        whole = base64.b32decode(written + "=" * (-len(written) % 8))
    except ValueError:
        whole = b""
    body, signature = whole[:-SIGNATURE_BYTES], whole[-SIGNATURE_BYTES:]
    if len(body) < HEAD:
        raise LessonError("{code!r} is no hand-in code; one has 26 letters and digits or more.", code=code.strip()[:60])
    if not hmac.compare_digest(signature, _signature(body, key)):
        template = "{code!r} was mistyped or changed, or was signed with another key than {variable} has here."
        raise LessonError(template, code=code.strip()[:60], variable=VARIABLE)
    lesson = next((lesson for lesson in lessons if _name(lesson) == body[:NAME_BYTES]), None)
    if lesson is None or len(body) != HEAD + _size(len(lesson.questions)):
        raise LessonError("{code!r} is of a lesson that is not here, or was changed since.", code=code.strip()[:60])
    day, seat, bits = (int.from_bytes(part) for part in (body[NAME_BYTES:DAY], body[DAY:HEAD], body[HEAD:]))
    results = tuple(Result(bits >> (2 * place) & 3) for place in range(len(lesson.questions)))
    return HandIn(lesson.title, FIRST_DAY + timedelta(days=day), seat, results)


def _name(lesson: Lesson) -> bytes:
    """A few bytes that identify a lesson. They change if any word of the lesson changes."""
    return hashlib.sha256(as_toml(lesson).encode()).digest()[:NAME_BYTES]


def _signature(body: bytes, key: bytes) -> bytes:
    return hmac.digest(key, body, "sha256")[:SIGNATURE_BYTES]


def _size(questions: int) -> int:
    """The number of bytes for the results of so many questions, two bits each; at least 1."""
    return max(1, -(-questions // 4))
