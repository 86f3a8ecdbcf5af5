"""Find the noun that the pronoun of a *because* clause refers to."""

from transformer.worlds.french.adjectives import Adjective
from transformer.worlds.french.function_words import Agreement, Pronoun
from transformer.worlds.french.tree import Clause, NounPhrase, Sentence


def candidates(clause: Clause) -> list[NounPhrase]:
    """The noun phrases of a clause, in order, without those inside a relative clause or after `of`."""
    phrase = clause.phrase
    place = phrase.place.nominal if phrase.place else None
    nominals = (clause.subject, phrase.object, phrase.recipient, place)
    return [nominal for nominal in nominals if isinstance(nominal, NounPhrase)]


def fits(phrase: NounPhrase, pronoun: Pronoun, adjective: Adjective) -> bool:
    """Whether `pronoun was adjective` fits this noun phrase."""
    noun, plural = phrase.noun, pronoun.agreement.plural
    if noun.kind not in adjective.kinds or phrase.plural != plural:
        return False
    if plural:
        return True
    if pronoun.subject == "it":
        return noun.kind != "person"
    return noun.kind == "person" and noun.gender == pronoun.agreement.gender


def antecedent(sentence: Sentence) -> NounPhrase | None:
    """The one candidate that fits the *because* clause; None if no candidate fits, or several do."""
    if sentence.reason is None or sentence.reason.pronoun.subject not in ("he", "she", "it", "they"):
        return None
    pronoun, adjective = sentence.reason.pronoun, sentence.reason.predicate.adjective
    fitting = [phrase for phrase in candidates(sentence.clause) if fits(phrase, pronoun, adjective)]
    return fitting[0] if len(fitting) == 1 else None


def reason_agreement(sentence: Sentence) -> Agreement | None:
    """What the French pronoun of the *because* clause agrees with; None if the sentence does not decide it.

    `it` and `they` take the gender of their antecedent, or the default one if the main clause has no noun. The other
    pronouns have their own.
    """
    assert sentence.reason is not None
    pronoun = sentence.reason.pronoun
    if pronoun.subject not in ("it", "they") or not candidates(sentence.clause):
        return pronoun.agreement
    named = antecedent(sentence)
    return named.agreement if named else None
