"""Classes: many people answer the questions of one lesson at once, and their teacher sees how many gave each answer.

A class is in the memory of this process alone, without names and addresses of people. It is gone when its teacher closes it, or
`CLASS_MINUTES` after it was opened.
"""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pages.shell.lessons.lesson import LessonError
from pages.ui.limits import CLASS_ANSWERS, CLASS_MINUTES, CLASS_STUDENTS, CLASSES, LESSON_STOPS, REPLICAS
from transformer.errors import cut

# Letters and digits that are not mistaken for one another. With 30 to choose from, 6 make 700 million codes.
ALPHABET, CODE_LENGTH = "23456789ABCDEFGHJKMNPQRSTVWXYZ", 6
# Characters of an answer, as in an address.
ANSWER_CHARACTERS = 40
# Seconds without any student or teacher after which a class makes room for another one. The teacher's page asks every 2 s.
IDLE = 600.0


class Tally(NamedTuple):
    """How a class has answered a question.

    Attributes:
        joined: students in the class.
        answered: those who have answered this question.
        changed: those whose last answer is not their first.
        shown: whether the teacher shows the answers to everybody.
        first, last: answer → how many gave it first, and last. Empty for a student until the teacher shows them.
        full: whether the class has as many answers as it can: new ones are not counted.
    """

    joined: int
    answered: int
    changed: int
    shown: bool
    first: Mapping[str, int]
    last: Mapping[str, int]
    full: bool = False


class Given(NamedTuple):
    """The answers of one student to one question."""

    first: str
    last: str


@dataclass
class _Class:
    """A class that is open.

    Attributes:
        lesson: its name in an address.
        secret: of the teacher.
        opened, used: when it was opened, and when anybody last asked for it; seconds of the clock.
        students: student → stop → answers.
        answers: how many there are of all students.
        shown: stops whose answers everybody may see.
    """

    lesson: str
    secret: str
    opened: float
    used: float
    students: dict[str, dict[int, Given]] = field(default_factory=dict)
    answers: int = 0
    shown: set[int] = field(default_factory=set)


class Classes:
    """All classes of a process. Every method may be called from several threads at once.

    Args:
        clock: gives the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._classes: dict[str, _Class] = {}

    def open(self, lesson: str) -> tuple[str, str]:
        """Open a class on a lesson, by its name in an address. Returns the code for students, and the secret of the teacher.

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
            code = _new_code()
            while code in self._classes:
                code = _new_code()
            now = self._clock()
            self._classes[code] = _Class(lesson, secrets.token_urlsafe(16), now, now)
            return code, self._classes[code].secret

    def close(self, code: str, secret: str) -> None:
        """Close a class and forget its answers; nothing happens without the right secret."""
        with self._lock:
            if self._taught(code, secret):
                del self._classes[code]

    def lesson_of(self, code: str) -> str:
        """The lesson of a class.

        Raises:
            LessonError: no open class has this code.
        """
        with self._lock:
            return self._needed(code).lesson

    def teaches(self, code: str, secret: str) -> bool:
        """Whether a secret is that of the teacher of a class."""
        with self._lock:
            return self._taught(code, secret) is not None

    def join(self, code: str, student: str) -> None:
        """Take a student into a class; one who is in it stays.

        Raises:
            LessonError: no open class has this code, or it is full.
        """
        with self._lock:
            joined = self._needed(code)
            if student not in joined.students and len(joined.students) >= CLASS_STUDENTS:
                template = "The class {code} is full: it has {most} students. The lesson can be taken without it."
                raise LessonError(template, code=cut(code, 2 * CODE_LENGTH), most=CLASS_STUDENTS)
            joined.students.setdefault(student, {})

    def leave(self, code: str, student: str) -> None:
        """Let a student go who has not answered anything; the answers of others stay."""
        with self._lock:
            left = self._open(code)
            if left and not left.students.get(student):
                left.students.pop(student, None)

    def answer(self, code: str, student: str, stop: int, given: str) -> bool:
        """Note the answer of a student; an earlier first answer stays. Returns whether it was noted, which one of somebody who
        has not joined, or above the limits, is not.

        Args:
            code: of the class.
            student: as they have joined.
            stop: of the question, counted from 0.
            given: the answer as in an address.
        """
        if not (0 <= stop < LESSON_STOPS and 0 < len(given) <= ANSWER_CHARACTERS):
            return False
        with self._lock:
            joined = self._open(code)
            answers = joined.students.get(student) if joined else None
            if joined is None or answers is None:
                return False
            if stop in answers:
                answers[stop] = answers[stop]._replace(last=given)
                return True
            if joined.answers >= CLASS_ANSWERS:
                return False
            answers[stop] = Given(given, given)
            joined.answers += 1
            return True

    def show(self, code: str, secret: str, stop: int, shown: bool) -> None:
        """Show the answers to a question to the students, or hide them again; nothing happens without the right secret."""
        with self._lock:
            taught = self._taught(code, secret)
            if taught and 0 <= stop < LESSON_STOPS:
                (taught.shown.add if shown else taught.shown.discard)(stop)

    def tally(self, code: str, stop: int, secret: str = "") -> Tally | None:
        """How a class has answered a question, counted from 0; None if the class is over. Without the secret of the teacher, it
        has no answers until they are shown."""
        with self._lock:
            asked = self._open(code)
            if asked is None:
                return None
            given = [answers[stop] for answers in asked.students.values() if stop in answers]
            shown = stop in asked.shown
            seen = given if shown or self._taught(code, secret) else []
            return Tally(
                joined=len(asked.students),
                answered=len(given),
                changed=sum(answers.first != answers.last for answers in seen),
                shown=shown,
                first=Counter(answers.first for answers in seen),
                last=Counter(answers.last for answers in seen),
                full=asked.answers >= CLASS_ANSWERS,
            )

    # --- with the lock held

    def _open(self, code: str) -> _Class | None:
        """An open class; None if there is none. Those that are over are dropped."""
        now = self._clock()
        for name in [name for name, each in self._classes.items() if now - each.opened > 60 * CLASS_MINUTES]:
            del self._classes[name]
        opened = self._classes.get(code)
        if opened:
            opened.used = now
        return opened

    def _needed(self, code: str) -> _Class:
        opened = self._open(code)
        if opened is None:
            template = (
                "There is no class {code} here. Check the code. A class ends when its teacher closes it, or after {most} "
                "minutes."
            )
            if REPLICAS > 1:
                template = "There is no class {code} here. A class lives in one process, and this server runs as {count}."
            raise LessonError(template, code=cut(code, 2 * CODE_LENGTH), most=CLASS_MINUTES, count=REPLICAS)
        return opened

    def _taught(self, code: str, secret: str) -> _Class | None:
        """An open class, if the secret is that of its teacher."""
        opened = self._open(code) if secret.isascii() else None
        return opened if opened and secrets.compare_digest(opened.secret, secret) else None

    def _make_room(self) -> None:
        """Drop the class that nobody has used for longest, if there are too many.

        Raises:
            LessonError: all are in use.
        """
        self._open("")
        if len(self._classes) < CLASSES:
            return
        now = self._clock()
        code, idle = min(self._classes.items(), key=lambda item: item[1].used)
        if now - idle.used < IDLE:
            soonest = min(each.opened for each in self._classes.values()) + 60 * CLASS_MINUTES - now
            template = "This server has {most} classes, as many as it can. Try again in {minutes} minutes, or sooner."
            raise LessonError(template, most=CLASSES, minutes=max(1, round(soonest / 60)))
        del self._classes[code]


def _new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


_SHARED = Classes()


def classes() -> Classes:
    """The classes of this process."""
    return _SHARED
