"""The data of a lesson: its stops, each a page with settings, a text and perhaps a question. `reading` checks the values."""

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
    """The phase of a question that a class answers together: the students vote, talk about it and vote again; then the right
    answer is revealed. This is peer instruction (Mazur 1997)."""

    VOTE = 0
    TALK = 1
    AGAIN = 2
    REVEAL = 3


class LessonError(HeadlightError):
    """Raised if a lesson, a class or a hand-in code cannot be used, or the right answer to a question cannot be computed."""


@dataclass(frozen=True)
class TruthForm:
    """The form of a computed right answer: the kind of its value, and the fields of `Truth` that a lesson sets for it.

    Attributes:
        gives: the kind of value. A `row` is a number for each token; an `option` is the right one of the question's options.
        needs: the fields that a lesson must set.
        may: the fields that a lesson may set.
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
    """How the right answer to a question is computed, from a run of the model on the text that the lesson shows.

    Attributes:
        name: what is computed, such as `attention-weight`; a key of `TRUTHS`.
        kind, layer, head: the attention head: `encoder`, `decoder` or `cross`; layer and head counted from 1. Empty or 0 means
            the value in `Stop.view`.
        query, key: a token, or a position counted from 0. Of equal tokens, the first one is meant. Empty if not needed.
        side: `source` or `target`, whose tokens are counted; empty if not needed.
        token: a token of the output; empty for the most probable one.
        edit: edits of the model as phrases, such as `no positions`, separated by `; ` (`transformer.tracing.phrases`).
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
    """The right answer to a question, computed from a run of the model on the text that the lesson shows.

    Attributes:
        number: the number. For yes or no it is 1 or 0. For options it is the index of the right one, counted from 0.
        row: a number for each token: its weight in a row of attention, 1 or 0 in a row of a mask, the cosine between its
            position's vector and that of the asked position, or its probability.
        tokens: the tokens of that row.
        words: texts to fill into the sentence about the value, as (name, text) pairs.
    """

    number: float = 0.0
    row: tuple[float, ...] = ()
    tokens: tuple[str, ...] = ()
    words: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question of a lesson, and how its answer is judged.

    Attributes:
        kind: what the learner does: `choose` one option, choose `tokens` from a row, put the options in `order`, or fill in a
            `number`.
        ask: the words of the question.
        options: the options to choose from. For `order`, they are in the right order.
        reasons: for `choose`, why each option is right or wrong. For other kinds, at most one, for any wrong answer.
        answer: for `choose`, the right option, counted from 1. It is 0 if `truth` decides, such as between no (1) and yes (2).
        truth: how the right answer is computed, for `tokens`, for `number`, and for `choose` without `answer`; otherwise None.
        tolerance: the largest difference at which a number still counts as right.
        enough: the sum, from 0 to 1, that the attention weights of the chosen tokens must reach.
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
        """The `Truth.name` of the right answer, such as `score`; empty if the lesson itself contains the right answer."""
        return self.truth.name if self.truth else ""


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop (step) of a lesson: a page of the app with given settings, a text, and perhaps a question.

    Attributes:
        title, say: the heading and the text that are shown first.
        page: the name of the page that the stop opens.
        view: the URL parameters with which the page opens, as (name, value) pairs.
        head: an attention head by its name on the model's card, such as `encoder.previous`, added to the view; may be empty.
        row: the query token whose row is framed on the attention map of the head. If it is empty, the row of the question.
        edit: edits of the model as phrases, such as `no positions`, separated by `; `. They are made once the question is
            answered. Empty for the edit that the question asks about, if any.
        pictures: names in `PICTURES` of what is drawn above the page once the question is answered. If it is empty and there is
            an edit, the first two are drawn.
        beside: a second model, whose answers to the same edit, or whose training, the pictures show, too; may be empty.
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
        """The `Truth.name` of the question's right answer, such as `score`; empty if the right answer is not computed."""
        return self.truth.name if self.truth else ""

    @property
    def makes_edit(self) -> bool:
        """Whether the stop (a step of a lesson) or its question names an edit of the model."""
        return bool(self.edit) or (self.truth is not None and self.truth.form.gives == "yes or no")

    @property
    def drawn(self) -> tuple[str, ...]:
        """The names of the pictures that are drawn above the page once the question is answered."""
        return self.pictures or (PICTURES[:2] if self.makes_edit else ())


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson: a sequence of stops (steps), each of which opens a page of the app.

    Attributes:
        about, audience: one or two sentences about the lesson, and for whom it is.
        discuss: whether learners discuss an answer, and may change it, before it is judged, as in a class.
        order: place in the list of lessons.
        learnt: lines about what the lesson has shown, drawn at its end.
        core_title, core_about: title and about of the short form, which has only the `core` stops; may be empty.
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
        """The planned minutes of all stops (steps) together."""
        return sum(stop.minutes for stop in self.stops)

    @property
    def short_form(self) -> "Lesson | None":
        """A lesson with only the core stops of this one; None without a core title or without core stops."""
        stops = tuple(stop for stop in self.stops if stop.core)
        if not self.core_title or not stops:
            return None
        return replace(self, title=self.core_title, about=self.core_about, stops=stops, core_title="", core_about="")

    @property
    def questions(self) -> tuple[int, ...]:
        """The indices, from 0, of the stops (steps) that have a question."""
        return tuple(index for index, stop in enumerate(self.stops) if stop.question)
