"""Tests of the attention of long texts within a limit of memory."""

import re
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tests.transformer.huggingface.tiny import LONG, SHORT, opened, save_model, save_tokenizer
from tests.transformer.small import small
from transformer import InputError, Pipeline, open_model
from transformer.analysis.attention_in_parts import MEGABYTE, attention_in_parts
from transformer.analysis.head_measures import measure

LETTERS = "abcdefghij"


class Peak(TorchDispatchMode):
    """The most bytes of tensors that exist at one time. Tensors from before are not counted."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: list[weakref.ref[Tensor]] = []
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        results = result if isinstance(result, tuple | list) else (result,)
        self.alive += [weakref.ref(each) for each in results if isinstance(each, Tensor)]
        tensors = [(each, values) for each in self.alive if (values := each()) is not None]
        self.alive = [each for each, _ in tensors]
        storages = {values.untyped_storage().data_ptr(): values.untyped_storage().nbytes() for _, values in tensors}
        self.bytes = max(self.bytes, sum(storages.values()))
        return result


def long_pipeline(preset: str = "vanilla", **sizes: Any) -> Pipeline:
    """An untrained pipeline that reads 2,000 letters."""
    letters = Pipeline.load("reverse")
    vocab = {f"{side}_vocab": len(letters.vocabulary(side)) for side in ("source", "target")}
    model = small(preset, **{"d_model": 8, "heads": 2, "d_ff": 16, "max_len": 2_010, **vocab, **sizes})
    return Pipeline("long", model, letters.source_vocabulary, letters.target_vocabulary, letters.card)


def needed(*arguments: Any, **named: Any) -> int:
    """The megabytes that the error asks for."""
    with pytest.raises(InputError) as raised:
        attention_in_parts(*arguments, **named, megabytes=0)
    found = re.search(r"needs (\d+) MB, for one layer at a time; megabytes is 0", str(raised.value))
    assert found, raised.value
    return int(found[1])


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [1, 1_000])
def test_the_parts_are_the_attention_of_the_trace(megabytes: int) -> None:
    for pipeline, source, target in (
        (Pipeline.load("reverse"), "hello", "olleh"),
        (opened("t5"), SHORT, LONG),
        (opened("gpt2"), SHORT, "a dog"),
        (opened("gpt2"), SHORT, ""),
        (opened("bert"), SHORT, None),
    ):
        trace = pipeline.trace(source, target)
        parts = [*attention_in_parts(pipeline, source, target, megabytes=megabytes)]
        assert [part[:2] for part in parts] == [(kind, layer) for kind in trace.kinds for layer in range(trace.layers(kind))]
        for kind, layer, weights in parts:
            np.testing.assert_array_equal(weights, trace.weights(kind, layer)[0].numpy())


def test_only_the_encoder_runs_if_only_its_attention_is_asked_for() -> None:
    pipeline = opened("marian")
    parts = [*attention_in_parts(pipeline, SHORT, kinds=["encoder"])]
    trace = pipeline.trace(SHORT)
    assert [(kind, layer) for kind, layer, _ in parts] == [("encoder", 0), ("encoder", 1)]
    np.testing.assert_array_equal(parts[1].weights, trace.weights("encoder", 1)[0].numpy())


@pytest.mark.slow
def test_2000_tokens_go_through_in_the_memory_that_the_error_asks_for() -> None:
    pipeline, text = long_pipeline(encoder_layers=4), LETTERS * 200
    least = needed(pipeline, text, kinds=["encoder"])
    assert least < 4 * 2 * 2_002**2 * 4 / MEGABYTE + 150  # a trace keeps more: scores, weights and copies of all layers
    runs = 0

    def count(*_: Any) -> None:
        nonlocal runs
        runs += 1

    handle = pipeline.model.encoder.register_forward_hook(count)
    try:
        with Peak() as peak:
            for place, part in enumerate(attention_in_parts(pipeline, text, kinds=["encoder"], megabytes=least)):
                assert (part.kind, part.layer, part.weights.shape) == ("encoder", place, (2, 2_002, 2_002))
                assert measure(part.weights[None])["self"].shape == (1, 2)
                del part
    finally:
        handle.remove()
    assert runs == 4
    assert peak.bytes <= least * MEGABYTE


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("preset", ["vanilla", "pytorch", "shared_heads"])
@pytest.mark.parametrize("more", [0, 5])
def test_a_pass_of_our_own_network_stays_within_the_limit(preset: str, more: int) -> None:
    pipeline, source, target = long_pipeline(preset), LETTERS * 40, LETTERS * 30
    megabytes = needed(pipeline, source, target) + more
    with Peak() as peak:
        for part in attention_in_parts(pipeline, source, target, megabytes=megabytes):
            del part
    assert 0.3 * megabytes * MEGABYTE < peak.bytes <= megabytes * MEGABYTE


def test_a_wide_feed_forward_network_counts() -> None:
    pipeline, text = long_pipeline(d_ff=8_192), LETTERS * 10
    megabytes = needed(pipeline, text, text)
    with Peak() as peak:
        for part in attention_in_parts(pipeline, text, text, megabytes=megabytes):
            del part
    assert 0.2 * megabytes * MEGABYTE < peak.bytes <= megabytes * MEGABYTE


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "t5", "marian", "mistral", "gemma2"])
def test_a_pass_of_a_model_of_hugging_face_stays_within_the_limit(name: str, tmp_path: Path) -> None:
    longer = {"gpt2": {"n_positions": 512}, "t5": {}}.get(name, {"max_position_embeddings": 512})
    save_model(name, tmp_path, **longer)
    save_tokenizer(tmp_path)
    pipeline = open_model(tmp_path)
    source = " ".join(["cat", "dog", "sees"] * 160)
    target = source if pipeline.stacks == ("encoder", "decoder") else None
    megabytes = needed(pipeline, source, target)
    assert megabytes >= 10
    with Peak() as peak:
        for part in attention_in_parts(pipeline, source, target, megabytes=megabytes):
            del part
    assert 0.3 * megabytes * MEGABYTE < peak.bytes <= megabytes * MEGABYTE


def test_texts_and_kinds_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="needs a target; give one, or ask for kinds="):
        attention_in_parts(Pipeline.load("reverse"), "abc")
    with pytest.raises(InputError, match="This model has no cross attention; it has decoder"):
        attention_in_parts(opened("gpt2"), SHORT, kinds=["cross"])
    with pytest.raises(InputError, match="An encoder alone has no target"):
        attention_in_parts(opened("bert"), SHORT, SHORT)
    with pytest.raises(InputError, match="Your text has 70 tokens; this model reads up to 64"):
        attention_in_parts(opened("gpt2"), "cat " * 40, "cat " * 30)


def test_the_caller_gets_read_only_arrays() -> None:
    (first, *_) = attention_in_parts(opened("gpt2"), SHORT)
    with pytest.raises(ValueError, match="read-only"):
        first.weights[0] = 1
    assert torch.from_numpy(first.weights.copy()).sum(-1).allclose(torch.ones(()))
