"""Details of a stop of the walk: shapes, statistics, formula, parameters, and the code that computes it."""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.layers.parameters import parameter_of, show_parameters
from pages.layers.stops import title, written
from pages.layers.tensor_views import hidden, statistics
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.format import named_shape, number, shape
from pages.ui.source import show_source
from pages.ui.tables import show_table
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.provenance import SOURCE_IDS
from transformer.analysis.walk import Stop, caller
from transformer.network.embedding import Learned, sinusoid
from transformer.network.masks import attention_softmax, source_mask, target_mask
from transformer.tracing.paths import TensorPath

# Kind of stop → the function, in another file, that computes the tensor. The method that calls the tap calls this function.
CALLED = {"source_mask": source_mask, "target_mask": target_mask, "attention.weights": attention_softmax}


def show_details(view: View, trace: Trace, stops: Mapping[str, Stop], stop: Stop, item: int, go: Callable[[str], None]) -> None:
    """Show all details of a stop. Each input has a button, which calls `go` with the path of the input. `item` is the picked
    text."""
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
        show_parameters(view, trace, stops, stop, item)
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
    rows += [(learned, shape(parameter_of(view, name).shape), name) for name in stop.parameters]
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
