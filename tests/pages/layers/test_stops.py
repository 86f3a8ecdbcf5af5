"""The stops of the walk: the shapes of the worked example on the page, and the texts and statistics of each stop."""

import json
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.layers.stops import heading, title, written
from pages.layers.tensor_views import hidden, statistics
from pages.layers.walk_part import STOP, short_walk
from pages.ui.text import text
from tests.pages.apps import EXAMPLE, charts
from tests.pages.layers.opened import at_stop, opened
from tests.transformer.small import SOURCE, TARGET, VARIANTS, small
from transformer.analysis.walk import walk
from transformer.pipeline.pipeline import Pipeline
from transformer.pipeline.untrained import Untrained
from transformer.tracing.trace import run_traced

# --- the worked example, from the page ---------------------------------------------------------------------------------


def sizes(shape: str) -> list[int]:
    """The sizes in a named shape: [2, 8, 9, 32] for `[batch 2, head 8, query 9, d_head 32]`."""
    return [int(part.split()[-1]) for part in shape.strip("[]").split(",")]


def attention(path: str, queries: int, keys: int, d_model: int, shared: bool) -> dict[str, list[int]]:
    """The shapes of one attention for 2 texts and 8 heads, from variants.md and its sources."""
    d_head = d_model // 8
    shapes = {}
    for role, length in (("query", queries), ("key", keys), ("value", keys)):
        if shared:
            shapes[f"{path}.{role}.split"] = [2, length, 8, d_head]
        shapes[f"{path}.{role}.projected"] = [2, length, 8, d_head] if shared else [2, length, d_model]
        shapes[f"{path}.{role}.heads"] = [2, 8, length, d_head]
    for name in ("scores", "scaled_scores", "masked_scores", "weights"):
        shapes[f"{path}.{name}"] = [2, 8, queries, keys]
    shapes[f"{path}.head_output"] = [2, 8, queries, d_head]
    return shapes | {f"{path}.{name}": [2, queries, d_model] for name in ("concatenated", "output")}


def expected(d_model: int, d_ff: int, shared: bool, layer: int) -> dict[str, list[int]]:
    """The shapes of one encoder layer, one decoder layer and all tensors outside layers. The source length is 9, the target
    length 7, and there are 10 ids."""
    shapes = {"source_mask": [2, 1, 1, 9], "target_mask": [2, 1, 7, 7], "logits": [2, 7, 10], "probabilities": [2, 7, 10]}
    shapes |= {"source_embedding.position": [9, d_model], "target_embedding.position": [7, d_model]}
    for side, length, stack in (("source", 9, "encoder"), ("target", 7, "decoder")):
        whole = [2, length, d_model]
        shapes |= {f"{side}_embedding.{name}": whole for name in ("token", "sum")} | {f"{stack}.output": whole}
        prefix = f"{stack}.layers.{layer}"
        parts = ["self_attention", "feed_forward", *(["cross_attention"] if stack == "decoder" else [])]
        shapes |= {f"{prefix}.{part}_add_norm.{name}": whole for part in parts for name in ("sum", "normalized")}
        shapes |= attention(f"{prefix}.self_attention", length, length, d_model, shared)
        shapes |= {f"{prefix}.feed_forward.{name}": [2, length, d_ff] for name in ("hidden", "activated")}
        shapes[f"{prefix}.feed_forward.output"] = whole
    return shapes | attention(f"decoder.layers.{layer}.cross_attention", 7, 9, d_model, shared)


def listed(app: AppTest) -> dict[str, list[int]]:
    """Path → shape of every stop in the page's list, in order."""
    sent = [json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.json]
    (lines,) = [data["lines"] for data in sent if "lines" in data]
    return {path: json.loads(shape) for path, level, *_, shape in lines if level}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "d_model", "d_ff", "shared", "count"),
    [("shared_heads", 256, 1024, True, 396), ("vanilla", 512, 2048, False, 342), ("pytorch", 512, 2048, False, 344)],
)
def test_the_worked_example_has_expected_shapes(model: str, d_model: int, d_ff: int, shared: bool, count: int) -> None:
    app = opened(model=model, **EXAMPLE)
    paths = listed(app)
    assert list(paths) == app.selectbox(key=STOP).options
    assert len(paths) == count
    shapes = {path: shape for layer in range(6) for path, shape in expected(d_model, d_ff, shared, layer).items()}
    if model == "pytorch":
        shapes |= {"source_embedding.scaled": [2, 9, d_model], "target_embedding.scaled": [2, 7, d_model]}
    assert paths == shapes
    # The details of a stop have the same shapes. For one variant all stops of a layer are checked, for the others one stop for
    # each kind of shape.
    some = ("cross_attention.query.heads", "cross_attention.key.heads", "cross_attention.weights", "feed_forward.hidden")
    layer = ("encoder.layers.5", "decoder.layers.5.cross_attention")
    visited = [path for path in shapes if ".layers." not in path or path.startswith(layer)]
    if not shared:
        visited = ["source_mask", "target_mask", "encoder.output", "logits", *(f"decoder.layers.5.{name}" for name in some)]
    for path in visited:
        table = at_stop(app, path)
        result = table[table["role"] == "result"].iloc[-1]
        assert (result["tensor"], sizes(result["shape"])) == (path, shapes[path])
        for _, given in table[table["role"] == "input"].iterrows():
            assert given["tensor"] == "token ids" or sizes(given["shape"]) == shapes[given["tensor"]]


def test_the_source_mask_of_the_example_hides_its_one_padding_token() -> None:
    app = opened(model="shared_heads", stop="source_mask", **EXAMPLE)
    assert any("17 of 18 are true" in caption.value for caption in app.caption)


def test_the_walk_lists_every_tap_of_the_model_once() -> None:
    paths = opened(model="english-french").selectbox(key=STOP).options
    assert len(paths) == len(set(paths))
    assert set(paths) == set(Pipeline.load("english-french").model.taps)


@pytest.mark.slow
def test_the_parameters_of_all_stops_are_all_parameters_of_the_model() -> None:
    app = opened(model="own-sizes", variant="vanilla", n_layers="1", n_heads="2", d_model="16", d_ff="32", **EXAMPLE)
    counted: dict[str, int] = {}
    for path in app.selectbox(key=STOP).options:
        table = at_stop(app, path)
        for _, row in table[table["role"] == "parameter"].iterrows():
            counted[row["tensor"]] = 1
            for size in sizes(row["shape"]):
                counted[row["tensor"]] *= size
    key = Untrained.of(
        "vanilla",
        (EXAMPLE["source"], EXAMPLE["batch"]),
        (EXAMPLE["target"], EXAMPLE["batch_targets"]),
        {"encoder_layers": 1, "decoder_layers": 1, "heads": 2, "d_model": 16, "d_ff": 32},
    )
    assert sum(counted.values()) == sum(p.numel() for p in key.build().model.parameters())


# --- the texts about a stop --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_every_stop_has_a_text_and_a_formula_in_every_variant(preset: str, norm_first: bool) -> None:
    trace = run_traced(small(preset, norm_first=norm_first), SOURCE, TARGET)
    for stop in walk(trace):
        why, formula = written(stop, trace.config)
        assert why.endswith(".")
        assert "$" not in why + formula
        assert formula.count("{") == formula.count("}")
        assert heading(stop)


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_statistics_leave_out_masked_numbers(preset: str, norm_first: bool) -> None:
    trace = run_traced(small(preset, norm_first=norm_first), SOURCE, TARGET)
    for stop in walk(trace):
        masked, values = hidden(trace, stop), trace[stop.path].numpy()
        late = ("masked_scores", "weights", *(["scaled_scores"] if trace.config.mask_before_scaling else []))
        if stop.kind.rpartition(".")[2] in late:
            own = stop.path.startswith("decoder.layers") and "self_attention" in stop.path
            mask = (trace.masks.target if own else trace.masks.source).numpy()
            assert masked is not None
            assert (masked == ~np.broadcast_to(mask, masked.shape)).all()
        else:
            assert masked is None
        if values.dtype != bool:
            numbers, count = statistics(trace[stop.path], masked)
            visible = values if masked is None else values[~masked]
            assert count == visible.size
            assert np.isfinite(numbers).all()
            assert numbers == pytest.approx((visible.min(), visible.max(), visible.mean(), visible.std()), rel=1e-4, abs=1e-6)


def test_parameters_and_source_are_drawn_only_when_opened() -> None:
    app = opened(model="reverse", source="abcd", stop="encoder.layers.0.feed_forward.hidden")
    assert len(charts(app)) == 1  # the picture of the stop
    assert not app.code
    app.session_state["parameters"] = True
    app.session_state["walk_source"] = True
    app.run()
    assert len(charts(app)) == 3  # weight and bias, too
    assert "hidden = self.hidden(self.up_projection(x))" in app.code[0].value


def test_titles_do_not_claim_relu_or_layer_norm_for_a_network_that_is_not_our_own():
    stops = {stop.kind: stop for stop in walk(run_traced(small(), SOURCE, TARGET))}
    for kind, own in {"feed_forward.activated": "ReLU", "add_norm.normalized": "LayerNorm"}.items():
        assert own in title(stops[kind])
        assert own not in title(replace(stops[kind], recorded=True))
    assert title(replace(stops["logits"], recorded=True)) == title(stops["logits"])


@pytest.mark.parametrize("activation", ["gelu", "swish"])
def test_the_texts_name_an_activation_other_than_relu(activation: str):
    model = small(activation=activation)
    stop = next(stop for stop in walk(run_traced(model, SOURCE, TARGET)) if stop.kind == "feed_forward.activated")
    assert "ReLU" not in title(stop)
    assert activation in written(stop, model.config)[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert", "gemma2", "gemma3_text", "mbart", "phi3", "t5-gated"])
def test_every_recorded_tensor_of_a_network_that_is_not_our_own_has_a_text(name: str) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")
    from tests.transformer.huggingface import tiny

    pipeline = tiny.opened(name)
    trace, modules = pipeline.trace(tiny.LONG), dict(pipeline.original.named_modules())
    for stop in walk(trace):
        said, formula = written(stop, trace.config)
        assert f"`{stop.path}`" in said
        assert not formula
        assert stop.path in modules or stop.kind in text("walk")["others"], stop


@pytest.mark.slow
def test_the_short_walk_has_the_parts_of_each_kind_of_network() -> None:
    pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")
    from tests.transformer.huggingface import tiny

    for name, count in {"bert": 9, "gpt2": 9, "llama": 9, "marian": 12, "t5": 12}.items():
        trace = tiny.opened(name).trace(tiny.LONG)
        walked = short_walk(trace.config.decoder_layers, [step.path for step in trace])
        assert len(walked) == count
        assert walked[-1] == "probabilities"
