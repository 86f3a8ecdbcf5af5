"""`compare`: the first difference between somebody's Transformer and ours, and its reason, which is found by trying."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer.analysis.checks import check_id_tensor, check_model
from transformer.errors import InputError, shortened
from transformer.network.model import Transformer
from transformer.tracing.paths import Kind, TensorPath
from transformer.watching.alterations import Alteration, Candidate, run_altered
from transformer.watching.attention_mistakes import attention_mistakes
from transformer.watching.comparison import Comparison, Reason
from transformer.watching.matching import Library, Standing, relative, standing
from transformer.watching.operations import tensors_in
from transformer.watching.other_mistakes import other_mistakes
from transformer.watching.passes import Pass
from transformer.watching.places import Setting, sublayer_words
from transformer.watching.placing import ALL_LAYOUTS, Layout, Placed, place
from transformer.watching.recorder import run_recorded
from transformer.watching.watch import check_module

TOLERANCE = 1e-4
MOST_MISTAKES = 8
# How often all mistakes are tried, and at how many places each mistake is tried first.
MOST_LOOKS, MOST_OPTIONS = 16, 3
# A mistake that does not explain everything must move the first difference by at least this many tensors of ours.
LEAST_PROGRESS = 6
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
) -> Comparison:
    """Where somebody's encoder–decoder Transformer first differs from ours, and why.

        print(compare(my_transformer, Transformer(config), source, target))

    Both run on the same ids with the same weights: theirs are copied into a copy of ours. Then ours is run with every mistake
    of a list, one at a time; the mistake with which ours gives their numbers is the reason. Neither network is changed.

    Args:
        mine: the module, called as `mine(source, target)`, which returns logits.
        ours: our network of the same sizes; its weights do not matter.
        source, target: ids; best a batch of two texts with padding at the end of the source. The target is what the decoder
            reads.
        mapping: name of a parameter of mine → name of a parameter of ours, where names and the order of computation are not
            enough.
        run: called as `run(mine, source, target)` if the module is called in another way, for example with masks.
        tolerance: differences of up to this part of the largest number are none.

    Raises:
        InputError: an argument has another form, the module fails, it returns no logits, or its weights cannot be placed; the
            message names the tensors that are left.
    """
    _check(mine, ours, source, target, mapping, run, tolerance)
    first, logits = _their_pass(mine, source, target, run, ours)
    with torch.no_grad():
        compared = _Compared.of(mine, ours, source, target, first, logits, mapping, tolerance)
        base = compared.standing(())
        found = compared.search(base) if base.path is not None else Found((), base)
    reasons, notes, last = _reasons(found), [], found.reached
    again = None if first.dropped else _their_pass(mine, source, target, run, ours)[1]
    if first.dropped:
        where = "in training mode; call eval()" if mine.training else "also in evaluation mode, because it is always on"
        reasons.insert(0, Reason("dropout on", f"dropout is on: your module is {where}", "", last.logits))
        notes.append("Everything else was compared without dropout.")
    elif again is not None and not torch.equal(again, logits) and float(relative(again, logits)) > tolerance:
        reasons.insert(0, Reason("random", "two runs of your module differ, so something in it is random", "", last.logits))
    if bool(logits.isnan().any()):
        notes.append("Your logits contain NaN, for example because a softmax row had every key hidden by −∞.")
    return Comparison(
        agrees=base.path is None and not reasons,
        difference=base.logits,
        first=base.path,
        first_difference=base.difference,
        place=_place_words(base.path),
        reasons=tuple(reasons),
        explained=last.path is None,
        remaining=last.logits,
        notes=tuple(notes),
        weights={name: tuple(sorted(names)) for name, names in compared.placed.names.items() if names},
    )


def _check(mine: Any, ours: Any, source: Any, target: Any, mapping: Any, run: Any, tolerance: Any) -> None:
    check_module("mine", mine)
    check_model(ours)
    check_id_tensor("source", source, "batch source")
    check_id_tensor("target", target, "batch target")
    ours.source_embedding.check(source)
    ours.target_embedding.check(target)
    if len(source) != len(target):
        raise InputError(
            "The source has {one} rows and the target {two}; they must be equal.", one=len(source), two=len(target)
        )
    if mapping is not None and not isinstance(mapping, Mapping):
        raise InputError("mapping must map names of yours to names of ours, not {mapping!r}.", mapping=mapping)
    if run is not None and not callable(run):
        raise InputError("run must be a function of the module, the source and the target, not {run!r}.", run=run)
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 < tolerance < 1:
        raise InputError("tolerance is {tolerance!r}; it must be a number between 0 and 1.", tolerance=tolerance)


def _their_pass(mine: nn.Module, source: Tensor, target: Tensor, run: Run | None, ours: Transformer) -> tuple[Pass, Tensor]:
    """Every tensor of a pass of theirs, and its logits [batch, position, vocab]."""
    inputs = {"source": source.clone(), "target": target.clone()}
    recorder = Pass(inputs, dict(mine.named_parameters()) | dict(mine.named_buffers()))
    call: Run = run or (lambda module, source, target: module(source, target))
    result = run_recorded(mine, recorder, lambda: call(mine, inputs["source"], inputs["target"]))
    vocab, batch = ours.config.target_vocab, len(target)
    for each in tensors_in(result if isinstance(result, Tensor | list | tuple | dict) else list(vars(result).values())):
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


@dataclass(frozen=True, eq=False)
class Step:
    """A mistake that was added to those before.

    Attributes:
        candidate, alteration: the mistake, and the change that makes it.
        remaining: the difference of the logits with it.
        progress: by how many tensors it moved the first difference.
    """

    candidate: Candidate
    alteration: Alteration
    remaining: float
    progress: int


@dataclass(frozen=True, eq=False)
class Found:
    """Mistakes, and how far ours agrees with theirs with all of them."""

    steps: tuple[Step, ...]
    reached: Standing


@dataclass
class _Compared:
    """Both networks with the same weights, and their tensors."""

    model: Transformer
    source: Tensor
    target: Tensor
    logits: Tensor
    library: Library
    placed: Placed
    recorder: Pass
    tolerance: float

    @classmethod
    def of(
        cls,
        mine: nn.Module,
        ours: Transformer,
        source: Tensor,
        target: Tensor,
        recorder: Pass,
        logits: Tensor,
        mapping: Mapping[str, str] | None,
        tolerance: float,
    ) -> "_Compared":
        """Ours with the weights of theirs, in the layout of theirs that agrees furthest."""
        placed = place(recorder, mine, ours, mapping=mapping)
        dtype = next((each.dtype for each in mine.parameters()), torch.float32)
        with torch.random.fork_rng():
            model = Transformer(placed.config).to(dtype).eval()
        compared = cls(model, source, target, logits, Library(recorder.values), placed, recorder, tolerance)
        compared.load(placed)
        compared.find_layouts(mine, ours, mapping)
        return compared

    def find_layouts(self, mine: nn.Module, ours: Transformer, mapping: Mapping[str, str] | None) -> None:
        """Where an attention is the first difference, find the order of its rows with which more of it agrees."""
        best, chosen = self.standing(()), dict[Kind, Layout]()
        for kind in Kind:
            if best.path is None or TensorPath.parse(best.path).kind != kind:
                continue
            for layout in ALL_LAYOUTS[1:]:
                other = place(self.recorder, mine, ours, {**chosen, kind: layout}, mapping)
                self.load(other)
                reached = self.standing((), best)
                if reached.path is None or reached.place > best.place + 1:
                    best, self.placed, chosen[kind] = reached, other, layout
                if best.path is None:
                    break
        self.load(self.placed)

    def load(self, placed: Placed) -> None:
        """Give the copy these weights."""
        parameters = dict(self.model.named_parameters())
        for name, values in placed.tensors.items():
            parameters[name].copy_(values)

    def standing(self, alterations: Sequence[Alteration], reached: Standing | None = None) -> Standing:
        """How far ours agrees with theirs under these changes. If they do not help, no further than `reached`."""
        logits, recording = run_altered(self.model, self.source, self.target, alterations)
        distance = float(relative(self.logits, logits)) if logits.shape == self.logits.shape else float("inf")
        pads = self._source(alterations) == self.model.config.source_pad
        axes = {path: tap.axes for path, tap in self.model.taps.items()}
        return standing(recording, axes, self.library, distance, self.tolerance, pads, reached)

    def search(self, base: Standing) -> "Found":
        """The mistakes with which ours gives the numbers of theirs: each moves the first difference furthest. If several places
        of a mistake move it equally far, the largest is tried first, and the others if that leads nowhere."""
        furthest, open_ends, looks = Found((), base), [Found((), base)], 0
        while open_ends and looks < MOST_LOOKS:
            found = open_ends.pop()
            looks += 1
            for option in reversed(self._options(found)):
                if option.reached.path is None:
                    return option
                if len(option.steps) < MOST_MISTAKES:
                    open_ends.append(option)
                if option.reached.place >= furthest.reached.place and option.steps:
                    furthest = option if option.reached.place > furthest.reached.place else furthest
        steps = [*furthest.steps]
        while steps and steps[-1].progress < LEAST_PROGRESS:  # what moved the difference only a little is a guess
            steps.pop()
        return Found(tuple(steps), furthest.reached)

    def _options(self, found: "Found") -> list["Found"]:
        """The mistakes that move the first difference furthest, at each place where they do; or one that explains everything."""
        alterations, reached = [step.alteration for step in found.steps], found.reached
        near, options = self._near(reached.path or ""), list["Found"]()
        for candidate in self._candidates(alterations):
            if not near & {*candidate.parts}:
                continue
            alteration = candidate.make()
            try:
                after = self.standing([*alterations, alteration], reached)
            except (RuntimeError, ValueError, LookupError):  # this mistake cannot be made with these lengths
                continue
            step = Step(candidate, alteration, after.logits, after.place - reached.place)
            option = Found((*found.steps, step), after)
            if after.path is None:
                return [option]
            if after.place > reached.place:
                options.append(option)
        most = max(((each.reached.place, each.reached.present) for each in options), default=(0, 0))
        return [each for each in options if (each.reached.place, each.reached.present) == most][:MOST_OPTIONS]

    def _candidates(self, alterations: Sequence[Alteration]) -> Iterator[Candidate]:
        target = next((each.target for each in reversed(alterations) if each.target is not None), self.target)
        fills = [float(each.applied.min()) for each in self.recorder.attentions if each.applied is not None]
        setting = Setting(
            self.model,
            self._source(alterations),
            target,
            self.placed.extra_norms,
            tuple(dict.fromkeys(use.eps for use in self.recorder.uses if use.eps is not None)),
            tuple(dict.fromkeys(fill for fill in fills if fill < 0)),
        )
        yield from attention_mistakes(setting)
        yield from other_mistakes(setting)

    def _source(self, alterations: Sequence[Alteration]) -> Tensor:
        return next((each.source for each in reversed(alterations) if each.source is not None), self.source)

    def _near(self, path: str) -> set[str]:
        """The parts of ours in which a mistake can cause a first difference at a path: its own, and the one before."""
        sublayers = Setting(self.model, self.source, self.target, {}, (), ()).sublayers
        encoder = [each for each in sublayers if each.startswith("encoder")]
        order = ["source_embedding", *encoder, "encoder", "target_embedding", *sublayers[len(encoder) :], "decoder", "logits"]
        own = part_of(path)
        place = order.index(own)
        near = {own, order[place - 1]} if place else {own}
        if own.endswith("cross_attention"):
            near |= {"encoder"}
        if own in ("logits", "decoder"):
            near |= {"decoder", "logits", order[order.index("decoder") - 1]}
        return near


def part_of(path: str) -> str:
    """The sub-layer, embedding or stack that a tensor of ours belongs to."""
    place = TensorPath.parse(path)
    if place.layer is not None:
        return str(place.whole)
    return path.rpartition(".")[0] if "." in path else path


def _reasons(found: Found) -> list[Reason]:
    """The reasons. A mistake that was found at several places, one after the other, is one reason."""
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
    part, words = part_of(path), TENSOR_WORDS.get(path.rpartition(".")[2], path.rpartition(".")[2])
    if part.count(".") > 2:
        return f"in {sublayer_words(part)}, {words}"
    return words if part == "logits" else f"in the {part.replace('_', ' ')}, {words}"
