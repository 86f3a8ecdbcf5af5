"""Judges an answer: whether it is right, and one sentence that says why."""

from typing import NamedTuple

from pages.lessons.content.lesson import Question, Value
from pages.lessons.content.lesson_answers import number_of, places
from pages.ui.format import fixed, number, share
from pages.ui.prose import plain
from pages.ui.text import text
from transformer.analysis.prediction_scores import ALIKE


class Verdict(NamedTuple):
    """Whether an answer is right, and why, in plain text."""

    right: bool
    says: str


def judge(question: Question, written: str, truth: Value | None) -> Verdict:
    """Whether an answer is right, and why. `written` is the answer as a URL has it, such as `1-5`, and valid for its question.
    `truth` is the computed right answer; None if the lesson itself contains it."""
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
        return Verdict(option == question.answer, plain(question.reasons[option - 1]))
    if question.truth and question.truth.form.gives == "option":
        says = text("lesson")["option_is"][question.asks].format(**dict(truth.words))
    else:
        says = text("lesson")["changes" if truth.number else "stays"].format(**dict(truth.words))
    return Verdict(option == 1 + int(truth.number), says)


def _order(question: Question, chosen: list[int]) -> Verdict:
    words = text("lesson")
    wrong = next((place for place, option in enumerate(chosen) if place != option), None)
    if wrong is None:
        return Verdict(True, words["order_right"])
    right, given = (plain(question.options[place]).rstrip(".") for place in (wrong, chosen[wrong]))
    says = words["order_wrong"].format(place=wrong + 1, right=right, given=given)
    return Verdict(False, " ".join([says, *map(plain, question.reasons[:1])]))


def _tokens(question: Question, chosen: list[int], truth: Value) -> Verdict:
    if question.asks == "mask-row":
        return _mask_row(chosen, truth)
    if question.asks == "most-alike-position":
        return _alike(chosen, truth)
    caught, most = sum(truth.row[place] for place in chosen), truth.row.index(max(truth.row))
    says = text("lesson")["caught"].format(
        marked=", ".join(truth.tokens[place] for place in chosen),
        share=share(caught, 1),
        query=dict(truth.words)["query"],
        most=truth.tokens[most],
        most_share=share(truth.row[most], 1),
    )
    return Verdict(caught >= question.enough, says)


def _mask_row(chosen: list[int], truth: Value) -> Verdict:
    words, may = text("lesson")["mask_row"], {place for place, allowed in enumerate(truth.row) if allowed}
    listed = {"open": may, "missed": may - set(chosen), "hidden": set(chosen) - may}
    names = {name: ", ".join(truth.tokens[place] for place in sorted(places)) for name, places in listed.items()}
    says = [words[name].format(**names, **dict(truth.words)) for name, places in listed.items() if places]
    return Verdict(may == set(chosen), " ".join(says))


def _alike(chosen: list[int], truth: Value) -> Verdict:
    words, own = text("lesson")["most_alike"], chosen[0]
    right = own != int(truth.number) and truth.row[own] >= max(truth.row) - ALIKE
    given = {"given": truth.tokens[own], "own": fixed(truth.row[own], 2)}
    name = "right" if right else "itself" if own == int(truth.number) else "wrong"
    return Verdict(right, words[name].format(**given, **dict(truth.words)))


def right_option(question: Question, truth: Value | None) -> int:
    """The number, from 1, of the right option of a `choose` question; 0 for other questions, and without a right answer."""
    if question.kind != "choose":
        return 0
    return question.answer or (1 + int(truth.number) if truth else 0)


def right_answer(question: Question, truth: Value | None) -> str:
    """The right answer in plain text. `truth` is the computed answer; None if there is none. Empty for a question of the kind
    `order`, whose options are in the right order, and for `tokens` or `number` without `truth`."""
    if question.kind == "choose":
        right = right_option(question, truth)
        return plain(question.reasons[right - 1]) if question.reasons else judge(question, str(right), truth).says
    if truth is None:
        return ""
    if question.kind == "number":
        return number(truth.number, 3)
    words = dict(truth.words)
    if question.asks == "mask-row":
        return ", ".join(token for token, allowed in zip(truth.tokens, truth.row, strict=True) if allowed)
    if question.asks == "most-alike-position":
        return f"{words['most']}, {words['value']}"
    most = truth.row.index(max(truth.row))
    return f"{truth.tokens[most]}, {share(truth.row[most], 1)}"


def _number(question: Question, given: float, truth: Value) -> Verdict:
    words = text("lesson")
    right = abs(given - truth.number) <= question.tolerance + 1e-9
    why = words["numbers"][question.asks].format(number=number(truth.number, 3), **dict(truth.words))
    if right:
        return Verdict(True, why)
    off = words["off"].format(given=number(given, 3), off=number(abs(given - truth.number), 3))
    return Verdict(False, f"{off} {why}")
