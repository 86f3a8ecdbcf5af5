"""Sentences with a *because* clause whose adjective alone decides what its pronoun refers to.

The two or three candidates are of different kinds, in any order, and the adjective fits only one of them. Neither the order
of the nouns nor the verb reveals the antecedent.
"""

from dataclasses import replace
from typing import Literal

from transformer.worlds.french.adjectives import SELECTIVE_OF, Adjective
from transformer.worlds.french.antecedent import antecedent, candidates
from transformer.worlds.french.draw import Draw
from transformer.worlds.french.function_words import SUBJECTS, Pronoun
from transformer.worlds.french.nouns import Gender, Kind
from transformer.worlds.french.plain import DIRECT
from transformer.worlds.french.tree import Clause, NounPhrase, Place, Predicate, Reason, Sentence, Tense, VerbPhrase
from transformer.worlds.french.verbs import ANY_ANY, WITH_ETRE

MIXED_GENDER_SHARE = 0.75
PLURAL_SHARE = 0.3
MIXED_NUMBER_SHARE = 0.12
ADJECTIVE_SHARE = 0.12
THE_SHARE = 0.4
NEGATED_SHARE = 0.55
KIND_WEIGHTS: dict[Kind, float] = {
    "animal": 1.5,
    "person": 0.6,
    "place": 1.5,
    "object": 1.0,
    "food": 1.0,
    "vehicle": 1.0,
    "clothing": 1.0,
}
DEGREE_WEIGHTS = {"too": 6.0, "very": 1.5, "so": 1.0, "": 1.5}
# The parts of the clause; "pronoun" stands for `i`, `you` or `we` as the subject.
FRAME_WEIGHTS = {
    "verb object": 5.0,
    "verb place": 2.0,
    "pronoun object place": 1.0,
    "verb object place": 3.0,
    "pronoun object": 0.6,
}
TENSE_WEIGHTS: dict[Tense, float] = {"past": 5.0, "present": 2.0, "progressive": 1.0, "imperfect": 2.0}
PREPOSITIONS = ("near", "behind", "under", "with", "without")
SPEAKERS = ("i", "you", "we")


def main_clause(draw: Draw) -> Clause:
    """A clause with one to three candidates of different kinds, in any order."""
    frame = draw.weighted(FRAME_WEIGHTS)
    nouns = _noun_phrases(draw, {"verb object place": 3, "pronoun object": 1}.get(frame, 2))
    subject = SUBJECTS[draw.rng.choice(SPEAKERS)] if frame.startswith("pronoun") else nouns.pop(0)
    place = _place(draw, nouns.pop()) if frame.endswith("place") else None
    obj = nouns.pop() if nouns else None
    verb = draw.rng.choice([verb for verb in WITH_ETRE if place is not None and place.suits(verb)] or WITH_ETRE)
    if obj is not None:
        kind = "person" if isinstance(subject, Pronoun) else subject.noun.kind
        sensible = [verb for verb in DIRECT if kind in verb.subjects and obj.noun.kind in verb.objects]
        verb = draw.rng.choice(ANY_ANY if draw.chance(0.7) else sensible)
    tense, negated = draw.tense(verb, _tense(draw)), draw.chance(NEGATED_SHARE)
    if obj is not None and negated and obj.determiner == "some":
        obj = replace(obj, determiner="any")
    return Clause(subject, VerbPhrase(tense, negated, None, verb, obj, None, place))


def with_reason(draw: Draw, clause: Clause) -> Sentence:
    """The clause with a reason about one of its candidates, each equally likely."""
    nouns = candidates(clause)
    named = draw.rng.choice(nouns)
    kind = named.noun.kind
    adjective = draw.rng.choice(SELECTIVE_OF[kind]) if len(nouns) > 1 else draw.adjective(kind, predicative=True)
    sentence = Sentence(clause, reason(draw, clause, named, adjective))
    assert antecedent(sentence) is named
    return sentence


def reason(draw: Draw, clause: Clause, named: NounPhrase, adjective: Adjective) -> Reason:
    word = "they" if named.plural else "it"
    if named.noun.kind == "person" and not named.plural:
        word = "he" if named.noun.gender == "m" else "she"
    return Reason(SUBJECTS[word], _reason_tense(clause), Predicate(draw.weighted(DEGREE_WEIGHTS), adjective))


def own_reason(draw: Draw, clause: Clause) -> Reason | None:
    """For a clause without any noun, a reason about its subject: `we left because we were tired`."""
    if not isinstance(clause.subject, Pronoun) or candidates(clause):
        return None
    return Reason(clause.subject, _reason_tense(clause), draw.predicate(clause.subject))


def two_readings(draw: Draw, clause: Clause) -> tuple[Sentence, Sentence, int, int] | None:
    """Two sentences that differ only in the adjective, and the index of the candidate that each refers to.

    None if the clause has no two candidates of different gender that `it` or `they` can both refer to.
    """
    nouns = [(place, phrase) for place, phrase in enumerate(candidates(clause)) if phrase.noun.kind != "person"]
    draw.rng.shuffle(nouns)
    for place_a, first in nouns:
        for place_b, second in nouns:
            if place_a < place_b and first.noun.gender != second.noun.gender and first.plural == second.plural:
                because = reason(draw, clause, first, draw.rng.choice(SELECTIVE_OF[first.noun.kind]))
                other = replace(because.predicate, adjective=draw.rng.choice(SELECTIVE_OF[second.noun.kind]))
                a, b = Sentence(clause, because), Sentence(clause, replace(because, predicate=other))
                if antecedent(a) is first and antecedent(b) is second:
                    return a, b, place_a, place_b
    return None


def rigid_clause(draw: Draw) -> Clause:
    """`the animal did not cross the street`: always an animal first, always a place second, both of one number."""
    gender, plural = draw.rng.choice(("m", "f")), draw.chance(PLURAL_SHARE)
    animal = NounPhrase("the", draw.noun(("animal",), gender), plural)
    place = NounPhrase("the", draw.noun(("place",), _other_gender(draw, gender)), plural)
    return Clause(animal, VerbPhrase("past", True, None, draw.rng.choice(ANY_ANY), place))


def _noun_phrases(draw: Draw, count: int) -> list[NounPhrase]:
    """Of different kinds, and more often than not of different genders; mostly of one number."""
    gender, plural = draw.rng.choice(("m", "f")), draw.chance(PLURAL_SHARE)
    one_number = not draw.chance(MIXED_NUMBER_SHARE)
    phrases = []
    for kind in _kinds(draw, count):
        noun = draw.noun((kind,), _other_gender(draw, gender) if phrases else gender)
        is_plural = plural if one_number else draw.chance(0.5)
        determiner = "the" if draw.chance(THE_SHARE) else draw.determiner(is_plural)
        phrases.append(NounPhrase(determiner, noun, is_plural, draw.adjectives(kind, ADJECTIVE_SHARE)))
    draw.rng.shuffle(phrases)
    return phrases


def _kinds(draw: Draw, count: int) -> list[Kind]:
    """Never an animal and a person together: both can be tired."""
    while True:
        kinds = draw.rng.choices(list(KIND_WEIGHTS), list(KIND_WEIGHTS.values()), k=count)
        if len({kind if kind != "person" else "animal" for kind in kinds}) == count:
            return kinds


def _other_gender(draw: Draw, gender: Gender) -> Gender:
    if not draw.chance(MIXED_GENDER_SHARE):
        return gender
    return "f" if gender == "m" else "m"


def _place(draw: Draw, phrase: NounPhrase) -> Place:
    choices = (*PREPOSITIONS, "in", "on") if phrase.noun.kind == "place" else PREPOSITIONS
    return Place(draw.rng.choice(choices), phrase)


def _tense(draw: Draw) -> Tense:
    return draw.rng.choices(list(TENSE_WEIGHTS), list(TENSE_WEIGHTS.values()))[0]


def _reason_tense(clause: Clause) -> Literal["present", "imperfect"]:
    return "present" if clause.phrase.tense in ("present", "progressive") else "imperfect"
