"""`Card`: the record of a model's training and accuracy. The model's checkpoint contains it."""

import dataclasses
import json
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from transformer.errors import CheckpointError

MOST = 1 << 60  # upper limit of every number on a card, small enough to be formatted
# In the measure `doubt` of a translator, an answer is poor if its chrF against the nearest translation, 0 to 100, is below
# this.
POOR = 50


@dataclass(frozen=True, kw_only=True)
class Card:
    """The record of a model's training and accuracy, stored in the model's checkpoint.

    Attributes:
        task: the name of the task that the model was trained on; empty for an untrained model.
        description: one line about the model, for a list of models.
        accepts: description of the texts that the model accepts.
        longest: length in tokens of the longest source in training; for an untrained model, of the longest source it reads.
        command: the command line that trains the model, or empty.
        recipe: every setting of the run, by name (seed, steps, batch, learning rate, …).
        trained_on: number of pairs (source and right answer) that the model was trained on, repetitions included.
        minutes: duration of the training in minutes.
        machine: hardware of the training.
        tested_on: number of held-out pairs that the model was tested on.
        accuracy: share of these pairs that the model answered exactly, 0 to 1.
        accuracy_by_form: group of pairs, such as "length 7" → this share in the group.
        history: for each check during training, `step`, `loss`, and usually `accuracy` on held-out pairs and `seconds`.
        measures: other measurements, by name. `pronouns` contains `layer` and `head`, counted from 1, of the cross-attention
            head whose attention moves most to the noun that a pronoun refers to.
    """

    task: str
    description: str
    accepts: str
    longest: int
    command: str
    recipe: dict[str, Any] = field(default_factory=dict)
    trained_on: int = 0
    minutes: float = 0.0
    machine: str = ""
    tested_on: int = 0
    accuracy: float = 0.0
    accuracy_by_form: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, int | float]] = field(default_factory=list)
    measures: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_json(self) -> str:
        """This record of a training as the text of a JSON object, with every field under its name.

        Raises:
            CheckpointError: JSON or UTF-8 cannot represent the value of a field.
        """
        try:
            text = json.dumps(dataclasses.asdict(self), ensure_ascii=False)
            text.encode()  # half of a surrogate pair has no UTF-8 encoding
        except (TypeError, ValueError, RecursionError) as error:
            raise CheckpointError("The card cannot be written ({problem}).", problem=str(error)) from None
        return text

    @classmethod
    def from_json(cls, text: str) -> "Card":
        """The record of a training (`Card`) whose `to_json` returned this text.

        Raises:
            CheckpointError: `text` is not the JSON of a card; a field has another type; or a number is negative, not finite, or
                an accuracy above 1.
        """
        try:
            values = _with_task(json.loads(text))
            for name, hint in get_type_hints(cls).items():
                if name in values:
                    _check_field(name, values[name], hint)
            card = cls(**values)
            if not all({"step", "loss"} <= check.keys() for check in card.history):
                raise CheckpointError("Each check in the history of a card has a step and a loss; here one is missing.")
            card.to_json()  # raises if a text has no UTF-8 encoding
            return card
        except (TypeError, ValueError, RecursionError) as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError("{text!r} is not a Headlight card.", text=text) from None


def _with_task(values: Any) -> Any:
    """The fields of a card, with `world` renamed `task`, also in its recipe: the files of the shipped models have the old
    name."""
    if not isinstance(values, dict):
        return values
    renamed = values if "task" in values else {"task" if name == "world" else name: value for name, value in values.items()}
    return renamed if renamed.get("recipe") is None else renamed | {"recipe": _with_task(renamed["recipe"])}


def _check_field(name: str, value: Any, hint: Any) -> None:
    most = 1 if name.startswith("accuracy") else MOST
    if fits(value, hint, most):
        return
    if hint is str:
        raise CheckpointError("The card's {name} is {value!r}; it must be a text.", name=name, value=value)
    if hint is int:
        raise CheckpointError(
            "The card's {name} is {value!r}; it must be a whole number from 0 to {most}.", name=name, value=value, most=most
        )
    if hint is float:
        raise CheckpointError(
            "The card's {name} is {value!r}; it must be a number from 0 to {most}.", name=name, value=value, most=most
        )
    raise CheckpointError(
        "The card's {name} is {value!r}; it must be of the form {form}, with numbers from 0 to {most}.",
        name=name,
        value=value,
        form=str(hint),
        most=most,
    )


def fits(value: Any, hint: Any, most: int = MOST) -> bool:
    """Whether a value read from JSON matches a type hint, and its numbers are from 0 to `most`. A part whose hint is `Any` is
    not checked. Negative numbers never match, because cards and states of training runs have only counts, shares, losses and
    times."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind is Any:
        return True
    if kind is UnionType:
        return any(fits(value, part, most) for part in inner)
    if kind is list:
        return isinstance(value, list) and all(fits(item, inner[0], most) for item in value)
    if kind is dict:
        return isinstance(value, dict) and all(fits(item, inner[1], most) for item in value.values())
    if kind is str:
        return isinstance(value, str)
    return isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool) and 0 <= value <= most
