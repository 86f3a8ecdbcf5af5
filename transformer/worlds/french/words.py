"""Every word of the grammar, with its class."""

from transformer.worlds.french.adjectives import ADJECTIVES
from transformer.worlds.french.function_words import DEGREES, DETERMINERS, PREPOSITIONS, PRONOUNS, TIMES
from transformer.worlds.french.nouns import NOUNS
from transformer.worlds.french.to_english import BE_PAST, BE_PRESENT
from transformer.worlds.french.to_french import THIRD_PERSON
from transformer.worlds.french.verbs import AVOIR, ETRE, ETRE_IMPERFECT, VERBS, Verb


def _forms(verb: Verb) -> tuple[str, ...]:
    """The French forms. A participle that agrees with nothing is always masculine singular."""
    participles = verb.participle if verb.with_etre or verb.takes_object else verb.participle[:1]
    return (*verb.present, *(verb.imperfect if verb.ing else ()), *participles)


def _classes(groups: dict[str, list[str]]) -> dict[str, str]:
    """Word → class. A word of two classes gets the one listed last, its most frequent."""
    return {word: name for name, words in groups.items() for word in words if word}


ENGLISH = _classes(
    {
        "determiner": ["an", *DETERMINERS],
        "noun": [form for noun in NOUNS for form in noun.english],
        "adjective": [adjective.english for adjective in ADJECTIVES],
        "verb": [form for verb in VERBS for form in (verb.base, verb.third, verb.past, verb.ing)],
        "auxiliary": [*BE_PRESENT, *BE_PAST, "do", "does", "did"],
        "preposition": ["of", *PREPOSITIONS],
        "adverb": [*DEGREES, *TIMES],
        "negation": ["not"],
        "conjunction": ["because"],
        # `that` mostly opens a relative clause; `her` mostly possesses.
        "pronoun": [
            "that",
            "who",
            "what",
            *(form for p in PRONOUNS for form in (p.subject, p.object) if form != "her"),
        ],
        "punctuation": [".", "?"],
    }
)
FRENCH = _classes(
    {
        "verb": [form for verb in VERBS for form in _forms(verb)],
        "noun": [form for noun in NOUNS for form in noun.french],
        "adjective": [form for adjective in ADJECTIVES for form in (*adjective.forms, adjective.before_vowel)],
        "auxiliary": [*ETRE, *ETRE_IMPERFECT, *AVOIR],
        "pronoun": [
            "qui",
            "j'",
            "m'",
            "t'",
            *THIRD_PERSON.values(),
            *(form for p in PRONOUNS for form in (p.french, p.direct, p.indirect, p.stressed)),
        ],
        "determiner": ["l'", "cet", *(form for forms in DETERMINERS.values() for form in forms)],
        "preposition": ["d'", "du", "au", "aux", *(word for words in PREPOSITIONS.values() for word in words)],
        "adverb": [*DEGREES.values(), *TIMES.values()],
        "negation": ["ne", "n'", "pas"],
        "conjunction": ["parce", "que", "qu'"],
        "punctuation": ["."],
    }
)
