"""`compare`: the first difference between a user's Transformer and ours, and its reason, which is found by trying."""

import copy
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer.analysis.checks import check_id_tensor, check_model
from transformer.errors import HeadlightError, InputError, shortened
from transformer.network.model import Transformer
from transformer.watching.comparison import Comparison, Reason
from transformer.watching.matching import Standing, relative
from transformer.watching.operations import tensors_in
from transformer.watching.passes import Pass
from transformer.watching.places import sublayer_words
from transformer.watching.recorder import run_recorded
from transformer.watching.remarks import remarks, shared_weights
from transformer.watching.search import Compared, Found, part_of
from transformer.watching.side_by_side import side_by_side
from transformer.watching.watch import check_module

TOLERANCE = 1e-4
Run = Callable[[nn.Module, Tensor, Tensor], Any]
TENSOR_WORDS = {
    "sum": "the sum of token and position",
    "masked_scores": "the scores before softmax",
    "weights": "the attention weights after softmax",
    "head_output": "the averages of the values",
    "concatenated": "the joined heads",
    "output": "the result",
    "normalized": "the result of the norm",
    "hidden": "the result of the first linear layer",
    "activated": "the result of the activation function",
    "heads": "the vectors of each head",
    "logits": "the logits",
}


def compare(
    mine: nn.Module,
    ours: Transformer,
    source: Int[Tensor, "batch source"],
    target: Int[Tensor, "batch target"],
    mapping: Mapping[str, str] | None = None,
    run: Run | None = None,
    tolerance: float = TOLERANCE,
    report: Callable[[str], object] | None = None,
) -> Comparison:
    """Where a user's encoder–decoder Transformer first differs from ours, and why.

        print(compare(my_transformer, Transformer(config), source, target))

    Both networks run on the same ids with the same weights: the weights of `mine` are copied into a copy of `ours`. Then known
    mistakes are made in this copy, one or several at a time. The mistakes with which it gives the numbers of `mine` are the
    reasons. Neither `mine` nor `ours` is changed.

    Args:
        mine: the module, called as `mine(source, target)`, which returns logits.
        ours: a `Transformer` with the same sizes, for example from `network_like`; its weights do not matter.
        source, target: ids; best a batch of two texts with padding at the end of the source. The target is what the decoder
            reads.
        mapping: name of a parameter of `mine` → name of a parameter of `ours`, where names and the order of computation are not
            enough.
        run: called as `run(mine, source, target)` if the module is called in another way, for example with masks.
        tolerance: numbers count as equal if they differ by at most this share of the largest number.
        report: a function such as `print`, called with a sentence after every 500 changes that were tried, because a search
            that finds nothing takes up to a minute.

    Raises:
        InputError: an argument is invalid; the weights are in half precision or not finite; the module fails or returns no
            logits; or its weights cannot be placed: then the message names the weights that are left. If the module fails
            because it exchanges two axes, the message names this mistake, provided that the module runs on axes of equal size.
    """
    _check(mine, ours, source, target, mapping, run, tolerance, report)
    try:
        compared, notes = _compared(mine, ours, source, target, mapping, run, tolerance), []
    except InputError as failure:
        if len(source) == source.shape[1] == target.shape[1]:
            raise
        raise _explained(failure, mine, ours, source, target, mapping, run, tolerance, report) from failure
    with torch.no_grad():
        base = compared.standing(())
        searched, start = compared, base
        other = _with_other_norms(mine, compared)
        if other is not None:
            # Fresh norms and biases hide differences: a second norm changes nothing, for example.
            varied = _compared(other, ours, source, target, mapping, run, tolerance)
            if (reached := varied.standing(())).path is not None:
                searched, start = varied, reached
        found = Found((), base)
        if start.path is not None:
            searched.report = report
            start, found = searched.explained(start)
        if base.path is None and start.path is not None:
            notes.append("With your present weights the logits agree, but not with other norms and biases.")
    if start.path is not None:
        base = Standing(base.logits if base.path else start.logits, start.place, start.path, start.difference, start.present)
    reasons = [*_randomness(mine, source, target, run, ours, compared, found), *shared_weights(compared), *_reasons(found)]
    notes += remarks(mine, compared)
    if compared.recorder.dropped:
        notes.append("Everything else was compared without dropout.")
    if bool(compared.logits.isnan().any()):
        notes.append("Your logits contain NaN, for example because a softmax row had every key hidden by −∞.")
    return Comparison(
        agrees=base.path is None and not reasons,
        difference=base.logits if compared.logits.isfinite().all() else math.nan,
        first=base.path,
        first_difference=base.difference,
        place=_place_words(base.path),
        reasons=tuple(reasons),
        explained=found.reached.path is None,
        remaining=found.reached.logits,
        notes=tuple(notes),
        weights={name: tuple(sorted(names)) for name, names in compared.placed.names.items() if names},
        tolerance=tolerance,
        tensors=side_by_side(searched),
        labels={side: tuple(map(str, ids[0].tolist())) for side, ids in (("source", source), ("target", target))},
    )


def _explained(
    failure: InputError, mine: nn.Module, ours: Transformer, source: Tensor, target: Tensor, *given: Any
) -> InputError:
    """The error to raise for a module that fails. A module that exchanges the axes of texts and tokens runs if both have the
    same size. The modules are compared again on such a batch; if this finds the mistakes, the message names them."""
    size = min(source.shape[1], target.shape[1])
    rows = torch.arange(size)[:, None]
    columns = (torch.arange(size) + rows // len(source)) % size  # a repeated text begins at another token
    texts = rows % len(source)
    try:
        comparison = compare(mine, ours, source[texts, columns], target[texts, columns], *given)
    except HeadlightError:
        return failure
    if not comparison.explained or not comparison.reasons:
        return failure
    return InputError(
        "{failure} On {size} texts of {size} tokens it runs, and this explains its numbers: {words}",
        failure=failure,
        size=size,
        words=" ".join(map(str, comparison.reasons)),
    )


def _compared(
    mine: nn.Module, ours: Transformer, source: Tensor, target: Tensor, mapping: Any, run: Run | None, tolerance: float
) -> Compared:
    """A recorded pass of `mine`, and a copy of `ours` with the weights of `mine`."""
    recorder, logits = _their_pass(mine, source, target, run, ours)
    with torch.no_grad():
        return Compared.of(mine, ours, source, target, recorder, logits, mapping, tolerance)


def _with_other_norms(mine: nn.Module, compared: Compared) -> nn.Module | None:
    """A copy of `mine` with random values added to every norm and bias whose values are all equal, as before training. None if
    there is no such norm or bias, or if `mine` cannot be copied."""
    try:
        other = copy.deepcopy(mine)
    except Exception:  # noqa: BLE001 (a module may refuse in any way)
        return None
    known = {name for names in compared.placed.names.values() for name in names}
    generator, changed = torch.Generator().manual_seed(0), False
    with torch.no_grad():
        for name, values in other.named_parameters():
            if name in known and values.ndim == 1 and len(values) > 1 and bool((values == values[0]).all()):
                values.add_((torch.randn(values.shape, generator=generator) / 4).to(values))
                changed = True
    return other if changed else None


def _randomness(
    mine: nn.Module, source: Tensor, target: Tensor, run: Run | None, ours: Transformer, compared: Compared, found: Found
) -> list[Reason]:
    """A list of one reason, if dropout is on or anything else makes two runs of `mine` differ; otherwise an empty list."""
    if compared.recorder.dropped:
        where = "in training mode; call eval()" if mine.training else "also in evaluation mode, because it is always on"
        return [Reason("dropout on", f"dropout is on: your module is {where}", "", found.reached.logits)]
    one, other = (_their_pass(mine, source, target, run, ours, seed)[1] for seed in (0, 1))
    if one.shape != other.shape or float(relative(one, other)) > compared.tolerance:
        return [Reason("random", "two runs of your module differ, so something in it is random", "", found.reached.logits)]
    return []


def _check(mine: Any, ours: Any, source: Any, target: Any, mapping: Any, run: Any, tolerance: Any, report: Any) -> None:
    check_module("mine", mine)
    check_model(ours)
    if rough := next((each.dtype for each in mine.parameters() if each.dtype in (torch.float16, torch.bfloat16)), None):
        template = "mine has weights of the type {dtype}, whose numbers are too rough to compare; give mine.float()."
        raise InputError(template, dtype=str(rough).removeprefix("torch."))
    if unusable := next((name for name, each in mine.named_parameters() if not each.isfinite().all()), None):
        raise InputError("The weights {name!r} of mine have a NaN or an infinite number.", name=unusable)
    check_id_tensor("source", source, "batch source")
    check_id_tensor("target", target, "batch target")
    ours.source_embedding.check(source)
    ours.target_embedding.check(target)
    if len(source) != len(target):
        raise InputError(
            "The source has {one} rows and the target {two}; they must be equal.", one=len(source), two=len(target)
        )
    if mapping is not None and not isinstance(mapping, Mapping):
        raise InputError("mapping is {mapping!r}; it must map names of yours to names of ours.", mapping=mapping)
    if run is not None and not callable(run):
        raise InputError("run is {run!r}; it must be a function of the module, the source and the target.", run=run)
    if report is not None and not callable(report):
        raise InputError("report is {report!r}; it must be a function of a sentence, such as print.", report=report)
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 < tolerance < 1:
        raise InputError("tolerance is {tolerance!r}; it must be a number between 0 and 1.", tolerance=tolerance)


def _their_pass(
    mine: nn.Module, source: Tensor, target: Tensor, run: Run | None, ours: Transformer, seed: int = 0
) -> tuple[Pass, Tensor]:
    """A recorded pass of `mine`, and its logits [batch, position, vocab]. Raises `InputError` if `mine` fails or returns no
    such logits."""
    inputs = {"source": source.clone(), "target": target.clone()}
    recorder = Pass(inputs, dict(mine.named_parameters()) | dict(mine.named_buffers()))
    call: Run = run or (lambda module, source, target: module(source, target))

    def seeded() -> Any:
        torch.manual_seed(seed)  # `run_recorded` restores the state of random numbers
        return call(mine, inputs["source"], inputs["target"])

    result = run_recorded(mine, recorder, seeded)
    vocab, batch = ours.config.target_vocab, len(target)
    for each in tensors_in(
        result if isinstance(result, Tensor | list | tuple | dict) else [*getattr(result, "__dict__", {}).values()]
    ):
        if each.shape[-1:] != (vocab,) or not each.is_floating_point():
            continue
        logits = each.unflatten(0, (batch, -1)) if each.ndim == 2 and len(each) % batch == 0 else each
        if logits.ndim == 3 and logits.shape[0] != batch and logits.shape[1] == batch:
            logits = logits.transpose(0, 1)
        if logits.ndim == 3 and len(logits) == batch:
            return recorder, logits.clone()
    raise InputError(
        "Your module returned {result}; it must return logits [batch, target, {vocab}].",
        result=tuple(result.shape) if isinstance(result, Tensor) else shortened(result),
        vocab=vocab,
    )


def _reasons(found: Found) -> list[Reason]:
    """One reason for each mistake that was found, with all the places at which it was found."""
    reasons: dict[str, Reason] = {}
    for step in found.steps:
        for name, words in zip(step.candidate.names, step.candidate.words, strict=True):
            before = reasons.get(name)
            where = step.candidate.where if before is None else f"{before.where}, and in {step.candidate.where}"
            reasons[name] = Reason(name, words, where, step.remaining)
    return [*reasons.values()]


def _place_words(path: str | None) -> str:
    if path is None:
        return ""
    if path.endswith("add_norm.sum"):
        return f"in {sublayer_words(part_of(path))}, the residual sum"
    part, words = part_of(path), TENSOR_WORDS.get(path.rpartition(".")[2], path.rpartition(".")[2])
    if part.count(".") > 2:
        return f"in {sublayer_words(part)}, {words}"
    return words if part == "logits" else f"in the {part.replace('_', ' ')}, {words}"
