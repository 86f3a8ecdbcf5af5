"""A batch as the model holds it: every text in a row of its own, filled up with padding to one length."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup

from pages.ui.style import style
from transformer.figures.theme import MASKED

STYLE = style(Path(__file__).parent / "batch_table.css")


def batch_table(
    rows: Sequence[Sequence[str]], real: np.ndarray, names: Sequence[str], corner: str, color: str, picked: int | None = None
) -> Markup:
    """A table in HTML: a row for each text, a column for each position; padding is hatched.

    Args:
        rows: the tokens of each text, padding included.
        real: [item, position]; False for padding.
        names: what each text is called.
        corner: what the columns count.
        color: of what is real.
        picked: the text that is looked at, whose name is bold; counted from 0.
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
