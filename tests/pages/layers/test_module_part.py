"""Somebody's own module on the page Layers, tested without a browser."""

import math

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch import nn

from pages.layers.module_part import TENSOR
from pages.ui.text import text
from tests.pages.apps import charts, on_page, shown, shown_errors
from tests.pages.explained import explanation
from transformer import Watched, watch
from transformer.watching.compared_file import ComparedRun, ComparedTensor, compared_bytes

PAGE = "pages/layers/page.py"
PATHS = ("source_embedding.sum", "encoder.layers.0.self_attention.weights", "encoder.output", "logits")


def opened(data: bytes, **query: str) -> AppTest:
    """The part with a file opened."""
    app = on_page(PAGE, model="copy", part="module", **query)
    assert text("module")["empty"] in [info.value for info in app.info]
    app.file_uploader[0].upload("mine.safetensors", data).run()
    return app


def watched() -> bytes:
    """The file of a watched module with tokens that look like markup."""
    torch.manual_seed(0)
    module = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    return watch(module, torch.randn(2, 3, 8), tokens=[["<b>a</b>", "*b*", "$c$"], ["d", "e", "f"]]).to_bytes()


def compared() -> bytes:
    """A comparison in which the weights differ first, and one tensor has no partner."""
    generator = np.random.default_rng(0)
    axes = (("source", "d_model"), ("head", "query", "key"), ("source", "d_model"), ("target", "vocab"))
    shapes = ((3, 4), (2, 3, 3), (3, 4), (2, 5))
    tensors = []
    for path, names, shape, difference in zip(PATHS, axes, shapes, (0.0, 0.25, math.inf, 0.5), strict=True):
        ours = generator.random(shape).astype(np.float32)
        theirs = None if math.isinf(difference) else ours + np.float32(difference)
        tensors.append(ComparedTensor(path, names, difference, ours, theirs))
    labels = {"source": ("1", "2", "3"), "target": ("4", "5")}
    run = ComparedRun(("The logits differ.", "- No division (in <b>layer</b> 1)."), PATHS[1], 1e-4, tuple(tensors), labels)
    return compared_bytes(run)


def test_a_watched_module_opens_on_its_attention_and_shows_any_tensor() -> None:
    app = opened(watched())
    assert shown_errors(app) == ""
    assert app.session_state[TENSOR] == "self_attn.weights"
    assert [each.key for each in charts(app)] == ["own-tensor"]
    path = "linear1.output"
    app.session_state[TENSOR] = path
    app.run()
    assert shown_errors(app) == ""
    assert any("batch 2" in shown(line.value) and path in shown(line.value) for line in app.markdown)
    app.session_state["own_item"] = 2
    app.run()
    assert shown_errors(app) == ""


def test_a_comparison_opens_on_the_first_difference_and_draws_both_and_the_change() -> None:
    app = opened(compared())
    assert shown_errors(app) == ""
    assert app.session_state[TENSOR] == PATHS[1]
    assert "the first difference" in app.warning[0].value
    (chart,) = [each for each in charts(app) if each.key == "own-compared"]
    maps = [np.array(trace["z"], float) for trace in chart.spec["data"] if "z" in trace]
    assert len(maps) == 3
    assert maps[1] - maps[0] == pytest.approx(0.25, abs=1e-6)
    assert maps[2] == pytest.approx(0.25, abs=1e-6)
    for path, box, says in ((PATHS[0], "success", "the same numbers"), (PATHS[2], "warning", "no tensor of this size")):
        app.session_state[TENSOR] = path
        app.run()
        assert shown_errors(app) == ""
        assert says in getattr(app, box)[0].value


def test_other_files_are_refused_and_the_open_one_stays() -> None:
    app = opened(watched())
    app.file_uploader[0].upload("x.safetensors", b"no file").run()
    assert "Refused, and nothing has changed" in shown_errors(app)
    assert [each.key for each in charts(app)] == ["own-tensor"]
    app.file_uploader[0].upload("mine.safetensors", compared()).run()
    assert shown_errors(app) == ""
    assert [each.key for each in charts(app)] == ["own-compared"]


def test_a_file_without_tensors_and_one_with_a_long_description_open() -> None:
    app = opened(Watched({}, (), {}, {}).to_bytes())
    assert shown_errors(app) == ""
    assert not charts(app)
    tensor = ComparedTensor("logits", ("target", "vocab"), 0.0, np.ones((2, 3), np.float32), None)
    lines = tuple(f"{index} {'x' * 1_900}" for index in range(90))
    app.file_uploader[0].upload("long.safetensors", compared_bytes(ComparedRun(lines, None, 1e-4, (tensor,), {}))).run()
    assert shown_errors(app) == ""
    assert [each.key for each in charts(app)] == ["own-compared"]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("path", "cell", "says"),
    [
        ("self_attn.weights", "own-tensor.0.1.2", "softmax"),
        ("self_attn.scores", "own-tensor.1.1.2", "divided by"),
        ("self_attn.head_output", "own-tensor.0.2.3", "the values of all keys"),
        ("linear1.output", "own-tensor.0.2.5", "not its code"),
    ],
)
def test_a_number_of_a_watched_module_is_computed_from_the_tensors_in_the_file(path: str, cell: str, says: str) -> None:
    app = opened(watched(), cell=cell)
    app.session_state[TENSOR] = path
    found = explanation(app.run(), cell)
    assert path in found.says
    assert says in found.says
    assert ("query" if "self_attn" in path else "source") in found.says
    if path != "linear1.output":
        assert found.result == pytest.approx(found.drawn, rel=1e-3, abs=1e-5)
    else:
        assert f"{found.drawn:.8g}".replace("-", "−") in found.says


@pytest.mark.parametrize("trace", [0, 1, 2])
def test_a_number_of_a_comparison_is_beside_that_of_the_other_network(trace: int) -> None:
    cell = f"own-compared.{trace}.1.2"
    found = explanation(opened(compared(), cell=cell), cell)
    first, second = (float(part.strip("() ")) for part in found.formula.partition("=")[0].split(" - ", 1))
    assert (second, first, found.result)[trace] == pytest.approx(found.drawn, rel=1e-3)
    assert found.result == pytest.approx(0.25, abs=1e-5)


def test_a_number_without_a_partner_and_a_cell_that_does_not_exist() -> None:
    app = opened(compared(), cell="own-compared.0.1.2")
    app.session_state[TENSOR] = PATHS[2]
    assert "yours has no such tensor" in explanation(app.run(), "own-compared.0.1.2").says
    app = opened(compared(), cell="own-compared.0.9.1")
    assert shown_errors(app) == ""
    assert not app.get("latex")
