"""Figures of how an answer is generated: distributions, samples, the tree of beam search, logit lens, contributions, losses."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float, Int
from plotly.subplots import make_subplots

from transformer.figures.attention_figures import legible
from transformer.figures.labels import LABELS
from transformer.figures.theme import KIND_COLORS, LINE, MASKED, ROLE_COLORS, WEIGHTS, escaped, finished, numbered

CHOSEN, OTHER, AGAINST = KIND_COLORS["decoder"], KIND_COLORS["encoder"], ROLE_COLORS["key"]
# px: height of a bar and of the space around the bars; width of a panel, of a step of the tree, of a column with a token.
BAR, AROUND, PANEL, STEP, COLUMN = 18, 90, 180, 92, 44
ACROSS, BETWEEN = 4, 70  # panels in a row; px between two rows of panels
TICKS, TITLE = 32, 24  # px below an axis for its ticks, and for its title
# px of the logit lens: height of a row and of its colour bar; width of a letter, of the space around the letters in a cell, and
# of the narrowest cell
LENS_ROW, LENS_COLORS = 24, 54
LETTER, CELL_MARGIN, LEAST_CELL = 5.8, 8, 40
NODE = 26  # vertical px between two nodes of the tree


def percent(share: float) -> str:
    """A share in per cent: 0.123 is `12.3%`. A share that would round to zero is `<0.1%`."""
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def _beside(names: Sequence[str], below: int) -> dict[str, Any]:
    """The layout for horizontal bars with names to their left, and `below` px for ticks and a title. Its margins are fixed. By
    default, Plotly draws a figure first to measure names and ticks, and then again with the margins that they need. Each step
    of an answer redraws several figures, so this saves time."""
    margin = {"l": 14 + round(5.4 * max(map(len, names), default=0)), "b": below}
    return {"margin": margin, "xaxis": {"automargin": False}, "yaxis": {"automargin": False}}


def stage_bars(
    tokens: Sequence[str],
    stages: Float[np.ndarray, "stage token"],
    titles: Sequence[str],
    chosen: int | None,
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """The probabilities of the same tokens at each stage of choosing the next token, such as before and after top-k, as
    horizontal bars. Each stage has a panel; more than four panels are in two rows. A token that was cut off has a grey bar, as
    long as its last one.

    Args:
        tokens: labels of the bars: the most probable tokens and, if wanted, last a name for all other tokens.
        stages: probabilities, 0 to 1; 0 for a token that was cut off.
        titles: titles of the stages.
        chosen: index of the token that was chosen; None if it is not among `tokens`.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    columns = len(titles) if len(titles) <= ACROSS else (len(titles) + 1) // 2
    rows = -(-len(titles) // columns)
    height = AROUND + rows * BAR * len(tokens) + (rows - 1) * BETWEEN
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=[escaped(title) for title in titles],
        shared_yaxes=True,
        vertical_spacing=BETWEEN / height if rows > 1 else None,
    )
    names, before = numbered(tokens), stages[0]
    for place, values in enumerate(stages):
        cut = values == 0
        shown = np.where(cut, before, values).astype(np.float32)
        colors = [MASKED if gone else CHOSEN if index == chosen else OTHER for index, gone in enumerate(cut.tolist())]
        written = [percent(value) if value else labels["cut_off"] for value in values.tolist()]
        figure.add_trace(
            go.Bar(
                x=shown,
                y=names,
                orientation="h",
                marker={"color": colors},
                text=written,
                textposition="outside",
                cliponaxis=False,
                customdata=written,
                hovertemplate="%{y}<br>%{customdata}<extra></extra>",
            ),
            row=1 + place // columns,
            col=1 + place % columns,
        )
        before = np.where(cut, before, values)
    figure.update_xaxes(range=[0, 1.32], tickformat=".0%", tickvals=[0, 0.5, 1], automargin=False)
    ticks = {"tickvals": list(range(len(tokens))), "ticktext": [escaped(token) for token in tokens]}
    figure.update_yaxes(autorange="reversed", automargin=False, **ticks)
    figure = finished(figure, height=height, **_beside(tokens, TICKS))
    return figure.update_layout(bargap=0.25, meta={"least_width": 60 + PANEL * columns})


def draw_bars(
    tokens: Sequence[str],
    probabilities: Float[np.ndarray, " token"],
    shares: Float[np.ndarray, " token"],
    names: tuple[str, str],
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """Two bars for each token, such as its probability and the share of samples in which it was chosen.

    Args:
        tokens: labels of the pairs of bars: the most probable tokens and, if wanted, last a name for all other tokens.
        probabilities, shares: the lengths of the two bars of each token, 0 to 1.
        names: names of the two bars in the legend.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    figure = go.Figure()
    for name, values, color in ((names[0], probabilities, LINE), (names[1], shares, CHOSEN)):
        figure.add_trace(
            go.Bar(
                name=escaped(name),
                x=numbered(tokens),
                y=values.astype(np.float32),
                marker={"color": color},
                hovertemplate=f"%{{x}}<br>%{{y:.1%}}<extra>{escaped(name)}</extra>",
            )
        )
    figure.update_xaxes(tickmode="array", tickvals=list(range(len(tokens))), ticktext=[escaped(token) for token in tokens])
    # With a fixed margin for one line of tokens and for the percentages, Plotly draws the figure once; see `_beside`.
    figure.update_yaxes(title={"text": labels["probability"]}, tickformat=".0%", rangemode="tozero", automargin=False)
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}
    figure = finished(figure, height=300, barmode="group", showlegend=True, legend=legend)
    return figure.update_layout(margin={"t": 60, "l": 68, "b": TICKS})  # the top has space for two lines of legend on a phone


class TreeNode(NamedTuple):
    """A hypothesis of beam search (the tokens of an answer so far) as a node of `beam_tree`.

    Attributes:
        number: number of the hypothesis.
        parent: number of the hypothesis that this one extends by one token; −1 for the start.
        step: the step in which the hypothesis was made, counted from 1; the start is at 0.
        token: its last token as text.
        hover: the lines of its hover text.
        state: `best` (part of the answer), `kept` (until the end), `later` (pruned in a later step), or `pruned` (in its own
            step).
        ended: whether it ends with `<eos>`.
    """

    number: int
    parent: int
    step: int
    token: str
    hover: tuple[str, ...]
    state: str
    ended: bool


STATE_COLORS = {"best": CHOSEN, "kept": OTHER, "later": ROLE_COLORS["value"], "pruned": LINE}


def beam_tree(nodes: Sequence[TreeNode], start: str, names: Mapping[str, str], selected: int | None, axis: str) -> go.Figure:
    """The tree of beam search from left to right, with a column for each step. The best hypothesis of a step is on top.

    Args:
        nodes: the hypotheses; within each step, the best hypothesis comes first.
        start: the token that every answer starts from.
        names: state (`TreeNode.state`) → its name in the legend.
        selected: number of the hypothesis that gets a ring; None for no ring.
        axis: title of the horizontal axis.
    """
    places: dict[int, tuple[int, int]] = {-1: (0, 0)}
    filled: dict[int, int] = {}
    for node in nodes:
        places[node.number] = (node.step, filled.get(node.step, 0))
        filled[node.step] = filled.get(node.step, 0) + 1
    figure = go.Figure()
    for state in reversed(STATE_COLORS):
        xs: list[float | None] = []
        ys: list[float | None] = []
        for node in nodes:
            if node.state == state:
                (x, y), (left, above) = places[node.number], places[node.parent]
                xs += [left, x, None]
                ys += [above, y, None]
        line = {
            "color": STATE_COLORS[state],
            "width": 3 if state == "best" else 1,
            "dash": "dot" if state == "pruned" else "solid",
        }
        # Lines to hypotheses pruned at once are pale, because there are many of them and they cross the tokens.
        opacity = 0.4 if state == "pruned" else 1
        figure.add_trace(go.Scatter(x=xs, y=ys, mode="lines", line=line, opacity=opacity, hoverinfo="skip", showlegend=False))
    for state, color in STATE_COLORS.items():
        group = [node for node in nodes if node.state == state]
        figure.add_trace(
            go.Scatter(
                name=escaped(names[state]),
                x=[places[node.number][0] for node in group],
                y=[places[node.number][1] for node in group],
                mode="markers+text",
                text=[escaped(node.token) for node in group],
                textposition="top center",
                customdata=[node.number for node in group],
                marker={
                    "color": color,
                    "size": 11,
                    "symbol": ["square" if node.ended else "circle" for node in group],
                    "line": {"color": ROLE_COLORS["query"], "width": [4 if node.number == selected else 0 for node in group]},
                },
                hovertext=["<br>".join(escaped(line) for line in node.hover) for node in group],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=[0],
            y=[0],
            mode="markers+text",
            text=[escaped(start)],
            textposition="top center",
            marker={"color": CHOSEN, "size": 11},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    steps, tall = max(filled, default=0), max(filled.values(), default=1)
    figure.update_xaxes(title={"text": axis}, range=[-0.5, steps + 0.6], dtick=1, showgrid=False, zeroline=False)
    figure.update_yaxes(visible=False, range=[tall - 0.4, -1])
    legend = {"orientation": "h", "y": 1.1}
    figure = finished(figure, height=150 + NODE * (tall + 1), showlegend=True, legend=legend, hovermode="closest")
    return figure.update_layout(clickmode="event+select", dragmode=False, meta={"least_width": 60 + STEP * (steps + 1)})


def lens_map(
    top: Sequence[Sequence[str]],
    shares: Float[np.ndarray, "point step"],
    ranks: Int[np.ndarray, "point step"],
    points: Sequence[str],
    written: Sequence[str],
    title: str,
    hover: str,
    turned: bool = False,
) -> go.Figure:
    """The logit lens as a heatmap: the token that the output layer finds most probable at each point of the residual stream and
    each step of the answer. The colour shows which rank the token that was written has at this point.

    Args:
        top: the most probable token at each point and step.
        shares: the probability of that token.
        ranks: the rank of the token that was written, counted from 0: 0 if it is the most probable token.
        points: names of the points, from the start of the residual stream on.
        written: the tokens that were written, one for each step.
        title: title of the colour bar.
        hover: a template for the hover text, with `{token}`, `{share}` and `{rank}`. The rank counts from 1 there.
        turned: whether the steps go down and the points across, for a page on which the steps do not fit beside one another.
    """
    texts = [[escaped(token) for token in row] for row in top]
    hovered = [
        [
            escaped(hover.format(token=token, share=f"{share:.1%}", rank=rank + 1))
            for token, share, rank in zip(*rows, strict=True)
        ]
        for rows in zip(top, shares.tolist(), ranks.tolist(), strict=True)
    ]
    most = max(1, int(ranks.max()))
    marks = [mark for mark in (1, 2, 5, 10, 100, 1000, 10_000) if mark <= most + 1]
    tokens = {
        "tickmode": "array",
        "tickvals": list(range(len(written))),
        "ticktext": [escaped(token) for token in written],
        "autorange": "reversed" if turned else True,
    }
    names = {"type": "category", "autorange": True if turned else "reversed"}
    colors, across, down = np.log10(ranks + 1).astype(np.float32), numbered(written), list(points)
    if turned:
        colors, texts, hovered = colors.T, [*zip(*texts, strict=True)], [*zip(*hovered, strict=True)]
        across, down = [point.replace(" ", "<br>", 1) for point in points], across
    rows, columns = colors.shape
    scale, high = [[1 - place, color] for place, color in reversed(WEIGHTS)], float(np.log10(most + 1))
    figure = go.Figure(
        go.Heatmap(
            z=colors,
            x=across,
            y=down,
            zmin=0,
            zmax=high,
            colorscale=scale,
            colorbar={
                "title": {"text": title, "side": "top"},
                "orientation": "h",
                "thickness": 8,
                "lenmode": "pixels",
                "len": 200,
                "tickvals": np.log10(marks).tolist(),
                "ticktext": [str(mark) for mark in marks],
                "x": 1,
                "xanchor": "right",
                "xpad": 0,
                "y": -(8 if turned else TICKS) / (LENS_ROW * rows),
                "yanchor": "top",
                "ypad": 0,
            },
            **legible(texts, colors, scale, 0.0, high, size=12),
            customdata=hovered,
            hovertemplate=("%{x}" if turned else "%{y}") + "<br>%{customdata}<extra></extra>",
            xgap=2,
            ygap=2,
        )
    )
    figure.update_xaxes(names | {"side": "top"} if turned else tokens)
    figure.update_yaxes(tokens if turned else names)
    longest = max(len(token) for row in (*top, written) for token in row)
    cell = max(LEAST_CELL, CELL_MARGIN + round(LETTER * longest))
    beside = CELL_MARGIN + round(LETTER * max(map(len, written if turned else points)))
    above, below = (44, LENS_COLORS) if turned else (8, LENS_COLORS + TICKS)
    figure = finished(figure, height=above + LENS_ROW * rows + below, margin={"t": above, "b": below})
    axes = {"x": "point", "y": "step"} if turned else {"x": "step", "y": "point"}
    return figure.update_layout(meta={"least_width": beside + cell * columns, "axes": axes, "turned": turned})


def _written_beside(bars: Any, texts: Sequence[str]) -> go.Scatter:
    """Texts at the ends of horizontal bars, as a separate trace. If the texts were part of the bars, Plotly would measure each
    text, and each measurement makes the browser lay out the whole page."""
    left, gap = [value < 0 for value in bars.x], "\N{NO-BREAK SPACE}"
    return go.Scatter(
        x=bars.x,
        y=bars.y,
        mode="text",
        text=[text + gap if is_left else gap + text for text, is_left in zip(texts, left, strict=True)],
        textposition=["middle left" if is_left else "middle right" for is_left in left],
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )


def contribution_bars(names: Sequence[str], values: Float[np.ndarray, " part"], title: str) -> go.Figure:
    """Signed contributions as horizontal bars, from top to bottom in the order given.

    Args:
        names: names of the parts.
        values: contribution of each part. A positive contribution has a bar to the right.
        title: title of the axis.
    """
    least, most = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.3 * ((most - least) or 1.0)  # space for the number beside a bar, also on a phone
    figure = go.Figure(
        go.Bar(
            x=values.astype(np.float32),
            y=[escaped(name) for name in names],
            orientation="h",
            marker={"color": [CHOSEN if value > 0 else OTHER for value in values.tolist()]},
            hovertemplate="%{y}<br>%{x:+.4f}<extra></extra>",
        )
    )
    figure.add_trace(_written_beside(figure.data[0], [f"{value:+.2f}".replace("-", "−") for value in values.tolist()]))
    figure.update_xaxes(title={"text": title}, zeroline=True, zerolinecolor=LINE, range=[least - room, most + room])
    figure.update_yaxes(autorange="reversed", type="category")
    return finished(figure, height=AROUND + BAR * len(names), bargap=0.25, **_beside(names, TICKS + TITLE))


def loss_bars(
    tokens: Sequence[str],
    losses: Float[np.ndarray, " token"],
    right: Bool[np.ndarray, " token"],
    title: str,
    turned: bool = False,
) -> go.Figure:
    """The loss of each token of a target as a bar. Bars of tokens that are not the model's most probable token have another
    colour.

    Args:
        tokens: the tokens of the target.
        losses: the loss of each token, in nats.
        right: whether the token is the model's most probable token.
        title: title of the axis of the losses.
        turned: whether the bars are horizontal, one below the other, for a page on which they do not fit beside one another.
    """
    places = 3 if losses.max() < 0.5 else 2  # three digits for a trained model, whose losses are all about 0.05
    names, lengths = ("y", "x") if turned else ("x", "y")
    figure = go.Figure(
        go.Bar(
            **{names: numbered(tokens), lengths: losses.astype(np.float32)},
            orientation="h" if turned else "v",
            marker={"color": [OTHER if good else CHOSEN for good in right.tolist()]},
            text=[f"{loss:.{places}f}" for loss in losses.tolist()],
            textposition="outside",
            cliponaxis=False,
            hovertemplate=f"%{{{names}}}<br>%{{{lengths}:.4f}}<extra></extra>",
        )
    )
    named = {"tickmode": "array", "tickvals": list(range(len(tokens))), "ticktext": [escaped(token) for token in tokens]}
    measured = {"title": {"text": title}, "range": [0, max(0.1, 1.2 * float(losses.max()))]}
    figure.update_xaxes(measured if turned else named)
    figure.update_yaxes(named | {"autorange": "reversed"} if turned else measured)
    if turned:
        return finished(figure, height=AROUND + BAR * len(tokens), bargap=0.25)
    figure = finished(figure, height=240)
    return figure.update_layout(meta={"least_width": 90 + COLUMN * len(tokens)})
