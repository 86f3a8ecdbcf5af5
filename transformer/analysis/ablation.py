"""The importance of each head over many texts: how much less probable the texts' tokens are if the head is ablated."""

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
from transformer.tracing.paths import SIDES, Kind
from transformer.validation import one_of

METHODS = ("zero", "mean", "resampled")
MOST_LOGITS = 1 << 25  # numbers in the logits of one pass, 128 MB; with many tokens, fewer heads are ablated in one pass

# Path of a tensor of head outputs → the values that replace it: [head, query, d_head], or [head, d_head] for all queries.
Outputs = dict[str, Float[Tensor, "_ ... _"]]


class AblationScores(NamedTuple):
    """The importance of the heads over the texts that have been measured so far.

    Attributes:
        done, total: number of texts that have been measured so far, and number of texts to measure in all.
        tokens: number of tokens in the texts measured so far. All means are over these tokens.
        before: mean log-probability of a token without an ablation, in nats.
        drops: kind of attention (`encoder`, `decoder`, `cross`) → mean drop in log-probability, in nats, for each layer and
            head. A positive drop means that the tokens are less probable without the head. Later results do not change these
            arrays.
    """

    done: int
    total: int
    tokens: int
    before: float
    drops: dict[str, Float[np.ndarray, "layer head"]]


class _Ids(NamedTuple):
    """The token ids of a text. `source` is empty for a model without an encoder, `target` for a model without a decoder."""

    source: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def lengths(self) -> tuple[int, int]:
        """The number of tokens of the source, and of the target."""
        return len(self.source), len(self.target)


class _Predictions(NamedTuple):
    """The input from which a network predicts tokens of a text: the text once, or copies of it with one token masked in each.

    Attributes:
        source, target: the ids; None for a side that the network does not have.
        copies, rows: for each token to predict, the index of a copy, and the index of the row of this copy's logits that
            predicts the token.
        wanted: the id of each token to predict.
    """

    source: Int[Tensor, "copy source"] | None
    target: Int[Tensor, "copy target"] | None
    copies: Int[Tensor, " token"]
    rows: Int[Tensor, " token"]
    wanted: Int[Tensor, " token"]

    @property
    def copy_count(self) -> int:
        """The number of copies."""
        return int(self.copies.max()) + 1

    @property
    def length(self) -> int:
        """The number of rows that the logits of one copy have."""
        read = self.source if self.target is None else self.target
        assert read is not None
        return read.shape[1]


def ablation_scores(pipeline: TextPipeline, texts: Iterable[Text], by: str = "zero", seed: int = 0) -> Iterator[AblationScores]:
    """Yield, after each text, how much the log-probability of a token drops without each head: the mean over all tokens of the
    texts so far. The decoder reads the text's own tokens (teacher forcing). For a model with only an encoder, each token except
    the special tokens is masked in turn, and predicted from all other tokens (Salazar et al. 2020).

        for scores in ablation_scores(pipeline, texts, by="mean"):
            print(scores.done, scores.drops["decoder"])

    Args:
        pipeline: a model with its tokenizer: one of this library, or a Hugging Face model.
        texts: texts for a model with only a decoder or only an encoder; pairs (source, target) for a model with both. Without
            a target, the decoder reads the model's own answer. All texts are read before the first result.
        by: what replaces the output of a head. `zero`: zeros. `mean`: the mean output over all positions of all texts.
            `resampled`: the head's output in another text of the list, position by position. The other text must have equally
            many tokens on each side. A text without such a partner is left out and not counted.
        seed: seed of the random choice of partners for `resampled`; a whole number of at least 0.

    Raises:
        InputError: an argument has a wrong type; there are no texts; the model cannot read a text, or has no language head; the
            tokenizer of a model with only an encoder has no mask token; or a text has no token to predict. For `resampled`,
            also if no two different texts have equally many tokens.
        ConfigError: `by` is not `zero`, `mean` or `resampled`.
    """
    check_texts(pipeline, texts)
    one_of("by", by, METHODS)
    check_number("seed", seed, 0)
    check_language_head(pipeline.network)
    if pipeline.stacks == ("encoder",) and not pipeline.mask_token:
        raise InputError("The tokenizer of this encoder has no token for a masked word, so it predicts none.")
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
        for part in _predictions(pipeline, ids):
            (total,) = _totals(network, part, 1)
            for kind, drops in _drops(network, part, outputs, counts, total).items():
                sums[kind] += drops
            before, tokens = before + total, tokens + len(part.wanted)
        means_so_far = {kind: values / tokens for kind, values in sums.items()}
        yield AblationScores(done, len(chosen), tokens, before / tokens, means_so_far)


def _read(pipeline: TextPipeline, texts: Iterable[Text], paths: Sequence[str]) -> tuple[list[_Ids], Outputs]:
    """The ids of all texts. And for each of `paths`: path → mean head output over all positions of all texts."""
    listed: list[_Ids] = []
    sums: dict[str, Tensor] = {}
    counts = dict.fromkeys(paths, 0)
    for trace in traced_texts(pipeline, texts):
        ids = _Ids(*(trace.ids_of(side)[0] if side in trace.sides else () for side in SIDES))
        if len(ids.target) < 2 and ids.target:
            template = "Text {number} has no token to predict; the decoder needs at least two tokens."
            raise InputError(template, number=len(listed) + 1)
        if not ids.target and not _maskable(pipeline, ids):
            raise InputError("Text {number} has no token to mask; it needs a word.", number=len(listed) + 1)
        listed.append(ids)
        for path in paths:
            outputs = trace[path].values[0]
            sums[path] = sums.get(path, torch.zeros(())) + outputs.sum(1, dtype=torch.float64)
            counts[path] += outputs.shape[1]
            del outputs
        del trace  # before the next text is traced
    return listed, {path: values / counts[path] for path, values in sums.items()}


def _partners(listed: Sequence[_Ids], seed: int) -> dict[int, _Ids]:
    """Index of a text → a different text with as many tokens on each side. Texts without such a partner are left out."""
    by_length: defaultdict[tuple[int, int], list[_Ids]] = defaultdict(list)
    for ids in listed:
        by_length[ids.lengths].append(ids)
    chooser, partners = random.Random(seed), {}
    for index, ids in enumerate(listed):
        others = [other for other in by_length[ids.lengths] if other != ids]
        if others:
            partners[index] = chooser.choice(others)
    if not partners:
        raise InputError("No two different texts have equally many tokens; resampling needs another text of the same length.")
    return partners


@torch.inference_mode()
def _outputs(network: Network, ids: _Ids, paths: Sequence[str]) -> Outputs:
    """For each of `paths`: path → the output of each head for a text. No other tensor of the pass is kept."""
    source, target = (torch.tensor([side]) if side else None for side in ids)
    with tracing(network, keep=paths) as values:
        network(source, target)
    return {path: values[path][0] for path in paths}


def _maskable(pipeline: TextPipeline, ids: _Ids) -> list[int]:
    """The positions of a source that can be masked: all except the positions of special tokens."""
    special = set(pipeline.vocabulary("source").specials)
    return [position for position, index in enumerate(ids.source) if index not in special]


def _predictions(pipeline: TextPipeline, ids: _Ids) -> Iterator[_Predictions]:
    """Yield the inputs that predict all tokens of a text. If one pass would have more than `MOST_LOGITS` logits, there are
    several inputs."""
    if ids.target:
        source, target = torch.tensor([ids.source]) if ids.source else None, torch.tensor([ids.target])
        rows = torch.arange(len(ids.target) - 1)
        yield _Predictions(source, target, torch.zeros_like(rows), rows, target[0, 1:])
        return
    (mask,) = pipeline.vocabulary("source").ids([pipeline.mask_token])
    most = min(BATCH_SIZE, max(1, MOST_LOGITS // (len(ids.source) * pipeline.config.target_vocab)))
    positions = torch.tensor(_maskable(pipeline, ids))
    for rows in positions.split(most):
        copies, text = torch.arange(len(rows)), torch.tensor(ids.source)
        masked = text.repeat(len(rows), 1)
        masked[copies, rows] = mask
        yield _Predictions(masked, None, copies, rows, text[rows])


def _drops(
    network: Network, part: _Predictions, outputs: Outputs, counts: dict[str, tuple[int, int]], before: float
) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Kind of attention → how far the sum of the tokens' log-probabilities drops below `before` without each head, in nats. One
    batch ablates many heads. Each head is ablated in its own items of the batch, one for each copy of the text."""
    drops = {kind: np.zeros(shape) for kind, shape in counts.items()}
    places = [(kind, layer, head) for kind, values in drops.items() for layer, head in np.ndindex(values.shape)]
    size = max(1, min(BATCH_SIZE, MOST_LOGITS // (part.length * network.config.target_vocab)) // part.copy_count)
    for start in range(0, len(places), size):
        chunk = places[start : start + size]
        items = torch.arange(len(chunk) * part.copy_count).split(part.copy_count)
        edits = [_edit(outputs, *place, tuple(of_place.tolist())) for of_place, place in zip(items, chunk, strict=True)]
        for (kind, layer, head), after in zip(chunk, _totals(network, part, len(chunk), edits), strict=True):
            drops[kind][layer, head] = before - after
    return drops


def _edit(outputs: Outputs, kind: str, layer: int, head: int, items: tuple[int, ...]) -> Edit:
    """The edit that replaces the output of a head in `items` of the batch: by its values in `outputs`; by zeros if `outputs` is
    empty."""
    path = str(Kind.of(kind).path(layer) / "head_output")
    if not outputs:
        return Ablate(path, heads=(head,), items=items)
    return Patch(path, outputs[path][head], heads=(head,), items=items)


@torch.inference_mode()
def _totals(network: Network, part: _Predictions, times: int, edits: Sequence[Edit] = ()) -> list[float]:
    """The sum of the tokens' log-probabilities, in nats, for each repetition of `part`. The batch has all copies of `part`
    `times` times, so that an edit can change a single repetition."""
    source, target = (None if read is None else read.repeat(times, 1) for read in (part.source, part.target))
    with tracing(network, edits, keep=False):
        logits = network(source, target).unflatten(0, (times, part.copy_count))
    logits = logits[:, part.copies, part.rows]
    given = logits.gather(-1, part.wanted.expand(times, -1)[..., None])[..., 0]
    return (given - logits.logsumexp(-1)).double().sum(-1).tolist()
