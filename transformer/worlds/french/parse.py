"""English tokens → tree.

The reader is lenient; `parse` then writes the tree out again and wants the same tokens back, so agreement, articles and
do-support need no rules of their own here.
"""

from collections.abc import Sequence

from transformer.worlds.french.adjectives import ADJECTIVE_BY_WORD
from transformer.worlds.french.function_words import (
    DEGREES,
    DETERMINERS,
    INDEFINITES,
    OBJECTS,
    PREPOSITIONS,
    REFLEXIVE,
    SUBJECTS,
    TIMES,
    Pronoun,
)
from transformer.worlds.french.nouns import NOUN_BY_FORM
from transformer.worlds.french.to_english import BE_PAST, BE_PRESENT, english
from transformer.worlds.french.tree import (
    Clause,
    Nominal,
    NounPhrase,
    Place,
    Predicate,
    Reason,
    Relative,
    Sentence,
    Tense,
    VerbPhrase,
)
from transformer.worlds.french.verbs import VERBS, Verb


def parse(tokens: Sequence[str]) -> Sentence | None:
    """The tree of a sentence that the grammar can write; None for any other."""
    try:
        sentence = _Reader(tokens).sentence()
    except _UnreadableError:
        return None
    return sentence if english(sentence) == list(tokens) else None


class _UnreadableError(Exception):
    """The tokens are not a sentence of this grammar."""


class _Reader:
    """Reads from the left; every method consumes the tokens of what it returns."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens, self.position = list(tokens), 0

    def ahead(self, offset: int = 0) -> str:
        index = self.position + offset
        return self.tokens[index] if index < len(self.tokens) else ""

    def next(self) -> str:
        self.position += 1
        return self.ahead(-1)

    def took(self, *words: str) -> str:
        """The next token if it is one of `words`, else an empty string."""
        return self.next() if self.ahead() in words else ""

    def sentence(self) -> Sentence:
        clause = self.clause()
        reason = self.reason() if self.took("because") else None
        time = self.took(*TIMES)
        period = bool(self.took("."))
        question = reason is not None and bool(self.took("what", "who"))
        if question:
            self.position += 3
        if self.position != len(self.tokens):
            raise _UnreadableError
        return Sentence(clause, reason, time, period, question)

    def clause(self) -> Clause:
        return Clause(*self.predication())

    def predication(self, object_before: bool = False) -> tuple[Nominal, VerbPhrase]:
        subject, phrase = self.subject(), self.verb_phrase(object_before)
        if isinstance(subject, Pronoun):
            barred = REFLEXIVE.get(subject.subject, ())
            if any(isinstance(n, Pronoun) and n.object in barred for n in (phrase.object, phrase.recipient)):
                raise _UnreadableError
        return subject, phrase

    def reason(self) -> Reason:
        subject, be = self.next(), self.next()
        if subject not in SUBJECTS or be not in BE_PRESENT + BE_PAST:
            raise _UnreadableError
        return Reason(SUBJECTS[subject], "present" if be in BE_PRESENT else "imperfect", self.predicate())

    def predicate(self) -> Predicate:
        degree, adjective = self.took(*DEGREES), ADJECTIVE_BY_WORD.get(self.next())
        if adjective is None or not adjective.predicative:
            raise _UnreadableError
        return Predicate(degree, adjective)

    def subject(self) -> Nominal:
        word = self.took(*SUBJECTS)
        return SUBJECTS[word] if word else self.noun_phrase()

    def noun_phrase(self, negated_object: bool = False) -> NounPhrase:
        """`negated_object`: where `any` is said and `some` is not, and where an indefinite noun with a relative clause
        would need the subjunctive."""
        determiner, adjectives = self.next(), []
        determiner = "a" if determiner == "an" else determiner
        while self.ahead() in ADJECTIVE_BY_WORD:
            adjectives.append(ADJECTIVE_BY_WORD[self.next()])
        noun, plural = NOUN_BY_FORM.get(self.next(), (None, False))
        forms = DETERMINERS.get(determiner)
        if noun is None or forms is None or not (forms.plural if plural else forms.masculine):
            raise _UnreadableError
        of = self.noun_phrase() if self.took("of") else None
        word = self.took("that", "who")
        relative = self.relative("who" if word == "who" else "that") if word else None
        if determiner == ("some" if negated_object else "any"):
            raise _UnreadableError
        if negated_object and determiner in INDEFINITES and relative is not None:
            raise _UnreadableError
        return NounPhrase(determiner, noun, plural, tuple(adjectives), of, relative)

    def relative(self, word: str) -> Relative:
        has_subject = self.ahead() in SUBJECTS or self.ahead() in DETERMINERS or self.ahead() == "an"
        subject, phrase = self.predication(object_before=True) if has_subject else (None, self.verb_phrase())
        return Relative("who" if word == "who" else "that", subject, phrase)

    def verb_phrase(self, object_before: bool = False) -> VerbPhrase:
        word = self.next()
        if word in BE_PRESENT + BE_PAST:
            past, negated, verbs = word in BE_PAST, bool(self.took("not")), _matching("ing", self.ahead())
            if not verbs:
                return VerbPhrase("imperfect" if past else "present", negated, self.predicate())
            self.next()
            return self.complements("imperfect" if past else "progressive", negated, verbs, object_before)
        if word in ("do", "does", "did"):
            if self.next() != "not":
                raise _UnreadableError
            verbs = _matching("base", self.next())
            return self.complements("past" if word == "did" else "present", True, verbs, object_before)
        if verbs := _matching("base", word) + _matching("third", word):
            return self.complements("present", False, verbs, object_before)
        return self.complements("past", False, _matching("past", word), object_before)

    def complements(self, tense: Tense, negated: bool, verbs: list[Verb], object_before: bool) -> VerbPhrase:
        noun_ahead = self.ahead() in DETERMINERS or self.ahead() == "an"
        obj = self.nominal(negated) if noun_ahead or self.ahead() in OBJECTS else None
        verbs = [verb for verb in verbs if verb.takes_object == (object_before or obj is not None)]
        if not verbs or (object_before and obj is not None):
            raise _UnreadableError
        recipient = self.nominal() if verbs[0].takes_recipient and self.took("to") else None
        preposition = self.took(*PREPOSITIONS)
        place = Place(preposition, self.nominal()) if preposition else None
        if any(isinstance(n, Pronoun) and not n.stressed for n in (recipient, place.nominal if place else None)):
            raise _UnreadableError
        if verbs[0].needs_place and (place is None or not place.suits(verbs[0])):
            raise _UnreadableError
        return VerbPhrase(tense, negated, None, verbs[0], obj, recipient, place)

    def nominal(self, negated_object: bool = False) -> Nominal:
        """`her` is a pronoun unless a noun phrase follows it."""
        following = self.ahead(1)
        determines = self.ahead() in DETERMINERS and (following in ADJECTIVE_BY_WORD or following in NOUN_BY_FORM)
        if self.ahead() in OBJECTS and not determines:
            return OBJECTS[self.next()]
        return self.noun_phrase(negated_object)


def _matching(form: str, word: str) -> list[Verb]:
    return [verb for verb in VERBS if word and getattr(verb, form) == word]
