"""Drawings: each figure of the app in one call, and the notebook that shows some of the drawings."""

import ast
import base64
import functools
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from plotly.offline import get_plotlyjs

from tests.transformer.small import TARGET, small
from transformer import Ablate, Block, HeadlightError, Pipeline, Watched, draw, run_traced, watch
from transformer.analysis.head_measures import rollout
from transformer.draw.drawing import Drawing, drawn, own_model
from transformer.patching import (
    Patched,
    Place,
    RunPair,
    attribute_everywhere,
    needs,
    patch_everywhere,
    path_effects,
    run_pair,
)
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Beam
from transformer.tracing.trace import Trace

ROOT = Path(__file__).parents[3]
TEXT = "abcd"
EDIT = Ablate("decoder.layers.0.cross_attention.weights", heads=(1,))


@functools.cache
def model() -> Pipeline:
    return Pipeline.load("reverse")


@functools.cache
def run(*edits: Ablate | Block) -> Trace:
    return model().trace(TEXT, "dcba", edits)


@functools.cache
def seen() -> Watched:
    x = torch.linspace(-1, 1, 40).view(1, 5, 8)
    return watch(torch.nn.MultiheadAttention(8, 2, batch_first=True), x, x, x, tokens=[*"abcde"])


@functools.cache
def runs() -> RunPair:
    return run_pair(model(), TEXT, "abce")


def patched(**choice: str) -> Patched:
    *_, last = patch_everywhere(runs(), **choice)
    return last


CALLS: dict[str, Callable[[], Any]] = {
    "attention_gradients": lambda: draw.attention_gradients(model(), run(), "cross", 0, 1, 1),
    "beam": lambda: draw.beam(model(), TEXT),
    "circle": lambda: draw.circle(model()),
    "contributions": lambda: draw.contributions(model(), TEXT, 1),
    "convention": lambda: draw.convention(run(), "decoder", 0, 1, "pytorch"),
    "costs": lambda: draw.costs(model(), run()),
    "difference": lambda: draw.difference(run(), run(EDIT), "cross", 0, 1),
    "distances": lambda: draw.distances(model()),
    "distribution": lambda: draw.distribution(model(), TEXT, 1),
    "embedding": lambda: draw.embedding(run()),
    "empty_rows": lambda: draw.empty_rows(run(), "decoder", 0, 1),
    "head": lambda: draw.head(run(), "cross", 0, 1),
    "head_history": lambda: draw.head_history("reverse", TEXT, "cross", 0, 1),
    "estimated": lambda: draw.estimated(attribute_everywhere(runs()), patched()),
    "heads": lambda: draw.heads(run(), "cross"),
    "importance": lambda: draw.importance(model(), run(), 1),
    "input_gradients": lambda: draw.input_gradients(model(), run(), 1, steps=4),
    "layer": lambda: draw.layer(run(), "decoder"),
    "lens": lambda: draw.lens(model(), TEXT),
    "losses": lambda: draw.losses(model(), run()),
    "mask": lambda: draw.mask(run()),
    "mean_of_heads": lambda: draw.mean_of_heads(run(), "cross", 0),
    "needed": lambda: draw.needed(needs(patched(), patched(direction="noise"))),
    "padding": lambda: draw.padding(model(), run(), 2, masked=False),
    "patched": lambda: draw.patched(patched(positions="each")),
    "patched_answer": lambda: draw.patched_answer(model(), runs(), Place("cross", 0, 1)),
    "per_head": lambda: draw.per_head(path_effects(runs(), ("cross", 0, 1))),
    "position_products": lambda: draw.position_products(model()),
    "positions": lambda: draw.positions(model()),
    "probabilities": lambda: draw.probabilities(model(), run(), run(EDIT)),
    "residual": lambda: draw.residual(run(), measure="added_norm"),
    "rollout": lambda: draw.rollout(run(), "encoder"),
    "rotation": lambda: draw.rotation(),
    "rows": lambda: draw.rows(model(), TEXT),
    "similarity": lambda: draw.similarity(model(), TEXT),
    "smoothing": lambda: draw.smoothing(model(), TEXT),
    "step": lambda: draw.step(run(), "cross", 0, 1, "scores"),
    "steps": lambda: draw.steps(run(), "cross", 0, 1),
    "swap": lambda: draw.swap(model(), TEXT, 1, 2),
    "tensor": lambda: draw.tensor(run(), "source_embedding.token"),
    "terms": lambda: draw.terms(model(), run(), "cross", 0, 1, "weights", 0, 2),
    "training": lambda: draw.training(model()),
    "units": lambda: draw.units(model(), run(), "encoder.layers.0.feed_forward", 1),
    "vocabulary": lambda: draw.vocabulary(model(), TEXT),
    "watched_head": lambda: draw.watched_head(seen(), "", 1),
    "watched_heads": lambda: draw.watched_heads(seen(), ""),
    "watched_tensor": lambda: draw.watched_tensor(seen(), "output.0"),
    "waves": lambda: draw.waves(model()),
    "weight_sizes": lambda: draw.weight_sizes(model()),
}
# It loads PyTorch's meta device, which takes seconds, once per process. The tests of costs load it too, and test this drawing.
IN_THE_TESTS_OF_COSTS = {"growth"}


@pytest.mark.few_cases(12)
@pytest.mark.parametrize("name", CALLS)
def test_a_drawing_is_a_figure_with_data(name: str) -> None:
    drawing = CALLS[name]()
    assert drawing.figure.data
    go.Figure(drawing.figure.to_dict())  # Plotly checks every property
    assert drawing.name
    assert all(word not in drawing.name for word in ("None", "<"))


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    "call",
    [
        lambda: draw.head(run(), "cross", 9, 0),
        lambda: draw.head(run(), "sideways", 0, 0),
        lambda: draw.head(run(), "cross", 0, 9),
        lambda: draw.mask(run(), item=3),
        lambda: draw.mask(run_traced(small(), None, TARGET), "source"),
        lambda: draw.convention(run(), "cross", 0, 0, "bert"),
        lambda: draw.layer(run(), "encoder", 9),
        lambda: draw.layer(run(), "middle", 0),
        lambda: draw.tensor(run(), "encoder.layers.0.nothing"),
        lambda: draw.residual(run(), measure="weight"),
        lambda: draw.growth(run(), counted="seconds"),
        lambda: draw.distribution(model(), TEXT, 99),
        lambda: draw.contributions(model(), TEXT, -1),
        lambda: draw.training(model(), "beauty"),
        lambda: draw.training(model(), np.ones(2)),
        lambda: draw.vocabulary(model(), torch.ones(2)),
        lambda: draw.growth(run(), np.ones(2)),
        lambda: draw.residual(run(), np.ones(2)),
        lambda: draw.head_history("reverse", TEXT, "cross", 0, 0, target=torch.ones(2)),
        lambda: draw.padding(model(), run(), masked=torch.ones(2)),
        lambda: own_model("reverse"),
        lambda: draw.head_history("nothing", TEXT, "cross", 0, 0),
        lambda: draw.head_history("reverse", TEXT, "cross", 0, 0, "beauty"),
        lambda: draw.head_history("reverse", TEXT, "cross", 0, 9),
        lambda: draw.head_history("reverse", TEXT, "cross", 0, 0, "induction"),
        lambda: draw.input_gradients(model(), run(), 99),
        lambda: draw.attention_gradients(model(), run(), "cross", 0, 9, 1),
        lambda: draw.heads(run(), "cross", 5),
        lambda: draw.mean_of_heads(run(), "cross", 9),
        lambda: draw.mean_of_heads(run(), "cross", item=5),
        lambda: draw.rollout(run(), "encoder", 9),
        lambda: draw.rollout(run(), "encoder", item=5),
        lambda: draw.steps(run(), "cross", 0, 1, 99),
        lambda: draw.step(run(), "cross", 0, 1, "scores", 99),
        lambda: draw.tensor(run(), "encoder.output", 3),
        lambda: draw.tensor(run(), "encoder.layers.0.self_attention.weights", head=9),
        lambda: draw.layer(run(), "encoder", 0, 3),
        lambda: draw.convention(run(), "decoder", 0, 9),
        lambda: draw.empty_rows(run(), "decoder", 0, 9),
        lambda: draw.embedding(run(), "source", 7),
        lambda: draw.waves(model(), (999,)),
        lambda: draw.watched_head(seen(), "nowhere"),
        lambda: draw.watched_head(seen(), "", head=2),
        lambda: draw.watched_heads(seen(), "", item=1),
        lambda: draw.watched_tensor(seen(), "output.0", item=1),
        lambda: draw.circle(model(), 999),
        lambda: draw.circle(model(), position=62),
        lambda: draw.patched(patched(), "beauty"),
        lambda: draw.per_head({}),
        lambda: draw.estimated({}, patched()),
        lambda: draw.patched_answer(model(), runs(), Place("cross", 0, 9)),
    ],
)
def test_a_drawing_of_something_missing_raises_an_error_of_the_library(call: Callable[[], Any]) -> None:
    with pytest.raises(HeadlightError):
        call()


def test_every_drawing_is_tested() -> None:
    assert {*CALLS, *IN_THE_TESTS_OF_COSTS, "Drawing"} == set(draw.__all__)


def test_every_figure_of_the_pages_has_a_drawing() -> None:
    pages = [path.read_text() for path in (ROOT / "pages").rglob("*.py")]
    figures = {name.rpartition(".")[2] for page in pages for name in re.findall(r"\bchart\(\s*([a-z][\w.]*),", page)}
    assert len(figures) > 30
    sources = "\n".join(path.read_text() for path in (ROOT / "transformer" / "draw").glob("*.py"))
    aliases = {"empty_rows": "rows_figure"}
    missing = {name for name in figures if f"{aliases.get(name, name)}(" not in sources}
    assert not missing


def test_a_drawing_has_the_numbers_of_the_run() -> None:
    weights = run().weights("cross", 0)[0, 1].numpy()
    heatmap: Any = draw.head(run(), "cross", 0, 1).figure.data[-1]
    np.testing.assert_allclose(heatmap.z, weights, rtol=1e-6)
    small: Any = draw.head(run(), "cross", 0, 1, small=True).figure.data[-1]
    np.testing.assert_allclose(small.z, weights, rtol=1e-6)
    mean: Any = draw.mean_of_heads(run(), "cross", 0).figure.data[-1]
    np.testing.assert_allclose(mean.z, run().weights("cross", 0)[0].numpy().mean(0), rtol=1e-5)
    change: Any = draw.difference(run(), run(EDIT), "cross", 0, 1).figure.data[-1]
    np.testing.assert_allclose(change.z, -weights, rtol=1e-5)
    assert draw.head(run(), "cross", 0, 1).numbers.shape == weights.shape


def test_a_map_of_several_heads_hides_only_what_none_of_them_may_attend_to() -> None:
    edges = (
        Block("encoder.layers.0.self_attention", heads=(0,), edges=((1, 2),)),
        Block("decoder.layers.1.self_attention", edges=((3, 1),)),
    )
    trace = run(*edges)
    weights = trace.attention("encoder")[:, 0].numpy()
    np.testing.assert_allclose(draw.mean_of_heads(trace, "encoder", 0).numbers, weights[0].mean(0), rtol=1e-5)
    np.testing.assert_allclose(draw.mean_of_heads(trace, "encoder").numbers, weights.mean((0, 1)), rtol=1e-5)
    np.testing.assert_allclose(draw.rollout(trace, "encoder").numbers, rollout(weights)[-1], rtol=1e-5)
    # Later keys are hidden in every head. A key that is blocked in one layer is reached through the other.
    causal = np.triu(np.ones(trace.attention("decoder").shape[-2:], bool), 1)
    (blocked,) = np.argwhere(np.isnan(draw.mean_of_heads(trace, "decoder", 1).numbers) & ~causal)
    assert tuple(blocked) == (3, 1)
    for drawing in (draw.mean_of_heads(trace, "decoder"), draw.rollout(trace, "decoder")):
        np.testing.assert_array_equal(np.isnan(drawing.numbers), causal)


def test_a_drawing_needs_no_network(tmp_path: Path) -> None:
    html = draw.head(run(), "cross", 0, 1)._repr_html_()
    (packed,) = re.findall(r'atob\("([^"]+)"\)', html)
    assert gzip.decompress(base64.b64decode(packed)).decode() == get_plotlyjs()
    assert not re.search(r"(src|href)\s*=|https?://|import\s*\(|@import", html.replace(packed, ""))
    assert 'aria-label="The attention of one head"' in html
    draw.head(run(), "cross", 0, 1).save(tmp_path / "head.html")
    assert "<title>The attention of one head</title>" in (tmp_path / "head.html").read_text()


def test_text_of_a_figure_cannot_end_the_script() -> None:
    hostile = "</script><script>alert(1)</script>"
    html = Drawing(go.Figure(go.Bar(x=[hostile], y=[1])), '"><b>')._repr_html_()
    assert html.count("</script>") == 1
    assert '"><b>' not in html


def test_a_drawing_is_named_by_the_first_sentence() -> None:
    @drawn
    def nothing(width: int) -> go.Figure:
        """Nothing at all. And
        more."""
        return go.Figure(layout={"width": width})

    drawing = nothing(width=30)
    assert drawing.name == "Nothing at all"
    assert drawing.figure.layout["width"] == 30


@pytest.mark.slow
def test_the_notebook_runs_and_shows_its_drawings() -> None:
    cells = json.loads((ROOT / "docs" / "notebook.ipynb").read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells)
    values: dict[str, Any] = {}
    shown = []
    for cell in cells:
        if cell["cell_type"] == "code":
            # As in a notebook, all statements are run, and the value of the last statement is shown.
            body = ast.parse("".join(cell["source"])).body
            last = body.pop() if isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), "notebook", "exec"), values)
            if isinstance(last, ast.Expr):
                shown.append(eval(compile(ast.Expression(last.value), "notebook", "eval"), values))
    drawings = [value for value in shown if isinstance(value, Drawing)]
    assert len(drawings) >= 7
    assert all(drawing._repr_html_().startswith("<div") for drawing in drawings)
    assert shown[0]


def test_the_distribution_of_a_beam_search_belongs_to_the_branch_of_the_answer() -> None:
    pipeline, text = Pipeline.load("english-french"), "it was too tired because the street did not cross the animal"
    generation = Generation.of(pipeline.generate(text, Beam(4)))
    made = generation.chain(generation.best)[7]
    assert made.row == 1  # another branch was the best until then
    figure = draw.distribution(pipeline, text, 7, Beam(4))
    assert float(figure.figure.data[0].x[0]) == pytest.approx(float(generation.steps[7].own.probabilities[made.row].max()))


def test_labels_count_layers_heads_and_steps_from_0_as_the_arguments_do() -> None:
    importance: Any = draw.importance(model(), run(), 1).figure.data[0]
    assert (importance.x[0], importance.y[0]) == ("0", "0")
    weights = "encoder.layers.0.self_attention.weights"
    tensor = draw.tensor(run(), weights).figure
    numbers = [note.text for note in tensor.layout.annotations if note.text.isdecimal()]
    heads = run().heads("encoder")
    assert numbers[-heads:] == [*map(str, range(heads))]
    drawn_heads = {
        int(number) for trace in tensor.data if trace.customdata is not None for number in np.ravel(trace.customdata)
    }
    assert drawn_heads <= {-1, *range(heads)}  # −1 in the space between heads, over which nothing is shown
    layer = draw.layer(run(), "encoder", 0).figure.data
    rows = [row[0] for trace in layer if trace.meta == weights and trace.customdata is not None for row in trace.customdata]
    assert rows[0].startswith("head 0, ")
    labels = draw.residual(run()).figure.layout.xaxis.ticktext
    assert [label for label in labels if label.startswith("0 ")] == ["0 self attention", "0 feed forward"]
    assert draw.beam(model(), TEXT, 2).figure.layout.xaxis.ticktext[0] == "0"
