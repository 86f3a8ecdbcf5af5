"""The words of sampled sentences, with their classes, in four files of `data`: an English and a French file for each of two
grammars.

The files are made by sampling many sentences, because the rules can make more forms than are sampled. This command writes them:

    python -m transformer.tasks.conversation.lexicon_words
"""

import csv
import random
from pathlib import Path as FilePath

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation import place_and_time as adverbials
from transformer.tasks.conversation.lexicon import ADJECTIVES, ALLER, AVOIR, CITIES, COUNTRIES, ETRE, NAMES, NOUNS, VERBS, rows
from transformer.tasks.conversation.verbal import MODALS

SAMPLES = 400_000

# Class → its words. A word with several classes has the first of them.
_ENGLISH: dict[str, str] = {
    "punctuation": ". ? ' 's",
    "negation": "not never no",
    "auxiliary": "am is are was were be do does did can could must should would will may",
    "question word": "what who where when why how which whose",
    "pronoun": "i you he she it we they me him us them something someone somebody everyone everybody mine yours",
    "preposition": "in on under behind in front of next to near at with without for after before between from by of",
    "conjunction": "and or but because than as that",
    "determiner": "the a an some any this these those my your his her our their many every a lot",
    "adverb": "very too so really little always often sometimes also well fast slowly together again here there outside "
    "upstairs home today "
    "now yesterday tomorrow soon ago late early more most less much please yes ok okay hello hi goodbye bye thanks",
}
_FRENCH: dict[str, str] = {
    "punctuation": ". ?",
    "negation": "ne n' pas jamais non",
    "question word": "où qui quand pourquoi comment combien quel quelle quels quelles est-ce quoi",
    "pronoun": "je j' tu il elle nous ils elles me m' te t' se s' le la les l' lui leur moi toi eux y ce c' ça ceci en on tout "
    "quelque chose quelqu'",
    "conjunction": "et ou mais parce que qu'",
    "determiner": "un une des du de d' ce cet cette ces mon ma mes ton ta tes son sa ses notre nos leurs chaque au aux",
    "preposition": "à dans sur sous derrière devant côté près avec sans pour après avant entre chez en",
    "adverb": "très trop si vraiment peu toujours souvent parfois aussi bien vite lentement ensemble encore ici là là-bas "
    "dehors haut aujourd'hui maintenant hier demain bientôt plus moins beaucoup oui d'accord bonjour salut merci tard tôt",
}


def _classes(groups: dict[str, str], lexicon: list[tuple[str, list[str]]]) -> dict[str, str]:
    classes: dict[str, str] = {}
    for name, text in groups.items():
        for word in text.split():
            classes.setdefault(word, name)
    for name, phrases in lexicon:
        for phrase in phrases:
            for word in phrase.split():
                classes.setdefault(word, name)
    return classes


def _english_classes() -> dict[str, str]:
    numbers = [*words.NUMBERS, "half", "noon", "midnight", "o'clock"]
    return _classes(
        _ENGLISH,
        [
            ("name", [*NAMES, *COUNTRIES, *CITIES]),
            ("determiner", numbers),
            (
                "verb",
                [f.split()[0] for v in VERBS for f in (v.base, v.third, v.past, v.ing) if f]
                + [f for m in MODALS for f in m.english],
            ),
            ("noun", [f for noun in NOUNS for f in (noun.singular, noun.plural)]),
            ("noun", [*adverbials.DAYS, *adverbials.MONTHS, *adverbials.SEASONS]),
            ("adjective", [f for a in ADJECTIVES for f in (a.english, a.comparative, a.superlative)]),
        ],
    )


def _french_classes() -> dict[str, str]:
    auxiliaries = [f for verb in (ETRE, AVOIR, ALLER) for f in (*verb.present, *verb.imperfect)]
    return _classes(
        _FRENCH,
        [
            ("auxiliary", auxiliaries),
            ("name", [*NAMES, *(country.french for country in COUNTRIES.values()), *CITIES.values()]),
            ("determiner", list(words.NUMBERS.values())),
            ("noun", [f for noun in NOUNS for f in noun.french]),
            ("noun", [*adverbials.DAYS.values(), *adverbials.MONTHS.values(), *adverbials.SEASONS.values()]),
            ("adjective", [f for a in ADJECTIVES for f in (*a.forms, a.before_vowel)]),
            (
                "verb",
                [f for v in VERBS for f in (*v.french.present, *v.french.imperfect, *v.french.participle, v.french.infinitive)],
            ),
            ("verb", [f for m in MODALS for f in (*m.present, *m.past)]),
        ],
    )


def read_words(name: str) -> dict[str, str]:
    """A dict from word to class ("noun", …), from the file of words with this name (`english`, `french_rigid`, …)."""
    return {row["word"]: row["class"] for row in rows(f"words_{name}")}


def write_words() -> None:
    """Sample sentences of each grammar, and write their words and classes to the files `data/words_*.csv`."""
    from transformer.tasks.conversation.grammar import CONVERSATION, RIGID

    classes = {"english": _english_classes(), "french": _french_classes()}
    for ending, grammar in (("", CONVERSATION), ("_rigid", RIGID)):
        rng = random.Random("vocabulary")
        sampled_words: dict[str, set[str]] = {side: set() for side in classes}
        for _ in range(SAMPLES):
            sentence = grammar.sample(rng)
            sampled_words["english"].update(sentence.english)
            sampled_words["french"].update(sentence.french)
        for side, class_of in classes.items():
            path = FilePath(__file__).parent / "data" / f"words_{side}{ending}.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(["word", "class"])
                writer.writerows((word, class_of.get(word, _other(word))) for word in sorted(sampled_words[side]))


def _other(word: str) -> str:
    """The class of a word that is only in fixed phrases: "verb" for a verb with its subject after it (`es-tu`), otherwise
    "adverb"."""
    return (
        "verb"
        if "-" in word and word.split("-")[-1] in ("je", "tu", "il", "elle", "nous", "ils", "moi", "toi", "on")
        else "adverb"
    )


if __name__ == "__main__":
    write_words()
