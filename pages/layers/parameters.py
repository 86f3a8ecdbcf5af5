"""The parameters of a stop of the walk as pictures; a click on a weight says what it does in this run."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from pages.layers.stops import title
from pages.layers.tensor_views import tokens
from pages.shell.view.explained_chart import show_explained
from pages.shell.view.explained_number import formula_with_numbers
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import number, shape, token_at, whole
from pages.ui.pickers import unfolding
from pages.ui.text import figure_labels, text
from transformer import Trace
from transformer.analysis.walk import Stop
from transformer.analysis.weight_use import weight_use
from transformer.figures.head_steps_figures import Matrix, tensor_map
from transformer.figures.panels import MOST_COLUMNS, strongest, strongest_place
from transformer.tracing.paths import TensorPath

DIGITS = 6  # significant digits of a weight
LEAST_ROW = 3  # px of a row: a matrix of the most rows is not higher than a screen


def parameter_of(view: View, name: str) -> np.ndarray:
    """A parameter of the view's model."""
    return runs().own_network(view.key).get_parameter(name).detach().numpy()


def show_parameters(view: View, trace: Trace, stops: Mapping[str, Stop], stop: Stop, item: int) -> None:
    """Draw the parameters that the tensor of a stop is computed with, folded."""
    words = text("walk")
    if not stop.parameters:
        st.caption(words["parameters_none"])
        return
    parameters = {name: parameter_of(view, name) for name in stop.parameters}
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
    """Draw one parameter. `key` is the key of its chart."""
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
        explain_weight(view, trace, stops, stop, name, place[2 - values.ndim :], item)

    show_explained(
        chart(tensor_map, Matrix(small, None, None, *axes, signed=True), labels=figure_labels(), least_row=LEAST_ROW),
        key,
        words["parameters_alt"].format(name=name, shape=shape(values.shape)),
        lambda cell: explain(cell.row, cell.column),
        hint=hint,
    )


def explain_weight(
    view: View, trace: Trace, stops: Mapping[str, Stop], stop: Stop, name: str, index: tuple[int, ...], item: int
) -> None:
    """Draw the value of a weight, and what it does in one text where it matters most.

    Args:
        name: the name of the parameter.
        index: the place of the weight in it, counted from 0.
    """
    words, model, value = text("walk")["weight"], runs().own_network(view.key), float(parameter_of(view, name)[index])
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
