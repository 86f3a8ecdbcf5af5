"""Tests of the residual stream. Its lengths and cosines are compared with PyTorch's."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.transformer.small import SOURCE, TARGET, VARIANTS, small
from transformer.analysis.residual import cosine, residual_stream
from transformer.errors import InputError, PathError
from transformer.tracing.interventions import Ablate
from transformer.tracing.trace import Trace, run_traced


def run(preset: str, norm_first: bool, **values: object) -> Trace:
    return run_traced(small(preset, norm_first=norm_first, **values), SOURCE, TARGET)


@pytest.mark.few_cases(8)
@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
@pytest.mark.parametrize("item", [0, 1])
def test_norms_and_cosines_equal_pytorchs(preset: str, norm_first: bool, stack: str, item: int) -> None:
    trace = run(preset, norm_first)
    stream = residual_stream(trace, stack, item)
    parts = ["self_attention", *(["cross_attention"] if stack == "decoder" else []), "feed_forward"]
    assert stream.places == tuple((layer, part) for layer in (1, 2) for part in parts)
    values = [trace[path].values[item].double() for path in stream.points]
    added = [trace[path].values[item].double() for path in stream.added]
    assert np.allclose(stream.norm, torch.stack(values).norm(dim=-1))
    assert np.allclose(stream.added_norm, torch.stack(added).norm(dim=-1))
    for index, y in enumerate(added):
        assert np.allclose(stream.cosine[index], F.cosine_similarity(y, values[index], dim=-1))
    for index, x in enumerate(values):
        assert np.allclose(stream.similarity[index], F.cosine_similarity(x, values[0], dim=-1))
    assert np.allclose(stream.similarity[0], 1)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_with_pre_norm_the_stream_is_the_sum_of_its_start_and_all_outputs(stack: str) -> None:
    """In a pre-norm model only the sub-layers change the stream."""
    trace = run("vanilla", True)
    stream = residual_stream(trace, stack)
    start = trace[stream.points[0]].values[0]
    total = start + sum(trace[path].values[0] for path in stream.added)
    torch.testing.assert_close(total, trace[f"{stack}.output"].values[0])
    assert stream.points[-1] == f"{stack}.layers.1.feed_forward_add_norm.sum"


def test_the_last_norm_adds_one_more_point() -> None:
    stream = residual_stream(run("pytorch", False), "encoder")
    assert stream.points[-1] == "encoder.output"
    assert len(stream.points) == len(stream.added) + 2


def test_an_ablated_sublayer_adds_a_zero_vector() -> None:
    model = small("vanilla", norm_first=True)
    trace = run_traced(model, SOURCE, TARGET, [Ablate("encoder.layers.1.feed_forward.output")])
    stream = residual_stream(trace, "encoder")
    assert not stream.added_norm[-1].any()
    assert not stream.cosine[-1].any()
    assert np.allclose(stream.norm[-1], stream.norm[-2])


def test_a_missing_stack_or_text_is_refused_with_the_allowed_values() -> None:
    alone = run_traced(small("vanilla"), None, TARGET)
    with pytest.raises(InputError, match="there is decoder"):
        residual_stream(alone, "encoder")
    assert {part for _, part in residual_stream(alone, "decoder").places} == {"self_attention", "feed_forward"}
    with pytest.raises(InputError, match="no stack 'sideways'; there is decoder"):
        residual_stream(alone, "sideways")
    with pytest.raises(PathError, match="allowed are 0 to 1"):
        residual_stream(alone, "decoder", 2)
    assert (cosine(np.zeros((1, 3)), np.ones((1, 3))) == 0).all()
