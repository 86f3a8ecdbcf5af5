"""A clicked number of the page *Watch it write* is explained by a formula whose result is the number that is drawn."""

import json
import re
from collections.abc import Callable

import numpy as np
import pytest

from pages.ui.text import text
from tests.pages.decoding.answers import example
from tests.pages.explained import explained
from transformer import Pipeline
from transformer.analysis.logit_contributions import OUTPUT_BIAS, Part, contribution
from transformer.errors import PathError
from transformer.pipeline.decoding.generation import Generation

PAGE = "pages/decoding/page.py"
SAMPLING = {"method": "sampling", "controls": "temperature,top-k", "temperature": "1.5", "top_k": "3", "step": "2"}
BEAM = {"method": "beam", "step": "2", "part": "beam"}
BARS = (
    ("contributions.0.0.3", {"part": "lens", "step": "3"}),
    ("contributions.0.0.14", {"part": "lens", "step": "3"}),
    ("stages.0.0.1", SAMPLING),
    ("stages.1.1.0", SAMPLING),
    ("stages.0.0.10", SAMPLING),
    ("draw-bars.0.0.0", SAMPLING | {"draws": "true"}),
    ("draw-bars.1.1.0", SAMPLING | {"draws": "true"}),
    ("losses.0.0.1", {"part": "taught"}),
    ("smoothing.0.0.0", {"part": "taught"}),
    ("smoothing.0.0.1", {"part": "taught"}),
    ("smoothing.0.0.10", {"part": "taught"}),
    ("smoothing.1.1.0", {"part": "taught"}),
    ("node-bars.0.0.1", BEAM),
    ("node-attention.0.1.2", BEAM),
)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(("cell", "query"), BARS)
def test_the_formula_ends_in_the_number_that_is_drawn(cell: str, query: dict[str, str]) -> None:
    found = explained(PAGE, cell, model="english-french", source=example("english-french"), **query)
    assert found.result == pytest.approx(found.drawn, rel=2e-4, abs=2e-6)


def test_a_token_that_was_cut_off_has_the_probability_0() -> None:
    found = explained(PAGE, "stages.2.2.5", model="english-french", source=example("english-french"), **SAMPLING)
    assert "has cut" in found.says
    assert found.result == 0


@pytest.mark.slow
def test_the_first_stage_that_cuts_a_token_off_is_named() -> None:
    view = SAMPLING | {"controls": "temperature,top-k,top-p", "top_p": "0.9"}
    early, late = (
        explained(PAGE, f"stages.{stage}.{stage}.5", model="english-french", source=example("english-french"), **view).says
        for stage in (2, 3)
    )
    assert "top-k 3* has cut" in early
    assert late == early


def test_the_logarithm_of_a_small_probability_is_that_of_the_whole_number() -> None:
    found = explained(PAGE, "losses.0.0.1", model="english-french", source=example("english-french"), part="taught")
    assert re.match(r"-\\ln\([^()]+\) = ", found.formula)


def test_the_bias_of_a_second_token_is_subtracted() -> None:
    pipeline = Pipeline.load("english-french")
    step = Generation.of(pipeline.generate("the cat sleeps .")).steps[0]
    token, other = step.own.logits[0].topk(2).indices.tolist()
    found = contribution(pipeline.network, step.values, Part(OUTPUT_BIAS), token, other)
    biases = pipeline.network.output_projection.bias.detach().double()
    assert found.result == pytest.approx(float(biases[token] - biases[other]))
    view = {"model": "english-french", "source": "the cat sleeps .", "part": "lens", "step": "1", "against": str(other)}
    bar = explained(PAGE, "contributions.0.0.2", **view)
    assert f"less that of “{pipeline.target_vocabulary.tokens[other]}”" in bar.says
    assert bar.result == pytest.approx(bar.drawn, rel=2e-4, abs=2e-6)
    with pytest.raises(PathError, match="There is no part"):
        contribution(pipeline.network, step.values, Part("cross", 9, 0), token)


@pytest.mark.parametrize("point", [0, 2])
def test_a_cell_of_the_lens_is_explained_by_its_logit_and_its_rank(point: int) -> None:
    found = explained(PAGE, f"lens.0.{point}.3", model="english-french", source="the cat sleeps .", part="lens")
    rank = round(10**found.drawn)
    assert f"its rank is **{rank}**" in found.says
    assert found.formula.count("=") == 3  # of the logit, and twice of the probability
    assert found.result <= 1


@pytest.mark.parametrize("trace", [0, 1, 2])
def test_a_bar_of_two_answers_is_a_probability_or_the_difference(trace: int) -> None:
    view = {"model": "english-french", "source": "the cat sleeps .", "b": "the dog sleeps .", "step": "2"}
    found = explained(PAGE, f"two-runs.{trace}.{trace}.1", **view)
    assert found.result == pytest.approx(found.drawn, rel=2e-4, abs=2e-6)


def test_a_bar_that_a_run_does_not_have_gets_no_ring() -> None:
    view = {"model": "reverse", "source": "abcd", "b_model": "english-french", "step": "1"}
    found = explained(PAGE, "two-runs.1.1.0", **view)
    assert np.isnan(found.drawn)
    assert text("second_run")["explained_missing"] in found.says
    components = (each.proto for each in found.app.get("bidi_component"))
    (sent,) = (json.loads(each.json) for each in components if each.component_name == "plotly_chart_marks")
    assert sent == {"chart": "two-runs", "shapes": []}


@pytest.mark.slow
@pytest.mark.parametrize(("model", "biased"), [("gpt2", False), ("english-french", True)])
def test_a_logit_of_the_lens_has_a_bias_only_if_the_output_layer_has_one(
    model: str, biased: bool, name_folders: Callable[..., None]
) -> None:
    if model == "gpt2":
        tiny = pytest.importorskip("tests.transformer.huggingface.tiny", reason="transformers is not installed")
        name_folders(tiny.folder_of(model))
    found = explained(PAGE, "lens.0.1.1", model=model, source="the cat sleeps .", part="lens")
    assert ("plus a bias" in found.says) is biased
    logit, *_ = found.formula.splitlines()
    *_, last = logit.partition(" = ")[0].split(" + ")
    assert (r"\cdot" in last) is not biased
