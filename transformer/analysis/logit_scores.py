"""The logit lens and the contributions to a logit over many texts: their means, with one trace in memory at a time."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer.analysis.checks import check_language_head
from transformer.analysis.logit_contributions import Part, logit_contributions
from transformer.analysis.logit_lens import logit_lens
from transformer.analysis.traced_texts import Text, check_texts, text_count, traced_texts
from transformer.errors import InputError
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.readout import Readout
from transformer.tracing.trace import Trace


class LogitScores(NamedTuple):
    """Two means over the texts that have been read so far: of the logit lens, and of the contributions to a logit. Both are for
    the most probable next token after each text.

    Attributes:
        done, total: number of texts that have been read, and number of all texts; `total` is None if the texts are an iterator.
        lens: the log-probability of this token, in nats, at the start of the decoder's residual stream and after each layer
            (`logit_lens`).
        contributions: part of the model → what the part adds to the logit of this token (`logit_contributions`).
    """

    done: int
    total: int | None
    lens: Float[np.ndarray, " point"]
    contributions: dict[Part, float]


def logit_scores(pipeline: TextPipeline, texts: Iterable[Text]) -> Iterator[LogitScores]:
    """Yield, after each text, the means over the texts so far of the logit lens and of the contributions to a logit. Both are
    computed for the most probable next token after the decoder's input.

        for scores in logit_scores(pipeline, [("the cat sleeps .", "le chat")]):
            print(scores.done, scores.lens)

    Args:
        pipeline: a model with its tokenizer: one of this library, or a Hugging Face model.
        texts: texts, or pairs of a source and a target, as a list or an iterator. Without a target, the decoder reads the
            model's own answer; a model with only a decoder reads only the text.

    Raises:
        InputError: an argument has a wrong type, there are no texts, the model cannot read a text, or its logits are not read
            from the residual stream of a decoder.
    """
    check_texts(pipeline, texts)
    check_language_head(pipeline.network)
    if pipeline.readout is None:
        raise InputError("The logits of this model are not read from the residual stream of a decoder.")
    return _reports(pipeline, pipeline.readout, texts)


def _reports(pipeline: TextPipeline, readout: Readout, texts: Iterable[Text]) -> Iterator[LogitScores]:
    points, sums = 0.0, dict[Part, float]()
    # `map` keeps no reference to a trace while the next text is traced.
    for done, (lens, contributions) in enumerate(map(partial(_scored, readout), traced_texts(pipeline, texts)), 1):
        points = points + lens
        sums = {part: sums.get(part, 0.0) + value for part, value in contributions.items()}
        yield LogitScores(done, text_count(texts), points / done, {part: total / done for part, total in sums.items()})


def _scored(readout: Readout, trace: Trace) -> tuple[Float[np.ndarray, " point"], dict[Part, float]]:
    token = int(trace.logits[0, -1].argmax())
    lens = logit_lens(readout, trace)[:, 0, -1].double().log_softmax(-1)[:, token]
    given = logit_contributions(readout, trace, token)
    return lens.numpy(), dict(zip(given.parts, given.values.tolist(), strict=True))
