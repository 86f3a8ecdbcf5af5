"""The tree of a sentence, the same for both languages."""

from dataclasses import dataclass
from typing import Literal

from transformer.worlds.french.adjectives import Adjective
from transformer.worlds.french.function_words import Agreement, Pronoun
from transformer.worlds.french.nouns import Noun
from transformer.worlds.french.verbs import Verb

# crosses, is crossing, crossed, was crossing. French has one form for the first two.
Tense = Literal["present", "progressive", "past", "imperfect"]


@dataclass(frozen=True)
class NounPhrase:
    """A noun with its determiner, a key of `DETERMINERS`, and its adjectives in the English order."""

    determiner: str
    noun: Noun
    plural: bool = False
    adjectives: tuple[Adjective, ...] = ()
    of: "NounPhrase | None" = None
    relative: "Relative | None" = None

    @property
    def agreement(self) -> Agreement:
        return Agreement(self.noun.gender, self.plural, 4 if self.plural else 2)


Nominal = NounPhrase | Pronoun


@dataclass(frozen=True)
class Predicate:
    """`was too tired`. `degree` is a key of `DEGREES`, or empty."""

    degree: str
    adjective: Adjective


@dataclass(frozen=True)
class Place:
    """`near the house`. `preposition` is a key of `PREPOSITIONS`."""

    preposition: str
    nominal: Nominal

    def suits(self, verb: Verb) -> bool:
        """Whether it can follow this verb: `go` needs a destination, and only some verbs take `from` or `to`."""
        if self.preposition in ("from", "to"):
            return self.preposition in verb.directions
        return self.preposition not in ("with", "without") or not verb.needs_place


@dataclass(frozen=True)
class VerbPhrase:
    """Either `predicate` after `be`, in the present or the imperfect, or `verb` with its complements."""

    tense: Tense
    negated: bool = False
    predicate: Predicate | None = None
    verb: Verb | None = None
    object: Nominal | None = None
    recipient: Nominal | None = None
    place: Place | None = None


@dataclass(frozen=True)
class Relative:
    """`that sleeps`, or with its own subject `that the man sees`: then the noun is the verb's object."""

    word: Literal["that", "who"]
    subject: Nominal | None
    phrase: VerbPhrase


@dataclass(frozen=True)
class Clause:
    subject: Nominal
    phrase: VerbPhrase


@dataclass(frozen=True)
class Reason:
    """`because it was too tired`."""

    pronoun: Pronoun
    tense: Literal["present", "imperfect"]
    predicate: Predicate


@dataclass(frozen=True)
class Sentence:
    """`question`: followed by `what was tired ?`. `time` is a key of `TIMES`, or empty."""

    clause: Clause
    reason: Reason | None = None
    time: str = ""
    period: bool = False
    question: bool = False
