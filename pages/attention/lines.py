"""Attention of one layer as lines between two columns of tokens, for any of its heads."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from jaxtyping import Bool, Float

from pages.ui.compat import no_callback
from pages.ui.component import mounted, packed
from pages.ui.text import text
from transformer.figures.theme import HEAD_COLORS

# Marks a masked pair in the data that is sent; weights are never negative.
MASKED = np.float32(-1)
THRESHOLD = 0.05  # at first, smaller weights have no line


class LinesState(NamedTuple):
    """The choices of a visitor in the picture that draws attention weights as lines.

    Attributes:
        locked: `query` or `key`, and the position of each token that was clicked to draw only its lines: queries first.
        heads: the heads whose lines are drawn, counted from 0, ascending.
        threshold: weights below it have no line.
    """

    locked: tuple[tuple[str, int], ...]
    heads: tuple[int, ...]
    threshold: float


_mount = mounted(Path(__file__).with_suffix(""))


def lines(
    weights: Float[np.ndarray, "head query key"],
    allowed: Bool[np.ndarray, "head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    key: str,
    heads: Sequence[int] | None = None,
    locked: Sequence[tuple[str, int]] = (),
    threshold: float = THRESHOLD,
    on_change: Callable[[], None] | None = None,
    head: int | None = None,
) -> LinesState:
    """Draw the heads of one layer as lines from queries (left) to keys (right); returns the visitor's choices.

    A click on a token locks it: only the lines of locked tokens stay drawn. A lock belongs to a position, so it stays when the
    tokens change. Hovering needs no rerun; a lock, a switched head or a released threshold slider starts a rerun. `heads`,
    `locked` and `threshold` are initial values; as with any widget, the visitor's choice replaces them until `key` changes.

    Args:
        weights: from 0 to 1.
        allowed: True if the query may attend to the key. A masked pair never has a line.
        queries, keys: the tokens, shown as plain text.
        heads: the heads that are on, counted from 0; None for all.
        locked: pairs of "query" or "key" and a position, e.g. `("query", 3)`.
        threshold: weights below it have no line.
        on_change: called before the rerun that a change starts. In this callback, `heads_on` returns the heads that are on
            after the change.
        head: the head picked elsewhere on the page. When it changes, the new head is switched on, and if only the former head
            was on, the former head is switched off.

    Raises:
        ValueError: the shapes of the arrays differ, or do not match the tokens.
    """
    shape = (len(weights), len(queries), len(keys))
    if not weights.shape == allowed.shape == shape:
        raise ValueError(f"weights {weights.shape} and allowed {allowed.shape} must both be [head, query, key] = {shape}")
    start = {"locked": locked, "heads": heads, "threshold": threshold}
    sent = st.session_state.get(key) or {}
    state = state_of(sent.get("view") or start, shape, threshold)
    result = _mount(
        key=key,
        data={"weights": packed(signed(weights, allowed)), **lines_data(shape, queries, keys, state, head)},
        on_view_change=on_change or no_callback,
    )
    return state_of(result.get("view") or start, shape, threshold)


def lines_data(
    shape: Sequence[int], queries: Sequence[str], keys: Sequence[str], state: LinesState, head: int | None
) -> dict[str, Any]:
    """The data for `lines.js` except the weights: tokens, colours, words and the initial `state`. `shape` is that of the
    weights, [head, query, key]; `queries` and `keys` are the tokens; `head` is the picked head, from 0, or None."""
    return {
        "shape": [int(size) for size in shape],
        "queries": [str(token) for token in queries],
        "keys": [str(token) for token in keys],
        "colors": {scheme: list(colors) for scheme, colors in HEAD_COLORS.items()},
        "head": head,
        "start": state._asdict(),
        "text": text("lines"),
    }


def heads_on(key: str, count: int) -> tuple[int, ...]:
    """The heads, counted from 0, that are on in the `lines` widget with this key, out of `count` heads. Call it in its
    `on_change`."""
    return state_of((st.session_state.get(key) or {}).get("view"), (count, 0, 0), 0).heads


def signed(weights: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The weights in single precision, as they are sent to the browser: −1 for a masked pair, 0 for NaN or infinity."""
    return np.where(allowed, np.nan_to_num(weights, posinf=0, neginf=0), MASKED).astype(np.float32)


def state_of(view: Any, shape: tuple[int, int, int], threshold: float) -> LinesState:
    """The state in `view`, data from the browser or from a URL. They are untrusted: tokens and heads outside of `shape` (the
    numbers of heads, queries and keys) are dropped, and an invalid threshold is replaced by `threshold`."""
    view = view if isinstance(view, dict) else {}
    count = dict(zip(("head", "query", "key"), shape, strict=True))
    pairs = [tuple(pair) for pair in _listed(view.get("locked")) if isinstance(pair, (list, tuple)) and len(pair) == 2]
    locked = [
        (side, position)
        for side in ("query", "key")
        for position in _positions([position for name, position in pairs if name == side], count[side])
    ]
    named = _listed(view.get("heads"))
    heads = _positions(named, count["head"])
    # All heads are on if the state has no list of heads, or if the model has none of the listed heads.
    if not heads and (view.get("heads") is None or named):
        heads = tuple(range(count["head"]))
    above = view.get("threshold")
    above = float(above) if isinstance(above, (int, float)) and 0 <= above <= 1 else threshold
    return LinesState(tuple(locked), heads, above)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _positions(values: Sequence[Any], count: int) -> tuple[int, ...]:
    positions = {int(value) for value in values if isinstance(value, (int, np.integer)) and not isinstance(value, bool)}
    return tuple(sorted(value for value in positions if 0 <= value < count))
