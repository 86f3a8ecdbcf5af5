"""The two runs that are patched: text A, which is the clean run, and text B, the corrupt one. Both read the same target."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.patching.second_text import second_text
from pages.shell.view.map_names import map_names
from pages.shell.view.runs import Report
from pages.shell.view.second_run import answer_of, second_run
from pages.shell.view.second_run_menu import answer_row, pick_second_run
from pages.shell.view.two_runs import say_runs
from pages.shell.view.view import View, view_of
from pages.ui.caches import RESULTS
from pages.ui.escaping import literal
from pages.ui.format import fixed
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer import InputError
from transformer.patching import Patched, Place, RunPair, patch_everywhere
from transformer.pipeline.answer import Answer
from transformer.tracing.paths import Kind

STEP = "step"
ONLY_TEXTS = (
    "Patching takes tensors from one run of a model to another run of the same model without edits. So here, A and B can "
    "differ in their text only."
)


@dataclass(frozen=True)
class Runs:
    """Two runs to patch. Equal runs are equal keys of a cache.

    Attributes:
        clean, corrupt: the views of A and of B, with the target that both decoders read.
        row: the compared row of the logits; None for the row that `RunPair.of` finds.
    """

    clean: View
    corrupt: View
    row: int | None = None

    @property
    def pair(self) -> RunPair:
        """Both runs for the library."""
        return RunPair.of(self.clean.pipeline.network, self.clean.trace(), self.corrupt.trace(), self.row)

    @property
    def kinds(self) -> list[str]:
        """The kinds of attention of the runs."""
        return [str(kind) for kind in self.clean.trace().kinds]


@dataclass(frozen=True)
class Choice:
    """Arguments of `patch_everywhere`, as a key of a cache."""

    what: str = "head_output"
    direction: str = "denoise"
    positions: str = "together"
    steps: str = "all"
    also: tuple[Place, ...] = ()


def _patched(runs: Runs, choice: Choice, report: Report) -> Patched:
    last = None
    for last in patch_everywhere(runs.pair, choice.what, choice.direction, choice.positions, choice.steps, choice.also):
        report(last.done, last.total)
    assert last is not None
    return last


patched_runs = RESULTS.cached(_patched, ignored=1)


def patched(runs: Runs, choice: Choice) -> Patched:
    """Every place patched; from the shared cache. Draws the progress if it takes several passes."""
    place = st.empty()

    def report(done: int, total: int) -> None:
        if done < total:
            place.progress(done / total, text("patching")["running"].format(done=done, total=total))

    result = runs.clean.run(patched_runs, runs, choice, report=report)
    place.empty()
    return result


def runs_to_patch(view: View) -> Runs | None:
    """Draw the menu of the second run, the picker of the compared step, both runs in words, and what differs at that step.

    Returns:
        The two runs. None if there is no second text yet; then the page says so.

    Raises:
        InputError: the runs cannot be patched, because they differ in more than their text, or in length.
    """
    words = text("patching")
    with answer_row() as row:
        said = st.container()
    asked = pick_second_run(view, row) or second_text(view)
    if asked is None:
        st.info(words["no_second"], icon=":material/compare:")
        return None
    if asked.model not in ("", view.model) or asked.phrases:
        raise InputError(ONLY_TEXTS)
    second = second_run(view, asked)
    with said:
        say_runs(view, second, [answer_of(each, ()) for each in (view, second.view)])
    differs, picker = st.columns([3, 1], vertical_alignment="bottom")
    with picker:
        runs = _with_step(_runs(view, second.view))
    with differs:
        _say_difference(runs)
    return runs


def _with_step(runs: Runs) -> Runs:
    """Draw the picker of the compared step. Returns the runs with the picked step."""
    words, trace = text("patching"), runs.clean.trace()
    names = map_names(runs.clean, trace, str(Kind.DECODER if trace.target_ids else Kind.ENCODER))[0]
    labels = {index: f"{index}: {name}" for index, name in enumerate(names)}
    row = pick(words["step"], range(len(names)), STEP, words["step_help"], runs.pair.row, as_list=True, labels=labels)
    return replace(runs, row=row)


def _say_difference(runs: Runs) -> None:
    """Write which tokens the runs prefer at the compared step, and the logit difference in each."""
    pair, trace = runs.pair, runs.clean.trace()
    vocabulary = runs.clean.pipeline.vocabulary("target" if trace.target_ids else "source")
    first, second = (literal(token) for token in vocabulary.tokens_of(pair.tokens))
    logits = [view.trace().logits[0, pair.row] for view in (runs.clean, runs.corrupt)]
    clean, corrupt = (fixed(float(of[pair.tokens[0]] - of[pair.tokens[1]]), 2) for of in logits)
    says = text("patching")["same_answer" if pair.same_answer else "differ"]
    st.markdown(says.format(first=first, second=second, clean=clean, corrupt=corrupt))


def _runs(view: View, other: View) -> Runs:
    """Both runs, with the target that both decoders read."""
    # An untrained model knows the words of its texts, so both runs need a model that knows the words of both.
    key = view_of(view.model, (view.source, other.source), (view.target, other.target)).key
    clean, corrupt = (replace(each, key=key) for each in (view, other))
    read = _target(clean)
    return Runs(_reading(clean, read), _reading(corrupt, read))


def _reading(view: View, target: str | Answer | None) -> View:
    """The view of the first text alone, with this target."""
    return replace(view, sources=view.sources[:1], targets=(target,), examples=0)


def _target(view: View) -> str | Answer | None:
    """What both decoders read: A's target or answer. A decoder alone reads only its text."""
    if view.pipeline.stacks == ("decoder",):
        return ""
    return view.answer() if view.target is None and view.writes else view.target
