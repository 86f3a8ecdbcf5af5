"""English in, French out: the sentences of a small grammar, more than half with a pronoun that refers back.

`the animal did not cross the street because it was too tired` becomes `… parce qu'il était trop fatigué`; with `wide`
it becomes `… parce qu'elle était trop large`. Only the adjective decides which noun `it` refers to.
"""

import random
from dataclasses import replace
from typing import Literal

from transformer.text.tokenizer import join_elided, split_english
from transformer.text.vocabulary import Vocabulary
from transformer.worlds.french import words
from transformer.worlds.french.draw import Draw
from transformer.worlds.french.examples import EXAMPLES, SIGNATURE, STATIC_EXAMPLES
from transformer.worlds.french.nouns import NOUN_BY_FORM
from transformer.worlds.french.parse import parse
from transformer.worlds.french.plain import FORMS
from transformer.worlds.french.reference import main_clause, own_reason, rigid_clause, two_readings, with_reason
from transformer.worlds.french.to_english import english
from transformer.worlds.french.to_french import answer, french
from transformer.worlds.french.tree import Clause, Sentence
from transformer.worlds.world import Pair, ReferencePair, Split, World

# Shares of the pairs drawn. The questions, whose answer names the antecedent, are what trains a head to attend to it.
FORM_SHARES = {
    "reference": 0.5,
    "plain": 0.06,
    "agreement": 0.1,
    "negation": 0.07,
    "clitic": 0.08,
    "relative": 0.08,
    "preposition": 0.05,
    "past": 0.03,
    "imperfect": 0.03,
}
QUESTION_SHARE = 0.66  # of the reference pairs
PERIOD_SHARE = 0.5
TIME_SHARE = 0.12
OWN_REASON_SHARE = 0.4  # of the sentences without a noun

QuestionTarget = Literal["sentence and answer", "answer only"]
QUESTION_TARGET: QuestionTarget = "sentence and answer"


class EnglishFrench(World):
    """A grammar of English with French translations.

    `french.reference` draws the *because* sentences, `french.plain` the others.
    """

    name = "english-french"
    description = "English sentences in, French ones out"
    accepts = "a sentence like those of the examples, with the words of the vocabulary"
    source_vocabulary = Vocabulary.of(words.ENGLISH, "english")
    target_vocabulary = Vocabulary.of(words.FRENCH, "french")
    longest = 22
    question_share: float = QUESTION_SHARE
    question_target: QuestionTarget = QUESTION_TARGET
    examples = EXAMPLES

    def draw(self, rng: random.Random) -> Pair:
        draw = Draw(rng)
        while True:
            form = draw.weighted(FORM_SHARES)
            sentence = self._reference(draw) if form == "reference" else self._plain(draw, FORMS[form](draw))
            source = english(sentence)
            if len(source) <= self.longest:
                target = self._translation(sentence)
                assert target is not None
                return Pair(" ".join(source), target, "question" if sentence.question else form)

    def main_clause(self, draw: Draw) -> Clause:
        """The clause before a *because*."""
        return main_clause(draw)

    def solve(self, source: str) -> str | None:
        sentence = parse(split_english(source))
        return None if sentence is None else self._translation(sentence)

    def split_key(self, source: str) -> str:
        """The main clause, so that the same clause with another reason, question or period is in the same split."""
        tokens = split_english(source)
        if "because" in tokens:
            tokens = tokens[: tokens.index("because")]
        return " ".join(tokens[:-1] if tokens[-1:] == ["."] else tokens)

    def is_held_out(self, source: str) -> bool:
        return self.split_key(source) == SIGNATURE or super().is_held_out(source)

    def reference_pairs(self, count: int, seed: int | str, split: Split = "held-out") -> list[ReferencePair]:
        """Different pairs to measure how far a head turns with the adjective, without period or question."""
        draw = Draw(random.Random(f"{self.name}/reference/{split}/{seed}"))
        pairs: dict[ReferencePair, None] = {}
        while len(pairs) < count:
            readings = two_readings(draw, self.main_clause(draw))
            pair = self._reference_pair(*readings) if readings is not None else None
            if pair is not None and self.is_held_out(pair.source_a) == (split == "held-out"):
                pairs[pair] = None
        return list(pairs)

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        """The class of a word ("noun", "verb", "pronoun", …), the most frequent one if it has two; None for an unknown word."""
        return (words.ENGLISH if side == "source" else words.FRENCH).get(token)

    def _reference(self, draw: Draw) -> Sentence:
        sentence = with_reason(draw, self.main_clause(draw))
        question = draw.chance(self.question_share)
        return replace(sentence, question=question, period=question or draw.chance(PERIOD_SHARE))

    def _plain(self, draw: Draw, clause: Clause) -> Sentence:
        period = draw.chance(PERIOD_SHARE)
        reason = own_reason(draw, clause) if draw.chance(OWN_REASON_SHARE) else None
        if reason is not None or not draw.chance(TIME_SHARE):
            return Sentence(clause, reason, period=period)
        in_the_past = clause.phrase.tense in ("past", "imperfect")
        time = draw.rng.choice(("today", "here", "yesterday" if in_the_past else "now"))
        return Sentence(clause, time=time, period=period)

    def _translation(self, sentence: Sentence) -> str | None:
        """The French text. `question_target` decides what a question adds to it."""
        tokens = french(sentence)
        if tokens is not None and sentence.question:
            answer_tokens = answer(sentence)
            if answer_tokens is not None and self.question_target == "sentence and answer":
                answer_tokens = tokens + answer_tokens
            tokens = answer_tokens
        return None if tokens is None else join_elided(tokens)

    def _reference_pair(self, a: Sentence, b: Sentence, first: int, second: int) -> ReferencePair:
        source = english(a)
        nouns = [index for index, token in enumerate(source) if token in NOUN_BY_FORM]
        texts = [(" ".join(english(s)), self._translation(s) or "") for s in (a, b)]
        pronouns = [self.target_vocabulary.split(target).index("parce") + 2 for _, target in texts]
        return ReferencePair(*texts[0], *texts[1], nouns[first], nouns[second], *pronouns)


class EnglishFrenchStatic(EnglishFrench):
    """The same language with rigid *because* sentences and no questions.

    The two nouns stand at fixed places, so a model can write the right pronoun without any head that turns.
    Without questions two English words are never drawn, so they are not in its vocabulary.
    """

    name = "english-french-static"
    description = "English sentences of one rigid form in, French ones out, without questions"
    source_vocabulary = Vocabulary.of(set(words.ENGLISH) - {"what", "?"}, "english")
    longest = 15
    question_share = 0.0
    examples = STATIC_EXAMPLES

    def main_clause(self, draw: Draw) -> Clause:
        return rigid_clause(draw)
