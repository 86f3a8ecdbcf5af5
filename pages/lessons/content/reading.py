"""Read a lesson from a file or a link. Every value is checked, because lessons are untrusted input."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any, get_args

import tomli_w

from pages.lessons.content.lesson import (
    KINDS,
    PICTURES,
    SIDES,
    TRUTHS,
    Lesson,
    LessonError,
    Question,
    QuestionKind,
    Stop,
    Truth,
)
from pages.lessons.content.value_readers import (
    SHORT,
    Reader,
    number_between,
    one_of,
    read_flag,
    read_table,
    read_texts,
    text_or_number,
    text_up_to,
)
from pages.ui.limits import (
    LESSON_BYTES,
    LESSON_CHARACTERS,
    LESSON_OPTIONS,
    LESSON_PARAMETERS,
    LESSON_STOPS,
    SENTENCES,
    TEXT_CHARACTERS,
)

TITLE = 120  # characters of a title
MINUTES = 240
VIEW_CHARACTERS = SENTENCES * TEXT_CHARACTERS  # characters of one parameter of a view; the longest lists further sentences
# Limit of dots in a line of a file. tomllib needed 41 s for a dotted name such as `a.a.a` with 50,000 parts.
MOST_DOTS = 1000
# Parameters of an address that belong to the app, not to a view.
RESERVED = ("lesson", "lesson_stop", "answers", "marked", "class", "language")


def read_toml(data: bytes) -> Lesson:
    """The lesson in the contents of a TOML file.

    Raises:
        LessonError: the contents are not a lesson.
    """
    if len(data) > LESSON_BYTES:
        raise LessonError("The file has {count:,} bytes; a lesson may have up to {most:,}.", count=len(data), most=LESSON_BYTES)
    dots = max((line.count(b".") for line in data.splitlines()), default=0)
    if dots > MOST_DOTS:
        raise LessonError("A line of the file has {count:,} dots; up to {most} are allowed.", count=dots, most=MOST_DOTS)
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise LessonError("The file is not TOML in UTF-8: {problem}", problem=str(error)) from None
    return read_lesson(table)


def read_lesson(values: Any) -> Lesson:
    """The lesson in a parsed table of TOML or JSON.

    Raises:
        LessonError: the table has an unknown name, lacks a needed one, or has a value that is not allowed.
    """
    table = {"stops": [], **values} if isinstance(values, Mapping) else values
    return Lesson(**read_table("The lesson", table, LESSON, "title"))


# --- the readers of tables


def _pictures(where: str, name: str, value: Any) -> tuple[str, ...]:
    pictures = read_texts(where, name, value)
    if not set(pictures) <= set(PICTURES):
        template = "{where}: {name} has {value!r}; allowed are {allowed}."
        raise LessonError(template, where=where, name=name, value=", ".join(pictures), allowed=", ".join(PICTURES))
    return pictures


def _truth(where: str, name: str, value: Any) -> Truth:
    where = f"{where}: {name}"
    named = value.get("name") if isinstance(value, Mapping) else None
    form = TRUTHS.get(named) if isinstance(named, str) else None
    needs, may = (form.needs, form.may) if form else ((), tuple(TRUTH))
    return Truth(**read_table(where, value, {field: TRUTH[field] for field in ("name", *needs, *may)}, "name", *needs))


def _question(where: str, name: str, value: Any) -> Question:
    where = f"{where}: {name}"
    question = Question(**read_table(where, value, QUESTION, "kind", "ask"))
    problem = _misfit(question)
    if problem:
        raise LessonError(problem, where=where, value=question.answer, count=len(question.options))
    return question


def _misfit(question: Question) -> str:
    """The template of an error if the parts of a question contradict each other; otherwise empty."""
    gives, count = question.truth and question.truth.form.gives, len(question.options)
    if question.kind in ("choose", "order") and count < 2:
        return "{where} has fewer than two options."
    if "" in question.options:
        return "{where} has an empty option."
    if len(set(question.options)) < count:
        return "{where} has the same option twice."
    if question.kind == "order":
        both = "{where}: the options are in the right order, so it has neither answer nor truth."
        return both if question.truth or question.answer else ""
    if question.kind != "choose":
        needed = "row" if question.kind == "tokens" else "number"
        return "" if gives == needed else f"{{where}}: this kind of question needs a truth that gives a {needed}."
    if bool(question.answer) == bool(question.truth):
        return "{where} must have either an answer, the number of the right option, or a truth."
    if question.answer > count:
        return "{where}: answer is {value}; there are {count} options."
    if question.answer and len(question.reasons) != count:
        return "{where} needs one reason for each option."
    if question.truth and gives != "option" and (gives != "yes or no" or count != 2):
        return (
            "{where}: a truth can decide between two options, no and yes, if its name is silence-changes-answer or "
            "edit-changes-answer, and between several if it gives an option, such as next-token."
        )
    return ""


def _view(where: str, name: str, value: Any) -> tuple[tuple[str, str], ...]:
    where = f"{where}: {name}"
    given = value if isinstance(value, Mapping) else {}
    if len(given) > LESSON_PARAMETERS:
        template = "{where} has {count} parameters; up to {most} are allowed."
        raise LessonError(template, where=where, count=len(given), most=LESSON_PARAMETERS)
    for parameter in given:
        if not isinstance(parameter, str) or not re.fullmatch("[a-zA-Z_]{1,40}", parameter) or parameter in RESERVED:
            template = "{where} has the parameter {name!r}, which a view cannot have."
            raise LessonError(template, where=where, name=parameter)
    return tuple(read_table(where, value, dict.fromkeys(given, text_or_number(VIEW_CHARACTERS))).items())


def _stops(where: str, name: str, value: Any) -> tuple[Stop, ...]:
    count = len(value) if isinstance(value, list) else 0
    if not 1 <= count <= LESSON_STOPS:
        template = "{where} has {count} {name}; allowed are 1 to {most}."
        raise LessonError(template, where=where, count=count, name=name, most=LESSON_STOPS)
    needed = ("title", "say", "page")
    places = ((f"Stop {number}", stop) for number, stop in enumerate(value, 1))
    return tuple(_stop(place, Stop(**read_table(place, stop, STOP, *needed))) for place, stop in places)


def _stop(where: str, stop: Stop) -> Stop:
    """The stop, unchanged. Raises `LessonError` if it lacks something that its pictures need."""
    truth = stop.truth
    has_row = stop.row or (truth and truth.form.gives == "row" and truth.query)
    if {"row", "heads", "vectors"} & set(stop.pictures) and not has_row:
        raise LessonError("{where}: the pictures row, heads and vectors need a row.", where=where)
    if {"answers", "probabilities", "row"} & set(stop.pictures) and not stop.makes_edit:
        raise LessonError("{where}: the pictures answers, probabilities and row need an edit.", where=where)
    if "trainings" in stop.pictures and not stop.beside:
        raise LessonError("{where}: the picture trainings needs a second model: beside.", where=where)
    return stop


TRUTH: Mapping[str, Reader] = {
    "name": one_of(TRUTHS),
    "kind": one_of(KINDS),
    "layer": number_between(1, 1000, whole=True),
    "head": number_between(1, 1000, whole=True),
    "query": text_or_number(60),
    "key": text_or_number(60),
    "side": one_of(SIDES),
    "token": text_up_to(60),
    "edit": text_up_to(100),
}
QUESTION: Mapping[str, Reader] = {
    "kind": one_of(get_args(QuestionKind)),
    "ask": text_up_to(LESSON_CHARACTERS),
    "options": read_texts,
    "reasons": read_texts,
    "answer": number_between(1, LESSON_OPTIONS, whole=True),
    "truth": _truth,
    "tolerance": number_between(0, 1e9),
    "enough": number_between(0, 1),
    "most": number_between(1, LESSON_OPTIONS, whole=True),
}
STOP: Mapping[str, Reader] = {
    "title": text_up_to(TITLE),
    "say": text_up_to(LESSON_CHARACTERS),
    "page": text_up_to(40, "[a-z_]+", "it must be the name of a page, such as attention"),
    "view": _view,
    # A head that the model's card names: `turning`, the head whose attention changes with the meaning of a pronoun; `needed`,
    # the head that the model needs most to choose the pronoun; or the head with the highest value of a measure, by kind.
    "head": text_up_to(
        40,
        r"turning|needed|(encoder|decoder|cross)\.[a-z_-]{1,20}",
        "allowed are turning, needed, or a kind and a measure, such as encoder.previous",
    ),
    "row": text_or_number(60),
    "edit": text_up_to(100),
    "pictures": _pictures,
    "beside": text_up_to(60),
    "others": read_texts,
    "place": text_up_to(40, "[a-z0-9_-]+", "it must be the name of a part of a page"),
    "cover": read_flag,
    "question": _question,
    "reveal": text_up_to(LESSON_CHARACTERS),
    "notes": text_up_to(LESSON_CHARACTERS),
    "minutes": number_between(0, MINUTES),
    "core": read_flag,
}
LESSON: Mapping[str, Reader] = {
    "title": text_up_to(TITLE),
    "about": text_up_to(SHORT),
    "audience": text_up_to(SHORT),
    "discuss": read_flag,
    "order": number_between(0, 1000, whole=True),
    "learnt": read_texts,
    "core_title": text_up_to(TITLE),
    "core_about": text_up_to(SHORT),
    "stops": _stops,
}


def as_table(lesson: Lesson) -> dict[str, Any]:
    """A lesson as a dict of plain values, which `read_lesson` can read. Default values are left out."""
    table: dict[str, Any] = _given(lesson, Lesson(title="", stops=()), ("stops",))
    table["stops"] = []
    for stop in lesson.stops:
        values = _given(stop, Stop(title="", say="", page=""), ("view", "question"))
        if stop.view:
            values["view"] = dict(stop.view)
        if stop.question:
            question = _given(stop.question, Question(kind="choose", ask=""), ("kind", "truth"))
            values["question"] = {"kind": stop.question.kind, **question}
            if stop.question.truth:
                values["question"]["truth"] = _given(stop.question.truth, Truth(name=""), ())
        table["stops"].append(values)
    return table


def _given(value: Any, default: Any, others: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a dataclass that differ from the default, without the fields `others`. Tuples become lists."""
    fields = {name: getattr(value, name) for name in value.__dataclass_fields__ if name not in others}
    changed = {name: field for name, field in fields.items() if field != getattr(default, name)}
    return {name: list(field) if isinstance(field, tuple) else field for name, field in changed.items()}


def as_toml(lesson: Lesson) -> str:
    """A lesson as the text of a TOML file."""
    return tomli_w.dumps(as_table(lesson), multiline_strings=True)
