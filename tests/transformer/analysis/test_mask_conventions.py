"""Tests of the three mask conventions: each equals the attention of its variant."""

import math

import numpy as np
import pytest
import torch

from tests.transformer.small import SOURCE, TARGET, small
from transformer import InputError, TransformerConfig, run_traced
from transformer.analysis.mask_conventions import FIELDS, conventions, empty_row, target_masks
from transformer.network.config import PRESETS
from transformer.network.masks import target_mask
from transformer.tracing.paths import Kind

SCORES = torch.tensor([[4.0, 8.0, 2.0], [8.0, 0.0, 4.0], [2.0, 6.0, 8.0]])
IDS = torch.tensor([5, 7, 0])
# √d_head is 2, and √d_model is 4.
CONFIG = TransformerConfig.preset("pytorch", d_model=16, heads=4)


def test_the_conventions_are_the_presets() -> None:
    assert [one.name for one in conventions(SCORES, IDS, "decoder", CONFIG)] == list(PRESETS)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", Kind)
def test_a_convention_equals_the_attention_of_its_variant(preset: str, kind: Kind) -> None:
    model = small(preset)
    trace = run_traced(model, SOURCE, TARGET)
    path = kind.path(1)
    for item in range(2):
        ids = (TARGET if kind == "decoder" else SOURCE)[item]
        for head in range(3):
            scores, masked, weights = (
                trace[f"{path}.{name}"].values[item, head] for name in ("scores", "masked_scores", "weights")
            )
            convention = {one.name: one for one in conventions(scores, ids, kind, model.config)}[preset]
            assert convention.config == model.config
            assert torch.equal(convention.weights, weights)
            # If the mask comes before the division, the tensor of the tap is not divided yet.
            divided = masked / model.config.score_scale if model.config.mask_before_scaling else masked
            assert torch.equal(convention.masked, divided)
            assert torch.equal(convention.keep, trace.allowed(kind)[1, item, head])


def test_the_numbers_of_each_convention_by_hand() -> None:
    vanilla, pytorch, shared = conventions(SCORES, IDS, "decoder", CONFIG)
    low, none = -10_000.0, -math.inf
    assert vanilla.before.tolist() == pytorch.before.tolist() == (SCORES / 2).tolist()
    assert shared.before.tolist() == SCORES.tolist()
    # `vanilla` hides the row of the padded query, `pytorch` the column of the padded key, and `shared_heads` neither.
    assert vanilla.masked.tolist() == [[2.0, low, low], [4.0, 0.0, low], [low, low, low]]
    assert pytorch.masked.tolist() == [[2.0, none, none], [4.0, 0.0, none], [1.0, 3.0, none]]
    assert shared.masked.tolist() == [[1.0, none, none], [2.0, 0.0, none], [0.5, 1.5, 2.0]]
    assert vanilla.weights[2].tolist() == pytest.approx([1 / 3] * 3)
    powers = np.exp([0.5, 1.5, 2.0])
    np.testing.assert_allclose(shared.weights[2], powers / powers.sum(), rtol=1e-6)
    assert [one.empty.tolist() for one in (vanilla, pytorch, shared)] == [[False, False, True], [False] * 3, [False] * 3]


def test_only_pytorch_writes_true_for_ignored_keys() -> None:
    vanilla, pytorch, shared = conventions(SCORES, IDS, "decoder", CONFIG)
    assert [one.true_means for one in (vanilla, pytorch, shared)] == ["keep", "ignore", "keep"]
    assert pytorch.written.tolist() == [[False, True, True], [False, False, True], [False, False, True]]
    assert torch.equal(vanilla.written, vanilla.keep)


def test_all_conventions_hide_the_same_source_keys() -> None:
    for one in conventions(SCORES[:2], IDS, "cross", CONFIG):
        assert one.keep.tolist() == [[True, True, False]] * 2


def test_a_convention_has_the_sizes_of_the_model() -> None:
    for one in conventions(SCORES, IDS, "decoder", CONFIG):
        assert CONFIG.replace(**{name: getattr(one.config, name) for name in FIELDS}) == one.config


def test_conventions_do_not_use_the_global_random_generator() -> None:
    before = torch.get_rng_state()
    conventions(SCORES, IDS, "decoder", CONFIG)
    assert torch.equal(before, torch.get_rng_state())


def test_another_kind_of_attention_is_refused() -> None:
    with pytest.raises(InputError, match="decoder"):
        conventions(SCORES, IDS, "sideways", CONFIG)


@pytest.mark.parametrize(("preset", "shape"), [("vanilla", (2, 1, 3, 1)), ("pytorch", (2, 1, 1, 3)), ("shared_heads", None)])
def test_a_target_mask_is_true_where_both_of_its_parts_are(preset: str, shape: tuple[int, ...] | None) -> None:
    ids, config = torch.tensor([[1, 4, 0], [5, 0, 0]]), TransformerConfig.preset(preset)
    masks = target_masks(ids, config)
    assert torch.equal(masks.combined, target_mask(ids, config))
    assert (None if masks.padding is None else tuple(masks.padding.shape)) == shape
    padding = torch.tensor(True) if masks.padding is None else masks.padding
    assert torch.equal(masks.combined, (masks.causal & padding).expand(2, 1, 3, 3))


def test_an_empty_row_is_uniform_or_zero_and_nan_in_a_plain_softmax() -> None:
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    low, none = (empty_row(SCORES[0], values, fill) for fill in (-10_000.0, -math.inf))
    assert low.plain.tolist() == low.ours.tolist() == pytest.approx([1 / 3] * 3)
    assert low.ours_output.tolist() == pytest.approx([3.0, 4.0])
    assert none.plain.isnan().all()
    assert none.plain_output.isnan().all()
    assert none.ours.tolist() == [0.0] * 3
    assert none.ours_output.tolist() == [0.0] * 2
