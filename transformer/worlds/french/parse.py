"""English tokens → tree.

The reader is lenient. `parse` then writes the tree as English again and requires the same tokens, so agreement, articles
and do-support need no rules here.
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
    """The tree of a sentence of the grammar; None for any other."""
    try:
        sentence = _Reader(tokens).sentence()
    except _UnreadableError:
        return None
    return sentence if english(sentence) == list(tokens) else None


class _UnreadableError(Exception):
    """The tokens are not a sentence of this grammar."""


class _Reader:
    """Reads from the left. Every method consumes the tokens of the part it returns."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens, self.position = list(tokens), 0

    def peek(self, offset: int = 0) -> str:
        index = self.position + offset
        return self.tokens[index] if index < len(self.tokens) else ""

    def next(self) -> str:
        self.position += 1
        return self.peek(-1)

    def accept(self, *words: str) -> str:
        """The next token if it is one of `words`, else an empty string."""
        return self.next() if self.peek() in words else ""

    def sentence(self) -> Sentence:
        clause = self.clause()
        reason = self.reason() if self.accept("because") else None
        time = self.accept(*TIMES)
        period = bool(self.accept("."))
        question = reason is not None and bool(self.accept("what", "who"))
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
        degree, adjective = self.accept(*DEGREES), ADJECTIVE_BY_WORD.get(self.next())
        if adjective is None or not adjective.predicative:
            raise _UnreadableError
        return Predicate(degree, adjective)

    def subject(self) -> Nominal:
        word = self.accept(*SUBJECTS)
        return SUBJECTS[word] if word else self.noun_phrase()

    def noun_phrase(self, negated_object: bool = False) -> NounPhrase:
        """`negated_object`: `any` is allowed and `some` is not; neither is an indefinite noun with a relative clause, which
        would need the subjunctive in French."""
        determiner, adjectives = self.next(), []
        determiner = "a" if determiner == "an" else determiner
        while self.peek() in ADJECTIVE_BY_WORD:
            adjectives.append(ADJECTIVE_BY_WORD[self.next()])
        noun, plural = NOUN_BY_FORM.get(self.next(), (None, False))
        forms = DETERMINERS.get(determiner)
        if noun is None or forms is None or not (forms.plural if plural else forms.masculine):
            raise _UnreadableError
        of = self.noun_phrase() if self.accept("of") else None
        word = self.accept("that", "who")
        relative = self.relative("who" if word == "who" else "that") if word else None
        if determiner == ("some" if negated_object else "any"):
            raise _UnreadableError
        if negated_object and determiner in INDEFINITES and relative is not None:
            raise _UnreadableError
        return NounPhrase(determiner, noun, plural, tuple(adjectives), of, relative)

    def relative(self, word: str) -> Relative:
        has_subject = self.peek() in SUBJECTS or self.peek() in DETERMINERS or self.peek() == "an"
        subject, phrase = self.predication(object_before=True) if has_subject else (None, self.verb_phrase())
        return Relative("who" if word == "who" else "that", subject, phrase)

    def verb_phrase(self, object_before: bool = False) -> VerbPhrase:
        word = self.next()
        if word in BE_PRESENT + BE_PAST:
            past, negated, verbs = word in BE_PAST, bool(self.accept("not")), _matching("ing", self.peek())
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
        noun_ahead = self.peek() in DETERMINERS or self.peek() == "an"
        obj = self.nominal(negated) if noun_ahead or self.peek() in OBJECTS else None
        verbs = [verb for verb in verbs if verb.takes_object == (object_before or obj is not None)]
        if not verbs or (object_before and obj is not None):
            raise _UnreadableError
        recipient = self.nominal() if verbs[0].takes_recipient and self.accept("to") else None
        preposition = self.accept(*PREPOSITIONS)
        place = Place(preposition, self.nominal()) if preposition else None
        if any(isinstance(n, Pronoun) and not n.stressed for n in (recipient, place.nominal if place else None)):
            raise _UnreadableError
        if verbs[0].needs_place and (place is None or not place.suits(verbs[0])):
            raise _UnreadableError
        return VerbPhrase(tense, negated, None, verbs[0], obj, recipient, place)

    def nominal(self, negated_object: bool = False) -> Nominal:
        """`her` is a pronoun unless a noun phrase follows it."""
        following = self.peek(1)
        determines = self.peek() in DETERMINERS and (following in ADJECTIVE_BY_WORD or following in NOUN_BY_FORM)
        if self.peek() in OBJECTS and not determines:
            return OBJECTS[self.next()]
        return self.noun_phrase(negated_object)


def _matching(form: str, word: str) -> list[Verb]:
    return [verb for verb in VERBS if word and getattr(verb, form) == word]
