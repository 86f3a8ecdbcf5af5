"""A lesson as a printed sheet: the text of each stop, the questions with room for two answers, and the notes for the
teacher."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from pages.lessons.content.grading import right_answer, right_option
from pages.lessons.content.lesson import Lesson, Question, Stop
from pages.lessons.content.library import all_lessons
from pages.lessons.content.question_data import shuffled
from pages.lessons.content.truths import Value, filled, truth_of
from pages.lessons.desk.before_after import FORMS, test_sheet
from pages.lessons.desk.pictures import picture
from pages.shell.error_boundary import sentence
from pages.ui.pickers import pick
from pages.ui.prose import as_html, line_as_html
from pages.ui.style import style
from pages.ui.text import text
from transformer import HeadlightError

_STYLE = Path(__file__).with_suffix(".css")


def show_sheet() -> None:
    """Draw a lesson, or one of the two tests, as a sheet to print, and the controls to pick it."""
    words, lessons = text("lessons"), all_lessons()
    titles = {name: lesson.title for name, lesson in lessons.items()} | words["forms"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = pick(words["sheet_lesson"], [*lessons, *FORMS], "sheet", as_list=True, labels=titles, written=str)
        pictures = not st.toggle(words["pictures_hidden"], key="no_pictures", bind="query-params")
        notes = st.toggle(words["notes"], key="notes", bind="query-params")
        solutions = st.toggle(words["solutions"], key="solutions", bind="query-params")
    st.caption(words["print"])
    st.html(
        style(_STYLE) + (test_sheet(name, solutions) if name in FORMS else sheet(lessons[name], notes, solutions, pictures))
    )


def sheet(lesson: Lesson, notes: bool, solutions: bool, pictures: bool = False) -> Markup:
    """A lesson as HTML to print. `notes` adds the notes for the teacher, `solutions` the right answers and the texts that the
    lesson reveals after them, `pictures` a picture of each stop's page. All text of the lesson is escaped."""
    words = text("lessons")
    drawn = _pictures(lesson.stops, solutions) if pictures else [Markup("")] * len(lesson.stops)
    stops = enumerate(zip(lesson.stops, drawn, strict=True), 1)
    body = Markup("").join(_stop(number, stop, notes, solutions, of_stop) for number, (stop, of_stop) in stops)
    head = Markup("<h2>{title}</h2><p>{about} {audience}</p><p>{name}</p>").format(
        title=lesson.title, about=lesson.about, audience=lesson.audience, name=words["name_line"]
    )
    plan = _time_table(lesson) if notes else Markup("")
    return Markup('<article class="lesson-sheet">{}{}{}</article>').format(head, plan, body)


def _time_table(lesson: Lesson) -> Markup:
    """A table of the stops: when each begins and how long it takes, in minutes. If the lesson has a short form, its stops have
    a mark."""
    words, begins, rows = text("lessons")["time_table"], 0.0, []
    for number, stop in enumerate(lesson.stops, 1):
        mark = words["core"] if lesson.core_title and stop.core else ""
        cells = (f"{begins:g}", f"{stop.minutes:g}", f"{number}. {stop.title}", mark)
        rows.append(Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells)))
        begins += stop.minutes
    head = Markup("").join(Markup("<th>{}</th>").format(words[name]) for name in ("begins", "takes", "stop"))
    end = Markup("<tr><td>{:g}</td><td></td><td>{}</td></tr>").format(begins, words["end"])
    return Markup('<table class="time-table"><tr>{}<th></th></tr>{}{}</table>').format(head, Markup("").join(rows), end)


def _pictures(stops: Sequence[Stop], solutions: bool) -> list[Markup]:
    """The picture of each stop (step of a lesson). A stop with the picture of an earlier stop only names that stop."""
    words, drawn, first = text("lessons")["pictures"], [], dict[Markup, int]()
    for number, stop in enumerate(stops, 1):
        of_stop = Markup("")
        with suppress(HeadlightError):  # the error is shown with the question
            of_stop = picture(stop, solutions, stops)
        if of_stop in first:
            caption = words["same"].format(stop=first[of_stop])
            drawn.append(Markup("<figure><figcaption>{}</figcaption></figure>").format(caption))
            continue
        if of_stop:
            first[of_stop] = number
        drawn.append(of_stop)
    return drawn


def _stop(number: int, stop: Stop, notes: bool, solutions: bool, drawn: Markup) -> Markup:
    words = text("lessons")
    parts = [Markup("<h3>{}. {}</h3>").format(number, stop.title)]
    parts.append(as_html(filled(stop, stop.say)))
    parts.append(drawn)
    if stop.question:
        parts.append(_question(stop, stop.question, solutions))
    if solutions and stop.reveal:
        parts.append(Markup('<div class="reveal">{}</div>').format(as_html(filled(stop, stop.reveal))))
    if notes:
        minutes = words["minutes"].format(minutes=f"{stop.minutes:g}")
        instructions = as_html(stop.notes)
        parts.append(Markup('<div class="notes"><strong>{}</strong> {}</div>').format(minutes, instructions))
    return Markup("<section>{}</section>").format(Markup("").join(parts))


def _question(stop: Stop, question: Question, solutions: bool) -> Markup:
    words, ask = text("lessons"), as_html(filled(stop, question.ask))
    try:
        truth = truth_of(stop)
    except HeadlightError as error:
        return Markup('<div class="question">{}<p>{}</p></div>').format(ask, sentence(error))
    lines = Markup('<p class="lines">{} <span></span> {} <span></span></p>').format(words["first"], words["second"])
    solved = Markup('<p class="solution">{}</p>').format(_solution(question, truth)) if solutions else Markup("")
    return Markup('<div class="question">{}{}{}{}</div>').format(ask, _choices(stop, question, truth), lines, solved)


def _choices(stop: Stop, question: Question, truth: Value | None) -> Markup:
    """The options or the tokens of a question for the sheet. Empty for a question about a number."""
    if question.kind == "tokens" and truth:
        tokens = Markup("").join(Markup("<span>{}</span>").format(token) for token in truth.tokens)
        return Markup('<p class="tokens">{}</p>').format(tokens)
    if question.kind == "number":
        return Markup("")
    places = shuffled(question) or range(len(question.options))
    letters = ((chr(ord("A") + index), filled(stop, question.options[place])) for index, place in enumerate(places))
    items = Markup("").join(Markup("<li>{}: {}</li>").format(letter, line_as_html(option)) for letter, option in letters)
    return Markup('<ul class="choices">{}</ul>').format(items)


def _solution(question: Question, truth: Value | None) -> str:
    """The right answer, as text."""
    words = text("lessons")
    answer = right_answer(question, truth)
    if question.kind == "choose":
        answer = f"{chr(ord('A') + right_option(question, truth) - 1)}. {answer}"
    elif question.kind == "order":
        order = shuffled(question)
        answer = " ".join(chr(ord("A") + order.index(place)) for place in range(len(order)))
    return words["solution"].format(answer=answer)
