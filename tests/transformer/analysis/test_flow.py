"""The filmstrip as a flow: its rows, chains and lines show which tensors each tensor is computed from."""

from itertools import groupby, pairwise

import pytest

from pages.shell.view.runs import Runs
from transformer.analysis.flow import MASKS, Flow, flow_of
from transformer.analysis.provenance import SOURCE_IDS, TARGET_IDS
from transformer.analysis.walk import Stop, walk
from transformer.pipeline.untrained import Untrained
from transformer.tracing.paths import TensorPath

LEFT_OUT = {SOURCE_IDS, TARGET_IDS, *MASKS}


def parts(model: str) -> list[tuple[str, list[Stop], Flow]]:
    runs = Runs()
    sizes = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 16, "d_ff": 32, "heads": 2}
    key = model if model == "reverse" else Untrained.of(model, ("abc",), ("b a",), sizes)
    trace = runs.trace(key, ("abc",), (None if model == "reverse" else "b a",), ())
    grouped = groupby(walk(trace), lambda stop: (stop.group, stop.part))
    return [(part, stops := list(members), flow_of(stops)) for (_, part), members in grouped]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["reverse", "pytorch", "shared_heads"])
def test_lines_and_chains_are_the_inputs_of_every_tensor(model: str) -> None:
    for _, stops, flow in parts(model):
        chains = [chain for row in flow.rows for chain in row]
        assert sorted(stop.path for chain in chains for stop in chain) == sorted(stop.path for stop in stops)
        within = {(one.path, other.path) for chain in chains for one, other in pairwise(chain)}
        made = {(path, stop.path) for stop in stops for path in stop.inputs if path not in LEFT_OUT}
        assert {*flow.lines, *flow.residual} | within == made
        assert not within & {*flow.lines, *flow.residual}


@pytest.mark.parametrize("model", ["reverse", "pytorch", "shared_heads"])
def test_queries_keys_and_values_are_side_by_side_and_the_residual_stream_goes_around_them(model: str) -> None:
    attentions = [(stops, flow) for part, stops, flow in parts(model) if part.endswith("attention")]
    assert len(attentions) == 2 + 2 * 2
    for stops, flow in attentions:
        (branches,) = (row for row in flow.rows if len(row) > 1)
        assert [TensorPath.parse(chain[0].path).name.split(".")[0] for chain in branches] == ["query", "key", "value"]
        owner = str(TensorPath.parse(stops[0].path).whole)
        assert {line for line in flow.lines if line[1] == f"{owner}.scores"} == {
            (f"{owner}.{name}.heads", f"{owner}.scores") for name in ("query", "key")
        }
        ((stream, end),) = flow.residual
        assert stream in flow.sources
        assert end.endswith("_add_norm.sum")
        assert flow.sources == [stream, *(["encoder.output"] if "cross" in owner else [])]
