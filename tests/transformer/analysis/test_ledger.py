"""Tests of the ledger. It is compared with the parameters of the model, PyTorch's counter and the memory of the trace."""

import threading
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from torch.nn.modules import module
from torch.utils.flop_counter import FlopCounterMode

from tests.transformer.small import SOURCE, TARGET, VARIANTS, Run, runs, small
from transformer import InputError, Pipeline, Transformer, TransformerConfig, run_traced
from transformer.analysis.ledger import counted, ledger, lengths_of, markdown, totals
from transformer.analysis.provenance import SOURCE_IDS, TARGET_IDS
from transformer.analysis.walk import walk
from transformer.network.cost import Cost, cost, total
from transformer.tasks import TASKS


def numel(model: Transformer) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.slow
@given(run=runs())
@settings(max_examples=30)
def test_rows_add_up_to_the_parameters_bytes_and_flops_of_the_run(run: Run) -> None:
    trace = run_traced(run.model, run.source, run.target)
    rows = ledger(run.model, trace)
    assert [row.path for row in rows] == [activation.path for activation in trace]
    size = sum(activation.values.nbytes for activation in trace)
    assert total(row.cost for row in rows) == Cost(numel(run.model), sum(count(run).values()), size)
    assert sum(row.held for row in rows) == trace.tensor_bytes
    assert totals(rows, lambda row: row.work) == cost(trace.config, lengths_of(trace))
    assert [row.shape for row in rows] == [activation.shape for activation in trace]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_bytes_follow_the_precision_of_the_model(dtype: torch.dtype) -> None:
    model = small("shared_heads").to(dtype)
    trace = run_traced(model, SOURCE, TARGET)
    rows = ledger(model, trace)
    assert [row.bytes for row in rows] == [activation.values.nbytes for activation in trace]
    assert all(row.held in (0, row.bytes) for row in rows)


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_every_parameter_belongs_to_exactly_one_step(preset: str, norm_first: bool) -> None:
    model = small(preset, norm_first=norm_first, final_norm=norm_first)
    trace = run_traced(model, SOURCE, TARGET)
    owners = Counter(name for stop in walk(trace) for name in stop.parameters)
    assert owners == Counter(name for name, _ in model.named_parameters())
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    for row, stop in zip(ledger(model, trace), walk(trace), strict=True):
        assert row.parameters == sum(sizes[name] for name in stop.parameters)


@pytest.mark.parametrize("tied", ["output", "all"])
def test_a_matrix_with_two_uses_is_counted_once(tied: str) -> None:
    model = small("pytorch", tied_weights=tied)
    trace = run_traced(model, SOURCE, TARGET)
    rows = ledger(model, trace)
    assert sum(row.parameters for row in rows) == numel(model) < numel(small("pytorch"))
    assert totals(rows, lambda row: row.work) == cost(trace.config, lengths_of(trace))


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_flops_of_each_step_equal_pytorchs_count(preset: str, norm_first: bool) -> None:
    model = small(preset, norm_first=norm_first)
    rows = ledger(model, run_traced(model, SOURCE, TARGET))
    assert {row.path: row.flops for row in rows if row.flops} == counted(model, SOURCE, TARGET)


def test_the_count_of_a_thread_has_no_flops_of_other_threads() -> None:
    """During the count, another thread runs the same model, and checks that there are no global hooks."""
    model = small("pytorch").requires_grad_(False)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(SOURCE, TARGET)
    stop, hooked = threading.Event(), []

    def visit() -> None:
        while not stop.wait(0.001):
            hooked.append(bool(module._global_forward_hooks or module._global_forward_pre_hooks))
            with torch.inference_mode():
                model(SOURCE, TARGET)

    thread = threading.Thread(target=visit)
    thread.start()
    counts = [sum(counted(model, SOURCE, TARGET).values()) for _ in range(3)]
    stop.set()
    thread.join()
    assert counts == [counter.get_total_flops()] * 3
    assert hooked
    assert not any(hooked)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", Pipeline.available())
def test_the_ledger_of_a_shipped_model_equals_its_counts(name: str) -> None:
    pipeline = Pipeline.load(name)
    task = TASKS.get(pipeline.card.task)
    trace = pipeline.trace(task.examples[0].source if task else "Where are you?")
    rows = ledger(pipeline.model, trace)
    ids = pipeline.source_vocabulary.ids(trace.source_tokens[0]), pipeline.target_vocabulary.ids(trace.target_tokens[0])
    measured = counted(pipeline.model, *(torch.tensor([row]) for row in ids))
    assert sum(row.parameters for row in rows) == numel(pipeline.model)
    assert {row.path: row.flops for row in rows if row.flops} == measured
    assert sum(row.held for row in rows) == trace.tensor_bytes


def test_inputs_have_the_shapes_of_their_tensors() -> None:
    """The shapes are those of the worked example for the variant whose heads share their projections."""
    config = TransformerConfig.preset("shared_heads", encoder_layers=1, decoder_layers=1)
    model = Transformer(config).eval()
    source = torch.tensor([[1, 5, 6, 4, 3, 9, 5, 2, 0], [1, 8, 7, 3, 4, 5, 6, 7, 2]])
    target = torch.tensor([[1, 7, 4, 3, 5, 9, 2], [1, 5, 6, 2, 4, 7, 6]])
    rows = {row.path: row for row in ledger(model, run_traced(model, source, target))}
    assert rows["source_embedding.token"].inputs == ((SOURCE_IDS, (2, 9)),)
    assert rows["target_mask"].inputs == ((TARGET_IDS, (2, 7)),)
    across = "decoder.layers.0.cross_attention"
    assert rows[f"{across}.scores"].inputs == (
        (f"{across}.query.heads", (2, 8, 7, 32)),
        (f"{across}.key.heads", (2, 8, 9, 32)),
    )
    assert rows[f"{across}.scores"].shape == (2, 8, 7, 9)
    assert rows[f"{across}.scores"].flops == 2 * 2 * 8 * 7 * 9 * 32
    assert rows[f"{across}.scores"].bytes == 2 * 8 * 7 * 9 * 4
    assert rows["encoder.layers.0.feed_forward.hidden"].parameters == 256 * 1024 + 1024
    assert rows["source_mask"].bytes == 2 * 9
    assert rows[f"{across}.query.heads"].shares == f"{across}.query.projected"
    assert rows[f"{across}.query.heads"].held == 0


def test_a_decoder_alone_has_no_rows_for_skipped_modules() -> None:
    model = small("vanilla")
    trace = run_traced(model, None, TARGET)
    rows = ledger(model, trace)
    assert lengths_of(trace) == (2, 0, 5)
    skipped = [name for name, _ in model.named_parameters() if "cross" in name or name.startswith(("encoder", "source"))]
    used = numel(model) - sum(model.get_parameter(name).numel() for name in skipped)
    assert sum(row.parameters for row in rows) == used
    assert {row.path: row.flops for row in rows if row.flops} == counted(model, None, TARGET)


def test_totals_are_in_the_order_of_the_network() -> None:
    model = small("vanilla")
    by_group = totals(ledger(model, run_traced(model, SOURCE, TARGET)), lambda row: row.group)
    assert [*by_group][:4] == ["source", "encoder 1", "encoder 2", "encoder"]
    assert by_group["encoder 1"] == by_group["encoder 2"]


def test_a_trace_of_another_model_is_refused() -> None:
    trace = run_traced(small("vanilla"), SOURCE, TARGET)
    with pytest.raises(InputError, match="must be the one that was traced"):
        ledger(small("pytorch"), trace)


def test_markdown_escapes_vertical_bars() -> None:
    table = markdown(["path", "n"], [["a|b", 12], ["c", 3]])
    assert table == "| path | n |\n| --- | ---: |\n| a\\|b | 12 |\n| c | 3 |\n"
    assert markdown(["path"], []) == "| path |\n| --- |\n"


def count(run: Run) -> dict[str, int]:
    return counted(run.model, run.source, run.target)
