"""Tests of the limits of edits: they open only the masks that they name, keep numbers finite, and do not change the model."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch

from tests.transformer.small import SOURCE, TARGET, small
from tests.transformer.tracing.edits import DECODER, ENCODER, edited
from transformer.errors import PathError
from transformer.network.config import PRESETS
from transformer.network.model import Transformer
from transformer.network.tap import Edit
from transformer.tracing.intervention import plain
from transformer.tracing.interventions import Ablate, Patch, Replace, Scale
from transformer.tracing.trace import run_traced

SCORES = ("scores", "scaled_scores", "masked_scores")


# --- masks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attention", [ENCODER, DECODER])
@pytest.mark.parametrize("name", SCORES)
def test_ablated_scores_keep_hidden_keys_hidden(model: Transformer, attention: str, name: str):
    before, after = run_traced(model, SOURCE, TARGET), edited(model, Ablate(f"{attention}.{name}"))
    hidden = before.hidden(attention)
    attending = ~hidden.all(-1)  # for a query that may attend to no key, the variant decides about the weights
    assert hidden.any()
    assert attending.any()
    assert torch.equal(after.hidden(attention), hidden)
    weights = after[f"{attention}.weights"].values
    assert weights[hidden & attending[..., None]].max() == 0
    # All scores are equal, so all keys that are not hidden get the same weight.
    allowed = ~hidden
    expected = allowed / allowed.sum(-1, keepdim=True).clamp(min=1)
    assert torch.allclose(weights[attending], expected[attending], atol=1e-6)


@pytest.mark.parametrize("divisor", ["d_head", "d_model"])
@pytest.mark.parametrize("fill", [-math.inf, -10_000.0, -1_234.567])
@pytest.mark.parametrize("late", [False, True])
def test_allowed_equals_the_mask_for_any_fill(divisor: str, fill: float, late: bool):
    model = small("shared_heads", mask_before_scaling=not late, mask_fill=fill, score_divisor=divisor)
    trace = run_traced(model, SOURCE, TARGET)
    for kind, mask in (("encoder", trace.masks.source), ("decoder", trace.masks.target), ("cross", trace.masks.source)):
        assert mask is not None
        allowed = trace.allowed(kind)
        assert torch.equal(allowed, mask.expand_as(allowed[0]).expand_as(allowed))


def test_scores_patched_with_minus_infinity_stay_hidden(model: Transformer):
    last = "scaled_scores" if model.config.mask_before_scaling else "masked_scores"
    trace = edited(model, Patch(f"{DECODER}.{last}", values=-math.inf))
    assert trace.hidden(DECODER).all()
    assert trace.fully_masked("decoder")[1].all()
    assert not trace.fully_masked("decoder")[0].all()
    again = edited(model, Patch(f"{DECODER}.{last}", values=-math.inf), Scale(f"{DECODER}.{last}", factor=0.0))
    assert torch.equal(again.logits, trace.logits)


def test_uniform_weights_skip_scores_hidden_after_the_division():
    model = small("shared_heads")
    values = torch.zeros(TARGET.shape[1], TARGET.shape[1])
    values[:, 1:] = -math.inf
    trace = edited(model, Patch(f"{DECODER}.scaled_scores", values=values), Ablate(f"{DECODER}.weights", to="uniform"))
    weights = trace[f"{DECODER}.weights"].values
    assert (weights[..., 0] == 1).all()
    assert (weights[..., 1:] == 0).all()


# --- numbers -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_repeated_large_factors_keep_numbers_finite(preset: str, norm_first: bool):
    model = small(preset, norm_first=norm_first)
    for path, tap in model.taps.items():
        if "_mask" in path.rpartition(".")[2]:
            continue
        trace = edited(model, *[Scale(path, factor=1e6)] * 7)
        for step in trace:
            scores = step.path.rpartition(".")[2] in SCORES
            assert not step.values.isnan().any(), (path, step.path)
            assert scores or step.values.isfinite().all(), (path, step.path)
        assert tap.path == path
    everywhere = [Scale(path, factor=1e6) for path in model.taps if path.endswith(("_attention.output", "forward.output"))]
    assert edited(model, *everywhere).logits.isfinite().all()


@pytest.mark.parametrize("by", SCORES)
def test_scores_can_replace_only_scores(model: Transformer, by: str):
    with pytest.raises(PathError, match="scores may be -inf, and replace only scores"):
        edited(model, Replace(f"{ENCODER}.weights", by=f"{ENCODER}.{by}"))
    assert edited(model, Replace(f"{ENCODER}.masked_scores", by=f"{ENCODER}.scores")).logits.isfinite().all()


# --- positions and shapes that do not fit ------------------------------------------------------------------------------


@pytest.mark.parametrize("edit", [partial(Scale, factor=2.0), partial(Patch, values=0.5)])
def test_a_position_beyond_max_len_is_refused(model: Transformer, edit: Callable[..., Edit]):
    most = model.config.max_len
    with pytest.raises(PathError, match=f"position is {most}; allowed are 0 to {most - 1}"):
        edited(model, edit(DECODER, positions=(most,)))
    edited(model, edit(DECODER, positions=(most - 1,)))


def test_an_error_about_the_shape_of_a_target_tensor_asks_for_the_target(model: Transformer):
    wide = torch.zeros(1, 9, model.config.d_model)
    with pytest.raises(PathError, match=r"takes \(2, 5, 12\).*give the target, too\.$"):
        edited(model, Patch(f"{DECODER}.output", values=wide))
    with pytest.raises(PathError, match=r"takes \(2, 7, 12\) \(batch query d_model\)\.$"):
        edited(model, Patch(f"{ENCODER}.output", values=wide))


# --- the model ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_trace_shares_no_memory_with_the_model(preset: str):
    model = small(preset)
    own = {tensor.untyped_storage().data_ptr() for tensor in [*model.parameters(), *model.buffers()]}
    trace = run_traced(model, SOURCE, TARGET)
    assert own
    assert [step.path for step in trace if step.values.untyped_storage().data_ptr() in own] == []
    with pytest.raises(RuntimeError, match="inference tensor"):
        trace.positional_encoding.zero_()
    assert torch.equal(model(SOURCE, TARGET), trace.logits)


# --- edits as values ---------------------------------------------------------------------------------------------------


def test_sequences_of_any_library_become_equal_tuples():
    rows = (
        (0, 2),
        [0, 2],
        np.array([0, 2]),
        torch.tensor([0, 2]),
        range(0, 3, 2),
        iter([0, 2]),
        [np.int64(0), torch.tensor(2)],
    )
    assert {plain(row) for row in rows} == {(0, 2)}
    assert plain([np.ones(2), [1]]) == ((1.0, 1.0), (1,))
    assert plain(np.float32(2)) == 2


@pytest.mark.parametrize("given", [None, 3, 2.5, "12", b"12", {"a": 1}])
def test_other_values_are_returned_unchanged(given: object):
    assert plain(given) is given
