"""`RunPair`: two runs of one network that are to be compared by patching, and the two tokens whose logits are compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.analysis.checks import check_language_head, check_number, check_text_pipeline
from transformer.errors import InputError
from transformer.network.tap import tracing
from transformer.patching.pair_checks import check_evaluation_mode, check_lengths, check_plain
from transformer.pipeline.answer import Source, Target
from transformer.pipeline.decoding.generate import Network
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.paths import SIDES, Side
from transformer.tracing.trace import Trace

TOLERANCE = 1e-3  # a trace may have been computed by another number of threads, so its logits may differ by rounding
EDITED = (
    "The logits of the {run} trace are not those of this network. Patching runs the network again, so it needs traces of this "
    "network without edits."
)


class Ids(NamedTuple):
    """The token ids that the network reads in a run; None for a side, source or target, that it does not read."""

    source: Int[Tensor, "1 source"] | None
    target: Int[Tensor, "1 target"] | None

    @classmethod
    def of(cls, trace: Trace) -> "Ids":
        """The ids that a traced run read, of the first text of its batch."""
        with torch.inference_mode(False):  # ids that were made in inference mode could not be used for gradients
            return cls(*(torch.tensor(ids[:1]) if ids else None for ids in (trace.source_ids, trace.target_ids)))

    def times(self, count: int) -> "Ids":
        """The ids of a batch of `count` copies of the text. The batch is a view; no memory is copied."""
        return Ids(*(None if ids is None else ids.expand(count, -1) for ids in self))


@dataclass(frozen=True, eq=False)
class RunPair:
    """A clean and a corrupt run of one network.

    A network with an encoder reads two sources and the same target in both runs, so that every difference comes from the
    source. A decoder alone reads two targets of equal length.

    Attributes:
        network: the network, in evaluation mode. It is not changed.
        clean, corrupt: the ids that the network reads in each run.
        row: the row of the logits that is compared, counted from 0.
        tokens: ids of the two compared tokens: by default, the most probable token of the clean run in this row, and that of
            the corrupt run. The logit difference is the logit of the first minus the logit of the second.
        wanted: the most probable token of the clean run in each row from `row` on: its answer from there. For an encoder alone
            or a decoder alone, only in `row`.
        same_answer: whether both runs have the same most probable token in this row. Then the second of `tokens` is by default
            the token whose probability rises most from the clean to the corrupt run.
    """

    network: Network
    clean: Ids
    corrupt: Ids
    row: int
    tokens: tuple[int, int]
    wanted: tuple[int, ...]
    same_answer: bool

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that the network reads: `source`, `target`, or both."""
        return tuple(side for side, ids in zip(SIDES, self.clean, strict=True) if ids is not None)

    @property
    def rows(self) -> int:
        """The number of rows of the logits from the compared row to the end."""
        return self.length(self.sides[-1]) - self.row

    def length(self, side: str) -> int:
        """The number of tokens of `side` (`source` or `target`), the same in both runs; 0 for a side that is not read."""
        ids = getattr(self.clean, side)
        return 0 if ids is None else ids.shape[1]

    @classmethod
    def of(
        cls, network: Network, clean: Trace, corrupt: Trace, row: int | None = None, tokens: Sequence[int] | None = None
    ) -> "RunPair":
        """The RunPair made from two traces of one network.

        Args:
            network: the network that was traced, in evaluation mode.
            clean, corrupt: the traces, of one text each and without edits.
            row: the row of the logits to compare, counted from 0. By default, the first row in which the most probable tokens
                differ, or if there is no such row, the row whose distributions differ most. For a decoder alone, the last row.
            tokens: ids of the two tokens whose logits are compared. By default, the most probable token of each run in
                this row; if it is the same in both, the second is the token whose probability rises most from the clean to the
                corrupt run.

        Raises:
            InputError: an argument has a wrong type; a trace has edits, several texts, joined words (a `WordTrace`), or is of
                another network; the runs differ in length or read different targets; the network is in training mode, has no
                language head or computes NaN; there is no such row or token, or the two tokens are the same.
        """
        check_language_head(network)
        check_evaluation_mode(network)
        for trace in (clean, corrupt):
            check_plain(network, trace)
        check_lengths(clean, corrupt)
        logits = [_logits(network, trace, run) for trace, run in ((clean, "clean"), (corrupt, "corrupt"))]
        crossed = len(clean.sides) > 1
        last = len(logits[0]) - 1
        if row is None:
            row = last if clean.sides == ("target",) else first_different(*logits)
        check_number("row", row, 0, last)
        tokens, same = _tokens(logits[0][row], logits[1][row], tokens)
        wanted = tuple(logits[0][row:].argmax(-1).tolist()) if crossed else (int(logits[0][row].argmax()),)
        return cls(network, Ids.of(clean), Ids.of(corrupt), int(row), tokens, wanted, same)


def run_pair(
    pipeline: TextPipeline,
    clean: Source,
    corrupt: Source,
    target: Target = None,
    row: int | None = None,
    tokens: Sequence[int] | None = None,
) -> RunPair:
    """Runs a model on two texts, and returns the two runs as a RunPair for patching.

        pair = run_pair(pipeline, "the cat … it was too tired .", "the cat … it was too wide .")

    Args:
        pipeline: the pipeline of a model with a language head.
        clean, corrupt: two texts of equally many tokens.
        target: what the decoder reads in both runs; by default, the answer to the clean text. Only for a model with an encoder
            and a decoder.
        row, tokens: the compared row of the logits, from 0, and the ids of two tokens; None for the defaults of `RunPair.of`.
            For an encoder alone, the default row is the row of the first masked word.

    Raises:
        InputError: as in `RunPair.of`; or the model cannot read a text; the clean text of an encoder alone has no masked word,
            and `row` is None; or a `target` is given to a model without an encoder or without a decoder.
    """
    check_text_pipeline(pipeline)
    check_language_head(pipeline.network)
    check_evaluation_mode(pipeline.network)
    if len(pipeline.stacks) == 2:
        read = pipeline.answers([clean])[0] if target is None else target
    elif target is None:
        read = "" if pipeline.writes else None
    else:
        raise InputError("Only a model with an encoder and a decoder reads a target besides its text; leave it out.")
    traces = [pipeline.trace([text], [read]) for text in (clean, corrupt)]
    if row is None and pipeline.stacks == ("encoder",):
        row = _first_mask(pipeline, traces[0])
    return RunPair.of(pipeline.network, traces[0], traces[1], row, tokens)


def check_pair(pair: object) -> None:
    """Check that `pair` is a RunPair, and that its network is still in evaluation mode.

    Raises:
        InputError: `pair` is not a RunPair, or its network is in training mode.
    """
    if not isinstance(pair, RunPair):
        raise InputError("The pair must be a RunPair, as `run_pair` returns it, not {pair!r}.", pair=pair)
    check_evaluation_mode(pair.network)


def first_different(clean: Float[Tensor, "row vocab"], corrupt: Float[Tensor, "row vocab"]) -> int:
    """The first row in which the two runs have different most probable tokens, counted from 0. If there is no such row, the row
    with the largest Kullback–Leibler divergence from the clean to the corrupt distribution."""
    differing = (clean.argmax(-1) != corrupt.argmax(-1)).nonzero()
    if len(differing):
        return int(differing[0])
    before, after = clean.double().log_softmax(-1), corrupt.double().log_softmax(-1)
    return int((before.exp() * (before - after)).sum(-1).argmax())


def _first_mask(pipeline: TextPipeline, trace: Trace) -> int:
    """The row of the first masked word of a text. Raises InputError if no word is masked."""
    (mask,) = pipeline.vocabulary("source").ids([pipeline.mask_token])
    if mask not in trace.source_ids[0]:
        template = "The clean text has no masked word, so there is no answer to compare; write {mask} in it, or give a row."
        raise InputError(template, mask=pipeline.mask_token)
    return trace.source_ids[0].index(mask)


@torch.inference_mode()
def _logits(network: Network, trace: Trace, run: str) -> Float[Tensor, "row vocab"]:
    """The logits of a trace. Raises InputError if the network, run again without edits, has NaN or other logits."""
    source, target = Ids.of(trace)
    with tracing(network, keep=False):  # the edits of a scope of the caller must not act here
        again = network(source, target)
    if again.isnan().any():
        raise InputError("The logits of the {run} run are not all numbers (NaN), so they cannot be compared.", run=run)
    if not again.allclose(trace.logits, rtol=TOLERANCE, atol=TOLERANCE):
        raise InputError(EDITED, run=run)
    return trace.logits[0]


def _tokens(
    clean: Float[Tensor, " vocab"], corrupt: Float[Tensor, " vocab"], given: Sequence[int] | None
) -> tuple[tuple[int, int], bool]:
    """The two tokens that are compared, and whether both runs have the same most probable token."""
    best, other = int(clean.argmax()), int(corrupt.argmax())
    same = best == other
    if given is not None:
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
            raise InputError("tokens is {given!r}; it must be two ids of tokens.", given=given)
        for token in given:
            check_number("token", token, 0, len(clean) - 1)
        if given[0] == given[1]:
            raise InputError("tokens is {given!r}; the two ids must differ.", given=given)
        return (int(given[0]), int(given[1])), same
    if same:
        gains = (corrupt.double().softmax(-1) - clean.double().softmax(-1)).index_fill(0, torch.tensor([best]), -torch.inf)
        other = int(gains.argmax())
    return (best, other), same
