"""The run that a cell of the map stands for: what it writes, beside what A and B write."""

import numpy as np
import streamlit as st

from pages.patching.two_runs_to_patch import Choice, Runs, beside_text
from pages.shell.frame.parts import section
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import show_softmax
from pages.shell.view.patched_runs import head_name
from pages.ui.caches import cached
from pages.ui.charts import chart
from pages.ui.escaping import literal, quoted_tokens
from pages.ui.format import fixed, share
from pages.ui.tables import show_table
from pages.ui.text import text
from transformer.figures.patching_charts import run_bars
from transformer.patching import Head, Patched, Place, patched_logits
from transformer.patching.opened import most_probable
from transformer.patching.places import BEFORE_LAYERS, OF_HEADS, OF_STACKS, Swap

HEIGHT = 670  # px of this part of the page


@cached
def _logits(runs: Runs, choice: Choice, place: Place) -> np.ndarray:
    """The logits of the patched run as [row, vocab], from the compared row to the last."""
    return patched_logits(runs.pair, (place,), choice.what, choice.direction, choice.steps).numpy()


def show_opened(runs: Runs, choice: Choice, found: Patched, place: Place) -> None:
    """Draw the run in which only one place (head or layer, perhaps token) is patched: next token, answer, and all measures."""
    words = text("patching")
    if not section(words["opened"].format(place=literal(place_name(runs, choice, place))), "opened", HEIGHT):
        return
    logits = runs.clean.run(_logits, runs, choice, place)
    pair, vocabulary = runs.pair, runs.clean.pipeline.vocabulary("target" if runs.clean.trace().target_ids else "source")
    rows = [view.trace().logits[0, pair.row].numpy() for view in (runs.clean, runs.corrupt)]
    probabilities = [_softmax(row) for row in (*rows, logits[0])]
    ids = most_probable(pair.tokens, probabilities)
    names = (words["run_a"], words["run_b"], words["run_patched"])
    tokens = vocabulary.tokens_of(ids)
    figure = chart(run_bars, tokens, [of[ids] for of in probabilities], names)
    _show_measures(found, place)
    written = vocabulary.tokens_of(logits[: len(pair.wanted)].argmax(-1).tolist())
    st.markdown(words["goes_on"][beside_text(runs)].format(tokens=quoted_tokens(written)))

    def explain(bar: Cell) -> None:
        """Draw how the probability of a token in a run was computed."""
        rule = text("common")["softmax_rule"]
        st.markdown(words["explained_share"].format(token=literal(tokens[bar.column]), run=names[bar.row], rule=rule))
        show_softmax((*rows, logits[0])[bar.row], ids[bar.column])

    show_explained(
        figure,
        "patched-run",
        words["bars_alt"],
        explain,
    )


def grid_title(what: str, grid: str) -> str:
    """The title of the map `grid`: the kind of attention that the tensors `what` belong to, or their stack if they belong to no
    attention."""
    return text("patching")["stacks"][grid] if what in OF_STACKS else text("attention")["kinds"][grid]


def place_name(runs: Runs, choice: Choice, place: Place) -> str:
    """The name of a patched place: its head or layer, the patched tensor, and the token if only one position is patched."""
    words = text("patching")
    if choice.what in OF_HEADS:
        where = head_name(Head(place.grid, place.layer, place.head))
    else:
        where = grid_title(choice.what, place.grid)
        if choice.what != BEFORE_LAYERS:
            where += f" {words['layer'].format(layer=place.layer + 1)}"
    name = f"{where}, {words['whats'][choice.what]}"
    if place.position is None:
        return name
    side = Swap(choice.what).side(place.grid)
    token = runs.clean.trace().tokens_of(side)[0][place.position]
    return words["at_token"].format(place=name, position=place.position, token=token)


def _show_measures(found: Patched, place: Place) -> None:
    """Draw a table with a row for each measure: its value in the clean run, A, in the corrupt run, B, and in the patched run,
    and the share of the difference between A and B that the patch moves."""
    words = text("patching")
    cell, rows = (place.layer, place.head, place.position or 0), []
    for metric, (corrupt, clean) in found.ends.items():
        value = float(found.values(metric)[place.grid][cell])
        moved = share(float(found.shares(metric)[place.grid][cell]), 1) if found.differs(metric) else "–"
        written = [fixed(of, 3) if metric != "exact" else words["yes" if of else "no"] for of in (clean, corrupt, value)]
        rows.append((words["metrics"][metric], *written, moved))
    show_table((words["measure"], "A", "B", words["run_patched"], words["share"]), tuple(rows), named=True)


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits.astype(np.float64) - logits.max())
    return powers / powers.sum()
