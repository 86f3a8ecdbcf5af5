"""The greedy answers of a batch."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jaxtyping import Int
from torch import Tensor

from transformer.network.tap import Edit
from transformer.pipeline.decoding.generate import Network, generate
from transformer.validation import checked, within


class GeneratedIds(NamedTuple):
    """The token ids that greedy decoding wrote for a batch.

    Attributes:
        ids: for each batch item, the written ids, without `<sos>` and `<eos>`.
        ended: for each batch item, True if it ended with `<eos>`, False if it was stopped at the limit.
        log_probabilities: for each batch item, the log-probability in nats of each written id, and of `<eos>` if it ended.
    """

    ids: list[list[int]]
    ended: list[bool]
    log_probabilities: list[list[float]]


def limited(limits: Iterable[int], max_new_tokens: int | None) -> list[int]:
    """The limit on the tokens of each answer of a batch: its own limit, or `max_new_tokens` if that is less.

    Args:
        limits: for each text, the most tokens that its answer may have.
        max_new_tokens: the limit of the caller for all answers; None for no such limit.

    Raises:
        ConfigError: `max_new_tokens` is not a whole number from 1.
    """
    if max_new_tokens is None:
        return [*limits]
    most = checked("max_new_tokens", max_new_tokens, int)
    within("max_new_tokens", most, 1)
    return [min(limit, most) for limit in limits]


def greedy(
    model: Network,
    source: Int[Tensor, "batch source"] | None,
    sos: int,
    eos: int,
    max_new_tokens: int,
    suppress: Sequence[int] = (),
    edits: Sequence[Edit] = (),
    forced: Mapping[int, int] | None = None,
    prompt: Int[Tensor, "batch length"] | None = None,
) -> GeneratedIds:
    """The token ids that greedy decoding writes: the most probable token is appended to the decoder's input until that token
    is `<eos>`, or the answer has `max_new_tokens` tokens. Arguments and errors are those of `generate`."""
    steps = generate(
        model, source, sos, eos, max_new_tokens, forced=forced, suppress=suppress, edits=edits, traced=False, prompt=prompt
    )
    ids: list[list[int]] = []
    ended: list[bool] = []
    log_probabilities: list[list[float]] = []
    for step in steps:
        if not ids:
            ids, log_probabilities = [[] for _ in step.input_ids], [[] for _ in step.input_ids]
            ended = [False] * len(step.input_ids)
        for hypothesis in step.hypotheses:
            if hypothesis.ended:
                ended[hypothesis.row] = True
            elif step.room:
                ids[hypothesis.row].append(hypothesis.token)
            else:
                continue
            log_probabilities[hypothesis.row].append(hypothesis.log_probability)
    return GeneratedIds(ids, ended, log_probabilities)
