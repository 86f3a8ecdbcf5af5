"""The sentences without a *because* clause, by form. Each function draws the clause of one form."""

from collections.abc import Callable
from dataclasses import replace

from transformer.tasks.french.draw import Draw
from transformer.tasks.french.function_words import Pronoun
from transformer.tasks.french.nouns import ANIMATE, KINDS
from transformer.tasks.french.tree import Clause, Nominal, NounPhrase, Relative, VerbPhrase
from transformer.tasks.french.verbs import ANY_ANY, VERBS, WITH_ETRE, WITH_OBJECT, WITH_RECIPIENT, WITHOUT_OBJECT, Verb

DIRECT = (*ANY_ANY, *WITH_OBJECT)
INTRANSITIVE = (*WITHOUT_OBJECT, *WITH_ETRE)
GIVING = tuple(verb for verb in WITH_RECIPIENT if verb.takes_object)


def plain(draw: Draw) -> Clause:
    verb = draw.rng.choice(VERBS)
    subject = draw.subject(verb.subjects)
    return Clause(subject, draw.verb_phrase(verb, subject, draw.tense(verb, "present", "progressive")))


def agreement(draw: Draw) -> Clause:
    """A predicate, an attribute, or a participle with être."""
    way = draw.rng.random()
    if way < 0.5:
        subject = draw.subject(KINDS, adjectives=0.15, pronouns=0.2)
        return Clause(subject, _be(draw, subject, negated=draw.chance(0.15)))
    verb = draw.rng.choice(WITH_ETRE if way < 0.7 else VERBS)
    subject = draw.subject(verb.subjects, adjectives=0.3 if way < 0.7 else 0.9, pronouns=0.2)
    tense = "past" if way < 0.7 else draw.tense(verb)
    return Clause(subject, draw.verb_phrase(verb, subject, tense, adjectives=0.7))


def negation(draw: Draw) -> Clause:
    verb = draw.rng.choice(VERBS)
    subject = draw.subject(verb.subjects)
    return Clause(
        subject, draw.verb_phrase(verb, subject, draw.tense(verb, "present", "past", "imperfect"), negated=True)
    )


def clitic(draw: Draw) -> Clause:
    """A pronoun as the object, as the one something is given to, or as both."""
    verb = draw.rng.choice(DIRECT if draw.chance(0.65) else WITH_RECIPIENT)
    subject = draw.subject(verb.subjects)
    phrase = draw.verb_phrase(verb, subject, draw.tense(verb), negated=draw.chance(0.3), adjectives=0.1)
    if not verb.takes_recipient:
        things = (
            ("it", "them") if not set(verb.objects) & set(ANIMATE) else ("me", "you", "him", "her", "it", "us", "them")
        )
        return Clause(subject, replace(phrase, object=draw.object_pronoun(subject, things)))
    way = draw.rng.random()
    recipient = (
        draw.object_pronoun(subject, ("me", "you", "him", "her", "us", "them")) if way < 0.7 else phrase.recipient
    )
    obj = draw.object_pronoun(subject, ("it", "them")) if way > 0.4 and phrase.object else phrase.object
    return Clause(subject, replace(phrase, object=obj, recipient=recipient))


def relative(draw: Draw) -> Clause:
    """A relative clause after the subject or after the object."""
    verb = draw.rng.choice(VERBS)
    subject = draw.subject(verb.subjects, adjectives=0.1, pronouns=0.3)
    phrase = draw.verb_phrase(verb, subject, draw.tense(verb), draw.chance(0.2), adjectives=0.1)
    obj = phrase.object
    if isinstance(obj, NounPhrase) and (isinstance(subject, Pronoun) or draw.chance(0.5)):
        return Clause(
            subject,
            replace(
                phrase,
                object=_with_relative(draw, obj),
                recipient=None if not verb.takes_recipient else phrase.recipient,
            ),
        )
    if isinstance(subject, Pronoun):
        subject = draw.noun_phrase(verb.subjects, adjectives=0.1)
    return Clause(_with_relative(draw, subject), phrase)


def _with_relative(draw: Draw, head: NounPhrase) -> NounPhrase:
    if draw.chance(0.55):
        return replace(head, relative=_object_relative(draw, head))
    word = "who" if head.noun.kind == "person" and draw.chance(0.5) else "that"
    if draw.chance(0.25):
        return replace(head, relative=Relative(word, None, _be(draw, head)))
    verb = draw.rng.choice([verb for verb in VERBS if head.noun.kind in verb.subjects])
    phrase = draw.verb_phrase(verb, head, draw.tense(verb), draw.chance(0.15), adjectives=0.0)
    if verb in DIRECT and draw.chance(0.25):
        phrase = replace(phrase, object=draw.object_pronoun(head))
    return replace(head, relative=Relative(word, None, phrase))


def _object_relative(draw: Draw, head: NounPhrase) -> Relative:
    """Mostly in the past, where the participle agrees with the head: `la maison que j'ai vue`."""
    verb = draw.rng.choice([verb for verb in (*DIRECT, *GIVING) if head.noun.kind in verb.objects])
    subject = draw.subject(verb.subjects, adjectives=0.0, pronouns=0.6)
    tense = "past" if draw.chance(0.65) else draw.tense(verb, "present", "imperfect")
    recipient = draw.noun_phrase(("person",), adjectives=0.0) if verb.takes_recipient else None
    return Relative("that", subject, VerbPhrase(tense, draw.chance(0.1), None, verb, None, recipient))


def preposition(draw: Draw) -> Clause:
    """A place, somebody to give to or speak to, or a noun after `of`."""
    way = draw.rng.random()
    verb = draw.rng.choice(WITH_RECIPIENT if way < 0.25 else INTRANSITIVE if way < 0.7 else VERBS)
    subject = draw.subject(verb.subjects, adjectives=0.15)
    phrase = draw.verb_phrase(verb, subject, draw.tense(verb), draw.chance(0.15), adjectives=0.15)
    if way < 0.25:
        return Clause(subject, phrase)
    if isinstance(phrase.object, NounPhrase) and draw.chance(0.5):
        return Clause(subject, replace(phrase, object=_with_of(draw, phrase.object)))
    if isinstance(subject, NounPhrase) and subject.noun.kind not in ANIMATE and draw.chance(0.5):
        return Clause(_with_of(draw, subject), phrase)
    return Clause(
        subject,
        replace(phrase, place=draw.place(verb, subject), recipient=None if verb.takes_object else phrase.recipient),
    )


def _with_of(draw: Draw, head: NounPhrase) -> NounPhrase:
    return replace(head, of=draw.noun_phrase(("person", "animal", "place"), adjectives=0.1))


def past(draw: Draw) -> Clause:
    verb = draw.rng.choice(VERBS)
    subject = draw.subject(verb.subjects)
    return Clause(subject, draw.verb_phrase(verb, subject, "past"))


def imperfect(draw: Draw) -> Clause:
    verb = draw.rng.choice([verb for verb in VERBS if verb.ing])
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
