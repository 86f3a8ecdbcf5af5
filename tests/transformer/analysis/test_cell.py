"""Tests of the steps of a head and of the explanation of each of their numbers."""

import math

import numpy as np
import pytest
import torch

from tests.transformer.small import SOURCE, TARGET, VARIANTS, small
from transformer.analysis.cell import Explanation, explain
from transformer.analysis.head_steps import attention_steps, step_names
from transformer.errors import InputError, PathError
from transformer.network.config import PRESETS
from transformer.network.model import Transformer
from transformer.pipeline.pipeline import Pipeline
from transformer.tracing.interventions import Ablate, Block
from transformer.tracing.paths import Kind
from transformer.tracing.trace import Trace, run_traced

# The first source has only padding, so queries of encoder and cross-attention have no allowed keys.
EMPTY = torch.tensor([[0, 0, 0, 0, 0], [1, 8, 7, 3, 0]])
Run = tuple[Transformer, Trace]


def traced(preset: str, norm_first: bool = False, **values: object) -> Run:
    model = small(preset, norm_first=norm_first, **values)
    # The scores of an untrained small model are near 0. With larger weights, the scores and the softmax weights vary much more.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".query." in name or ".key." in name:
                parameter.mul_(4)
            if name.endswith("bias"):
                parameter.add_(torch.randn_like(parameter))
    return model, run_traced(model, EMPTY, TARGET[:, :4])


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda variant: f"{variant[0]}-{'pre' if variant[1] else 'post'}")
def run(request: pytest.FixtureRequest) -> Run:
    return traced(*request.param)


def close(cell: Explanation) -> bool:
    """Whether result and traced number differ by at most 1e-5 of the largest term. It does not use `Explanation.agrees`."""
    if cell.result == cell.traced:
        return True
    size = max([1e-2, abs(cell.traced), *(abs(term.value) for term in cell.terms)])
    return abs(cell.result - cell.traced) <= 1e-5 * size


@pytest.mark.slow
@pytest.mark.parametrize("kind", Kind)
def test_every_number_of_every_step_equals_its_explanation(run: Run, kind: str):
    model, trace = run
    # Pre-norm changes only the input of the attention, so for it every twelfth number is enough.
    every = 12 if trace.config.norm_first else 1
    for layer, head, item in ((0, 0, 0), (1, 2, 1)):
        for step in attention_steps(trace, kind, layer, head, item):
            for row, column in list(np.ndindex(step.values.shape))[::every]:
                cell = explain(model, trace, kind, layer, head, step.name, row, column, item)
                assert cell.traced == step.values[row, column]
                assert close(cell), (step.name, row, column, cell)
                assert cell.agrees


def test_the_batch_has_queries_without_allowed_keys(run: Run):
    _, trace = run
    assert trace.fully_masked("encoder")[:, 0].all()
    assert trace.fully_masked("cross")[:, 0].all()


@pytest.mark.parametrize("kind", Kind)
def test_terms_add_up_to_the_result(run: Run, kind: str):
    model, trace = run
    for step in attention_steps(trace, kind, 0, 1, 1):
        cell = explain(model, trace, kind, 0, 1, step.name, 1, 1, 1)
        extra = dict(cell.extra)
        if cell.operation == "sum of products":
            assert all(term.value == term.left * term.right for term in cell.terms)
            assert math.isclose(sum(term.value for term in cell.terms) + extra.get("bias", 0), cell.result)
        if cell.operation == "softmax":
            assert all(term.value == math.exp(term.right) for term in cell.terms)
            assert math.isclose(cell.terms[1].value / extra["total"], cell.result)


@pytest.mark.parametrize("kind", Kind)
def test_steps_come_in_the_order_of_the_trace(run: Run, kind: str):
    _, trace = run
    steps = attention_steps(trace, kind, 1, 0)
    order = [step.path for step in trace]
    places = [order.index(step.path) for step in steps if step.name != "memory"]
    assert places == sorted(places)
    assert [step.name for step in steps] == list(step_names(trace, kind))
    assert ("memory" in step_names(trace, kind)) == (kind == "cross")


@pytest.mark.few_cases(8)
@pytest.mark.parametrize("kind", Kind)
def test_input_and_memory_are_the_inputs_of_the_attention(run: Run, kind: Kind):
    model, trace = run
    for layer in range(2):
        given: list[torch.Tensor] = []
        hook = model.get_submodule(str(kind.path(layer))).register_forward_pre_hook(
            lambda _, inputs, given=given: given.extend(inputs[:2])
        )
        with torch.inference_mode():
            model(EMPTY, TARGET[:, :4])
        hook.remove()
        steps = {step.name: step for step in attention_steps(trace, kind, layer, 0, 1)}
        assert (steps["input"].values == given[0][1].numpy()).all()
        assert (steps.get("memory", steps["input"]).values == given[1][1].numpy()).all()


def test_a_step_has_its_axes_and_their_tokens(run: Run):
    _, trace = run
    steps = {step.name: step for step in attention_steps(trace, "cross", 0, 1, 1)}
    assert {name: step.axes for name, step in steps.items()} == {
        "input": ("target", "d_model"),
        "memory": ("source", "d_model"),
        "query": ("query", "d_head"),
        "key": ("key", "d_head"),
        "value": ("key", "d_head"),
        **dict.fromkeys(("scores", "scaled_scores", "masked_scores", "weights"), ("query", "key")),
        "head_output": ("query", "d_head"),
        "concatenated": ("query", "d_model"),
        "output": ("query", "d_model"),
    }
    assert steps["input"].tokens == ("query", None)
    assert steps["memory"].tokens == steps["value"].tokens == ("key", None)
    assert steps["weights"].tokens == ("query", "key")
    assert steps["weights"].whole == (("batch", 2), ("head", 3), ("query", 4), ("key", 5))
    assert steps["output"].whole == (("batch", 2), ("query", 4), ("d_model", 12))
    assert np.array_equal(steps["weights"].values, trace.attention("cross")[0, 1, 1].numpy())
    for step in steps.values():
        assert step.values.shape == step.hidden.shape
        with pytest.raises(ValueError, match="read-only"):
            step.values[0, 0] = 0


def test_hidden_numbers_are_marked_in_the_masked_scores_and_later_steps(run: Run):
    _, trace = run
    for kind in Kind:
        allowed = trace.allowed(kind)[0, 0, 0].numpy()
        names = step_names(trace, kind)
        for step in attention_steps(trace, kind, 0, 0):
            after = names.index(step.name) >= names.index("masked_scores") and step.axes == ("query", "key")
            assert np.array_equal(step.hidden, ~allowed if after else np.zeros_like(step.hidden))
    assert ("scaled_scores" in names[names.index("masked_scores") :]) == trace.config.mask_before_scaling


@pytest.mark.parametrize("preset", PRESETS)
def test_a_mask_keeps_or_replaces(preset: str):
    model, trace = traced(preset)
    allowed, hidden = (explain(model, trace, "decoder", 0, 0, "masked_scores", row, 1, 1) for row in (1, 0))
    assert (allowed.operation, allowed.result) == ("kept", allowed["score"])
    assert (hidden.operation, hidden.result) == ("replaced", model.config.mask_fill)
    assert hidden["score"] > -1000
    with pytest.raises(PathError, match="allowed are score"):
        allowed["fill"]


@pytest.mark.parametrize(
    ("preset", "operation", "weight"), [("vanilla", "softmax", 1 / 5), ("pytorch", "nothing to look at", 0)]
)
def test_a_query_without_allowed_keys_has_uniform_or_zero_weights(preset: str, operation: str, weight: float):
    cell = explain(*traced(preset), "encoder", 0, 0, "weights", 2, 3)
    assert cell.operation == operation
    assert math.isclose(cell.result, weight)
    assert len(cell.terms) == 5


def test_shared_projections_read_only_the_slice_of_their_head():
    model, trace = traced("shared_heads")
    steps = {step.name: step for step in attention_steps(trace, "encoder", 0, 2)}
    cell = explain(model, trace, "encoder", 0, 2, "query", 1, 3)
    assert [term.label for term in cell.terms] == [f"d_head {index}" for index in range(4)]
    assert [term.left for term in cell.terms] == steps["input"].values[1, 8:12].tolist()
    assert cell.extra == ()


def test_a_concatenated_number_comes_from_the_head_of_its_column():
    model, trace = traced("vanilla")
    cell = explain(model, trace, "encoder", 0, 0, "concatenated", 1, 7)
    assert (cell.operation, cell["head"], cell["dimension"]) == ("joined", 1, 3)


def test_the_divisor_is_the_one_of_the_variant():
    for preset, divisor in (("vanilla", 4**0.5), ("shared_heads", 12**0.5)):
        (term,) = explain(*traced(preset), "encoder", 0, 0, "scaled_scores", 0, 0, 1).terms
        assert math.isclose(term.right, divisor)


def test_an_edited_number_does_not_agree_with_its_explanation():
    model = small("pytorch")
    attention = "encoder.layers.0.self_attention"
    trace = run_traced(
        model, SOURCE, TARGET, [Ablate(f"{attention}.head_output", heads=(0,)), Block(attention, edges=((1, 2),))]
    )
    assert not explain(model, trace, "encoder", 0, 0, "head_output", 0, 0).agrees
    assert explain(model, trace, "encoder", 0, 1, "head_output", 0, 0).agrees
    blocked = explain(model, trace, "encoder", 0, 1, "masked_scores", 1, 2)
    # The explanation uses the mask of the run, which contains the block.
    assert (blocked.operation, blocked.traced, blocked.agrees) == ("replaced", -math.inf, True)
    # Steps after an edit are computed from the edited numbers.
    assert explain(model, trace, "encoder", 0, 1, "weights", 1, 2).agrees
    assert explain(model, trace, "encoder", 0, 0, "concatenated", 0, 0).agrees


def test_a_decoder_alone_has_only_its_self_attention():
    model = small("vanilla")
    trace = run_traced(model, None, TARGET)
    assert explain(model, trace, "decoder", 0, 0, "weights", 1, 0).agrees
    with pytest.raises(InputError, match="This run has no cross attention"):
        attention_steps(trace, "cross", 0, 0)


def test_a_shipped_model_agrees(reverse: Pipeline):
    trace = reverse.trace("headlight")
    for kind in Kind:
        for step in attention_steps(trace, kind, 1, 3):
            assert explain(reverse.model, trace, kind, 1, 3, step.name, 2, 1).agrees


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layer": 2}, "layer is 2; allowed are 0 to 1"),
        ({"layer": -1}, "layer is -1"),
        ({"head": 3}, "head is 3; allowed are 0 to 2"),
        ({"step_name": "softmax"}, "There is no step 'softmax'; allowed are input, query"),
        ({"step_name": "memory"}, "There is no step 'memory'"),
        ({"row": 5}, "row is 5; allowed are 0 to 4"),
        ({"column": -1}, "column is -1"),
        ({"column": True}, "column is True"),
        ({"item": 2}, "batch item is 2; allowed are 0 to 1"),
    ],
)
def test_a_missing_layer_head_step_or_number_is_refused_with_the_allowed_values(change: dict[str, object], message: str):
    model, trace = traced("vanilla")
    asked = {"layer": 0, "head": 0, "step_name": "scores", "row": 0, "column": 0} | change
    with pytest.raises(PathError) as error:
        explain(model, trace, "encoder", **asked)
    assert message in str(error.value)


def test_another_kind_or_another_model_is_refused():
    _, trace = traced("vanilla")
    with pytest.raises(InputError, match="allowed are encoder, decoder, cross"):
        attention_steps(trace, "other", 0, 0)
    with pytest.raises(InputError, match="must be the one that was traced"):
        explain(small("pytorch"), trace, "encoder", 0, 0, "scores", 0, 0)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_model_in_bfloat16_is_explained_from_its_own_numbers(preset: str):
    model = small(preset).bfloat16()
    trace = run_traced(model, SOURCE, TARGET)
    for step in attention_steps(trace, "cross", 0, 1):
        cell = explain(model, trace, "cross", 0, 1, step.name, 1, 1)
        assert cell.traced == step.values[1, 1]
        size = sum(abs(term.value) for term in cell.terms if math.isfinite(term.value))
        assert cell.result == cell.traced or abs(cell.result - cell.traced) <= 2**-7 * max(size, 1e-3)
