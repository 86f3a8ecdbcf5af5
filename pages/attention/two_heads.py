"""The weights of one head in two runs, their difference, and which head differs most."""

import streamlit as st

from pages.shell.view.card_heads import choose_head, head_title
from pages.shell.view.map_names import map_names
from pages.shell.view.second_run import SecondRun
from pages.shell.view.two_runs import alignment, difference_of, show_both_maps
from pages.shell.view.view import View
from pages.ui.format import fixed
from pages.ui.text import text
from transformer import Difference, Trace
from transformer.figures.panels import tensor_view
from transformer.patching import Head
from transformer.tracing.paths import Kind


def show_both_heads(view: View, shown: Trace, second: SecondRun, kind: str, layer: int, head: int) -> None:
    """Draw the weights of a head in the first run, A, and in the second run, B, and B − A. `shown` is the trace of A, of tokens
    or of whole words. `kind` is e.g. `cross`; `layer` and `head` are counted from 0."""
    of, title = Kind.of(kind), head_title(kind, layer, head)
    difference = difference_of(view, shown, second)
    queries, keys = map_names(view, difference, kind)
    names = {"query": queries, "key": keys}
    difference.head(kind, layer, head)  # raises a sentence if the head is not in both
    views = [
        tensor_view(
            title,
            run.head(kind, layer, head).numpy(),
            ("query", "key"),
            "weights",
            names,
            hidden=~run.head_allowed(kind, layer, head).numpy(),
        )
        for run in difference.runs
    ]
    _say_largest(difference, Head(kind, layer, head))
    show_both_maps(views, title, alignment(difference, of.queries, of.keys))


def _say_largest(difference: Difference, shown: Head) -> None:
    """Write how much the weights of the shown head change, and which head changes most. A button opens that head."""
    words, changes = text("attention"), largest_changes(difference)
    most = max(changes, key=lambda head: changes[head])
    if not changes[most]:
        return
    here = fixed(changes[shown], 2)
    if most == shown:
        st.markdown(words["changes_most"].format(here=here))
        return
    title = head_title(*most)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(words["changes_more"].format(here=here, head=title, most=fixed(changes[most], 2)), width="content")
        st.button(words["changes_open"], key="open_most_changed", on_click=choose_head, args=(most,))


def largest_changes(difference: Difference) -> dict[Head, float]:
    """Head → the largest |B − A| among its attention weights in two runs, A and B. Only heads that both runs have."""
    changes = {}
    for kind in difference.kinds:
        by_head = difference.attention(kind).nan_to_num().abs().amax((1, 3, 4))
        for layer, row in enumerate(by_head.tolist()):
            changes |= {Head(str(kind), layer, head): change for head, change in enumerate(row)}
    return changes
