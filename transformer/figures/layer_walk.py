"""Figure of a whole layer: a heatmap of every tensor with its name and shape, and lines from each tensor to the tensors
computed from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import plotly.graph_objects as go

from transformer.figures.arrangement import LETTER, Box, Length, Size
from transformer.figures.labels import LABELS
from transformer.figures.panels import TensorView
from transformer.figures.tensor_sheet import CAPTION, LEAST, SPACE, WORDS, Sheet, frame, note, scale_of
from transformer.figures.theme import KIND_COLORS, LINE, MASKED, ROLE_COLORS, escaped

# In px of a figure of the given width.
WIDTH, EDGE = 720, 10  # width of a figure; space inside a frame
# Space beside the tensors: to the left for the residual connection, to the right for lines around other tensors.
LEFT, RIGHT = 30, 24
SOURCE, FALL = 38, 36  # height of a source; space between two rows
APART, HEAD = 5, 4  # between parallel lines; half the width of an arrowhead


class Source(NamedTuple):
    """A tensor that a `Part` reads but does not contain, such as the output of an earlier part: its path in its trace, and the
    two lines of its label, its role for the part (such as the residual stream) and a title."""

    path: str
    role: str
    title: str


@dataclass(frozen=True)
class Part:
    """A part of a layer, such as a sub-layer, as `layer_figure` draws it. Tensors are named by their paths in a trace.

    Attributes:
        title: the title of the part; empty to draw none.
        sources: the tensors of other parts that are inputs of this part.
        rows: the tensors, in rows from top to bottom. A row has chains side by side; in a chain, each tensor is computed from
            the one before it.
        lines: (path, path) of each line: the second tensor is computed from the first. Lines within a chain are left out.
        residual: (path, path) of each residual connection: from a tensor to the sum that it is added to.
    """

    title: str
    sources: Sequence[Source]
    rows: Sequence[Sequence[Sequence[TensorView]]]
    lines: Sequence[tuple[str, str]] = ()
    residual: Sequence[tuple[str, str]] = ()

    @property
    def views(self) -> list[TensorView]:
        return [view for row in self.rows for chain in row for view in chain]


def layer_figure(
    parts: Sequence[Part], width: int = WIDTH, labels: Mapping[str, str] = LABELS, selected: str | None = None
) -> go.Figure:
    """Every tensor of a layer as a heatmap, with lines from each tensor to the tensors computed from it. Cells have the same
    size in all tensors, but each tensor is at least 7 px wide and high, and has its own colour scale.

    In an attention, the branches of queries, keys and values each have a frame in their own colour. Heads are stacked
    vertically. If a pixel covers several numbers, it shows the number of greatest magnitude. The `meta` of each heatmap is the
    path of its tensor.

    Args:
        parts: the parts of the layer in order.
        width: width of the figure in px. On a wider page, all of it is widened in the same proportion.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
        selected: path of the tensor that gets a frame; None for no frame.
    """
    sheet = _LayerSheet(width, labels, scale_of([view for part in parts for view in part.views], LEAST))
    for part in parts:
        sheet.draw(part, selected)
    return sheet.figure()


class _LayerSheet(Sheet):
    """A sheet for the parts of a layer, with their sources and lines."""

    def draw(self, part: Part, selected: str | None) -> None:
        """Draw a part, with its lines, below the parts before it. The tensor with the path `selected` gets a frame."""
        self.title(part.title)
        boxes: dict[str, Box] = {}  # path → the frame that its lines begin at
        rows: dict[str, int] = {}  # path → number of its row; −1 for a source
        middles: dict[str, Length] = {}  # path → middle of its cells, where its lines end
        self._sources(part.sources, boxes)
        for path, box in boxes.items():
            rows[path], middles[path] = -1, (box[0] + box[2]) / 2
        for index, row in enumerate(part.rows):
            branches = any(view.branch for chain in row for view in chain)
            inner = self.width - LEFT - RIGHT
            column = (inner - EDGE * (len(row) - 1)) / len(row)
            bottom = self.top
            frames: list[tuple[Sequence[TensorView], Length]] = []
            for place, chain in enumerate(row):
                left = LEFT + place * (column + EDGE)
                inside = (left + EDGE, self.top + WORDS + 2 * EDGE) if branches else (left, self.top)
                spots, end = self.chain(chain, inside, left + column - EDGE * branches)
                bottom = max(bottom, end)
                frames.append((chain, left))
                for spot in spots:
                    path = spot.view.path
                    boxes[path] = (spot.left, spot.top, spot.left + self.room(spot.view), spot.top + spot.high + CAPTION)
                    rows[path], middles[path] = index, spot.left + spot.wide / 2
                    if path == selected:
                        around = (spot.left - 3, spot.top - 3, spot.left + spot.wide + 3, spot.top + spot.high + 3)
                        self.shapes.append(frame(around, KIND_COLORS["decoder"], 3))
            for chain, left in frames if branches else ():
                branch, box = chain[0].branch or "query", (left, self.top, left + column, bottom)
                self.shapes.append(frame(box, ROLE_COLORS[branch], 2))
                name = f"<b>{escaped(self.labels[f'branch_{branch}'])}</b>"
                self.notes.append(note(name, left + 6, self.top + 4, "top", WORDS))
                for view in chain:
                    boxes[view.path], middles[view.path] = box, left + column / 2
            self.top = bottom + FALL
        self._lines(part, boxes, rows, middles)
        self.top += EDGE - FALL

    def _sources(self, sources: Sequence[Source], boxes: dict[str, Box]) -> None:
        """Draw the sources of a part, each as a heatmap of one cell, so that the pointer can be on it. Add their frames to
        `boxes`."""
        left: Length = LEFT
        for source in sources:
            wide = LETTER * max(len(source.role), len(source.title)) + 2 * EDGE
            box = (left, self.top, left + wide, self.top + SOURCE)
            boxes[source.path] = box
            grid = {"x0": left + wide / 2, "dx": wide, "y0": self.top + SOURCE / 2, "dy": SOURCE, "z": [[0]]}
            scale = {"colorscale": [[0, MASKED], [1, MASKED]], "showscale": False}
            hover = f"<b>{escaped(source.role)}</b><br>{escaped(source.title)}<extra></extra>"
            self.traces.append({"type": "heatmap", "meta": source.path, "hovertemplate": hover, **grid, **scale})
            words = f"<b>{escaped(source.role)}</b><br>{escaped(source.title)}"
            self.notes.append(note(words, left + EDGE, self.top + SOURCE / 2, "middle", WORDS))
            left += wide + SPACE
        if sources:
            self.top += SOURCE + FALL

    def _lines(
        self,
        part: Part,
        boxes: Mapping[str, Box],
        rows: Mapping[str, int],
        middles: Mapping[str, Length],
    ) -> None:
        branches = {view.path: view.branch for view in part.views}
        for line in part.lines:
            start, end = line
            meeting = [other for other in part.lines if other[1] == end]
            offset = (meeting.index(line) - (len(meeting) - 1) / 2) * 2 * APART
            begins = list(dict.fromkeys(first for first, _ in part.lines)).index(start)
            x, top = middles[end] + offset, boxes[end][1]
            lane = top - FALL / 2 + (begins % 3 - 1) * APART
            right, bottom = boxes[start][2:]
            if rows[end] == rows[start] + 1:  # nothing is between the two
                points = [(middles[start], bottom), (middles[start], lane), (x, lane), (x, top)]
            else:
                aside = self.width - RIGHT / 2
                middle = (boxes[start][1] + bottom) / 2
                points = [(right, middle), (aside, middle), (aside, lane), (x, lane), (x, top)]
            branch = branches.get(start)
            self._arrow(points, ROLE_COLORS[branch] if branch else LINE, 2)
        for start, end in part.residual:
            (left, top, _, bottom), (x, above, _, _) = boxes[start], boxes[end]
            self._arrow(
                [(left, (top + bottom) / 2), (LEFT / 3, (top + bottom) / 2), (LEFT / 3, above + 8), (x, above + 8)], LINE, 4
            )

    def _arrow(self, points: Sequence[Size], color: str, width: int) -> None:
        """Draw a line through `points`, with an arrowhead at the last one. `width` is in px."""
        (x, y), (before, above) = points[-1], points[-2]
        down = x == before
        path = " L ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        line = {"color": color, "width": width}
        self.shapes.append({"type": "path", "path": f"M {path}", "line": line})
        back = (y - 2 * HEAD if y > above else y + 2 * HEAD) if down else (x - 2 * HEAD if x > before else x + 2 * HEAD)
        sides = [(x - HEAD, back), (x + HEAD, back)] if down else [(back, y - HEAD), (back, y + HEAD)]
        corners = " L ".join(f"{x:.1f},{y:.1f}" for x, y in [(x, y), *sides])
        self.shapes.append({"type": "path", "path": f"M {corners} Z", "line": {"width": 0}, "fillcolor": color})
