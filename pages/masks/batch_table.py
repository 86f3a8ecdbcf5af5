"""A batch as a table: one row for each text, padded to the length of the longest."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool
from markupsafe import Markup

from pages.ui.style import style
from transformer.figures.theme import MASKED

STYLE = style(Path(__file__).parent / "batch_table.css")


def batch_table(
    rows: Sequence[Sequence[str]],
    real: Bool[np.ndarray, "item position"],
    names: Sequence[str],
    corner: str,
    color: str,
    picked: int | None = None,
) -> Markup:
    """An HTML table: one row for each text, one column for each position; padding is hatched.

    Args:
        real: False for padding.
        names: the name of each text, at the start of its row; `corner` is the label above them.
        color: colour of the tokens that are not padding.
        picked: the text whose name is bold, counted from 0.
    """
    nothing = Markup("")
    head = nothing.join(Markup('<th scope="col">{}</th>').format(position) for position in range(real.shape[1]))
    body = []
    for item, (row, name) in enumerate(zip(rows, names, strict=True)):
        label = Markup("<b>{}</b>").format(name) if item == picked else name
        cells = nothing.join(
            Markup('<td class="{}">{}</td>').format("real" if real[item, position] else "hidden", token)
            for position, token in enumerate(row)
        )
        body.append(Markup('<tr><th scope="row">{}</th>{}</tr>').format(label, cells))
    return Markup(
        '{style}<div class="batch-rows" tabindex="0" style="--real: {color}; --masked: {masked}">'
        '<table><tr><th scope="col">{corner}</th>{head}</tr>{body}</table></div>'
    ).format(style=STYLE, color=color, masked=MASKED, corner=corner, head=head, body=nothing.join(body))
