"""What a lesson is: stops, each a view of a page with words and perhaps a question. Values only; `reading` checks them."""

from dataclasses import dataclass
from typing import Literal

from transformer.errors import HeadlightError

QuestionKind = Literal["choose", "tokens", "order", "number"]
# Kinds of attention, as in `transformer.tracing.paths.Kind`.
KINDS = ("encoder", "decoder", "cross")
SIDES = ("source", "target")


class LessonError(HeadlightError):
    """A lesson that cannot be opened, or a question whose truth cannot be computed."""


@dataclass(frozen=True)
class TruthForm:
    """What a truth gives, and which of its settings it reads.

    Attributes:
        gives: `number`, `row` (a number for each token), `yes or no`, or `option` (which of the question's options is right).
        needs: settings that must be given.
        may: settings that may be given.
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
    "silence-changes-answer": TruthForm("yes or no", (), HEAD),
    "edit-changes-answer": TruthForm("yes or no", ("edit",)),
}


@dataclass(frozen=True, kw_only=True)
class Truth:
    """A truth to compute from the run of a stop's view.

    Attributes:
        name: of `TRUTHS`.
        kind, layer, head: of the attention; layer and head counted from 1. Empty or 0: those of the view.
        query, key: a token, of which the first is taken, or a position counted from 0; empty if the truth has none.
        side: `source` or `target`.
        token: of the output; empty for the most probable one.
        edit: phrases of `transformer.tracing.phrases`, such as `no positions`; `; ` between several.
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


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question.

    Attributes:
        kind: choose one option; choose tokens of a row; put the options in order; fill in a number.
        ask: its words.
        options: to choose from; of `order`, in the right order.
        reasons: of `choose`, for each option why it is right or wrong; otherwise none, or one for any wrong answer.
        answer: the right option of `choose`, counted from 1; 0 where a truth decides, such as between no (1) and yes (2).
        truth: of `tokens` and `number`, and of `choose` without `answer`.
        tolerance: how far a number may be off.
        enough: of a row of attention, the share that the chosen tokens must have.
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


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop of a lesson.

    Attributes:
        title, say: what is read first.
        page: the name of the page it opens.
        view: the parameters of its link, as (name, value) pairs.
        head: a head that the model's card names, whose kind, layer and head the view gets; empty for none.
        place: the part of the page to scroll to; empty for the top.
        cover: whether the page is hidden until the question is answered, because it shows the answer.
        question: asked after `say`.
        reveal: shown after the answer; at once in a stop without a question.
        notes: for the teacher.
        minutes: how long it takes.
    """

    title: str
    say: str
    page: str
    view: tuple[tuple[str, str], ...] = ()
    head: str = ""
    place: str = ""
    cover: bool = False
    question: Question | None = None
    reveal: str = ""
    notes: str = ""
    minutes: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson.

    Attributes:
        title, about: its name, and one or two sentences on it.
        audience: for whom it is.
        stops: at least one.
        discuss: whether an answer can be discussed and changed before it is judged, as in a class.
        order: its place in the list of lessons.
    """

    title: str
    stops: tuple[Stop, ...]
    about: str = ""
    audience: str = ""
    discuss: bool = False
    order: int = 0

    @property
    def minutes(self) -> float:
        """How long it takes."""
        return sum(stop.minutes for stop in self.stops)

    @property
    def questions(self) -> tuple[int, ...]:
        """The stops that have a question, counted from 0."""
        return tuple(index for index, stop in enumerate(self.stops) if stop.question)
