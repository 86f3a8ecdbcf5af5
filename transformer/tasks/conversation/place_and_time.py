"""Phrases of place, company and time that follow a verb."""

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation.lexicon import CITIES, COUNTRIES, PEOPLE, Agreement, Country
from transformer.tasks.conversation.nominal import (
    NAME_TABLE,
    Nominal,
    noun_phrase,
    owned,
    person_name,
)
from transformer.tasks.conversation.path import Path, Table

# English preposition → the French words, and the kinds of noun that it is sampled with.
PREPOSITIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "in": (("dans",), ("place", "place", "town", "room", "room", "room", "nature", "vehicle")),
    "on": (("sur",), ("furniture", "furniture", "furniture", "nature")),
    "under": (("sous",), ("furniture", "plant")),
    "behind": (("derrière",), ("furniture", "place", "part", "plant", "vehicle")),
    "in front of": (("devant",), ("place", "furniture", "part", "animal")),
    "next to": (("à", "côté", "de"), ("place", "furniture", "room", "person")),
    "near": (("près", "de"), ("place", "nature", "part", "plant")),
    "at": (("à",), ("place",)),
    "with": (("avec",), ("family", "person", "animal")),
    "without": (("sans",), ("family", "object", "clothing")),
    "for": (("pour",), ("family", "person")),
    "after": (("après",), ("lesson", "meal")),
    "before": (("avant",), ("lesson", "meal")),
}
PREPOSITION_TABLE = Table(
    [(english, (english, *entry)) for english, entry in PREPOSITIONS.items()],
    [8, 5, 2.5, 2, 2, 2, 2.5, 1.5, 3, 0.6, 0.8, 0.3, 0.3],
)
_WITH = ("with", "without", "for", "after", "before")
_WHERE = [(e, w) for e, w in zip(PREPOSITION_TABLE.entries, PREPOSITION_TABLE.weights, strict=True) if e[1][0] not in _WITH]
WHERE_TABLE = Table([(" ".join(words_), value) for (words_, value), _ in _WHERE], [weight for _, weight in _WHERE])
FIXED_PLACES: Table[str] = Table(
    [
        ("at home", "à la maison"),
        ("at school", "à le école"),
        ("at work", "à le travail"),
        ("here", "ici"),
        ("there", "là"),
        ("in bed", "à le lit"),
        ("outside", "dehors"),
        ("in town", "en ville"),
        ("at university", "à le université"),
        ("upstairs", "en haut"),
        ("near here", "près de ici"),
        ("on the left", "à gauche"),
        ("on the right", "à droite"),
    ],
    [4, 3, 2, 3, 1, 1, 1, 0.7, 0.5, 0.4, 0.8, 0.3, 0.3],
)
FIXED_DESTINATIONS: Table[str] = Table(
    [("to school", "à le école"), ("to work", "à le travail"), ("there", "là-bas"), ("outside", "dehors")],
    [4, 2, 0.7, 0.5],
)
COUNTRY_TABLE = Table(list(COUNTRIES.items()))
CITY_TABLE = Table(list(CITIES.items()))
_NAMED = {"country": COUNTRY_TABLE.by_first, "city": CITY_TABLE.by_first}


def in_country(country: Country) -> list[str]:
    """The French of `in` and a country, before contraction (`sound.settle`): `en france`, `à le canada`, `à les états-unis`."""
    if country.gender == "mp":
        return ["à", "les", country.french]
    return ["en", country.french] if country.gender == "f" else ["à", "le", country.french]


def from_country(country: Country) -> list[str]:
    """The French of `from` and a country, before contraction: `de france`, `de le canada`, `de les états-unis`."""
    if country.gender == "mp":
        return ["de", "les", country.french]
    return ["de", country.french] if country.gender == "f" else ["de", "le", country.french]


def the_country(country: Country) -> Nominal:
    """A country with its article, such as `la france`, as a subject or an object."""
    article = {"f": "la", "m": "le", "mp": "les"}[country.gender]
    plural = country.gender == "mp"
    agreement = Agreement("f" if country.gender == "f" else "m", plural, 4 if plural else 2)
    return Nominal(lambda _: [article, country.french], agreement, 2, "place")


def destination(path: Path) -> list[str]:
    """The words of the French translation of a phrase such as `to the park`, `to paris`, `to the doctor` or `to school`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    options = {"fixed": 1.0, "to": 3.0}
    if path.choose(options, {"fixed": FIXED_DESTINATIONS.by_first, "to": ("to",)}) == "fixed":
        return path.word(FIXED_DESTINATIONS).split()
    path.say("to")
    kind = path.choose({"phrase": 3.0, "city": 1.0, "country": 1.0}, _NAMED)
    if kind == "city":
        return ["à", *path.word(CITY_TABLE).split()]
    if kind == "country":
        return in_country(path.word(COUNTRY_TABLE))
    kinds = (*("place",) * 8, "nature", "town", "job")
    phrase = noun_phrase(path, kinds, DESTINATION_DETERMINERS, adjectives=0.08, of=0.0, few_plurals=True)
    return ["chez" if phrase.kind in PEOPLE else "à", *phrase.french("plain")]


DESTINATION_DETERMINERS = words.determiners("the 10, a 1, this 1, that 0.5, my 1, your 1, his 0.7, her 0.7, our 0.7, their 0.7")


def origin(path: Path) -> list[str]:
    """The words of the French translation of a phrase such as `from france`, `from paris` or `from the station`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    path.say("from")
    kind = path.choose({"phrase": 0.5, "city": 1.0, "country": 1.5}, _NAMED)
    if kind == "city":
        return ["de", *path.word(CITY_TABLE).split()]
    if kind == "country":
        return from_country(path.word(COUNTRY_TABLE))
    return [
        "de",
        *noun_phrase(path, ("place",), DESTINATION_DETERMINERS, adjectives=0.05, of=0.0, few_plurals=True).french("plain"),
    ]


def place(path: Path, *, only_where: bool = False, fixed: float = 0.5, subject: Nominal | None = None) -> list[str]:
    """The words of the French translation of a phrase such as `in the kitchen`, `in france` or `at home`. A `SamplingPath`
    samples the English words; a `ParsingPath` reads them from its text. With `only_where`, only phrases that name a place are
    allowed, not `with anna`. While sampling, phrases such as `at home` have the weight `fixed`, and phrases with a preposition
    the weight 1. If `subject` is given, the phrase has no pronoun of the same person (`me` or `us` after `i`)."""
    table = WHERE_TABLE if only_where else PREPOSITION_TABLE
    options = {"preposition": 1.0, "fixed": fixed, "named": 0.35, "between": 0.03}
    starts = {"fixed": FIXED_PLACES.by_first, "named": ("in",), "between": ("between",), "preposition": table.by_first}
    chosen = path.choose(options, starts)
    if chosen == "fixed":
        return path.word(FIXED_PLACES).split()
    if chosen == "between":
        path.say("between")
        first = noun_phrase(path, ("place", "furniture"), words.DEFINITE, adjectives=0.05, of=0.0)
        path.say("and")
        second = noun_phrase(path, ("place", "furniture"), words.DEFINITE, adjectives=0.05, of=0.0)
        return ["entre", *first.french("plain"), "et", *second.french("plain")]
    if chosen == "named":
        path.say("in")
        if path.choose({"city": 1.0, "country": 1.2}, _NAMED) == "city":
            return ["à", *path.word(CITY_TABLE).split()]
        return in_country(path.word(COUNTRY_TABLE))
    english, french, kinds = path.word(table)
    return [*french, *_after(path, english, kinds, subject)]


def _after(path: Path, preposition: str, kinds: tuple[str, ...], subject: Nominal | None) -> list[str]:
    options = {"phrase": 1.0}
    starts = {"name": NAME_TABLE.by_first, "pronoun": words.OBJECTS.by_first}
    if preposition in ("with", "without", "for", "near", "next to", "behind", "in front of"):
        often = preposition in ("with", "for")
        options |= {"pronoun": 0.4 if often else 0.1, "name": 0.3 if often else 0.1, "owned": 0.05}
    elif preposition == "in":
        options |= {"owned": 0.05}
    chosen = path.choose(options, starts)
    if chosen == "pronoun":
        pronoun = path.word(words.PERSON_OBJECTS)
        if subject is not None and subject.pronoun is not None:
            path.require(pronoun.object not in words.SAME_PERSON.get(subject.pronoun.subject, ()))
        return [pronoun.stressed]
    if chosen == "name":
        return person_name(path).french("plain")
    if chosen == "owned":
        return owned(path, kinds).french("plain")
    determiners = words.DEFINITE if preposition in ("after", "before") else PLACE_DETERMINERS
    bare = 1.0 if preposition in ("after", "before") else 0.0
    phrase = noun_phrase(path, kinds, determiners, adjectives=0.08, of=0.06, bare=bare * 0.5, few_plurals=True)
    return phrase.french("generic")


def company(path: Path, subject: Nominal) -> list[str]:
    """The words of the French translation of a phrase such as `with my friends`. A `SamplingPath` samples the English words; a
    `ParsingPath` reads them from its text. The phrase follows a place that `subject` goes to or lives in."""
    path.say("with")
    return ["avec", *_after(path, "with", ("family", "friend", "group", "animal"), subject)]


PLACE_DETERMINERS = words.determiners("the 14, a 3, this 1, that 0.5, my 3, your 1.5, his 1, her 1, our 1, their 1")

DAYS = {
    "monday": "lundi",
    "tuesday": "mardi",
    "wednesday": "mercredi",
    "thursday": "jeudi",
    "friday": "vendredi",
    "saturday": "samedi",
    "sunday": "dimanche",
}
MONTHS = {
    "january": "janvier",
    "february": "février",
    "march": "mars",
    "april": "avril",
    "may": "mai",
    "june": "juin",
    "july": "juillet",
    "august": "août",
    "september": "septembre",
    "october": "octobre",
    "november": "novembre",
    "december": "décembre",
}
SEASONS = {"spring": "le printemps", "summer": "le été", "autumn": "le automne", "winter": "le hiver"}
IN_SEASON = {"spring": "à le printemps", "summer": "en été", "autumn": "en automne", "winter": "en hiver"}
CLOCK = {
    f"{english} o'clock": "une heure" if english == "one" else f"{french} heures"
    for english, french in (words.UNITS | words.TEENS).items()
    if english in (*words.UNITS, "ten", "eleven", "twelve")
}

_AT = {f"at {english}": f"à {french}" for english, french in CLOCK.items()} | {"at noon": "à midi", "at midnight": "à minuit"}
_AT_SHORT = {english.removesuffix(" o'clock"): french for english, french in _AT.items() if english.endswith("o'clock")}
_ON = {f"on {english}": french for english, french in DAYS.items()}
_IN_MONTH = {f"in {english}": f"en {french}" for english, french in MONTHS.items()}
_IN_SEASON = {f"in {english}": french for english, french in IN_SEASON.items()}
_ANY_TIME = {
    "today": "aujourd'hui",
    "in the morning": "le matin",
    "in the afternoon": "le après-midi",
    "in the evening": "le soir",
    "at night": "la nuit",
    "this morning": "ce matin",
    "this afternoon": "cet après-midi",
    "this evening": "ce soir",
    "this week": "cette semaine",
    "for breakfast": "à le petit-déjeuner",
    "for lunch": "à le déjeuner",
    "for dinner": "à le dîner",
    **_AT,
    **_AT_SHORT,
    **_ON,
    **_IN_MONTH,
    **_IN_SEASON,
}
_NOW = {
    "now": "maintenant",
    "every day": "tous les jours",
    "every morning": "tous les matins",
    "every evening": "tous les soirs",
    "every week": "toutes les semaines",
    "every year": "tous les ans",
    **{f"every {english}": f"tous les {french}s" for english, french in DAYS.items()},
    "on weekends": "le week-end",
    **{f"on {english}s": f"le {french}" for english, french in DAYS.items()},
    "this weekend": "ce week-end",
    "tonight": "ce soir",
}
_PAST = {
    "yesterday": "hier",
    "last night": "hier soir",
    "yesterday evening": "hier soir",
    "yesterday morning": "hier matin",
    "last week": "la semaine dernière",
    "last month": "le mois dernier",
    "last year": "le année dernière",
    "last weekend": "le week-end dernier",
    "last summer": "le été dernier",
    **{f"last {english}": f"{french} dernier" for english, french in DAYS.items()},
    **{
        f"{english} {unit}s ago": f"il y a {french} {of_unit}"
        for english, french in list((words.UNITS | words.TEENS).items())[1:10]
        for unit, of_unit in {"day": "jours", "week": "semaines", "month": "mois", "year": "ans"}.items()
    },
}
_FUTURE = {
    "tomorrow": "demain",
    "tomorrow morning": "demain matin",
    "tomorrow evening": "demain soir",
    "next week": "la semaine prochaine",
    "next month": "le mois prochain",
    "next year": "le année prochaine",
    "next weekend": "le week-end prochain",
    "next summer": "le été prochain",
    **{f"next {english}": f"{french} prochain" for english, french in DAYS.items()},
    "soon": "bientôt",
    "tonight": "ce soir",
    "this weekend": "ce week-end",
}


def _times(often: tuple[str, ...], *parts: dict[str, str]) -> Table[str]:
    """A table of times, of which those in `often` are the likeliest. Times of large groups, such as hours, have small weights;
    otherwise most sampled times would be hours."""
    phrases = {english: french for part in parts for english, french in part.items()}
    weights = [
        6.0 if e in often else 0.12 if " ago" in e else 0.5 if e in (_AT | _IN_MONTH | _ON) else 0.3 if e in _AT_SHORT else 1.0
        for e in phrases
    ]
    return Table(list(phrases.items()), weights)


PRESENT_TIMES = _times(("today", "now", "every day"), _ANY_TIME, _NOW)
PAST_TIMES = _times(("yesterday", "today", "last week"), _ANY_TIME, _PAST)
FUTURE_TIMES = _times(("tomorrow", "today", "next week"), _ANY_TIME, _FUTURE)
TIMES = {"present": PRESENT_TIMES, "past": PAST_TIMES, "future": FUTURE_TIMES}
ONLY_PAST_FRENCH = frozenset(_PAST.values())
