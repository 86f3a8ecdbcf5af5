"""Tests of edits of single items, of several edits together, and of edits in any precision."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.transformer.small import PAD, SOURCE, TARGET, Run, runs, small
from tests.transformer.tracing.edits import CROSS, DECODER, ENCODER, edited
from transformer.errors import InputError, PathError
from transformer.network.config import PRESETS
from transformer.network.model import Transformer
from transformer.network.tap import tracing
from transformer.tracing.interventions import Ablate, Block, Intervention, Patch, Replace, Scale
from transformer.tracing.trace import Trace, run_traced

# --- single items of a batch -------------------------------------------------------------------------------------------


@pytest.mark.few_cases(4)
@pytest.mark.parametrize(
    "edit",
    [
        Ablate(ENCODER, heads=(1,)),
        Ablate(CROSS, to="uniform"),
        Scale(DECODER, factor=3.0, positions=(0, 2)),
        Patch(f"{CROSS}.weights", values=0.2, heads=(0, 2), positions=(1,)),
        Patch("source_mask", values=True),
        Block(CROSS, edges=((1, 0), (2, 3)), heads=(2,)),
        Replace("decoder.layers.0.feed_forward_add_norm.sum", by="decoder.layers.0.feed_forward.output"),
    ],
    ids=str,
)
def test_an_edit_of_one_item_leaves_the_others_unchanged(model: Transformer, plain: Trace, edit: Intervention):
    everywhere = edited(model, edit)
    for item in range(2):
        trace = edited(model, dataclasses.replace(edit, items=(item,)))
        for step in trace:
            if "batch" in step.axes:
                assert torch.equal(step.values[1 - item], plain[step.path].values[1 - item]), step.path
                torch.testing.assert_close(step.values[item], everywhere[step.path].values[item], atol=1e-6, rtol=1e-5)


def test_items_beyond_the_batch_are_ignored(model: Transformer, plain: Trace):
    assert torch.equal(edited(model, Ablate(CROSS, items=(2, 7))).logits, plain.logits)


# --- several edits together --------------------------------------------------------------------------------------------


def test_edits_are_applied_in_the_order_given(model: Transformer):
    first = edited(model, Patch("logits", values=2.0), Scale("logits", factor=3.0))
    second = edited(model, Scale("logits", factor=3.0), Patch("logits", values=2.0))
    assert (first.logits == 6).all()
    assert (second.logits == 2).all()


def test_uniform_weights_skip_keys_that_an_earlier_edit_blocks(model: Transformer):
    trace = edited(model, Block(ENCODER, edges=((0, 0),)), Ablate(ENCODER, to="uniform"))
    weights = trace[f"{ENCODER}.weights"].values[:, :, 0]
    expected = (SOURCE != PAD).float()
    expected[:, 0] = 0
    torch.testing.assert_close(weights, (expected / expected.sum(-1, keepdim=True))[:, None].expand(2, 3, 7))


@pytest.mark.slow
@given(runs(), st.data())
@settings(max_examples=25)
def test_random_edits_keep_numbers_finite(run: Run, data: st.DataObject):
    attentions = [path.removesuffix(".weights") for path in run.model.taps if path.endswith(".weights")]
    edits = []
    for _ in range(data.draw(st.integers(1, 3))):
        path, attention = data.draw(st.sampled_from(list(run.model.taps))), data.draw(st.sampled_from(attentions))
        edges = data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
        numbers = path if not path.endswith("_mask") else "logits"
        choices = (
            Ablate(path),
            Ablate(attention, to="uniform"),
            Scale(numbers, factor=data.draw(st.sampled_from([0.0, -1.0, 1e6, -1e6, 0.3]))),
            Patch(numbers, values=data.draw(st.sampled_from([0.0, 1.0, -1e9, 1e12]))),
            Block(attention, edges=tuple(edges)),
        )
        edits.append(choices[data.draw(st.integers(0, 4))])
    trace = run_traced(run.model, run.source, run.target, edits)
    for step in trace:
        assert not step.values.isnan().any(), step.path
        if not step.path.endswith("scores"):
            assert step.values.isfinite().all(), step.path
    with tracing(run.model, edits, keep=False):
        assert torch.equal(run.model(run.source, run.target), trace.logits)


@pytest.mark.parametrize(
    ("edit", "kept"),
    [
        (Ablate(CROSS), CROSS),
        (Ablate(ENCODER, to="uniform"), ENCODER),
        (Scale(f"{DECODER}.scores", factor=2.0), DECODER),
        (Block(CROSS, edges=((1, 0),)), CROSS),
        (Replace(f"{CROSS}_add_norm.sum", by="decoder.layers.0.feed_forward.output"), "decoder.layers.0.feed_forward.output"),
    ],
    ids=str,
)
def test_a_pass_without_keep_still_keeps_the_tensors_that_its_edits_read(model: Transformer, edit: Intervention, kept: str):
    with tracing(model, [edit], keep=False) as values:
        assert torch.equal(model(SOURCE, TARGET), edited(model, edit).logits)
    assert values
    assert all(path.startswith(kept) for path in values)


def test_the_decoder_alone_can_be_edited():
    model = small("vanilla")
    plain, trace = (run_traced(model, None, TARGET, edits) for edits in ([], [Ablate(DECODER, heads=(0,))]))
    assert (trace[f"{DECODER}.weights"].values[:, 0] == 0).all()
    assert not torch.equal(plain.logits, trace.logits)
    # An edit of a tensor that is not computed has no effect and is not an error.
    assert torch.equal(run_traced(model, None, TARGET, [Ablate(CROSS)]).logits, plain.logits)


@pytest.mark.parametrize("preset", ["pytorch", "shared_heads"])
def test_other_variants_cannot_run_the_decoder_alone(preset: str):
    with pytest.raises(InputError, match="This variant needs a source"):
        run_traced(small(preset), None, TARGET, [Ablate(DECODER)])


@pytest.mark.parametrize("path", [f"{ENCODER}.output", f"{CROSS}.masked_scores", "logits"])
@pytest.mark.parametrize("value", [1e12, -1e12])
def test_a_patched_number_too_large_for_half_precision_becomes_its_largest_number(path: str, value: float):
    model = small("pytorch").to(torch.float16)
    trace = edited(model, Patch(path, values=value))
    assert (trace[path].values.abs() == torch.finfo(torch.float16).max).all()
    assert not any(step.values.isnan().any() for step in trace if step.values.is_floating_point())


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("preset", PRESETS)
def test_edits_keep_any_precision(preset: str, dtype: torch.dtype):
    model = small(preset).to(dtype)
    uniform = Ablate(ENCODER, to="uniform", heads=(1,), items=(0,))
    trace = run_traced(model, SOURCE, TARGET, [uniform, Scale(CROSS, factor=0.5), Scale(f"{ENCODER}.scores", factor=1e6)])
    weights = trace[f"{ENCODER}.weights"].values
    assert torch.equal(weights[0, 1, :, :5], torch.full((7, 5), 1 / 5, dtype=dtype))  # the first text has five tokens
    assert {step.values.dtype for step in trace} == {dtype, torch.bool}
    assert trace.logits.isfinite().all()


def test_edits_keep_the_precisions_of_autocast(model: Transformer):
    edits = [
        Ablate(CROSS, "uniform", heads=(0, 2), items=(1,)),
        Scale(f"{ENCODER}.scores", 3.0, heads=(1,), items=(1,)),
    ]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        plain, trace = run_traced(model, SOURCE, TARGET), edited(model, *edits)
    assert [step.values.dtype for step in trace] == [step.values.dtype for step in plain]
    assert not torch.equal(trace.logits, plain.logits)


class Elsewhere(Intervention):
    def place(self, model: object) -> str:
        return self.path


@pytest.mark.parametrize("path", ["nothing", "", f"{CROSS}.masks"])
def test_an_edit_without_a_tap_is_refused_before_the_model_runs(model: Transformer, path: str):
    ran = model.register_forward_pre_hook(lambda *_: pytest.fail("the model ran"))
    with ran, pytest.raises(PathError, match="which is no tap of this model"):
        edited(model, Elsewhere(path))


class Longer(Intervention):
    def apply(self, values: Tensor, *_: object) -> Tensor:
        return torch.cat([values, values])


def test_an_edit_that_changes_the_shape_is_refused(model: Transformer):
    with pytest.raises(PathError, match=r"^An edit changed the shape of logits from \(2, 5, 10\) to \(4, 5, 10\)"):
        edited(model, Longer("logits"))
