"""The search of `compare`: with which mistakes our `Transformer` gives the numbers of a user's network."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import torch
from torch import Tensor, nn

from transformer.network.model import Transformer
from transformer.network.tap import Scope
from transformer.tracing.paths import Kind, TensorPath
from transformer.watching.alterations import Alteration, Candidate, Change, run_altered
from transformer.watching.attention_mistakes import attention_mistakes
from transformer.watching.matching import STOP_AHEAD, Library, Matching, Standing, milestones, relative
from transformer.watching.other_mistakes import other_mistakes
from transformer.watching.passes import Pass
from transformer.watching.placed import Placed
from transformer.watching.places import Setting
from transformer.watching.placing import place
from transformer.watching.placing_attentions import ALL_LAYOUTS, USUAL_LAYOUTS, Layout

MOST_MISTAKES = 8
# How often all mistakes are tried, and how many of the best options are followed each time.
MOST_LOOKS, MOST_OPTIONS = 12, 3
# Names of differences that are settings, and how many of them are tried together; and the places that are the whole network.
SETTINGS = {"norm after the sub-layer", "norm before the sub-layer", "embedding scaled", "embedding not scaled"}
SETTINGS |= {"no final norm", "extra final norm"}
MOST_SETTINGS = 3
WHOLE = ("both embeddings", "every sub-layer", "both stacks")
# A mistake that does not explain everything must move the first difference by at least this many tensors of ours.
LEAST_PROGRESS = 6
REPORT_EVERY = 500
# Hidden scores above this number leave a weight that differs from 0.
VISIBLE = -50.0


@dataclass(frozen=True, eq=False)
class Step:
    """One step of the search: a mistake that is added to the mistakes of the steps before.

    Attributes:
        candidate, alteration: the mistake, and the change of our `Transformer` that makes it.
        remaining: the difference of the logits with all mistakes up to this one.
        progress: how many tensors later the first difference is with this mistake.
    """

    candidate: Candidate
    alteration: Alteration
    remaining: float
    progress: int


@dataclass(frozen=True, eq=False)
class Found:
    """The mistakes that the search found (`steps`), and how far our `Transformer` agrees with the user's network if it makes
    all of them (`reached`)."""

    steps: tuple[Step, ...]
    reached: Standing


@dataclass
class Compared:
    """A copy of our `Transformer` with the weights of the user's network, and a recorded pass of the user's network.

    Attributes:
        model: the copy.
        source, target: the ids that both networks read.
        logits, library: the logits of the user's network, and all tensors of its pass.
        placed: the weights of the user's network, as they are now in the copy.
        place: a function that returns the weights of the user's network for given orders of rows in its attentions.
        recorder: the recorded pass of the user's network.
        tolerance: the largest difference that counts as equal.
        report: called with a sentence after every `REPORT_EVERY` runs; None for no reports.
        tried: the number of runs of the copy so far.
    """

    model: Transformer
    source: Tensor
    target: Tensor
    logits: Tensor
    library: Library
    placed: Placed
    place: Callable[[Mapping[Kind, Layout] | None], Placed]
    recorder: Pass
    tolerance: float
    report: Callable[[str], object] | None = None
    tried: int = 0
    _matched: tuple[Tensor, Matching] | None = None

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
    ) -> "Compared":
        """A copy of `ours` with the weights of `mine`. Weights that can be laid out in several ways, such as one matrix for
        query, key and value, are laid out so that the two networks agree furthest. `recorder` has a pass of `mine`, and
        `logits` is its result; `mapping` and `tolerance` are as in `compare`."""

        def placing(layouts: Mapping[Kind, Layout] | None) -> Placed:
            return place(recorder, mine, ours, layouts, mapping)

        placed = placing(None)
        dtype = next((each.dtype for each in mine.parameters()), torch.float32)
        with torch.random.fork_rng():
            model = Transformer(placed.config).to(dtype).eval()
        compared = cls(model, source, target, logits, Library(recorder.values), placed, placing, recorder, tolerance)
        compared.load(placed)
        compared.find_layouts()
        return compared

    def find_layouts(self) -> None:
        """If the first difference is in an attention, find the order of rows of its projections with which the networks agree
        for longest, and load the weights in this order."""
        best, chosen = self.standing(()), dict[Kind, Layout]()
        for kind in Kind:
            if best.path is None or TensorPath.parse(best.path).kind != kind:
                continue
            known = {other: layout for other, layout in chosen.items() if [*Kind].index(other) < [*Kind].index(kind)}
            for layout in ALL_LAYOUTS:
                later = {other: layout for other in Kind if other not in known}  # most people use one layout for all
                other = self.place({**known, **later})
                self.load(other)
                reached = self.standing((), best)
                if reached.path is None or reached.place > best.place + 1:
                    best, self.placed, chosen = reached, other, {**known, **later}
                if best.path is None:
                    break
        self.load(self.placed)

    def load(self, placed: Placed) -> None:
        """Load the weights in `placed` into the copy of our `Transformer`."""
        parameters = dict(self.model.named_parameters())
        for name, values in placed.tensors.items():
            parameters[name].copy_(values)

    def standing(self, alterations: Sequence[Alteration], reached: Standing | None = None) -> Standing:
        """How far our `Transformer` agrees with the user's network under these changes. `reached` is the standing before the
        last change, and is returned if this change does not help; if `reached` is None, the standing is always computed."""
        self.tried += 1
        if self.report and reached and self.tried % REPORT_EVERY == 0:
            self.report(f"{self.tried} changes of ours were tried. The first difference is at {reached.path}.")
        matching = self._matching(self._source(alterations))
        stops = [] if reached is None else [stopped(matching, self.milestones, reached)]
        try:
            logits, recording = run_altered(self.model, self.source, self.target, [*alterations, *stops])
        except NoHelpError:
            assert reached is not None
            return reached
        distance = float(relative(self.logits, logits)) if logits.shape == self.logits.shape else math.inf
        return matching.standing(recording, distance, reached)

    def _matching(self, source: Tensor) -> Matching:
        """The object that compares runs of the copy on this source with the user's network."""
        if self._matched is None or source is not self._matched[0]:
            axes = {path: tap.axes for path, tap in self.model.taps.items()}
            pads = source == self.model.config.source_pad
            self._matched = source, Matching(self.library, axes, self.tolerance, pads)
        return self._matched[1]

    @property
    def attentions(self) -> Iterable[str]:
        """The paths of the attentions of our `Transformer`."""
        return Setting(self.model, self.source, self.target, {}, {}, {}).attentions

    @cached_property
    def milestones(self) -> list[str]:
        """The paths of our tensors that are looked for in the user's network, in the order of computation."""
        return milestones(run_altered(self.model, self.source, self.target, ())[1])

    def explained(self, base: Standing) -> tuple[Standing, "Found"]:
        """How far the networks agree without mistakes (`base`, or with another order of rows), and the mistakes that `search`
        finds. If these do not explain everything, the search is repeated with other usual orders of rows, because a wrong
        attention hides the right order. Both results are for the same order of rows."""
        before, layouts = self.placed, [self.place(dict.fromkeys(Kind, layout)) for layout in USUAL_LAYOUTS]
        # Settings alone are tried first, because that is quick, and because other settings hide the order of rows.
        for placed in (before, *layouts):
            self.load(placed)
            start = self.standing(())
            usual = self._settings(start)
            if usual.reached.path is None:
                return start, usual
        self.load(before)
        found = self.search(base)
        if found.reached.path is None or base.path is None or TensorPath.parse(base.path).kind is None:
            return base, found
        for placed in layouts:
            self.load(placed)
            start = self.standing(())
            other = self.search(start)
            if other.reached.path is None:
                return start, other
        self.load(before)
        return base, found

    def search(self, base: Standing) -> "Found":
        """The mistakes with which our `Transformer` gives the numbers of the user's network: each step adds the mistake after
        which the first difference comes latest. If this holds for several mistakes, the search goes on with the mistake at the
        most places, and with the others if this leads nowhere. `base` is how far the networks agree without mistakes."""
        first = self._options(Found((), base))
        if first and first[0].reached.path is None:  # one mistake explains everything
            return first[0]
        usual = self._settings(base)
        furthest, open_ends, looks = usual, [Found((), base), *[usual] * bool(usual.steps)], 0
        while open_ends and looks < MOST_LOOKS:
            found = open_ends.pop()
            looks += 1
            for option in reversed(self._options(found) if found.steps else first):
                if option.reached.path is None:
                    return option
                if len(option.steps) < MOST_MISTAKES:
                    open_ends.append(option)
                if option.reached.place >= furthest.reached.place and option.steps:
                    furthest = option if option.reached.place > furthest.reached.place else furthest
        steps = [*furthest.steps]
        # A mistake that moved the first difference only a little, or left the logits farther from theirs than without mistakes,
        # is a guess.
        while steps and (steps[-1].progress < LEAST_PROGRESS or steps[-1].remaining >= base.logits):
            steps.pop()
        return Found(tuple(steps), furthest.reached)

    def _settings(self, base: Standing) -> "Found":
        """The combination of other settings with which our `Transformer` agrees furthest; no steps if every combination helps
        little. A difference in a setting, such as pre-norm, is not a mistake, and often several settings differ at once."""
        whole = {candidate.names[0]: candidate for candidate in self._candidates((), "") if _is_setting(candidate)}
        best = Found((), base)
        for count in range(1, MOST_SETTINGS + 1):
            for chosen in combinations(whole.values(), count):
                alterations = [candidate.make() for candidate in chosen]
                reached = self.standing(alterations)
                if reached.path is not None and reached.place < best.reached.place + LEAST_PROGRESS:
                    continue
                steps = zip(chosen, alterations, strict=True)
                best = Found(tuple(Step(*step, reached.logits, reached.place - base.place) for step in steps), reached)
                if reached.path is None:
                    return best
        return best

    def _options(self, found: "Found") -> list["Found"]:
        """The mistakes after which the first difference comes latest, each at one place or group of places; or only the first
        mistake that explains everything."""
        alterations, reached = [step.alteration for step in found.steps], found.reached
        near, options = self._near(reached.path or ""), list["Found"]()
        for candidate in self._candidates(alterations, part_of(reached.path or "")):
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
        furthest = [each for each in options if (each.reached.place, each.reached.present) == most]
        # Two options with the same difference of the logits are one change, made at more and at fewer places. This cannot be
        # told from an infinite difference, which logits of another shape have.
        different = {each.reached.logits if math.isfinite(each.reached.logits) else each: each for each in reversed(furthest)}
        return [each for each in furthest if each in different.values()][:MOST_OPTIONS]

    def _candidates(self, alterations: Sequence[Alteration], part: str) -> Iterator[Candidate]:
        target = next((each.target for each in reversed(alterations) if each.target is not None), self.target)
        fills = [float(each.applied.min()) for each in self.recorder.attentions if each.applied is not None]
        setting = Setting(
            self.model,
            self._source(alterations),
            target,
            self.placed.extra_norms,
            self.placed.eps,
            self.placed.layers,
            tuple(dict.fromkeys(fill for fill in fills if fill < 0)),
            tuple(dict.fromkeys(number for each in self.recorder.attentions for number in _hidden(each.scores))),
        )
        # The more likely mistakes come first, because a mistake that explains everything ends the search.
        makers = (attention_mistakes, other_mistakes)
        for mistakes in makers if "attention" in part else reversed(makers):
            yield from mistakes(setting)

    def _source(self, alterations: Sequence[Alteration]) -> Tensor:
        return next((each.source for each in reversed(alterations) if each.source is not None), self.source)

    def _near(self, path: str) -> set[str]:
        """The parts of our `Transformer` in which a mistake can cause a first difference at a path: the part of the path
        itself, and the part before it."""
        sublayers = Setting(self.model, self.source, self.target, {}, {}, {}).sublayers
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


class NoHelpError(Exception):
    """Raised to end a run of our `Transformer` early, because the change that is tried does not help."""


def stopped(matching: Matching, paths: Sequence[str], reached: Standing) -> Alteration:
    """A change that ends a run by `NoHelpError` at the `STOP_AHEAD`-th of our tensors from the first difference on, if the
    user's network has none of those before it. `paths` are the paths of our tensors that are looked for; `reached` has the
    first difference."""
    wanted = paths[reached.place : reached.place + STOP_AHEAD]

    def check(values: Tensor, scope: Scope) -> Tensor:
        known = [path for path in wanted if path in scope.values]
        if len(known) == len(wanted) - 1 and matching.lacks(scope.values, known):
            raise NoHelpError
        return values

    return Alteration((Change(wanted[-1], check),) if len(wanted) == STOP_AHEAD else ())


def _hidden(scores: Tensor) -> Iterator[float]:
    """Yields the number that the user's network writes in place of hidden scores, if it is not low enough to hide them: the
    least score, if several scores have it."""
    least = scores.min()
    if VISIBLE < least < 0 and int((scores == least).sum()) > 1:
        yield float(least)


def _is_setting(candidate: Candidate) -> bool:
    """Whether a candidate is another setting of the whole network, such as pre-norm, rather than a mistake."""
    return len(candidate.names) == 1 and candidate.names[0] in SETTINGS and candidate.where in WHOLE


def part_of(path: str) -> str:
    """The path of the sub-layer, embedding or stack that contains the tensor of our `Transformer` at `path`."""
    place = TensorPath.parse(path)
    if place.layer is not None:
        return str(place.whole)
    return path.rpartition(".")[0] if "." in path else path
