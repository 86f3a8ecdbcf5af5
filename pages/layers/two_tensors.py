"""The picked tensor in two runs, and the difference."""

import streamlit as st

from pages.layers.stops import heading
from pages.layers.tensor_views import tensor_of
from pages.layers.walk_part import STOP, stops_of
from pages.shell.view.second_run import SecondRun
from pages.shell.view.two_runs import alignment, difference_of, show_both_maps
from pages.shell.view.view import View
from transformer import Trace
from transformer.analysis.walk import taps
from transformer.tracing.paths import Side


def show_both_tensors(view: View, shown: Trace, second: SecondRun) -> None:
    """Draw a tensor of the first run, A, and of the second run, B, and B − A. It is the tensor picked in the walk through all
    tensors; if none is picked, the output of the decoder, or else of the encoder. `shown` is the trace of A.

    Raises:
        HeadlightError: B has no such tensor, or it has another shape.
    """
    difference = difference_of(view, shown, second)
    stops = {stop.path: stop for stop in stops_of(shown.config, taps(shown))}
    last = next((path for path in ("decoder.output", "encoder.output") if path in stops), [*stops][-1])
    stop = stops.get(st.session_state.get(STOP, ""), stops[last])
    head = st.session_state.get("head")
    views = [
        tensor_of(view.pipeline, run, stop, 0, head - 1 if isinstance(head, int) and "head" in stop.axes else None)
        for run in difference.runs
    ]
    sides: list[Side] = [side for side in difference.places if {side, "position", "query", "key"} & {*stop.axes}]
    show_both_maps(views, heading(stop), alignment(difference, *sides))
