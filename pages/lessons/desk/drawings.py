"""Small drawings for paper, as SVG images: black on white, without empty space around them.

A greater value is darker, because a printer may have no colours.
"""

import base64
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float
from markupsafe import Markup

from pages.ui.format import fixed

# px: the side of a cell, the height of a line of text, the width of a letter (monospace), and the margin.
CELL, LINE, LETTER, AIR = 20, 16, 7.3, 4
LEVELS = 10  # number of levels of darkness
MOST_TOKENS, MOST_LETTERS = 24, 14
BAR = 160  # px of a bar for a probability of 1


def drawing(width: float, height: float, alt: str, body: Markup, scale: float = 1.0) -> Markup:
    """An SVG drawing as an HTML image. Streamlit removes SVG elements from the HTML of a page, but not images.

    Args:
        width, height: the size of the drawing in px.
        alt: the drawing in words, for people who cannot see it.
        body: the elements of the SVG.
        scale: the image is shown `scale` times as large as the drawing.
    """
    svg = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        'viewBox="0 0 {width:.0f} {height:.0f}" color="black" font-family="monospace" font-size="12">{body}</svg>'
    ).format(width=width, height=height, body=body)
    source = base64.b64encode(svg.encode()).decode("ascii")
    return Markup('<img class="drawing" alt="{}" width="{:.0f}" height="{:.0f}" src="data:image/svg+xml;base64,{}">').format(
        alt, scale * width, scale * height, source
    )


def cells(
    values: Float[np.ndarray, "row column"],
    allowed: Bool[np.ndarray, "row column"],
    rows: Sequence[str],
    columns: Sequence[str],
    alt: str,
    empty: int | None = None,
    scale: float = 1.0,
) -> Markup:
    """A table of cells. A cell with a greater value is darker, and a cell that is not allowed is crossed out.

    Args:
        values: the value of each cell, from 0 to 1.
        allowed: False in the cells that are crossed out.
        rows, columns: the names of the rows and columns. Only the first `MOST_TOKENS` are drawn.
        alt: the drawing in words.
        empty: a row whose cells are left empty, to be filled in by hand; None for no such row.
        scale: the image is shown `scale` times as large as the drawing.
    """
    rows, columns = _cut(rows), _cut(columns)
    left = AIR + round(LETTER * max(map(len, rows)))
    top = AIR + round(LETTER * max(map(len, columns)))
    levels: dict[int, list[str]] = {}
    crossed: list[str] = []
    for row in range(len(rows)):
        for column in range(len(columns)):
            corner = f"M{left + column * CELL} {top + row * CELL}"
            if not allowed[row, column]:
                crossed.append(f"{corner}l{CELL} {CELL}")
            elif row != empty and (level := round(float(values[row, column]) * LEVELS)):
                levels.setdefault(level, []).append(f"{corner}h{CELL}v{CELL}h-{CELL}z")
    width, height = left + CELL * len(columns), top + CELL * len(rows)
    frame = "".join(f"M{left} {top + row * CELL}H{width}" for row in range(len(rows) + 1))
    frame += "".join(f"M{left + column * CELL} {top}V{height}" for column in range(len(columns) + 1))
    parts = [
        Markup('<path d="{}" fill="currentColor" fill-opacity="{}"/>').format("".join(paths), level / LEVELS)
        for level, paths in sorted(levels.items())
    ]
    parts.append(_lines("".join(crossed), 0.5))
    parts.append(_lines(frame, 0.3))
    if empty is not None and empty < len(rows):
        outline = f"M{left} {top + empty * CELL}H{width}v{CELL}H{left}z"
        parts.append(Markup('<path d="{}" fill="none" stroke="currentColor" stroke-width="2"/>').format(outline))
    middle = CELL / 2 + 4
    parts += [_word(left - AIR, top + row * CELL + middle, name, "end") for row, name in enumerate(rows)]
    parts += [
        Markup('<text transform="translate({:.0f} {:.0f}) rotate(-90)">{}</text>').format(
            left + column * CELL + middle, top - AIR, name
        )
        for column, name in enumerate(columns)
    ]
    return drawing(width + AIR, height + AIR, alt, Markup("").join(parts), scale)


def texts(rows: Sequence[Sequence[str]], real: Bool[np.ndarray, "row column"], alt: str) -> Markup:
    """Texts of equal length, one below the other, with a box for each token. Padding is crossed out.

    Args:
        rows: the tokens of each text.
        real: False for padding.
        alt: the drawing in words.
    """
    widths = [round(LETTER * max(len(_short(row[column])) for row in rows)) + 2 * AIR for column in range(len(rows[0]))]
    starts = [1 + sum(widths[:column]) for column in range(len(widths))]
    high, parts = LINE + AIR, []
    for line, row in enumerate(rows):
        for start, width, token, is_real in zip(starts, widths, row, real[line], strict=True):
            box = f"M{start} {1 + line * high}h{width}v{high}h-{width}z"
            cross = "" if is_real else f"M{start} {1 + line * high}l{width} {high}"
            parts.append(_lines(box + cross, 0.6))
            parts.append(_word(start + AIR, 1 + line * high + LINE - 2, _short(token)))
    return drawing(sum(widths) + 2, high * len(rows) + 2, alt, Markup("").join(parts))


def bars(shares: Mapping[str, float], alt: str, empty: bool = False) -> Markup:
    """A bar for each token, with a length proportional to its share.

    Args:
        shares: token → share, from 0 to 1.
        alt: the drawing in words.
        empty: whether to draw only empty boxes, so that tokens and bars can be filled in by hand.
    """
    left, parts = AIR + round(LETTER * max(len(_short(token)) for token in shares)), []
    for line, (token, value) in enumerate(shares.items()):
        top = line * (LINE + AIR)
        parts.append(_lines(f"M{left} {top + 1}h{BAR}v{LINE}h-{BAR}z", 0.5))
        if empty:
            continue
        parts.append(_word(left - AIR, top + LINE - 3, _short(token), "end"))
        bar = Markup('<path d="M{:.0f} {}h{:.1f}v{}h-{:.1f}z" fill="currentColor" fill-opacity="0.7"/>')
        parts.append(bar.format(left, top + 1, BAR * value, LINE, BAR * value))
        parts.append(_word(left + BAR + AIR, top + LINE - 3, fixed(value, 2)))
    return drawing(left + BAR + 5 * LETTER, len(shares) * (LINE + AIR), alt, Markup("").join(parts))


def two_halves(source: Sequence[str], target: Sequence[str], names: tuple[str, str, str], alt: str) -> Markup:
    """The path of a text through the model: the tokens that the encoder reads, the encoder, the decoder, and the tokens that
    the decoder writes.

    Args:
        source, target: the tokens that the encoder reads, and the tokens that the decoder writes.
        names: the labels of the encoder, of the arrow to the decoder, and of the decoder.
        alt: the drawing in words.
    """
    read, wrote = (" ".join(_cut(tokens)) for tokens in (source, target))
    wide = [max(round(LETTER * len(words)), 110) for words in (read, wrote)]
    gap = round(LETTER * len(names[1])) + 8 * AIR
    width, high = wide[0] + gap + wide[1] + 4 * AIR, 2 * LINE
    first, second = AIR, AIR + wide[0] + 2 * AIR + gap
    top = LINE + 4 * AIR
    box = "M{:.0f} {}h{:.0f}v{}h-{:.0f}z"
    arrow = "M{x:.0f} {y}v12m-4 -5l4 5l4 -5"
    right, half = first + wide[0] + AIR, top + high // 2
    paths = [
        box.format(first, top, wide[0], high, wide[0]),
        box.format(second, top, wide[1], high, wide[1]),
        f"M{right} {half}H{second - AIR}m-5 -4l5 4l-5 4",
        arrow.format(x=first + wide[0] / 2, y=top - 14),
        arrow.format(x=second + wide[1] / 2, y=top + high + 2),
    ]
    parts = [
        _lines("".join(paths), 0.8),
        _word(first + wide[0] / 2, LINE - 2, read, "middle"),
        _word(first + wide[0] / 2, half + 4, names[0], "middle"),
        _word((right + second - AIR) / 2, half - AIR, names[1], "middle"),
        _word(second + wide[1] / 2, half + 4, names[2], "middle"),
        _word(second + wide[1] / 2, top + high + LINE + 3 * AIR, wrote, "middle"),
    ]
    return drawing(width, top + high + LINE + 4 * AIR, alt, Markup("").join(parts))


def _cut(tokens: Sequence[str]) -> list[str]:
    return [_short(token) for token in tokens[:MOST_TOKENS]]


def _short(token: str) -> str:
    return token if len(token) <= MOST_LETTERS else f"{token[: MOST_LETTERS - 1]}…"


def _lines(path: str, opacity: float) -> Markup:
    return Markup('<path d="{}" fill="none" stroke="currentColor" stroke-opacity="{}"/>').format(path, opacity)


def _word(x: float, y: float, word: str, anchor: str = "start") -> Markup:
    return Markup('<text x="{:.0f}" y="{:.0f}" text-anchor="{}">{}</text>').format(x, y, anchor, word)
