"""Measure a translator on held-out sentences of a corpus: BLEU, chrF, and how well low confidence marks poor answers.

This module needs the package `sacrebleu`, which nothing else needs.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from sacrebleu import corpus_bleu, corpus_chrf, sentence_chrf

from transformer.pipeline.answer import Answer
from transformer.pipeline.card import POOR
from transformer.pipeline.decoding.generate import generate
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Beam
from transformer.pipeline.pipeline import Pipeline
from transformer.training.as_typed import without_end
from transformer.training.corpus import Sentence, form_of
from transformer.training.evaluation import Accuracy, batched

BATCH = 64
BEAM = Beam(width=4)


class Translated(NamedTuple):
    """A translator's answers to sentences, in the order of the sentences.

    Attributes:
        greedy, beam: the answers of greedy decoding, and of beam search of width 4.
        small_letters: the answers of greedy decoding to the sentences in lower case, without `.`, `!` and `?` at their ends.
        confidence: for each greedy answer, the mean log-probability of its tokens, `<eos>` included, in nats.
    """

    greedy: tuple[str, ...]
    beam: tuple[str, ...]
    small_letters: tuple[str, ...]
    confidence: Float[np.ndarray, " sentence"]


def translated(pipeline: Pipeline, sentences: Sequence[Sentence], report: Callable[[int], object]) -> Translated:
    """Translate sentences by greedy decoding and by beam search, and in lower case once more by greedy decoding.

    Args:
        report: called after the beam search of each sentence with the number of sentences done.
    """
    by_length = sorted(range(len(sentences)), key=lambda place: len(sentences[place].source))
    greedy, small_letters = [""] * len(sentences), [""] * len(sentences)
    beam, confidence = list[str](), np.zeros(len(sentences))
    for places in batched(by_length, BATCH):
        texts = [sentences[place].source for place in places]
        answers = pipeline.answers(texts)
        for place, answer, value in zip(places, answers, _confidence(pipeline, texts, answers), strict=True):
            greedy[place], confidence[place] = answer.text, value
        for place, answer in zip(places, pipeline.answers([without_end(text.lower()) for text in texts]), strict=True):
            small_letters[place] = answer.text
    vocabulary = pipeline.target_vocabulary
    for done, sentence in enumerate(sentences, 1):
        ids = pipeline.encode(sentence.source).ids
        source, most = pipeline.batch([ids], "source"), 2 * len(ids) + 8
        steps = generate(pipeline.model, source, vocabulary.sos, vocabulary.eos, most, BEAM, traced=False)
        generation = Generation.of(steps)
        beam.append(vocabulary.text_of(made.token for made in generation.chain(generation.best)))
        report(done)
    return Translated(tuple(greedy), tuple(beam), tuple(small_letters), confidence)


@torch.inference_mode()
def _confidence(pipeline: Pipeline, texts: Sequence[str], answers: Sequence[Answer]) -> list[float]:
    """For each answer, the mean log-probability of its tokens, `<eos>` included, in nats."""
    vocabulary = pipeline.target_vocabulary
    rows = [[vocabulary.sos, *vocabulary.ids(answer.tokens), vocabulary.eos] for answer in answers]
    source = pipeline.batch([pipeline.encode(text).ids for text in texts], "source")
    target = pipeline.batch([row[: pipeline.config.max_len + 1] for row in rows], "target")
    written = pipeline.model(source, target[:, :-1]).log_softmax(-1).gather(-1, target[:, 1:, None])[..., 0]
    counted = target[:, 1:] != vocabulary.pad
    return ((written * counted).sum(-1) / counted.sum(-1)).tolist()


def scores(answers: Sequence[str], sentences: Sequence[Sentence]) -> dict[str, float]:
    """`bleu` and `chrf` of answers against all translations of each sentence, 0 to 100, by sacrebleu with its default
    settings."""
    most = max(len(sentence.targets) for sentence in sentences)
    # A sentence with fewer translations has None in their place, which sacrebleu leaves out.
    columns: Any = [[(*sentence.targets, *[None] * most)[place] for sentence in sentences] for place in range(most)]
    return {
        "bleu": round(corpus_bleu(answers, columns).score, 2),
        "chrf": round(corpus_chrf(answers, columns).score, 2),
    }


def exact(answers: Sequence[str], sentences: Sequence[Sentence]) -> Accuracy:
    """How many answers equal one of the translations of their sentence, in all and by the number of words of the sentence.
    `Accuracy.wrong` is left empty."""
    by_form: dict[str, list[bool]] = defaultdict(list)
    for answer, sentence in zip(answers, sentences, strict=True):
        by_form[form_of(sentence.source)].append(answer in sentence.targets)
    counts = {
        form: (sum(right), len(right)) for form, right in sorted(by_form.items(), key=lambda item: int(item[0].split()[0]))
    }
    return Accuracy(sum(right for right, _ in counts.values()), len(answers), counts, ())


def translation_measures(done: Translated, sentences: Sequence[Sentence]) -> dict[str, dict[str, Any]]:
    """The measurements of a translator for its training record (`Card.measures`). `translation`: BLEU and chrF of its answers.
    `doubt`: the result of the function `doubt` for its greedy answers, where an answer is poor if its chrF is below 50 with
    every translation."""
    of_form: dict[str, list[int]] = defaultdict(list)
    for place, sentence in enumerate(sentences):
        of_form[form_of(sentence.source)].append(place)
    by_length = {
        form: {"sentences": len(places)}
        | scores([done.beam[place] for place in places], [sentences[place] for place in places])
        for form, places in sorted(of_form.items(), key=lambda item: int(item[0].split()[0]))
    }
    poor = np.array(
        [
            max(sentence_chrf(answer, [target]).score for target in sentence.targets) < POOR
            for answer, sentence in zip(done.greedy, sentences, strict=True)
        ]
    )
    return {
        "translation": {
            "sentences": len(sentences),
            "greedy": scores(done.greedy, sentences),
            "beam": scores(done.beam, sentences) | {"width": BEAM.width},
            "small_letters": scores(done.small_letters, sentences),
            "by_length": by_length,
        },
        "doubt": doubt(done.confidence, poor),
    }


def doubt(confidence: Float[np.ndarray, " sentence"], poor: Bool[np.ndarray, " sentence"]) -> dict[str, float]:
    """The confidence below which answers are marked as doubtful, and how well the mark finds poor answers.

    The limit is chosen so that the share of poor answers that are marked, minus the share of other answers that are marked, is
    largest (Youden's index).

    Args:
        confidence: the mean log-probability of the tokens of each answer, in nats.
        poor: True for each poor answer.

    Returns:
        `below`: the limit. `marked`, `poor`: shares of marked answers and of poor answers. `poor_of_marked`,
        `poor_of_others`: shares of poor answers among marked and among other answers. `found`: share of the poor answers that
        are marked.
    """

    def gain(limit: float) -> float:
        return _share(confidence[poor] < limit) - _share(confidence[~poor] < limit)

    limit = max(np.unique(confidence).tolist(), key=gain)
    marked = confidence < limit
    return {
        "below": round(limit, 4),
        "marked": round(_share(marked), 4),
        "poor": round(_share(poor), 4),
        "poor_of_marked": round(_share(poor[marked]), 4),
        "poor_of_others": round(_share(poor[~marked]), 4),
        "found": round(_share(marked[poor]), 4),
    }


def _share(of: Bool[np.ndarray, " sentence"]) -> float:
    """The share of True; 0 for an empty array."""
    return float(of.mean()) if of.size else 0.0
