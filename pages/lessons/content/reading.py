"""Read a lesson from a file or a link. Every value is checked, because lessons are untrusted input."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any, cast

import tomli_w

from pages.lessons.content.lesson import KINDS, SIDES, TRUTHS, Lesson, LessonError, Question, QuestionKind, Stop, Truth
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
RESERVED = ("lesson", "lesson_stop", "answers", "marked", "class", "teacher", "language")
# Names of the heads in a model's card: `turning`, the head whose attention changes with the meaning of a pronoun; `needed`, the
# head that the model needs most to choose the pronoun; and the head with the highest value of a measure, by kind of attention.
CARD_HEAD = re.compile(r"turning|needed|(encoder|decoder|cross)\.[a-z_-]{1,20}")


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
    table = _Table("The lesson", values)
    lesson = Lesson(
        title=table.text("title", TITLE, needed=True),
        about=table.text("about", SHORT),
        audience=table.text("audience", SHORT),
        discuss=table.flag("discuss"),
        order=int(table.number("order", 0, 1000, 0, whole=True)),
        stops=tuple(_stop(stop) for stop in table.tables("stops", LESSON_STOPS)),
    )
    table.end()
    return lesson


def _stop(table: "_Table") -> Stop:
    page = table.text("page", 40, needed=True)
    head = table.text("head", 40)
    question = table.table("question")
    stop = Stop(
        title=table.text("title", TITLE, needed=True),
        say=table.text("say", LESSON_CHARACTERS, needed=True),
        page=page,
        view=_view(table.table("view")),
        head=head,
        place=table.text("place", 40),
        cover=table.flag("cover"),
        question=_question(question) if question else None,
        reveal=table.text("reveal", LESSON_CHARACTERS),
        notes=table.text("notes", LESSON_CHARACTERS),
        minutes=table.number("minutes", 0, MINUTES, 1.0),
    )
    table.end()
    if not re.fullmatch("[a-z_]+", page):
        table.refuse("{where}: page is {value!r}; it must be the name of a page, such as attention.", value=page)
    if not re.fullmatch(r"[a-z0-9_-]*", stop.place):
        table.refuse("{where}: place is {value!r}; it must be the name of a part of a page.", value=stop.place)
    if head and not CARD_HEAD.fullmatch(head):
        table.refuse(
            "{where}: head is {value!r}; allowed are turning, needed, or a kind and a measure, such as encoder.previous.",
            value=head,
        )
    return stop


def _view(table: "_Table | None") -> tuple[tuple[str, str], ...]:
    if table is None:
        return ()
    if len(table.values) > LESSON_PARAMETERS:
        table.refuse(
            "{where} has {count} parameters; up to {most} are allowed.", count=len(table.values), most=LESSON_PARAMETERS
        )
    pairs = []
    for name in list(table.values):
        if not isinstance(name, str) or not re.fullmatch("[a-zA-Z_]{1,40}", name) or name in RESERVED:
            table.refuse("{where} has the parameter {name!r}, which a view cannot have.", name=name)
        pairs.append((name, table.text(name, VIEW_CHARACTERS, numbers=True)))
    return tuple(pairs)


def _question(table: "_Table") -> Question:
    kind = table.text("kind", 20, needed=True)
    if kind not in ("choose", "tokens", "order", "number"):
        table.refuse("{where}: kind is {value!r}; allowed are choose, tokens, order, number.", value=kind)
    truth = table.table("truth")
    question = Question(
        kind=cast("QuestionKind", kind),
        ask=table.text("ask", LESSON_CHARACTERS, needed=True),
        options=table.texts("options", LESSON_OPTIONS, SHORT),
        reasons=table.texts("reasons", LESSON_OPTIONS, SHORT),
        answer=int(table.number("answer", 1, LESSON_OPTIONS, 0, whole=True)),
        truth=_truth(truth) if truth else None,
        tolerance=table.number("tolerance", 0, 1e9, 0.0),
        enough=table.number("enough", 0, 1, 0.5),
        most=int(table.number("most", 1, LESSON_OPTIONS, 2, whole=True)),
    )
    table.end()
    _check_fit(table, question)
    return question


def _check_fit(table: "_Table", question: Question) -> None:
    """Raise a `LessonError` if the parts of a question contradict each other."""
    gives, count = question.truth and TRUTHS[question.truth.name].gives, len(question.options)
    if question.kind in ("choose", "order") and count < 2:
        table.refuse("{where} has fewer than two options.")
    if len(set(question.options)) < count:
        table.refuse("{where} has the same option twice.")
    if question.kind == "choose":
        if bool(question.answer) == bool(question.truth):
            table.refuse("{where} must have either an answer, the number of the right option, or a truth.")
        if question.answer > count:
            table.refuse("{where}: answer is {value}; there are {count} options.", value=question.answer, count=count)
        if question.truth and gives != "option" and (gives != "yes or no" or count != 2):
            table.refuse(
                "{where}: a truth can decide between two options, no and yes, if its name is silence-changes-answer or "
                "edit-changes-answer, and between tokens if it is next-token."
            )
        if question.answer and len(question.reasons) != count:
            table.refuse("{where} needs one reason for each option.")
    elif question.kind == "order":
        if question.truth or question.answer:
            table.refuse("{where}: the options are in the right order, so it has neither answer nor truth.")
    elif gives != ("row" if question.kind == "tokens" else "number"):
        table.refuse("{where}: this kind of question needs a truth that gives a {gives}.", gives=_needed(question.kind))


def _needed(kind: str) -> str:
    return "row" if kind == "tokens" else "number"


def _truth(table: "_Table") -> Truth:
    name = table.text("name", 40, needed=True)
    if name not in TRUTHS:
        table.refuse("{where}: name is {value!r}; allowed are {names}.", value=name, names=", ".join(TRUTHS))
    form = TRUTHS[name]
    texts = {"kind": 20, "query": 60, "key": 60, "side": 20, "token": 60, "edit": 100}
    given: dict[str, Any] = {}
    for field in (*form.needs, *form.may):
        needed = field in form.needs
        if field in texts:
            given[field] = table.text(field, texts[field], needed=needed, numbers=field in ("query", "key"))
        else:
            given[field] = int(table.number(field, 1, 1000, 0, whole=True))
    table.end()
    if given.get("kind") and given["kind"] not in KINDS:
        table.refuse("{where}: kind is {value!r}; allowed are encoder, decoder, cross.", value=given["kind"])
    if "side" in form.needs and given["side"] not in SIDES:
        table.refuse("{where}: side is {value!r}; allowed are source and target.", value=given["side"])
    return Truth(name=name, **given)


class _Table:
    """A table of a lesson file. Each method removes one value by name, checks it and returns it.

    Args:
        where: the place of the table, for errors: "Stop 3: question".
        values: the parsed table of TOML or JSON.

    Raises:
        LessonError: `values` is not a table.
    """

    def __init__(self, where: str, values: Any) -> None:
        self.where = where
        if not isinstance(values, Mapping):
            self.refuse("{where} is {value!r}; it must be a table.", value=values)
        self.values = dict(values)

    def refuse(self, template: str, **values: Any) -> None:
        """Raise a `LessonError`. The place of this table fills `{where}` in the template."""
        raise LessonError(template, where=self.where, **values)

    def text(self, name: str, most: int, needed: bool = False, numbers: bool = False) -> str:
        """A text of up to `most` characters. With `numbers`, a whole number is allowed too and returned as text."""
        value = self.values.pop(name, None)
        if numbers and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9:
            value = str(value)
        if value is None and not needed:
            return ""
        if value is None:
            self.refuse("{where}: {name} is missing; it must be a text.", name=name)
        if not isinstance(value, str):
            self.refuse("{where}: {name} is {value!r}; it must be a text.", name=name, value=value)
        assert isinstance(value, str)
        value = value.strip()
        if needed and not value:
            self.refuse("{where}: {name} is empty.", name=name)
        if len(value) > most:
            self.refuse(
                "{where}: {name} has {count:,} characters; up to {most:,} are allowed.", name=name, count=len(value), most=most
            )
        try:
            value.encode()
        except UnicodeEncodeError:
            self.refuse("{where}: {name} has half of a surrogate pair, which is not a character.", name=name)
        return value

    def number(self, name: str, least: float, most: float, first: float, whole: bool = False) -> float:
        """A number from `least` to `most`; `first` if it is missing."""
        value = self.values.pop(name, None)
        if value is None:
            return first
        right = isinstance(value, int) if whole else isinstance(value, int | float)
        if not right or isinstance(value, bool) or not least <= value <= most:
            template = "{where}: {name} is {value!r}; it must be a {sort} from {least} to {most}."
            self.refuse(template, name=name, value=value, sort="whole number" if whole else "number", least=least, most=most)
        return value

    def flag(self, name: str) -> bool:
        """True or false; false if it is missing."""
        value = self.values.pop(name, False)
        if not isinstance(value, bool):
            self.refuse("{where}: {name} is {value!r}; it must be true or false.", name=name, value=value)
        return value

    def texts(self, name: str, most: int, characters: int) -> tuple[str, ...]:
        """A list of up to `most` texts; empty if it is missing."""
        value = self.values.pop(name, [])
        if not isinstance(value, list) or len(value) > most:
            self.refuse("{where}: {name} must be a list of up to {most} texts.", name=name, most=most)
        items = _Table(f"{self.where}: {name}", {str(index + 1): item for index, item in enumerate(value)})
        return tuple(items.text(str(index + 1), characters, needed=name == "options") for index in range(len(value)))

    def table(self, name: str) -> "_Table | None":
        """A table; None if it is missing."""
        value = self.values.pop(name, None)
        return None if value is None else _Table(f"{self.where}: {name}", value)

    def tables(self, name: str, most: int) -> list["_Table"]:
        """A list of one to `most` tables."""
        value = self.values.pop(name, None)
        if not isinstance(value, list) or not 1 <= len(value) <= most:
            count = len(value) if isinstance(value, list) else 0
            self.refuse("{where} has {count} {name}; allowed are 1 to {most}.", name=name, count=count, most=most)
        assert isinstance(value, list)
        return [_Table(f"Stop {index + 1}", item) for index, item in enumerate(value)]

    def end(self) -> None:
        """Raise a `LessonError` if values are left: their names are unknown."""
        for name in self.values:
            self.refuse("{where} has {name!r}, which is not a name that a lesson can have there.", name=name)


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
