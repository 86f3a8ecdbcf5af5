"""The recipe of masked words: the opened model fills in words of sentences that it was not trained on. About 10 seconds."""

import itertools
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.recipes.masked_words import sentences, train
from transformer import open_model

SENTENCES = 40


@pytest.mark.slow
def test_more_words_are_filled_in_than_by_the_most_frequent_word(tmp_path: Path) -> None:
    train(tmp_path)
    pipeline = open_model(tmp_path)
    assert pipeline.mask_token == "<mask>"
    counted = Counter(word for words in itertools.islice(sentences("train"), 1_000) for word in words)
    (most_frequent, _) = counted.most_common(1)[0]
    right = frequent = total = 0
    for words in itertools.islice(sentences("held-out"), SENTENCES):
        masked = [" ".join([*words[:place], "<mask>", *words[place + 1 :]]) for place in range(len(words))]
        right += sum(answer.tokens == (word,) for answer, word in zip(pipeline.answers(masked), words, strict=True))
        frequent += words.count(most_frequent)
        total += len(words)
    assert frequent > 0
    assert right / total > max(0.15, 2 * frequent / total)
