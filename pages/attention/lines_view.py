"""The heads of a layer as lines between two columns of tokens. The URL holds the locks, the heads and the threshold."""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.attention.attention_steps import open_number
from pages.attention.lines import THRESHOLD, LinesState, heads_on, lines
from pages.attention.offline_view import offline_view
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.escaping import quoted
from pages.ui.export_menu import saving
from pages.ui.format import token_at, whole
from pages.ui.limits import LINES_WEIGHTS
from pages.ui.text import text
from pages.ui.weights_table import weights_table
from transformer import Trace
from transformer.analysis.word_trace import word_groups
from transformer.tracing.paths import Kind


def show_lines(view: View, trace: Trace, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Draw the heads of a layer as lines between two columns of tokens. The URL keeps which tokens are locked (clicked), which
    heads are on, and the threshold. If a token is locked, a button opens the steps of the picked head at the first locked
    token. `shown` is `trace`, or the same trace with pieces joined to words. `layer` and `head` are from 0.

    The picked head is always switched on (unless all heads are off), because the heading above names it.
    """
    queries, keys = map_names(view, shown, kind)
    weights, allowed = shown.weights(kind, layer)[0].numpy(), shown.allowed(kind)[layer, 0].numpy()
    if weights.size > LINES_WEIGHTS:
        st.info(text("attention")["too_many_lines"].format(count=whole(weights.size), most=whole(LINES_WEIGHTS)))
        return
    key = f"lines-{kind}"
    on = heads_on(key, len(weights))
    state = lines(
        weights,
        allowed,
        queries,
        keys,
        key=key,
        heads=sorted({head, *_heads_in_url(len(weights))}),
        locked=_locked_in_url(),
        threshold=_threshold_in_url(),
        on_change=lambda: _follow_heads(on, heads_on(key, len(weights)), head),
        head=head,
    )
    _write_to_url(state, head)
    if state.locked:
        side, position = state.locked[0]
        _offer_steps(trace, shown, kind, layer, head, side, position)
    saving(
        key,
        f"{view.model}-{kind}-layer{layer + 1}-lines",
        lambda: weights_table(weights[None], allowed[None], queries, keys, layer + 1),
        view=lambda: offline_view(view, shown, kind, layer, head, state),
    )


def _offer_steps(trace: Trace, shown: Trace, kind: str, layer: int, head: int, side: str, position: int) -> None:
    """Draw a button that opens the steps of a head at a locked token: at the largest weight in the row of a query (`side`), or
    in the column of a key. If the token is a word, the largest weight of all its pieces counts. `position` is that of the
    token."""
    words, of = text("attention"), Kind.of(kind)
    groups = word_groups(trace, of.queries if side == "query" else of.keys)
    pieces = [position] if shown is trace else list(groups[position])
    weights = np.where(trace.head_allowed(kind, layer, head).numpy(), trace.head(kind, layer, head).numpy(), -1)
    rows = pieces if side == "query" else range(len(weights))
    columns = pieces if side == "key" else range(weights.shape[1])
    part = weights[np.ix_(rows, columns)]
    row, column = np.unravel_index(int(part.argmax()), part.shape)
    query, key = int(rows[int(row)]), int(columns[int(column)])
    tokens = trace.tokens(kind)
    names = {"query": token_at(query, quoted(tokens[0][query])), "key": token_at(key, quoted(tokens[1][key]))}
    label = words["steps_of_query" if side == "query" else "steps_of_key"].format(head=head + 1, **names)
    st.button(label, key="lines_steps", icon=":material/function:", on_click=open_number, args=("weights", query, key, query))


def _follow_heads(before: Sequence[int], on: Sequence[int], head: int) -> None:
    if is_switched_off(before, on, head):
        st.session_state["head"] = on[0] + 1


def is_switched_off(before: Sequence[int], on: Sequence[int], head: int) -> bool:
    """Whether the visitor switched off the picked head, so that another head must be picked: `head` is in `before`, the heads
    that were on, and not in `on`, the heads that are on now. False if no head is on, or if `head` was not on before."""
    return bool(on) and head in before and head not in on


def _locked_in_url() -> list[tuple[str, int]]:
    """The locked tokens in the URL, as pairs of `query` or `key` and a position, counted from 0."""
    sides = {"q": "query", "k": "key"}
    tokens = (part for part in st.query_params.get("locked", "").split(",") if part[:1] in sides and part[1:].isdecimal())
    return [(sides[part[0]], int(part[1:])) for part in tokens if len(part) < 6]


def _heads_in_url(count: int) -> tuple[int, ...]:
    """The heads that are on in the URL, out of `count` heads; counted from 0. Empty if it names none."""
    parts = st.query_params.get("heads", "").split(",")
    return tuple(int(part) - 1 for part in parts if part.isdecimal() and len(part) < 4 and 1 <= int(part) <= count)


def _threshold_in_url() -> float:
    """The weight below which no line is drawn: from the URL, or `THRESHOLD`."""
    number = re.fullmatch(r"0\.\d{1,4}|[01]", st.query_params.get("threshold", ""))
    return float(number[0]) if number else THRESHOLD


def _write_to_url(state: LinesState, head: int) -> None:
    """Put the state of the lines into the URL. Values that are the default for this head are left out."""
    _put("locked", ",".join(f"{side[0]}{position}" for side, position in state.locked))
    _put("heads", ",".join(str(position + 1) for position in state.heads) if tuple(state.heads) != (head,) else "")
    _put("threshold", f"{state.threshold:.2f}" if state.threshold != THRESHOLD else "")


def _put(name: str, value: str) -> None:
    if value:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]
