"""The function words of both languages: pronouns, determiners, numbers, degrees."""

from dataclasses import dataclass
from typing import NamedTuple

from transformer.tasks.conversation.lexicon import Agreement, Number
from transformer.tasks.conversation.path import Table


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun: `subject` and `object` in English, the other forms in French (`french` is the subject).

    So that every English sentence has one translation, `you` is always `tu`; `i`, `you` and `we` are masculine, and so are `it`
    and `they` without an antecedent. `indirect` and `stressed` are empty for `it`, which is not a person.
    """

    subject: str
    object: str
    agreement: Agreement
    french: str
    direct: str
    indirect: str
    stressed: str
    reflexive: str


PRONOUNS = (
    Pronoun("i", "me", Agreement("m", False, 0), "je", "me", "me", "moi", "me"),
    Pronoun("you", "you", Agreement("m", False, 1), "tu", "te", "te", "toi", "te"),
    Pronoun("he", "him", Agreement("m", False, 2), "il", "le_", "lui", "lui", "se"),
    Pronoun("she", "her", Agreement("f", False, 2), "elle", "la_", "lui", "elle", "se"),
    Pronoun("it", "it", Agreement("m", False, 2), "il", "le_", "", "", "se"),
    Pronoun("we", "us", Agreement("m", True, 3), "nous", "nous", "nous", "nous", "nous"),
    Pronoun("they", "them", Agreement("m", True, 4), "ils", "les_", "leur", "eux", "se"),
)
REFLEXIVE = ("me", "te", "se", "nous", "se")
# Objects that would be reflexive with this subject. The grammar does not parse them.
SAME_PERSON = {"i": ("me", "us"), "we": ("us", "me"), "you": ("you",)}
THIRD_PERSON = {("m", False): "il", ("f", False): "elle", ("m", True): "ils", ("f", True): "elles"}

SUBJECTS = Table([(p.subject, p) for p in PRONOUNS], [4, 3, 2, 2, 0.5, 2, 2])
PERSON_SUBJECTS = Table([(p.subject, p) for p in PRONOUNS if p.subject != "it"], [4, 3, 2, 2, 2, 2])
ASKED_SUBJECTS = Table([(p.subject, p) for p in PRONOUNS if p.subject not in ("it", "you")], [1, 3, 3, 1.5, 3])
OBJECTS = Table([(p.object, p) for p in PRONOUNS], [2, 2, 1.5, 1.5, 1.5, 1, 1.5])
PERSON_OBJECTS = Table([(p.object, p) for p in PRONOUNS if p.object != "it"])
THING_OBJECTS = Table([(p.object, p) for p in PRONOUNS if p.object in ("it", "them")], [3, 2])


class Determiner(NamedTuple):
    """A determiner: its French forms (masculine, feminine, plural), the numbers of the English nouns that it goes with
    (singular, plural, mass) and its sense.

    The sense decides the French form. "definite" and "number" never change; "a" and "some" become `de` after a negation;
    "quantity" has `de` after it; "bare" is for a phrase without an English determiner, and "none" without a French one.
    """

    masculine: str
    feminine: str
    plural: str
    numbers: tuple[Number, ...]
    sense: str

    @property
    def is_possessive(self) -> bool:
        return self.masculine in ("mon", "ton", "son")


ANY: tuple[Number, ...] = ("singular", "plural", "mass")
ONE: tuple[Number, ...] = ("singular",)
MANY: tuple[Number, ...] = ("plural",)
DETERMINERS = {
    "the": Determiner("le", "la", "les", ("singular", "singular", "plural", "mass"), "definite"),
    "a": Determiner("un", "une", "", ONE, "a"),
    "some": Determiner("", "", "des", ("plural", "mass"), "some"),
    "any": Determiner("", "", "des", ("plural", "mass"), "some"),
    "this": Determiner("ce", "cette", "ces", ("singular", "singular", "mass"), "definite"),
    "that": Determiner("ce", "cette", "ces", ("singular", "singular", "mass"), "definite"),
    "these": Determiner("ce", "cette", "ces", MANY, "definite"),
    "those": Determiner("ce", "cette", "ces", MANY, "definite"),
    "my": Determiner("mon", "ma", "mes", ("singular", "singular", "plural", "mass"), "definite"),
    "your": Determiner("ton", "ta", "tes", ("singular", "singular", "plural", "mass"), "definite"),
    "his": Determiner("son", "sa", "ses", ("singular", "singular", "plural", "mass"), "definite"),
    "her": Determiner("son", "sa", "ses", ("singular", "singular", "plural", "mass"), "definite"),
    "our": Determiner("notre", "notre", "nos", ("singular", "singular", "plural", "mass"), "definite"),
    "their": Determiner("leur", "leur", "leurs", ("singular", "singular", "plural", "mass"), "definite"),
    "many": Determiner("", "", "beaucoup", MANY, "quantity"),
    "a lot of": Determiner("", "", "beaucoup", ("plural", "mass"), "quantity"),
    "too many": Determiner("", "", "trop", MANY, "quantity"),
    "every": Determiner("chaque", "chaque", "", ONE, "definite"),
}
# A phrase with `no` is negated in French: `no milk` is `pas de lait`.
NO = Table([("no", Determiner("un", "une", "des", ANY, "some"))])
BARE = Determiner("", "", "des", ("plural", "mass"), "bare")
NO_ARTICLE = Determiner("", "", "", ("singular", "plural"), "none")
POSSESSIVES = ("my", "your", "his", "her", "our", "their")

UNITS = {
    "one": "un",
    "two": "deux",
    "three": "trois",
    "four": "quatre",
    "five": "cinq",
    "six": "six",
    "seven": "sept",
    "eight": "huit",
    "nine": "neuf",
}
TEENS = {
    "ten": "dix",
    "eleven": "onze",
    "twelve": "douze",
    "thirteen": "treize",
    "fourteen": "quatorze",
    "fifteen": "quinze",
    "sixteen": "seize",
    "seventeen": "dix-sept",
    "eighteen": "dix-huit",
    "nineteen": "dix-neuf",
    "twenty": "vingt",
}
TENS = {"twenty": "vingt", "thirty": "trente", "forty": "quarante", "fifty": "cinquante", "sixty": "soixante"}
HIGH = {"thirty": "trente", "forty": "quarante", "fifty": "cinquante", "sixty": "soixante", "seventy": "soixante-dix"} | {
    "eighty": "quatre-vingts",
    "ninety": "quatre-vingt-dix",
    "one hundred": "cent",
    "a hundred": "cent",
}
# `twenty one` is three French words (`vingt et un`), but `twenty two` is one French word (`vingt-deux`).
COMPOUND = {
    f"{ten} {unit}": f"{french} et un" if unit == "one" else f"{french}-{of_unit}"
    for ten, french in TENS.items()
    for unit, of_unit in UNITS.items()
}
NUMBERS = {**UNITS, **TEENS, **HIGH, **COMPOUND}

COUNTS = {word: Determiner(french, french, french, MANY, "number") for word, french in (UNITS | TEENS).items() if word != "one"}
COUNTS["one"] = DETERMINERS["a"]._replace(sense="number")

_WEIGHTS = {"the": 9.0, "a": 7.0, "some": 1.2, "any": 1.5, "my": 4.0, "your": 2.0, "every": 0.1, "too many": 0.15}


def _table(words: tuple[str, ...], counts: bool = True) -> Table[Determiner]:
    chosen = {word: DETERMINERS[word] for word in words} | (COUNTS if counts else {})
    weights = [_WEIGHTS.get(word, 0.12 if word in COUNTS else 0.8) for word in chosen]
    return Table(list(chosen.items()), weights)


def determiners(text: str) -> Table[Determiner]:
    """A table of English determiners with sampling weights, from a text like `the 5, a 2`."""
    weights = {word: float(weight) for word, weight in (entry.rsplit(" ", 1) for entry in text.split(", "))}
    return Table([(word, DETERMINERS[word]) for word in weights], list(weights.values()))


_FOR_ALL = ("the", "a", "this", "that", "these", "those", *POSSESSIVES)
# The determiners of an object in a statement, after a negation, and in a question.
BY_POLARITY = {
    "positive": _table((*_FOR_ALL, "some", "many", "a lot of", "too many", "every")),
    "negative": _table((*_FOR_ALL, "any", "many")),
    "question": _table((*_FOR_ALL, "any", "some")),
}
DEFINITE = _table(("the", "this", "that", "these", "those", *POSSESSIVES), counts=False)
OWNERS = Table([(word, DETERMINERS[word]) for word in ("the", *POSSESSIVES)], [1, 4, 2, 2, 2, 1.5, 1])

DEGREES: Table[str] = Table(
    [("very", "très"), ("too", "trop"), ("so", "si"), ("really", "vraiment"), ("a little", "un peu")], [4, 2, 1, 1, 0.5]
)
