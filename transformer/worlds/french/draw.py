"""Draw the parts of a sentence at random."""

import random
from collections.abc import Sequence

from transformer.worlds.french.adjectives import COLOURS, FIRST_OF_TWO, GENERAL_OF, OLD, SELECTIVE_OF, YOUNG, Adjective
from transformer.worlds.french.function_words import DETERMINERS, OBJECTS, REFLEXIVE, SUBJECTS, Pronoun
from transformer.worlds.french.nouns import ANIMATE, KINDS, NOUNS_OF, Gender, Kind, Noun
from transformer.worlds.french.tree import Nominal, NounPhrase, Place, Predicate, Tense, VerbPhrase
from transformer.worlds.french.verbs import Verb

THE_SHARE = 0.45
PLURAL_SHARE = 0.4
PRONOUN_SHARE = 0.5
SINGULAR = tuple(word for word, forms in DETERMINERS.items() if forms.masculine and word != "the")
PLURAL = tuple(word for word, forms in DETERMINERS.items() if forms.plural and word not in ("the", "any"))
DEGREE_WEIGHTS = {"": 4.0, "too": 2.0, "very": 2.0, "so": 1.0}
# Which kinds of noun each preposition is drawn with.
PLACES: dict[str, tuple[Kind, ...]] = {
    "in": ("place",),
    "on": ("place", "object"),
    "under": ("object", "vehicle"),
    "behind": KINDS,
    "near": KINDS,
    "with": KINDS,
    "without": KINDS,
    "from": ("place",),
    "to": ("place",),
}
WITH_OR_WITHOUT = ("with", "without")
PERSONS = ("me", "you", "him", "her", "us", "them")
# `i`, `you` and `we` weigh more, because only they train the verb forms of `je`, `tu` and `nous`.
SUBJECT_WEIGHTS = {"i": 1.5, "you": 2.0, "he": 1.0, "she": 1.5, "it": 0.7, "we": 3.0, "they": 1.0}


class Draw:
    """Parts of sentences, drawn with one random generator."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def weighted(self, weights: dict[str, float]) -> str:
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def noun(self, kinds: Sequence[Kind], gender: Gender | None = None) -> Noun:
        return self.rng.choice(NOUNS_OF[self.rng.choice(kinds), gender or self.rng.choice("mf")])

    def determiner(self, plural: bool, negated_object: bool = False) -> str:
        """After a negation it is `any`, never `some`."""
        if self.chance(THE_SHARE):
            return "the"
        drawn = self.rng.choice(PLURAL if plural else SINGULAR)
        if negated_object and (drawn == "some" or self.chance(0.15)):
            return "any" if plural else "a"
        return drawn

    def adjectives(self, kind: Kind, share: float) -> tuple[Adjective, ...]:
        if not self.chance(share):
            return ()
        if self.chance(0.25):
            first = self.rng.choice(FIRST_OF_TWO)
            return first, self.rng.choice((OLD, YOUNG) if kind in ANIMATE else (OLD, *COLOURS))
        return (self.adjective(kind),)

    def adjective(self, kind: Kind, predicative: bool = False) -> Adjective:
        choices = (GENERAL_OF if self.chance(0.45) else SELECTIVE_OF)[kind]
        return self.rng.choice([a for a in choices if a.predicative] if predicative else choices)

    def noun_phrase(
        self,
        kinds: Sequence[Kind],
        adjectives: float = 0.2,
        negated_object: bool = False,
        plural: float = PLURAL_SHARE,
    ) -> NounPhrase:
        """`adjectives`, `plural`: the share that has an adjective, and that is plural."""
        noun, is_plural = self.noun(kinds), self.chance(plural)
        determiner = self.determiner(is_plural, negated_object)
        return NounPhrase(determiner, noun, is_plural, self.adjectives(noun.kind, adjectives))

    def subject(self, kinds: Sequence[Kind], adjectives: float = 0.2, pronouns: float = PRONOUN_SHARE) -> Nominal:
        """Mostly a person or an animal, if the verb allows one, so that the sentence makes sense."""
        if "person" in kinds and self.chance(pronouns):
            return SUBJECTS[self.weighted(SUBJECT_WEIGHTS)]
        animate: Sequence[Kind] = [kind for kind in kinds if kind in ANIMATE]
        return self.noun_phrase(animate if animate and self.chance(0.7) else kinds, adjectives)

    def object_pronoun(self, subject: Nominal, words: Sequence[str]) -> Pronoun:
        barred = REFLEXIVE.get(subject.subject, ()) if isinstance(subject, Pronoun) else ()
        return OBJECTS[self.rng.choice([word for word in words if word not in barred])]

    def place(self, verb: Verb, subject: Nominal) -> Place:
        """A place or direction that the verb allows; sometimes with a pronoun for a person."""
        preposition = self.rng.choice(("in", "on", "under", "behind", "near", *WITH_OR_WITHOUT))
        if verb.directions and self.chance(0.4):
            preposition = self.rng.choice(verb.directions)
        place = Place(preposition, self.noun_phrase(PLACES[preposition]))
        if preposition in ("behind", "near", *WITH_OR_WITHOUT) and self.chance(0.25):
            place = Place(preposition, self.object_pronoun(subject, PERSONS))
        return place if place.suits(verb) else self.place(verb, subject)

    def tense(self, verb: Verb, *tenses: Tense) -> Tense:
        """One of `tenses`; a verb without an `-ing` form is past instead of imperfect, present instead of progressive."""
        tense = self.rng.choice(tenses or ("present", "progressive", "past", "imperfect"))
        return tense if verb.ing or tense in ("present", "past") else "past" if tense == "imperfect" else "present"

    def predicate(self, subject: Nominal) -> Predicate:
        kind = self.rng.choice(ANIMATE) if isinstance(subject, Pronoun) else subject.noun.kind
        return Predicate(self.weighted(DEGREE_WEIGHTS), self.adjective(kind, predicative=True))

    def verb_phrase(
        self, verb: Verb, subject: Nominal, tense: Tense, negated: bool = False, adjectives: float = 0.2
    ) -> VerbPhrase:
        """The verb with its object, a recipient in most sentences if it takes one, and a place if it needs one."""
        obj = self.noun_phrase(verb.objects, adjectives, negated) if verb.takes_object else None
        recipient = self.noun_phrase(("person",), adjectives) if verb.takes_recipient and self.chance(0.7) else None
        place = self.place(verb, subject) if verb.needs_place else None
        return VerbPhrase(tense, negated, None, verb, obj, recipient, place)
