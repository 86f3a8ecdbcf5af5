"""Attention as lines between two columns of tokens, to be pointed at: one layer, any of its heads."""

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

# What stands for a pair that may not attend: no weight is negative.
MASKED = np.float32(-1)

Locked = tuple[tuple[str, int], ...]


class LinesState(NamedTuple):
    """What a person left switched on.

    Attributes:
        locked_queries, locked_keys: positions of the tokens that are locked, in rising order.
        heads: the heads whose lines are drawn, in rising order.
        threshold: weights below it have no line.
    """

    locked_queries: tuple[int, ...]
    locked_keys: tuple[int, ...]
    heads: tuple[int, ...]
    threshold: float

    @property
    def locked(self) -> Locked:
        """The locked tokens as `lines` takes them."""
        return (*(("query", index) for index in self.locked_queries), *(("key", index) for index in self.locked_keys))


_mount = mounted(Path(__file__).with_suffix(""))


def lines(
    weights: Float[np.ndarray, "head query key"],
    allowed: Bool[np.ndarray, "head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    key: str,
    heads: Sequence[int] | None = None,
    locked: Sequence[tuple[str, int]] = (),
    threshold: float = 0.05,
    on_change: Callable[[], None] | None = None,
    head: int | None = None,
) -> LinesState:
    """Draw the heads of one layer as lines from queries, on the left, to keys, on the right.

    Pointing at a token happens in the browser alone. A rerun comes of locking a token, switching a head, or letting go of
    the threshold. `heads`, `locked` and `threshold` are where a person starts; as with any widget, once the person has
    changed something their choice stands, until `key` changes. Locks are positions: they outlive a change of the tokens.

    Args:
        weights: [head, query, key] from 0 to 1.
        allowed: [head, query, key], True = may attend. A pair that may not never has a line.
        queries: [query] tokens, shown as they are.
        keys: [key] tokens.
        key: of the widget.
        heads: those that are on, counted from 0; None for all.
        locked: pairs of "query" or "key" and a position, e.g. `("query", 3)`.
        threshold: weights below it have no line.
        on_change: called before the rerun that a person's choice starts; `heads_on` says which heads are on by then.
        head: one that is picked elsewhere. When it becomes another, that goes on: instead of the one before if that was alone,
            or beside those that are on.

    Raises:
        ValueError: the arrays are not of one shape, or do not fit the tokens.
    """
    shape = (len(weights), len(queries), len(keys))
    if not weights.shape == allowed.shape == shape:
        raise ValueError(f"weights {weights.shape} and allowed {allowed.shape} must both be [head, query, key] = {shape}")
    start = {"locked": list(locked), "heads": None if heads is None else list(heads), "threshold": threshold}
    sent = st.session_state.get(key) or {}
    state = _state(sent.get("view") or start, shape, threshold)
    result = _mount(
        key=key,
        data={
            "weights": _signed(weights, allowed),
            "shape": list(shape),
            "queries": [str(token) for token in queries],
            "keys": [str(token) for token in keys],
            "colors": {scheme: list(colors) for scheme, colors in HEAD_COLORS.items()},
            "head": head,
            "start": {"locked": state.locked, "heads": state.heads, "threshold": state.threshold},
            "text": text("lines"),
        },
        on_view_change=on_change or no_callback,
    )
    return _state(result.get("view") or start, shape, threshold)


def heads_on(key: str, count: int) -> tuple[int, ...]:
    """The heads, of so many, that the person before these lines has left on; for its `on_change`."""
    return _state((st.session_state.get(key) or {}).get("view"), (count, 0, 0), 0).heads


def _signed(weights: np.ndarray, allowed: np.ndarray) -> str:
    """Weights in single precision, with a sign where a pair is masked."""
    return packed(np.where(allowed, np.nan_to_num(weights, posinf=0, neginf=0), MASKED).astype(np.float32))


def _state(view: Any, shape: tuple[int, int, int], threshold: float) -> LinesState:
    """The state that the browser or a link sent, without tokens and heads that do not exist: neither is to be trusted."""
    view = view if isinstance(view, dict) else {}
    count = dict(zip(("head", "query", "key"), shape, strict=True))
    pairs = [tuple(pair) for pair in _listed(view.get("locked")) if isinstance(pair, (list, tuple)) and len(pair) == 2]
    locked = {side: _positions([at for name, at in pairs if name == side], count[side]) for side in ("query", "key")}
    named = _listed(view.get("heads"))
    heads = _positions(named, count["head"])
    # All heads where none was named, and where a model with fewer heads has none of those that were.
    if not heads and (view.get("heads") is None or named):
        heads = tuple(range(count["head"]))
    above = view.get("threshold")
    above = float(above) if isinstance(above, (int, float)) and 0 <= above <= 1 else threshold
    return LinesState(locked["query"], locked["key"], heads, above)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _positions(values: Sequence[Any], count: int) -> tuple[int, ...]:
    positions = {int(value) for value in values if isinstance(value, (int, np.integer)) and not isinstance(value, bool)}
    return tuple(sorted(value for value in positions if 0 <= value < count))
