"""Tests of patching in models of Hugging Face: every place against a run with `Patch` edits of its own."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.transformer.huggingface.tiny import opened, reference
from tests.transformer.patching.huggingface_pairs import TEXTS, pair_of
from tests.transformer.patching.pairs import changes, last
from transformer.errors import InputError
from transformer.patching import (
    RunPair,
    agreement,
    attribute_everywhere,
    average_needs,
    changes_elsewhere,
    path_effects,
    run_pair,
)
from transformer.patching.bench import Bench
from transformer.patching.places import OF_HEADS, Place, Swap
from transformer.patching.sweep import all_places
from transformer.tracing.interventions import Patch
from transformer.tracing.trace import Trace

WHATS = ("head_output", "weights", "key_and_value", "attention", "feed_forward", "residual_stream", "embedding")


def trace(name: str, text: str, edits: Any = ()) -> Trace:
    pipeline = opened(name)
    target = {1: None if pipeline.stacks == ("encoder",) else "", 2: "a man sees it"}[len(pipeline.stacks)]
    return pipeline.trace([text], [target], edits)


def edits_for(pair: RunPair, swap: Swap, place: Place, other: Trace) -> list[Patch]:
    """The edits of the library that take a place from the trace of the other run."""
    edits = []
    for path in swap.paths(pair.network, place.grid, place.layer):
        positions = None if place.position is None else (place.position,)
        values = other[path].values
        if swap.what in OF_HEADS:
            values = values[:, place.head : place.head + 1]
        if positions is not None:
            values = values[..., list(positions), :]
        edits.append(Patch(path, heads=(place.head,) if swap.what in OF_HEADS else None, values=values, positions=positions))
    return edits


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["denoise", "noise"])
@pytest.mark.parametrize("name", TEXTS)
def test_every_place_is_patched_as_by_an_edit(name: str, direction: str) -> None:
    pair, (clean, corrupt) = pair_of(name), TEXTS[name]
    base, other = (corrupt, clean) if direction == "denoise" else (clean, corrupt)
    other_trace = trace(name, other)
    for what, positions in itertools.product(WHATS, ("together", "each")):
        patched, swap = last(pair, what=what, direction=direction, positions=positions), Swap(what)
        values = patched.values()
        cells = [(grid, *cell) for grid, of in values.items() for cell in np.ndindex(of.shape)]
        for grid, layer, head, position in cells[:: 3 if positions == "together" else 17]:
            place = Place(grid, layer, head, position if positions == "each" else None)
            row = trace(name, base, edits_for(pair, swap, place, other_trace)).logits[0, pair.row]
            expected = float(row[pair.tokens[0]] - row[pair.tokens[1]])
            assert values[grid][layer, head, position] == pytest.approx(expected, abs=1e-4)
        assert max(np.abs(of).max() for of in patched.moved["logit"].values()) > 0.01


def test_heads_of_gpt2_are_patched_as_by_plain_hooks_on_the_model_of_transformers() -> None:
    pair = pair_of("gpt2")
    model: Any = reference("gpt2")
    patched = last(pair, positions="each")
    kept: dict[int, torch.Tensor] = {}
    width = 8

    def run(ids: Any, layer: int = -1, columns: slice = slice(0), position: int = 0) -> torch.Tensor:
        def hook(index: int) -> Any:
            def given(_: Any, inputs: Any) -> Any:
                if layer == -1:
                    kept[index] = inputs[0].clone()
                elif layer == index:
                    inputs[0][0, position, columns] = kept[index][0, position, columns]
                return inputs

            return given

        handles = [block.attn.c_proj.register_forward_pre_hook(hook(index)) for index, block in enumerate(model.transformer.h)]
        with torch.no_grad():
            logits = model(ids.target, use_cache=False).logits[0, pair.row]
        for handle in handles:
            handle.remove()
        return logits[pair.tokens[0]] - logits[pair.tokens[1]]

    run(pair.clean)
    values = patched.values()["decoder"]
    for layer, head, position in np.ndindex(values.shape):
        expected = run(pair.corrupt, layer, slice(head * width, (head + 1) * width), position)
        assert values[layer, head, position] == pytest.approx(float(expected), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "what"),
    [
        *itertools.product(["gpt2", "gemma2"], ["head_output", "key_and_value", "residual_stream"]),
        *itertools.product(["llama"], ["weights", "query", "feed_forward"]),
    ],
)
def test_a_shared_prefix_changes_no_result(name: str, what: str) -> None:
    """Also in a model with a sliding window, and with fewer keys than queries."""
    bench = Bench(pair_of(name), Swap(what), "denoise", 5)
    _, places = all_places(bench.pair, bench.swap, each=True)
    assert bench.shares_prefix
    shared = changes(bench, places)["logit"]
    bench.shares_prefix = False
    plain = changes(bench, places)["logit"]
    assert shared == pytest.approx(plain, abs=1e-5)
    assert max(map(abs, plain.values())) > 0.01
    # The first two tokens are the same in both runs.
    assert (last(bench.pair, what=what, positions="each").moved["logit"]["decoder"][..., :2] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_the_other_questions_have_answers_too(name: str) -> None:
    pair = pair_of(name)
    kind = "encoder" if "encoder" in opened(name).stacks else "decoder"
    patched = last(pair)
    assert -1 <= agreement(attribute_everywhere(pair), patched) <= 1
    assert np.abs(changes_elsewhere(pair, (kind, 0, 0))[kind][0, 1:]).max() == 0  # heads of the same layer do not read it
    assert changes_elsewhere(pair, (kind, 0, 0))[kind][1].max() > 0
    if patched.differs():
        assert np.abs(path_effects(pair, (kind, 0, 0), "value")[kind][1]).max() > 0
    itself = run_pair(opened(name), TEXTS[name][0], TEXTS[name][0])
    for positions in ("together", "each"):
        assert all((of == 0).all() for of in last(itself, positions=positions).moved["logit"].values())


def test_an_encoder_alone_is_compared_at_its_first_masked_word() -> None:
    pipeline, (clean, corrupt) = opened("bert"), TEXTS["bert"]
    pair = pair_of("bert")
    assert pair.row == pair.clean.source[0].tolist().index(pipeline.tokenizer.mask_token_id)
    assert pair.sides == ("source",)
    assert len(pair.wanted) == 1
    *_, averages = average_needs(pipeline, [(clean, corrupt), (clean, clean)])
    assert averages.left_out >= 1
    with pytest.raises(InputError, match="no masked word, so there is no answer to compare; write <mask> in it"):
        run_pair(pipeline, "the old dog sees a house", "the old man sees a house")
    assert run_pair(pipeline, "the old dog sees a house", "the old man sees a house", row=2).row == 2


@pytest.mark.parametrize("name", ["gpt2", "llama", "bart"])
@torch.inference_mode()
def test_a_decoder_computes_the_logits_of_the_last_rows_only(name: str) -> None:
    pair, network = pair_of(name), opened(name).network
    encoded = (None, None) if pair.clean.source is None else network.encode(pair.clean.source)
    shapes = []
    handle = network.model.get_output_embeddings().register_forward_hook(lambda _, __, logits: shapes.append(logits.shape[1]))
    whole, rows = network.decode(pair.clean.target, *encoded), network.decode(pair.clean.target, *encoded, rows=2)
    handle.remove()
    assert rows.shape[1] == 2
    assert rows.allclose(whole[:, -2:], atol=1e-5)
    assert shapes == [whole.shape[1], whole.shape[1] if name == "bart" else 2]
