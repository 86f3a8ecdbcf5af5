"""Tests of edits: each changes the tensors it names and no others."""

import dataclasses
import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.transformer.small import PAD, SOURCE, TARGET, Run, runs, small
from transformer.errors import InputError, PathError
from transformer.network.config import PRESETS
from transformer.network.model import Transformer
from transformer.network.tap import tracing
from transformer.tracing.interventions import Ablate, Block, Intervention, Patch, Replace, Scale
from transformer.tracing.trace import Trace, run_traced

ATTENTIONS = ("encoder.layers.0.self_attention", "decoder.layers.1.self_attention", "decoder.layers.1.cross_attention")
ENCODER, DECODER, CROSS = ATTENTIONS


@pytest.fixture(scope="module", params=PRESETS)
def model(request: pytest.FixtureRequest) -> Transformer:
    return small(request.param)


@pytest.fixture(scope="module")
def plain(model: Transformer) -> Trace:
    return run_traced(model, SOURCE, TARGET)


def edited(model: Transformer, *edits: Intervention) -> Trace:
    return run_traced(model, SOURCE, TARGET, edits)


def equal_before(plain: Trace, other: Trace, path: str) -> bool:
    """Whether every tensor computed before that path is bitwise equal in both traces."""
    before = itertools.takewhile(lambda step: step.path != path, plain)
    return all(torch.equal(step.values, other[step.path].values) for step in before)


# --- Ablate ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_ablating_a_head_zeroes_only_that_head(model: Transformer, plain: Trace, attention: str):
    path = f"{attention}.weights"
    trace = edited(model, Ablate(attention, heads=(1,)))
    before, after = plain[path].values, trace[path].values
    assert (after[:, 1] == 0).all()
    assert torch.equal(after[:, [0, 2]], before[:, [0, 2]])
    assert (trace[f"{attention}.head_output"].values[:, 1] == 0).all()
    assert torch.equal(trace[f"{attention}.head_output"].values[:, [0, 2]], plain[f"{attention}.head_output"].values[:, [0, 2]])
    assert equal_before(plain, trace, path)
    assert not torch.equal(trace.logits, plain.logits)


@pytest.mark.parametrize("heads", [None, (0, 2), (2,)])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_uniform_weights_are_equal_over_allowed_keys(model: Transformer, plain: Trace, attention: str, heads):
    path = f"{attention}.weights"
    trace = edited(model, Ablate(path, heads=heads, to="uniform"))
    chosen = list(range(3)) if heads is None else list(heads)
    others = [head for head in range(3) if head not in chosen]
    allowed = plain.masks.target if attention == DECODER else plain.masks.source
    before, after = plain[path].values, trace[path].values
    allowed = allowed.expand(2, 3, *before.shape[2:])
    nowhere = ~allowed.any(-1, keepdim=True)
    share = torch.where(nowhere, before, allowed / allowed.sum(-1, keepdim=True).clamp(min=1))
    torch.testing.assert_close(after[:, chosen], share[:, chosen])
    assert torch.equal(after[:, others], before[:, others])
    assert equal_before(plain, trace, path)


@pytest.mark.parametrize("path", ["logits", "encoder.layers.0.feed_forward.activated", f"{CROSS}.head_output"])
def test_any_tensor_can_be_zeroed(model: Transformer, path: str):
    assert (edited(model, Ablate(path))[path].values == 0).all()


def test_ablating_a_mask_hides_every_key(model: Transformer):
    trace = edited(model, Ablate("source_mask"))
    assert not trace.masks.source.any()
    assert trace.fully_masked("encoder").all()
    assert trace.fully_masked("cross").all()
    assert trace.logits.isfinite().all()


# --- Scale -------------------------------------------------------------------------------------------------------------


@given(runs(), st.data())
@settings(max_examples=12)
def test_scaling_by_one_changes_no_bit(run: Run, data: st.DataObject):
    path = data.draw(st.sampled_from(sorted(set(run.model.taps) - {"source_mask", "target_mask"})))
    plain = run_traced(run.model, run.source, run.target)
    trace = run_traced(run.model, run.source, run.target, [Scale(path, factor=1.0)])
    assert all(torch.equal(step.values, trace[step.path].values) for step in plain)


@pytest.mark.parametrize("factor", [0.0, -1.0, 2.5])
def test_scaling_multiplies(model: Transformer, plain: Trace, factor: float):
    path = "encoder.layers.1.feed_forward.output"
    trace = edited(model, Scale(path, factor=factor))
    torch.testing.assert_close(trace[path].values, plain[path].values * factor)
    assert equal_before(plain, trace, path)


def test_scaling_positions_and_heads(model: Transformer, plain: Trace):
    path = f"{CROSS}.head_output"
    trace = edited(model, Scale(path, factor=2.0, heads=(0, 2), positions=(1, 3)))
    expected = plain[path].values.clone()
    for head, position in itertools.product((0, 2), (1, 3)):
        expected[:, head, position] *= 2
    assert torch.equal(trace[path].values, expected)


def test_scaling_the_path_of_an_attention_scales_its_output(model: Transformer, plain: Trace):
    trace = edited(model, Scale(DECODER, factor=0.0, positions=(2,)))
    assert (trace[f"{DECODER}.output"].values[:, 2] == 0).all()
    assert torch.equal(trace[f"{DECODER}.output"].values[:, :2], plain[f"{DECODER}.output"].values[:, :2])


def test_positions_beyond_the_sequence_are_ignored(model: Transformer, plain: Trace):
    trace = edited(model, Scale("decoder.output", factor=0.0, positions=(1, 15)))
    assert (trace["decoder.output"].values[:, 1] == 0).all()
    assert torch.equal(trace["decoder.output"].values[:, 2:], plain["decoder.output"].values[:, 2:])


@pytest.mark.parametrize("factor", [0.0, -1.0, 0.5, 1e6])
@pytest.mark.parametrize("name", ["scores", "scaled_scores", "masked_scores"])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_scaled_scores_keep_hidden_keys_hidden(model: Transformer, plain: Trace, attention: str, name: str, factor: float):
    trace = edited(model, Scale(f"{attention}.{name}", factor=factor))
    kind = {ENCODER: "encoder", DECODER: "decoder", CROSS: "cross"}[attention]
    assert trace.logits.isfinite().all()
    assert torch.equal(trace.allowed(kind), plain.allowed(kind))
    assert (trace.attention(kind)[~plain.allowed(kind) & ~plain.fully_masked(kind)[..., None]] == 0).all()


@pytest.mark.parametrize("factor", [0.0, -1.0, 0.5])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_scores_scaled_after_the_mask_keep_hidden_keys_hidden(attention: str, factor: float):
    model = small("shared_heads", mask_fill=-10_000.0)
    trace = edited(model, Scale(f"{attention}.scaled_scores", factor=factor, heads=(0, 2)))
    kind = {ENCODER: "encoder", DECODER: "decoder", CROSS: "cross"}[attention]
    assert (trace.attention(kind)[~run_traced(model, SOURCE, TARGET).allowed(kind)] == 0).all()


# --- Patch -------------------------------------------------------------------------------------------------------------


def test_patching_encoder_output_and_mask_from_another_run_gives_its_logits(model: Transformer):
    other = run_traced(model, SOURCE.flip(1), TARGET)
    memory, mask = other["encoder.output"].values, other.masks.source
    trace = edited(model, Patch("encoder.output", values=memory), Patch("source_mask", values=mask))
    # The encoder reads the same mask, but its output is patched.
    assert torch.equal(trace.logits, other.logits)


@pytest.mark.parametrize(
    ("edit", "where"),
    [
        (lambda values: Patch(f"{CROSS}.weights", values=values, heads=(2,)), (slice(None), [2])),
        (lambda values: Patch(f"{CROSS}.weights", values=values, positions=(0, 4)), (slice(None), slice(None), [0, 4])),
        (lambda values: Patch(f"{CROSS}.weights", values=values), (slice(None),)),
    ],
)
def test_patching_a_part(model: Transformer, plain: Trace, edit, where: tuple):
    path, expected = f"{CROSS}.weights", plain[f"{CROSS}.weights"].values.clone()
    new = torch.rand(expected[where].shape, generator=torch.Generator().manual_seed(0))
    trace = edited(model, edit(new))
    expected[where] = new
    assert torch.equal(trace[path].values, expected)
    assert equal_before(plain, trace, path)


def test_patching_heads_at_positions(model: Transformer, plain: Trace):
    path, new = f"{ENCODER}.query.heads", torch.arange(2 * 2 * 3 * 4.0).view(2, 2, 3, 4)
    trace = edited(model, Patch(path, values=new, heads=(0, 2), positions=(1, 2, 5)))
    expected = plain[path].values.clone()
    for (i, head), (j, position) in itertools.product(enumerate((0, 2)), enumerate((1, 2, 5))):
        expected[:, head, position] = new[:, i, j]
    assert torch.equal(trace[path].values, expected)


@pytest.mark.parametrize("values", [0.25, 1, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [[0.5]], torch.tensor(0.5)])
def test_patched_values_broadcast(model: Transformer, plain: Trace, values: object):
    path = f"{CROSS}.weights"
    trace = edited(model, Patch(path, values=values))
    assert torch.equal(trace[path].values, torch.as_tensor(values).float().expand_as(plain[path].values))


@pytest.mark.parametrize("values", [[1.0, 2.0], torch.zeros(2, 3, 5, 8), torch.zeros(1, 2, 3, 5, 7), []])
def test_values_of_another_shape_are_refused(model: Transformer, values: object):
    with pytest.raises(PathError, match=r"weights, which takes \(2, 3, 5, 7\) \(batch head query key\)"):
        edited(model, Patch(f"{CROSS}.weights", values=values))


@pytest.mark.parametrize(
    "values",
    [None, "abc", {}, [[1.0], [1.0, 2.0]], [None], 1j, math.nan, [0.0, math.nan], math.inf, -math.inf, 1e30, 10**40, 1e300],
)
def test_values_that_are_not_usable_numbers_are_refused(model: Transformer, values: object):
    with pytest.raises(PathError, match=f"^The values .* do not fit {CROSS}.weights: "):
        Patch(f"{CROSS}.weights", values=values).place(model)


def test_scores_may_be_patched_with_minus_infinity(model: Transformer, plain: Trace):
    scores = plain[f"{CROSS}.masked_scores"].values
    assert torch.equal(edited(model, Patch(f"{CROSS}.masked_scores", values=scores)).logits, plain.logits)
    trace = edited(model, Patch(f"{CROSS}.masked_scores", values=-math.inf))
    assert (trace[f"{CROSS}.weights"].values == 0).all()
    assert trace.logits.isfinite().all()
    with pytest.raises(PathError, match="-inf for scores only"):
        Patch(f"{CROSS}.masked_scores", values=math.inf).place(model)


def test_patching_a_mask(model: Transformer, plain: Trace):
    only_first = torch.zeros(2, 1, 1, 7, dtype=torch.bool)
    only_first[..., 0] = True
    trace = edited(model, Patch("source_mask", values=only_first))
    assert trace.masks.source.dtype == torch.bool
    assert torch.equal(trace.masks.source, only_first)
    for kind in ("encoder", "cross"):
        assert (trace.attention(kind)[..., 0] == 1).all()
        assert (trace.attention(kind)[..., 1:] == 0).all()
    everything = edited(model, Patch("target_mask", values=True))
    assert everything.allowed("decoder").all()
    assert (everything.attention("decoder")[0, 1, :, 0, 1:] > 0).all()


def test_an_edit_does_not_change_a_learned_table():
    model = small("shared_heads")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    for path in ("source_embedding.position", "source_embedding.token"):
        edited(model, Patch(path, values=0.0))
        edited(model, Scale(path, factor=0.0, positions=(0,)))
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


# --- Block -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", ".scores", ".scaled_scores", ".masked_scores"])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_the_weight_of_a_blocked_edge_goes_to_the_other_keys(model: Transformer, plain: Trace, attention: str, name: str):
    trace = edited(model, Block(attention + name, heads=(1,), edges=((2, 0), (3, 1))))
    before, after = plain[f"{attention}.weights"].values, trace[f"{attention}.weights"].values
    expected = before.clone()
    for query, key in ((2, 0), (3, 1)):
        expected[:, 1, query, key] = 0
    expected = expected / expected.sum(-1, keepdim=True).clamp(min=1e-30)
    full = plain.masks.target.any(-1)[:, 0] if attention == DECODER else torch.ones(before.shape[0], before.shape[2]).bool()
    for row in range(2):
        torch.testing.assert_close(after[row, 1][full[row]], expected[row, 1][full[row]], atol=1e-6, rtol=1e-5)
    assert torch.equal(after[:, [0, 2]], before[:, [0, 2]])
    assert equal_before(plain, trace, f"{attention}.masked_scores")


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_blocking_every_key_of_a_query(model: Transformer, plain: Trace, attention: str):
    width = plain[f"{attention}.weights"].shape[-1]
    trace = edited(model, Block(attention, heads=(0,), edges=tuple((1, key) for key in range(width))))
    kind = {ENCODER: "encoder", DECODER: "decoder", CROSS: "cross"}[attention]
    layer = 0 if attention == ENCODER else 1
    assert (trace.attention(kind)[layer, :, 0, 1] == 0).all()
    assert trace.fully_masked(kind)[layer, :, 0, 1].all()
    assert not trace.fully_masked(kind)[layer, :, 1:, 1].any()
    assert trace.logits.isfinite().all()


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("name", ["query.heads", "scores", "scaled_scores", "masked_scores"])
def test_hidden_and_blocked_keys_have_no_weight_after_any_edit_of_scores(
    model: Transformer, plain: Trace, attention: str, name: str
):
    kind = {ENCODER: "encoder", DECODER: "decoder", CROSS: "cross"}[attention]
    layer = 0 if attention == ENCODER else 1
    edges = ((0, 0), (1, 0), (1, 1), (2, 1))
    raised = Patch(f"{attention}.{name}", values=1e9)
    for edit in (Scale(f"{attention}.{name}", factor=1e6), Scale(f"{attention}.{name}", factor=-1e6), raised):
        for edits in ([edit], [edit, Block(attention, edges=edges)], [Block(attention, edges=edges), edit]):
            trace = edited(model, *edits)
            empty = plain.fully_masked(kind)[layer][..., None]  # these rows follow the variant
            allowed = plain.allowed(kind)[layer].clone()
            if len(edits) > 1:
                for query, key in edges:
                    allowed[..., query, key] = False
            assert torch.equal(trace.allowed(kind)[layer], allowed)
            assert (trace.attention(kind)[layer][~allowed & ~empty] == 0).all()
            assert trace.logits.isfinite().all()


def test_blocking_does_not_change_a_query_without_allowed_keys():
    for preset, weight in (("vanilla", 1 / 5), ("pytorch", 0.0)):
        model = small(preset)
        edits = [Ablate("target_mask"), Block(DECODER, edges=((3, 0),))]
        assert torch.allclose(edited(model, *edits)[f"{DECODER}.weights"].values[0, :, 3], torch.tensor(weight))


def test_blocking_hidden_or_missing_edges_changes_nothing(model: Transformer, plain: Trace):
    trace = edited(model, Block(DECODER, edges=((0, 4), (1, 3), (15, 0), (0, 15))))
    assert torch.equal(trace.logits, plain.logits)


def test_a_memory_encoded_outside_the_scope_gives_no_nan():
    model = small("pytorch")
    memory, mask = model.encode(SOURCE[1:])
    with tracing(model, [Block(CROSS, edges=tuple((1, key) for key in range(7)))]) as values:
        logits = model.decode(TARGET[1:], memory, mask)
    assert (values[f"{CROSS}.weights"][:, :, 1] == 0).all()
    assert logits.isfinite().all()


# --- Replace -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["encoder.layers.0.self_attention.output", "encoder.layers.0.self_attention"])
def test_replacing_the_sum_removes_the_residual_connection(model: Transformer, plain: Trace, by: str):
    path = "encoder.layers.0.self_attention_add_norm.sum"
    trace = edited(model, Replace(path, by=by))
    assert torch.equal(trace[path].values, plain[f"{ENCODER}.output"].values)
    assert equal_before(plain, trace, path)
    assert not torch.equal(trace.logits, plain.logits)


def test_replacing_heads_by_those_of_another_attention(model: Transformer, plain: Trace):
    path, by = f"{DECODER}.head_output", "decoder.layers.0.self_attention.head_output"
    trace = edited(model, Replace(path, heads=(1,), by=by))
    assert torch.equal(trace[path].values[:, 1], plain[by].values[:, 1])
    assert torch.equal(trace[path].values[:, [0, 2]], plain[path].values[:, [0, 2]])


@pytest.mark.parametrize(
    ("path", "by", "message"),
    [
        ("encoder.output", "decoder.output", "cannot replace encoder.output: it is not computed before"),
        ("encoder.output", "encoder.output", "cannot replace encoder.output: it is not computed before"),
        ("decoder.output", "encoder.output", r"its shape is \(2, 7, 12\); allowed is \(2, 5, 12\) \(batch target d_model\)"),
        ("encoder.output", "source_mask", "cannot replace encoder.output: it must have as many axes, batch source d_model"),
        ("encoder.output", "nothing at all", "no such tap"),
        ("encoder.output", "", "no such tap"),
    ],
)
def test_an_invalid_replacement_is_refused(model: Transformer, path: str, by: str, message: str):
    with pytest.raises(PathError, match=message):
        edited(model, Replace(path, by=by))


# --- single items of a batch -------------------------------------------------------------------------------------------


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


# --- together ----------------------------------------------------------------------------------------------------------


def test_edits_are_applied_in_the_order_given(model: Transformer):
    first = edited(model, Patch("logits", values=2.0), Scale("logits", factor=3.0))
    second = edited(model, Scale("logits", factor=3.0), Patch("logits", values=2.0))
    assert (first.logits == 6).all()
    assert (second.logits == 2).all()


def test_uniform_weights_skip_keys_blocked_before(model: Transformer):
    trace = edited(model, Block(ENCODER, edges=((0, 0),)), Ablate(ENCODER, to="uniform"))
    weights = trace[f"{ENCODER}.weights"].values[:, :, 0]
    expected = (SOURCE != PAD).float()
    expected[:, 0] = 0
    torch.testing.assert_close(weights, (expected / expected.sum(-1, keepdim=True))[:, None].expand(2, 3, 7))


@given(runs(), st.data())
@settings(max_examples=25)
def test_random_edits_keep_numbers_finite(run: Run, data: st.DataObject):
    attentions = [path.removesuffix(".weights") for path in run.model.taps if path.endswith(".weights")]
    edits = []
    for _ in range(data.draw(st.integers(1, 3))):
        path, attention = data.draw(st.sampled_from(list(run.model.taps))), data.draw(st.sampled_from(attentions))
        edges = data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
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
def test_a_patched_number_beyond_half_precision_becomes_its_largest(path: str, value: float):
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
    assert torch.equal(weights[0, 1, :, :5], torch.full((7, 5), 1 / 5, dtype=dtype))  # the text has five tokens
    assert {step.values.dtype for step in trace} == {dtype, torch.bool}
    assert trace.logits.isfinite().all()


def test_edits_keep_the_precisions_of_autocast(model: Transformer):
    edits = [Ablate(CROSS, (0, 2), to="uniform", items=(1,)), Scale(f"{ENCODER}.scores", (1,), factor=3.0, items=(1,))]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        plain, trace = run_traced(model, SOURCE, TARGET), edited(model, *edits)
    assert [step.values.dtype for step in trace] == [step.values.dtype for step in plain]
    assert not torch.equal(trace.logits, plain.logits)


class Elsewhere(Intervention):
    def place(self, model: object) -> str:
        return self.path


@pytest.mark.parametrize("path", ["nothing", "", f"{CROSS}.masks"])
def test_an_edit_without_a_tap_is_refused_before_the_model_runs(model: Transformer, path: str, monkeypatch):
    monkeypatch.setattr(Transformer, "forward", lambda *_: pytest.fail("the model ran"))
    with pytest.raises(PathError, match="which is no tap of this model"):
        edited(model, Elsewhere(path))


@pytest.mark.parametrize("edits", [[Ablate], [Ablate("logits"), Scale]])
def test_a_class_in_place_of_an_edit_is_refused(model: Transformer, edits: list):
    with pytest.raises(PathError, match="is a class; an edit is an intervention with its path"):
        edited(model, *edits)


class Longer(Intervention):
    def apply(self, values: Tensor, *_: object) -> Tensor:
        return torch.cat([values, values])


def test_an_edit_that_changes_the_shape_is_refused(model: Transformer):
    with pytest.raises(PathError, match=r"^An edit changed the shape of logits from \(2, 5, 10\) to \(4, 5, 10\)"):
        edited(model, Longer("logits"))
