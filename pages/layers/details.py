"""Details of a tensor of the forward pass: shapes, statistics, formula, the code that computes it, pictures of its parameters.

A click on a weight opens a computation that uses this weight in the present run.
"""

from collections.abc import Callable, Mapping

import numpy as np
import streamlit as st

from pages.layers.stops import title, written
from pages.layers.tensor_views import hidden, statistics, tokens
from pages.shell.view.explained_chart import show_explained
from pages.shell.view.explained_number import formula_with_numbers
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import named_shape, number, shape, token_at, whole
from pages.ui.pickers import unfolding
from pages.ui.source import show_source
from pages.ui.tables import show_table
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.provenance import SOURCE_IDS
from transformer.analysis.walk import Stop, caller
from transformer.analysis.weight_use import weight_use
from transformer.figures.head_steps_figures import Matrix, tensor_map
from transformer.figures.panels import MOST_COLUMNS, strongest, strongest_place
from transformer.network.embedding import Learned, sinusoid
from transformer.network.masks import attention_softmax, source_mask, target_mask
from transformer.tracing.paths import TensorPath

# Kind of stop → the function, in another file, that computes the tensor. The method that calls the tap calls this function.
CALLED = {"source_mask": source_mask, "target_mask": target_mask, "attention.weights": attention_softmax}
DIGITS = 6  # significant digits of a weight
LEAST_ROW = 3  # px of a row: a matrix of the most rows is not higher than a screen


def show_details(view: View, trace: Trace, stops: Mapping[str, Stop], stop: Stop, item: int, go: Callable[[str], None]) -> None:
    """Draw the details of a stop (a tensor of the forward pass). Each input of the stop has a button, which calls `go` with the
    path of the input. `item` is the index of the picked text in the batch."""
    words = text("walk")
    show_table(tuple(words["columns"]), _rows(view, trace, stops, stop))
    _statistics(trace, stop)
    formula = written(stop, trace.config)[1]
    if formula:
        st.latex(formula)
    with st.container(horizontal=True):
        for path in stop.inputs:
            if path in stops:
                st.button(
                    words["go"].format(title=title(stops[path])),
                    key=f"go {path}",
                    on_click=go,
                    args=(path,),
                    icon=":material/subdirectory_arrow_left:",
                    help=path,
                )
    if view.pipeline.model is not None:  # if the network is not our own, only its tensors are known
        _show_parameters(view, trace, stops, stop, item)
        _source(view, stop)


def _rows(view: View, trace: Trace, stops: Mapping[str, Stop], stop: Stop) -> tuple[tuple[str, ...], ...]:
    """The rows of the table: inputs, parameters and result, each with its role, shape and name."""
    words = text("walk")
    given, learned, result = words["roles"]
    rows = []
    for path in stop.inputs:
        if path in stops:
            rows.append((given, named_shape(stops[path].axes, stops[path].shape), path))
        else:
            side = "source" if path == SOURCE_IDS else "target"
            ids = trace.ids_of(side)
            rows.append((given, named_shape(("batch", side), (len(ids), len(ids[0]))), words["given_ids"]))
    rows += [(learned, shape(_parameter_of(view, name).shape), name) for name in stop.parameters]
    rows.append((result, named_shape(stop.axes, stop.shape), stop.path))
    return tuple(rows)


def _statistics(trace: Trace, stop: Stop) -> None:
    words, masked = text("walk"), hidden(trace, stop)
    if stop.kind in ("source_mask", "target_mask"):
        values = trace[stop.path].numpy()
        st.caption(words["statistics_mask"].format(open=int(values.sum()), count=values.size))
        return
    numbers, count = statistics(trace[stop.path], masked)
    row = tuple(number(value, 4) for value in numbers)
    show_table(tuple(words["statistics"]), (row,))
    if masked is None:
        st.caption(words["statistics_help"])
    else:
        st.caption(words["statistics_visible"].format(shown=count, hidden=int(masked.sum())))


def _source(view: View, stop: Stop) -> None:
    words = text("walk")
    opened = st.expander(words["source"], icon=":material/code:", key="walk_source", on_change="rerun")
    if not opened.open:
        return
    with opened:
        method, line = caller(runs().own_network(view.key), stop.path)
        st.markdown(words["source_line"].format(number=line, tap=TensorPath.parse(stop.path).last))
        show_source(method)
        called = CALLED.get(stop.kind)
        if stop.kind == "embedding.position":
            called = Learned if stop.parameters else sinusoid
        if called is not None:
            st.markdown(words["source_called"])
            show_source(called)


def _parameter_of(view: View, name: str) -> np.ndarray:
    """The values of the parameter `name` of the view's model."""
    return runs().own_network(view.key).get_parameter(name).detach().numpy()


def _show_parameters(view: View, trace: Trace, stops: Mapping[str, Stop], stop: Stop, item: int) -> None:
    """Draw, folded, the parameters with which a stop (a tensor of the forward pass) is computed."""
    words = text("walk")
    if not stop.parameters:
        st.caption(words["parameters_none"])
        return
    parameters = {name: _parameter_of(view, name) for name in stop.parameters}
    label = words["parameters"].format(count=whole(sum(values.size for values in parameters.values())))
    if fold := unfolding(label, ":material/grid_on:", "parameters"):
        with fold:
            for place, (name, values) in enumerate(parameters.items(), 1):
                _show(view, trace, stops, stop, f"parameter-{place}", name, values, item, hint=place == len(parameters))


def _show(
    view: View,
    trace: Trace,
    stops: Mapping[str, Stop],
    stop: Stop,
    key: str,
    name: str,
    values: np.ndarray,
    item: int,
    hint: bool,
) -> None:
    """Draw one parameter, `name`, as a heatmap. `key` is the key of its chart; `item` is the text of the batch with which a
    clicked weight is explained; `hint` tells whether to write that cells can be clicked."""
    words = text("walk")
    st.markdown(words["parameters_row"].format(name=name, shape=", ".join(map(str, values.shape)), count=whole(values.size)))
    matrix = np.atleast_2d(values)
    small = strongest(matrix, MOST_COLUMNS, MOST_COLUMNS)
    each = -(-matrix.shape[0] // MOST_COLUMNS), -(-matrix.shape[1] // MOST_COLUMNS)
    if each != (1, 1):
        st.caption(words["parameters_binned"].format(rows=each[0], columns=each[1]))
    axes = words["parameters_axes" if values.ndim > 1 else "parameters_axes_vector"]

    def explain(row: int, column: int) -> None:
        place = strongest_place(matrix, (row, column), each)
        assert place is not None  # `show_explained` explains only cells of the matrix
        _explain_weight(view, trace, stops, stop, name, place[2 - values.ndim :], item)

    show_explained(
        chart(tensor_map, Matrix(small, None, None, *axes, signed=True), least_row=LEAST_ROW),
        key,
        words["parameters_alt"].format(name=name, shape=shape(values.shape)),
        lambda cell: explain(cell.row, cell.column),
        hint=hint,
    )


def _explain_weight(
    view: View, trace: Trace, stops: Mapping[str, Stop], stop: Stop, name: str, index: tuple[int, ...], item: int
) -> None:
    """Draw the value of a weight, and a computation that uses it, at the position of the text `item` where it matters most.

    Args:
        name: the name of the parameter.
        index: the indices of the weight in the parameter, counted from 0.
    """
    words, model, value = text("walk")["weight"], runs().own_network(view.key), float(_parameter_of(view, name)[index])
    row, column = (0, *index)[-2:]
    place = {"name": name, "index": ", ".join(map(str, index)), "row": row, "column": column, "value": number(value, DIGITS)}
    made = words["trained" if view.pipeline.trained else "untrained"]
    use = weight_use(model, trace, stop, name, index, item)
    if use is None:
        is_token = stop.operation == "look up"
        token = view.pipeline.vocabulary(TensorPath.parse(stop.path).side).tokens[row] if is_token else ""
        st.markdown(f"{words['token' if is_token else 'position'].format(**place, token=literal(token))} {made}")
        return
    kind = "norm" if stop.operation == "LayerNorm" else "matrix" if len(index) > 1 else "bias"
    says = words[kind].format(**place, result=title(stop), input=title(stops[stop.inputs[0]]))
    (axis, *_) = (axis for axis in stop.axes if axis != "batch")
    at = literal(token_at(use.position, tokens(trace, stop.path, item)[axis][use.position]))
    at = at if use.head is None else words["in_head"].format(token=at, head=use.head + 1)
    st.markdown(f"{says} {made} {words[f'{kind}_here'].format(token=at)}")
    st.latex(formula_with_numbers(use.explained))
