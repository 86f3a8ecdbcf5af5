"""The data of a lesson: its stops, each a view of a page with words and perhaps a question. `reading` checks the values."""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal, NamedTuple

from transformer.errors import HeadlightError

# What can be drawn above the page once a stop's question is answered (`playing/experiment.py`): the answers without and with an
# edit, the probability of each token of the answer, a row of attention without and with the edit, a row in each head of its
# layer, the vectors behind a row, answers that are drawn, answers before and after the training of the model, and the trainings
# of two models with their answers.
PICTURES = ("answers", "probabilities", "row", "heads", "vectors", "draws", "snapshots", "trainings")
QuestionKind = Literal["choose", "tokens", "order", "number"]
# Kinds of attention, as in `transformer.tracing.paths.Kind`.
KINDS = ("encoder", "decoder", "cross")
SIDES = ("source", "target")


class Phase(IntEnum):
    """The phase of a question in a class. Mazur's peer instruction (1997): what students say to one another between two votes
    teaches more than the explanation after them."""

    VOTE = 0
    TALK = 1
    AGAIN = 2
    REVEAL = 3


class LessonError(HeadlightError):
    """A lesson that cannot be opened, or a question whose truth cannot be computed."""


@dataclass(frozen=True)
class TruthForm:
    """The form of a truth, which is the right answer to a question: the kind of its value, and the settings that it reads.

    Attributes:
        gives: the kind of value. A `row` is a number for each token; an `option` is the right one of the question's options.
        needs: the settings that a lesson must give.
        may: the settings that a lesson may give.
    """

    gives: Literal["number", "row", "yes or no", "option"]
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


HEAD = ("kind", "layer", "head")
# All truths that a question can have, by name. Each is computed from the run of the stop's own view.
TRUTHS: dict[str, TruthForm] = {
    "attention-weight": TruthForm("number", ("query", "key"), HEAD),
    "most-attended-key": TruthForm("number", ("query",), HEAD),
    "sum-of-weights": TruthForm("number", ("query",), HEAD),
    "token-count": TruthForm("number", ("side",)),
    "head-count": TruthForm("number"),
    "head-width": TruthForm("number"),
    "score": TruthForm("number", ("query", "key"), HEAD),
    "scaled-score": TruthForm("number", ("query", "key"), HEAD),
    "vector-length": TruthForm("number"),
    "next-word-probability": TruthForm("number", ("query",), ("token",)),
    "attention-row": TruthForm("row", ("query",), HEAD),
    "mask-row": TruthForm("row", ("query",)),
    "most-alike-position": TruthForm("row", ("query",)),
    "next-token": TruthForm("option", ("query",)),
    "parting-token": TruthForm("option"),
    "most-restoring-head": TruthForm("option"),
    "most-needed-head": TruthForm("option"),
    "head-role": TruthForm("option", (), HEAD),
    "head-is-needed": TruthForm("option", (), HEAD),
    "restored-share": TruthForm("number", (), HEAD),
    "lost-share": TruthForm("number", (), HEAD),
    "silence-changes-answer": TruthForm("yes or no", (), HEAD),
    "edit-changes-answer": TruthForm("yes or no", ("edit",)),
}

# Truths of two texts that are patched. All but the first are about heads. The page Patching shows nothing about heads while
# such a question waits for its answer.
PATCHED = (
    "parting-token",
    "most-restoring-head",
    "most-needed-head",
    "head-role",
    "head-is-needed",
    "restored-share",
    "lost-share",
)
ABOUT_HEADS = PATCHED[1:]


@dataclass(frozen=True, kw_only=True)
class Truth:
    """How to compute the right answer to a question from the run of the stop's view.

    Attributes:
        name: a name in `TRUTHS`.
        kind, layer, head: the attention head that is meant. Layer and head are counted from 1. Empty or 0 means the value
            in the view.
        query, key: a token, or a position counted from 0. If a token occurs several times, the first one is meant. Empty if the
            truth does not need it.
        side: one of `SIDES`, whose tokens are counted; empty if the truth does not need it.
        token: a token of the output; empty for the most probable one.
        edit: phrases of `transformer.tracing.phrases`, such as `no positions`, separated by `; `.
    """

    name: str
    kind: str = ""
    layer: int = 0
    head: int = 0
    query: str = ""
    key: str = ""
    side: str = ""
    token: str = ""
    edit: str = ""

    @property
    def form(self) -> TruthForm:
        return TRUTHS[self.name]


class Value(NamedTuple):
    """The right answer to a question, computed from the model run that the stop of the lesson shows.

    Attributes:
        number: the number. For yes or no it is 1 or 0. For options it is the place of the right one, counted from 0.
        row: a number for each token: its weight in a row of attention, 1 or 0 in a row of a mask, the cosine of its position's
            vector, or its probability.
        tokens: the tokens of that row.
        words: texts to fill into the sentence about the value, as (name, text) pairs.
    """

    number: float = 0.0
    row: tuple[float, ...] = ()
    tokens: tuple[str, ...] = ()
    words: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question.

    Attributes:
        kind: what the learner does: `choose` one option, choose `tokens` of a row, put the options in `order`, or fill in a
            `number`.
        ask: the words of the question.
        options: the options to choose from. For `order`, they are in the right order.
        reasons: for `choose`, why each option is right or wrong. For other kinds, at most one, for any wrong answer.
        answer: for `choose`, the right option, counted from 1. It is 0 if the truth decides, for example between no (1) and
            yes (2).
        truth: the right answer of `tokens`, of `number`, and of `choose` without `answer`.
        tolerance: the largest difference at which a number still counts as right.
        enough: the share of a row of attention that the chosen tokens must have together.
        most: how many tokens may be chosen.
    """

    kind: QuestionKind
    ask: str
    options: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    answer: int = 0
    truth: Truth | None = None
    tolerance: float = 0.0
    enough: float = 0.5
    most: int = 2

    @property
    def asks(self) -> str:
        """The name of the truth; empty if the lesson itself contains the right answer."""
        return self.truth.name if self.truth else ""


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop of a lesson.

    Attributes:
        title, say: the words at the beginning of the stop.
        page: the name of the page that the stop opens.
        view: the parameters of its link, as (name, value) pairs.
        head: a head that the model's card names. The view gets its kind, layer and head. Empty for none.
        row: the token whose row is framed on the map of the head. Empty for the row that the question asks about, if any.
        edit: phrases of `transformer.tracing.phrases`, separated by `; `. The edit is made once the question is answered. Empty
            for the edit that the question asks about, if any.
        pictures: names in `PICTURES` of what is drawn above the page once the question is answered. If it is empty and there is
            an edit, the first two are drawn.
        beside: a second model for these pictures: its answers to the same edit, or its training. Empty for none.
        others: more source texts, whose answers without and with the edit are listed below the answers.
        place: the part of the page to scroll to; empty for the top.
        cover: whether the page is hidden until the question is answered. Needed if the page shows the answer.
        reveal: the words after the answer. A stop without a question shows them at once.
        notes, minutes: notes for the teacher, and the planned time.
        core: whether the stop is also in the short form of the lesson.
    """

    title: str
    say: str
    page: str
    view: tuple[tuple[str, str], ...] = ()
    head: str = ""
    row: str = ""
    edit: str = ""
    pictures: tuple[str, ...] = ()
    beside: str = ""
    others: tuple[str, ...] = ()
    place: str = ""
    cover: bool = False
    question: Question | None = None
    reveal: str = ""
    notes: str = ""
    minutes: float = 1.0
    core: bool = False

    @property
    def truth(self) -> Truth | None:
        return self.question.truth if self.question else None

    @property
    def asks(self) -> str:
        """The name of the truth of the question; empty without one."""
        return self.truth.name if self.truth else ""

    @property
    def makes_edit(self) -> bool:
        """Whether the stop or its question names an edit of the model."""
        return bool(self.edit) or (self.truth is not None and self.truth.form.gives == "yes or no")

    @property
    def drawn(self) -> tuple[str, ...]:
        """The names of the pictures that are drawn above the page once the question is answered."""
        return self.pictures or (PICTURES[:2] if self.makes_edit else ())


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson.

    Attributes:
        about, audience: one or two sentences about the lesson, and for whom it is.
        discuss: whether learners discuss an answer, and may change it, before it is judged, as in a class.
        order: place in the list of lessons.
        learnt: lines about what the lesson has shown, for its end.
        core_title, core_about: title and about of the short form, which has only the `core` stops; empty for no short form.
    """

    title: str
    stops: tuple[Stop, ...]
    about: str = ""
    audience: str = ""
    discuss: bool = False
    order: int = 0
    learnt: tuple[str, ...] = ()
    core_title: str = ""
    core_about: str = ""

    @property
    def minutes(self) -> float:
        """The planned minutes of all stops together."""
        return sum(stop.minutes for stop in self.stops)

    @property
    def short_form(self) -> "Lesson | None":
        """The lesson with only its core stops; None if it has no short form."""
        stops = tuple(stop for stop in self.stops if stop.core)
        if not self.core_title or not stops:
            return None
        return replace(self, title=self.core_title, about=self.core_about, stops=stops, core_title="", core_about="")

    @property
    def questions(self) -> tuple[int, ...]:
        """The indices of the stops that have a question."""
        return tuple(index for index, stop in enumerate(self.stops) if stop.question)
