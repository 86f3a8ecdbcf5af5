"""The bar above every page while a lesson is open: what to say, the question, the way back and on.

The address has the lesson, the stop and the answers, on every page; nothing is kept on the server.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.glossary import meaning
from pages.shell.lessons.answers import Answer, fits, parse, places, write
from pages.shell.lessons.class_panel import show_class, warn_class
from pages.shell.lessons.grading import Verdict, judge
from pages.shell.lessons.lesson import Lesson, LessonError, Question
from pages.shell.lessons.library import lesson_of
from pages.shell.lessons.prose import inline, prose
from pages.shell.lessons.seat import CLASS, Seat, follow_class, hand_in, linked_class, seat, take_seat, teach
from pages.shell.lessons.truths import Value, filled, head_of, place_of, truth_of
from pages.shell.lessons.views import address, exists, view_of
from pages.ui.compat import opens_from_history
from pages.ui.component import mounted
from pages.ui.escaping import literal
from pages.ui.limits import LESSON_STOPS
from pages.ui.presenting import presenting
from pages.ui.text import linked_language, text
from transformer import HeadlightError
from transformer.errors import cut

# Names of the parameters in the address.
NAME, STOP, ANSWERS = "lesson", "lesson_stop", "answers"
PARAMETERS = (NAME, STOP, ANSWERS, CLASS)
# Session key of an `_Open`; key of the bar.
OPEN, KEY = "open_lesson", "lesson_bar"
# Answers in a link that starts a lesson again.
NONE = "0"
LONGEST_IN_SHEET = 50  # characters of an answer on the answer sheet

_mount = mounted(Path(__file__).with_name("bar"))


@dataclass(frozen=True)
class _Open:
    """The lesson that is open.

    Attributes:
        name: in the address.
        stop: counted from 0; the number of stops at the end.
        answers: by stop.
        started: whether a button has just started it: then the browser opens its first stop.
    """

    name: str
    stop: int = 0
    answers: Mapping[int, Answer] = field(default_factory=dict)
    started: bool = False

    @property
    def parameters(self) -> dict[str, str]:
        """Its parameters in an address, with that of the class."""
        return {NAME: self.name, STOP: str(self.stop + 1), ANSWERS: write(self.answers), **linked_class()}


def linked_lesson() -> dict[str, str]:
    """The parameters of a link that keep the lesson open; empty without one. Empty answers are among them, because they may be
    given before the link is followed."""
    opened = _opened()
    return opened.parameters if opened else {}


class Marks(NamedTuple):
    """The tokens that were marked in the question of the stop that is open, once their row may be seen.

    Attributes:
        query: the row, by the position of its token.
        keys: positions of the marked tokens.
        earlier: those of the first answer, if it was changed; otherwise empty.
    """

    query: int
    keys: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()


def marks_on(queries: Sequence[str], keys: Sequence[str], kind: str, layer: int, head: int) -> Marks | None:
    """The marks that belong on the map of a head; None if the open stop does not ask about this head, or is not settled.

    Args:
        queries, keys: the tokens of the map.
        kind, layer, head: of the map; layer and head counted from 0.
    """
    opened = _opened()
    if opened is None:
        return None
    try:
        lesson = _lesson_of(opened)
        stop = lesson.stops[opened.stop] if opened.stop < len(lesson.stops) else None
        question, answer = stop and stop.question, opened.answers.get(opened.stop)
        if not (stop and question and question.kind == "tokens" and question.truth and answer):
            return None
        shown = _question(lesson, opened.stop, answer)
        if not shown or not shown["settled"] or shown["tokens"] != list(keys) or head_of(stop) != (kind, layer, head):
            return None
        query = place_of(question.truth.query, tuple(queries))
    except HeadlightError:
        return None
    first, last = (tuple(places(given) or ()) for given in (answer.first, answer.before_end))
    return Marks(query, last, first if answer.second else ())


def start_of(name: str, lesson: Lesson) -> tuple[str, dict[str, str]]:
    """The page of a lesson's first stop, and the parameters of its address."""
    return _place(_Open(name), lesson, 0)


def start_address(name: str, lesson: Lesson) -> str:
    """The address of a lesson's first stop, without answers of earlier."""
    return _address(_Open(name), lesson, 0, {ANSWERS: NONE})


def start_lesson(name: str, place: Seat | None = None) -> None:
    """Open a lesson at its first stop, without answers; call it from a callback only.

    Args:
        name: of the lesson.
        place: in a class that takes the lesson together; None for a person alone.
    """
    take_seat(place)
    st.session_state[OPEN] = _Open(name, started=True)
    st.rerun()  # all of the app: the bar is not in the page


def follow_lesson() -> None:
    """Take the lesson over from the address, or write it there. Call it once in a run of the app, before the sidebar."""
    state, query = st.session_state, st.query_params
    if OPEN not in state or opens_from_history():
        of_class = follow_class()
        if of_class and query.get(NAME, of_class) != of_class:  # the class takes another lesson than the address has
            for parameter in (STOP, ANSWERS):
                query.pop(parameter, None)
        before, name = _opened(), of_class or query.get(NAME, "")
        asked = query.get(STOP, "")
        stop = int(asked) - 1 if asked.isascii() and asked.isdecimal() and len(asked) < 4 and int(asked) > 0 else 0
        answers = parse(query.get(ANSWERS, ""))
        if before and before.name == name and query.get(ANSWERS) != NONE:  # a link made before the last answer
            answers |= before.answers
        state[OPEN] = _Open(name, stop, answers) if name else None
    _publish()


def lesson_is_open() -> bool:
    """Whether a lesson is open."""
    return _opened() is not None


@st.fragment(key=KEY)
def lesson_bar() -> None:
    """Draw the bar; nothing if no lesson is open. Call it above the page."""
    opened = _opened()
    warn_class()
    if opened is None:
        return
    try:
        lesson = _lesson_of(opened)
    except LessonError as error:
        st.warning(literal(sentence(error)), icon=":material/school:")
        return
    _mount(
        key=KEY,
        data=_data(opened, lesson),
        on_answer_change=_answer,
        on_keep_change=_keep,
        on_leave_change=_leave,
        on_teach_change=_teach,
    )
    show_class(lesson, opened.stop)


def _opened() -> _Open | None:
    return st.session_state.get(OPEN)


def _lesson_of(opened: _Open) -> Lesson:
    """The lesson that is open; in a class, with time to talk before an answer is judged."""
    lesson = lesson_of(opened.name)
    return replace(lesson, discuss=True) if seat() else lesson


def _publish() -> None:
    """Write the lesson to the address."""
    values = linked_lesson()
    for name in PARAMETERS:
        if values.get(name):
            if st.query_params.get(name) != values[name]:
                st.query_params[name] = values[name]
        elif name in st.query_params:
            del st.query_params[name]


# --- what the bar shows


def _data(opened: _Open, lesson: Lesson) -> dict[str, Any]:
    words, count, place = text("lesson"), len(lesson.stops), seat()
    index = min(opened.stop, count)
    data: dict[str, Any] = {
        "lesson": lesson.title,
        "stop": index + 1,
        "share": index / count,
        "back": _address(opened, lesson, index - 1) if index else "",
        "next": _address(opened, lesson, index + 1) if index < count else "",
        "here": _address(opened, lesson, index),
        "restart": start_address(opened.name, lesson),
        "all": address("lessons", linked_language()) if exists("lessons") else "",
        "last": index + 1 == count,
        "terms": {},
        "target": "",
        "covers": False,
        "started": opened.started,
        "left": "",
        "reveal": [],
        "sheet": [],
        "class": {"code": place.code, "secret": place.secret} if place else None,
        "notes": _notes(lesson, index) if (place.secret if place else presenting()) else None,
        "text": words["bar"],
    }
    if index == count:
        return data | _end(opened, lesson)
    stop = lesson.stops[index]
    minutes = sum(each.minutes for each in lesson.stops[index:])
    question = _question(lesson, index, opened.answers.get(index))
    data |= {
        "place": words["place"].format(stop=index + 1, count=count),
        "left": words["left"].format(minutes=max(1, round(minutes))),
        "title": stop.title,
        "say": prose(filled(stop, stop.say)),
        "terms": new_terms(lesson, index),
        "target": stop.place,
        "covers": stop.cover and question is not None and question["open"],
        "questions": [question] if question else [],
    }
    if question is None or question["settled"]:
        data["reveal"] = prose(filled(stop, stop.reveal))
    if not exists(stop.page):
        data["reveal"] = prose(words["no_stop_page"])
    return data


def new_terms(lesson: Lesson, index: int) -> dict[str, str]:
    """The terms of the glossary that are set in bold at a stop and at none before it, each with its meaning."""
    met: set[str] = set()
    terms: dict[str, str] = {}
    for place, stop in enumerate(lesson.stops[: index + 1]):
        runs = (run for block in prose(filled(stop, stop.say)) for run in block.runs)
        strong = [words for style, words in runs if style == "strong"]
        if place == index:
            meanings = {words: meaning(words) for words in strong if words.lower() not in met}
            terms = {words: says for words, says in meanings.items() if says}
        met |= {words.lower() for words in strong}
    return terms


def _notes(lesson: Lesson, index: int) -> dict[str, Any]:
    """The notes for the teacher on a stop, counted from 0, the title of the next one, and the minutes planned up to its end."""
    stops = lesson.stops
    return {
        "says": prose(filled(stops[index], stops[index].notes)) if index < len(stops) else [],
        "next": stops[index + 1].title if index + 1 < len(stops) else "",
        "planned": round(sum(stop.minutes for stop in stops[: index + 1])),
    }


def _end(opened: _Open, lesson: Lesson) -> dict[str, Any]:
    """The end: how many answers were right, and the missed questions again. Questions whose truth cannot be computed do not
    count."""
    words = text("lesson")
    questions = [_question(lesson, index, opened.answers.get(index), end=True) for index in lesson.questions]
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
        # One that is answered for the first time here stays, with its judgement.
        "questions": [question for question in asked if question in missed or not question["open"]],
        "sheet": [_line_of_sheet(lesson, index, opened.answers.get(index)) for index in lesson.questions],
    }


def _line_of_sheet(lesson: Lesson, index: int, answer: Answer | None) -> list[str]:
    """A line of the answer sheet: the stop, and the answers to its question, each with a mark for right or wrong."""
    stop = lesson.stops[index]
    question = stop.question
    assert question is not None  # the stop is one with a question
    empty = [f"{index + 1}. {stop.title}", "–", "–", "–"]
    try:
        truth = truth_of(stop)
    except HeadlightError:
        return empty
    tokens = truth.tokens if truth and question.kind == "tokens" else ()
    verdicts = _verdicts(question, answer, truth, len(tokens))
    if verdicts is None or answer is None:
        return empty
    marked = [
        f"{cut(_as_words(question, given, tokens), LONGEST_IN_SHEET)} {'✓' if verdict.right else '✗'}"
        if given and verdict
        else "–"
        for given, verdict in zip(answer, verdicts, strict=True)
    ]
    return [empty[0], *marked]


def _question(lesson: Lesson, index: int, answer: Answer | None, end: bool = False) -> dict[str, Any] | None:
    """A question as the bar takes it, with the judgement of its answer.

    Args:
        lesson: the lesson.
        index: the stop, counted from 0.
        answer: the answers so far.
        end: whether it is asked again at the end.
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
    }
    try:
        truth = truth_of(stop)
    except HeadlightError as error:
        return data | {"says": sentence(error), "open": False, "settled": True, "problem": True}
    tokens = truth.tokens if truth and question.kind == "tokens" else ()
    data["tokens"] = list(tokens)
    verdicts = _verdicts(question, answer, truth, len(tokens))
    if verdicts is None or answer is None:
        return data
    first, second, again = verdicts
    before_end = second or first
    data["right_before_end"], data["answered"] = before_end.right, True
    if end:
        shown = again
    else:
        shown = before_end
        undecided = answer.second is None
        data["held"] = lesson.discuss and undecided
        data["may_change"] = undecided and (lesson.discuss or not first.right)
        data["settled"] = not data["may_change"]
    if shown is None:
        return data
    given = answer.last if end else answer.before_end
    data |= {
        "open": False,
        "given": places(given) or given,
        "was": _as_words(question, answer.first, tokens) if answer.second else "",
    }
    if end:
        data["settled"] = True
    if not data["held"]:
        data |= {"says": shown.says, "right": shown.right}
        data["weights"] = list(truth.row) if truth and tokens and data["settled"] else []
    else:
        # An order is long, and stands above.
        noted = text("lesson")["bar"]["discuss_order" if question.kind == "order" else "discuss"]
        data["says"] = noted.format(answer=_as_words(question, given, tokens))
    return data


def _verdicts(
    question: Question, answer: Answer | None, truth: Value | None, tokens: int
) -> tuple[Verdict, Verdict | None, Verdict | None] | None:
    """The judgements of the answers; None without a first answer that fits. Later ones that do not fit are left out."""
    if answer is None or not fits(question, answer.first, tokens):
        return None
    first = judge(question, answer.first, truth)
    later = (judge(question, given, truth) if given and fits(question, given, tokens) else None for given in answer[1:])
    second, again = later
    return first, second, again


def _as_words(question: Question, given: str, tokens: tuple[str, ...]) -> str:
    """An answer as a person reads it."""
    chosen = places(given)
    if question.kind == "number" or chosen is None:
        return given
    if question.kind == "choose":
        return f"“{question.options[chosen[0] - 1]}”" if 1 <= chosen[0] <= len(question.options) else given
    if question.kind == "order":
        return " → ".join(question.options[place].rstrip(".") for place in chosen if place < len(question.options))
    return ", ".join(tokens[place] for place in chosen if place < len(tokens))


def shuffled(question: Question) -> list[int]:
    """The options of `order` as they are shown at first: the same for everybody, and not the right order."""
    if question.kind != "order":
        return []
    order = sorted(range(len(question.options)), key=lambda place: hashlib.sha256(question.options[place].encode()).digest())
    return order[1:] + order[:1] if order == sorted(order) else order


def _address(opened: _Open, lesson: Lesson, index: int, others: Mapping[str, str] | None = None) -> str:
    """The address of a stop, counted from 0, with other parameters besides; of the end, the view of the last stop."""
    page, query = _place(opened, lesson, index)
    return address(page, {**linked_language(), **query, **(others or {})})


def _place(opened: _Open, lesson: Lesson, index: int) -> tuple[str, dict[str, str]]:
    """The page of a stop, and the parameters of its address."""
    stop = lesson.stops[min(index, len(lesson.stops) - 1)]
    try:
        view = view_of(stop)
    except HeadlightError:
        view = dict(stop.view)
    return stop.page if exists(stop.page) else "home", view | replace(opened, stop=index).parameters


# --- what the browser sends, which is untrusted


def _sent(name: str) -> Any:
    sent = st.session_state.get(KEY)
    return sent.get(name) if isinstance(sent, Mapping) else None


def _asked(value: Any) -> tuple[_Open, Lesson, int] | None:
    """The open lesson and the stop, counted from 0, that the browser names; None if there is no question."""
    opened = _opened()
    if opened is None or not isinstance(value, Mapping):
        return None
    stop = value.get("stop")
    lesson = _lesson_of(opened)
    index = stop - 1 if isinstance(stop, int) and not isinstance(stop, bool) and 0 < stop <= LESSON_STOPS else -1
    return (opened, lesson, index) if index in lesson.questions else None


def _answer() -> None:
    """Take an answer: the first, the one after it, or the one at the end."""
    value = _sent("answer")
    asked = _asked(value)
    if asked is None:
        return
    opened, lesson, index = asked
    question, given = lesson.stops[index].question, value.get("value")
    assert question is not None  # `_asked` has checked it
    try:
        truth = truth_of(lesson.stops[index])
    except HeadlightError:
        return
    if not isinstance(given, str) or len(given) > 40:
        return
    given = given.strip().replace("−", "-")
    if not fits(question, given, len(truth.tokens) if truth else 0):
        return
    before = opened.answers.get(index)
    if opened.stop >= len(lesson.stops):
        after = before._replace(again=given, second=before.second or "") if before else Answer(given, "", given)
    elif before is None or not fits(question, before.first, len(truth.tokens) if truth else 0):
        right = judge(question, given, truth).right
        after = Answer(given, "" if right and not lesson.discuss else None)
    elif before.second is None:
        after = before._replace(second=given)
    else:
        return
    _set(opened, index, after)


def _keep() -> None:
    """Keep the first answer, and show whether it is right."""
    asked = _asked(_sent("keep"))
    if asked is None:
        return
    opened, _, index = asked
    answer = opened.answers.get(index)
    if answer and answer.second is None:
        _set(opened, index, answer._replace(second=""))


def _set(opened: _Open, index: int, answer: Answer) -> None:
    hand_in(index, answer)
    st.session_state[OPEN] = replace(opened, answers={**opened.answers, index: answer})
    _publish()
    question = lesson_of(opened.name).stops[index].question
    if question and question.kind == "tokens":
        st.rerun()  # all of the app: the marks are drawn on the page's picture, too


def _teach() -> None:
    teach(_sent("teach"))
    _publish()


def _leave() -> None:
    st.session_state[OPEN] = None
    take_seat(None)
    _publish()
