"""Residual connection, LayerNorm and feed-forward at one position, number by number."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.layers.position_cells import position_to_show
from pages.layers.stops import title
from pages.layers.tensors import picture
from pages.shell.view.explained_chart import Cell, opened, show_computation, show_explained, toggle
from pages.shell.view.explained_number import formula_with_numbers
from pages.shell.view.recorded import own_network
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.charts import chart
from pages.ui.format import latex, number, shape, share, whole
from pages.ui.pickers import pick, pick_position, pick_text, unfolding
from pages.ui.source import show_source
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.stop_number import explain_stop
from transformer.analysis.sublayer_steps import Recomputed, feed_forward, layer_norm, residual
from transformer.analysis.walk import Stop, walk
from transformer.figures.panels import MOST_COLUMNS, Panel, TensorView
from transformer.figures.residual_figures import unit_bars
from transformer.network.layers import AddNorm, FeedForward
from transformer.tracing.paths import TensorPath

MOST_UNITS = 10
# Draws how a number of a tensor was computed: the path of the tensor, and the column of the number.
Explain = Callable[[str, int], None]


def show_arithmetic(view: View, trace: Trace) -> None:
    """Show the residual addition, the LayerNorm and the feed-forward units at a picked layer, sub-layer and position."""
    if own_network(view) is None:
        return
    words, stops = text("arithmetic"), {stop.path: stop for stop in walk(trace)}
    sublayers = [stop for stop in stops.values() if stop.kind == "add_norm.sum"]
    layer = pick(words["layer"], list(dict.fromkeys(stop.group for stop in sublayers)), "group")
    item = pick_text(trace)
    inside = {stop.part: str(TensorPath.parse(stop.path).whole) for stop in sublayers if stop.group == layer}
    part = pick(words["part"], list(inside), "sublayer")
    side = TensorPath.parse(inside[part]).side
    first = position_to_show(trace, view.pipeline.card.measures, side, item)
    position = pick_position(words["position"], trace.tokens_of(side)[item], first=first)
    config = trace.config
    is_binned = max(config.d_model, config.d_ff if part == "feed_forward" else 0) > MOST_COLUMNS
    st.caption(f"{text('tensors')['picture']['hint']} {words['binned'] if is_binned else ''}".rstrip())

    def explain(path: str, column: int) -> None:
        """Draw how the number in column `column` of the tensor at `path` was computed, at the picked position."""
        stop = stops[path]
        found = explain_stop(runs().own_network(view.key), trace, stop, position, column, item)
        made = words["made"][stop.operation]
        st.markdown(words["explained"].format(column=column, title=title(stop), made=made, path=path))
        if found is not None and found.operation == "made from":
            name = rf"\operatorname{{{trace.config.activation}}}"
            st.latex(rf"{name}({latex(found.terms[0].value)}) = {latex(found.result)}")
        elif found is not None:
            st.latex(formula_with_numbers(found, 3))

    # In the order in which this variant computes the steps.
    for step in ("norm", "inside", "residual") if config.norm_first else ("inside", "residual", "norm"):
        if step == "norm":
            _norm(view, trace, stops, inside[part], position, item, explain)
        elif step == "residual":
            _residual(trace, stops, inside[part], position, item, explain)
        elif part == "feed_forward":
            _feed_forward(view, trace, stops, inside[part], position, item, explain)


def _residual(trace: Trace, stops: Mapping[str, Stop], sublayer: str, position: int, item: int, explain: Explain) -> None:
    words = text("arithmetic")["residual"]
    worked = residual(trace, sublayer, position, item)
    st.header(words["title"], anchor=False)
    st.markdown(words["why"])
    most = max(np.abs(vector).max() for vector in (worked.x, worked.added, worked.result))
    x, added = (_row(stops[path], vector, most) for path, vector in zip(worked.inputs, (worked.x, worked.added), strict=True))
    total = _row(stops[worked.path], worked.result, most)
    _picture([x, added], words["sign"], total, words["says"], "work_residual", explain)
    _numbers(words["numbers"], [number(float(np.linalg.norm(vector)), 4) for vector in (worked.x, worked.added, worked.result)])
    st.latex(r"x' = x + \text{sublayer}(x)")
    _table("residual", worked.x, worked.added, worked.result, worked.traced)
    _agrees(worked)


def _norm(
    view: View, trace: Trace, stops: Mapping[str, Stop], sublayer: str, position: int, item: int, explain: Explain
) -> None:
    words = text("arithmetic")["norm"]
    worked = layer_norm(runs().own_network(view.key), trace, sublayer, position, item)
    st.header(words["title"], anchor=False)
    st.markdown(words["why"])
    most = max(np.abs(worked.x).max(), np.abs(worked.result).max())
    before, after = _row(stops[worked.inputs[0]], worked.x, most), _row(stops[worked.path], worked.result, most)
    _picture([before], words["sign"], after, words["says"], "work_norm", explain)
    root = float(np.sqrt(worked.variance + worked.eps))
    _numbers(words["numbers"], [number(value, 4) for value in (worked.mean, worked.variance, root)])
    mean, variance, eps = latex(worked.mean, 4), latex(worked.variance, 4), latex(worked.eps, 3)
    mean = f"({mean})" if worked.mean < 0 else mean
    st.latex(
        r"y = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \odot \gamma + \beta = "
        rf"\frac{{x - {mean}}}{{\sqrt{{{variance} + {eps}}}}} \odot \gamma + \beta"
    )
    _table("norm", worked.x, worked.standard, worked.gamma, worked.beta, worked.result, worked.traced)
    _agrees(worked)
    _source("norm", AddNorm)


def _feed_forward(
    view: View, trace: Trace, stops: Mapping[str, Stop], sublayer: str, position: int, item: int, explain: Explain
) -> None:
    activation = trace.config.activation
    part = "feed_forward" if activation == "relu" else "feed_forward_smooth"
    words = text("arithmetic")["feed_forward"] | text("arithmetic")[part]
    worked = feed_forward(runs().own_network(view.key), trace, sublayer, position, item)
    st.header(words["title"], anchor=False)
    st.markdown(words["why"].format(activation=activation))
    most = float(np.abs(worked.hidden).max())
    hidden, activated = stops[f"{sublayer}.hidden"], stops[f"{sublayer}.activated"]
    _picture(
        [_row(hidden, worked.hidden, most)],
        words["sign"].format(activation=activation),
        _row(activated, worked.activated, most),
        words["says"].format(activation=activation),
        "work_ff",
        explain,
    )
    fires = int(worked.fires.sum())
    _numbers(words["numbers"], [whole(fires), share(worked.share, 1), number(float(np.linalg.norm(worked.result)), 4)])
    formula = words["formula"].format(activation=activation)
    st.latex(rf"H = x\,W_1 + b_1 \qquad H' = {formula} \qquad y = H'\,W_2 + b_2")
    units = worked.strongest(MOST_UNITS)
    if units:
        st.markdown(words["strongest"].format(count=len(units)))

        def push(bar: Cell) -> None:
            unit = units[bar.column]
            value, moved = float(worked.activated[unit]), float(worked.push[unit])
            st.markdown(words["explained"].format(unit=unit))
            st.latex(rf"{latex(value)} \cdot {latex(moved / value)} = {latex(moved)}")

        show_explained(
            chart(unit_bars, units, worked.push[units], words["unit"]),
            "work_units",
            words["units_alt"].format(count=len(units)),
            push,
        )
    _table(part, worked.hidden, worked.activated, worked.push, worked.traced_hidden)
    _agrees(worked)
    _source("feed_forward", FeedForward)


def _picture(before: list[TensorView], sign: str, after: TensorView, says: str, key: str, explain: Explain) -> None:
    """Draw vectors of one position as rows of cells: `before`, the operation `sign`, and `after`. A click on a cell opens the
    computation of its number below them; if a cell stands for several numbers, that of the number with the greatest
    magnitude."""
    views = [*before, after]
    paths = [view.path for view in views]
    cell = opened(key, lambda cell: cell.trace < len(views) and cell.row == 0 and cell.column < after.panel.values.shape[-1])
    picture(
        before,
        sign,
        after,
        says,
        key,
        on_number=lambda view, at: toggle(Cell(key, paths.index(view.path), 0, at[2])),
        framed=None if cell is None else (paths[cell.trace], (0, 0, cell.column)),
    )
    show_computation(key, cell, lambda cell: explain(paths[cell.trace], cell.column))


def _row(stop: Stop, vector: np.ndarray, most: float) -> TensorView:
    """The vector of one position as a view with one row. Its colours range from −`most` to `most`."""
    panel = Panel(vector.astype(np.float32)[None, None], ("", "", stop.axes[-1]), False, "signed")
    return TensorView(stop.path, title(stop), shape(vector.shape), panel, float(most) or 1.0, "", {})


def _numbers(labels: list[str], values: list[str]) -> None:
    for place, label, value in zip(st.columns(3), labels, values, strict=True):
        place.metric(label, value)


def _table(part: str, *columns: np.ndarray) -> None:
    """Draw a folded table with one column for each vector in `columns`, and one row for each index of the vectors."""
    words = text("arithmetic")[part]
    if table := unfolding(text("arithmetic")["table"], ":material/table:", f"numbers_{part}"):
        with table:
            named_columns = {name: values.astype(np.float32) for name, values in zip(words["columns"], columns, strict=True)}
            st.dataframe(pd.DataFrame(named_columns).rename_axis(words["row"]), height=320)


def _source(part: str, module: Callable[..., Any]) -> None:
    """Draw the folded source of the module that computes a step."""
    if lines := unfolding(text("arithmetic")["source"], ":material/code:", f"lines_{part}"):
        with lines:
            show_source(module)


def _agrees(worked: Recomputed) -> None:
    words = text("arithmetic")
    size = float(np.abs(worked.traced).max(initial=1e-9))
    agrees = worked.largest_difference <= 1e-4 * max(1.0, size)
    st.caption(words["agrees" if agrees else "differs"].format(path=worked.path, off=number(worked.largest_difference, 1)))
