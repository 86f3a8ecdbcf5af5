"""Tests of the figures of a stop and of a whole layer, made as in a notebook."""

import json
from itertools import groupby

import numpy as np
import plotly.graph_objects as go
import pytest

from transformer import Pipeline, Trace
from transformer.analysis.walk import Stop, walk
from transformer.figures.labels import LABELS
from transformer.figures.layer_walk import Part, Source, layer_figure
from transformer.figures.panels import MOST_COLUMNS, TensorView, in_one_scale, tensor_view
from transformer.figures.theme import ROLE_COLORS
from transformer.figures.walk_figures import cell_frame, number_at, stop_figure

RANDOM = np.random.default_rng(0)
ATTENTION = "decoder.layers.0.self_attention"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return Pipeline.load("reverse").trace("abcd")


def view(trace: Trace, path: str) -> TensorView:
    hidden = trace.hidden(ATTENTION).numpy() if path in (f"{ATTENTION}.masked_scores", f"{ATTENTION}.weights") else None
    scale = "weights" if path.endswith("weights") else "mask" if path.endswith("mask") else "signed"
    tokens = dict.fromkeys(("target", "query", "key"), trace.target_tokens[0])
    return tensor_view(path, trace[path].numpy(), trace[path].axes, scale, tokens, hidden=hidden)


def drawn(figure: go.Figure) -> list[go.Heatmap]:
    """The heatmaps of numbers, without the heatmaps of masked cells."""
    return [trace for trace in figure.data if trace.type == "heatmap" and trace.z.dtype == np.float32]


def cell(figure: go.Figure, tensor: int) -> tuple[float, float]:
    """Width and height of a cell, as fractions of the figure."""
    number = str(tensor + 1) if tensor else ""
    sizes = []
    for side, count in zip("xy", reversed(np.shape(drawn(figure)[tensor].z)), strict=True):
        low, high = figure.layout[f"{side}axis{number}"].domain
        sizes.append((high - low) / count)
    return sizes[0], sizes[1]


def test_a_notebook_draws_a_stop_in_a_few_lines(trace: Trace) -> None:
    stop = next(stop for stop in walk(trace) if stop.path == "encoder.layers.0.self_attention.scores")
    *inputs, result = (tensor_view(path, trace[path].numpy(), trace[path].axes) for path in (*stop.inputs, stop.path))
    figure = stop_figure(inputs, stop.operation, result)
    assert len(drawn(figure)) == 3
    words = " ".join(note.text for note in figure.layout.annotations)
    assert all(label in words for label in (stop.operation, stop.path, *stop.inputs, "[1, 4, 6, 6]"))


def test_a_notebook_draws_a_layer_in_a_few_lines(trace: Trace) -> None:
    stops = [stop for stop in walk(trace) if stop.group == "encoder 1"]
    views = {stop: tensor_view(stop.path, trace[stop.path].numpy(), stop.axes) for stop in stops}
    parts = [Part(part, (), [[[views[stop] for stop in group]]]) for part, group in groupby(stops, lambda stop: stop.part)]
    figure = layer_figure(parts)
    assert [heatmap.meta for heatmap in drawn(figure)] == [stop.path for stop in stops]
    words = " ".join(note.text for note in figure.layout.annotations)
    assert all(f"{stop.path}<br>{list(stop.shape)}" in words for stop in stops)
    captions = [note.text.split("<br>") for note in figure.layout.annotations if "layers" in note.text]
    axes = {title: axes for title, _, axes in captions}
    assert axes["encoder.layers.0.self_attention.weights"] == "query ↓ key →"
    assert axes["encoder.layers.0.self_attention.value.heads"] == "key ↓ d_head →"
    assert axes["encoder.layers.0.feed_forward.activated"] == "source ↓ d_ff →"


def test_lines_lead_from_a_tensor_to_those_computed_from_it(trace: Trace) -> None:
    """Down to the next row; around the rows between; and, for the residual connection, along the left side."""
    one, two, three = (tensor_view(name, np.ones((4, 8), np.float32), ("source", "d_model")) for name in "abc")
    part = Part("", [Source("x", "from", "x")], [[[one]], [[two]], [[three]]], [("x", "a"), ("a", "c")], [("x", "b")])
    figure = layer_figure([part])
    paths = [shape.path for shape in figure.layout.shapes if shape.type == "path" and not shape.fillcolor]
    down, around, residual = ([tuple(map(float, point.split(","))) for point in path[2:].split(" L ")] for path in paths)
    tops = {heatmap.meta: heatmap.y0 - heatmap.dy / 2 for heatmap in figure.data}
    assert down[-1][1] == pytest.approx(tops["a"])
    assert around[-1][1] == pytest.approx(tops["c"])
    assert max(x for x, _ in around) > 700
    assert residual[1][0] == residual[2][0] < min(heatmap.x0 - heatmap.dx / 2 for heatmap in figure.data)
    assert tops["b"] < residual[-1][1] < tops["b"] + 20


def test_cells_have_the_same_size_in_all_tensors(trace: Trace) -> None:
    for names in (("query.projected", "query.heads"), ("query.heads", "key.heads", "scores"), ("masked_scores", "weights")):
        *inputs, result = (view(trace, f"{ATTENTION}.{name}") for name in names)
        for width in (720, 380):
            figure = stop_figure(inputs, "", result, width)
            sizes = [cell(figure, tensor) for tensor in range(len(names))]
            assert np.allclose(sizes, sizes[0])


def test_axes_have_names_and_sizes_and_hovering_names_the_cell(trace: Trace) -> None:
    figure = stop_figure([], "softmax", view(trace, f"{ATTENTION}.weights"))
    tokens = trace.target_tokens[0]
    assert figure.layout.xaxis.title.text == f"key {len(tokens)}"
    assert figure.layout.yaxis.title.text == f"query {len(tokens)}"
    assert f"query 1: {tokens[1]}" in figure.layout.yaxis.labelalias.values()
    assert list(figure.layout.yaxis.ticktext[: len(tokens)]) == [
        token.replace("<", "&lt;").replace(">", "&gt;") for token in tokens
    ]
    weights = trace[f"{ATTENTION}.weights"].numpy()[0]
    shown = drawn(figure)[0]
    for head, values in enumerate(weights, 1):
        rows, columns = np.nonzero(shown.customdata == head)
        part = shown.z[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        np.testing.assert_array_equal(part[~np.isnan(part)], values[np.tril_indices(len(tokens))])


def test_masked_cells_are_hatched_and_show_their_number_on_hover(trace: Trace) -> None:
    figure = stop_figure([view(trace, "target_mask")], "hide", view(trace, f"{ATTENTION}.masked_scores"))
    hatches = [trace for trace in figure.data if trace.type == "scatter"]
    assert [hatch.fillpattern.shape for hatch in hatches] == ["/", "/"]
    hovers = [trace.hovertemplate for trace in figure.data if trace.type == "heatmap"]
    assert LABELS["hidden"] in hovers[0]
    assert "masked: −" in hovers[2]


@pytest.mark.parametrize("width", [720, 330])
def test_the_number_of_every_cell_is_found(trace: Trace, width: int) -> None:
    views = [view(trace, f"encoder.layers.0.self_attention.{name}") for name in ("query.heads", "scores")]
    figure = stop_figure(views[:1], "×", views[1], width)
    seen = 0
    for index, each in enumerate(views):
        map_of = [heatmap for heatmap in drawn(figure) if heatmap.xaxis == f"x{index + 1 if index else ''}"][-1]
        for y, line in enumerate(np.asarray(map_of.z)):
            for x, value in enumerate(line):
                at = number_at(views, width, index, x, y)
                if at is None:
                    assert np.isnan(value)  # a gutter
                    continue
                assert each.panel.values[at] == value
                seen += 1
        assert number_at(views, width, index, -1, 0) is number_at(views, width, index, 0, 10_000) is None
    assert seen == sum(each.panel.values.size for each in views)


def test_a_cell_for_several_numbers_is_that_of_the_strongest() -> None:
    values = RANDOM.normal(size=(2, 5, 700)).astype(np.float32)
    hidden = np.zeros(values.shape, bool)
    hidden[:, 0, :4] = True  # the first bin, and one number of the second
    views = [tensor_view("scores", values, ("head", "query", "key"), hidden=hidden)]
    shown = drawn(stop_figure([], "", views[0]))[0]
    bins = np.asarray(shown.z)
    assert bins.shape[1] == 234  # three numbers each
    for y, x in np.argwhere(~np.isnan(bins))[::11]:
        at = number_at(views, 720, 0, int(x), int(y))
        assert at is not None
        assert values[at] == bins[y, x]
        frame, _ = cell_frame(views, 720, 0, at)
        assert (frame["x0"], frame["x1"], frame["y0"], frame["y1"]) == (x - 0.5, x + 0.5, y - 0.5, y + 0.5)
    assert number_at(views, 720, 0, 0, 0) == (0, 0, 0)  # masked, so no number of the bin is the strongest
    assert cell_frame(views, 720, 0, (0, 0, 700)) == cell_frame(views, 720, 0, (0, -1, 0)) == []


def test_one_head_is_one_tile(trace: Trace) -> None:
    path = f"{ATTENTION}.weights"
    head = tensor_view(path, trace[path].numpy(), trace[path].axes, "weights", head=2)
    shown = drawn(stop_figure([], "softmax", head))[0]
    np.testing.assert_array_equal(shown.z, trace[path].numpy()[0, 2])


def test_a_wide_tensor_is_binned_and_picked_columns_are_exact() -> None:
    values = RANDOM.normal(size=(3, 2048)).astype(np.float32)
    wide = tensor_view("hidden", values, ("query", "d_ff"))
    figure = stop_figure([tensor_view("x", values[:, :512], ("query", "d_model"))], "× W", wide)
    bins = drawn(figure)[1].z
    assert bins.shape == (3, MOST_COLUMNS)
    assert (np.abs(bins) == np.abs(values.reshape(3, MOST_COLUMNS, -1)).max(-1)).all()
    assert "d_ff 8–15" in figure.layout.xaxis2.labelalias["1"]
    left, right = [axis.domain[1] - axis.domain[0] for axis in (figure.layout.xaxis, figure.layout.xaxis2)]
    assert right == pytest.approx(4 * left)  # cells have the same size with and without bins
    part = stop_figure([], "", wide.columns(1000, 1063))
    np.testing.assert_array_equal(drawn(part)[0].z, values[:, 1000:1064])
    assert part.layout.xaxis.labelalias["0"] == "d_ff 1000"


def test_a_bin_is_masked_only_if_all_its_cells_are() -> None:
    values, hidden = np.ones((1, 2 * MOST_COLUMNS), np.float32), np.zeros((1, 2 * MOST_COLUMNS), bool)
    hidden[0, :3] = True
    figure = stop_figure([], "", tensor_view("scores", values, ("query", "key"), hidden=hidden))
    assert np.isnan(drawn(figure)[0].z[0]).nonzero()[0].tolist() == [0]


def test_tensors_in_one_scale_share_their_colours() -> None:
    small, large = (tensor_view(str(size), np.full((2, 2), size, np.float32), ("a", "b")) for size in (1, 5))
    apart = stop_figure([small], "×", large)
    assert [trace.zmax for trace in drawn(apart)] == [1, 5]
    together = stop_figure(*(lambda views: (views[:1], "+", views[1]))(in_one_scale([small, large])))
    assert together.layout.coloraxis.cmax == 5
    assert {trace.coloraxis for trace in drawn(together)} == {"coloraxis"}


def test_branches_are_framed_in_their_colours_and_named(trace: Trace) -> None:
    attention = [stop for stop in walk(trace) if stop.path.startswith(f"{ATTENTION}.")]
    views = [view for stop in attention if (view := layer_view(trace, stop)).branch]
    chains = [list(chain) for _, chain in groupby(views, lambda view: view.branch)]
    figure = layer_figure([Part("", (), [chains])])
    frames = [shape.line.color for shape in figure.layout.shapes if shape.line.color in ROLE_COLORS.values()]
    assert frames == list(ROLE_COLORS.values())
    words = [note.text for note in figure.layout.annotations]
    assert all(f"<b>{LABELS[f'branch_{branch}']}</b>" in words for branch in ROLE_COLORS)


def layer_view(trace: Trace, stop: Stop) -> TensorView:
    branch = next((branch for branch in ROLE_COLORS if f".{branch}." in stop.path), None)
    hidden = trace.hidden(ATTENTION).numpy() if stop.path.endswith("weights") else None
    return tensor_view(stop.path, trace[stop.path].numpy(), stop.axes, branch=branch, hidden=hidden)


@pytest.mark.slow
def test_every_stop_of_a_run_can_be_drawn(trace: Trace) -> None:
    for stop in walk(trace):
        inputs = [view(trace, path) for path in stop.inputs if path in trace]
        assert json.loads(stop_figure(inputs, stop.operation, view(trace, stop.path)).to_json())["data"]


def test_another_table_of_labels_changes_the_figure(trace: Trace) -> None:
    weights = view(trace, f"{ATTENTION}.weights")
    labels = {**LABELS, "masked_value": "verdeckt: {value}", "branch_query": "Anfrage"}
    assert "verdeckt: 0" in stop_figure([], "", weights, labels=labels).to_json()
    query = tensor_view("Q", np.ones((2, 2)), ("query", "d_head"), branch="query")
    assert "Anfrage" in layer_figure([Part("", (), [[[query]]])], labels=labels).to_json()


@pytest.mark.parametrize("width", [720, 330])
def test_token_ids_have_cells_wide_enough_to_be_read(width: int) -> None:
    ids = tensor_view("ids", np.arange(1, 15)[None], ("batch", "source"), "ids", item=0)
    table = tensor_view("rows", np.ones((14, 512), np.float32), ("source", "d_model"))
    figure = stop_figure([ids], "look up rows", table, width)
    across, _ = cell(figure, 0)
    assert across * figure.layout.meta["least_width"] >= 30


def test_a_row_of_a_small_tensor_is_named_when_it_is_pointed_at() -> None:
    tokens = {"query": ("the", "<b>")}
    heads = tensor_view("Q", np.ones((1, 2, 2, 3)), ("batch", "head", "query", "d_head"), tokens=tokens)
    many = tensor_view("many", np.ones((1, 400, 3)), ("batch", "query", "d_model"))
    first, second = drawn(layer_figure([Part("", (), [[[heads, many]]])]))
    names = ["head 1, query 0: the", "head 1, query 1: &lt;b&gt;", "head 2, query 0: the", "head 2, query 1: &lt;b&gt;"]
    assert [{*row} for row in first.customdata] == [{name} for name in names]
    assert "%{customdata}" in first.hovertemplate
    assert second.customdata is None  # a row that is drawn stands for several


def test_ids_are_written_black_on_an_opaque_cell_in_both_themes(trace: Trace) -> None:
    ids, result = tensor_view("ids", np.array([[1, 5]]), ("batch", "source"), "ids"), view(trace, "source_embedding.token")
    (cells,) = (each for each in drawn(stop_figure([ids], "look up", result)) if each.texttemplate == "%{z}")
    assert cells.textfont.color == "black"
    assert {color for _, color in cells.colorscale} == {"rgb(222, 222, 222)"}


def test_a_colour_bar_has_numbers_at_its_ends_and_opened_columns_are_counted() -> None:
    values = np.array([[[-2.5, 0.0, 1.0, 2.0]]], np.float32)
    tensor = tensor_view("T", values, ("batch", "source", "d_model"))
    whole = stop_figure([], "", tensor)
    assert whole.layout.coloraxis.colorbar.ticktext == ("−2.5", "0", "2.5")
    assert whole.layout.xaxis.title.text == "d_model 4"
    assert stop_figure([], "", tensor.columns(1, 2)).layout.xaxis.title.text == "d_model 1–2 of 4"


@pytest.mark.parametrize("columns", [(512, 512), (128, 2119), (128, 128)])
def test_a_stop_with_long_titles_fits_its_width_and_its_ticks_do_not_touch(columns: tuple[int, int]) -> None:
    tokens = {"source": [f"word{number}" for number in range(14)]}
    before, after = (
        tensor_view(f"A tensor with {count} columns", RANDOM.normal(size=(14, count)), ("source", "d_ff"), "signed", tokens)
        for count in columns
    )
    figure = stop_figure([before], "max(0, x)", after, 560)
    assert figure.layout.meta["least_width"] == 560
    for axis in (figure.layout.xaxis, figure.layout.xaxis2):
        (low, high), (first, last) = axis.domain, axis.range
        apart = np.diff(axis.tickvals) * (high - low) * 560 / (last - first)
        assert (apart >= 30).all()
