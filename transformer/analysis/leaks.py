"""Leaks through a mask: predictions before and after a change of tokens that the mask should hide.

Each function that returns a `Leak` changes tokens that a mask should hide, runs the model before and after the change, and
compares predictions that should stay equal. An edit can remove the mask (`transformer.tracing.phrases`: "no causal mask", "no
padding mask").
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.analysis.checks import check_ids, check_number, check_own_network, is_whole
from transformer.analysis.word_trace import Group, row_groups
from transformer.errors import InputError
from transformer.network.tap import Edit, as_edits, tracing
from transformer.pipeline.decoding.generate import greedy
from transformer.pipeline.pipeline import Pipeline
from transformer.pipeline.protocol import TextPipeline
from transformer.text.pieces import joined_label
from transformer.tracing.interventions import Patch

Ids = Sequence[int]
NO_TOKEN = -1  # not the id of any token


@dataclass(frozen=True, eq=False)
class Leak:
    """Predictions before and after a change of tokens that a mask should hide. Without a leak, both are equal.

    Attributes:
        tokens: the token that each row of the logits must predict.
        before, after: the probability of this token in each row, before and after the change, 0 to 1.
        largest: the largest absolute change of a probability, over all rows and all tokens of the vocabulary.
        largest_row, largest_token: the row, counted from 0, and the token with this largest change.
        same: True if the logits of all rows are equal bit for bit before and after.
        words: for each word, the rows that predict its tokens. If every token is a word, each row is a group of its own.
    """

    tokens: tuple[str, ...]
    before: Float[np.ndarray, " row"]
    after: Float[np.ndarray, " row"]
    largest: float
    largest_row: int
    largest_token: str
    same: bool
    words: tuple[Group, ...]

    def between_words(self) -> "Leak":
        """This leak with one row for each word instead of each piece. The probability of a word is the product of the
        probabilities of its pieces, because each piece is predicted from the pieces before it. `largest`, `largest_row` and
        `largest_token` are still those of a piece."""
        starts = [group[0] for group in self.words]
        return replace(
            self,
            tokens=tuple(joined_label([self.tokens[row] for row in group]) for group in self.words),
            before=np.multiply.reduceat(self.before, starts),
            after=np.multiply.reduceat(self.after, starts),
            words=tuple((row,) for row in range(len(starts))),
        )


def change_later(
    pipeline: TextPipeline, source: Ids, target: Ids, position: int, token: int, edits: Sequence[Edit] = ()
) -> Leak:
    """Compare the predictions of the decoder before and after the token at a position of its input is replaced: a test of the
    causal mask.

    Row `t` of the logits is computed from the tokens up to `t` and predicts the next token. So rows 0 to `position − 1` should
    not change, and the last of these rows must predict the token that was replaced.

    Args:
        pipeline: a pipeline with a model of this library.
        source, target: token ids, including special tokens; the target is the decoder's input.
        position: the position, counted from 0, and at least 1, because no row predicts `<sos>`.
        token: id of the new token at the position.
        edits: interventions, such as `Ablate`, in both runs.

    Raises:
        InputError: `pipeline` has a Hugging Face model; the ids are not lists; the target has one token only, or no such
            position; or the vocabulary has no such token.
        PathError: an edit is not an intervention, or does not fit the model.
    """
    check_own_network(pipeline)
    edits = as_edits(edits)
    _check_sides(source, target)
    if len(target) < 2:
        raise InputError("The target has one token; it needs at least one after the first.")
    check_number("position", position, 1, len(target) - 1)
    check_number("token", token, 0, pipeline.config.target_vocab - 1)
    changed = [*target[:position], token, *target[position + 1 :]]
    before, after = (_logits(pipeline, source, row, edits)[:position] for row in (target, changed))
    return _leak(pipeline, target[1 : position + 1], before, after)


def append_padding(pipeline: TextPipeline, source: Ids, target: Ids, count: int, edits: Sequence[Edit] = ()) -> Leak:
    """Compare all predictions before and after padding is appended to the source: a test of the padding mask.

    The two runs have different shapes, so sums are computed in another order and may differ in their last bit.

    Args:
        pipeline: a pipeline with a model of this library.
        source, target: token ids, including special tokens; the target is the decoder's input.
        count: number of tokens `<pad>` to append.
        edits: interventions, such as `Ablate`, in both runs.

    Raises:
        InputError: `pipeline` has a Hugging Face model, the ids are not lists, a vocabulary lacks an id, or the model does
            not have enough positions for the padding.
        PathError: an edit is not an intervention, or does not fit the model.
    """
    check_own_network(pipeline)
    edits = as_edits(edits)
    _check_sides(source, target)
    padded = _padded(pipeline, source, count)
    before, after = (_logits(pipeline, row, target, edits) for row in (source, padded))
    return _leak(pipeline, _expected(pipeline, target), before, after)


def fill_padding(pipeline: TextPipeline, source: Ids, target: Ids, count: int, edits: Sequence[Edit] = ()) -> Leak:
    """Compare all predictions before and after the padding of a source is replaced by other tokens: a test of the padding mask.
    The source is padded with `count` tokens `<pad>`. The mask hides their positions in both runs.

    Both runs have the same shape, so any difference comes from the hidden tokens. `source` and `target` are token ids, with
    special tokens; `edits` are interventions in both runs. Errors are those of `append_padding`.
    """
    check_own_network(pipeline)
    edits = as_edits(edits)
    _check_sides(source, target)
    padded = _padded(pipeline, source, count)
    vocabulary = pipeline.vocabulary("source")
    words = [word for word in vocabulary.ids(vocabulary.words) if word != vocabulary.pad]
    words = words or [eos for eos in (vocabulary.eos,) if eos is not None]
    filled = [*source, *(words[index % len(words)] for index in range(count))]
    mask = Patch("source_mask", values=tuple(token != vocabulary.pad for token in padded))
    before, after = (_logits(pipeline, row, target, (mask, *edits)) for row in (padded, filled))
    return _leak(pipeline, _expected(pipeline, target), before, after)


def padded_answer(pipeline: TextPipeline, source: Ids, count: int, edits: Sequence[Edit] = ()) -> str:
    """The text of the model's greedy answer to a source with `count` tokens `<pad>` appended. `source` is token ids, with
    special tokens; `edits` are interventions. Errors are those of `append_padding`."""
    check_own_network(pipeline)
    check_ids("source", source)
    vocabulary, ids = pipeline.vocabulary("target"), torch.tensor([_padded(pipeline, source, count)])
    # The same limit for the answer as in `Pipeline.answers` for the source without padding.
    max_new_tokens = 2 * len(source) + 8
    suppress = () if isinstance(pipeline, Pipeline) else (vocabulary.pad,)  # models of Hugging Face never write padding
    sos, eos = (special if special is not None else NO_TOKEN for special in (vocabulary.sos, vocabulary.eos))
    generated = greedy(pipeline.network, ids, sos, eos, max_new_tokens, suppress, edits)
    return vocabulary.text_of(generated.ids[0])


def _check_sides(source: Ids, target: Ids) -> None:
    check_ids("source", source)
    check_ids("target", target)


def _padded(pipeline: TextPipeline, source: Ids, count: int) -> list[int]:
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
    return [*source, *[pipeline.vocabulary("source").pad] * count]


def _expected(pipeline: TextPipeline, target: Ids) -> list[int]:
    eos = pipeline.vocabulary("target").eos
    return [*target[1:], *(() if eos is None else (eos,))]


@torch.inference_mode()
def _logits(pipeline: TextPipeline, source: Ids, target: Ids, edits: Sequence[Edit]) -> Float[Tensor, "row vocab"]:
    # Without edits, no tracing is needed: tracing does not change a bit of the logits.
    with tracing(pipeline.network, edits, keep=False) if edits else nullcontext():
        return pipeline.network(torch.tensor([[*source]]), torch.tensor([[*target]]))[0]


def _leak(pipeline: TextPipeline, expected: Ids, before: Float[Tensor, "row vocab"], after: Float[Tensor, "row vocab"]) -> Leak:
    rows, tokens = torch.arange(len(expected)), torch.tensor([*expected])
    first, second = before.softmax(-1), after.softmax(-1)
    vocabulary, changes = pipeline.vocabulary("target"), (first - second).abs()
    row, token = divmod(int(changes.argmax()), changes.shape[1])
    return Leak(
        vocabulary.tokens_of(expected),
        *(run[rows, tokens].numpy() for run in (first, second)),
        largest=float(changes.max()),
        largest_row=row,
        largest_token=vocabulary.tokens_of([token])[0],
        same=torch.equal(before, after),
        words=row_groups(vocabulary.words_of(expected), len(expected)),
    )
