"""Classes: many students answer the questions of one lesson at once, and their teacher sees how many gave each answer.

For each question, the teacher leads the class through four phases: the students vote, they talk, they vote again, and the
answer is revealed. A class is only in the memory of this process, without names and addresses of people. It ends when its
teacher closes it, or `CLASS_MINUTES` after the last request of anybody in it.
"""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pages.lessons.content.lesson import LessonError, Phase
from pages.ui.limits import CLASS_ANSWERS, CLASS_JOINS, CLASS_MINUTES, CLASS_STUDENTS, CLASSES, LESSON_STOPS, REPLICAS
from transformer.errors import cut

# Letters and digits that people do not confuse. 6 of these 30 characters make 700 million codes.
ALPHABET, CODE_LENGTH = "23456789ABCDEFGHJKMNPQRSTVWXYZ", 6
# The most characters of an answer, in the form that an address has.
ANSWER_CHARACTERS = 40
# A class without any request for so many seconds can be dropped to make room for a new one. The teacher's page asks every 2 s.
IDLE = 600.0


class Tally(NamedTuple):
    """How a class has answered a question.

    Attributes:
        joined, answered: number of students in the class, and number of students who have answered this question.
        changed: number of students whose last answer differs from their first answer.
        phase: the phase of the question.
        first, last: answer → number of students whose first, or last, answer it is. Until the right answer is revealed, only
            the teacher gets `first`, `last` and `changed`. For students, they are empty and 0.
        full: whether the class has reached its limit of answers, so that new answers are not counted.
    """

    joined: int
    answered: int
    changed: int
    phase: Phase
    first: Mapping[str, int]
    last: Mapping[str, int]
    full: bool = False


class Given(NamedTuple):
    """The answers of one student to one question, written as in a URL."""

    first: str
    last: str


@dataclass
class _Class:
    """An open class.

    Attributes:
        lesson: the lesson's name in an address.
        secret: the secret of the teacher.
        used: the time of the last request, in seconds of the clock.
        students: student → stop → answers.
        answers: number of answers of all students together.
        at: the stop that the teacher shows, counted from 0.
        phases: stop → the phase of its question. If a stop is missing, its question is in the first phase.
    """

    lesson: str
    secret: str
    used: float
    students: dict[str, dict[int, Given]] = field(default_factory=dict)
    answers: int = 0
    at: int = 0
    phases: dict[int, Phase] = field(default_factory=dict)


class Classes:
    """All classes of a process. Every method may be called from several threads at once. `clock` gives the time in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._classes: dict[str, _Class] = {}
        # The minute of the last attempt to join, and address → number of attempts in it.
        self._minute, self._attempts = 0.0, Counter[str]()

    def open(self, lesson: str) -> tuple[str, str]:
        """Open a class for a lesson, by its name in a URL. Returns the code for students, and the teacher's secret.

        Raises:
            LessonError: the server has several replicas, or too many classes are open.
        """
        if REPLICAS > 1:
            raise LessonError(
                "A class lives in one process, and this server runs as {count}: students would reach another one. Whoever "
                "runs it can set up a server with one replica for classes.",
                count=REPLICAS,
            )
        with self._lock:
            self._make_room()
            while (code := "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))) in self._classes:
                pass
            opened = self._classes[code] = _Class(lesson, secrets.token_urlsafe(16), self._clock())
            return code, opened.secret

    def close(self, code: str, secret: str) -> None:
        """Close a class and delete its answers. Nothing happens if the secret is wrong."""
        with self._lock:
            if self._taught(code, secret):
                del self._classes[code]

    def lesson_of(self, code: str, student: str, address: str) -> str:
        """The name of the lesson of the class with this code. A wrong code counts as an attempt to join from `address`, the
        visitor's IP address. `student` is the random number of the session; empty without a number.

        Raises:
            LessonError: no open class has this code, or there were too many attempts from this IP address.
        """
        with self._lock:
            asked = self._open(code)
            if asked is None or student not in asked.students:
                self._count(address, 0 if asked else 1)
            return self._needed(code).lesson

    def teaches(self, code: str, secret: str) -> bool:
        """Whether `secret` is the secret of the teacher of the open class with this code."""
        with self._lock:
            return self._taught(code, secret) is not None

    def join(self, code: str, student: str, address: str) -> None:
        """Add a student to the class with this code. `student` is their random number, `address` their IP address. A student
        who has joined already keeps their answers.

        Raises:
            LessonError: no open class has this code, the class is full, or there were too many attempts from this IP address.
        """
        with self._lock:
            joined = self._needed(code)
            if student in joined.students:
                return
            self._count(address)
            if len(joined.students) >= CLASS_STUDENTS:
                template = "The class {code} is full: it has {most} students. The lesson can be taken without it."
                raise LessonError(template, code=cut(code, 2 * CODE_LENGTH), most=CLASS_STUDENTS)
            joined.students[student] = {}

    def answer(self, code: str, student: str, stop: int, given: Given) -> bool:
        """Store a student's answers to the question at a stop (step of the lesson, index from 0). A first answer that is stored
        already does not change. Returns False and stores nothing if the student has not joined, a limit is exceeded, or the
        right answer is revealed."""
        if not (0 <= stop < LESSON_STOPS and all(0 < len(answer) <= ANSWER_CHARACTERS for answer in given)):
            return False
        with self._lock:
            joined = self._open(code)
            answers = joined.students.get(student) if joined else None
            if joined is None or answers is None or joined.phases.get(stop) is Phase.REVEAL:
                return False
            if stop in answers:
                answers[stop] = answers[stop]._replace(last=given.last)
                return True
            if joined.answers >= CLASS_ANSWERS:
                return False
            answers[stop] = given
            joined.answers += 1
            return True

    def go(self, code: str, secret: str, stop: int) -> None:
        """Move the class to a stop (step of its lesson, counted from 0). Nothing happens if the secret is wrong."""
        with self._lock:
            taught = self._taught(code, secret)
            if taught and 0 <= stop <= LESSON_STOPS:
                taught.at = stop

    def advance(self, code: str, secret: str, stop: int, to: Phase) -> None:
        """Begin the phase `to` of the question at a stop (step of the lesson, index from 0). Nothing happens if the secret is
        wrong, or if this phase or a later one has begun. So a double click skips no phase."""
        with self._lock:
            taught = self._taught(code, secret)
            if taught and 0 <= stop < LESSON_STOPS and to > taught.phases.get(stop, Phase.VOTE):
                taught.phases[stop] = to

    def place(self, code: str) -> tuple[int, Phase] | None:
        """The index of the stop (step) that the teacher shows, and the phase of its question; None if the class is over."""
        with self._lock:
            asked = self._open(code)
            return (asked.at, asked.phases.get(asked.at, Phase.VOTE)) if asked else None

    def phase(self, code: str, stop: int) -> Phase:
        """The phase of the question at a stop (step of the lesson, index from 0); `REVEAL` for every question after the class
        has ended."""
        with self._lock:
            asked = self._open(code)
            return asked.phases.get(stop, Phase.VOTE) if asked else Phase.REVEAL

    def seats(self, code: str, secret: str) -> list[dict[int, Given]]:
        """The answers of each student, by the index of the lesson's stop (step), from 0. Empty if the secret is wrong."""
        with self._lock:
            taught = self._taught(code, secret)
            return [dict(answers) for answers in taught.students.values()] if taught else []

    def tally(self, code: str, stop: int, secret: str = "") -> Tally | None:
        """How a class has answered the question at a stop (step of the lesson, index from 0); None if the class is over.
        Without the teacher's secret, the tally has no answers before the phase `REVEAL`."""
        with self._lock:
            asked = self._open(code)
            if asked is None:
                return None
            given = [answers[stop] for answers in asked.students.values() if stop in answers]
            phase = asked.phases.get(stop, Phase.VOTE)
            seen = given if phase is Phase.REVEAL or self._taught(code, secret) else []
            return Tally(
                joined=len(asked.students),
                answered=len(given),
                changed=sum(answers.first != answers.last for answers in seen),
                phase=phase,
                first=Counter(answers.first for answers in seen),
                last=Counter(answers.last for answers in seen),
                full=asked.answers >= CLASS_ANSWERS,
            )

    # --- with the lock held

    def _count(self, address: str, attempts: int = 1) -> None:
        """Count attempts to join a class from an address.

        Raises:
            LessonError: there were too many attempts from this address in this minute.
        """
        minute = self._clock() // 60
        if minute != self._minute:
            self._minute, self._attempts = minute, Counter()
        if self._attempts[address] >= CLASS_JOINS:
            template = "From this network, {most} people tried to join a class in a minute. Try again in the next minute."
            raise LessonError(template, most=CLASS_JOINS)
        self._attempts[address] += attempts

    def _open(self, code: str) -> _Class | None:
        """The open class with a code, or None. Classes that are over are dropped."""
        now = self._clock()
        for name in [name for name, each in self._classes.items() if now - each.used > 60 * CLASS_MINUTES]:
            del self._classes[name]
        opened = self._classes.get(code)
        if opened:
            opened.used = now
        return opened

    def _needed(self, code: str) -> _Class:
        opened = self._open(code)
        if opened is None:
            template = (
                "There is no class {code} here. Check the code. A class ends when its teacher closes it, or when nobody has "
                "used it for {most} minutes."
            )
            if REPLICAS > 1:
                template = "There is no class {code} here. A class lives in one process, and this server runs as {count}."
            raise LessonError(template, code=cut(code, 2 * CODE_LENGTH), most=CLASS_MINUTES, count=REPLICAS)
        return opened

    def _taught(self, code: str, secret: str) -> _Class | None:
        """The open class with a code, if the secret is its teacher's; otherwise None."""
        opened = self._open(code) if secret.isascii() else None
        return opened if opened and secrets.compare_digest(opened.secret, secret) else None

    def _make_room(self) -> None:
        """Drop the class whose last request is the oldest, if there are too many classes.

        Raises:
            LessonError: all classes are in use.
        """
        self._open("")
        if len(self._classes) < CLASSES:
            return
        now = self._clock()
        code, idle = min(self._classes.items(), key=lambda item: item[1].used)
        if now - idle.used < IDLE:
            soonest = idle.used + IDLE - now
            template = "This server has {most} classes, as many as it can. Try again in {minutes} minutes, or sooner."
            raise LessonError(template, most=CLASSES, minutes=max(1, round(soonest / 60)))
        del self._classes[code]


_SHARED = Classes()


def classes() -> Classes:
    """The open classes of this process, which all sessions share."""
    return _SHARED
