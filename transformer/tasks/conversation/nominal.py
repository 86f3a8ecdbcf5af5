"""Noun phrases, names and pronouns: functions that sample or parse the English words and return the French words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation.function_words import BARE, DETERMINERS, Determiner, Pronoun
from transformer.tasks.conversation.lexicon import (
    ADJECTIVES,
    ANIMATE,
    COUNTED,
    NAMES,
    NOUNS,
    PEOPLE,
    Adjective,
    Agreement,
    Noun,
    NounForm,
    Number,
)
from transformer.tasks.conversation.path import Path, Table
from transformer.tasks.conversation.sound import starts_with_vowel

Polarity = Literal["positive", "negative", "question"]
# How an article is used: unchanged; after a negation (`pas de pain`); for a whole kind (`j'aime le pain`); after `de`.
Use = Literal["plain", "negated", "generic", "after de"]

FORMS = [(noun.singular, NounForm(noun, "mass" if noun.mass else "singular")) for noun in NOUNS if noun.singular]
FORMS += [(noun.plural, NounForm(noun, "plural")) for noun in NOUNS if noun.plural]
FORMS += [(noun.singular, NounForm(noun, "singular")) for noun in NOUNS if noun.mass and noun.countable]
NOUN_FORMS: Table[NounForm] = Table([(english, form) for english, form in FORMS])
KINDS = tuple(dict.fromkeys(noun.kind for noun in NOUNS))
FORMS_OF: dict[tuple[str, str], Table[NounForm]] = {
    (kind, number): Table(chosen)
    for kind in KINDS
    for number in ("singular", "plural", "mass")
    if (chosen := [(e, form) for e, form in FORMS if (form.noun.kind, form.number) == (kind, number)])
}
NAME_TABLE = Table([(name, name) for name in NAMES])

ATTRIBUTES = Table([(a.english, a) for a in ADJECTIVES if a.attributive])
PREDICATES = Table([(a.english, a) for a in ADJECTIVES if a.predicative])
# Common adjectives are sampled more often. Some of them have a fifth form, before a vowel, which would otherwise be rare.
_OFTEN = ("beautiful", "new", "old", "big", "small", "good")


def _fitting(chosen: Sequence[Adjective], kind: str) -> Table[Adjective] | None:
    fitting = [a for a in chosen if kind in a.kinds]
    return Table([(a.english, a) for a in fitting], [3.0 if a.english in _OFTEN else 1.0 for a in fitting]) if fitting else None


ATTRIBUTES_OF = {kind: _fitting([a for a in ADJECTIVES if a.attributive], kind) for kind in (*KINDS, "city")}
SECOND_OF = {kind: _fitting([a for a in ADJECTIVES if a.attributive and not a.before], kind) for kind in KINDS}
PREDICATES_OF = {kind: _fitting([a for a in ADJECTIVES if a.predicative], kind) for kind in (*KINDS, "city")}
_SIZES = ("big", "small", "large", "little", "new", "old", "other", "beautiful", "pretty", "different", "strange")
OF_MASS = {
    kind: _fitting([a for a in ADJECTIVES if a.attributive and a.english not in _SIZES], kind) for kind in ("food", "drink")
}
CONTAINERS = ("cup", "glass", "bottle", "box", "bag", "plate")
PARTS = ("name", "colour", "color", "roof", "door", "window", "wall", "photo", "picture", "address", "end", "story")


# Pairs of the French words of a degree (such as `très`) and an adjective, in the English order.
Modifiers = Sequence[tuple[list[str], Adjective]]


@dataclass(frozen=True)
class Nominal:
    """A noun phrase, a name or a pronoun.

    Attributes:
        french: a function from a `Use` (how an article is used) to the French words before elision (`sound.settle`); a pronoun
            has its subject form for every use.
        agreement: gender, number and person for French words that agree with it.
        english_slot: the person that the English verb agrees with, counted as `Agreement.slot`.
        kind: kind of the noun; "person" for a pronoun or a name.
        pronoun: the pronoun; None for a noun or a name.
        noun: the noun; None for a pronoun or a name.
        modified_after: whether it has an adjective after the French noun.
    """

    french: Callable[[Use], list[str]]
    agreement: Agreement
    english_slot: int
    kind: str
    pronoun: Pronoun | None = None
    noun: Noun | None = None
    modified_after: bool = False

    @property
    def subject(self) -> list[str]:
        return self.french("generic")

    @property
    def stressed(self) -> list[str]:
        """The French words in the form that follows a preposition: `moi` for `je`; noun phrases and names are unchanged."""
        return [self.pronoun.stressed] if self.pronoun else self.french("plain")


def from_pronoun(pronoun: Pronoun) -> Nominal:
    return Nominal(lambda _: [pronoun.french], pronoun.agreement, pronoun.agreement.slot, "person", pronoun)


def person_pronoun(path: Path) -> Nominal:
    return from_pronoun(path.word(words.PERSON_SUBJECTS))


def person_name(path: Path) -> Nominal:
    name = path.word(NAME_TABLE)
    return Nominal(lambda _: [name], Agreement(NAMES[name], False, 2), 2, "person")


AND_OR: Table[str] = Table([("and", "et"), ("or", "ou")], [3, 1])


def both(first: Nominal, second: Nominal, conjunction: str = "et") -> Nominal:
    """Two noun phrases, names or pronouns joined, such as `anna and tom`. `conjunction` is French. The gender is masculine
    unless both are feminine."""
    gender = "f" if first.agreement.gender == second.agreement.gender == "f" else "m"
    return Nominal(
        lambda use: [*first.french(use), conjunction, *second.french(use)], Agreement(gender, True, 4), 4, first.kind
    )


# Kinds of nouns that often have a possessive such as `my`, and kinds that rarely have one.
_OWN = frozenset({"family", "group", "friend", "body", "clothing"})
_NOBODYS = frozenset(
    {"person", "job", "animal", "place", "town", "nature", "plant", "sky", "weather", "world", "part", "room", "food", "drink"}
)


@lru_cache(maxsize=1024)
def natural(table: Table[Determiner], kind: str | None) -> Table[Determiner] | None:
    """The determiners of `table`, with possessives more or less likely to be sampled before a noun of this kind. None if the
    kind does not change the weights."""
    if kind not in _OWN | _NOBODYS:
        return None
    weights = []
    for (_, determiner), weight in zip(table.entries, table.weights, strict=True):
        own = determiner.masculine in ("mon", "ton", "son", "notre", "leur")
        factor = (4.0 if own else 0.4) if kind in _OWN else 0.2 if own else 1.0
        weights.append(weight * factor)
    return Table([(" ".join(words_), determiner) for words_, determiner in table.entries], weights)


def described(noun_words: Sequence[str], adjectives: Modifiers, agreement: Agreement) -> list[str]:
    """The French words of a noun and its adjectives, each before or after the noun."""
    core = list(noun_words)
    for degree, adjective in reversed(adjectives):
        if adjective.before:
            following = core[0] if starts_with_vowel(core[0]) else ""
            core[:0] = [*degree, adjective.form(agreement, following)]
        else:
            core += [*degree, *adjective.form(agreement).split()]
    return core


def determined(determiner: Determiner, core: list[str], agreement: Agreement, use: Use, weak: bool) -> list[str]:
    """The French words of a noun phrase before elision: the determiner, then `core`, the noun with its adjectives. `weak` is
    whether an adjective is before the noun, so that `des` becomes `de`."""
    sense, plural = determiner.sense, agreement.plural
    article = "les" if plural else "le" if agreement.gender == "m" else "la"
    if sense == "none":
        return core
    if sense == "quantity":
        return [determiner.plural, "de", *core]
    if sense == "bare" and use == "generic":
        return [article, *core]
    if sense in ("some", "bare"):
        if use == "after de":
            return core
        if use == "negated":
            return ["de", *core]
        if plural:
            return ["de" if weak else "des", *core]
        return ["de", article, *core]
    if sense == "a" and plural:  # an English singular that is plural in French
        return core if use == "after de" else ["de" if use == "negated" or weak else "des", *core]
    if sense == "a" and use == "negated":
        return ["de", *core]
    if plural:
        return [determiner.plural, *core]
    vowel = starts_with_vowel(core[0])
    if agreement.gender == "f" and not (vowel and determiner.is_possessive):
        return [determiner.feminine, *core]
    return ["cet" if vowel and determiner.masculine == "ce" else determiner.masculine, *core]


def attributes(path: Path, kind: str | None, share: float, number: str | None = None) -> list[tuple[list[str], Adjective]]:
    """Zero, one or two adjectives, each with the French of a `very` before it (or no words). A `SamplingPath` samples the
    English words; a `ParsingPath` reads them from its text. While sampling, `share` is the probability of an adjective, and
    adjectives fit nouns of `kind` and `number`."""
    adjectives: list[tuple[list[str], Adjective]] = []
    sampled_from = OF_MASS.get(kind or "") if number == "mass" else ATTRIBUTES_OF.get(kind or "")
    if kind is not None and sampled_from is None:
        return adjectives
    very = ["très"] if path.says("very", share * 0.06) else []
    adjective = path.word(ATTRIBUTES, sampled_from) if very else path.optional(ATTRIBUTES, share, sampled_from)
    if adjective is None:
        return adjectives
    path.require(not very or adjective.graded)
    adjectives.append((very, adjective))
    second_of = SECOND_OF.get(kind or "")
    if adjective.before and not (kind is not None and second_of is None):
        second = path.optional(ATTRIBUTES, 0.12, second_of)
        if second is not None:
            path.require(not second.before or second.english in ("old", "young", "little", "new", "small"))
            adjectives.append(([], second))
    return adjectives


def noun_phrase(
    path: Path,
    kinds: Sequence[str],
    determiners: Table[Determiner] | None = None,
    *,
    bare: float = 0.0,
    adjectives: float = 0.15,
    numbers: Sequence[Number] = words.ANY,
    of: float = 0.1,
    person: Agreement | None = None,
    few_plurals: bool = False,
) -> Nominal:
    """A noun with or without a determiner, and perhaps with adjectives.

    Args:
        path: a `SamplingPath` samples the English words; a `ParsingPath` reads them from its text.
        kinds: the kinds of noun that are sampled.
        determiners: the allowed determiners; by default those of an object in a statement.
        bare: share of phrases without a determiner.
        adjectives: share of phrases with an adjective.
        numbers: the allowed grammatical numbers.
        of: share of containers and parts that have `of` and another noun after them.
        person: the agreement of the person that the noun describes. A noun with both genders has this gender.
        few_plurals: whether most sampled nouns are singular, such as nouns of places.
    """
    kind = path.meaning(kinds)
    options = {"determiner": 1.0 - bare, "bare": bare} if bare else {"determiner": 1.0}
    table = determiners or words.BY_POLARITY["positive"]
    form_of_determiner = path.choose(options, {"determiner": table.by_first})
    determiner = BARE if form_of_determiner == "bare" else path.word(table, natural(table, kind))
    allowed = tuple(number for number in determiner.numbers if number in numbers)
    if kind is not None:  # a sampled phrase has a number that nouns of this kind can have
        allowed = tuple(number for number in allowed if (kind, number) in FORMS_OF)
        path.require(bool(allowed))
    number = path.meaning(allowed)
    if few_plurals and number == "plural" and "singular" in allowed:
        number = path.meaning(("singular", "singular", "singular", "singular", "plural"))
    modifiers = attributes(path, kind, adjectives * (0.5 if number == "mass" else 1.0), number)
    form = path.word(NOUN_FORMS, FORMS_OF[kind, number] if kind is not None and number is not None else None)
    path.require(form.number in allowed and go_together(form, modifiers))
    if form.noun.kind == "time":  # `every day` and `this week` are times, not noun phrases
        path.require(determiner.masculine not in ("chaque", "ce"))
    if any(adjective.english == "best" for _, adjective in modifiers):
        path.require(determiner.sense == "definite")
    if determiner is BARE and modifiers:
        path.require(form.number == "plural" or not form.noun.is_definite_when_bare)
    agreement = form.agreement
    if person is not None and form.noun.has_both_genders:
        agreement = agreement._replace(gender=person.gender)
    return _with_of(path, of, from_form(form, determiner, modifiers, agreement))


def go_together(form: NounForm, modifiers: Modifiers) -> bool:
    """Whether all adjectives fit this noun. `orange` and `juice` do not, because `orange juice` is a noun of the lexicon."""
    juice = form.noun.singular == "juice" and any(adjective.english == "orange" for _, adjective in modifiers)
    return not juice and all(adjective.fits(form.noun.kind) for _, adjective in modifiers)


def from_form(
    form: NounForm,
    determiner: Determiner,
    modifiers: Modifiers = (),
    agreement: Agreement | None = None,
) -> Nominal:
    """The noun phrase of a noun, its determiner and its adjectives. `agreement` is for a noun with both genders: the agreement
    of the person that the noun describes (`elle est étudiante`)."""
    noun, agreement = form.noun, agreement or form.agreement
    french_noun = agreement.of(noun.french).split()
    if determiner.sense == "number" and noun.plural in COUNTED:
        french_noun, agreement = [COUNTED[noun.plural][0]], COUNTED[noun.plural][1]
    core = described(french_noun, modifiers, agreement)
    weak = any(adjective.before for _, adjective in modifiers)

    if determiner is BARE and form.number == "mass" and noun.is_definite_when_bare:
        determiner = DETERMINERS["the"]

    def french(use: Use) -> list[str]:
        return determined(determiner, core, agreement, use, weak)

    after = any(not adjective.before for _, adjective in modifiers)
    return Nominal(french, agreement, 4 if form.number == "plural" else 2, noun.kind, noun=noun, modified_after=after)


def _with_of(path: Path, share: float, head: Nominal) -> Nominal:
    """The phrase `head`, perhaps with `of` and another noun after it: `a cup of coffee`, `the roof of the house`. A
    `SamplingPath` samples the added words; a `ParsingPath` reads them from its text."""
    noun = head.noun
    if not share or noun is None:
        return head
    contains, part = noun.singular in CONTAINERS, noun.singular in PARTS
    if not path.says("of", share * (2 if contains else 1 if part else 0.0) or 1e-9):
        return head
    if contains:
        inner = noun_phrase(path, ("drink", "food"), bare=1.0, adjectives=0.0, of=0.0).french("after de")
    else:
        inner = noun_phrase(path, ("place", "family", "animal"), words.OWNERS, adjectives=0.05, of=0.0).french("plain")
    return Nominal(lambda use: [*head.french(use), "de", *inner], head.agreement, head.english_slot, head.kind, noun=noun)


def owner(path: Path) -> Nominal:
    """The person in a phrase such as `anna 's` or `my sister 's`. A `SamplingPath` samples the English words; a `ParsingPath`
    reads them from its text."""
    if path.choose({"name": 1.0, "phrase": 1.0}, {"name": NAME_TABLE.by_first, "phrase": words.OWNERS.by_first}) == "name":
        someone = person_name(path)
    else:
        someone = noun_phrase(path, ("family", "family", "person", "job"), words.OWNERS, adjectives=0.0, of=0.0)
    plural_s = someone.english_slot == 4 and someone.noun is not None and someone.noun.plural.endswith("s")
    path.say("'" if plural_s else "'s")
    return someone


def owned(path: Path, kinds: Sequence[str]) -> Nominal:
    """A phrase such as `anna 's cat` (`le chat de anna`). A `SamplingPath` samples the English words; a `ParsingPath` reads
    them from its text. `kinds` are the kinds of noun that are sampled for the thing owned."""
    someone = owner(path)
    kind = path.meaning(kinds)
    number = path.meaning([n for n in ("singular", "plural") if kind is None or (kind, n) in FORMS_OF] or ["mass"])
    modifiers = attributes(path, kind, 0.1)
    form = path.word(NOUN_FORMS, FORMS_OF.get((kind or "", number or "singular")))
    path.require(go_together(form, modifiers))
    head = from_form(form, DETERMINERS["the"], modifiers)
    return Nominal(
        lambda _: [*head.french("plain"), "de", *someone.french("plain")], head.agreement, head.english_slot, head.kind
    )


_PHRASE_STARTS = {"pronoun": words.PERSON_SUBJECTS.by_first, "name": NAME_TABLE.by_first}
_OWNED_STARTS = {"owned": {*NAME_TABLE.by_first, *words.OWNERS.by_first}}


SOMEONE: Table[str] = Table([("someone", "quelqu' un"), ("everyone", "tout le monde"), ("everybody", "tout le monde")])
_OBJECT_STARTS = _PHRASE_STARTS | _OWNED_STARTS
_SUBJECT_STARTS = _OBJECT_STARTS | {"someone": SOMEONE.by_first}
WHO = (*("family",) * 6, "group", *("friend", "person", "job") * 2, *("animal",) * 4)


def subject(
    path: Path, *, pronouns: float = 1.2, things: Sequence[str] = (), adjectives: float = 0.08, kinds: Sequence[str] = WHO
) -> Nominal:
    """The subject of a verb: a person or an animal of one of `kinds`, or a noun of one of the kinds in `things`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text. While sampling, a pronoun has the weight
    `pronouns`, and a noun phrase the weight 1; `adjectives` is the share of noun phrases with an adjective."""
    options = {"pronoun": pronouns, "phrase": 1.0, "name": 0.3, "owned": 0.08, "both": 0.07, "someone": 0.03, "all": 0.05}
    chosen = path.choose(options, _SUBJECT_STARTS)
    if chosen == "pronoun":
        return person_pronoun(path)
    if chosen == "name":
        return person_name(path)
    if chosen == "owned":
        return owned(path, ("family", "family", "animal"))
    if chosen == "someone":
        french = path.word(SOMEONE).split()
        return Nominal(lambda _: french, Agreement("m", False, 2), 2, "person")
    if chosen == "all":
        return noun_phrase(path, ("animal", "animal", "job"), bare=1.0, adjectives=0.02, of=0.0)
    if chosen == "both":
        return _two_people(path)
    return noun_phrase(path, (*kinds, *things), SUBJECT_DETERMINERS, adjectives=adjectives)


def _subject_weight(word: str, determiner: Determiner) -> float:
    if word in ("the", "a", "my", "your"):
        return {"the": 8.0, "a": 0.8, "my": 5.0, "your": 1.5}[word]
    return 0.06 if word in words.COUNTS else 0.15 if determiner.sense == "quantity" or word == "every" else 0.7


_BEFORE_SUBJECTS = {w: d for w, d in (DETERMINERS | words.COUNTS).items() if d.sense != "some"}
SUBJECT_DETERMINERS = Table(list(_BEFORE_SUBJECTS.items()), [_subject_weight(w, d) for w, d in _BEFORE_SUBJECTS.items()])


def _two_people(path: Path) -> Nominal:
    names = path.choose({"names": 1.0, "family": 1.0}, {"names": NAME_TABLE.by_first})
    if names == "names":
        first = person_name(path)
        path.say("and")
        return both(first, person_name(path))
    first = noun_phrase(path, ("family",), words.OWNERS, adjectives=0.0, of=0.0)
    path.say("and")
    return both(first, noun_phrase(path, ("family",), words.OWNERS, adjectives=0.0, of=0.0))


def object_phrase(path: Path, kinds: Sequence[str], polarity: Polarity, *, bare: float = 0.2, names: bool = False) -> Nominal:
    """A direct object: one noun phrase, or two with `and` or `or`; with `names`, perhaps a name. A `SamplingPath` samples the
    English words; a `ParsingPath` reads them from its text. `polarity` decides the determiners; `kinds` and `bare` are as in
    `noun_phrase`."""
    options = {"phrase": 1.0, "owned": 0.06}
    if polarity != "negative":
        options["two"] = 0.05
    if names and set(kinds) & PEOPLE:
        options["name"] = 0.3
    chosen = path.choose(options, _OBJECT_STARTS)
    if chosen == "name":
        return person_name(path)
    if chosen == "owned":
        return owned(path, kinds)
    first = noun_phrase(path, kinds, words.BY_POLARITY[polarity], bare=bare)
    if chosen == "phrase":
        return first
    conjunction = path.word(AND_OR)
    return both(first, noun_phrase(path, kinds, words.BY_POLARITY[polarity], bare=bare, adjectives=0.05), conjunction)


TEMPERATURES = ("cold", "hot", "warm")
# Kinds that are never `cold` with être: a person *has* cold (`avoir froid`), and the weather *makes* cold (`il fait froid`).
NEVER_COLD = ANIMATE | {"idea"}


def predicate_adjective(path: Path, subject: Nominal, kind: str | None = None) -> list[str]:
    """The French words after `être` for one or two adjectives after `be`, such as `very tired`. A `SamplingPath` samples the
    English words; a `ParsingPath` reads them from its text. The adjectives fit nouns of `kind`, by default the kind of
    `subject`."""
    kind = kind or subject.kind
    degree = path.optional(words.DEGREES, 0.25)
    adjective = path.word(PREDICATES, PREDICATES_OF.get(kind))
    path.require(adjective.fits(kind) and not (adjective.english in TEMPERATURES and kind in NEVER_COLD))
    path.require(degree is None or adjective.graded)
    french = [*(degree or "").split(), *adjective.form(subject.agreement).split()]
    if path.choose({"one": 0.95, "two": 0.05}, {"two": ("and",)}) == "one":
        return french
    path.say("and")
    second = path.word(PREDICATES, PREDICATES_OF.get(kind))
    path.require(second.fits(kind) and second.english not in TEMPERATURES)
    return [*french, "et", *second.form(subject.agreement).split()]
