"""The sentences without a *because* clause, by form. Each function draws the clause of one form."""

from collections.abc import Callable
from dataclasses import replace

from transformer.worlds.french.draw import PERSONS, Draw
from transformer.worlds.french.function_words import INDEFINITES
from transformer.worlds.french.nouns import ANIMATE, KINDS
from transformer.worlds.french.tree import Clause, Nominal, NounPhrase, Relative, VerbPhrase
from transformer.worlds.french.verbs import ANY_ANY, VERBS, WITH_ETRE, WITH_OBJECT, WITH_RECIPIENT, WITHOUT_OBJECT

DIRECT = (*ANY_ANY, *WITH_OBJECT)
GIVING = tuple(verb for verb in WITH_RECIPIENT if verb.takes_object)
INTRANSITIVE = (*WITHOUT_OBJECT, *WITH_ETRE)
# The verbs that the *because* sentences do not use come twice.
POOL = (*VERBS, *WITH_OBJECT, *WITH_RECIPIENT, *INTRANSITIVE)


def plain(draw: Draw) -> Clause:
    verb = draw.rng.choice(POOL)
    subject = draw.subject(verb.subjects)
    return Clause(subject, draw.verb_phrase(verb, subject, draw.tense(verb, "present", "progressive")))


def agreement(draw: Draw) -> Clause:
    """A predicate, a participle with être, or a noun with adjectives."""
    variant = draw.rng.random()
    if variant < 0.5:
        subject = draw.subject(KINDS, adjectives=0.15, pronouns=0.2)
        return Clause(subject, _be(draw, subject, negated=draw.chance(0.15)))
    verb = draw.rng.choice(WITH_ETRE if variant < 0.7 else POOL)
    subject = draw.subject(verb.subjects, adjectives=0.3 if variant < 0.7 else 0.9, pronouns=0.2)
    tense = "past" if variant < 0.7 else draw.tense(verb)
    return Clause(subject, draw.verb_phrase(verb, subject, tense, adjectives=0.7))


def negation(draw: Draw) -> Clause:
    verb = draw.rng.choice(POOL)
    subject = draw.subject(verb.subjects)
    tense = draw.tense(verb, "present", "past", "imperfect")
    return Clause(subject, draw.verb_phrase(verb, subject, tense, negated=True))


def clitic(draw: Draw) -> Clause:
    """A pronoun as the object, as the recipient, or as both."""
    verb = draw.rng.choice(DIRECT if draw.chance(0.65) else WITH_RECIPIENT)
    subject = draw.subject(verb.subjects)
    phrase = draw.verb_phrase(verb, subject, draw.tense(verb), negated=draw.chance(0.3), adjectives=0.1)
    if not verb.takes_recipient:
        words = (*PERSONS, "it") if set(verb.objects) & set(ANIMATE) else ("it", "them")
        return Clause(subject, replace(phrase, object=draw.object_pronoun(subject, words)))
    variant = draw.rng.random()
    if variant < 0.7 or not phrase.object:
        phrase = replace(phrase, recipient=draw.object_pronoun(subject, PERSONS))
    if variant > 0.4 and phrase.object:
        phrase = replace(phrase, object=draw.object_pronoun(subject, ("it", "them")))
    return Clause(subject, phrase)


def relative(draw: Draw) -> Clause:
    """A noun with a relative clause, as the subject or as the object."""
    head = _with_object_relative(draw) if draw.chance(0.6) else _with_subject_relative(draw)
    kind = head.noun.kind
    if draw.chance(0.5):
        verb = draw.rng.choice([verb for verb in DIRECT if kind in verb.objects])
        # After a negated indefinite French would want the subjunctive: `je ne vois pas de chat qui dorme`.
        negated = head.determiner not in INDEFINITES and draw.chance(0.2)
        return Clause(draw.subject(verb.subjects), VerbPhrase(draw.tense(verb), negated, None, verb, head))
    if draw.chance(0.4):
        return Clause(head, _be(draw, head))
    verb = draw.rng.choice([verb for verb in POOL if kind in verb.subjects])
    return Clause(head, draw.verb_phrase(verb, head, draw.tense(verb), draw.chance(0.2), adjectives=0.1))


def _with_object_relative(draw: Draw) -> NounPhrase:
    """Mostly in the past, because there the participle agrees with the head: `la maison que j'ai vue`."""
    verb = draw.rng.choice((*DIRECT, *GIVING))
    subject = draw.subject(verb.subjects, adjectives=0.0, pronouns=0.6)
    head = draw.noun_phrase(verb.objects, adjectives=0.1, plural=0.5)
    tense = "past" if draw.chance(0.7) else draw.tense(verb, "present", "imperfect")
    recipient = draw.noun_phrase(("person",), adjectives=0.0) if verb.takes_recipient and draw.chance(0.5) else None
    phrase = VerbPhrase(tense, draw.chance(0.1), None, verb, None, recipient)
    return replace(head, relative=Relative("that", subject, phrase))


def _with_subject_relative(draw: Draw) -> NounPhrase:
    head = draw.noun_phrase(KINDS if draw.chance(0.4) else ANIMATE, adjectives=0.1)
    word = "who" if head.noun.kind == "person" and draw.chance(0.5) else "that"
    if draw.chance(0.25):
        return replace(head, relative=Relative(word, None, _be(draw, head)))
    verb = draw.rng.choice([verb for verb in POOL if head.noun.kind in verb.subjects])
    phrase = draw.verb_phrase(verb, head, draw.tense(verb), draw.chance(0.15), adjectives=0.0)
    if verb in DIRECT and draw.chance(0.25):
        phrase = replace(phrase, object=draw.object_pronoun(head, ("it", "them")))
    return replace(head, relative=Relative(word, None, phrase))


def preposition(draw: Draw) -> Clause:
    """A place, a recipient, or a noun after `of`."""
    variant = draw.rng.random()
    verb = draw.rng.choice(WITH_RECIPIENT if variant < 0.25 else INTRANSITIVE if variant < 0.7 else POOL)
    subject = draw.subject(verb.subjects, adjectives=0.15)
    phrase = draw.verb_phrase(verb, subject, draw.tense(verb), draw.chance(0.15), adjectives=0.15)
    if phrase.recipient is not None and variant < 0.25:
        return Clause(subject, phrase)
    if isinstance(phrase.object, NounPhrase) and draw.chance(0.5):
        return Clause(subject, replace(phrase, object=_with_of(draw, phrase.object)))
    if isinstance(subject, NounPhrase) and subject.noun.kind not in ANIMATE and draw.chance(0.5):
        return Clause(_with_of(draw, subject), phrase)
    return Clause(subject, replace(phrase, place=draw.place(verb, subject), recipient=None))


def _with_of(draw: Draw, head: NounPhrase) -> NounPhrase:
    return replace(head, of=draw.noun_phrase(("person", "animal", "place"), adjectives=0.1))


def past(draw: Draw) -> Clause:
    verb = draw.rng.choice(POOL)
    subject = draw.subject(verb.subjects)
    return Clause(subject, draw.verb_phrase(verb, subject, "past"))


def imperfect(draw: Draw) -> Clause:
    verb = draw.rng.choice([verb for verb in POOL if verb.ing])
    subject = draw.subject(verb.subjects)
    return Clause(subject, draw.verb_phrase(verb, subject, "imperfect"))


def _be(draw: Draw, subject: Nominal, negated: bool = False) -> VerbPhrase:
    return VerbPhrase(draw.rng.choice(("present", "imperfect")), negated, draw.predicate(subject))


FORMS: dict[str, Callable[[Draw], Clause]] = {
    "plain": plain,
    "agreement": agreement,
    "negation": negation,
    "clitic": clitic,
    "relative": relative,
    "preposition": preposition,
    "past": past,
    "imperfect": imperfect,
}
