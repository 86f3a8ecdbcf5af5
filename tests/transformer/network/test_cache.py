"""Tests of the key–value cache: a step has the same result as a pass over the whole prefix has for its last position."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.transformer.small import PAD, SOURCE, VARIANTS, Run, runs, small
from transformer.errors import InputError
from transformer.network.cache import ROOM, AttentionCache, KeyValueCache
from transformer.network.model import Transformer
from transformer.network.tap import tracing

TARGET = torch.tensor([[1, 7, 4, 3, 9], [1, 5, 6, 2, 4]])


@torch.inference_mode()
def step_by_step(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    """Logits of all positions. Each position is computed in its own step."""
    memory, mask = model.encode(source)
    cache = KeyValueCache()
    steps = [model.decode(target[:, : end + 1], memory, mask, cache) for end in range(target.shape[1])]
    assert all(step.shape[1] == 1 for step in steps)
    return torch.cat(steps, dim=1)


@pytest.mark.slow
@given(run=runs(at_end=True))
@settings(max_examples=40)
def test_cached_logits_equal_the_logits_of_the_whole_prefix_for_all_variants_and_padding(run: Run) -> None:
    tokens = run.target != PAD
    torch.testing.assert_close(step_by_step(run.model, run.source, run.target)[tokens], run.logits()[tokens], atol=1e-5, rtol=0)


@pytest.mark.slow
@given(run=runs())
@settings(max_examples=40)
def test_padding_may_be_anywhere_if_padded_queries_never_attend_to_later_tokens(run: Run) -> None:
    assume(run.settings["preset"] != "vanilla")
    torch.testing.assert_close(step_by_step(run.model, run.source, run.target), run.logits(), atol=1e-5, rtol=0)


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@given(seed=st.integers(0, 99), cut=st.integers(1, 5))
@settings(max_examples=4)
@torch.inference_mode()
def test_several_positions_can_be_added_at_once(preset: str, norm_first: bool, seed: int, cut: int) -> None:
    model, source = small(preset, norm_first=norm_first), SOURCE
    target = torch.randint(1, 10, (2, 6), generator=torch.Generator().manual_seed(seed))
    memory, mask = model.encode(source)
    cache = KeyValueCache()
    parts = [model.decode(target[:, :end], memory, mask, cache) for end in (cut, 6)]
    assert [part.shape[1] for part in parts] == [cut, 6 - cut]
    torch.testing.assert_close(torch.cat(parts, dim=1), model(source, target), atol=1e-5, rtol=0)


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@torch.inference_mode()
def test_a_cached_step_has_every_tap_with_all_keys(preset: str, norm_first: bool) -> None:
    model = small(preset, norm_first=norm_first)
    with tracing(model) as whole:
        model(SOURCE, TARGET)
    memory, mask = model.encode(SOURCE)
    cache = KeyValueCache()
    for end in range(1, TARGET.shape[1] + 1):
        with tracing(model) as step:
            model.decode(TARGET[:, :end], memory, mask, cache)
    decoder = [path for path in whole if not path.startswith(("encoder", "source"))]
    assert [*step] == decoder
    for path in decoder:
        axes = model.taps[path].axes
        values = whole[path]
        for axis, name in enumerate(axes):
            rows = name in ("query", "target", "position") and not (path == "target_mask" and axis == 3)
            # Tensors before the projection of a key have only the new position.
            rows |= path.endswith((".key.split", ".value.split")) and name == "key" and "self_attention" in path
            values = values.narrow(axis, values.shape[axis] - 1, 1) if rows else values
        torch.testing.assert_close(step[path], values, atol=1e-5, rtol=0, msg=path)
    assert step.masks.keys() == {path for path in whole.masks if path.startswith("decoder")}


@torch.inference_mode()
def test_a_cache_after_select_gives_the_same_logits_as_no_cache() -> None:
    model = small()
    memory, mask = model.encode(SOURCE)
    cache = KeyValueCache()
    model.decode(TARGET[:, :3], memory, mask, cache)
    cache.select([1, 1, 0])
    rows = torch.tensor([1, 1, 0])
    memory, mask = model.encode(SOURCE[rows])
    target = torch.cat([TARGET[rows][:, :3], torch.tensor([[4], [5], [6]])], dim=1)
    expected = model.decode(target, memory, mask)[:, -1:]
    torch.testing.assert_close(model.decode(target, memory, mask, cache), expected, atol=1e-5, rtol=0)


@torch.inference_mode()
def test_a_target_without_new_positions_is_refused() -> None:
    model, cache = small(), KeyValueCache()
    memory, mask = model.encode(SOURCE)
    model.decode(TARGET, memory, mask, cache)
    with pytest.raises(InputError, match=r"^The target has 5 tokens and the cache 5; the target must be longer\.$"):
        model.decode(TARGET, memory, mask, cache)


def test_kept_vectors_grow_beyond_their_room_without_changing_earlier_results() -> None:
    projection, with_cache = torch.nn.Linear(3, 3), AttentionCache(grows=True)
    x = torch.randn(2, 2 * ROOM + 5, 3, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        expected = projection(x)
        earlier = [(end, with_cache.project(projection, x[:, end - 1 : end])) for end in range(1, x.shape[1] + 1)]
        for end, values in earlier:
            torch.testing.assert_close(values, expected[:, :end], atol=1e-6, rtol=0)
        with_cache.select([1, 1])
        both = with_cache.project(projection, x[:, :1])
    torch.testing.assert_close(both[:, :-1], expected[[1, 1]], atol=1e-6, rtol=0)
    torch.testing.assert_close(both[:, -1], expected[:, 0], atol=1e-6, rtol=0)


def test_gradients_pass_through_kept_vectors() -> None:
    model = small()
    memory, mask = model.encode(SOURCE)
    cache = KeyValueCache()
    steps = [model.decode(TARGET[:, :end], memory, mask, cache) for end in range(1, TARGET.shape[1] + 1)]
    torch.cat(steps, dim=1).square().sum().backward()
    weight = model.decoder.get_submodule("layers.0.self_attention.key.projection").get_parameter("weight")
    stepwise = weight.grad
    model.zero_grad()
    model(SOURCE, TARGET).square().sum().backward()
    torch.testing.assert_close(stepwise, weight.grad, atol=1e-4, rtol=1e-3)
