"""Measure how well the heads of a translator align words, and compare them with two simple baselines."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from transformer.analysis.head_measures import PerHead
from transformer.analysis.word_alignment import (
    Aligned,
    Links,
    alignment_error,
    diagonal_links,
    links_of,
    read_alignments,
    words,
)
from transformer.errors import InputError
from transformer.pipeline.pipeline import Pipeline
from transformer.training.corpus import Corpus

PAIRS, ROUNDS = 40_000, 5  # training of IBM model 1: pairs of the corpus, and rounds of expectation maximisation


def head_errors(pipeline: Pipeline, sentences: Sequence[Aligned]) -> PerHead:
    """The alignment error rate (0 to 1) of each cross-attention head, [layer, head], on sentences whose words were aligned by
    hand. The decoder reads the translation."""
    traces = [pipeline.trace(sentence.source, sentence.target) for sentence in sentences]
    config = pipeline.config
    errors = np.zeros((config.decoder_layers, config.heads))
    for layer, head in np.ndindex(*errors.shape):
        made = [links_of(trace, trace.head("cross", layer, head).numpy()) for trace in traces]
        errors[layer, head] = alignment_error(made, sentences)
    return errors


def word_model_links(corpus: Corpus, sentences: Sequence[Aligned]) -> list[Links]:
    """For each sentence, the links between source and target words that IBM model 1 makes (Brown et al. 1993), as a baseline.
    The model is trained on pairs of the corpus and on the sentences, and learns only how often two words are in the same pair.

    Raises:
        InputError: the package `nltk`, which trains the model, is not installed.
    """
    try:
        from nltk.translate import AlignedSent, IBMModel1
    except ImportError:
        raise InputError("The baseline needs the package nltk: pip install nltk.") from None

    def sides(source: str, target: str) -> AlignedSent:
        return AlignedSent(words(target.lower()), words(source.lower()))

    pairs = list(corpus.known_pairs)
    chosen = random.Random("word model").sample(pairs, min(PAIRS, len(pairs)))
    aligned = [sides(pair.source, pair.target) for pair in chosen]
    asked = [sides(sentence.source, sentence.target) for sentence in sentences]
    table = IBMModel1([*aligned, *asked], ROUNDS).translation_table
    return [frozenset(_most_probable(one.words, one.mots, table)) for one in asked]


def _most_probable(
    target: Sequence[str], source: Sequence[str], table: Mapping[str, Mapping[str | None, float]]
) -> Iterator[tuple[int, int]]:
    """Yields a link (source index, target index) for each target word, to the source word that makes it most probable. A target
    word that is at least as probable without a source word has no link. `table` is target word → source word → probability."""
    for place, word in enumerate(target):
        shares = [table[word][other] for other in source]
        if max(shares) > table[word][None]:
            yield int(np.argmax(shares)), place


def alignment_measures(pipeline: Pipeline, corpus: Corpus, snapshots: Mapping[int, Pipeline]) -> dict[str, dict[str, Any]]:
    """The measurements of word alignment for a model's training record (`Card.measures`), under the key `alignment`: the error
    of each head, of both baselines, and of each head in each snapshot. `layer` and `head` of the smallest error are counted
    from 1.

    Args:
        snapshots: number of training steps → pipeline of the model after these steps.
    """
    sentences = read_alignments()
    errors = head_errors(pipeline, sentences)
    layer, head = np.argwhere(errors == errors.min())[0].tolist()
    return {
        "alignment": {
            "sentences": len(sentences),
            "layer": layer + 1,
            "head": head + 1,
            "errors": _rounded(errors),
            "diagonal": round(alignment_error([diagonal_links(sentence) for sentence in sentences], sentences), 4),
            "word_model": round(alignment_error(word_model_links(corpus, sentences), sentences), 4),
            "snapshots": [
                {"step": step, "errors": _rounded(head_errors(snapshot, sentences))} for step, snapshot in snapshots.items()
            ],
        }
    }


def _rounded(errors: PerHead) -> list[list[float]]:
    return [[round(float(error), 4) for error in row] for row in errors]
