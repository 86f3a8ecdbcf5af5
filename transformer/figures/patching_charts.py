"""Charts of activation patching: which heads are needed or enough, runs side by side, and estimates beside exact effects."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.labels import LABELS
from transformer.figures.theme import HUES, KIND_COLORS, LEGEND_ABOVE, LINE, built, escaped, numbered

DOTS = {"encoder": "circle", "decoder": "diamond", "cross": "square"}
NEAR = (-0.15, 1.15)  # the range of shares that a figure of dots always shows
WORD_SIZE = 13
FRAME = 20  # px: size of the frame of the picked dot
SHADOW = {"shadow": "auto"}  # Plotly draws it in the colour that contrasts with the letters
# Size of a written name, as shares of the range of the axes: the width of a letter, the height, and the distance to its dot.
LETTER, HEIGHT, AWAY = 0.012, 0.045, 0.03
# Where a name can be, and the direction from its dot to the middle of the name.
PLACES = {"bottom center": (0, -1), "top center": (0, 1), "middle right": (1, 0), "middle left": (-1, 0)}
RUN_COLORS = (LINE, KIND_COLORS["decoder"], KIND_COLORS["encoder"])  # of A, of B, and of the patched run


class Dot(NamedTuple):
    """One head as a dot of `need_map`.

    Attributes:
        kind: its kind of attention: `encoder`, `decoder` or `cross`.
        name: its name: `cross L1 H2`.
        lost, restored: the share of the difference between two runs that is lost without the head, and that it alone restores.
        lost_range, restored_range: (lower end, upper end) of an interval around each share; None without intervals.
        written: whether its name is written beside the dot.
    """

    kind: str
    name: str
    lost: float
    restored: float
    lost_range: tuple[float, float] | None = None
    restored_range: tuple[float, float] | None = None
    written: bool = False


def need_map(
    dots: Sequence[Dot],
    titles: Mapping[str, str],
    words: Mapping[str, str],
    half: float,
    axes: tuple[str, str],
    picked: int | None = None,
) -> go.Figure:
    """A dot for each head: farther to the right if the answer loses more without the head, higher if the head alone restores
    more. The picked dot is above the others and has a frame, and each written name is where it covers the fewest dots and
    names. Names and words have a shadow, so that the lines below do not strike them out.

    Args:
        dots: the heads.
        titles: kind of attention → its name in the legend.
        words: `alone`, `backup`, `partner`, `bystander` → the words in the corner of each quarter.
        half: the share from which a head is needed, or enough. Two dotted lines at this share separate the quarters.
        axes: the titles of the horizontal axis (lost) and of the vertical axis (restored).
        picked: the index of the framed dot; None for no frame.
    """
    low = min([NEAR[0], *(min(dot.lost, dot.restored) for dot in dots)]) - 0.05
    high = max([NEAR[1], *(max(dot.lost, dot.restored) for dot in dots)]) + 0.1
    places, traces = _places(dots, high - low), []
    for rank, kind in enumerate(dict.fromkeys(dot.kind for dot in dots), 1):
        # The dot that is drawn last is above the others.
        of_kind = sorted(
            ((index, dot) for index, dot in enumerate(dots) if dot.kind == kind), key=lambda each: each[0] == picked
        )
        trace = _dots(of_kind, titles[kind], axes, picked)
        trace |= {"textposition": [places[index] for index, _ in of_kind], "legendrank": rank, "legendgroup": kind}
        traces.append(trace)
    if picked is not None:
        traces.sort(key=lambda trace: trace["legendgroup"] == dots[picked].kind)
        traces += _frame(dots[picked], places[picked])
    line: dict[str, Any] = {"type": "line", "line": {"color": LINE, "width": 1, "dash": "dot"}, "layer": "below"}
    lines = [dict(line), dict(line)]
    lines[0] |= {"x0": half, "x1": half, "y0": low, "y1": high}
    lines[1] |= {"x0": low, "x1": high, "y0": half, "y1": half}
    corners = {"backup": (low, high), "alone": (high, high), "bystander": (low, half), "partner": (high, half)}
    notes = [
        {
            "text": f"<b>{escaped(words[name])}</b>",
            "x": x,
            "y": y,
            "xanchor": "left" if x == low else "right",
            "yanchor": "top",
            "showarrow": False,
            "align": "left" if x == low else "right",
            "font": {"size": WORD_SIZE, **SHADOW},
        }
        for name, (x, y) in corners.items()
    ]
    axis = {"range": [low, high], "zeroline": True, "zerolinecolor": LINE, "tickformat": ".0%"}
    layout = {
        "xaxis": axis | {"title": {"text": axes[0]}},
        "yaxis": axis | {"title": {"text": axes[1]}},
        "shapes": lines,
        "annotations": notes,
        "meta": {"least_width": 340, "axes": {"x": "lost", "y": "restored"}},
    }
    return built(traces, layout, 470, **LEGEND_ABOVE)


def _dots(dots: Sequence[tuple[int, Dot]], title: str, axes: tuple[str, str], picked: int | None) -> dict[str, Any]:
    """The trace of the dots of one kind of attention, with their intervals if all dots have them."""
    kind = dots[0][1].kind
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers+text",
        "name": escaped(title),
        "x": [dot.lost for _, dot in dots],
        "y": [dot.restored for _, dot in dots],
        "text": [escaped(dot.name) if dot.written and index != picked else "" for index, dot in dots],
        "textfont": SHADOW,
        "customdata": [[index, escaped(dot.name)] for index, dot in dots],
        "marker": {
            "color": KIND_COLORS.get(kind, HUES[0]),
            "symbol": DOTS.get(kind, "circle"),
            "size": [17 if index == picked else 11 for index, _ in dots],
            "opacity": [1 if index == picked else 0.7 for index, _ in dots],
            "line": {"color": LINE, "width": 1},
        },
        "hovertemplate": f"<b>%{{customdata[1]}}</b><br>{escaped(axes[0])}: %{{x:.1%}}<br>{escaped(axes[1])}: %{{y:.1%}}"
        "<extra></extra>",
    }
    for name, at, ranges in (("error_x", "lost", "lost_range"), ("error_y", "restored", "restored_range")):
        if all(getattr(dot, ranges) for _, dot in dots):
            middle = [(getattr(dot, at), *getattr(dot, ranges)) for _, dot in dots]
            trace[name] = {
                "type": "data",
                "symmetric": False,
                "array": [high - mean for mean, _, high in middle],
                "arrayminus": [mean - low for mean, low, _ in middle],
                "thickness": 1.2,
                "width": 3,
            }
    return trace


def _frame(dot: Dot, place: str) -> list[dict[str, Any]]:
    """The frame of the picked dot: a black line on a wider white line, visible on every colour. Its name, if it is written, is
    at `place`, outside the frame."""
    frame = {"type": "scatter", "mode": "markers", "x": [dot.lost], "y": [dot.restored], "hoverinfo": "skip"}
    frame |= {"showlegend": False, "legendgroup": dot.kind}
    symbol = f"{DOTS.get(dot.kind, 'circle')}-open"
    lines = (("white", 6), ("black", 3))
    frames = [
        frame | {"marker": {"symbol": symbol, "size": FRAME, "color": color, "line": {"width": width}}}
        for color, width in lines
    ]
    # The distance of a text to its mark grows with the mark, so the name has one of its own, which is not seen.
    named = {"mode": "markers+text", "text": [escaped(dot.name) if dot.written else ""], "textposition": place}
    return [*frames, frame | named | {"textfont": SHADOW, "marker": {"size": FRAME + 8, "opacity": 0}}]


# The middle of a rectangle, and half of its width and of its height, in shares.
_Box = tuple[float, float, float, float]


def _places(dots: Sequence[Dot], span: float) -> list[str]:
    """For each dot, the key of `PLACES` at which its name covers the fewest other dots and names. `span` is the length of the
    axes."""
    names: list[_Box] = []
    places = []
    for dot in dots:
        radius = AWAY * span / 2
        covered = [(other.lost, other.restored, radius, radius) for other in dots if other is not dot] + names
        boxes = {place: _name_box(dot, place, span) for place in PLACES}
        counts = {place: sum(_overlap(box, other) for other in covered) for place, box in boxes.items()}
        best = min(PLACES, key=counts.__getitem__)
        if dot.written:
            names.append(boxes[best])
        places.append(best)
    return places


def _name_box(dot: Dot, place: str, span: float) -> _Box:
    """The box of a dot's name at one of `PLACES`."""
    right, up = PLACES[place]
    width, height, away = len(dot.name) * LETTER * span / 2, HEIGHT * span / 2, AWAY * span
    return dot.lost + right * (width + away), dot.restored + up * (height + away), width, height


def _overlap(one: _Box, other: _Box) -> bool:
    return abs(one[0] - other[0]) < one[2] + other[2] and abs(one[1] - other[1]) < one[3] + other[3]


def run_bars(
    tokens: Sequence[str],
    probabilities: Sequence[Float[np.ndarray, " token"]],
    names: Sequence[str],
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """The probability of some tokens in three runs, as bars side by side.

    Args:
        tokens: the tokens.
        probabilities: for each run, the probability of each token.
        names: the names of the runs: A, B and the patched run.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    bars = [
        {
            "type": "bar",
            "name": escaped(name),
            "x": numbered(tokens),
            "y": np.asarray(values, np.float32),
            "marker": {"color": color},
            "hovertemplate": f"%{{x}}<br>{labels['probability']} %{{y:.4f}}<extra>{escaped(name)}</extra>",
        }
        for name, values, color in zip(names, probabilities, RUN_COLORS, strict=True)
    ]
    layout: dict[str, Any] = {
        "barmode": "group",
        "xaxis": {"tickmode": "array", "tickvals": list(range(len(tokens))), "ticktext": [escaped(token) for token in tokens]},
        "yaxis": {"title": {"text": labels["probability"]}, "range": [0, 1.02]},
        "meta": {"least_width": 80 + 40 * len(tokens)},
    }
    return built(bars, layout, 300, **LEGEND_ABOVE)


def agreement_dots(
    estimated: Float[np.ndarray, " place"], exact: Float[np.ndarray, " place"], names: Sequence[str], axes: tuple[str, str]
) -> go.Figure:
    """A dot for each patched place, such as a head: its effect as estimated, and its exact effect from patching. On the dotted
    line, both are equal.

    Args:
        estimated, exact: the two numbers of each place.
        names: the name of each place.
        axes: the titles of the horizontal axis (exact) and of the vertical axis (estimated).
    """
    ends = [float(min(estimated.min(), exact.min())), float(max(estimated.max(), exact.max()))]
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": ends,
        "y": ends,
        "line": {"color": LINE, "dash": "dot"},
        "hoverinfo": "skip",
    }
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": np.asarray(exact, np.float32),
        "y": np.asarray(estimated, np.float32),
        "customdata": [escaped(name) for name in names],
        "marker": {"color": HUES[0], "size": 8, "opacity": 0.7},
        "hovertemplate": f"<b>%{{customdata}}</b><br>{escaped(axes[0])} %{{x:.3f}}<br>{escaped(axes[1])} %{{y:.3f}}"
        "<extra></extra>",
    }
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": axes[0]}},
        "yaxis": {"title": {"text": axes[1]}},
        "meta": {"least_width": 320},
    }
    return built([line, dots], layout, 400)
