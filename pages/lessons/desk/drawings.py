"""Small drawings for paper, as HTML tables: black on white. A greater value is darker, because a printer may have no
colours."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float
from markupsafe import Markup

from pages.ui.format import fixed

LEVELS = 10  # number of levels of darkness
MOST_TOKENS, MOST_LETTERS = 24, 14


def cells(
    values: Float[np.ndarray, "row column"],
    allowed: Bool[np.ndarray, "row column"],
    rows: Sequence[str],
    columns: Sequence[str],
    alt: str,
    empty: Collection[int] = (),
) -> Markup:
    """An HTML table of `values` from 0 to 1. A greater value is darker, and a cell that is not allowed is crossed out. `rows`
    and `columns` are the labels, `alt` is the text for screen readers. Only the first `MOST_TOKENS` rows and columns are drawn.
    The rows with the indices `empty` are left empty, to be filled in by hand."""

    def cell(row: int, column: int) -> Markup:
        level = 0 if row in empty else round(float(values[row, column]) * LEVELS)
        if not allowed[row, column]:
            return Markup('<td class="crossed"></td>')
        return Markup('<td style="--dark: {}%"></td>').format(100 * level // LEVELS) if level else Markup("<td></td>")

    rows, columns = rows[:MOST_TOKENS], columns[:MOST_TOKENS]
    lines = [Markup("<td></td>"), *(Markup("<th><span>{}</span></th>").format(_short(name)) for name in columns)]
    table = [_row(lines, "columns")]
    for row, name in enumerate(rows):
        line = [Markup("<th>{}</th>").format(_short(name)), *(cell(row, column) for column in range(len(columns)))]
        table.append(_row(line, "empty" if row in empty else ""))
    return _table(table, alt)


def texts(rows: Sequence[Sequence[str]], real: Bool[np.ndarray, "row column"], alt: str) -> Markup:
    """An HTML table of texts of equal length, one below the other, with a cell for each token. `real` is False for padding,
    which is crossed out."""
    cell = Markup('<td class="{}">{}</td>')
    lines = (
        [cell.format("" if is_real else "crossed", _short(token)) for token, is_real in zip(row, line, strict=True)]
        for row, line in zip(rows, real, strict=True)
    )
    return _table(map(_row, lines), alt)


def bars(shares: Mapping[str, float], alt: str, empty: bool = False) -> Markup:
    """An HTML table with a bar for each token, whose length is the token's share, from 0 to 1. If `empty`, tokens and bars are
    left out, to be filled in by hand."""
    line = Markup('<th>{}</th><td class="share"><span style="width: {:.0f}%"></span></td><th>{}</th>')
    drawn = [("", 0.0, "") if empty else (_short(token), 100 * value, fixed(value, 2)) for token, value in shares.items()]
    return _table((_row([line.format(*each)]) for each in drawn), alt)


def _row(parts: Iterable[Markup], name: str = "") -> Markup:
    return Markup('<tr class="{}">{}</tr>').format(name, Markup("").join(parts))


def _table(rows: Iterable[Markup], alt: str) -> Markup:
    return Markup('<table class="drawing" role="img" aria-label="{}">{}</table>').format(alt, Markup("").join(rows))


def _short(token: str) -> str:
    return token if len(token) <= MOST_LETTERS else f"{token[: MOST_LETTERS - 1]}…"
