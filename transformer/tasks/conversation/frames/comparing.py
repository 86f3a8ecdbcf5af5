"""Sentences that compare: comparatives (`taller than`), superlatives (`the tallest`) and equals (`as tall as`)."""

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation.frames.being import THINGS, forms, said, tense_of
from transformer.tasks.conversation.frames.frame import Frame, period
from transformer.tasks.conversation.inflection import four_forms
from transformer.tasks.conversation.lexicon import ADJECTIVES, ANIMATE, ETRE, PEOPLE, Adjective, Agreement
from transformer.tasks.conversation.nominal import (
    FORMS_OF,
    KINDS,
    NOUN_FORMS,
    PREDICATES,
    Nominal,
    noun_phrase,
    owned,
    subject,
)
from transformer.tasks.conversation.path import Path, Table
from transformer.tasks.conversation.verbal import THIRD, be

GRADED = [a for a in ADJECTIVES if a.comparative]


def _table(attribute: str, chosen: list[Adjective]) -> Table[Adjective] | None:
    return Table([(getattr(a, attribute), a) for a in chosen]) if chosen else None


COMPARATIVES = Table([(a.comparative, a) for a in GRADED])
SUPERLATIVES = Table([(a.superlative, a) for a in GRADED])
COMPARATIVES_OF = {kind: _table("comparative", [a for a in GRADED if kind in a.kinds]) for kind in KINDS}
SUPERLATIVES_OF = {kind: _table("superlative", [a for a in GRADED if kind in a.kinds]) for kind in KINDS}
EQUALS_OF = {kind: _table("english", [a for a in GRADED if kind in a.kinds]) for kind in KINDS}
MEILLEUR, PIRE = four_forms("meilleur"), four_forms("pire")


def more(adjective: Adjective, agreement: Agreement) -> list[str]:
    """The French comparative: `plus grand`, or the single words `meilleur` and `pire`."""
    if adjective.comparative == "better":
        return [agreement.of(MEILLEUR)]
    if adjective.comparative == "worse":
        return [agreement.of(PIRE)]
    return ["plus", *adjective.form(agreement).split()]


def compared(path: Path, than: Nominal | None) -> Nominal:
    """One side of a comparison. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text. For the
    second side, `than` is the first side; for the first side, `than` is None."""
    somebody = path.meaning((True, False)) if than is None else is_somebody(than)
    # A sampled comparison has two sides of the same kind. In a text that is parsed, any two sides are allowed.
    shares = (
        {"someone": 1.0, "something": 1.0} if somebody is None else {"someone": somebody + 0.0, "something": 1.0 - somebody}
    )
    if path.choose(shares) == "someone":
        return subject(path, pronouns=0.6, adjectives=0.0)
    kinds = THINGS if than is None or is_somebody(than) else (than.kind,)
    if path.choose({"phrase": 1.0, "owned": 0.15}) == "owned":
        return owned(path, kinds)
    return noun_phrase(path, kinds, words.DEFINITE, adjectives=0.0, of=0.0)


def is_somebody(nominal: Nominal) -> bool:
    return nominal.kind in ANIMATE


def other_side(path: Path, first: Nominal) -> list[str]:
    """The words of the French translation (after `que`) of the second side of a comparison, such as `me`, `my brother` or `the
    bus`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text. `first` is the first side."""
    options = {"pronoun": 0.5 if first.kind in PEOPLE else 0.0, "other": 1.0}
    if path.choose(options, {"pronoun": words.OBJECTS.by_first}) == "pronoun":
        return [path.word(words.PERSON_OBJECTS).stressed]
    other = compared(path, first)
    path.require(other.pronoun is None)
    return other.french("generic")


def comparison(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `my sister is taller than my brother`, `the car is as fast as
    the train` or `she is not as old as me`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its
    text."""
    how = path.choose({"more": 3.0, "as": 1.5, "less": 0.3})
    first = compared(path, None)
    tense = tense_of(path, 0.12)
    be(path, first, tense)
    negated = path.says("not", 0.15)
    if how == "more":
        adjective = path.word(COMPARATIVES, COMPARATIVES_OF.get(first.kind))
        words_ = more(adjective, first.agreement)
        if path.choose({"than": 0.88, "alone": 0.12}, {"than": ("than",)}) == "alone":
            path.require(adjective.fits(first.kind))
            return [*said(first.subject, forms(ETRE, tense)[first.agreement.slot], negated, words_), *period(path)]
        path.say("than")
    else:
        path.say("as" if how == "as" else "less")
        adjective = path.word(PREDICATES, EQUALS_OF.get(first.kind))
        path.say("as" if how == "as" else "than")
        words_ = ["moins" if how == "less" else "aussi", *adjective.form(first.agreement).split()]
    path.require(adjective.fits(first.kind))
    finite = forms(ETRE, tense)[first.agreement.slot]
    return [*said(first.subject, finite, negated, [*words_, "que", *other_side(path, first)]), *period(path)]


def group(path: Path) -> list[str]:
    """The words of the French translation of the group of a superlative, such as `in the class` (`de la classe`). A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text. Empty without a group."""
    if not path.says("in", 0.3):
        return []
    kinds = ("place", "lesson", "world", "family", "place")
    return ["de", *noun_phrase(path, kinds, GROUP, adjectives=0.0, of=0.0, numbers=("singular",)).french("plain")]


GROUP = words.determiners("the 10, my 1, this 1, our 1")


def superlative(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `she is the tallest`, `this is the biggest house` or `he is the
    best student in the class`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    chosen = path.choose({"alone": 1.0, "noun": 1.0, "this": 1.0}, {"this": ("this", "it", "that")})
    who = None
    if chosen == "this":
        path.word(THIS)
        someone, finite = ["ce_"], "est"
    else:
        who = compared(path, None)
        tense = tense_of(path, 0.1)
        be(path, who, tense)
        someone, finite = who.subject, forms(ETRE, tense)[who.agreement.slot]
    path.say("the")
    if who is not None and chosen == "alone":
        adjective = path.word(SUPERLATIVES, SUPERLATIVES_OF.get(who.kind))
        path.require(adjective.fits(who.kind))
        best = [definite(who.agreement), *more(adjective, who.agreement)]
        return [*someone, finite, *best, *group(path), *period(path)]
    kinds = THINGS if who is None else ("animal", "job", "friend") if is_somebody(who) else (who.kind,)
    kind = path.meaning(kinds)
    adjective = path.word(SUPERLATIVES, SUPERLATIVES_OF.get(kind or ""))
    form = path.word(NOUN_FORMS, FORMS_OF.get((kind or "", "singular")))
    path.require(form.number == "singular" and adjective.fits(form.noun.kind))
    agreement = form.agreement
    if who is not None:
        path.require(who.english_slot not in (3, 4))
        if form.noun.has_both_genders:
            agreement = agreement._replace(gender=who.agreement.gender)
        if who.pronoun is not None and who.agreement.slot == THIRD:
            someone = ["ce_"]
    best = _superlative_noun(adjective, agreement, agreement.of(form.noun.french).split())
    return [*someone, finite, *best, *group(path), *period(path)]


def definite(agreement: Agreement) -> str:
    return "les" if agreement.plural else "la" if agreement.gender == "f" else "le"


THIS = Table([("this is", None), ("it is", None), ("that is", None)], [2, 2, 1])


def _superlative_noun(adjective: Adjective, agreement: Agreement, noun: list[str]) -> list[str]:
    """The French of a superlative and its noun: `le plus grand chat`, `le livre le plus intéressant`."""
    article = definite(agreement)
    degree = more(adjective, agreement)
    if adjective.before or len(degree) == 1:
        return [article, *degree, *noun]
    return [article, *noun, article, *degree]


FRAMES = (
    Frame("comparison", 3.0, comparison),
    Frame("superlative", 3.0, superlative),
)
