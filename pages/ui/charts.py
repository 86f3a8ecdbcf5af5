"""Plotly figures on a page."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import plotly.io
import streamlit as st
from markupsafe import Markup

from pages.ui.caches import RESULTS, content_key
from pages.ui.chart import MARKS, SCRIPT, Packed, chart_component, marks_component, message, packed
from pages.ui.compat import no_callback
from pages.ui.export_menu import saving
from pages.ui.format import number
from pages.ui.presenting import SCALE, enlarged, presenting
from pages.ui.scripts import PLOTLY, importing
from pages.ui.text import figure_labels, text
from transformer.figures.cells import axis_names, cell_marks
from transformer.figures.highlights import Highlight, highlights
from transformer.figures.numbers import has_numbers, numbers

# Nothing is sent to another host: Plotly's button for its cloud is removed.
OFFLINE = {"displaylogo": False, "modeBarButtonsToRemove": ["sendChartToCloud"]}
CONFIG = {
    "displaylogo": False,
    "scrollZoom": False,
    # Otherwise the cells at the edges could not be pointed at.
    "showAxisDragHandles": False,
    # `toImage`: the menu below each chart saves it, in the colours of the page.
    "modeBarButtonsToRemove": ["toImage", "sendChartToCloud", "select2d", "lasso2d", "autoScale2d"],
}

SCROLL_BAR = 16  # px of height for the bar of a chart that scrolls sideways

DEFAULT_HEIGHT = 450  # px of a figure that has no height of its own, as in Plotly

# Estimated bytes of memory of the fields of `Finished` other than `packed`.
FACTS_BYTES = 2_000


_mount = chart_component(importing(SCRIPT))
_mount_marks = marks_component(importing(MARKS))


class Finished(NamedTuple):
    """A figure ready to be sent to the browser, and facts about it.

    Attributes:
        packed: the figure.
        height: its height in px.
        least_width: px below which the figure scrolls sideways; None if it never scrolls.
        has_numbers: whether the figure can be saved as a table.
        highlights: the facts that stand out in the figure, such as its largest cells.
        axes: the names by which the chart's events give the row and the column of a cell.
        nbytes: estimated bytes of memory. Counting each number and text of the figure would take longer than sending it.
    """

    packed: Packed
    height: int
    least_width: int | None
    has_numbers: bool
    highlights: tuple[Highlight, ...]
    axes: tuple[str, str]
    nbytes: int


class Chart(NamedTuple):
    """A Plotly figure to show. `build` makes the figure again. `key` is the cache key of `finished`, made from the figure
    function and its arguments; None if the figure is not cached."""

    build: Callable[[], go.Figure]
    finished: Finished
    key: bytes | None = None

    def marks(self, trace: int, row: int, column: int) -> list[dict[str, Any]] | None:
        """The Plotly shapes that mark a cell of the figure; None if it has no such cell. `trace` is the index of a Plotly
        trace; all arguments are counted from 0."""

        def computed() -> list[dict[str, Any]] | None:
            return cell_marks(self.build(), trace, row, column)

        return computed() if self.key is None else RESULTS.result((self.key, trace, row, column), computed)


def chart(function: Callable[..., go.Figure], *arguments: Any, **named: Any) -> Chart:
    """The chart that a figure function of `transformer.figures` makes from its arguments. Words that the figure draws
    (`labels`) are in the language of the session.

    Plotly checks each property of a figure, which takes 10 to 60 ms. So a figure is built once for all visitors and views that
    draw the same values.
    """
    named = _with_labels(function, named)
    build, key = partial(function, *arguments, **named), content_key(function, arguments, named)
    return Chart(build, RESULTS.result(key, lambda: _finished(build())), key)


def passing_chart(function: Callable[..., go.Figure], *arguments: Any, **named: Any) -> Chart:
    """A chart like the one that `chart` returns, but not cached, because its values will soon be replaced."""
    build = partial(function, *arguments, **_with_labels(function, named))
    return Chart(build, _finished(build()))


def _with_labels(function: Callable[..., go.Figure], named: dict[str, Any]) -> dict[str, Any]:
    """The named arguments of a figure function, with `labels` if the function has this parameter and gets no value for it."""
    return {"labels": figure_labels(), **named} if "labels" in signature(function).parameters else named


def _finished(figure: go.Figure) -> Finished:
    layout: Any = figure.layout
    least = (layout.meta or {}).get("least_width")
    sent = packed(json.loads(str(plotly.io.to_json(figure, validate=False))))
    return Finished(
        sent,
        int(layout.height or DEFAULT_HEIGHT),
        None if least is None else int(least),
        has_numbers(figure),
        highlights(figure),
        axis_names(figure),
        FACTS_BYTES + len(sent.text) + len(sent.numbers),
    )


def _draw(
    finished: Finished,
    key: str,
    alt: str,
    asks: Mapping[str, Callable[[], None]] | None = None,
    narrow: Sequence[int] = (),
) -> None:
    figure, height, width = finished.packed, finished.height, finished.least_width
    if presenting():
        figure = figure._replace(text=json.dumps(enlarged(json.loads(figure.text))))
        height, width, narrow = round(height * SCALE), width and round(width * SCALE), [round(px * SCALE) for px in narrow]
    about = {
        "config": CONFIG,
        "alt": alt,
        "width": width,
        "narrow": [*narrow],
        "asks": [*(asks or {})],
        "name": key,
        "plotly": PLOTLY,
        "words": text("common")["chart"],
    }
    asked: Any = {f"on_{event}_change": act for event, act in (asks or {}).items()}
    if narrow:
        asked["on_narrow_change"] = no_callback
    _mount(key=key, data=message(figure, about), height=height + (SCROLL_BAR if width else 0), **asked)


def show(
    shown: Chart,
    key: str,
    alt: str,
    name: str | None = None,
    asks: Mapping[str, Callable[[], None]] | None = None,
    tells: bool = False,
    table: Callable[[], pd.DataFrame] | None = None,
    narrow: Sequence[int] = (),
    marks: Sequence[Mapping[str, Any]] | None = None,
    hint: str | None = None,
) -> None:
    """Draw a chart as wide as the page, and below it the menu that saves the chart as a picture, an HTML page or numbers.

    On a page narrower than the figure's `least_width` (px, in the `meta` of its layout) the figure scrolls sideways.

    Args:
        key: unique key of the chart, by which `pages.ui.chart.event` finds its events.
        alt: a name of the figure, for screen readers and as the title of the saved page.
        name: name of saved files without suffix; by default the key.
        asks: name of an event of the chart (chart/README.md) → the function called at such an event. In this function, and in
            the run that follows, `pages.ui.chart.event` returns the data of the event.
        tells: whether `alt` also describes what the figure shows. If not, a description of what stands out is added.
        table: returns the numbers to save; by default the numbers of the figure, if it has numbers.
        narrow: widths in px for `narrowness`, so that the page can draw another figure on a narrow screen.
        marks: shapes above the figure that change without it, such as the frame of a picked cell; may be empty. None for a
            figure that never has such shapes.
        hint: what a click on the chart does, written beside the menu; empty while the hint is not needed. None for a chart that
            never has one.
    """
    finished, build = shown.finished, shown.build
    says = alt if tells else f"{alt} {described(finished.highlights)}".rstrip()
    _draw(finished, key, says, asks=asks, narrow=narrow)
    if marks is not None:
        _mount_marks(key=f"marks {key}", data={"chart": key, "shapes": [*marks]})
    drawn = (lambda: numbers(build())) if finished.has_numbers else None
    with nullcontext() if hint is None else st.container(horizontal=True, vertical_alignment="center"):
        saving(key, name or key, table or drawn, lambda: offline(build(), alt))
        if hint:
            st.caption(hint)


def described(noted: Sequence[Highlight]) -> str:
    """Sentences about what stands out in a figure (`highlights`), for people who cannot see it; empty if nothing does."""
    words, sentences = text("common")["highlights"], {"all": [], "lines": []}
    for kind, names, values, alike in noted:
        written = {name: number(value, 3) for name, value in values.items()}
        says = words[kind].format(**names, **written) + (words["alike"].format(count=alike) if alike else "")
        place = ", ".join(name for name in (names.get("picture"), names.get("series")) if name)
        sentences["lines" if kind == "line" else "all"].append(
            words["in_picture"].format(picture=place, says=says) if place else says
        )
    signed = any(value < 0 for _, _, values, _ in noted for name, value in values.items() if name == "value")
    templates = {"all": words["signed" if signed else "all"], "lines": words["lines"]}
    return " ".join(templates[group].format(says="; ".join(parts)) for group, parts in sentences.items() if parts)


def offline(figure: go.Figure, alt: str) -> str:
    """An HTML page with only the figure; `alt` is the title of the page. It includes Plotly, so it works without a network."""
    page = figure.to_html(include_plotlyjs=True, config=OFFLINE)
    return page.replace("<head>", Markup("<head><title>{}</title>").format(alt), 1)
