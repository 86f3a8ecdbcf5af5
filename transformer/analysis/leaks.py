"""Leaks through a mask: predictions before and after a change of tokens that the mask should hide.

Each function changes tokens that a mask should hide, runs the model before and after, and compares predictions that should not
change. An edit removes a mask (`transformer.tracing.phrases`: "no causal mask", "no padding mask"), as everywhere in this
project.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.analysis.checks import check_ids, check_number, check_pipeline, is_whole
from transformer.errors import InputError
from transformer.network.tap import Edit, as_edits, tracing
from transformer.pipeline.decoding.answers import greedy
from transformer.pipeline.pipeline import Pipeline
from transformer.text.vocabulary import as_ids
from transformer.tracing.interventions import Patch

Ids = Sequence[int]


@dataclass(frozen=True, eq=False)
class Leak:
    """Predictions before and after a change that should not affect them.

    Attributes:
        tokens: the token that each row must predict.
        before, after: the probability of that token in each row.
        largest: the largest change of the probability of any token of the vocabulary, in any of these rows.
        same: True if the logits of these rows are equal bit for bit.
    """

    tokens: tuple[str, ...]
    before: Float[np.ndarray, " row"]
    after: Float[np.ndarray, " row"]
    largest: float
    same: bool


def change_later(pipeline: Pipeline, source: Ids, target: Ids, position: int, token: int, edits: Sequence[Edit] = ()) -> Leak:
    """The predictions of the rows before a position of the decoder's input, with the token at that position replaced.

    Row `t` reads the tokens up to `t` and predicts the next one, so these are rows 0 to `position − 1`; the last of them must
    predict the token that was replaced.

    Args:
        source, target: ids as the model reads them; the target is the decoder's input.
        position: counted from 0; from 1 on, because no row predicts `<sos>`.
        token: id of the token in its place.
        edits: in force in both runs.

    Raises:
        InputError: not a pipeline; ids that are not a list; a position or a token that the target or the model does not have.
    """
    check_pipeline(pipeline)
    _check_sides(source, target)
    if len(target) < 2:
        raise InputError("The target has one token; it needs at least one after the first.")
    check_number("position", position, 1, len(target) - 1)
    check_number("token", token, 0, pipeline.config.target_vocab - 1)
    changed = [*target[:position], token, *target[position + 1 :]]
    before, after = (_logits(pipeline, source, row, edits)[:position] for row in (target, changed))
    return _leak(pipeline, target[1 : position + 1], before, after)


@torch.inference_mode()
def furthest_change(
    pipeline: Pipeline, source: Ids, target: Ids, tokens: Sequence[int], edits: Sequence[Edit] = (), most: int = 32
) -> tuple[int, int]:
    """The (position, token) with which `change_later` changes a probability of an earlier row most.

    Args:
        tokens: ids to try at each position.
        most: the most changes to try, from the last position on; all are run as one batch.

    Raises:
        InputError: as `change_later`; or there is no change to try.
    """
    check_pipeline(pipeline)
    _check_sides(source, target)
    tokens = as_ids(tokens)
    check_number("most", most, 1)
    positions = range(len(target) - 1, 0, -1)
    changes = [(position, token) for position in positions for token in tokens if token != target[position]][:most]
    if not changes:
        raise InputError("The target needs at least one token after the first, and another token to replace it.")
    rows = [[*target], *([*target[:position], token, *target[position + 1 :]] for position, token in changes)]
    with tracing(pipeline.model, edits, keep=False):
        logits = pipeline.model(torch.tensor([[*source]] * len(rows)), torch.tensor(rows))
    moved = (logits.softmax(-1) - logits[:1].softmax(-1)).abs().amax(-1)
    return max(zip(changes, moved[1:], strict=True), key=lambda tried: float(tried[1][: tried[0][0]].max()))[0]


def append_padding(pipeline: Pipeline, source: Ids, target: Ids, count: int, edits: Sequence[Edit] = ()) -> Leak:
    """Every prediction, with padding after the source.

    The two runs have different shapes, so sums are computed in another order and may differ in their last bit.

    Args:
        source, target: ids as the model reads them.
        count: number of `<pad>` to append.
        edits: in force in both runs.

    Raises:
        InputError: not a pipeline, ids that are not a list, or more padding than the model has positions for.
    """
    check_pipeline(pipeline)
    _check_sides(source, target)
    padded = _padded(pipeline, source, count)
    before, after = (_logits(pipeline, row, target, edits) for row in (source, padded))
    return _leak(pipeline, _expected(pipeline, target), before, after)


def fill_padding(pipeline: Pipeline, source: Ids, target: Ids, count: int, edits: Sequence[Edit] = ()) -> Leak:
    """Every prediction, with other tokens in place of the padding after the source, hidden by the same mask.

    Both runs have the same shape, so any difference comes from the hidden tokens. Arguments and errors as for `append_padding`.
    """
    check_pipeline(pipeline)
    edits = as_edits(edits)
    _check_sides(source, target)
    padded = _padded(pipeline, source, count)
    vocabulary = pipeline.source_vocabulary
    words = [word for word in vocabulary.ids(vocabulary.words) if word != vocabulary.pad] or [vocabulary.eos]
    filled = [*source, *(words[index % len(words)] for index in range(count))]
    mask = Patch("source_mask", values=tuple(token != vocabulary.pad for token in padded))
    before, after = (_logits(pipeline, row, target, (mask, *edits)) for row in (padded, filled))
    return _leak(pipeline, _expected(pipeline, target), before, after)


def padded_answer(pipeline: Pipeline, source: Ids, count: int, edits: Sequence[Edit] = ()) -> str:
    """The answer of the model to a source with padding. Arguments and errors as for `append_padding`."""
    check_pipeline(pipeline)
    check_ids("source", source)
    vocabulary, ids = pipeline.target_vocabulary, torch.tensor([_padded(pipeline, source, count)])
    # The same room for an answer as `Pipeline.answers` gives the source without its padding.
    written = greedy(pipeline.model, ids, vocabulary.sos, vocabulary.eos, 2 * len(source) + 8, edits=edits)
    return vocabulary.text(vocabulary.tokens_of(written.ids[0]))


def _check_sides(source: Ids, target: Ids) -> None:
    check_ids("source", source)
    check_ids("target", target)


def _padded(pipeline: Pipeline, source: Ids, count: int) -> list[int]:
    room = pipeline.config.max_len - len(source)
    if room < 0:
        template = "The source has {length} tokens; allowed are 1 to {most}."
        raise InputError(template, length=len(source), most=pipeline.config.max_len)
    if not is_whole(count) or not 0 <= count <= room:
        raise InputError(
            "The padding is {count!r} tokens; after {length}, allowed are 0 to {room}.",
            count=count,
            length=len(source),
            room=room,
        )
    return [*source, *[pipeline.source_vocabulary.pad] * count]


def _expected(pipeline: Pipeline, target: Ids) -> list[int]:
    return [*target[1:], pipeline.target_vocabulary.eos]


@torch.inference_mode()
def _logits(pipeline: Pipeline, source: Ids, target: Ids, edits: Sequence[Edit]) -> Float[Tensor, "row vocab"]:
    # Taps are asked only where there is something to edit; the logits are the same bit for bit.
    with tracing(pipeline.model, edits, keep=False) if edits else nullcontext():
        return pipeline.model(torch.tensor([[*source]]), torch.tensor([[*target]]))[0]


def _leak(pipeline: Pipeline, expected: Ids, before: Float[Tensor, "row vocab"], after: Float[Tensor, "row vocab"]) -> Leak:
    rows, tokens = torch.arange(len(expected)), torch.tensor([*expected])
    first, second = before.softmax(-1), after.softmax(-1)
    return Leak(
        pipeline.target_vocabulary.tokens_of(expected),
        *(run[rows, tokens].numpy() for run in (first, second)),
        largest=float((first - second).abs().max()),
        same=torch.equal(before, after),
    )
