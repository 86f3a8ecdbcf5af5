"""Fixed phrases, introductions, ages and origins."""

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation import place_and_time as adverbials
from transformer.tasks.conversation.frames.frame import PERIOD_SHARE, PLEASE, QUESTION_MARK_SHARE, Frame, period
from transformer.tasks.conversation.lexicon import ANIMATE, AVOIR, NAMES, Agreement, conjugation, rows
from transformer.tasks.conversation.nominal import (
    PREDICATES,
    noun_phrase,
    object_phrase,
    owner,
    person_name,
    subject,
)
from transformer.tasks.conversation.path import Path, Table
from transformer.tasks.conversation.verbal import BE, THIRD, be

_ROWS = list(rows("phrases"))
PHRASES = Table([(row["english"], row["french"]) for row in _ROWS], [float(row["weight"]) for row in _ROWS])
# The texts of these phrases. A model can translate only the phrases that it was trained on, so all of them are in training.
FIXED = frozenset(row["english"] for row in _ROWS)
_VOCATIVES = ("hello", "hi", "good morning", "good evening", "good night", "goodbye", "thank you", "thanks", "see you tomorrow")
GREETINGS = Table([(e, f) for e, f in ((row["english"], row["french"]) for row in _ROWS) if e in (*_VOCATIVES, "how are you")])
VENIR, SE_APPELER = conjugation("venir"), conjugation("appeler")
REFLEXIVE = words.REFLEXIVE


def courtesy(path: Path) -> list[str]:
    """The words of the French translation of a fixed phrase, a greeting with a name, thanks for something, or a request. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    chosen = path.choose({"phrase": 6.0, "greeting": 1.0, "for": 0.25, "request": 0.6}, {"for": ("thank", "thanks")})
    if chosen == "for":
        path.word(THANKS)
        what = noun_phrase(path, ("object", "food", "help", "meal"), words.OWNERS, adjectives=0.05, of=0.0)
        return ["merci", "pour", *what.french("plain"), *period(path)]
    if chosen == "request":
        what = object_phrase(path, REQUESTED, "positive", bare=0.1)
        path.say("please")
        path.require(what.kind in REQUESTED)  # `work please` is an order, so another frame parses it
        return [*what.french("plain"), *PLEASE, *period(path)]
    if chosen == "phrase":
        french = path.word(PHRASES)
    else:
        french = path.word(GREETINGS)
        name = path.word(VOCATIVES)
        question = french.endswith("?")
        french = f"{french.removesuffix(' ?')} {name}" + " ?" * question
    if french.endswith("?"):
        mark = path.says("?", QUESTION_MARK_SHARE)
        return split(french if mark else french.removesuffix(" ?"))
    return [*split(french), *["."] * path.says(".", PERIOD_SHARE)]


REQUESTED = ("drink", "drink", "food", "object", "bill")
THANKS = Table([("thank you for", None), ("thanks for", None)], [3, 1])
_CALLED = {
    "mom": "maman",
    "dad": "papa",
    "my friend": "mon ami",
    "teacher": "professeur",
    "sir": "monsieur",
    "everyone": "tout le monde",
    "madam": "madame",
}
VOCATIVES = Table([*((name, name) for name in NAMES), *_CALLED.items()], [1.0] * len(NAMES) + [3.0] * len(_CALLED))


def split(french: str) -> list[str]:
    """The tokens of a French phrase. A word is split after its apostrophe, unless it is `aujourd'hui` or has a hyphen before
    the apostrophe."""
    tokens: list[str] = []
    for word in french.split():
        head, apostrophe, tail = word.partition("'")
        tokens += [word] if not apostrophe or word == "aujourd'hui" or "-" in head else [head + "'", tail]
    return tokens


def introduction(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `my name is anna`, `i am anna`, `her name is lucy`, `my sister
    's name is kate` or `this is tom`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    options = {"name": 3.0, "i am": 1.5, "owner": 0.7, "this is": 0.6, "called": 0.3}
    starts = {"name": words.OWNERS.by_first, "this is": ("this",), "i am": words.SUBJECTS.by_first}
    chosen = path.choose(options, starts)
    if chosen == "this is":
        path.say("this", "is")
        return ["ce_", "est", *person_name(path).subject, *period(path)]
    if chosen == "i am":
        pronoun = path.word(words.PERSON_SUBJECTS)
        path.say(BE["present"][pronoun.agreement.slot])
        path.require(not pronoun.agreement.plural)
        someone = pronoun.french
        return [someone, ETRE_PRESENT[pronoun.agreement.slot], *person_name(path).subject, *period(path)]
    if chosen == "owner":
        someone = owner(path)
        path.say("name", "is")
        return [*someone.french("plain"), *called(someone.agreement), *person_name(path).subject, *period(path)]
    if chosen == "called":
        someone = subject(path, pronouns=1.0)
        be(path, someone)
        path.say("called")
        path.require(someone.agreement.slot == THIRD)
        return [*someone.subject, *called(someone.agreement), *person_name(path).subject, *period(path)]
    possessive = path.word(NAMED)
    path.say("name", "is")
    call = called(possessive.agreement)
    call = ["ne", *call, "pas"] if path.says("not", 0.06) else call
    return [possessive.french, *call, *person_name(path).subject, *period(path)]


NAMED = Table([(det, p) for det, p in zip(("my", "your", "his", "her"), words.PRONOUNS[:4], strict=True)], [5, 1, 1.5, 1.5])
ETRE_PRESENT = ("suis", "es", "est", "sommes", "sont")


def called(agreement: Agreement) -> list[str]:
    return [REFLEXIVE[agreement.slot], SE_APPELER.present[agreement.slot]]


def age(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i am twelve years old` or `my brother is twenty one`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    someone = subject(path, pronouns=2.0, kinds=("family", "family", "job", "person"))
    be(path, someone)
    number = path.word(NUMBERS)
    if number == "un":
        path.say("year", "old")
        return [*someone.subject, AVOIR.present[someone.agreement.slot], "un", "an", *period(path)]
    if path.says("years", 0.8):
        path.say("old")
    return [*someone.subject, AVOIR.present[someone.agreement.slot], *number.split(), "ans", *period(path)]


NUMBERS = Table(list(words.NUMBERS.items()))


def origin(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i am from france`, `she is spanish` or `he was born in italy`.
    A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    someone = subject(path, pronouns=2.5, kinds=("family", "family", "job", "person"))
    slot = someone.agreement.slot
    options = {"from": 2.0, "nation": 2.0, "born": 0.7}
    chosen = path.choose(options, {"born": ("was", "were")})
    if chosen == "from":
        be(path, someone)
        negation = path.says("not", 0.12)
        finite = ["ne", VENIR.present[slot], "pas"] if negation else [VENIR.present[slot]]
        return [*someone.subject, *finite, *adverbials.origin(path), *period(path)]
    if chosen == "nation":
        be(path, someone)
        negation = path.says("not", 0.15)
        adjective = path.word(NATIONS)
        path.require(someone.kind in ANIMATE)
        finite = ["ne", ETRE_PRESENT[slot], "pas"] if negation else [ETRE_PRESENT[slot]]
        return [*someone.subject, *finite, adjective.form(someone.agreement), *period(path)]
    be(path, someone, "past")
    path.say("born")
    where = path.choose({"place": 1.5, "month": 1.0})
    when = adverbials.place(path, only_where=True) if where == "place" else [*path.word(BORN_IN).split()]
    return [*someone.subject, ETRE_PRESENT[slot], someone.agreement.of(("né", "née", "nés", "nées")), *when, *period(path)]


NATIONS = Table([(" ".join(english), a) for english, a in PREDICATES.entries if {"person", "city"} <= a.kinds])
BORN_IN = Table([(f"in {english}", f"en {french}") for english, french in adverbials.MONTHS.items()])

FRAMES = (
    Frame("courtesy", 6.0, courtesy, opens=False),
    Frame("name", 3.5, introduction),
    Frame("age", 2.5, age),
    Frame("origin", 3.5, origin),
)
