"""The view of a session: the model and the texts set in the sidebar."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import urlencode

import streamlit as st

from pages.shell.models.catalogue import trained, trained_key
from pages.shell.view.runs import Drops, Edits, Key, Report, Sources, Targets, runs
from pages.shell.view.turns import aside, computed, enter_line
from pages.ui.format import whole
from pages.ui.limits import HEAVY_PARAMETERS, SENTENCES, TEXT_CHARACTERS
from pages.ui.link_values import kept_in_links
from pages.ui.text import text
from transformer import InputError, Trace
from transformer.analysis.forcing import target_of
from transformer.analysis.importance import Predictions
from transformer.pipeline.pipeline import Agreement, Answer, Encoding, Side
from transformer.pipeline.protocol import TextPipeline
from transformer.pipeline.untrained import Untrained

Result = TypeVar("Result")

OWN_SIZES = "own-sizes"
TOO_LONG: dict[Side, str] = {
    "source": "Your text has {count} characters; this app reads up to {most}.",
    "target": "Your target has {count} characters; this app reads up to {most}.",
}
# Number input of `own-sizes` → the fields of the configuration that it sets.
FIELDS = {"n_layers": ("encoder_layers", "decoder_layers"), "n_heads": ("heads",), "d_model": ("d_model",), "d_ff": ("d_ff",)}


@dataclass(frozen=True)
class View:
    """A model and the texts it runs on.

    Attributes:
        model: the choice of the picker: a shipped model, a snapshot of its training, a model of this session or of a folder of
            the server, a preset, or `own-sizes`.
        sources: the texts as typed: the first, and up to three more that form a batch with it.
        targets: for each source, the text the decoder reads, an answer that it reads (`forced`), or None for the model's own
            answer.
        key: the cache key of the model in `runs`.
        problem: the error of the batch, which is left out of the view; None if the batch can be read.
        examples: how many texts at the end of `sources` are examples of the page, not typed by the person.
    """

    model: str
    sources: Sources
    targets: Targets
    key: Key
    problem: InputError | None = None
    examples: int = 0

    @property
    def typed(self) -> int:
        """How many of the texts the visitor has typed."""
        return len(self.sources) - self.examples

    @property
    def source(self) -> str:
        return self.sources[0]

    @property
    def target(self) -> str | Answer | None:
        return self.targets[0]

    def first_row(self, item: int = 0) -> int:
        """The row of the logits that predicts the first token of the answer: 0, or in a model with only a decoder the row of
        the text's last token, because the decoder reads the text itself. `item` is the text of the batch, from 0."""
        return len(self.encoding("source", item).ids) - 1 if self.pipeline.stacks == ("decoder",) else 0

    def end(self, item: int = 0) -> int | None:
        """The id of `<eos>`, which follows all that the decoder reads for the text `item`. None if the decoder reads an answer
        that was stopped before its end, or if the vocabulary has no `<eos>`."""
        target = self.answer(item=item) if self.targets[item] is None and self.writes else self.targets[item]
        stopped = isinstance(target, Answer) and not target.ended
        return None if stopped else self.pipeline.vocabulary("target").eos

    def expected(self, trace: Trace) -> list[int]:
        """The token that each row of a trace of the first text should predict: the next token of the target, and finally
        `<eos>` (`end`). Rows before `first_row` predict a token of the text, not of the answer."""
        end = self.end()
        return [*target_of(self.pipeline, trace)[1:], *(() if end is None else (end,))]

    def address(self, page: str, item: int = 0, /, **choices: Any) -> str:
        """The relative URL of a page with the model, the text with the index `item`, and `choices` as parameters. A choice
        whose value is a list is written once for each of its items."""
        query = {**kept_in_links(), "model": self.model, **sizes_of(self.model), "source": self.sources[item], **choices}
        return f"{page}?{urlencode(query, doseq=True)}"

    def enter_line(self) -> None:
        """If the model is large, wait until no other run of the app draws one. Call it before the first computation."""
        if self.heavy:
            enter_line(text("common")["line"])

    @property
    def heavy(self) -> bool:
        """Whether the model is so large that other visitors' runs of small models go first (`turns.aside`)."""
        return not isinstance(self.key, str) and self.key.parameters >= HEAVY_PARAMETERS

    def run(self, function: Callable[..., Result], *arguments: object, report: Report | None = None) -> Result:
        """The result of a cached function that runs the model; `arguments` are those of the function; `report` is called with
        its progress. A large model first waits until other heavy work is done. While the function waits and runs, a spinner
        turns; but not for a shipped model, which is fast, and not with `report`."""
        if isinstance(self.key, str) and report is None:
            return function(*arguments)
        return computed(text("common")["running"], function, *arguments, heavy=self.heavy, report=report)

    @property
    def pipeline(self) -> TextPipeline:
        """The pipeline of the model. A large model waits for other heavy work to end before it is built, because
        building it takes longer than a forward pass. Do not read this property inside a function that a cache is computing
        (`turns.aside`)."""
        pipeline = runs().kept_pipeline(self.key) if self.heavy else runs().pipeline(self.key)
        if pipeline is None:
            with aside():
                return runs().pipeline(self.key)
        return pipeline

    @property
    def writes(self) -> bool:
        """Whether the model writes an answer. If no target is typed, its decoder reads this answer."""
        return self.pipeline.writes

    def trace(self, edits: Edits = ()) -> Trace:
        """The trace of the first sentence, from the shared cache. Without a target, the decoder reads the answer that the
        model writes under the same edits."""
        return self.run(runs().trace, self.key, self.sources[:1], self.targets[:1], edits)

    def batch_trace(self) -> Trace:
        """The trace of every sentence in one padded batch, from the shared cache."""
        return self.run(runs().trace, self.key, self.sources, self.targets, ())

    def encoding(self, side: Side, item: int = 0) -> Encoding:
        """The tokens and ids of the sentence with the index `item`, or of the target typed for it; from the shared cache.

        Raises:
            InputError: the text is too long, or the model cannot read it.
        """
        typed = self.sources[item] if side == "source" else self.targets[item]
        assert isinstance(typed, str)  # without a typed target the decoder reads the answer
        _check_length(side, typed)
        return self.run(runs().encoding, self.key, side, typed)

    def answer(self, edits: Edits = (), item: int = 0) -> Answer:
        """The model's answer to the sentence with the index `item`, from the shared cache."""
        return self.run(runs().answer, self.key, self.sources[item], edits)

    def forced(self) -> "View":
        """The same view with a target for every sentence. A missing target becomes the answer of the model without edits, so
        that an edited model can be run on the same tokens."""
        if not self.writes:
            return self
        targets = [self.answer(item=item) if given is None else given for item, given in enumerate(self.targets)]
        return replace(self, targets=tuple(targets))

    def agreement(self) -> Agreement:
        """How the logits of `trace()` compare with those of an untraced run of the model; from the shared cache."""
        return self.run(runs().agreement, self.key, self.sources[:1], self.targets[:1])

    def edited(self, edits: Edits, wanted: Sequence[int]) -> Predictions:
        """The predictions for the first sentence with edits, from the shared cache. `wanted` has the id that each row of the
        logits should predict. The decoder reads the same target as without edits."""
        return self.run(runs().edited, self.key, self.source, self.target, edits, tuple(wanted))

    def importance(self, edits: Edits, position: int, report: Report) -> tuple[float, Drops]:
        """The log-probability, in nats, of the first sentence's output token at a position (from 0), and its drop when each
        head alone is silenced. `report` is called with the progress."""
        target = self.answer() if self.target is None else self.target
        return self.run(runs().importance, self.key, self.source, target, edits, position, report=report)


def current_view() -> View:
    """The model and the texts of the sidebar; call it after `app.py` has drawn them. If the further texts cannot be read, the
    view has only the first text, which many pages draw alone, and the error in `View.problem`.

    Raises:
        HeadlightError: the first text or its target has numbers that are not valid ids, or is too long for an untrained model.
    """
    state = st.session_state
    first, target = state["source"], state["target"] if state["target"].strip() else None
    try:
        sources, targets = _batch()
        return view_of(state["model"], (first, *sources), (target, *targets))
    except InputError as problem:
        return replace(view_of(state["model"], (first,), (target,)), problem=problem.anew())


def _batch() -> tuple[Sources, Targets]:
    """The further sentences of the batch and their targets.

    Raises:
        InputError: there are too many sentences, or the numbers of sentences and targets differ.
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
    while len(targets) > len(more) and not targets[-1].strip():  # empty lines below the last text
        targets.pop()
    if len(targets) != len(more):
        raise InputError(
            "Further source texts: {count}; targets for them: {targets}. Write one target for each, on a line of its own, or "
            "none at all.",
            count=len(more),
            targets=len(targets),
        )
    return tuple(more), tuple(typed if typed.strip() else None for typed in targets)


def view_of(model: str, sources: Sources, targets: Targets) -> View:
    """The view (model and texts) with the model of this name in the picker. A target of None is the model's own answer.

    Raises:
        InputError: for an untrained model, a text is too long, or has numbers that are not valid ids.
    """
    if trained(model):
        return View(model, sources, targets, trained_key(model))
    # The vocabulary of an untrained model is made of its texts, so its texts must not be too long.
    for source, target in zip(sources, targets, strict=True):
        _check_length("source", source)
        _check_length("target", target)
    own = sizes_of(model)
    sizes = {field: own[name] for name in own if name in FIELDS for field in FIELDS[name]}
    typed = [target if isinstance(target, str) else None for target in targets]
    return View(model, sources, targets, Untrained.of(own.get("variant", model), sources, typed, sizes))


def _check_length(side: Side, typed: str | Answer | None) -> None:
    """Raise an `InputError` if a text has more than `TEXT_CHARACTERS`."""
    if isinstance(typed, str) and len(typed) > TEXT_CHARACTERS:
        raise InputError(TOO_LONG[side], count=whole(len(typed)), most=whole(TEXT_CHARACTERS))


def sizes_of(model: str) -> dict[str, Any]:
    """The variant and the sizes that are set for the model `own-sizes`, by their names in a URL; empty for any other model."""
    return {name: st.session_state[name] for name in ("variant", *FIELDS)} if model == OWN_SIZES else {}
