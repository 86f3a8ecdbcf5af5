"""A tree that folds, each of whose lines can be picked: who calls whom."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from pages.ui.component import mounted
from pages.ui.text import text


class Line(NamedTuple):
    """One line of a tree.

    Attributes:
        id: by which it is picked; no two lines have the same.
        level: how deep it lies, from 0. The lines below it are those that follow and lie deeper.
        name: written strongest.
        kind: after it, as code: a class or a function.
        detail: what belongs to that, as code: arguments, and what comes out.
        note: at the end of the line: how many, how much.
    """

    id: str
    level: int
    name: str
    kind: str
    detail: str
    note: str


_mount = mounted(Path(__file__).with_suffix(""))


def tree(lines: Sequence[Line], selected: str, says: str, key: str, on_pick: Callable[[], None]) -> None:
    """Draw the lines; `on_pick` is called before the rerun that picking one starts (see `picked`).

    At first the upper levels are open, and the way to the line that is selected; what a person folds stays folded. The arrow
    keys move, open and close as in any tree; Enter picks.

    Args:
        lines: from the root on, each before those below it. Shown as they are, never as markup.
        selected: id of the line that is picked.
        says: what the tree is, for those who do not see it.
        key: of the widget.
        on_pick: a callback.
    """
    data = {"lines": [list(line) for line in lines], "selected": selected, "says": says, "text": dict(text("calls")["tree"])}
    _mount(key=key, data=data, on_pick_change=on_pick)


def picked(key: str, ids: Sequence[str]) -> str | None:
    """The id that was just picked, if it is one of `ids`: a browser is not to be trusted."""
    sent = st.session_state.get(key)
    line_id = sent.get("pick") if isinstance(sent, Mapping) else None
    return line_id if isinstance(line_id, str) and line_id in ids else None
