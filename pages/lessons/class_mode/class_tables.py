"""The answers of a class: counted, as a table with bars, and one by one, as CSV."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from pages.lessons.class_mode.classes import Given, Tally
from pages.lessons.content.grading import judge, right_option
from pages.lessons.content.lesson import Lesson, Question, Stop
from pages.lessons.content.lesson_answers import fits, number_of, places
from pages.lessons.content.question_data import as_words
from pages.lessons.content.spreadsheet import as_cell
from pages.lessons.content.truths import filled, truth_of
from pages.shell.error_boundary import sentence
from pages.ui.format import number, token_at
from pages.ui.prose import line_as_html
from pages.ui.text import text
from transformer import HeadlightError

# Limit of different numbers that are listed. The answers with other numbers are only counted.
NUMBERS = 8
# Names of the templates of the columns for a question in the table of all answers.
COLUMNS = ("table_first", "table_last", "table_right")


def answers_table(lesson: Lesson, seats: Sequence[Mapping[int, Given]]) -> bytes:
    """All answers of a class as CSV. Each student has a row, and each question three columns: the first answer, the last
    answer, and 1 if the last answer is right, otherwise 0. The rows are sorted by the answers, so that their order does not
    show when the students joined. Questions whose right answer cannot be computed are left out. `seats` has a dict for each
    student: index of a stop (step of the lesson), from 0 → answers."""
    words, columns = text("lesson")["class"], dict[str, list[str | int]]()
    for index in lesson.questions:
        question, names = lesson.stops[index].question, [words[name].format(stop=index + 1) for name in COLUMNS]
        assert question is not None  # only stops with a question are listed
        try:
            truth = truth_of(lesson.stops[index])
        except HeadlightError:
            continue
        tokens = truth.tokens if truth else ()
        answers = [each.get(index) for each in seats]
        fitting = [given if given and fits(question, given.last, len(tokens)) else None for given in answers]
        columns[names[0]] = [as_cell(as_words(question, given.first, tokens)) if given else "" for given in fitting]
        columns[names[1]] = [as_cell(as_words(question, given.last, tokens)) if given else "" for given in fitting]
        columns[names[2]] = [int(judge(question, given.last, truth).right) if given else "" for given in fitting]
    rows = pd.DataFrame(columns, index=range(len(seats))).astype(str).sort_values([*columns], ignore_index=True)
    rows.index = rows.index + 1
    return rows.to_csv(index_label=words["table_seat"]).encode()


class _Rows(NamedTuple):
    """The rows of a table of answers."""

    rows: Callable[[str], Sequence[float]]  # returns the rows in which an answer is counted
    labels: Mapping[float, str]  # row → its label, as plain text or HTML, in the order of the table
    right: float = math.nan  # the row of the right answer, if it is one of the rows


def tally_table(stop: Stop, tally: Tally) -> Markup:
    """An HTML table with bars: for each answer to the question of a lesson's stop (step), how many students gave it first, and
    last."""
    words = text("lesson")["class"]
    assert stop.question is not None  # a stop without a question has no answers
    try:
        listed = _listed(stop, stop.question, Counter(tally.first) + Counter(tally.last))
    except HeadlightError as error:
        return Markup("<p>{}</p>").format(sentence(error))
    first, last = (_counted(given, listed) for given in (tally.first, tally.last))
    most = max(1, tally.answered)
    rows = Markup("").join(
        Markup('<tr{}><th scope="row">{}</th>{}{}</tr>').format(
            Markup(' class="right"') if row == listed.right else "", label, _cell(first[row], most), _cell(last[row], most)
        )
        for row, label in listed.labels.items()
    )
    head = Markup('<tr><td></td><th scope="col">{}</th><th scope="col">{}</th></tr>').format(words["first"], words["last"])
    caption = words["caption"].format(answered=tally.answered, joined=tally.joined, changed=tally.changed)
    several = stop.question.kind == "tokens" and stop.question.most > 1
    note = Markup("<p>{}</p>").format(words["several"]) if several else Markup("")
    return Markup('<div class="tally"><table><caption>{}</caption>{}{}</table>{}</div>').format(caption, head, rows, note)


def _cell(count: int, most: int) -> Markup:
    bar = Markup('<span style="width: {:.0f}%"></span>').format(100 * count / most) if count else ""
    return Markup("<td><div>{}<b>{}</b></div></td>").format(bar, count)


def _counted(given: Mapping[str, int], listed: _Rows) -> Counter[float]:
    """Row → the number of students whose answer is counted in it. Answers without a row of their own are in `math.inf`."""
    counts: Counter[float] = Counter()
    for answer, count in given.items():
        for row in listed.rows(answer):
            counts[row if row in listed.labels else math.inf] += count
    return counts


def _listed(stop: Stop, question: Question, given: Mapping[str, int]) -> _Rows:
    """The rows of the table: all options, the right and the wrong order, the tokens that were marked at least once, or the most
    frequent numbers. `given`: answer → how often it was given."""
    words = text("lesson")["class"]
    if question.kind == "choose":
        options: dict[float, str] = {
            place: Markup("<b>{}</b> {}").format(chr(64 + place), line_as_html(filled(stop, option)))
            for place, option in enumerate(question.options, 1)
        }
        return _Rows(lambda answer: places(answer) or (), options, right_option(question, truth_of(stop)))
    if question.kind == "order":
        right = "-".join(map(str, range(len(question.options))))
        return _Rows(lambda answer: (float(answer != right),), {0.0: words["in_order"], 1.0: words["not_in_order"]}, 0.0)
    if question.kind == "tokens":
        truth = truth_of(stop)
        marked = {position for answer in given for position in places(answer) or ()}
        tokens = enumerate(truth.tokens if truth else ())
        return _Rows(
            lambda answer: places(answer) or (),
            {position: token_at(position, token) for position, token in tokens if position in marked},
        )
    values: Counter[float] = Counter()
    for answer, count in given.items():
        values[_value(answer)] += count
    numbers = {value: number(value, 6) for value in sorted(value for value, _ in values.most_common(NUMBERS))}
    return _Rows(lambda answer: (_value(answer),), numbers | ({math.inf: words["others"]} if len(values) > NUMBERS else {}))


def _value(answer: str) -> float:
    return number_of(answer) or 0.0
