"""Judge an answer: whether it is right, and in one sentence why."""

from typing import NamedTuple

from pages.shell.lessons.answers import number_of, places
from pages.shell.lessons.lesson import Question
from pages.shell.lessons.truths import Value
from pages.ui.format import number, share
from pages.ui.text import text


class Verdict(NamedTuple):
    """The judgement of an answer.

    Attributes:
        right: whether it is right.
        says: why, in plain text.
        caught: of a choice of tokens, the share of the attention that they have.
    """

    right: bool
    says: str
    caught: float = 0.0


def judge(question: Question, written: str, truth: Value | None) -> Verdict:
    """The judgement of an answer that fits its question (`answers.fits`).

    Args:
        question: the question.
        written: the answer.
        truth: of the question; None if it has its answer in the lesson.
    """
    if question.kind == "choose":
        return _choice(question, places(written) or [0], truth)
    if question.kind == "order":
        return _order(question, places(written) or [])
    assert truth is not None  # `reading` has checked it
    if question.kind == "tokens":
        return _tokens(question, places(written) or [], truth)
    return _number(question, number_of(written) or 0.0, truth)


def _choice(question: Question, chosen: list[int], truth: Value | None) -> Verdict:
    option = chosen[0]
    if truth is None:
        return Verdict(option == question.answer, question.reasons[option - 1])
    changes = bool(truth.number)
    says = text("lesson")["changes" if changes else "stays"].format(**dict(truth.words))
    return Verdict(option == 1 + changes, says)


def _order(question: Question, chosen: list[int]) -> Verdict:
    words = text("lesson")
    wrong = next((place for place, option in enumerate(chosen) if place != option), None)
    if wrong is None:
        return Verdict(True, words["order_right"])
    says = words["order_wrong"].format(place=wrong + 1, right=question.options[wrong], given=question.options[chosen[wrong]])
    return Verdict(False, " ".join([says, *question.reasons[:1]]))


def _tokens(question: Question, chosen: list[int], truth: Value) -> Verdict:
    words = text("lesson")
    caught = float(sum(truth.row[place] for place in chosen))
    most = max(range(len(truth.row)), key=lambda place: truth.row[place])
    marked = ", ".join(truth.tokens[place] for place in chosen)
    says = words["caught"].format(
        marked=marked,
        share=share(caught, 1),
        query=dict(truth.words)["query"],
        most=truth.tokens[most],
        most_share=share(truth.row[most], 1),
    )
    return Verdict(caught >= question.enough, says, caught)


def _number(question: Question, given: float, truth: Value) -> Verdict:
    words = text("lesson")
    assert question.truth is not None  # `reading` has checked it
    right = abs(given - truth.number) <= question.tolerance + 1e-9
    why = words["numbers"][question.truth.name].format(number=number(truth.number, 3), **dict(truth.words))
    if right:
        return Verdict(True, why)
    off = words["off"].format(given=number(given, 3), off=number(abs(given - truth.number), 3))
    return Verdict(False, f"{off} {why}")
