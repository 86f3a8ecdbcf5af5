"""The end of a lesson: how many answers were right, the missed questions again, and the answer sheet."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.lessons.content.hand_in import Result, code_of, new_seat
from pages.lessons.content.lesson import Lesson
from pages.lessons.content.lesson_answers import Answer
from pages.lessons.content.library import shipped
from pages.lessons.content.question_data import as_words, question_data, verdicts_of
from pages.lessons.content.truths import truth_of
from pages.lessons.playing.open_lesson import OpenLesson, start_address
from pages.ui.component import Element
from pages.ui.prose import inline, prose
from pages.ui.text import text
from transformer import HeadlightError
from transformer.errors import cut

# Session key: the random number of this session in its hand-in codes.
SEAT = "lesson_seat"
LONGEST_IN_SHEET = 50  # characters of an answer on the answer sheet
NONE = "–"  # in place of an answer


def ending(opened: OpenLesson, lesson: Lesson) -> dict[str, Any]:
    """The data for drawing the end of a lesson: how many answers were right, and the missed questions again. Questions without
    a computable right answer are not counted."""
    words = text("lesson")
    questions = [question_data(lesson, index, opened.answers.get(index), end=True) for index in lesson.questions]
    asked = [question for question in questions if question and not question["problem"]]
    missed = [question for question in asked if not question["right_before_end"]]
    right, answered = len(asked) - len(missed), sum(question["answered"] for question in asked)
    if not missed:
        name = "end_all" if asked else "end_no_questions"
    else:
        name = "end_missed" if answered == len(asked) else "end_unanswered" if answered else "end_none"
    return {
        "place": words["end_place"],
        "title": words["end_title"].format(title=lesson.title),
        "say": prose(words[name].format(right=right, count=len(asked), answered=answered, open=len(asked) - answered)),
        # A question that is answered here stays in the list, with its judgement.
        "questions": [question for question in asked if question in missed or not question["open"]],
        "learnt": [["li", {}, *inline(line)] for line in lesson.learnt],
        "follows": _next_lesson(opened.name),
        "reveal": prose(words["hand_in"].format(code=_code(lesson, questions, opened))) if answered else [],
        "sheet": _sheet([line_of_sheet(lesson, index, opened.answers.get(index)) for index in lesson.questions]),
    }


def _code(lesson: Lesson, questions: Sequence[Mapping[str, Any] | None], opened: OpenLesson) -> str:
    """The hand-in code of this session."""
    results = []
    for index, question in zip(lesson.questions, questions, strict=True):
        if question is None or not question["answered"]:
            results.append(Result.OPEN)
        elif question["right_before_end"]:
            results.append(Result.CHANGED if opened.answers[index].second else Result.RIGHT)
        else:
            results.append(Result.WRONG)
    return code_of(lesson, results, st.session_state.setdefault(SEAT, new_seat()))


def _next_lesson(name: str) -> list[str]:
    """The URL of the next shipped lesson, and the words of its link; empty after the last lesson."""
    names = [*shipped()]
    place = names.index(name) + 1 if name in names else len(names)
    if place >= len(names):
        return []
    lesson = shipped()[names[place]]
    return [start_address(names[place], lesson), text("lesson")["bar"]["next_lesson"].format(title=lesson.title)]


def _sheet(lines: Sequence[Sequence[str]]) -> list[Element]:
    """The answer sheet as a table; nothing for a lesson without questions. Columns without an answer are left out, because the
    panel is narrow."""
    words, names = text("lesson")["bar"], ("sheet_stop", "sheet_first", "sheet_second", "sheet_again")
    used = [place for place in range(len(names)) if place < 2 or any(line[place] != NONE for line in lines)]
    head = [["th", {"scope": "col"}, words[names[place]]] for place in used]
    rows = [["tr", {}, ["th", {"scope": "row"}, line[0]], *(["td", {}, line[place]] for place in used[1:])] for line in lines]
    return [["table", {}, ["thead", {}, ["tr", {}, *head]], ["tbody", {}, *rows]]] if rows else []


def line_of_sheet(lesson: Lesson, index: int, answer: Answer | None) -> list[str]:
    """A line of the answer sheet: the title of the lesson's stop with this index, from 0, and the three answers to its
    question, each with a mark for right or wrong."""
    stop = lesson.stops[index]
    question = stop.question
    assert question is not None  # the caller passes only stops with a question
    empty = [f"{index + 1}. {stop.title}", NONE, NONE, NONE]
    try:
        truth = truth_of(stop)
    except HeadlightError:
        return empty
    tokens = truth.tokens if truth and question.kind == "tokens" else ()
    verdicts = verdicts_of(question, answer, truth, len(tokens))
    if verdicts is None or answer is None:
        return empty
    marked = [
        f"{cut(as_words(question, given, tokens), LONGEST_IN_SHEET)} {'✓' if verdict.right else '✗'}"
        if given and verdict
        else NONE
        for given, verdict in zip(answer, verdicts, strict=True)
    ]
    return [empty[0], *marked]
