"""The function words: determiners, pronouns, prepositions, degrees and times."""

from dataclasses import dataclass
from typing import NamedTuple

from transformer.worlds.french.nouns import Gender


class Agreement(NamedTuple):
    """Gender, number and person that a French word agrees with. `slot` counts je, tu, il, nous, ils from 0."""

    gender: Gender
    plural: bool
    slot: int


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun.

    Conventions, so that every English sentence has one translation: `you` is `tu`; `i`, `you` and `we` are masculine,
    and so are `it` and `they` without an antecedent. `indirect` and `stressed` are empty for `it`, which is not a
    person.
    """

    subject: str
    object: str
    agreement: Agreement
    french: str
    direct: str
    indirect: str
    stressed: str


PRONOUNS = (
    Pronoun("i", "me", Agreement("m", False, 0), "je", "me", "me", "moi"),
    Pronoun("you", "you", Agreement("m", False, 1), "tu", "te", "te", "toi"),
    Pronoun("he", "him", Agreement("m", False, 2), "il", "le", "lui", "lui"),
    Pronoun("she", "her", Agreement("f", False, 2), "elle", "la", "lui", "elle"),
    Pronoun("it", "it", Agreement("m", False, 2), "il", "le", "", ""),
    Pronoun("we", "us", Agreement("m", True, 3), "nous", "nous", "nous", "nous"),
    Pronoun("they", "them", Agreement("m", True, 4), "ils", "les", "leur", "eux"),
)
SUBJECTS = {pronoun.subject: pronoun for pronoun in PRONOUNS}
OBJECTS = {pronoun.object: pronoun for pronoun in PRONOUNS}
# Subjects and the objects excluded with them: the grammar has no reflexive pronouns.
REFLEXIVE = {"i": ("me", "us"), "we": ("us", "me"), "you": ("you",)}


class Determiner(NamedTuple):
    """The French forms of a determiner; empty if the English is not used with that number."""

    masculine: str
    feminine: str
    plural: str


# `any` is the plural `a` of a negated object: `i do not see any cats` → `je ne vois pas de chats`.
DETERMINERS = {
    "the": Determiner("le", "la", "les"),
    "a": Determiner("un", "une", ""),
    "some": Determiner("", "", "des"),
    "any": Determiner("", "", "de"),
    "this": Determiner("ce", "cette", ""),
    "that": Determiner("ce", "cette", ""),
    "these": Determiner("", "", "ces"),
    "those": Determiner("", "", "ces"),
    "my": Determiner("mon", "ma", "mes"),
    "your": Determiner("ton", "ta", "tes"),
    "his": Determiner("son", "sa", "ses"),
    "her": Determiner("son", "sa", "ses"),
    "our": Determiner("notre", "notre", "nos"),
    "their": Determiner("leur", "leur", "leurs"),
    "two": Determiner("", "", "deux"),
    "three": Determiner("", "", "trois"),
}
POSSESSIVES = frozenset({"my", "your", "his", "her", "our", "their"})
INDEFINITES = frozenset({"a", "some", "any"})

PREPOSITIONS = {
    "in": ("dans",),
    "on": ("sur",),
    "under": ("sous",),
    "behind": ("derrière",),
    "near": ("près", "de"),
    "with": ("avec",),
    "without": ("sans",),
    "from": ("de",),
    "to": ("à",),
}
DEGREES = {"too": "trop", "very": "très", "so": "si"}
TIMES = {"today": "aujourd'hui", "yesterday": "hier", "now": "maintenant", "here": "ici"}
