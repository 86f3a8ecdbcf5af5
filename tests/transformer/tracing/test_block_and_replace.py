"""Tests of Block and Replace: each changes only the tensors that it names."""

import pytest
import torch

from tests.transformer.small import SOURCE, TARGET, small
from tests.transformer.tracing.edits import ATTENTIONS, CROSS, DECODER, ENCODER, edited, equal_before
from transformer.errors import PathError
from transformer.network.model import Transformer
from transformer.network.tap import tracing
from transformer.tracing.interventions import Ablate, Block, Patch, Replace, Scale
from transformer.tracing.trace import Trace

# --- Block -------------------------------------------------------------------------------------------------------------


@pytest.mark.few_cases(20)
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


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("name", ["query.heads", "scores", "scaled_scores", "masked_scores"])
def test_hidden_and_blocked_keys_have_no_weight_after_any_edit_of_scores(
    model: Transformer, plain: Trace, attention: str, name: str
):
    kind = {ENCODER: "encoder", DECODER: "decoder", CROSS: "cross"}[attention]
    layer = 0 if attention == ENCODER else 1
    edges = ((0, 0), (1, 0), (1, 1), (2, 1))
    raised = Patch(f"{attention}.{name}", values=1e9)
    for edit in (*(Scale(f"{attention}.{name}", factor=factor) for factor in (0.0, 0.5, 1e6, -1e6)), raised):
        for edits in ([edit], [edit, Block(attention, edges=edges)], [Block(attention, edges=edges), edit]):
            trace = edited(model, *edits)
            empty = plain.fully_masked(kind)[layer][..., None]  # the variant decides about the weights of these rows
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


def test_blocking_gives_no_nan_with_a_memory_encoded_outside_the_scope():
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


def test_replacing_heads_by_heads_of_another_attention(model: Transformer, plain: Trace):
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
        ("encoder.output", "", "`by` is missing: the path of the tensor that replaces encoder.output"),
    ],
)
def test_an_invalid_replacement_is_refused(model: Transformer, path: str, by: str, message: str):
    with pytest.raises(PathError, match=message):
        edited(model, Replace(path, by=by))
