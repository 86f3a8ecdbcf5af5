"""The importance of each head over many texts: how much less probable their tokens are if the head's output is ablated."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.analysis.checks import check_language_head, check_number
from transformer.analysis.importance import BATCH_SIZE, head_counts
from transformer.analysis.traced_texts import Text, check_texts, traced_texts
from transformer.errors import InputError
from transformer.network.tap import Edit, tracing
from transformer.pipeline.decoding.generate import Network
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.interventions import Ablate, Patch
from transformer.tracing.paths import Kind
from transformer.tracing.trace import Trace
from transformer.validation import one_of

METHODS = ("zero", "mean", "resampled")
MOST_LOGITS = 1 << 25  # numbers in the logits of one pass, 128 MB; with many tokens, fewer heads are ablated in one pass

# Path of a tensor of head outputs → the values that replace it: [head, query, d_head], or [head, d_head] for all queries.
Outputs = dict[str, Float[Tensor, "_ ... _"]]


class AblationScores(NamedTuple):
    """The importance of the heads over the texts that have been measured so far.

    Attributes:
        done, total: number of texts that have been measured, and number of all texts that are measured.
        tokens: number of tokens in the texts measured so far. All means are over these tokens.
        before: mean log-probability of a token without an ablation, in nats.
        drops: kind → mean drop in log-probability, in nats, for each layer and head. A positive drop means that the tokens are
            less probable without the head. Each report has its own arrays.
    """

    done: int
    total: int
    tokens: int
    before: float
    drops: dict[str, Float[np.ndarray, "layer head"]]


class _Ids(NamedTuple):
    """The ids of a text. The source is None for a decoder alone."""

    source: Int[Tensor, "1 source"] | None
    target: Int[Tensor, "1 target"]

    @classmethod
    def of(cls, trace: Trace, number: int) -> "_Ids":
        """The ids of a trace. Raises InputError, with the number of the text, if there is no token to predict."""
        if len(trace.target_ids[0]) < 2:
            raise InputError("Text {number} has no token to predict; the decoder needs at least two tokens.", number=number)
        return cls(torch.tensor(trace.source_ids) if trace.source_ids else None, torch.tensor(trace.target_ids))

    @property
    def lengths(self) -> tuple[int, int]:
        """The number of tokens of both sides."""
        return 0 if self.source is None else self.source.shape[1], self.target.shape[1]

    @property
    def rows(self) -> tuple[list[int], list[int]]:
        """The ids of both sides as lists, which can be compared."""
        return [] if self.source is None else self.source[0].tolist(), self.target[0].tolist()


def ablation_scores(pipeline: TextPipeline, texts: Iterable[Text], by: str = "zero", seed: int = 0) -> Iterator[AblationScores]:
    """The mean drop of the log-probability of the texts' own tokens for every head, reported text by text. The decoder reads
    the right tokens (teacher forcing), whatever it would have written.

        for scores in ablation_scores(pipeline, texts, by="mean"):
            print(scores.done, scores.drops["decoder"])

    Args:
        pipeline: the pipeline of our own model, or of one of Hugging Face, with a decoder.
        texts: texts for a decoder alone; pairs of a source and a target for an encoder with a decoder. Without a target, the
            tokens are those of the model's own answer. All texts are read before the first report.
        by: what replaces the output of a head. `zero`: zeros. `mean`: its mean over all positions of all texts. `resampled`:
            its output in another text of the list, position by position. Only a text with equally many tokens, on each side,
            can replace another; a text without such a partner is left out, and `total` does not count it.
        seed: for `resampled`, chooses the partner of each text.

    Raises:
        InputError: an argument has a wrong type, there are no texts, the model cannot read a text, it has no decoder or no
            language head, a text has no token to predict, or for `resampled`, no two different texts have equally many tokens.
        ConfigError: there is no such ablation.
    """
    check_texts(pipeline, texts)
    one_of("by", by, METHODS)
    check_number("seed", seed, 0)
    if "decoder" not in pipeline.stacks:
        raise InputError("An encoder alone predicts no next token; the ablation needs a model with a decoder.")
    check_language_head(pipeline.network)
    return _reports(pipeline, texts, by, seed)


def _reports(pipeline: TextPipeline, texts: Iterable[Text], by: str, seed: int) -> Iterator[AblationScores]:
    network: Network = pipeline.network
    counts = head_counts(network)
    paths = [str(Kind.of(kind).path(layer) / "head_output") for kind, (layers, _) in counts.items() for layer in range(layers)]
    listed, means = _read(pipeline, texts, paths if by == "mean" else ())
    partners = _partners(listed, seed) if by == "resampled" else {}
    chosen = [(ids, partners.get(index)) for index, ids in enumerate(listed) if by != "resampled" or index in partners]
    sums, before, tokens = {kind: np.zeros(shape) for kind, shape in counts.items()}, 0.0, 0
    for done, (ids, partner) in enumerate(chosen, 1):
        outputs = means if partner is None else _outputs(network, partner, paths)
        (total,) = _totals(network, ids, 1)
        for kind, drops in _drops(network, ids, outputs, counts, total).items():
            sums[kind] += drops
        before, tokens = before + total, tokens + ids.target.shape[1] - 1
        means_so_far = {kind: values / tokens for kind, values in sums.items()}
        yield AblationScores(done, len(chosen), tokens, before / tokens, means_so_far)


def _read(pipeline: TextPipeline, texts: Iterable[Text], paths: Sequence[str]) -> tuple[list[_Ids], Outputs]:
    """The ids of all texts, and the mean over all positions of the head outputs at the given paths."""
    listed: list[_Ids] = []
    sums: dict[str, Tensor] = {}
    counts = dict.fromkeys(paths, 0)
    for trace in traced_texts(pipeline, texts):
        listed.append(_Ids.of(trace, len(listed) + 1))
        for path in paths:
            outputs = trace[path].values[0]
            sums[path] = sums.get(path, torch.zeros(())) + outputs.sum(1, dtype=torch.float64)
            counts[path] += outputs.shape[1]
            del outputs
        del trace  # before the next text is traced
    return listed, {path: values / counts[path] for path, values in sums.items()}


def _partners(listed: Sequence[_Ids], seed: int) -> dict[int, _Ids]:
    """For each text by its index, another text with as many tokens; texts without one are left out."""
    by_length: defaultdict[tuple[int, int], list[_Ids]] = defaultdict(list)
    for ids in listed:
        by_length[ids.lengths].append(ids)
    chooser, partners = random.Random(seed), {}
    for index, ids in enumerate(listed):
        others = [other for other in by_length[ids.lengths] if other.rows != ids.rows]
        if others:
            partners[index] = chooser.choice(others)
    if not partners:
        raise InputError("No two different texts have equally many tokens; resampling needs another text of the same length.")
    return partners


@torch.inference_mode()
def _outputs(network: Network, ids: _Ids, paths: Sequence[str]) -> Outputs:
    """The output of each head for a text. No other tensor of the pass is kept."""
    with tracing(network, keep=paths) as values:
        network(ids.source, ids.target)
    return {path: values[path][0] for path in paths}


def _drops(
    network: Network, ids: _Ids, outputs: Outputs, counts: dict[str, tuple[int, int]], before: float
) -> dict[str, Float[np.ndarray, "layer head"]]:
    """The drop in the log-probability of a whole text for each head. Each head is ablated in its own item of a batch."""
    drops = {kind: np.zeros(shape) for kind, shape in counts.items()}
    places = [(kind, layer, head) for kind, values in drops.items() for layer, head in np.ndindex(values.shape)]
    size = max(1, min(BATCH_SIZE, MOST_LOGITS // (ids.target.shape[1] * network.config.target_vocab)))
    for start in range(0, len(places), size):
        chunk = places[start : start + size]
        edits = [_edit(outputs, *place, item) for item, place in enumerate(chunk)]
        for (kind, layer, head), after in zip(chunk, _totals(network, ids, len(chunk), edits), strict=True):
            drops[kind][layer, head] = before - after
    return drops


def _edit(outputs: Outputs, kind: str, layer: int, head: int, item: int) -> Edit:
    """The edit that replaces the output of a head in one item: by zeros if there are no other outputs."""
    path = str(Kind.of(kind).path(layer) / "head_output")
    if not outputs:
        return Ablate(path, (head,), items=(item,))
    return Patch(path, (head,), outputs[path][head], items=(item,))


@torch.inference_mode()
def _totals(network: Network, ids: _Ids, items: int, edits: Sequence[Edit] = ()) -> list[float]:
    """The log-probability of all tokens of a text together, in each of several copies of the text in one batch."""
    source, target = None if ids.source is None else ids.source.expand(items, -1), ids.target.expand(items, -1)
    with tracing(network, edits, keep=False):
        logits = network(source, target)[:, :-1]
    given = logits.gather(-1, target[:, 1:, None])[..., 0]
    return (given - logits.logsumexp(-1)).double().sum(-1).tolist()
