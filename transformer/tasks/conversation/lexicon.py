"""The words of the grammar, read from the files in `data`, with all forms that the grammar uses."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Literal, NamedTuple

from transformer.tasks.conversation.inflection import (
    Five,
    Four,
    english_ed,
    english_ing,
    english_s,
    four_forms,
    french_plural,
    imperfect,
    participle,
    present,
)

Gender = Literal["m", "f"]
Number = Literal["singular", "plural", "mass"]

PEOPLE = frozenset({"person", "family", "job", "friend"})
ANIMATE = PEOPLE | {"animal"}


class Agreement(NamedTuple):
    """Gender, number and person that a French word agrees with. `slot` is the index of the person in je, tu, il, nous, ils,
    from 0."""

    gender: Gender
    plural: bool
    slot: int

    def of(self, forms: Four) -> str:
        """The form that agrees, out of masculine, feminine, masculine plural and feminine plural."""
        return forms[2 * self.plural + (self.gender == "f")]


@dataclass(frozen=True)
class Noun:
    """An English noun and its French translation.

    Attributes:
        singular, plural: the English forms; empty if the grammar does not use that number.
        mass: whether the singular can be used without an article (`i drink milk`).
        countable: whether the singular can be used with `a`.
        french: masculine, feminine, masculine plural, feminine plural. The forms of one gender are empty, unless the noun has
            both genders.
        gender: gender of the French noun; if it has both, the gender when it describes no particular person (`the nurse` →
            `l'infirmière`).
        kind: kind of noun, such as "animal".
        always: the number of the French noun, if it is the same for both numbers of the English noun (`hair` → `cheveux`,
            `trousers` → `pantalon`); otherwise None.
    """

    singular: str
    plural: str
    mass: bool
    countable: bool
    french: Four
    gender: Gender
    kind: str
    always: Number | None = None

    @property
    def is_definite_when_bare(self) -> bool:
        return self.kind in DEFINITE_KINDS or self.singular in DEFINITE_WHEN_BARE

    @property
    def has_both_genders(self) -> bool:
        return all(self.french)


class NounForm(NamedTuple):
    """An English form of a noun, and its number."""

    noun: Noun
    number: Number

    @property
    def agreement(self) -> Agreement:
        plural = (self.noun.always or self.number) == "plural"
        return Agreement(self.noun.gender, plural, 4 if plural else 2)


@dataclass(frozen=True)
class Adjective:
    """An adjective.

    Attributes:
        forms: masculine, feminine, masculine plural, feminine plural in French.
        before: whether it precedes its noun in French.
        before_vowel: the masculine singular before a vowel (`bel`); empty if the adjective has no special form.
        attributive, predicative: whether it can be used beside a noun, and after `be`.
        kinds: the kinds of noun that it is sampled with.
        strict: whether it has another meaning with other kinds of noun. Then it is parsed only with `kinds`.
        graded: whether it can have `very` before it.
        comparative, superlative: the English forms, with `more` and `most` for a long adjective; empty if it has none.
    """

    english: str
    forms: Four
    before: bool
    before_vowel: str
    attributive: bool
    predicative: bool
    kinds: frozenset[str]
    strict: bool
    graded: bool
    comparative: str
    superlative: str

    def form(self, agreement: Agreement, following: str = "") -> str:
        """The French form for this gender and number. `following` is the next word if it begins with a vowel, otherwise
        empty."""
        if following and self.before_vowel and agreement[:2] == ("m", False):
            return self.before_vowel
        return agreement.of(self.forms)

    def fits(self, kind: str) -> bool:
        return not self.strict or kind in self.kinds


@dataclass(frozen=True)
class Conjugation:
    """The forms of a French verb. `present` and `imperfect` are the forms for je, tu, il, nous, ils."""

    infinitive: str
    present: Five
    imperfect: Five
    participle: Four


@dataclass(frozen=True)
class Verb:
    """A verb in both languages, with what may follow it.

    Attributes:
        base, third, past, ing: the English forms, which may have several words. `ing` is empty for a verb without `is …ing`.
        tail: French words after the verb (`faire` `du vélo`).
        reflexive: whether it is used with `se` (`se lever`).
        with_etre: whether its passé composé is formed with être.
        pattern: words for what may follow the verb, such as object, object? (an optional object), to, from, place, generic (an
            object without an article means the whole kind), de (the object follows `de`).
        preposition: the French preposition before the object; empty if there is none.
        past_imperfect: whether its past is the imparfait: `i wanted` → `je voulais`.
        objects: the kinds of noun that are sampled as its object. If `strict`, only these kinds are parsed.
        subjects: the kinds of noun that are sampled as its subject, besides people.
    """

    base: str
    third: str
    past: str
    ing: str
    french: Conjugation
    tail: tuple[str, ...]
    reflexive: bool
    with_etre: bool
    pattern: frozenset[str]
    preposition: str
    objects: tuple[str, ...]
    strict: bool
    subjects: frozenset[str]

    @property
    def past_imperfect(self) -> bool:
        return "past-imperfect" in self.pattern

    @property
    def was_doing(self) -> bool:
        """Whether the grammar uses `was …ing` with this verb. Only few verbs have it, because each verb adds four forms of the
        imparfait that models must learn."""
        return "was" in self.pattern

    @property
    def takes_object(self) -> bool:
        return bool(self.pattern & {"object", "object?", "sport", "instrument"})


def rows(name: str) -> Iterator[dict[str, str]]:
    """Yields the rows of the table `data/<name>.csv` beside this module, each as a dict from column to text."""
    with (FilePath(__file__).parent / "data" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, restval="")


# Nouns without an article in English and with the definite article in French (`watch television`). All languages, subjects and
# meals are such nouns, too.
DEFINITE_WHEN_BARE = ("television", "tv")
DEFINITE_KINDS = ("language", "subject", "meal")


def _noun(row: dict[str, str]) -> Noun:
    """The noun of a row of `nouns.csv`.

    Its column `plural` is empty for a regular plural, `-` for a mass noun, `~` for a mass noun that can be counted too (`two
    coffees`), `+` for a noun that is always plural, and `-1` for a countable noun whose plural the grammar does not use. In the
    column `french`, `+` is before a noun that is always plural in French, `/` is before the feminine or an irregular plural.
    """
    english, plural, french, gender, kind = (row[name] for name in ("english", "plural", "french", "gender", "kind"))
    always_plural, french = french.startswith("+"), french.removeprefix("+")
    first, _, second = french.partition("/")
    people = kind in PEOPLE and not first.startswith("grand-")
    forms: tuple[str, str, str, str]
    if always_plural:
        forms = ("", "", first, first)
    elif people and second:
        forms = four_forms(first, second)
    else:
        forms = (first, first, second or french_plural(first), second or french_plural(first))
    both = people and bool(second)
    if not both:
        forms = (forms[0], "", forms[2], "") if gender == "m" else ("", forms[1], "", forms[3])
    mass = plural in ("-", "~") or (plural == "-1" and kind in ("food", "drink", "meal"))
    always: Number | None = "plural" if always_plural else "singular" if plural == "+" else None
    return Noun(
        singular="" if plural == "+" else english,
        plural=english
        if plural == "+"
        else ""
        if plural in ("-", "-1")
        else english_s(english)
        if plural in ("", "~")
        else plural,
        mass=mass or english in DEFINITE_WHEN_BARE,
        countable=plural not in ("-", "+"),
        french=forms,
        gender="f" if gender == "f" else "m",
        kind=kind,
        always=always,
    )


THINGS = ("food", "drink", "clothing", "object", "furniture", "vehicle", "text", "room", "meal", "instrument")
COLOURED = frozenset({"clothing", "object", "furniture", "vehicle", "plant", "part", "animal", "place"})
KIND_GROUPS: dict[str, frozenset[str]] = {
    "people": PEOPLE | {"group"},
    "animate": ANIMATE | {"group"},
    "thing": frozenset({*THINGS, "place", "town"}),
    "colour": COLOURED - {"animal", "place"},
    "place": frozenset({"place", "town"}),
    "nation": frozenset({*PEOPLE - {"family"}, "food", "vehicle", "text", "city"}),
    "all": frozenset({*THINGS, *ANIMATE, "place", "town", "nature", "plant", "idea", "part"}) - {"meal", "drink"},
}


def _kinds(cell: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(kind for word in cell.split() for kind in sorted(KIND_GROUPS.get(word, (word,)))))


BEFORE_VOWEL = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}


def _adjective(row: dict[str, str]) -> Adjective:
    """The adjective of a row of `adjectives.csv`.

    Its column `feminine` is empty for a regular feminine, and `=` if the adjective never changes. `place` is `before` or
    `after` the noun; with `only`, the adjective is used only beside a noun; `be` means that it is used only after `be`. `kinds`
    ends in `!` if the adjective is strict. `grades` has the comparative and the superlative, or `more`; it is `-` if the
    adjective cannot have `very` before it.
    """
    masculine, feminine, place = row["masculine"], row["feminine"], row["place"].split()
    forms = (masculine, masculine, masculine, masculine) if feminine == "=" else four_forms(masculine, feminine)
    grades = row["grades"].replace("-", "").split()
    if grades == ["more"]:
        grades = [f"more {row['english']}", f"most {row['english']}"]
    comparative, superlative = grades or ["", ""]
    return Adjective(
        english=row["english"],
        forms=forms,
        before="before" in place,
        before_vowel=BEFORE_VOWEL.get(masculine, ""),
        attributive="be" not in place,
        predicative="only" not in place,
        kinds=frozenset(_kinds(row["kinds"].rstrip("!"))),
        strict=row["kinds"].endswith("!"),
        graded=row["grades"] != "-",
        comparative=comparative,
        superlative=superlative,
    )


IRREGULAR: dict[str, tuple[Five, str]] = {
    row["infinitive"]: ((row["je"], row["tu"], row["il"], row["nous"], row["ils"]), row["participle"])
    for row in rows("conjugation")
}


def conjugation(infinitive: str) -> Conjugation:
    five, done = IRREGULAR.get(infinitive) or (present(infinitive), participle(infinitive))
    return Conjugation(infinitive, five, imperfect("étons" if infinitive == "être" else five[3]), four_forms(done))


def _inflected(words: str, change: str) -> str:
    """The phrase `words` with `change` in place of its first word."""
    return " ".join([change, *words.split()[1:]])


DOES = {"have": "has", "do": "does", "go": "goes"}
FRENCH_PREPOSITIONS = ("à", "de", "avec")


def _verb(row: dict[str, str]) -> Verb:
    """The verb of a row of `verbs.csv`.

    Its columns `past` and `ing` are empty for regular forms; `ing` is `-` if the verb has no such form. `french` is an
    infinitive, perhaps with `se` before it and other words after it. A preposition at its end is the preposition of the object.
    `objects` ends in `!` if the verb is strict.
    """
    base, pattern = row["base"], frozenset(row["pattern"].split())
    head = base.split()[0]
    french = row["french"].split()
    reflexive = french[0] == "se"
    infinitive, *tail = french[reflexive:]
    preposition = tail.pop() if tail and tail[-1] in FRENCH_PREPOSITIONS else ""
    return Verb(
        base=base,
        third=_inflected(base, DOES.get(head, english_s(head))),
        past=row["past"] or _inflected(base, english_ed(head)),
        ing="" if row["ing"] == "-" else row["ing"] or _inflected(base, english_ing(head)),
        french=conjugation(infinitive),
        tail=tuple(tail),
        reflexive=reflexive,
        with_etre=reflexive or "être" in pattern or base == "go home",
        pattern=pattern,
        preposition=preposition,
        objects=tuple(kind for cell in row["objects"].rstrip("!").split() for kind in _kinds(cell.split(":")[0])),
        strict=row["objects"].endswith("!"),
        subjects=frozenset(row["subjects"].split()),
    )


# English plurals with another French noun after a number: `three people`, `how many people`.
COUNTED = {"people": ("personnes", Agreement("f", True, 4))}


class Country(NamedTuple):
    """A country in French. `gender` is f, m, or mp for a masculine plural."""

    french: str
    gender: str


NOUNS = tuple(_noun(row) for row in rows("nouns"))
ADJECTIVES = tuple(_adjective(row) for row in rows("adjectives"))
VERBS = tuple(_verb(row) for row in rows("verbs"))
NAMES: dict[str, Gender] = {row["name"]: "f" if row["gender"] == "f" else "m" for row in rows("names")}
COUNTRIES = {row["english"]: Country(row["french"], row["gender"]) for row in rows("countries")}
CITIES = {row["english"]: row["french"] for row in rows("cities")}

AVOIR, ETRE, ALLER = conjugation("avoir"), conjugation("être"), conjugation("aller")
