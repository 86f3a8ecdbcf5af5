"""A tree with lines that fold and can be picked, such as a call tree or the list of all tensors."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from pages.ui.component import mounted
from pages.ui.text import text


class Line(NamedTuple):
    """One line of a tree.

    Attributes:
        id: unique id, returned when the line is picked.
        level: depth, from 0. The lines below a line are those that follow it until a line of the same or smaller depth.
        name: the name, in bold.
        kind: class or function, as code after the name.
        detail: arguments and results, as code after the kind.
        note: a count or a size, at the end of the line.
    """

    id: str
    level: int
    name: str
    kind: str
    detail: str
    note: str


# Levels that are open at first; the lowest of them has the parts of a layer.
OPEN = 4

_mount = mounted(Path(__file__).with_suffix(""))


def tree(
    lines: Sequence[Line],
    selected: str,
    says: str,
    key: str,
    on_pick: Callable[[], None],
    open_levels: int = OPEN,
    only_leaves: bool = False,
) -> None:
    """Draw the lines. Picking a line calls `on_pick` and then reruns the page (see `component.picked`).

    At first, the upper levels and the path to the selected line are open. Lines that a person has folded stay folded. The arrow
    keys move, open and close as in any tree; Enter picks.

    Args:
        lines: the lines from the root on, each before the lines below it. Shown as text, never as markup.
        selected: id of the picked line.
        says: a name of the tree for screen readers.
        on_pick: called when a person picks a line.
        open_levels: how many levels are open at first.
        only_leaves: whether a line with lines below it only folds and cannot be picked. A line that was opened to show the
            selected line is then closed again when another line is selected.
    """
    data = {
        "lines": [list(line) for line in lines],
        "selected": selected,
        "says": says,
        "open": open_levels,
        "leaves": only_leaves,
        "text": dict(text("calls")["tree"]),
    }
    _mount(key=key, data=data, on_pick_change=on_pick)
