"""Tests of edits as values: they can be cache keys, and an edit that does not fit the model raises before the model runs."""

import itertools
import math

import pytest
import torch

from tests.transformer.small import SOURCE, TARGET, small
from tests.transformer.tracing.edits import CROSS, DECODER, ENCODER
from transformer.errors import PathError
from transformer.tracing.interventions import Ablate, Block, Intervention, Patch, Replace, Scale
from transformer.tracing.trace import run_traced


def scale_by_true() -> Scale:
    """An edit with an invalid factor. It is set without the constructor, whose type check runs only in tests."""
    edit = Scale("logits")
    object.__setattr__(edit, "factor", True)
    return edit


SOME = [
    Ablate(CROSS),
    Ablate(CROSS, heads=(1,)),
    Ablate(CROSS, heads=(1, 2)),
    Ablate(CROSS, to="uniform"),
    Scale(CROSS),
    Scale(CROSS, factor=2.0),
    Scale(CROSS, factor=2.0, positions=(1,)),
    Patch(CROSS),
    Patch(CROSS, values=((1.0, 2.0), (3.0, 4.0))),
    Block(CROSS),
    Block(CROSS, edges=((0, 1),)),
    Block(ENCODER, edges=((0, 1),)),
    Ablate(CROSS, items=(0,)),
    Ablate(CROSS, heads=(0,), items=(1,)),
    Replace(CROSS, by=DECODER),
    Replace(CROSS, by=ENCODER),
]


def test_edits_are_compared_and_hashed_by_value():
    assert len(set(SOME)) == len(SOME)
    for one, other in itertools.product(SOME, SOME):
        assert (one == other) == (one is other)
        assert one is not other or hash(one) == hash(other)


def test_equal_edits_are_the_same_key():
    assert Ablate(CROSS, heads=(1, 2)) == Ablate(CROSS, "zero", heads=(1, 2))
    assert Ablate(CROSS) != Ablate(f"{CROSS}.weights")
    values = torch.arange(6.0).view(2, 3)
    alike = [Patch(CROSS, values=given) for given in (values, values.numpy(), values.tolist(), ((0, 1, 2), (3, 4, 5)))]
    assert len(set(alike)) == 1


def test_an_edit_cannot_be_changed():
    with pytest.raises(AttributeError):
        SOME[0].path = "logits"


@pytest.mark.few_cases(12)
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Ablate("encoder.layers.0.self_attentoin"), "nearest are encoder.layers.0.self_attention"),
        (Ablate("encoder.layers.9.self_attention"), "there is no such tap"),
        (Ablate(""), "there is no such tap"),
        (Ablate("encoder.layers.0"), "there is no such tap"),
        (Ablate(CROSS, heads=(3,)), "head is 3; allowed are 0 to 2"),
        (Ablate(CROSS, heads=(0, -1)), "head is -1; allowed are 0 to 2"),
        (Ablate(CROSS, heads=(True,)), "head is True"),
        (Ablate("logits", heads=(0,)), "logits has no head axis, only batch target vocab"),
        (Ablate(f"{CROSS}.output", heads=(0,)), "has no head axis"),
        (Ablate(CROSS, items=(-1,)), "item is -1"),
        (Ablate("source_embedding.position", items=(0,)), "has no batch axis, only position d_model"),
        (Ablate("logits", to="uniform"), "logits cannot become uniform; only attention weights can"),
        (Scale("logits", factor=math.nan), "The factor is nan; it must be a number"),
        (Scale("logits", factor=math.inf), "The factor is inf"),
        (Scale("logits", factor=-math.inf), "The factor is -inf"),
        (scale_by_true(), "The factor is True"),
        (Scale("logits", factor=1e7), "must be a number from -1000000 to 1000000"),
        (Scale("source_mask", factor=-1.0), "source_mask holds True and False: Patch it with these, or Ablate it"),
        (Patch("target_mask", values=5), "target_mask holds True and False"),
        (Patch("target_mask", values=1), "target_mask holds True and False"),
        (Patch("target_mask", values=((True, 0.5),)), "target_mask holds True and False"),
        (Replace("target_mask", by="source_embedding.sum"), "must have as many axes"),
        (Replace("target_mask", by=f"{ENCODER}.weights"), "only a mask can replace a mask"),
        (Replace(f"{ENCODER}.weights", by="source_mask"), "only a mask can replace a mask"),
        (Scale("logits", positions=(-1,)), "position is -1"),
        (Scale("logits", heads=(1,)), "has no head axis"),
        (Patch("logits", positions=(-2,), values=0.0), "position is -2"),
        (Patch("no such thing", values=0.0), "there is no such tap"),
        (Block("logits", edges=((0, 0),)), "cannot be blocked; allowed are an attention and its scores"),
        (Block(f"{CROSS}.weights", edges=((0, 0),)), "cannot be blocked; allowed are an attention and its scores"),
        (Block(CROSS, edges=((0, -1),)), "key is -1; allowed are 0 to 15"),
        (Block(CROSS, edges=((16, 0),)), "query is 16; allowed are 0 to 15"),
        (Block(CROSS, edges=((0, 0),), heads=(7,)), "head is 7; allowed are 0 to 2"),
    ],
    ids=str,
)
def test_an_edit_that_does_not_fit_the_model_is_refused_before_it_runs(edit: Intervention, message: str):
    model = small("vanilla")
    model.register_forward_pre_hook(lambda *_: pytest.fail("the model ran"))
    with pytest.raises(PathError, match=message):
        run_traced(model, SOURCE, TARGET, [edit])
    # The same error if the edit comes after one that fits.
    with pytest.raises(PathError, match=message):
        run_traced(model, SOURCE, TARGET, [Ablate(CROSS), edit])
