"""Sentences with `be`: what, how and where somebody or something is; the weather, the time, `there is`."""

from typing import Literal

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation import place_and_time as adverbials
from transformer.tasks.conversation.frames.frame import Frame, period
from transformer.tasks.conversation.function_words import Determiner
from transformer.tasks.conversation.inflection import Five
from transformer.tasks.conversation.lexicon import (
    ADJECTIVES,
    ALLER,
    ANIMATE,
    AVOIR,
    COUNTRIES,
    ETRE,
    KIND_GROUPS,
    PEOPLE,
    Agreement,
    Conjugation,
    NounForm,
)
from transformer.tasks.conversation.nominal import (
    FORMS_OF,
    NOUN_FORMS,
    TEMPERATURES,
    Modifiers,
    Nominal,
    attributes,
    from_form,
    from_pronoun,
    go_together,
    noun_phrase,
    owned,
    predicate_adjective,
    subject,
)
from transformer.tasks.conversation.path import Path, Table
from transformer.tasks.conversation.verbal import FREQUENCIES, THIRD, be

When = Literal["present", "past"]
THINGS = (
    *("object", "clothing", "food", "vehicle", "place", "furniture", "room", "text", "lesson", "part", "plant", "drink"),
    *("body", "idea", "nature", "sky", "weather"),
)
# Feelings that French expresses with `avoir`: English adjective → French noun.
STATES = {
    "hungry": "faim",
    "thirsty": "soif",
    "cold": "froid",
    "hot": "chaud",
    "warm": "chaud",
    "afraid": "peur",
    "scared": "peur",
    "sleepy": "sommeil",
    "right": "raison",
    "wrong": "tort",
}
STATE_TABLE = Table(list(STATES.items()), [4, 3, 2, 2, 0.5, 2, 1, 1, 1, 1])
ONLY_IT: Table[str] = Table([("it", "it")])
THINGS_IT: Table[str] = Table([(word, word) for word in ("it", "this", "that")], [5, 2, 1.5])
SOMEBODY = KIND_GROUPS["animate"]
# The adjectives for an `it` that refers to no earlier noun (`it is easy`).
_GENERAL = [
    a for a in ADJECTIVES
    if a.predicative and a.english not in (*TEMPERATURES, "late", "early")
    and not (a.strict and (a.kinds <= SOMEBODY or len(a.kinds) == 1))
]  # fmt: skip
_OFTEN_SAID = ("good", "beautiful", "easy", "difficult", "interesting", "expensive", "important")
GENERAL = Table(
    [(a.english, a) for a in _GENERAL],
    [3.0 if a.english in _OFTEN_SAID else 0.02 if a.kinds <= SOMEBODY else 0.6 for a in _GENERAL],
)
CE = Agreement("m", False, THIRD)
SHE, THEY = Agreement("f", False, THIRD), Agreement("m", True, 4)
_THIS_IS = [("it", CE), ("this", CE), ("that", CE), ("he", CE), ("she", SHE)]
_THESE_ARE = [("they", THEY), ("these", THEY), ("those", THEY)]
THIS_IS = Table(
    [*((f"{w} is", a) for w, a in _THIS_IS), *((f"{w} are", a) for w, a in _THESE_ARE)], [4, 4, 1.5, 2, 2, 1.5, 1.5, 1]
)
THIS_WAS = Table([*((f"{w} was", a) for w, a in _THIS_IS), ("they were", THEY)], [4, 1, 1, 0.5, 0.5, 1])
IS_THIS = Table(
    [*((f"is {w}", a) for w, a in _THIS_IS), *((f"are {w}", a) for w, a in _THESE_ARE)], [2, 3, 1, 1, 1, 0.5, 0.5, 0.3]
)


def forms(verb: Conjugation, tense: When) -> Five:
    return verb.imperfect if tense == "past" else verb.present


def tense_of(path: Path, past: float = 0.2) -> When:
    return path.choose({"present": 1 - past, "past": past})


def said(someone: list[str], finite: str, negated: bool, rest: list[str], frequency: list[str] | None = None) -> list[str]:
    """The French words of a clause: the subject `someone`, the verb `finite` with or without negation, the adverb `frequency`,
    and the words after them, `rest`."""
    return [*someone, *(["ne", finite, "pas"] if negated else [finite]), *(frequency or []), *rest]


def described_thing(path: Path, adjectives: float = 0.05) -> Nominal:
    """The subject of a description of a thing, such as `the house` or `these shoes`. A `SamplingPath` samples the English
    words; a `ParsingPath` reads them from its text. `adjectives` is the share of subjects with an adjective."""
    return noun_phrase(path, THINGS, words.DEFINITE, adjectives=adjectives, of=0.3)


def description(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `the dog is black`, `my sister was very tired`, `they are not
    rich` or `it is easy`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    options = {"someone": 1.0, "something": 1.0, "it": 0.6, "generic": 0.1, "owned": 0.12}
    chosen = path.choose(options, {"it": ("it", "this", "that")})
    if chosen == "it":
        return it_is(path)
    if chosen == "someone":
        who = subject(path, adjectives=0.05)
    elif chosen == "something":
        who = described_thing(path)
    elif chosen == "owned":
        who = owned(path, THINGS)
    else:
        who = noun_phrase(path, ("animal", "food", "vehicle", "plant"), bare=1.0, adjectives=0.0, of=0.0)
    tense = tense_of(path, 0.0 if chosen == "generic" else 0.2)
    be(path, who, tense)
    negated = path.says("not", 0.15)
    frequency = [] if negated else (path.optional(FREQUENCIES, 0.04) or "").split()
    adjective = predicate_adjective(path, who)
    time = (path.optional(PAST_SHORT if tense == "past" else NOW_SHORT, 0.08) or "").split()
    finite = forms(ETRE, tense)[who.agreement.slot]
    return [*said(who.subject, finite, negated, [*adjective, *time], frequency), *period(path)]


NOW_SHORT: Table[str] = Table([("today", "aujourd'hui"), ("now", "maintenant")])
PAST_SHORT: Table[str] = Table([("yesterday", "hier"), ("last week", "la semaine dernière"), ("this morning", "ce matin")])


def it_is(path: Path, table: Table[str] = THINGS_IT) -> list[str]:
    """The words of the French translation of a sentence such as `it is easy` or `this is very good`. A `SamplingPath` samples
    the English words; a `ParsingPath` reads them from its text. `table` has the allowed English subjects. The French subject is
    `ce`, but `il` if the adjective fits only people and animals."""
    path.word(table)
    tense = tense_of(path)
    path.say("was" if tense == "past" else "is")
    negated = path.says("not", 0.15)
    degree = path.optional(words.DEGREES, 0.3)
    adjective = path.word(GENERAL)
    it = "il" if adjective.kinds <= SOMEBODY else "ce_"
    finite = forms(ETRE, tense)[THIRD]
    return [*said([it], finite, negated, [*(degree or "").split(), *adjective.form(CE).split()]), *period(path)]


def state(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i am hungry`, `he is not afraid` or `my head hurts`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    options = {"state": 3.0, "well": 0.5, "hurts": 0.7}
    chosen = path.choose(options, {"hurts": words.POSSESSIVES})
    if chosen == "hurts":
        return hurts(path)
    who = subject(path, pronouns=2.5)
    tense = tense_of(path)
    be(path, who, tense)
    negated = path.says("not", 0.2)
    slot = who.agreement.slot
    if chosen == "well":
        path.word(WELL)
        return [*said(who.subject, forms(ALLER, tense)[slot], negated, ["bien"]), *period(path)]
    degree = path.optional(words.DEGREES, 0.2)
    feeling = path.word(STATE_TABLE)
    path.require(who.kind in ANIMATE and (degree is None or feeling not in ("raison", "tort")))
    of = []
    if feeling == "peur" and path.says("of", 0.4):
        of = ["de", *noun_phrase(path, ("animal",), words.DEFINITE, bare=0.6, adjectives=0.05, of=0.0).french("generic")]
    return [*said(who.subject, forms(AVOIR, tense)[slot], negated, [*(degree or "").split(), feeling, *of]), *period(path)]


WELL = Table([("fine", ""), ("well", "")])


def hurts(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `my head hurts` (`j'ai mal à la tête`). A `SamplingPath`
    samples the English words; a `ParsingPath` reads them from its text."""
    who = path.word(HURTING)
    number = path.meaning(("singular", "singular", "plural"))
    form = path.word(NOUN_FORMS, FORMS_OF["body", number] if number else None)
    path.require(form.noun.kind == "body")
    path.say("hurt" if form.number == "plural" else "hurts")
    part = from_form(form, words.DETERMINERS["the"]).french("plain")
    return [who.french, AVOIR.present[who.agreement.slot], "mal", "à", *part, *period(path)]


HURTING = Table(
    list(zip(words.POSSESSIVES, (*words.PRONOUNS[:4], *words.PRONOUNS[5:]), strict=True)), [5, 2, 1.5, 1.5, 0.3, 0.3]
)


def identity(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `this is my mother`, `it is a cat`, `these are my shoes`, `anna
    is my sister` or `a dog is an animal`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its
    text."""
    options = {"this": 3.0, "someone": 1.2, "city": 0.3, "same": 0.15, "all": 0.1, "mine": 0.3}
    starts = {"this": THIS_IS.by_first, "city": {*adverbials.CITY_TABLE.by_first, *adverbials.COUNTRY_TABLE.by_first}}
    chosen = path.choose(options, starts)
    if chosen == "this":
        return this_is(path)
    if chosen == "city":
        return city_is(path)
    if chosen == "mine":
        return mine(path)
    if chosen == "same":
        who = noun_phrase(path, ("animal", "vehicle"), A, adjectives=0.0, of=0.0)
    elif chosen == "all":
        who = noun_phrase(path, ("animal", "vehicle"), bare=1.0, adjectives=0.0, of=0.0)
        path.require(who.english_slot == 4)
    else:
        who = subject(path, pronouns=0.4)
    tense = tense_of(path, 0.1)
    be(path, who, tense)
    negated = path.says("not", 0.12)
    kinds = (who.kind,) if chosen in ("same", "all") else ("family", "friend")
    path.require(who.pronoun is None or who.agreement.slot not in (2, 4))  # `he is my friend` is `c'est mon ami`
    what = matched(path, who, kinds)
    finite = forms(ETRE, tense)[who.agreement.slot]
    return [*said(who.subject if chosen != "same" else who.french("plain"), finite, negated, what), *period(path)]


A = Table([("a", words.DETERMINERS["a"])])


def matched(path: Path, who: Nominal, kinds: tuple[str, ...], adjectives: float = 0.12) -> list[str]:
    """The words of the French translation of what somebody is, such as `my friend`: a noun phrase with the number of `who`, and
    with the gender of `who` if the noun has both genders. A `SamplingPath` samples the English words; a `ParsingPath` reads
    them from its text. `kinds` are the kinds of noun that are sampled; `adjectives` is the share of phrases with an
    adjective."""
    plural = who.english_slot in (3, 4)
    options = {"phrase": 1.0, "owned": 0.1}
    if path.choose(options) == "owned":
        what = owned(path, kinds)
        path.require((what.english_slot == 4) == plural)
        return what.french("plain")
    kind = path.meaning(kinds)
    table = IDENTITY_PLURAL if plural else IDENTITY
    shares = {"bare": 1.0, "determiner": 2.0} if plural else {"determiner": 1.0}
    bare = path.choose(shares, {"determiner": table.by_first}) == "bare"
    determiner = words.BARE if bare else path.word(table)
    modifiers = attributes(path, kind, adjectives)
    number = "plural" if plural else "singular"
    form = path.word(NOUN_FORMS, FORMS_OF.get((kind or "", number)))
    path.require(form.number == number and go_together(form, modifiers))
    path.require(not (form.noun.kind == "job" and determiner.sense in ("a", "bare") and not modifiers))
    return of_someone(form, determiner, modifiers, who).french("plain")


def of_someone(form: NounForm, determiner: Determiner, modifiers: Modifiers, who: Nominal) -> Nominal:
    """The noun phrase for what somebody is. A noun with both genders has the gender of `who`."""
    agreement = form.agreement._replace(gender=who.agreement.gender) if form.noun.has_both_genders else None
    return from_form(form, determiner, modifiers, agreement)


IDENTITY = words.determiners("a 4, the 1, my 4, your 2, his 1.5, her 1.5, our 1, their 1")
IDENTITY_PLURAL = words.determiners("the 1, my 4, your 2, his 1.5, her 1.5, our 1, their 1")


def this_is(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `this is my mother`, `they are not good books` or `it was a
    good film`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    past = path.choose({"present": 1.0, "past": 0.12}) == "past"
    table = THIS_WAS if past else THIS_IS
    who = path.word(table)
    plural = who.plural
    negated = path.says("not", 0.15)
    finite = forms(ETRE, "past" if past else "present")[4 if plural else THIRD]
    if path.choose({"phrase": 1.0, "owned": 0.2}) == "owned":
        what = owned(path, THINGS_AND_PEOPLE)
    else:
        what = noun_phrase(
            path,
            THINGS_AND_PEOPLE,
            MANY_THINGS if plural else ONE_THING,
            bare=0.3 if plural else 0.06,
            adjectives=0.2,
            person=who,
        )
    path.require((what.english_slot == 4) == plural)
    time = [] if past else (path.optional(NOW_SHORT, 0.04) or "").split()
    return [*said(["ce_"], finite, negated, [*what.french("plain"), *time]), *period(path)]


THINGS_AND_PEOPLE = (*THINGS, "family", "family", "animal", "animal", "person", "friend", "object", "idea")
ONE_THING = words.determiners("a 5, the 2, my 4, your 2, his 1, her 1, our 1, their 1")
MANY_THINGS = words.determiners("the 2, my 4, your 2, his 1, her 1, our 1, their 1")


def mine(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `those shoes are mine` (`ces chaussures sont à moi`). A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    what = noun_phrase(path, ("object", "clothing", "animal", "vehicle"), words.DEFINITE, adjectives=0.05, of=0.0)
    be(path, what)
    negated = path.says("not", 0.15)
    return [*said(what.subject, ETRE.present[what.agreement.slot], negated, ["à", path.word(MINE)]), *period(path)]


MINE = Table([("mine", "moi"), ("yours", "toi"), ("hers", "elle"), ("ours", "nous"), ("theirs", "eux")], [4, 3, 1, 1, 1])


def city_is(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `paris is a beautiful city` or `france is a country`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    if path.choose({"city": 1.0, "country": 0.6}, {"city": adverbials.CITY_TABLE.by_first}) == "city":
        who, finite = path.word(adverbials.CITY_TABLE).split(), "est"
    else:
        country = path.word(COUNTRIES_WITHOUT_THE)
        who, finite = adverbials.the_country(country).subject, "sont" if country.gender == "mp" else "est"
    path.say("is")
    negated = path.says("not", 0.1)
    what = noun_phrase(path, ("town",), A, adjectives=0.8)
    return [*said(who, finite, negated, what.french("plain")), *period(path)]


COUNTRIES_WITHOUT_THE = Table([(english, country) for english, country in COUNTRIES.items()])


def job(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i am a student`, `my mother is a doctor`, `we are not
    teachers` or `she is a good singer`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its
    text."""
    who = subject(path, pronouns=1.7)
    tense = tense_of(path, 0.1)
    be(path, who, tense)
    negated = path.says("not", 0.15)
    plural = who.english_slot in (3, 4)
    if not plural:
        path.say("a")
    modifiers = attributes(path, path.meaning(("job",)), 0.15)
    number = "plural" if plural else "singular"
    form = path.word(NOUN_FORMS, FORMS_OF["job", number])
    path.require(form.noun.kind == "job" and form.number == number and who.kind in PEOPLE)
    slot = who.agreement.slot
    finite = forms(ETRE, tense)[slot]
    determiner = words.NO_ARTICLE if not modifiers else words.BARE if plural else words.DETERMINERS["a"]
    path.require(form.noun.has_both_genders or form.noun.gender == who.agreement.gender)  # a man cannot be a waitress
    what = [*of_someone(form, determiner, modifiers, who).french("plain"), *place_or_none(path, 0.06)]
    is_ce = bool(modifiers) and who.pronoun is not None and slot in (2, 4)
    return [*said(["ce_"] if is_ce else who.subject, finite, negated, what), *period(path)]


def location(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `the cat is on the table`, `we were at home yesterday` or `it
    is in the kitchen`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    options = {"someone": 1.3, "something": 1.3, "it": 0.3}
    chosen = path.choose(options, {"it": ("it",)})
    if chosen == "it":
        path.say("it")
        who = from_pronoun(words.PRONOUNS[4])
    else:
        who = subject(path) if chosen == "someone" else noun_phrase(path, MOVABLE, words.DEFINITE, adjectives=0.07, of=0.1)
    tense = tense_of(path)
    be(path, who, tense)
    negated = path.says("not", 0.15)
    where = adverbials.place(path, subject=who)
    time = (path.optional(PAST_SHORT if tense == "past" else NOW_SHORT, 0.1) or "").split()
    return [*said(who.subject, forms(ETRE, tense)[who.agreement.slot], negated, [*where, *time]), *period(path)]


MOVABLE = ("object", "clothing", "food", "furniture", "vehicle", "place", "object", "animal")


def existence(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `there are three books on the table`, `there is not any milk`
    or `there was a cat in the garden`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    path.say("there")
    tense = tense_of(path, 0.15)
    be_form = path.choose({"is": 1.0, "are": 1.0}) if tense == "present" else path.choose({"was": 1.0, "were": 1.0})
    path.say(be_form)
    negated = path.says("not", 0.15)
    plural = be_form in ("are", "were")
    no = not negated and path.choose({"some": 0.94, "no": 0.06}, {"no": ("no",)}) == "no"
    what = existing(path, "no" if no else "negative" if negated else "positive", plural)
    negated = negated or no
    where = place_or_none(path, 0.65)
    finite = forms(AVOIR, tense)[THIRD]
    y = ["ne", "y", finite, "pas"] if negated else ["y", finite]
    return ["il", *y, *what, *where, *period(path)]


def existing(path: Path, polarity: str, plural: bool) -> list[str]:
    """The words of the French translation of the noun phrase after `there is` or `there are`, such as `a cat`, `three books` or
    `no milk`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text. `polarity` is a `Polarity`,
    or "no" for a phrase with `no`; `plural` is whether the verb is `are` or `were`."""
    kinds = ("object", "animal", "person", "furniture", "food", "drink", "place", "vehicle", "plant", "clothing", "room")
    table = {"negative": EXISTING_NEGATIVE, "no": words.NO, "question": EXISTING_QUESTION}.get(polarity, EXISTING)
    what = noun_phrase(
        path,
        kinds,
        table,
        bare=0.0 if polarity == "no" else 0.15,
        adjectives=0.12,
        numbers=("plural",) if plural else ("singular", "mass"),
    )
    path.require((what.english_slot == 4) == plural)
    return what.french("negated" if polarity in ("negative", "no") else "plain")


_COUNTED = {word: 1.0 if word in ("two", "three", "four", "five") else 0.35 for word in words.COUNTS}
_EXISTING = {"a": 6.0, "some": 3.0, "many": 1.5, "a lot of": 1.0} | _COUNTED
EXISTING = Table([(w, (words.DETERMINERS | words.COUNTS)[w]) for w in _EXISTING], list(_EXISTING.values()))
EXISTING_NEGATIVE = words.determiners("a 2, any 3, many 0.5")
EXISTING_QUESTION = words.determiners("a 3, any 2, some 0.5")


def place_or_none(path: Path, share: float) -> list[str]:
    chosen = path.choose({"none": 1 - share, "place": share}, {"place": PLACE_STARTS})
    return adverbials.place(path, only_where=True, fixed=0.2) if chosen == "place" else []


PLACE_STARTS = {*adverbials.PREPOSITION_TABLE.by_first, *adverbials.FIXED_PLACES.by_first, "between"}

# English adjective or participle for the weather → the French clause in the present and in the past.
WEATHER = {
    "cold": ("il fait froid", "il faisait froid"),
    "hot": ("il fait chaud", "il faisait chaud"),
    "warm": ("il fait chaud", "il faisait chaud"),
    "sunny": ("il y a du soleil", "il y avait du soleil"),
    "windy": ("il y a du vent", "il y avait du vent"),
    "cloudy": ("il y a des nuages", "il y avait des nuages"),
    "dark": ("il fait nuit", "il faisait nuit"),
    "raining": ("il pleut", "il pleuvait"),
    "snowing": ("il neige", "il neigeait"),
}
WEATHER_TABLE = Table(list(WEATHER.items()), [3, 2, 1, 1.5, 1, 1, 0.5, 4, 2])


def weather_words(french: str, negated: bool) -> list[str]:
    """The words of a French clause about the weather, negated or not: `il y a du vent` → `il ne y a pas de vent`."""
    it, *rest = french.split()
    if not negated:
        return [it, *rest]
    if rest[0] == "y":
        return [it, "ne", *rest[:2], "pas", "de", *rest[3:]]
    return [it, "ne", rest[0], "pas", *rest[1:]]


def weather(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `it is cold`, `in winter it is cold`, `it was raining in paris
    yesterday` or `the weather is nice`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its
    text."""
    first = (path.optional(WEATHER_TIMES, 0.05) or "").split()
    return [*first, *_weather(path, not first), *period(path)]


def _weather(path: Path, with_time: bool) -> list[str]:
    options = {"it": 4.0, "nice": 0.5, "will": 0.4}
    chosen = path.choose(options, {"it": ("it",), "nice": ("the",), "will": ("it",)})
    if chosen == "will":
        french = path.word(WILL_RAIN).split()
        where = weather_place(path)
        return [*french, *where, *(path.optional(adverbials.FUTURE_TIMES, 0.4) or "").split()]
    path.say(*(("it",) if chosen == "it" else ("the", "weather")))
    tense = tense_of(path)
    path.say("was" if tense == "past" else "is")
    negated = path.says("not", 0.15)
    if chosen == "nice":
        french = path.word(FINE)[tense == "past"]
    else:
        degree = path.optional(VERY, 0.15)
        french = path.word(WEATHER_TABLE)[tense == "past"]
        if degree is not None:
            path.require(french.split()[-1] in ("froid", "chaud"))
            french = " ".join([*french.split()[:-1], degree, french.split()[-1]])
    where = weather_place(path)
    time = (path.optional(PAST_SHORT if tense == "past" else WEATHER_TIMES, 0.25) or "").split() if with_time else []
    return [*weather_words(french, negated), *where, *time]


WILL_RAIN = Table(
    [
        (f"it {will} {falls}", f"il va {french}")
        for will in ("is going to", "will")
        for falls, french in (("rain", "pleuvoir"), ("snow", "neiger"))
    ]
)
FINE = Table([(word, ("il fait beau", "il faisait beau")) for word in ("nice", "good", "beautiful", "fine")]
             + [("bad", ("il fait mauvais", "il faisait mauvais"))])  # fmt: skip
VERY = Table([("very", "très"), ("too", "trop"), ("so", "si")])
_SEASONS = [(f"in {english}", french) for english, french in adverbials.IN_SEASON.items()]
_MONTHS = [(f"in {english}", f"en {french}") for english, french in adverbials.MONTHS.items()]
_DAYS = [(f"on {english}", french) for english, french in adverbials.DAYS.items()]
WEATHER_TIMES = Table(
    [("today", "aujourd'hui"), ("now", "maintenant"), ("outside", "dehors"), *_SEASONS, *_MONTHS],
    [6.0, 2.0, 2.0, *[1.0] * len(_SEASONS), *[0.4] * len(_MONTHS)],
)


def weather_place(path: Path) -> list[str]:
    chosen = path.choose({"none": 1.0, "place": 0.25}, {"place": ("in", "here")})
    if chosen == "none":
        return []
    if path.choose({"named": 3.0, "here": 1.0}, {"here": ("here",), "named": ("in",)}) == "here":
        path.say("here")
        return ["ici"]
    path.say("in")
    if path.choose({"city": 1.0, "country": 1.0}, {"city": adverbials.CITY_TABLE.by_first}) == "city":
        return ["à", *path.word(adverbials.CITY_TABLE).split()]
    return adverbials.in_country(path.word(adverbials.COUNTRY_TABLE))


def calendar(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `it is eight o'clock`, `today is monday`, `my birthday is in
    july` or `my favourite colour is blue`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its
    text."""
    options = {"clock": 2.0, "day": 1.5, "event": 1.0, "favourite": 1.5}
    starts = {"clock": ("it",), "day": ("it", "today", "tomorrow")}
    chosen = path.choose(options, starts)
    if chosen == "clock":
        path.say("it", "is")
        half = path.says("half", 0.25)
        if half:
            path.say("past")
            hour = path.word(HOURS)
            return ["il", "est", *hour.split(), "et", "demie", *period(path)]
        return ["il", "est", *path.word(CLOCK).split(), *period(path)]
    if chosen == "day":
        return day(path)
    if chosen == "favourite":
        return favourite(path)
    whose = path.word(words.OWNERS)
    what = from_form(path.word(EVENTS), whose)
    be(path, what)
    when = path.word(EVENT_TIMES).split()
    return [*what.subject, ETRE.present[what.agreement.slot], *when, *period(path)]


_EVENTS = ("birthday", "party", "trip", "lesson", "class", "holidays", "vacation")
EVENTS = Table([(word, form) for words_, form in NOUN_FORMS.entries if (word := " ".join(words_)) in _EVENTS])
_NOON = {"noon": "midi", "midnight": "minuit"}
_LATE = {"late": "tard", "early": "tôt", "too late": "trop tard", "very late": "très tard"} | _NOON
CLOCK = Table([*adverbials.CLOCK.items(), *_LATE.items()])
HOURS = Table([(english.split()[0], french) for english, french in adverbials.CLOCK.items()])
EVENT_TIMES = Table([*_MONTHS, *_DAYS, *_SEASONS, ("today", "aujourd'hui"), ("tomorrow", "demain")])
DAY_TABLE = Table(list(adverbials.DAYS.items()))


def day(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `it is monday`, `today is friday` or `tomorrow is my birthday`.
    A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    options = {"today": 1.0, "tomorrow": 1.0, "it": 1.0}
    which = path.choose(options, {word: (word,) for word in options})
    path.say(which, "is")
    before = {"today": ["aujourd'hui"], "tomorrow": ["demain"], "it": []}[which]
    what = path.word(DAY_TABLE)
    time = ["aujourd'hui"] if which == "it" and path.says("today", 0.4) else []
    return [*before, "ce_", "est", what, *time, *period(path)]


def favourite(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `my favourite colour is blue` or `her favourite animal is the
    cat`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    whose = path.word(WHOSE)
    path.word(FAVOURITE)
    what, answers = path.word(FAVOURITES)
    path.say("is")
    noun = from_form(what, whose, [([], PREFERRED)])
    return [*noun.subject, "est", *path.word(answers).split(), *period(path)]


PREFERRED = next(a for a in ADJECTIVES if a.english == "favourite")
FAVOURITE = Table([("favourite", None), ("favorite", None)])
WHOSE = words.determiners("my 5, your 1.5, his 1, her 1, our 0.5, their 0.5")
_COLOURS = ["red", "blue", "green", "yellow", "black", "white", "brown", "grey", "gray", "pink", "orange", "purple"]
COLOURS = {word: next(a for a in ADJECTIVES if a.english == word and not a.strict).forms[0] for word in _COLOURS}


def _the(kind: str, number: str) -> list[tuple[str, str]]:
    table = FORMS_OF[kind, number]
    article = "the " if kind == "animal" else ""
    return [
        (article + " ".join(e), " ".join(from_form(form, words.DETERMINERS["the"]).french("plain")))
        for e, form in table.entries
    ]


_BARE_ANSWERS = {
    "colour": [(word, f"le {french}") for word, french in COLOURS.items()],
    "color": [(word, f"le {french}") for word, french in COLOURS.items()],
    "animal": _the("animal", "singular"),
    "food": _the("food", "mass"),
    "sport": [(e, f) for e, f in _the("sport", "mass") if e != "chess"],
    "language": _the("language", "mass"),
    "subject": _the("subject", "mass"),
    "season": list(adverbials.SEASONS.items()),
    "day": [(english, f"le {french}") for english, french in adverbials.DAYS.items()],
    "month": [(english, french) for english, french in adverbials.MONTHS.items()],
    "city": [(english, french) for english, french in adverbials.CITIES.items()],
}
_FORM_BY_WORD = {" ".join(e): form for e, form in NOUN_FORMS.entries}
FAVOURITES = Table(
    [(word, (_FORM_BY_WORD[word], Table(answers))) for word, answers in _BARE_ANSWERS.items() if word in _FORM_BY_WORD]
)

FRAMES = (
    Frame("time and favourites", 2.5, calendar),  # before `description`, because of `my favourite colour is white`
    Frame("description", 8.0, description),
    Frame("state", 3.0, state),
    Frame("job", 5.0, job),
    Frame("identity", 4.5, identity),
    Frame("location", 4.5, location),
    Frame("there is", 4.0, existence),
    Frame("weather", 2.5, weather),
)
