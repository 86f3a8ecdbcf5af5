"""Plotly figures on a page."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import plotly.io
import streamlit as st
from markupsafe import Markup

from pages.ui.caches import RESULTS, content_key
from pages.ui.compat import FinishedFigure, scrolled
from pages.ui.export_menu import saving
from pages.ui.format import number
from pages.ui.presenting import SCALE, enlarged, presenting
from pages.ui.style import style_element
from pages.ui.text import text
from transformer.figures.highlights import Highlight, highlights
from transformer.figures.numbers import has_numbers, numbers

CONFIG = {
    "displaylogo": False,
    "scrollZoom": False,
    "toImageButtonOptions": {"format": "png", "scale": 2},
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}

# Size of the letters at a figure's ticks: the size that Streamlit's theme has for letters of the usual size.
TICK_PIXELS = 12

# Estimated bytes of memory of a figure: for its template, and for each character of its JSON. Counting the objects of the app's
# figures gave results that differ by a third at most.
TEMPLATE_BYTES, CHARACTER_BYTES = 20_000, 2


class Finished(NamedTuple):
    """A figure as it is sent to the browser.

    Attributes:
        spec: the JSON of the figure, parsed.
        least_width: px below which the figure scrolls sideways; None if it never scrolls.
        has_numbers: whether the figure can be saved as a table.
        highlights: what stands out in the figure.
        nbytes: estimated bytes of memory. Counting each number and text of the figure would take longer than sending it.
    """

    spec: dict[str, Any]
    least_width: int | None
    has_numbers: bool
    highlights: tuple[Highlight, ...]
    nbytes: int


class Chart(NamedTuple):
    """A figure to show. `finished` is cached by the content of the arguments, `build` makes the figure again."""

    build: Callable[[], go.Figure]
    finished: Finished


def chart(function: Callable[..., go.Figure], *arguments: Any, **named: Any) -> Chart:
    """The chart that a figure function of `transformer.figures` makes from its arguments.

    Plotly checks each property of a figure, which takes 10 to 60 ms. So a figure is built once for all visitors and views that
    draw the same values.
    """

    def build() -> go.Figure:
        return function(*arguments, **named)

    return Chart(build, RESULTS.result(content_key(function, arguments, named), lambda: _finished(build())))


def _finished(figure: go.Figure) -> Finished:
    layout: Any = figure.layout
    least = (layout.meta or {}).get("least_width")
    written = str(plotly.io.to_json(figure, validate=False))
    return Finished(
        _with_ticks(json.loads(written)),
        None if least is None else int(least),
        has_numbers(figure),
        highlights(figure),
        TEMPLATE_BYTES + CHARACTER_BYTES * len(written),
    )


def _with_ticks(spec: dict[str, Any]) -> dict[str, Any]:
    """A figure's JSON whose ticks have a size in px, because the rows and columns that they name have sizes in px. By default,
    Streamlit's theme enlarges the ticks with the letters of the page, and then they would overlap."""
    for name, axis in spec["layout"].items():
        if name.startswith(("xaxis", "yaxis")):
            axis.setdefault("tickfont", {}).setdefault("size", TICK_PIXELS)
    return spec


def show_small(shown: Chart, key: str, alt: str) -> None:
    """Draw only a chart, without a menu to save it. Arguments as for `show`."""
    spec = shown.finished.spec
    spec = enlarged(spec) if presenting() else spec
    st.plotly_chart(FinishedFigure(spec), width="stretch", key=key, config=CONFIG | {"displayModeBar": False}, alt=alt)


def show(
    shown: Chart,
    key: str,
    alt: str,
    name: str | None = None,
    on_select: Callable[[], None] | None = None,
    tells: bool = False,
    table: Callable[[], pd.DataFrame] | None = None,
) -> None:
    """Draw a chart as wide as the page, and below it the menu that saves it as a picture, a page or numbers.

    On a page narrower than the figure's `least_width` (px, in the `meta` of its layout) the figure scrolls sideways.

    Args:
        alt: a name of the figure, for screen readers.
        name: name of saved files without ending; by default the key.
        on_select: called when points of the chart are clicked. The session has the clicked points under the key.
        tells: whether `alt` also describes what the figure shows. If not, a description of what stands out is added.
        table: returns the numbers to save; by default the numbers of the figure, if it has numbers.
    """
    finished, build = shown.finished, shown.build
    spec, least_width = finished.spec, finished.least_width
    if presenting():
        spec = enlarged(spec)
        least_width = least_width and round(least_width * SCALE)
    if least_width:
        st.html(style_element(scrolled(key, least_width)))
    choice: Any = {} if on_select is None else {"on_select": on_select, "selection_mode": "points"}
    says = alt if tells else f"{alt} {described(finished.highlights)}".rstrip()
    st.plotly_chart(FinishedFigure(spec), width="stretch", key=key, config=CONFIG, alt=says, **choice)
    drawn = (lambda: numbers(build())) if finished.has_numbers else None
    saving(key, name or key, table or drawn, lambda: offline(build(), alt))


def described(noted: Sequence[Highlight]) -> str:
    """Sentences about what stands out in a figure; empty if nothing does."""
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
    """An HTML page with only the figure. It includes Plotly, so it works without a network."""
    page = figure.to_html(include_plotlyjs=True, config={"displaylogo": False})
    return page.replace("<head>", Markup("<head><title>{}</title>").format(alt), 1)
