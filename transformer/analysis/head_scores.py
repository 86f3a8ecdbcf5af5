"""Scores of attention heads over many texts: the mean of each of `head_measures`, with one trace in memory at a time."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from transformer.analysis.head_measures import MEASURES, PerHead, measure
from transformer.analysis.traced_texts import Text, check_texts, text_count, traced_texts
from transformer.errors import InputError
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.paths import Kind
from transformer.tracing.trace import Trace
from transformer.validation import as_list, one_of

# `alignment` is left out, because the texts do not say which keys a query needs.
SCORES = tuple(name for name in MEASURES if name != "alignment")
# The measures that only exist for self-attention, and only for a text in which a token occurs twice.
REPETITIONS = ("duplicate", "induction")


class HeadScores(NamedTuple):
    """The scores of the heads over the texts that have been read so far.

    Attributes:
        done, total: number of texts that have been read, and number of all texts; `total` is None if the texts are an iterator.
        means: name of a measure → its mean over the texts, for each layer and head. Texts without the measure are not counted;
            a measure that no text has had so far is missing. The arrays do not change when the next text is read.
    """

    done: int
    total: int | None
    means: dict[str, PerHead]


def head_scores(
    pipeline: TextPipeline, texts: Iterable[Text], kind: str = "decoder", measures: Sequence[str] | None = None
) -> Iterator[HeadScores]:
    """Yield, after each text, the mean over the texts so far of each measure of every head, such as `previous`: the weight on
    the token before the query. `head_measures.measure` defines the measures.

        for scores in head_scores(pipeline, texts, "encoder", ["previous"]):
            print(scores.done, scores.means["previous"])

    Args:
        pipeline: a model with its tokenizer: one of this library, or a Hugging Face model.
        texts: texts, or pairs of a source and a target, as a list or an iterator. Without a target, the decoder reads the
            model's own answer; a model with only a decoder reads only the text.
        kind: the kind of attention: `encoder`, `decoder` or `cross`.
        measures: names of measures, some of `SCORES`; None for all measures that exist for this kind.

    Raises:
        InputError: an argument has a wrong type, there are no texts, the model cannot read a text, it has no such kind of
            attention, or `duplicate` or `induction` is asked of cross-attention.
        ConfigError: there is no such measure.
    """
    check_texts(pipeline, texts)
    kind, names = Kind.of(kind), _names(measures)
    if kind == Kind.CROSS and measures is not None and (wrong := [name for name in names if name in REPETITIONS]):
        raise InputError("The measure {name!r} exists for self-attention only.", name=wrong[0])
    return _reports(pipeline, texts, kind, names)


def mean_head_scores(
    pipeline: TextPipeline, texts: Iterable[Text], kind: str = "decoder", measures: Sequence[str] | None = None
) -> dict[str, PerHead]:
    """Name of a measure → its mean over all texts, for each layer and head: `means` of the last result of `head_scores`.
    `texts` are texts or pairs of source and target; `measures` are some of `SCORES`, or None for all that exist for this kind
    of attention.

    Raises:
        InputError: as in `head_scores`, or no text has a measure that `measures` names.
        ConfigError: there is no such measure.
    """
    means: dict[str, PerHead] = {}
    for scores in head_scores(pipeline, texts, kind, measures):
        means = scores.means
    for name in _names(measures) if measures is not None else ():
        if name not in means:
            raise InputError("No text has the measure {name!r}, because no token occurs twice.", name=name)
    return means


def _reports(pipeline: TextPipeline, texts: Iterable[Text], kind: Kind, names: Sequence[str]) -> Iterator[HeadScores]:
    sums: dict[str, PerHead] = {}
    counts: dict[str, int] = {}
    # `map` keeps no reference to a trace while the next text is traced.
    for done, measured in enumerate(map(partial(_measured, kind), traced_texts(pipeline, texts)), 1):
        for name, values in measured.items():
            if name in names:
                sums[name] = sums.get(name, 0.0) + values
                counts[name] = counts.get(name, 0) + 1
        yield HeadScores(done, text_count(texts), {name: sums[name] / counts[name] for name in names if name in sums})


def _measured(kind: Kind, trace: Trace) -> dict[str, PerHead]:
    """Name of a measure → its value for each layer and head of a trace. Computed layer by layer, so that the weights of all
    layers are not copied."""
    weights = (trace.weights(kind, layer).double().numpy() for layer in range(trace.layers(kind)))
    ids = None if kind == Kind.CROSS else trace.ids_of(kind.queries)[0]
    layers = [measure(of_layer, ids=ids) for of_layer in weights]
    return {name: np.concatenate([of_layer[name] for of_layer in layers]) for name in layers[0]}


def _names(measures: Sequence[str] | None) -> tuple[str, ...]:
    if measures is None:
        return SCORES
    listed = None if isinstance(measures, str) else as_list(measures)
    if not listed:
        raise InputError("measures must be a list of names, such as ['previous'], not {measures!r}.", measures=measures)
    return tuple(one_of("measure", name, SCORES) for name in listed)
