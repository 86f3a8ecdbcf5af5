"""What a person looks at: the model and the texts that the sidebar holds."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages.shell.runs import Drops, Edits, Key, Report, Sources, Targets, available, runs
from pages.ui.limits import SENTENCES
from transformer import InputError, Pipeline, Trace
from transformer.pipeline.pipeline import Answer, Reading, Side
from transformer.pipeline.untrained import Untrained

OWN_SIZES = "own-sizes"
# What each number input of `own-sizes` sets, and what it shows first.
FIELDS = {"n_layers": ("encoder_layers", "decoder_layers"), "n_heads": ("heads",), "d_model": ("d_model",), "d_ff": ("d_ff",)}


@dataclass(frozen=True)
class View:
    """What a person chose to look at.

    Attributes:
        model: what the picker says: a shipped model, a preset, or `own-sizes`.
        sources: texts as typed: the first, and up to three more that are read with it as a batch.
        targets: for each of them the text the decoder shall read, or None for the model's own answer.
        key: the model by value, as `runs` keeps it.
        problem: what is wrong with the batch; the first text then stands alone. None where it can be read.
    """

    model: str
    sources: Sources
    targets: Targets
    key: Key
    problem: InputError | None = None

    @property
    def source(self) -> str:
        return self.sources[0]

    @property
    def target(self) -> str | None:
        return self.targets[0]

    @property
    def pipeline(self) -> Pipeline:
        return runs().pipeline(self.key)

    def trace(self, edits: Edits = ()) -> Trace:
        """The trace of the first sentence, from the shared cache. Without a target, the decoder reads the answer that the
        model writes under the same edits."""
        return runs().trace(self.key, self.sources[:1], self.targets[:1], edits)

    def batch_trace(self, edits: Edits = ()) -> Trace:
        """The trace of every sentence in one padded batch, from the shared cache."""
        return runs().trace(self.key, self.sources, self.targets, edits)

    def reading(self, side: Side, item: int = 0) -> Reading:
        """A sentence, or the target typed for it, as the model reads it; from the shared cache.

        Raises:
            InputError: the model cannot read it.
        """
        typed = self.sources[item] if side == "source" else self.targets[item]
        assert typed is not None  # a target that nobody typed is the model's answer
        return runs().reading(self.key, side, typed)

    def answer(self, edits: Edits = (), item: int = 0) -> Answer:
        """What the model writes for a sentence, from the shared cache."""
        return runs().answer(self.key, self.sources[item], edits)

    def forced(self) -> "View":
        """The same view with a target for every sentence: where there was none, the answer of the model as it is, which an
        edited model can then be made to read."""
        as_target = self.pipeline.as_target
        targets = [as_target(self.answer(item=at)) if given is None else given for at, given in enumerate(self.targets)]
        return replace(self, targets=tuple(targets))

    def importance(self, edits: Edits, position: int, report: Report) -> tuple[float, Drops]:
        """Log-probability of the first sentence's output token at a position, and what each head's silence takes from it."""
        target = self.pipeline.as_target(self.answer()) if self.target is None else self.target
        return runs().importance(self.key, self.source, target, edits, position, report)


def current_view() -> View:
    """What the sidebar holds, for the page that runs after `app.py` has drawn it. A batch that cannot be read is left out and
    said in `problem`: a page of the first text alone can do without it.

    Raises:
        HeadlightError: numbers of the first text or its target that are no ids.
    """
    state = st.session_state
    first, target = state["source"], state["target"] if state["target"].strip() else None
    try:
        sources, targets = _batch()
        return _view((first, *sources), (target, *targets))
    except InputError as problem:
        return replace(_view((first,), (target,)), problem=problem)


def _batch() -> tuple[Sources, Targets]:
    """The further sentences and their targets.

    Raises:
        InputError: too many sentences, or targets that are not as many.
    """
    state = st.session_state
    more = [line for line in state["batch"].splitlines() if line.strip()]
    if len(more) >= SENTENCES:
        raise InputError(
            "There are {count} further source texts; up to {most} can be read together with the first, one on each line.",
            count=len(more),
            most=SENTENCES - 1,
        )
    typed = state["batch_targets"]
    targets = [*typed.splitlines(), *[""] * typed.endswith("\n")] if typed.strip() else [""] * len(more)
    while len(targets) > len(more) and not targets[-1].strip():  # below the last text, an empty line says nothing
        targets.pop()
    if len(targets) != len(more):
        raise InputError(
            "Further source texts: {count}; targets for them: {targets}. Write one target for each, on a line of its own, or "
            "none at all.",
            count=len(more),
            targets=len(targets),
        )
    return tuple(more), tuple(typed if typed.strip() else None for typed in targets)


def _view(sources: Sources, targets: Targets) -> View:
    """These texts with the model that is chosen.

    Raises:
        InputError: numbers that are no ids.
    """
    model = st.session_state["model"]
    if model in available():
        return View(model, sources, targets, model)
    own = sizes_of(model)
    sizes = {field: own[name] for name in own if name in FIELDS for field in FIELDS[name]}
    return View(model, sources, targets, Untrained.of(own.get("variant", model), sources, targets, sizes))


def sizes_of(model: str) -> dict[str, Any]:
    """What the boxes of `own-sizes` hold, by the name each has in a link; nothing for another model."""
    return {name: st.session_state[name] for name in ("variant", *FIELDS)} if model == OWN_SIZES else {}
