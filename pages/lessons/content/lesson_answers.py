"""Answers to the questions of a lesson, as they are written in a URL: `3~2~1_5~0.95`.

Each entry has the number of a stop, counted from 1, the first answer, the answer after discussion (empty if the first one was
kept), and the answer at the end of the lesson. An answer is an option, counted from 1; positions of tokens, or the options in
an order, both counted from 0 and separated by `-`; or a decimal number.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pages.lessons.content.lesson import Question
from pages.ui.limits import LESSON_STOPS

ONE = r"[-0-9.,]{1,40}"
# The stop, the first answer, the second answer, and the answer at the end. The last two may be missing.
ENTRY = re.compile(rf"([1-9]\d?\d?)~({ONE})(?:~((?:{ONE})?)(?:~({ONE}))?)?")


class Answer(NamedTuple):
    """The answers of one learner to one question, each written as in a URL, such as `2`, `1-5` or `0.95`.

    Attributes:
        first: the first answer.
        second: the answer after discussion. Empty if the first answer was kept, None if that is not decided yet.
        again: the answer at the end of the lesson; None if the question was not asked again.
    """

    first: str
    second: str | None = None
    again: str | None = None

    @property
    def last(self) -> str:
        """The answer that counts, which is the one given last."""
        return self.again or self.second or self.first

    @property
    def before_end(self) -> str:
        """The answer that counted before the end of the lesson: the second, or else the first."""
        return self.second or self.first


def parse(written: str) -> dict[int, Answer]:
    """The answers in a text such as `3~2~1_5~0.95`: index of the lesson's stop, from 0 → answers. Invalid entries are
    ignored."""
    answers: dict[int, Answer] = {}
    for entry in written.split("_")[:LESSON_STOPS]:
        match = ENTRY.fullmatch(entry)
        if match:
            stop, *given = match.groups()
            answers[int(stop) - 1] = Answer(*given)
    return answers


def write(answers: Mapping[int, Answer]) -> str:
    """A text for a URL, such as `3~2~1_5~0.95`, with answers by the index of their stop in the lesson, from 0. Inverse:
    `parse`."""
    entries = []
    for stop, answer in sorted(answers.items()):
        parts = [str(stop + 1), answer.first]
        if answer.second is not None or answer.again is not None:
            parts.append(answer.second or "")
        if answer.again is not None:
            parts.append(answer.again)
        entries.append("~".join(parts))
    return "_".join(entries)


def places(written: str) -> list[int] | None:
    """The numbers in an answer such as `1-5`, which are token positions or options; None if the answer has another form."""
    if not re.fullmatch(r"\d{1,3}(-\d{1,3})*", written, re.ASCII):
        return None
    return [int(part) for part in written.split("-")]


def number_of(written: str) -> float | None:
    """The number in an answer, with a point or a comma before its fraction; None if the answer is not a number."""
    if not re.fullmatch(r"-?(\d{1,9}([.,]\d{0,9})?|[.,]\d{1,9})", written.strip(), re.ASCII):
        return None
    return float(written.strip().replace(",", "."))


def fits(question: Question, written: str, tokens: int) -> bool:
    """Whether an answer is valid for a question, right or wrong. `tokens` is how many tokens there are to choose from."""
    if question.kind == "number":
        return number_of(written) is not None
    chosen = places(written)
    if chosen is None or len(set(chosen)) < len(chosen):
        return False
    if question.kind == "choose":
        return len(chosen) == 1 and 1 <= chosen[0] <= len(question.options)
    if question.kind == "order":
        return sorted(chosen) == list(range(len(question.options)))
    return len(chosen) <= question.most and max(chosen) < tokens
