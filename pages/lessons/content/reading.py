"""Read a lesson from a file or a link. Every value is checked, because lessons are untrusted input."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
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
from pages.ui.limits import (
    LESSON_BYTES,
    LESSON_CHARACTERS,
    LESSON_OPTIONS,
    LESSON_PARAMETERS,
    LESSON_STOPS,
    SENTENCES,
    TEXT_CHARACTERS,
)

TITLE, SHORT = 120, 400  # characters of a title, and of an option or a reason
MINUTES = 240
VIEW_CHARACTERS = SENTENCES * TEXT_CHARACTERS  # characters of one parameter of a view; the longest lists further sentences
# Limit of dots in a line of a file. tomllib needed 41 s for a dotted name such as `a.a.a` with 50,000 parts.
MOST_DOTS = 1000
# Parameters of an address that belong to the app, not to a view.
RESERVED = ("lesson", "lesson_stop", "answers", "marked", "class", "language")
# Checks a value. Called with the place of its table, its name and the value; returns the value as the dataclass has it.
Reader = Callable[[str, str, Any], Any]


def read_toml(data: bytes) -> Lesson:
    """Parse the contents of a TOML file.

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
    """Build a lesson from a parsed table of TOML or JSON.

    Raises:
        LessonError: the table has an unknown name, or a value of a wrong type, or a value that is too long.
    """
    return Lesson(**_table("The lesson", {"stops": [], **values} if isinstance(values, Mapping) else values, LESSON, "title"))


def _table(where: str, values: Any, readers: Mapping[str, Reader], *needed: str) -> dict[str, Any]:
    """The checked values of a table.

    Args:
        where: the place of the table, for errors, such as "Stop 3: question".
        values: the parsed table of TOML or JSON.
        readers: name → the function that checks its value.
        needed: names that must have a value.
    """
    if not isinstance(values, Mapping):
        raise LessonError("{where} is {value!r}; it must be a table.", where=where, value=values)
    for name in values:
        if name not in readers:
            template = "{where} has {name!r}, which is not a name that a lesson can have there."
            raise LessonError(template, where=where, name=name)
    table = {name: read(where, name, values[name]) for name, read in readers.items() if values.get(name) is not None}
    for name in needed:
        if table.get(name) is None:
            raise LessonError("{where}: {name} is missing; it must be a text.", where=where, name=name)
        if not table[name]:
            raise LessonError("{where}: {name} is empty.", where=where, name=name)
    return table


# --- functions that return the reader of a value


def _text(most: int, pattern: str = "", allowed: str = "") -> Reader:
    """Of a text of up to `most` characters. `allowed` says which texts match the pattern."""

    def read(where: str, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise LessonError("{where}: {name} is {value!r}; it must be a text.", where=where, name=name, value=value)
        value = value.strip()
        if len(value) > most:
            template = "{where}: {name} has {count:,} characters; up to {most:,} are allowed."
            raise LessonError(template, where=where, name=name, count=len(value), most=most)
        try:
            value.encode()
        except UnicodeEncodeError:
            template = "{where}: {name} has half of a surrogate pair, which is not a character."
            raise LessonError(template, where=where, name=name) from None
        if pattern and value and not re.fullmatch(pattern, value):
            template = "{where}: {name} is {value!r}; {allowed}."
            raise LessonError(template, where=where, name=name, value=value, allowed=allowed)
        return value

    return read


def _one_of(names: Iterable[str]) -> Reader:
    """Of one of some names."""
    return _text(60, "|".join(names), f"allowed are {', '.join(names)}")


def _text_or_number(most: int) -> Reader:
    """Of a text of up to `most` characters, or a whole number that is returned as text."""

    def read(where: str, name: str, value: Any) -> str:
        return _text(most)(where, name, str(value) if type(value) is int and abs(value) < 10**9 else value)

    return read


def _number(least: float, most: float, whole: bool = False) -> Reader:
    """Of a number from `least` to `most`."""

    def read(where: str, name: str, value: Any) -> float:
        if type(value) not in ((int,) if whole else (int, float)) or not least <= value <= most:
            template = "{where}: {name} is {value!r}; it must be a {sort} from {least} to {most}."
            sort = "whole number" if whole else "number"
            raise LessonError(template, where=where, name=name, value=value, sort=sort, least=least, most=most)
        return value

    return read


def _texts(where: str, name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > LESSON_OPTIONS:
        raise LessonError("{where}: {name} must be a list of up to {most} texts.", where=where, name=name, most=LESSON_OPTIONS)
    return tuple(_text(SHORT)(f"{where}: {name}", str(place), item) for place, item in enumerate(value, 1))


def _flag(where: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise LessonError("{where}: {name} is {value!r}; it must be true or false.", where=where, name=name, value=value)
    return value


# --- the readers of tables


def _pictures(where: str, name: str, value: Any) -> tuple[str, ...]:
    pictures = _texts(where, name, value)
    if not set(pictures) <= set(PICTURES):
        template = "{where}: {name} has {value!r}; allowed are {allowed}."
        raise LessonError(template, where=where, name=name, value=", ".join(pictures), allowed=", ".join(PICTURES))
    return pictures


def _truth(where: str, name: str, value: Any) -> Truth:
    where = f"{where}: {name}"
    named = value.get("name") if isinstance(value, Mapping) else None
    form = TRUTHS.get(named) if isinstance(named, str) else None
    needs, may = (form.needs, form.may) if form else ((), tuple(TRUTH))
    return Truth(**_table(where, value, {field: TRUTH[field] for field in ("name", *needs, *may)}, "name", *needs))


def _question(where: str, name: str, value: Any) -> Question:
    where = f"{where}: {name}"
    question = Question(**_table(where, value, QUESTION, "kind", "ask"))
    problem = _misfit(question)
    if problem:
        raise LessonError(problem, where=where, value=question.answer, count=len(question.options))
    return question


def _misfit(question: Question) -> str:
    """The template of an error if the parts of a question contradict each other; otherwise empty."""
    gives, count = question.truth and TRUTHS[question.truth.name].gives, len(question.options)
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
    return tuple(_table(where, value, dict.fromkeys(given, _text_or_number(VIEW_CHARACTERS))).items())


def _stops(where: str, name: str, value: Any) -> tuple[Stop, ...]:
    count = len(value) if isinstance(value, list) else 0
    if not 1 <= count <= LESSON_STOPS:
        template = "{where} has {count} {name}; allowed are 1 to {most}."
        raise LessonError(template, where=where, count=count, name=name, most=LESSON_STOPS)
    needed = ("title", "say", "page")
    return tuple(
        _stop(f"Stop {number}", Stop(**_table(f"Stop {number}", stop, STOP, *needed))) for number, stop in enumerate(value, 1)
    )


def _stop(where: str, stop: Stop) -> Stop:
    """The stop, if it has all that its pictures need."""
    truth = stop.question and stop.question.truth
    has_row = stop.row or (truth and TRUTHS[truth.name].gives == "row" and truth.query)
    if {"row", "heads", "vectors"} & set(stop.pictures) and not has_row:
        raise LessonError("{where}: the pictures row, heads and vectors need a row.", where=where)
    makes_edit = stop.edit or (truth and TRUTHS[truth.name].gives == "yes or no")
    if {"answers", "probabilities", "row"} & set(stop.pictures) and not makes_edit:
        raise LessonError("{where}: the pictures answers, probabilities and row need an edit.", where=where)
    if "trainings" in stop.pictures and not stop.beside:
        raise LessonError("{where}: the picture trainings needs a second model: beside.", where=where)
    return stop


TRUTH: Mapping[str, Reader] = {
    "name": _one_of(TRUTHS),
    "kind": _one_of(KINDS),
    "layer": _number(1, 1000, whole=True),
    "head": _number(1, 1000, whole=True),
    "query": _text_or_number(60),
    "key": _text_or_number(60),
    "side": _one_of(SIDES),
    "token": _text(60),
    "edit": _text(100),
}
QUESTION: Mapping[str, Reader] = {
    "kind": _one_of(get_args(QuestionKind)),
    "ask": _text(LESSON_CHARACTERS),
    "options": _texts,
    "reasons": _texts,
    "answer": _number(1, LESSON_OPTIONS, whole=True),
    "truth": _truth,
    "tolerance": _number(0, 1e9),
    "enough": _number(0, 1),
    "most": _number(1, LESSON_OPTIONS, whole=True),
}
STOP: Mapping[str, Reader] = {
    "title": _text(TITLE),
    "say": _text(LESSON_CHARACTERS),
    "page": _text(40, "[a-z_]+", "it must be the name of a page, such as attention"),
    "view": _view,
    # A head that the model's card names: `turning`, the head whose attention changes with the meaning of a pronoun; `needed`,
    # the head that the model needs most to choose the pronoun; or the head with the highest value of a measure, by kind.
    "head": _text(
        40,
        r"turning|needed|(encoder|decoder|cross)\.[a-z_-]{1,20}",
        "allowed are turning, needed, or a kind and a measure, such as encoder.previous",
    ),
    "row": _text_or_number(60),
    "edit": _text(100),
    "pictures": _pictures,
    "beside": _text(60),
    "others": _texts,
    "place": _text(40, "[a-z0-9_-]+", "it must be the name of a part of a page"),
    "cover": _flag,
    "question": _question,
    "reveal": _text(LESSON_CHARACTERS),
    "notes": _text(LESSON_CHARACTERS),
    "minutes": _number(0, MINUTES),
    "core": _flag,
}
LESSON: Mapping[str, Reader] = {
    "title": _text(TITLE),
    "about": _text(SHORT),
    "audience": _text(SHORT),
    "discuss": _flag,
    "order": _number(0, 1000, whole=True),
    "learnt": _texts,
    "core_title": _text(TITLE),
    "core_about": _text(SHORT),
    "stops": _stops,
}


def as_table(lesson: Lesson) -> dict[str, Any]:
    """A lesson as a table that `read_lesson` can read. Default values are left out."""
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
