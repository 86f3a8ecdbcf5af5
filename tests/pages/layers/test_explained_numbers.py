"""A clicked number of the page Layers is explained by a formula whose result is the number that is drawn."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from pages.shell.view.explained_number import factor
from pages.ui.format import latex
from pages.ui.text import text
from tests.pages.explained import explained
from transformer import Pipeline
from transformer.analysis.provenance import ACTIVATIONS
from transformer.huggingface.files import WEIGHTS
from transformer.network.cost import ALONG
from transformer.pipeline.untrained import Untrained

PAGE = "pages/layers/page.py"
VIEW = {"model": "english-french", "source": "the cat sleeps ."}


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("measure", ["norm", "added", "cosine", "similarity"])
@pytest.mark.parametrize(("cell", "more"), [("stream.2.2.1", {}), ("stream.0.0.3", {"stack": "decoder"})])
def test_a_point_of_the_residual_stream_is_a_length_or_a_cosine(cell: str, measure: str, more: dict[str, str]) -> None:
    found = explained(PAGE, cell, part="residual-stream", measure=measure, **more, **VIEW)
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "zero", "vector", "column"),
    [("cosine", "encoder.layer.0.attention.output.dense", "a", 0), ("similarity", "embeddings.LayerNorm", "b", 2)],
)
def test_a_vector_of_zeros_has_no_cosine(
    measure: str, zero: str, vector: str, column: int, tmp_path: Path, name_folders: Callable[..., None]
) -> None:
    """In a model whose first output, or whose vectors at the start, are zeros."""
    tiny = pytest.importorskip("tests.transformer.huggingface.tiny", reason="transformers is not installed")
    folder = tmp_path / "zeros"
    tiny.save_model("bert", folder)
    tiny.save_tokenizer(folder)
    weights = load_file(folder / WEIGHTS)
    for name in weights:
        if f".{zero}." in name:
            weights[name].zero_()
    save_file(weights, folder / WEIGHTS, {"format": "pt"})
    name_folders(folder)
    found = explained(PAGE, f"stream.1.1.{column}", part="residual-stream", measure=measure, model="zeros", source="the cat .")
    assert found.drawn == 0
    assert found.formula == ""
    assert text("residual")["explained"]["no_cosine"].format(vector=vector) in found.says


def test_every_operation_of_the_arithmetic_is_said_in_words() -> None:
    assert {*text("arithmetic")["made"]} == {"add", "linear map", "LayerNorm", *ACTIVATIONS.values()}


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("group", ["encoder-1", "decoder-2"])
@pytest.mark.parametrize(
    "cell",
    [
        *(f"work_residual.{view}.0.5" for view in range(3)),
        *(f"work_norm.{view}.0.5" for view in range(2)),
        *(f"work_ff.{view}.0.7" for view in range(2)),
        "work_units.0.0.1",
    ],
)
def test_a_number_of_the_arithmetic_is_the_result_of_its_step(cell: str, group: str) -> None:
    view = {"model": "reverse", "source": "abcd", "part": "arithmetic", "sublayer": "feed_forward", "group": group}
    found = explained(PAGE, cell, **view)
    assert found.result == pytest.approx(found.drawn, rel=1e-4, abs=1e-5)
    if not cell.startswith("work_units"):
        assert found.says.partition("): ")[2].removesuffix(".") in text("arithmetic")["made"].values()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "path"),
    [
        ("work_residual.1.0.300", "encoder.layers.0.feed_forward.output"),
        ("work_residual.2.0.300", "encoder.layers.0.feed_forward_add_norm.sum"),
        ("work_norm.1.0.511", "encoder.layers.0.feed_forward_add_norm.normalized"),
        ("work_ff.0.0.1000", "encoder.layers.0.feed_forward.hidden"),
        ("work_ff.1.0.1000", "encoder.layers.0.feed_forward.activated"),
    ],
)
def test_a_number_in_a_cell_for_several_numbers_is_the_result_of_its_step(cell: str, path: str) -> None:
    sizes = {"n_layers": "1", "n_heads": "8", "d_model": "512", "d_ff": "1024"}
    view = {"model": "own-sizes", "source": "the cat", "part": "arithmetic", "sublayer": "feed_forward"}
    found = explained(PAGE, cell, **view, **sizes)
    assert any(text("arithmetic")["binned"] in caption.value for caption in found.app.caption)
    fields = {"encoder_layers": 1, "decoder_layers": 1, "heads": 8, "d_model": 512, "d_ff": 1024}
    values = Untrained.of("vanilla", ["the cat"], (), fields).build().trace("the cat")[path].numpy()
    value = values[0, found.app.session_state["position"], int(cell.rpartition(".")[2])]
    assert found.result == pytest.approx(value, rel=1e-4, abs=1e-5)


FOLDED = {"model": "reverse", "source": "abcd", "parameters": "true"}


def test_a_weight_is_a_factor_of_the_product_that_is_farthest_from_zero() -> None:
    found = explained(PAGE, "parameter-1.0.7.3", stop="encoder.layers.0.feed_forward.hidden", **FOLDED)
    assert "encoder.layers.0.feed_forward.up_projection.weight[7, 3]" in found.says
    weight, given = re.findall(r"[-\d.]+", found.formula.partition("=")[0])
    assert float(weight) == pytest.approx(found.drawn, rel=1e-4)
    values = Pipeline.load("reverse").trace("abcd")["encoder.layers.0.self_attention_add_norm.normalized"].numpy()[0]
    assert abs(float(given)) == pytest.approx(abs(values[:, 3]).max(), rel=1e-4)
    assert found.result == pytest.approx(float(weight) * float(given), rel=1e-3)


def test_a_bias_is_added_to_the_sum_and_a_weight_of_layer_norm_multiplies() -> None:
    bias = explained(PAGE, "parameter-2.0.0.5", stop="encoder.layers.0.feed_forward.hidden", **FOLDED)
    assert f"+ {factor(bias.drawn)} =" in bias.formula
    result = Pipeline.load("reverse").trace("abcd")["encoder.layers.0.feed_forward.hidden"].numpy()[0, :, 5]
    assert abs(bias.result) == pytest.approx(abs(result).max(), rel=1e-4)
    norm = explained(PAGE, "parameter-1.0.0.5", stop="encoder.layers.0.feed_forward_add_norm.normalized", **FOLDED)
    assert rf"\cdot {latex(norm.drawn)} +" in norm.formula


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("model", "stop", "says"),
    [
        ("reverse", "source_embedding.token", "the row of “a”"),
        ("reverse-shared", "source_embedding.position", "the row of position 4"),
        ("own-sizes", "source_embedding.token", "It is random"),
    ],
)
def test_a_number_of_a_table_says_whose_row_it_is_in(model: str, stop: str, says: str) -> None:
    found = explained(PAGE, "parameter-1.0.4.2", stop=stop, **FOLDED | {"model": model})
    assert says in found.says
    assert found.formula == ""


def test_the_weight_of_a_cell_for_several_is_the_strongest() -> None:
    sizes = {"n_layers": "1", "n_heads": "8", "d_model": "512", "d_ff": "1024", "source": "the cat"}
    query = {"model": "own-sizes", "stop": "encoder.layers.0.feed_forward.hidden", "every": "true", "parameters": "true"}
    found = explained(PAGE, "parameter-1.0.200.100", **query, **sizes)
    row, column = map(int, re.findall(r"weight\[(\d+), (\d+)\]", found.says)[0])
    assert (row // 4, column // 2) == (200, 100)
    assert float(found.formula.partition(" ")[0].strip("()")) == pytest.approx(found.drawn, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("counted", range(3))
def test_the_share_of_a_kind_of_work_is_the_sum_of_its_terms_divided_by_all(counted: int) -> None:
    for trace in range(7):
        found = explained(PAGE, f"ledger-shares.{trace}.{trace}.{counted}", part="ledger", **VIEW)
        if not found.drawn:  # such as the FLOPs of masks
            continue
        assert found.result == pytest.approx(found.drawn, rel=1e-4)
        (table,) = (each.value for each in found.app.table if text("ledger")["explained"]["columns"]["times"] in each.value)
        amounts = [int(amount.replace(",", "")) for amount in table["together"]]
        for times, each, amount in zip(table["how many"], table["each"], amounts, strict=True):
            sizes = [int(size.replace(",", "")) for size in re.findall(r"(?:^|\s)([\d,]+)(?= ·|$)", each)]
            assert int(times) * math.prod(sizes) == amount
        whole = int(found.formula.partition("}{")[2].replace("{,}", "").partition("}")[0])
        assert sum(amounts) / whole == pytest.approx(found.drawn, rel=1e-4)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("along", ALONG)
@pytest.mark.parametrize("counted", ["FLOPs", "parameters", "bytes"])
def test_a_point_of_the_growth_is_a_sum_of_products_of_sizes(along: str, counted: str) -> None:
    for trace in (0, 2):
        cell = f"ledger-growth.{trace}.{trace}.1"
        found = explained(PAGE, cell, part="ledger", along=along, counted=counted.lower(), model="reverse", source="abcd")
        assert found.result == pytest.approx(found.drawn, rel=1e-6)


def test_the_line_of_all_work_is_the_sum_of_the_others() -> None:
    view = {"part": "ledger", "model": "reverse", "source": "abcd", "counted": "flops"}
    found = explained(PAGE, "ledger-growth.4.4.3", **view)
    assert "the sum over the kinds of work" in found.says
    assert found.result == pytest.approx(found.drawn, rel=1e-6)
