"""How much each input token, and each attention weight, matters for one token of an answer, measured by gradients.

A trace is recorded without gradients, so each function runs the model again. The parameters do not change: they get no `.grad`,
and keep their `requires_grad`.
"""

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.analysis.checks import check_language_head, check_number
from transformer.analysis.forcing import target_of
from transformer.analysis.importance import BATCH_SIZE
from transformer.analysis.word_trace import check_run
from transformer.errors import InputError
from transformer.network.tap import Edit, Recording, as_edits, tracing
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.interventions import Change
from transformer.tracing.paths import Side
from transformer.tracing.trace import Trace
from transformer.validation import one_of

MOST_STEPS = 500
Baseline = Literal["zero", "mean"]
EMBEDDINGS = ("token", "scaled")  # the taps of an embedding; a network has one of them, or both with the same share
# Path of an embedding → its vectors, [item, position, d_model], for several copies of a text.
Embeddings = Mapping[str, Float[Tensor, "_ _ _"]]


class InputGradients(NamedTuple):
    """The share of each input token in the log-probability of one token.

    Attributes:
        token: id of the token that is explained.
        output: its log-probability, in nats.
        baseline: its log-probability if all token vectors are the baseline; None for input × gradient, which has no baseline.
        values: side (`source`, `target`) → share of each token of the side, in nats. Positive: raises the log-probability.
    """

    token: int
    output: float
    baseline: float | None
    values: dict[str, Float[np.ndarray, " position"]]

    @property
    def gap(self) -> float | None:
        """The sum of all shares minus `output - baseline`: the error of integrated gradients, which more steps make smaller.
        None for input × gradient, whose shares have no known sum."""
        if self.baseline is None:
            return None
        return sum(float(values.sum()) for values in self.values.values()) - (self.output - self.baseline)


def input_gradients(
    pipeline: TextPipeline,
    trace: Trace,
    position: int,
    token: int | None = None,
    steps: int = 0,
    edits: Sequence[Edit] = (),
    baseline: Baseline = "zero",
) -> InputGradients:
    """The share of each input token in the log-probability of one token of the answer, computed from the gradient with respect
    to the token vectors. Position vectors get no share.

    With `steps` = 0, input × gradient: the dot product of a token's vector and its gradient. With more steps, integrated
    gradients (Sundararajan et al. 2017): the mean gradient on the line from a baseline to the token vectors, times the
    difference between the two. The shares sum to the difference between the log-probabilities at both ends, up to `gap`: the
    error of computing the mean by Gauss–Legendre quadrature. Some models normalise the input of the first layer and add no
    position vectors (Llama, Gemma, T5). Their log-probability jumps near zero vectors, so the shares do not reach this sum; use
    the baseline `mean` for these models.

    Args:
        pipeline: the pipeline that was traced: the model, in evaluation mode, and its vocabularies.
        trace: every tensor of a forward pass. The first text of the batch is explained.
        position: the row of the logits that predicts the token, counted from 0.
        token: id of the token. By default, the token that follows in the target; at the end of the target, and for a model with
            only an encoder, the most probable token.
        steps: number of gradients to average, 0 to 500. The models of this library need 100 to 300 for a small `gap`.
        edits: the interventions with which the trace was recorded, if any; without `items`.
        baseline: where integrated gradients begin: `zero` vectors, or for each token the `mean` of the token vectors of its
            vocabulary.

    Raises:
        InputError: an argument has a wrong type; the trace is of another model, or is a WordTrace; the model has no language
            head, or was built within `torch.inference_mode`; there is no such position or token; `steps` is outside its limits;
            an edit has `items`; or the baseline is `mean` although `steps` is 0.
        ConfigError: there is no such baseline.
        PathError: an edit is not an intervention, or does not fit the model.
    """
    token, edits = _token(pipeline, trace, position, token), _edits(edits)
    check_number("steps", steps, 0, MOST_STEPS)
    if one_of("baseline", baseline, get_args(Baseline)) != "zero" and not steps:
        raise InputError("Input × gradient has no baseline; give `steps` for integrated gradients.")
    nodes, weights = np.polynomial.legendre.leggauss(steps) if steps else (np.ones(1), 2 * np.ones(1))
    scales, shares = (nodes + 1) / 2, weights / 2  # from the range −1 to 1 to the range 0 to 1
    with _with_gradients():
        inputs = _embeddings(trace)
        starts = _means(pipeline, trace, inputs) if baseline == "mean" else None
        sums = {path: torch.zeros_like(values[0], dtype=torch.float64) for path, values in inputs.items()}
        for start in range(0, len(scales), BATCH_SIZE):
            leaves = _scaled(inputs, scales[start : start + BATCH_SIZE], starts)
            outputs, _ = _forward(pipeline, trace, leaves, position, token, edits)
            share = torch.from_numpy(shares[start : start + BATCH_SIZE])
            for path, gradient in zip(leaves, torch.autograd.grad(outputs.sum(), [*leaves.values()]), strict=True):
                sums[path] += torch.einsum("i,ipd->pd", share, gradient.double())
        with torch.no_grad():
            ends, _ = _forward(pipeline, trace, _scaled(inputs, [1.0, 0.0], starts), position, token, edits)
    ways = {path: vectors - starts[path] if starts else vectors for path, vectors in inputs.items()}
    values = {path.partition("_")[0]: (sums[path] * way[0].double()).sum(-1).numpy() for path, way in ways.items()}
    return InputGradients(token, ends[0].item(), ends[1].item() if steps else None, values)


def attention_gradients(
    pipeline: TextPipeline, trace: Trace, position: int, token: int | None = None, edits: Sequence[Edit] = ()
) -> dict[str, Float[np.ndarray, "layer head query key"]]:
    """Kind of attention (`encoder`, `decoder`, `cross`) → weight × gradient of each attention weight: how much the weight adds
    to the log-probability of a token, in nats, to first order. Positive: the weight makes the token more probable.

    The gradient of a weight includes its effect through all later layers. `position` is the row of the logits that predicts the
    token, from 0; `token` is its id, by default the next token of the target; `edits` are the interventions of the trace.
    Errors are those of `input_gradients`.
    """
    kinds = weights_and_gradients(pipeline, trace, position, token, edits)
    return {kind: weights * gradients for kind, (weights, gradients) in kinds.items()}


def weights_and_gradients(
    pipeline: TextPipeline, trace: Trace, position: int, token: int | None = None, edits: Sequence[Edit] = ()
) -> dict[str, tuple[Float[np.ndarray, "layer head query key"], Float[np.ndarray, "layer head query key"]]]:
    """Kind of attention (`encoder`, `decoder`, `cross`) → the attention weights, and the gradient of the log-probability of a
    token, in nats, with respect to each weight. Arguments and errors are those of `attention_gradients`: `position`, from 0, is
    the row of the logits that predicts the token."""
    token, edits = _token(pipeline, trace, position, token), _edits(edits)
    paths = {str(kind): [str(kind.path(layer) / "weights") for layer in range(trace.layers(kind))] for kind in trace.kinds}
    keep = [path for of_kind in paths.values() for path in of_kind]
    with _with_gradients():
        leaves = _scaled(_embeddings(trace), [1.0])
        outputs, values = _forward(pipeline, trace, leaves, position, token, edits, keep)
        weights = [values[path] for path in keep]
        gradients = torch.autograd.grad(outputs.sum(), weights, allow_unused=True)
    slopes = [
        torch.zeros_like(of_layer) if gradient is None else gradient
        for of_layer, gradient in zip(weights, gradients, strict=True)
    ]
    pairs = dict(zip(keep, zip(weights, slopes, strict=True), strict=True))
    return {
        kind: (
            torch.cat([pairs[path][0].detach() for path in of_kind]).numpy(),
            torch.cat([pairs[path][1] for path in of_kind]).numpy(),
        )
        for kind, of_kind in paths.items()
    }


@contextmanager
def _with_gradients() -> Generator[None]:
    """A context in which gradients are computed, even if the caller has switched them off."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def _token(pipeline: TextPipeline, trace: Trace, position: int, token: int | None) -> int:
    """The id of the token that is explained. Raises InputError if an argument is invalid."""
    check_run(pipeline, trace)
    check_language_head(pipeline.network)
    if any(pipeline.token_table(side).is_inference() for side in trace.sides):
        raise InputError("The model was built within `torch.inference_mode`, so it has no gradients; open it outside of it.")
    _, rows, vocab = trace.logits.shape
    check_number("position", position, 0, rows - 1)
    if token is None:
        following = target_of(pipeline, trace)[position + 1 :] if trace.target_ids else ()
        return following[0] if following else int(trace.logits[0, position].argmax())
    check_number("token", token, 0, vocab - 1)
    return int(token)


def _edits(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits. Raises InputError if an edit has `items`, because a pass has several copies of one text."""
    if any(getattr(edit, "items", None) is not None for edit in as_edits(edits)):
        raise InputError("Gradients are of the first text; leave out the `items` of the edits.")
    return as_edits(edits)


def _embeddings(trace: Trace) -> Embeddings:
    """Path → the token vectors of the first text, for each side that ran."""
    paths = []
    for side in trace.sides:
        found = [path for name in EMBEDDINGS if (path := f"{side}_embedding.{name}") in trace]
        if not found:
            raise InputError("The token vectors of the {side} were not recorded.", side=side)
        paths.append(found[0])
    return {path: trace[path].values[:1].clone() for path in paths}


def _means(pipeline: TextPipeline, trace: Trace, inputs: Embeddings) -> Embeddings:
    """Path → for each token vector, the mean of all rows of its embedding table, multiplied by the factor of the embedding."""
    means = {}
    for path, vectors in inputs.items():
        side: Side = "source" if path.startswith("source") else "target"
        table = pipeline.token_table(side).clone()
        rows = table[list(trace.ids_of(side)[0])]
        scale = (vectors[0] * rows).sum() / (rows * rows).sum()  # most embeddings multiply their rows by √d_model
        means[path] = (scale * table.mean(0)).expand_as(vectors)
    return means


def _scaled(inputs: Embeddings, scales: Sequence[float] | np.ndarray, starts: Embeddings | None = None) -> Embeddings:
    """Path → a batch with one item for each scale, 0 to 1: the vectors at this fraction of the way from `starts` (by default
    zero) to `inputs`. The batch is a leaf tensor that requires gradients."""
    leaves = {}
    for path, vectors in inputs.items():
        start = starts[path] if starts else torch.zeros_like(vectors)
        leaves[path] = start + torch.tensor(scales, dtype=vectors.dtype)[:, None, None] * (vectors - start)
    return {path: leaf.requires_grad_() for path, leaf in leaves.items()}


def _forward(
    pipeline: TextPipeline,
    trace: Trace,
    leaves: Embeddings,
    position: int,
    token: int,
    edits: Sequence[Edit],
    keep: Collection[str] = (),
) -> tuple[Float[Tensor, " item"], Recording]:
    """For each item of a batch with the token vectors `leaves`, the log-probability of `token` at `position`; and the tensors
    that `keep` names."""
    items = len(next(iter(leaves.values())))
    source, target = (torch.tensor(ids[:1]).expand(items, -1) if ids else None for ids in (trace.source_ids, trace.target_ids))
    changes = [Change(path, lambda _, leaf=leaf: leaf) for path, leaf in leaves.items()]
    with tracing(pipeline.network, [*edits, *changes], keep) as values:
        logits = pipeline.network(source, target)
    return logits[:, position].log_softmax(-1)[:, token], values
