"""The heads of a layer as lines between two columns of tokens."""

from collections.abc import Sequence

import streamlit as st

from pages.attention.lines import heads_on, lines
from pages.attention.lines_link import heads_in_url, locked_in_url, threshold_in_url, write_lines
from pages.attention.offline_view import offline_view
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.export_menu import saving
from pages.ui.format import whole
from pages.ui.limits import LINES_WEIGHTS
from pages.ui.text import text
from pages.ui.weights_table import weights_table
from transformer import Trace


def show_lines(view: View, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Show the heads of a layer as lines between two columns of tokens. The locks, heads and threshold are kept in the URL.

    The picked head is always switched on (unless all heads are off), because the heading above names it.
    """
    queries, keys = map_names(view, shown, kind)
    weights, allowed = shown.weights(kind, layer)[0].numpy(), shown.allowed(kind)[layer, 0].numpy()
    if weights.size > LINES_WEIGHTS:
        st.info(text("attention")["too_many_lines"].format(count=whole(weights.size), most=whole(LINES_WEIGHTS)))
        return
    locked, heads = locked_in_url(), sorted({head, *heads_in_url(shown.heads(kind))})
    key = f"lines-{kind}"
    on = heads_on(key, len(weights))
    state = lines(
        weights,
        allowed,
        queries,
        keys,
        key=key,
        heads=heads,
        locked=locked,
        threshold=threshold_in_url(),
        on_change=lambda: _follow_heads(on, heads_on(key, len(weights)), head),
        head=head,
    )
    write_lines(state, head)
    name = f"{view.model}-{kind}-layer{layer + 1}-lines"
    saving(
        key,
        name,
        lambda: weights_table(weights[None], allowed[None], queries, keys, layer + 1),
        view=lambda: offline_view(view, shown, kind, layer, head, state),
    )


def _follow_heads(before: Sequence[int], on: Sequence[int], head: int) -> None:
    if is_switched_off(before, on, head):
        st.session_state["head"] = on[0] + 1


def is_switched_off(before: Sequence[int], on: Sequence[int], head: int) -> bool:
    """Whether the picked head was switched off, so that the first head that is still on must be picked. A head that was not on
    before does not count: it was picked while the browser's report of an earlier change was on its way.

    Args:
        before, on: the heads that were on before the change and after it, counted from 0.
        head: the picked head, counted from 0.
    """
    return bool(on) and head in before and head not in on
