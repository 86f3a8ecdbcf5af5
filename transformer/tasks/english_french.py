"""The task of translating English into French: sentences for beginners, and sentences whose pronoun refers to an earlier noun.

`the animal did not cross the street because it was too tired` becomes `… parce qu'il était trop fatigué`; with `wide`
it becomes `… parce qu'elle était trop large`. Only the adjective decides which noun `it` refers to.
"""

import difflib
import itertools
import random
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from transformer.errors import Remark
from transformer.tasks.conversation.conversation_examples import EXAMPLES, SIGNATURE, STATIC_EXAMPLES
from transformer.tasks.conversation.frames.courtesy import FIXED
from transformer.tasks.conversation.frames.frame import OPENINGS
from transformer.tasks.conversation.frames.reference import SAYINGS, Main, main_clause, reason
from transformer.tasks.conversation.grammar import CONVERSATION, LONGEST, LONGEST_QUESTION, RIGID, Grammar, without_mark
from transformer.tasks.conversation.lexicon import CITIES, NAMES
from transformer.tasks.conversation.lexicon_words import read_words
from transformer.tasks.conversation.nominal import NOUN_FORMS
from transformer.tasks.conversation.path import DeadEndError, SamplingPath
from transformer.tasks.task import Pair, ReferencePair, Split, Task
from transformer.text.scripts import scripts_of
from transformer.text.tokenizer import join_elided, split_english
from transformer.text.vocabulary import Vocabulary

ENGLISH, FRENCH = read_words("english"), read_words("french")
SHORT = 3  # sentences of up to this many tokens are always in training
UNKNOWN_SHARE = 0.15  # share of pairs in which words outside the vocabulary replace the names and cities
UNKNOWN_NAME = "unknown name"
HELD_OUT_TRIES = 20  # most tries of made-up words for a held-out pair
SUGGESTED = 3  # words suggested for an unknown word
COPIED = "Not in the vocabulary: {words}. Where a name may stand, the model was trained to copy such a word."
ONLY_BEGINNING = "This is only the beginning of a sentence, so do not trust the answer."
NO_SUCH_BEGINNING = "No sentence in training began with “{token}” in this way, so do not trust the answer."
NO_SUCH_WORD_THERE = "No sentence in training had “{token}” after “{before}” in this way, so do not trust the answer."
# Known names and cities that are tried in place of an unknown word. If the French is the same with all of them, the word can be
# copied. The names differ in gender, and some of them make the word before them lose its vowel (`d'anna`).
_STAND_INS = (("paul", "marie", "adam", "anna"), ("paris", "athens"))
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_OPENINGS = tuple(" ".join(words) + " " for words, _ in OPENINGS.entries)
_NOUNS = frozenset(" ".join(words) for words, _ in NOUN_FORMS.entries)


class EnglishFrench(Task):
    """The task: translate a beginner's English into French. The sentences and their translations come from a grammar."""

    name = "english-french"
    description = "English sentences in, French ones out"
    accepts = "one or two short sentences like those of a first language course, with the words of the vocabulary"
    source_vocabulary = Vocabulary.of(ENGLISH, "english")
    target_vocabulary = Vocabulary.of(FRENCH, "french")
    longest = LONGEST_QUESTION
    examples = EXAMPLES
    grammar: ClassVar[Grammar] = CONVERSATION

    def sample(self, rng: random.Random) -> Pair:
        sides = self.source_vocabulary, self.target_vocabulary
        while True:
            sentence = self.grammar.sample(rng)
            # The vocabularies contain the words of many sampled sentences, so a rare form (`aidées`) can be missing.
            tokens = sentence.english, sentence.french
            if not any(words.unk in words.ids(side) for words, side in zip(sides, tokens, strict=True)):
                return Pair(" ".join(sentence.english), join_elided(sentence.french), sentence.frame)

    def pairs(self, split: Split, seed: int | str) -> Iterator[Pair]:
        """An endless iterator of pairs of a split. In some pairs, made-up words replace the names of people and cities in both
        languages. From these pairs, a model learns to write `<unk>` for an `<unk>` in the source."""
        rng = random.Random(f"{self.name}/{split}/{seed}/{UNKNOWN_NAME}")
        for pair in super().pairs(split, seed):
            disguised = None
            if rng.random() < UNKNOWN_SHARE:
                # The made-up words change the text, and so they can change its split. Nine of ten texts are in the training
                # split.
                tries = HELD_OUT_TRIES if split == "held-out" else 1
                texts = (self._with_unknown_names(pair, rng) for _ in range(tries))
                fitting = (text for text in texts if text and self.is_held_out(text.source) == (split == "held-out"))
                disguised = next(fitting, None)
            yield disguised or pair

    def solve(self, source: str) -> str | None:
        tokens = split_english(source)
        sentence = self.grammar.parse(tokens)
        if sentence is not None:
            return join_elided(sentence.french)
        unknown = self._unknown(tokens)
        return self._with_names(tokens, unknown) if unknown and "".join(unknown).isalpha() else None

    def next_words(self, source: str) -> list[str]:
        """Words that may follow `source`, the beginning of a text. Words of different classes (noun, verb, …) alternate; within
        a class, the words that make most sense come first. Empty if no sentence of the grammar begins like this."""
        by_class: dict[str, list[str]] = {}
        for word in self._next_known(split_english(source)):
            by_class.setdefault(self.word_class(word, "source") or "", []).append(word)
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*by_class.values()))
        return [word for word in in_turn if word is not None]

    def remark(self, source: str) -> Remark | None:
        tokens = split_english(source)
        unknown = self._unknown(tokens)
        if unknown:
            copied = scripts_of(unknown) <= {"LATIN"} and self._with_names(tokens, unknown) is not None
            return Remark(COPIED, words=", ".join(unknown)) if copied else None
        if not tokens or self.solve(source) is not None:
            return None
        index = self.grammar.parsable(tokens)
        if index >= len(tokens):
            return Remark(ONLY_BEGINNING)
        before = " ".join(tokens[max(0, index - 3) : index])
        if not before:
            return Remark(NO_SUCH_BEGINNING, token=tokens[index])
        return Remark(NO_SUCH_WORD_THERE, token=tokens[index], before=before)

    def closest(self, tokens: Sequence[str], index: int) -> list[str]:
        # Only words with a similar spelling: a word that merely may follow, such as "sun" for "zorglub", is rarely the word
        # that was meant.
        return difflib.get_close_matches(tokens[index], self._next_known(tokens[:index]), n=SUGGESTED, cutoff=0.6)

    def split_key(self, source: str) -> str:
        """The text whose hash decides the split of a sentence: the sentence without its final mark and without an opening such
        as `hello` or `yes`; if it has a reason (`because …`), only the clause before it. So a clause is in the same split with
        any opening, reason or final mark."""
        tokens = split_english(source)
        if "because" in tokens[1:]:
            tokens = tokens[: tokens.index("because", 1)]
        text = without_mark(tokens)
        opening = next((words for words in _OPENINGS if text.startswith(words)), None)
        if opening is None or text in FIXED:
            return text
        rest = text.removeprefix(opening).removeprefix(". ")
        return self.split_key(rest) if rest.strip(" .?") else text

    def is_held_out(self, source: str) -> bool:
        """Whether a sentence is held out of training, which its hash decides as in every task. Fixed phrases and the shortest
        sentences are never held out, because their meaning does not follow from their words (`see you soon`). The clause `the
        animal did not cross the street` is always held out, with any reason."""
        key = self.split_key(source)
        if key == SIGNATURE:
            return True
        return key not in FIXED and len(key.split()) > SHORT and super().is_held_out(key)

    def reference_pairs(self, count: int, seed: int | str, split: Split = "held-out") -> list[ReferencePair]:
        """`count` different pairs of sentences of `split`, to measure how much the attention of a head depends on the adjective
        after `because`. The sentences are statements without a period."""
        rng = random.Random(f"{self.name}/reference/{split}/{seed}")
        pairs: dict[ReferencePair, None] = {}
        while len(pairs) < count:
            pair = self._reference_pair(rng, split == "held-out")
            if pair is not None:
                pairs[pair] = None
        return list(pairs)

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        """The class of a word ("noun", "verb", "pronoun", …); if a word has several classes, the first of them in
        `lexicon_words`. None for an unknown word."""
        return (ENGLISH if side == "source" else FRENCH).get(token)

    def main_clause(self, path: SamplingPath) -> Main:
        """The clause before `because`, sampled on `path`: its French words, whether it is in the past, and the nouns that a
        pronoun may refer to."""
        return main_clause(path)

    def _next_known(self, tokens: Sequence[str]) -> list[str]:
        """The words of the vocabulary that may follow the tokens. The grammar has more words than the vocabulary."""
        words, vocabulary = self.grammar.next_words(tokens), self.source_vocabulary
        return [word for word, index in zip(words, vocabulary.ids(words), strict=True) if index != vocabulary.unk]

    def _unknown(self, tokens: Sequence[str]) -> list[str]:
        """The tokens that are not in the vocabulary, without duplicates."""
        vocabulary = self.source_vocabulary
        return [t for t, index in dict(zip(tokens, vocabulary.ids(tokens), strict=True)).items() if index == vocabulary.unk]

    def _with_names(self, tokens: Sequence[str], unknown: Sequence[str]) -> str | None:
        """The French of a text whose unknown words can only be names. None if an unknown word may be something else, or if the
        French depends on the name."""
        for stand_ins in _STAND_INS:
            parses: set[str | None] = set()
            for names in itertools.permutations(stand_ins, len(unknown)):
                parses.add(self._with_stand_ins(tokens, dict(zip(unknown, names, strict=True))))
                if len(parses) > 1 or None in parses:
                    break
            else:
                return parses.pop() if parses else None
        return None

    def _with_stand_ins(self, tokens: Sequence[str], stand_ins: dict[str, str]) -> str | None:
        """The French of a text, parsed with known names in place of its unknown words. In the French, the unknown words replace
        the known names again. None if the text cannot be parsed with these names, if it already has one of the known names, or
        if a name is not as often in the French as in the text."""
        sentence = self.grammar.parse([stand_ins.get(token, token) for token in tokens])
        if sentence is None or any(name in tokens for name in stand_ins.values()):
            return None
        french = list(sentence.french)
        for unknown, name in stand_ins.items():
            name_in_french = CITIES.get(name, name)
            if french.count(name_in_french) != tokens.count(unknown):
                return None
            french = [unknown if word == name_in_french else word for word in french]
        return join_elided(french)

    def _with_unknown_names(self, pair: Pair, rng: random.Random) -> Pair | None:
        """The pair with made-up words in place of all names of people and cities. None if the pair has no names, or if the
        French depends on the names."""
        tokens = split_english(pair.source)
        names = [token for token in dict.fromkeys(tokens) if token in NAMES or token in CITIES]
        if not names:
            return None
        unknown = {name: _made_up_word(rng) for name in names}
        tokens = [unknown.get(token, token) for token in tokens]
        target = self._with_names(tokens, list(unknown.values()))
        return None if target is None else Pair(" ".join(tokens), target, UNKNOWN_NAME)

    def _reference_pair(self, rng: random.Random, held_out: bool) -> ReferencePair | None:
        """A pair of sentences with the same clause, which has two nouns of different genders. Each sentence has an adjective
        that fits only one of the nouns. None if the sampled sentence gives no such pair in the split."""
        path = SamplingPath(rng)
        try:
            main = self.main_clause(path)
            english = path.english()
            path.say("because")
            _, found, saying, pronoun = reason(path, main)
        except DeadEndError:
            return None
        if pronoun.subject != "it" or len(main.candidates) != 2 or found is None:
            return None
        first, second = main.candidates
        other = second if found is first else first
        genders = {first.agreement.gender, second.agreement.gender}
        nouns = [index for index, token in enumerate(english) if token in _NOUNS]
        suitable = [s for s in SAYINGS if other.kind in s.kinds and found.kind not in s.kinds and not s.is_of_any]
        if len(genders) != 2 or len(nouns) != 2 or not suitable or saying.feeling:
            return None
        words = path.english()
        position = words.index(saying.english)
        changed = [*words[:position], rng.choice(suitable).english, *words[position + 1 :]]
        a, b = (words, changed) if found is first else (changed, words)
        if self.is_held_out(" ".join(a)) != held_out:  # before the grammar parses the texts, which takes 20 ms
            return None
        texts = [(" ".join(tokens), self.solve(" ".join(tokens))) for tokens in (a, b)]
        if any(target is None for _, target in texts):
            return None
        pronouns = [self.target_vocabulary.split(target or "").index("parce") + 2 for _, target in texts]
        tokens = [self.target_vocabulary.split(target or "")[i] for (_, target), i in zip(texts, pronouns, strict=True)]
        if set(tokens) != {"il", "elle"}:
            return None
        (source_a, target_a), (source_b, target_b) = texts
        return ReferencePair(source_a, target_a or "", source_b, target_b or "", *nouns, *pronouns)


def _made_up_word(rng: random.Random) -> str:
    """A random word of two or three syllables that is in neither vocabulary."""
    while True:
        word = "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(rng.choice((2, 3))))
        if word not in ENGLISH and word not in FRENCH:
            return word


class EnglishFrenchStatic(EnglishFrench):
    """The task: translate sentences of one fixed form, with or without a reason (`because …`).

    The two nouns have fixed positions, so a model can write the right pronoun even if no head's attention depends on the
    adjective.
    """

    name = "english-french-static"
    description = "English sentences of one rigid form in, French ones out"
    accepts = "a sentence like those of the examples, with the words of the vocabulary"
    source_vocabulary = Vocabulary.of(read_words("english_rigid"), "english")
    target_vocabulary = Vocabulary.of(read_words("french_rigid"), "french")
    longest = LONGEST
    examples = STATIC_EXAMPLES
    grammar = RIGID

    def main_clause(self, path: SamplingPath) -> Main:
        return main_clause(path, rigid=True)
