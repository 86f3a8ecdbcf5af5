"""Tree → English tokens."""

from transformer.worlds.french.antecedent import antecedent
from transformer.worlds.french.function_words import Pronoun
from transformer.worlds.french.tree import Clause, Nominal, NounPhrase, Predicate, Reason, Sentence, VerbPhrase

BE_PRESENT = ("am", "are", "is", "are", "are")
BE_PAST = ("was", "were", "was", "were", "were")
THIRD_SINGULAR = 2


def english(sentence: Sentence) -> list[str]:
    """The sentence as tokens of the "english" tokenizer."""
    words = clause(sentence.clause)
    if sentence.reason is not None:
        words += reason(sentence.reason)
    words += [sentence.time] * bool(sentence.time) + ["."] * sentence.period
    return words + question(sentence) if sentence.question else words


def clause(clause: Clause) -> list[str]:
    return nominal(clause.subject) + verb_phrase(clause.phrase, clause.subject.agreement.slot)


def reason(reason: Reason) -> list[str]:
    be = BE_PRESENT if reason.tense == "present" else BE_PAST
    return ["because", reason.pronoun.subject, be[reason.pronoun.agreement.slot], *predicate(reason.predicate)]


def question(sentence: Sentence) -> list[str]:
    """`what was tired ?`, or with `who` where the answer is a person."""
    assert sentence.reason is not None
    named = antecedent(sentence)
    be = BE_PRESENT if sentence.reason.tense == "present" else BE_PAST
    word = "who" if named is not None and named.noun.kind == "person" else "what"
    return [word, be[sentence.reason.pronoun.agreement.slot], sentence.reason.predicate.adjective.english, "?"]


def predicate(predicate: Predicate) -> list[str]:
    return [predicate.degree] * bool(predicate.degree) + [predicate.adjective.english]


def nominal(nominal: Nominal, is_object: bool = False) -> list[str]:
    if isinstance(nominal, Pronoun):
        return [nominal.object if is_object else nominal.subject]
    return noun_phrase(nominal)


def noun_phrase(phrase: NounPhrase) -> list[str]:
    words = [adjective.english for adjective in phrase.adjectives] + [phrase.noun.english[phrase.plural]]
    determiner = "an" if phrase.determiner == "a" and words[0][0] in "aeiou" else phrase.determiner
    words = [determiner, *words]
    if phrase.of is not None:
        words += ["of", *noun_phrase(phrase.of)]
    if phrase.relative is not None:
        subject, slot = phrase.relative.subject, phrase.agreement.slot
        words += [phrase.relative.word, *(nominal(subject) if subject else [])]
        words += verb_phrase(phrase.relative.phrase, subject.agreement.slot if subject else slot)
    return words


def verb_phrase(phrase: VerbPhrase, slot: int) -> list[str]:
    words = _verb_group(phrase, slot)
    if phrase.predicate is not None:
        words += predicate(phrase.predicate)
    if phrase.object is not None:
        words += nominal(phrase.object, is_object=True)
    if phrase.recipient is not None:
        words += ["to", *nominal(phrase.recipient, is_object=True)]
    if phrase.place is not None:
        words += [phrase.place.preposition, *nominal(phrase.place.nominal, is_object=True)]
    return words


def _verb_group(phrase: VerbPhrase, slot: int) -> list[str]:
    """Everything up to the verb: English negates a full verb with `do`, and `be` by itself."""
    negation = ["not"] * phrase.negated
    verb, tense = phrase.verb, phrase.tense
    if verb is None or tense in ("progressive", "imperfect"):
        be = (BE_PAST if tense == "imperfect" else BE_PRESENT)[slot]
        return [be, *negation] + ([verb.ing] if verb else [])
    if phrase.negated:
        do = "did" if tense == "past" else "does" if slot == THIRD_SINGULAR else "do"
        return [do, "not", verb.base]
    return [verb.past if tense == "past" else verb.third if slot == THIRD_SINGULAR else verb.base]
