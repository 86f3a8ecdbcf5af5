"""Tests of the whole network: invariants for any weights, and refused inputs."""

import inspect
import itertools
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import functional_call

from tests.transformer.small import PAD, SOURCE, TARGET, VARIANTS, Run, ids, logits, padded, runs, small
from transformer.errors import InputError
from transformer.network.config import PRESETS
from transformer.network.model import Transformer
from transformer.tracing.trace import run_traced

TOLERANCE = 1e-5

# --- invariants for any weights ----------------------------------------------------------------------------------------


def allowed_by_ids(run: Run) -> dict[str, Tensor]:
    """Kind → which query may attend to which key, `[batch, 1, query, key]`, computed cell by cell from ids and variant."""
    (rows, source), target = run.source.shape, run.target.shape[1]
    hides = run.model.config.target_padding

    def mask(queries: int, keys: int, allowed: Callable[[int, int, int], bool]) -> Tensor:
        cells = itertools.product(range(rows), range(queries), range(keys))
        return torch.tensor([bool(allowed(*cell)) for cell in cells]).view(rows, 1, queries, keys)

    def real(row: int, query: int, key: int) -> bool:
        return run.source[row, key] != PAD

    def past(row: int, query: int, key: int) -> bool:
        place = {"queries": query, "keys": key}.get(hides)
        return key <= query and (place is None or run.target[row, place] != PAD)

    return {"encoder": mask(source, source, real), "decoder": mask(target, target, past), "cross": mask(target, source, real)}


@given(runs())
@settings(max_examples=20)
def test_weights_stay_inside_the_masks_and_sum_to_one(run: Run):
    trace = run_traced(run.model, run.source, run.target)
    for kind, may_attend in allowed_by_ids(run).items():
        weights = trace.attention(kind)
        may_attend = may_attend.expand(weights.shape[1:])
        nowhere = ~may_attend.any(-1)
        assert torch.equal(trace.allowed(kind), may_attend.expand(weights.shape)), kind
        assert torch.equal(trace.fully_masked(kind), nowhere.expand(weights.shape[:-1])), kind
        assert ((weights.sum(-1) - 1)[:, ~nowhere].abs() <= 1e-6).all(), kind
        assert (weights[:, ~may_attend & ~nowhere[..., None]] == 0).all(), kind
        # If every score of a row is −10 000, all keys have the same weight, also hidden and later keys.
        expected = 0.0 if run.model.config.mask_fill == -torch.inf else 1 / weights.shape[-1]
        assert ((weights[:, nowhere] - expected).abs() <= 1e-6).all(), kind
    assert trace.logits.isfinite().all()


def test_another_padding_id_hides_other_tokens():
    model = small("vanilla", source_pad=9, target_pad=8)
    source, target = torch.tensor([[1, 0, 9, 9]]), torch.tensor([[1, 0, 8]])
    trace = run_traced(model, source, target)
    assert trace.masks.source[0, 0, 0].tolist() == [True, True, False, False]
    assert trace.masks.target[0, 0].any(-1).tolist() == [True, True, False]


@pytest.mark.slow
@given(runs())
@settings(max_examples=20)
def test_gradients_are_finite_for_any_batch(run: Run):
    run.model(run.source, run.target).square().sum().backward()
    for name, parameter in run.model.named_parameters():
        assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_a_source_of_only_padding_gives_finite_output(preset: str, norm_first: bool):
    model = small(preset, norm_first=norm_first)
    source = torch.tensor([[PAD, PAD, PAD], [1, 4, 2]])
    trace = run_traced(model, source, TARGET)
    assert trace.fully_masked("encoder")[:, 0].all()
    assert trace.fully_masked("cross")[:, 0].all()
    assert not trace.fully_masked("encoder")[:, 1].any()
    output = model(source, TARGET)
    assert output.isfinite().all()
    output.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@given(runs(at_end=True), st.data())
@settings(max_examples=15)
def test_a_later_target_token_does_not_change_earlier_outputs(run: Run, data: st.DataObject):
    place = data.draw(st.integers(0, run.target.shape[1] - 1))
    other = run.target.clone()
    other[:, place:] = data.draw(padded(len(other), 1))
    before, after = run.logits(), logits(run.model, run.source, other)
    # In `vanilla` a padded query attends to every key, also to later keys. Its output is not compared.
    real = run.target[:, :place] != PAD
    assert torch.allclose(before[:, :place][real], after[:, :place][real], atol=1e-6, rtol=0)


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_a_target_token_changes_later_outputs(preset: str, norm_first: bool):
    model, other = small(preset, norm_first=norm_first), TARGET.clone()
    other[:, 1] = 9
    before, after = logits(model, SOURCE, TARGET), logits(model, SOURCE, other)
    real = TARGET[:, 1:] != PAD
    assert ((before - after)[:, 1:][real].abs().amax(-1) > 1e-4).all()


@pytest.mark.slow
@given(runs(at_end=True), st.integers(1, 4))
@settings(max_examples=15)
def test_padding_after_the_source_changes_nothing(run: Run, more: int):
    longer = nn.functional.pad(run.source, (0, more), value=PAD)
    assert torch.allclose(run.logits(), logits(run.model, longer, run.target), atol=TOLERANCE, rtol=0)


@given(runs(at_end=True), st.integers(1, 4))
@settings(max_examples=15)
def test_padding_after_the_target_does_not_change_earlier_outputs(run: Run, more: int):
    longer = nn.functional.pad(run.target, (0, more), value=PAD)
    after, real = logits(run.model, run.source, longer)[:, : run.target.shape[1]], run.target != PAD
    assert torch.allclose(run.logits()[real], after[real], atol=TOLERANCE, rtol=0)


@pytest.mark.slow
@given(runs(at_end=True))
@settings(max_examples=20)
def test_a_row_of_a_batch_has_the_same_output_alone(run: Run):
    together = run.logits()
    for row in range(len(run.source)):
        alone = logits(run.model, run.source[row : row + 1], run.target[row : row + 1])
        assert torch.allclose(alone[0], together[row], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_gradients_reach_every_parameter(preset: str, norm_first: bool):
    model = small(preset, norm_first=norm_first)
    nn.functional.cross_entropy(model(SOURCE, TARGET).flatten(0, 1), TARGET.flatten(), ignore_index=PAD).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        if name.endswith("key.projection.bias"):
            # This bias adds the same number to all scores of a query, and softmax does not change then.
            assert parameter.grad.abs().max() < 1e-6, name
        else:
            assert parameter.grad.abs().max() > 1e-6, name


def test_the_padding_row_of_vanilla_stays_zero():
    model = small("vanilla")
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model(SOURCE, TARGET).square().sum().backward()
    optimizer.step()
    for embedding in (model.source_embedding, model.target_embedding):
        assert (embedding.table.weight[PAD] == 0).all()
        assert (embedding.table.weight[1:] != 0).all()


@pytest.mark.parametrize("preset", ["pytorch", "shared_heads"])
def test_the_padding_row_of_other_variants_is_not_zero(preset: str):
    model = small(preset)
    model(SOURCE, TARGET).square().sum().backward()
    for embedding in (model.source_embedding, model.target_embedding):
        assert (embedding.table.weight[PAD] != 0).all()


def test_pytorch_starts_from_xavier():
    model = small("pytorch", d_model=96, heads=4, d_ff=200)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            bound = (6 / sum(parameter.shape)) ** 0.5
            assert 0.9 * bound < parameter.abs().max() <= bound, name
            assert abs(parameter.std().item() / (bound / 3**0.5) - 1) < 0.1, name


@pytest.mark.parametrize("preset", PRESETS)
def test_equal_seeds_give_equal_models(preset: str):
    one, two, other = small(preset, seed=3), small(preset, seed=3), small(preset, seed=4)
    assert all(torch.equal(one.state_dict()[name], tensor) for name, tensor in two.state_dict().items())
    assert not torch.equal(one.output_projection.weight, other.output_projection.weight)


def test_a_seed_draws_xavier_in_the_order_of_the_parameters():
    model = small("vanilla", initialization="xavier")
    torch.manual_seed(5)
    model.initialize()
    torch.manual_seed(5)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            drawn = nn.init.xavier_uniform_(torch.empty(parameter.shape))
            tables = [f"{side}_embedding.table.weight" for side in ("source", "target")]
            assert name in tables or torch.equal(parameter, drawn), name


def test_parameters_given_for_one_call_are_used():
    model = small("pytorch")
    values = {name: torch.zeros_like(parameter) for name, parameter in model.named_parameters()}
    with torch.no_grad():
        assert not functional_call(model, values, (SOURCE, TARGET)).any()
        assert model(SOURCE, TARGET).any()


# --- refused inputs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["pytorch", "shared_heads"])
def test_other_variants_need_a_source(preset: str):
    with pytest.raises(InputError, match="This variant needs a source"):
        small(preset)(None, TARGET)


@pytest.mark.few_cases(12)
@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (torch.full((1, 17), 3), TARGET[:1], "The source has 17 tokens; allowed are 1 to 16"),
        (SOURCE[:1], torch.full((1, 17), 3), "The target has 17 tokens; allowed are 1 to 16"),
        (torch.empty(1, 0, dtype=torch.long), TARGET[:1], "source has 0 tokens"),
        (SOURCE[:1], torch.empty(1, 0, dtype=torch.long), "target has 0 tokens"),
        (torch.empty(0, 3, dtype=torch.long), torch.empty(0, 3, dtype=torch.long), "source batch has no sequence"),
        (torch.tensor([[1, 10]]), TARGET[:1], "no source token id 10; allowed are 0 to 9"),
        (torch.tensor([[1, -1]]), TARGET[:1], "no source token id -1; allowed are 0 to 9"),
        (SOURCE[:1], torch.tensor([[99]]), "no target token id 99; allowed are 0 to 9"),
    ],
)
@pytest.mark.parametrize("preset", PRESETS)
def test_ids_without_a_row_are_refused(preset: str, source: Tensor, target: Tensor, message: str):
    with pytest.raises(InputError, match=message):
        small(preset)(source, target)


def test_batches_of_different_size_are_refused():
    # The function is called without the type check of jaxtyping, which runs only in tests and would raise first.
    unchecked = inspect.unwrap(Transformer.forward)
    with pytest.raises(InputError, match="The source has 2 rows and the target 1; they must have the same number"):
        unchecked(small(), SOURCE, TARGET[:1])


def test_a_memory_or_a_mask_that_does_not_fit_is_refused():
    unchecked, model = inspect.unwrap(Transformer.decode), small()
    memory, mask = model.encode(SOURCE)
    shorter = model.encode(SOURCE[:, :4])[1]
    one_row = model.encode(SOURCE[:1])[1]
    assert unchecked(model, TARGET, memory, one_row).isfinite().all()
    wrong = [
        (memory[..., :8], mask, r"The memory is \(2, 7, 8\); it must be a tensor \[batch, source, 12\]"),
        (memory[0], mask, r"The memory is \(7, 12\)"),
        ("memory", mask, "The memory is 'memory'"),
        (memory, shorter, r"The mask is \(2, 1, 1, 4\); for this memory it must be .* \[2, 1, 1, 7\]"),
        (memory[:1], mask, r"The mask is \(2, 1, 1, 7\)"),
        (memory, mask.keep, "The mask is tensor"),
    ]
    for other_memory, other_mask, message in wrong:
        with pytest.raises(InputError, match=message):
            unchecked(model, TARGET[: len(other_memory)], other_memory, other_mask)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_text_of_max_len_is_read(preset: str):
    longest = torch.arange(16)[None] % 10
    assert small(preset)(longest, longest).shape == (1, 16, 10)


@given(ids(2, 4), ids(2, 3))
@settings(max_examples=10)
def test_encode_then_decode_equals_forward(source: Tensor, target: Tensor):
    model = small("pytorch")
    assert torch.equal(model.decode(target, *model.encode(source)), model(source, target))


@torch.no_grad()
def test_the_logits_of_the_last_rows_alone_are_those_of_all_rows() -> None:
    model = small()
    encoded = model.encode(SOURCE)
    whole = model.decode(TARGET, *encoded)
    assert model.decode(TARGET, *encoded, rows=2).allclose(whole[:, -2:], atol=1e-6)
    assert model.decode(TARGET, *encoded, rows=99).equal(whole)
    assert model.decode(TARGET, *encoded, model.new_cache(), 1).allclose(whole[:, -1:], atol=1e-6)
    for rows in (0, -1):
        with pytest.raises(InputError, match=f"rows is {rows}; it must be a whole number of at least 1, or None."):
            model.decode(TARGET, *encoded, rows=rows)
