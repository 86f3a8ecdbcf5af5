"""Helpers that read how a page explains a clicked number (`pages.shell.view.explained_chart`)."""

import re
from typing import NamedTuple

import numpy as np
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from pages.ui.text import text
from tests.pages.apps import charts, on_page, shown


class Explained(NamedTuple):
    """An explained cell.

    Attributes:
        app: the app, with the explanation open.
        says: the sentences of the explanation, without escapes and without the line that says how to close it.
        formula: its formulas, as LaTeX.
        drawn: the number in the cell, or at the point of a line or a bar, as it is drawn. NaN if the chart has no such cell, as
            for a number that shares a cell with others.
    """

    app: AppTest
    says: str
    formula: str
    drawn: float

    @property
    def result(self) -> float:
        """The result of the formula."""
        (*_, (number, power)) = re.findall(
            r"= (-?[\d.]+)(?: \\cdot 10\^\{(-?\d+)\})?(?:\s|\\|$)", self.formula.replace("{,}", "")
        )
        return float(number) * 10.0 ** int(power or 0)


def explained(page: str, cell: str, **query: str) -> Explained:
    """Open a page with an explained cell, as in its address. If the cell can be clicked, the page keeps it there."""
    return explanation(on_page(page, cell=cell, **query), cell)


def explanation(app: AppTest, cell: str) -> Explained:
    """The explanation of a cell that is open in an app."""
    assert not app.exception
    assert "".join(app.query_params.get("cell", "")) == cell
    key, trace, row, column = cell.rsplit(".", 3)
    (drawn,) = (each for each in charts(app) if each.key == key)
    (card,) = _cards(app.main, f"card-explained-{key}")
    traced = drawn.spec["data"][int(trace)]
    # Lines and bars have no rows; bars can lie on their side.
    values = traced["z"][int(row)] if "z" in traced else traced["x" if traced.get("orientation") == "h" else "y"]
    value = values[int(column)] if int(column) < len(values) else None
    formulas = "\n".join(each.value.strip("$\n") for each in card.latex)
    *captions, close = (line.value for line in card.caption)
    assert close == text("common")["explain_close"]
    says = "\n".join(map(shown, (*(line.value for line in card.markdown), *captions)))
    return Explained(app, says, formulas, np.nan if value is None else float(value))


def _cards(block: Block, key: str) -> list[Block]:
    """The containers with this key."""
    blocks = [child for child in block.children.values() if isinstance(child, Block)]
    inside = [card for child in blocks for card in _cards(child, key)]
    return inside or [child for child in blocks if getattr(child.proto, "id", "").endswith(f"-{key}")]
