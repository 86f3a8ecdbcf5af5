"""Tree → French words in their full forms; `sound.settle` elides and contracts them."""

from transformer.worlds.french.adjectives import Adjective
from transformer.worlds.french.antecedent import antecedent, reason_agreement
from transformer.worlds.french.function_words import (
    DEGREES,
    DETERMINERS,
    INDEFINITES,
    POSSESSIVES,
    PREPOSITIONS,
    TIMES,
    Agreement,
    Pronoun,
)
from transformer.worlds.french.sound import settle, starts_with_vowel
from transformer.worlds.french.tree import Clause, Nominal, NounPhrase, Place, Predicate, Sentence, VerbPhrase
from transformer.worlds.french.verbs import AVOIR, ETRE, ETRE_IMPERFECT, Verb

PARTICIPLE_ALONE = Agreement("m", False, 2)
THIRD_PERSON = {("m", False): "il", ("f", False): "elle", ("m", True): "ils", ("f", True): "elles"}
# me, te, nous precede le, la, les, and these precede lui, leur.
CLITIC_ORDER = ("me", "te", "nous", "le", "la", "les", "lui", "leur")


def french(sentence: Sentence) -> list[str] | None:
    """The sentence as tokens of the "french" tokenizer, without the answer to its question; None if the pronoun of
    its *because* clause has no antecedent, or several."""
    words = clause(sentence.clause)
    if sentence.reason is not None:
        agreement = reason_agreement(sentence)
        if agreement is None:
            return None
        own = sentence.reason.pronoun.french
        pronoun = THIRD_PERSON[agreement.gender, agreement.plural] if own in THIRD_PERSON.values() else own
        be = VerbPhrase(sentence.reason.tense, predicate=sentence.reason.predicate)
        words += ["parce", "que", pronoun, *verb_phrase(be, agreement)]
    words += [TIMES[sentence.time]] if sentence.time else []
    words += ["."] * sentence.period
    return settle(words)


def answer(sentence: Sentence) -> list[str] | None:
    """The antecedent with the definite article and a period: `l'` `animal` `.`; None if there is no antecedent."""
    named = antecedent(sentence)
    return None if named is None else settle([*noun_phrase(NounPhrase("the", named.noun, named.plural)), "."])


def clause(clause: Clause) -> list[str]:
    subject = [clause.subject.french] if isinstance(clause.subject, Pronoun) else noun_phrase(clause.subject)
    return subject + verb_phrase(clause.phrase, clause.subject.agreement)


def noun_phrase(phrase: NounPhrase, negated: bool = False) -> list[str]:
    """`negated`: it is the direct object of a negated verb, where the indefinite article becomes `de`."""
    gender, plural, _ = phrase.agreement
    words = [phrase.noun.french[plural]]
    for adjective in reversed(phrase.adjectives):
        if adjective.before:
            words.insert(0, _before_noun(adjective, phrase.agreement, words[0]))
        else:
            words.append(adjective.form(gender, plural))
    words = [_determiner(phrase, words[0], negated), *words]
    if phrase.of is not None:
        words += ["de", *noun_phrase(phrase.of)]
    return words + _relative(phrase)


def _before_noun(adjective: Adjective, agreement: Agreement, following: str) -> str:
    if adjective.before_vowel and agreement[:2] == ("m", False) and starts_with_vowel(following):
        return adjective.before_vowel
    return adjective.form(agreement.gender, agreement.plural)


def _determiner(phrase: NounPhrase, following: str, negated: bool) -> str:
    forms = DETERMINERS[phrase.determiner]
    if phrase.determiner in INDEFINITES and negated:
        return "de"
    if phrase.plural:
        # `des maisons`, but `de belles maisons`.
        weak = phrase.determiner == "some" and any(adjective.before for adjective in phrase.adjectives)
        return "de" if weak else forms.plural
    vowel = starts_with_vowel(following)
    if phrase.noun.gender == "f":
        return forms.masculine if phrase.determiner in POSSESSIVES and vowel else forms.feminine
    return "cet" if forms.masculine == "ce" and vowel else forms.masculine


def _relative(phrase: NounPhrase) -> list[str]:
    relative = phrase.relative
    if relative is None:
        return []
    if relative.subject is None:
        return ["qui", *verb_phrase(relative.phrase, phrase.agreement)]
    subject = relative.subject
    words = [subject.french] if isinstance(subject, Pronoun) else noun_phrase(subject)
    return ["que", *words, *verb_phrase(relative.phrase, subject.agreement, preceding=phrase.agreement)]


def verb_phrase(phrase: VerbPhrase, subject: Agreement, preceding: Agreement | None = None) -> list[str]:
    """`preceding`: what a direct object before the verb (the `que` of a relative clause) agrees with."""
    clitics = []
    if isinstance(phrase.object, Pronoun):
        clitics.append(phrase.object.direct)
        preceding = phrase.object.agreement
    if isinstance(phrase.recipient, Pronoun):
        clitics.append(phrase.recipient.indirect)
    if phrase.predicate is not None:
        finite, *rest = _predicate(phrase, phrase.predicate, subject)
    else:
        finite, *rest = _verb(phrase, subject, preceding)
    words = [*sorted(clitics, key=CLITIC_ORDER.index), finite]
    words = ["ne", *words, "pas", *rest] if phrase.negated else [*words, *rest]
    if isinstance(phrase.object, NounPhrase):
        words += noun_phrase(phrase.object, phrase.negated)
    if isinstance(phrase.recipient, NounPhrase):
        words += ["à", *noun_phrase(phrase.recipient)]
    return words + (_place(phrase.place) if phrase.place else [])


def _predicate(phrase: VerbPhrase, predicate: Predicate, subject: Agreement) -> list[str]:
    be = (ETRE_IMPERFECT if phrase.tense == "imperfect" else ETRE)[subject.slot]
    degree = [DEGREES[predicate.degree]] if predicate.degree else []
    return [be, *degree, predicate.adjective.form(subject.gender, subject.plural)]


def _verb(phrase: VerbPhrase, subject: Agreement, preceding: Agreement | None) -> list[str]:
    assert phrase.verb is not None
    verb: Verb = phrase.verb
    if phrase.tense == "imperfect":
        return [verb.imperfect[subject.slot]]
    if phrase.tense != "past":
        return [verb.present[subject.slot]]
    agreement = subject if verb.with_etre else preceding or PARTICIPLE_ALONE
    auxiliary = (ETRE if verb.with_etre else AVOIR)[subject.slot]
    return [auxiliary, verb.participle[2 * agreement.plural + (agreement.gender == "f")]]


def _place(place: Place) -> list[str]:
    nominal: Nominal = place.nominal
    words = [nominal.stressed] if isinstance(nominal, Pronoun) else noun_phrase(nominal)
    return [*PREPOSITIONS[place.preposition], *words]
