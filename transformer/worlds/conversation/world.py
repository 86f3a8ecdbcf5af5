"""English in, French out: what beginners say, and pronouns that refer back.

This world is not yet in `transformer.worlds.WORLDS`, because no model is trained on it. It is to replace `english-french`.
"""

import random
from typing import Literal

from transformer.text.tokenizer import join_elided, split_english
from transformer.text.vocabulary import Vocabulary
from transformer.worlds.conversation.examples import EXAMPLES, SIGNATURE
from transformer.worlds.conversation.frames.courtesy import FIXED
from transformer.worlds.conversation.frames.frame import OPENINGS
from transformer.worlds.conversation.frames.reference import SAYINGS, main_clause, reason
from transformer.worlds.conversation.grammar import LONGEST_QUESTION, drawn, next_words, read, unread, without_mark
from transformer.worlds.conversation.nominal import NOUN_FORMS
from transformer.worlds.conversation.path import DeadEndError, Draw
from transformer.worlds.conversation.vocabulary import read_words
from transformer.worlds.world import Pair, ReferencePair, Split, World

ENGLISH, FRENCH = read_words("english"), read_words("french")
SHORT = 3  # tokens of a sentence that is always in training
_OPENINGS = tuple(" ".join(words) + " " for words, _ in OPENINGS.entries)
_NOUNS = frozenset(" ".join(words) for words, _ in NOUN_FORMS.entries)


class Conversation(World):
    """A grammar of a beginner's English with French translations."""

    name = "conversation"
    description = "What beginners say: English sentences in, French ones out"
    accepts = "one or two short sentences like those of a first language course, with the words of the vocabulary"
    source_vocabulary = Vocabulary.of(ENGLISH, "english")
    target_vocabulary = Vocabulary.of(FRENCH, "french")
    longest = LONGEST_QUESTION
    examples = EXAMPLES

    def draw(self, rng: random.Random) -> Pair:
        sentence = drawn(rng)
        return Pair(" ".join(sentence.english), join_elided(sentence.french), sentence.frame)

    def solve(self, source: str) -> str | None:
        sentence = read(split_english(source))
        return None if sentence is None else join_elided(sentence.french)

    def next_words(self, source: str) -> list[str]:
        """Words that may follow the beginning of a source, those that make most sense first; none if the grammar has no
        sentence that begins so."""
        return next_words(split_english(source))

    def remark(self, source: str) -> str | None:
        """What a person should know before they trust an answer to this source; None if the grammar reads it."""
        tokens = split_english(source)
        unknown = [token for token in dict.fromkeys(tokens) if token not in ENGLISH]
        if unknown:
            listed = ", ".join(f"“{token}”" for token in unknown)
            return f"{listed} {'is' if len(unknown) == 1 else 'are'} not in the vocabulary of this model."
        if not tokens or read(tokens) is not None:
            return None
        index = unread(tokens)
        if index >= len(tokens):
            return "This is only the beginning of a sentence that this model was trained on."
        before = " ".join(tokens[max(0, index - 3) : index])
        where = f"after “{before}”" if before else "at the beginning"
        return f"No sentence of this form was in training: it has none with “{tokens[index]}” {where}."

    def split_key(self, source: str) -> str:
        """The sentence without its mark and without `hello`, `yes` and the like before it; of a sentence with a reason, the
        clause before it, so that the same clause with another reason, question or period is in the same split."""
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
        """As in every world; but fixed phrases and the shortest sentences are always trained on, because their words alone do
        not tell what they mean (`see you soon`)."""
        key = self.split_key(source)
        if key == SIGNATURE:
            return True
        return key not in FIXED and len(key.split()) > SHORT and super().is_held_out(key)

    def reference_pairs(self, count: int, seed: int | str, split: Split = "held-out") -> list[ReferencePair]:
        """Different pairs to measure how far a head turns with the adjective, without period or question."""
        rng = random.Random(f"{self.name}/reference/{split}/{seed}")
        pairs: dict[ReferencePair, None] = {}
        while len(pairs) < count:
            pair = self._reference_pair(rng)
            if pair is not None and self.is_held_out(pair.source_a) == (split == "held-out"):
                pairs[pair] = None
        return list(pairs)

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        """The class of a word ("noun", "verb", "pronoun", …), the most frequent one if it has two; None for an unknown word."""
        return (ENGLISH if side == "source" else FRENCH).get(token)

    def _reference_pair(self, rng: random.Random) -> ReferencePair | None:
        """A clause with two nouns of different genders, and two adjectives each of which fits one of them; None if the first
        draw has no such pair."""
        draw = Draw(rng)
        try:
            main = main_clause(draw)
            english = draw.english()
            draw.say("because")
            _, found, saying, pronoun = reason(draw, main)
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
        words = draw.english()
        position = words.index(saying.english)
        changed = [*words[:position], rng.choice(suitable).english, *words[position + 1 :]]
        a, b = (words, changed) if found is first else (changed, words)
        texts = [(" ".join(tokens), self.solve(" ".join(tokens))) for tokens in (a, b)]
        if any(target is None for _, target in texts):
            return None
        pronouns = [self.target_vocabulary.split(target or "").index("parce") + 2 for _, target in texts]
        tokens = [self.target_vocabulary.split(target or "")[i] for (_, target), i in zip(texts, pronouns, strict=True)]
        if set(tokens) != {"il", "elle"}:
            return None
        (source_a, target_a), (source_b, target_b) = texts
        return ReferencePair(source_a, target_a or "", source_b, target_b or "", *nouns, *pronouns)
