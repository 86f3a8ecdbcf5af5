"""A whole layer in one picture: its tensors as miniatures, to scale, with lines from each tensor to those computed from it."""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

import streamlit as st

from pages.layers.picked_number import pick_result
from pages.layers.stops import group_title, heading
from pages.layers.tensor_views import tensor_of
from pages.layers.tensors import all_numbers
from pages.layers.walk_part import SHOWN, STOP
from pages.shell.frame.parts import scroll_to
from pages.shell.view.explained_chart import clicked_cell
from pages.shell.view.head_links import training_address
from pages.shell.view.view import View
from pages.ui.chart import event, narrowness
from pages.ui.charts import Chart, chart, show
from pages.ui.pickers import pick, pick_text
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.flow import flow_of
from transformer.analysis.walk import Stop, walk
from transformer.analysis.word_trace import WordTrace
from transformer.figures.layer_walk import Part, Source, layer_figure
from transformer.figures.panels import TensorView
from transformer.figures.tensor_sheet import number_of_cell
from transformer.tracing.paths import TensorPath

KEY = "film"
WIDTH, NARROW_WIDTH = 720, 560  # px: width of the figure, and on a page that is narrower than the first


def show_filmstrip(view: View, trace: Trace, drawn: Trace) -> None:
    """Draw the tensors of a picked part of the network as miniatures. A click on one opens its tensor in the walk, which shows
    one tensor at a time. The miniatures show the numbers of `drawn`: `trace`, or the same trace with pieces joined to words."""
    words, stops = text("filmstrip"), walk(trace)
    groups = list(dict.fromkeys(stop.group for stop in stops))
    # Layers come first, because visitors open a filmstrip mainly to see a layer.
    layers = sorted(groups, key=lambda group: " " not in group)
    group = pick(words["layer"], layers, "group")
    item = pick_text(trace)
    members = [stop for stop in stops if stop.group == group]
    st.header(group_title(group), anchor=False)
    titles_of, by_path = text("walk")["parts"], {stop.path: stop for stop in stops}
    parts: list[Part] = []
    for name, part_stops in groupby(members, lambda stop: stop.part):
        flow = flow_of(list(part_stops))
        rows = [[[tensor_of(view.pipeline, drawn, stop, item, None) for stop in chain] for chain in row] for row in flow.rows]
        sources = [Source(path, *_source(by_path[path])) for path in flow.sources]
        parts.append(Part(titles_of.get(name, ""), sources, rows, flow.lines, flow.residual))
    frames = [frame for part in parts for frame in part.views]
    titles = ", ".join(f"{frame.title} {frame.shape}" for frame in frames)
    paths = {*(stop.path for stop in members), *(source.path for part in parts for source in part.sources)}
    width = NARROW_WIDTH if narrowness(KEY) else WIDTH
    figure = chart(layer_figure, parts, width, selected=st.session_state.get(STOP))
    # Between words, the miniatures show sums and means, whose numbers have no computation to show.
    numbers_of = [] if isinstance(drawn, WordTrace) else frames
    show(
        figure,
        KEY,
        words["says"].format(where=group_title(group), titles=titles),
        f"{view.model}-{group}",
        asks={"click": lambda: _open(figure, numbers_of, by_path, paths)},
        tells=True,
        narrow=[WIDTH],
        table=lambda: all_numbers(frames),
    )
    st.caption(words["caption"].format(count=len(members)))
    _link_trainings(view, item, members)


def _link_trainings(view: View, item: int, members: list[Stop]) -> None:
    """For each attention in a part of the network, draw a link to how its heads were trained, if the model has snapshots of its
    training."""
    common, kinds, links = text("common"), text("attention")["kinds"], []
    paths = (TensorPath.parse(stop.path) for stop in members)
    for kind, layer in dict.fromkeys((path.kind, path.layer) for path in paths):
        if kind is not None and layer is not None:
            address = training_address(view, item, kind, layer, None)
            links.append(f"{kinds[kind]}: [{common['heads_being_learnt']}]({address})" if address else "")
    if any(links):
        st.markdown(" · ".join(links))


def _source(stop: Stop) -> tuple[str, str]:
    """Two texts about a tensor that this part of the network takes from another part: its role here, and its heading."""
    words = text("filmstrip")["sources"]
    return words.get(stop.kind, words["stream"]), heading(stop)


def _open(figure: Chart, frames: Sequence[TensorView], stops: Mapping[str, Stop], paths: Collection[str]) -> None:
    """Open in the walk the tensor that was clicked. If it is one of `frames`, also open the number of the clicked cell."""
    sent = event(KEY, "click")
    path, cell = sent.get("about"), clicked_cell(KEY, sent)
    if not isinstance(path, str) or path not in paths:
        return
    st.session_state[STOP] = path
    st.query_params[STOP] = path  # Streamlit does not write it: the list of the walk was not drawn in this run
    st.session_state["part"] = "walk"
    found = number_of_cell(figure.build(), frames, cell.trace, cell.row, cell.column) if cell else None
    if found is not None:
        pick_result(stops[path], found[1])
    scroll_to(SHOWN)
