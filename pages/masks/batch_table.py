"""A batch as the model holds it: every text in a row of its own, filled up with padding to one length."""

import html
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pages.ui.style import style
from transformer.figures.theme import MASKED

STYLE = style(Path(__file__).parent / "batch_table.css")


def batch_table(
    rows: Sequence[Sequence[str]], real: np.ndarray, names: Sequence[str], corner: str, color: str, picked: int | None = None
) -> str:
    """A table in HTML: a row for each text, a column for each position; padding is hatched.

    Args:
        rows: the tokens of each text, padding included.
        real: [item, position]; False for padding.
        names: what each text is called.
        corner: what the columns count.
        color: of what is real.
        picked: the text that is looked at, whose name is bold; counted from 0.
    """
    head = "".join(f'<th scope="col">{position}</th>' for position in range(real.shape[1]))
    body = []
    for item, (row, name) in enumerate(zip(rows, names, strict=True)):
        called = f"<b>{html.escape(name)}</b>" if item == picked else html.escape(name)
        cells = "".join(
            f'<td class="{"real" if real[item, position] else "hidden"}">{html.escape(token)}</td>'
            for position, token in enumerate(row)
        )
        body.append(f'<tr><th scope="row">{called}</th>{cells}</tr>')
    table = f'<table><tr><th scope="col">{html.escape(corner)}</th>{head}</tr>{"".join(body)}</table>'
    colors = f"--real: {color}; --masked: {MASKED}"
    return f'{STYLE}<div class="batch-rows" tabindex="0" style="{colors}">{table}</div>'
