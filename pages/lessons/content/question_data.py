"""The data with which the browser draws a lesson's question and the judgement of its answer."""

import hashlib
from typing import Any

from pages.lessons.content.grading import Verdict, judge, right_answer, right_option
from pages.lessons.content.lesson import Lesson, Phase, Question, Value
from pages.lessons.content.lesson_answers import Answer, fits, places
from pages.lessons.content.truths import filled, truth_of
from pages.shell.error_boundary import sentence
from pages.ui.prose import inline, plain, prose
from pages.ui.text import text
from transformer import HeadlightError


def question_data(
    lesson: Lesson, index: int, answer: Answer | None, end: bool = False, phase: Phase | None = None
) -> dict[str, Any] | None:
    """The data for drawing a lesson's question and the judgement of its answer; None if the stop has no question.

    Args:
        index: the lesson's stop (step), counted from 0.
        answer: the answers so far; None before the first one.
        end: whether this is the end of the lesson, where missed questions are asked again.
        phase: the phase of the question in a class, which decides when an answer may change and is judged; None outside a
            class.
    """
    stop = lesson.stops[index]
    question = stop.question
    if question is None:
        return None
    data: dict[str, Any] = {
        "stop": index + 1,
        "kind": question.kind,
        "title": stop.title if end else "",
        "ask": prose(filled(stop, question.ask)),
        "options": [inline(filled(stop, option)) for option in question.options],
        "order": shuffled(question),
        "tokens": [],
        "weights": [],
        "pictured": False,
        "marked": [],
        "most": question.most,
        "given": [],
        "says": "",
        "right": False,
        "right_before_end": False,
        "answered": False,
        "problem": False,
        "settled": False,
        "open": True,
        "may_change": False,
        "held": False,
        "was": "",
        "right_option": 0,
    }
    try:
        truth = truth_of(stop)
    except HeadlightError as error:
        return data | {"says": sentence(error), "open": False, "settled": True, "problem": True}
    tokens = truth.tokens if truth and question.kind == "tokens" else ()
    data["tokens"] = list(tokens)
    verdicts = verdicts_of(question, answer, truth, len(tokens))
    if phase is Phase.REVEAL:
        data |= {"open": False, "settled": True, "right_option": right_option(question, truth)}
    if verdicts is None or answer is None:
        if phase is Phase.REVEAL:
            data["says"] = text("lesson")["class"]["answer_is"].format(answer=right_answer(question, truth))
        return data
    first, second, again = verdicts
    before_end = second or first
    data["right_before_end"], data["answered"] = before_end.right, True
    shown = again if end else before_end
    if not end:
        undecided = answer.second is None
        data["held"] = lesson.discuss and undecided if phase is None else phase < Phase.REVEAL
        # If the judgement names the right answer, an answer can be changed only in a lesson with discussion.
        named = question.kind in ("tokens", "number") or (question.truth is not None and question.truth.form.gives == "option")
        if phase is None:
            data["may_change"] = undecided and (lesson.discuss or not (first.right or named))
            data["settled"] = not data["may_change"]
        else:
            data["may_change"] = undecided and phase is Phase.AGAIN
            data["settled"] = phase is Phase.REVEAL
    if shown is None:
        return data
    given = answer.last if end else answer.before_end
    was = as_words(question, answer.first, tokens) if answer.second else ""
    data |= {"open": False, "given": places(given) or given, "was": was, "settled": data["settled"] or end}
    if not data["held"]:
        data |= {"says": shown.says, "right": shown.right}
        # A row of a mask has no shares. The sentence says which of its cells are open.
        if truth and tokens and question.asks != "mask-row" and data["settled"]:
            data["weights"] = list(truth.row)
    else:
        # An order is too long to repeat in the sentence. It is listed above.
        noted = text("lesson")["bar"]["noted_order" if question.kind == "order" else "noted"]
        then = text("lesson")["bar"]["discuss"]
        if phase is not None:  # the student also waits after the second vote
            waits = Phase.VOTE if phase is Phase.AGAIN and not data["may_change"] else phase
            then = text("lesson")["class"]["phase_says"][waits.name.lower()]
        data["says"] = f"{noted.format(answer=as_words(question, given, tokens))} {then}"
    return data


def verdicts_of(
    question: Question, answer: Answer | None, truth: Value | None, tokens: int
) -> tuple[Verdict, Verdict | None, Verdict | None] | None:
    """The judgements of the first answer, the second, and the one at the end of the lesson; None if there is no valid first
    answer. The judgement of a missing or invalid later answer is None. `tokens` is the number of tokens to choose from."""
    if answer is None or not fits(question, answer.first, tokens):
        return None
    first = judge(question, answer.first, truth)
    later = (judge(question, given, truth) if given and fits(question, given, tokens) else None for given in answer[1:])
    second, again = later
    return first, second, again


def as_words(question: Question, given: str, tokens: tuple[str, ...]) -> str:
    """The answer `given`, written as in a URL, in words: its options, or its `tokens`. A number is unchanged."""
    chosen = places(given)
    if question.kind == "number" or chosen is None:
        return given
    if question.kind == "choose":
        return f"“{plain(question.options[chosen[0] - 1])}”" if 1 <= chosen[0] <= len(question.options) else given
    if question.kind == "order":
        return " → ".join(plain(question.options[place]).rstrip(".") for place in chosen if place < len(question.options))
    return ", ".join(tokens[place] for place in chosen if place < len(tokens))


def shuffled(question: Question) -> list[int]:
    """The indices of the options of an `order` question in the order in which they are first shown. This order is the same in
    every session, and never the right order. Empty for another kind of question."""
    if question.kind != "order":
        return []
    order = sorted(range(len(question.options)), key=lambda place: hashlib.sha256(question.options[place].encode()).digest())
    return order[1:] + order[:1] if order == sorted(order) else order
