"""How needed and how sufficient each head is, over many pairs of texts of the model's task, computed in the background; and how
silencing heads changes pronouns, from the models' cards."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.patching.heads import of_head, strongest
from pages.patching.need import is_unclear, say_agreement, show_dots
from pages.patching.two_runs_to_patch import Runs
from pages.shell.models.catalogue import available
from pages.shell.view.background import show_background
from pages.shell.view.card_heads import pick_head
from pages.shell.view.patched_runs import head_name
from pages.shell.view.runs import Key, Report, runs
from pages.ui.caches import ABSENT, RESULTS, cached
from pages.ui.format import fixed, share, whole
from pages.ui.pickers import pick
from pages.ui.tables import show_table
from pages.ui.text import text
from transformer.patching import AverageNeeds, Head, average_needs, pairs_of_task
from transformer.patching.averages import Interval
from transformer.patching.places import OF_HEADS
from transformer.tasks import TASKS
from transformer.training.recipe import RECIPES

COUNTS = (100, 300)
SEED = "patching"
MOST_ROWS = 8  # heads in the table, those that matter most
# The models that were trained to look at a noun, or not to.
SILENCED = tuple(name for name, recipe in RECIPES.items() if recipe.turning or recipe.stillness)


def _averaged(key: Key, task: str, count: int, what: str, report: Report) -> AverageNeeds:
    last = None
    for last in average_needs(runs().pipeline(key), pairs_of_task(task, count, SEED), what):
        report(last.done, last.total)
    assert last is not None
    return last


_averages = RESULTS.cached(_averaged, ignored=1)


@cached
def _examples(task: str) -> list[tuple[str, str]]:
    return pairs_of_task(task, 3, SEED)


def show_pairs(runs_to_patch: Runs, counts: Sequence[int] = COUNTS) -> None:
    """Draw what the answer loses without each head and what each head restores, averaged over many pairs of texts, and how
    silencing heads changes pronouns. `counts` are the numbers of pairs that a person can choose from."""
    _show_averages(runs_to_patch, counts)
    _show_silenced(runs_to_patch.clean.model)


def _show_averages(view_runs: Runs, counts: Sequence[int]) -> None:
    """Draw the lost and restored shares of all heads, averaged over many pairs of texts, or the button that computes them."""
    words, view = text("patching"), view_runs.clean
    task = view.pipeline.card.task
    if task not in TASKS:
        st.info(words["no_task"], icon=":material/dataset:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        what = pick(words["what"], list(OF_HEADS), "what", words["what_help"], as_list=True)
        count = pick(words["pairs"], counts, "pairs", words["pairs_help"])
    examples = _examples(task)
    st.caption(words["pairs_says"].format(examples="; ".join(f"“{one}” / “{other}”" for one, other in examples)))
    found = RESULTS.kept(_averages, view.key, task, count, what)
    if found is ABSENT:
        label = words["measure_pairs"].format(count=whole(count))
        measured = view.key, task, count, what
        show_background("patch-pairs", label, [partial(_averages, *measured)], count, measured)
        return
    st.markdown(words["measured"].format(pairs=whole(found.pairs), left_out=whole(found.left_out)))
    if not found.pairs:
        return
    intervals = found.interval("lost"), found.interval("restored")
    above = st.container()
    head = pick_head(view_runs.clean.trace(), strongest(found.needs()))
    with above:
        show_dots(found.needs(), head, "need-pairs", intervals)
    say_agreement(found.needs(), found.needs("probability"))
    _show_table(found, intervals)


def _show_table(found: AverageNeeds, intervals: tuple[Interval, Interval]) -> None:
    """Draw the means and intervals of the heads that matter most."""
    words, needs = text("patching"), found.needs()
    rows = []
    heads = sorted(needs.roles, key=lambda head: max(abs(of_head(of.mean, head)) for of in intervals), reverse=True)
    for head in heads[:MOST_ROWS]:
        role = words["roles"][needs.roles[head]] + "?" * is_unclear(needs, head, intervals)
        rows.append((head_name(head), *(_interval(of, head) for of in intervals), role))
    show_table((words["head_column"], words["lost"], words["restored"], words["role"]), tuple(rows), named=True)
    st.caption(words["interval_says"])


def _interval(of: Interval, head: Head) -> str:
    mean, low, high = (share(of_head(part, head), 1) for part in (of.mean, of.low, of.high))
    return text("patching")["interval"].format(mean=mean, low=low, high=high)


def _show_silenced(model: str) -> None:
    """Draw a table of the models in `SILENCED`: how often their pronouns are right, with and without a silenced head. Draw
    nothing if `model` is not one of them, or if its card (training record) has no such measures."""
    if model not in SILENCED:
        return
    measures = {name: runs().pipeline(name).card.measures.get("pronouns", {}) for name in SILENCED if name in available()}
    rows = {name: _row(name, of) for name, of in measures.items() if "needed" in of}
    if model in rows:
        words = text("patching")["silenced"]
        st.header(words["title"], anchor="silenced")
        show_table(tuple(words["columns"]), tuple(rows.values()), named=True)
        # Not a column, because beside the words of a lesson the last columns would be outside.
        st.caption(words["says"].format(pairs=whole(measures[model]["pairs"])))
        st.info(words["meaning"], icon=":material/psychology_alt:")


def _row(model: str, measures: Mapping[str, Any]) -> tuple[str, ...]:
    row = [model, share(measures["right"], 1), fixed(measures["shift"], 2)]
    turning: dict[str, Any] = {**measures, "kind": "cross"}
    for head in (turning, measures["needed"]):
        row += [head_name(Head(head["kind"], head["layer"] - 1, head["head"] - 1)), share(head["right_without"], 1)]
    return tuple(row)
