"""Tests of taps: a forward pass is recorded or edited only inside the context of a scope."""

import ast
import contextvars
import copy
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from tests.transformer.small import SOURCE, TARGET, small
from transformer import network
from transformer.errors import PathError
from transformer.network.config import PRESETS
from transformer.network.tap import Tap, name_taps, tracing, watched
from transformer.tracing.interventions import Ablate, Scale
from transformer.tracing.trace import run_traced


def own_name(value: ast.AST) -> str | None:
    """`name` of `self.name`; None for any other expression."""
    own = isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self"
    return value.attr if own else None


def test_a_tap_assigns_to_its_own_name():
    folder, found = Path(network.__file__).parent, dict[str, str | None]()
    for owner in (node for file in folder.glob("*.py") for node in ast.walk(ast.parse(file.read_text()))):
        assigned = [
            (node.targets[0], node.value)
            for node in ast.walk(owner)
            if isinstance(owner, ast.ClassDef) and isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        ]
        taps = {own_name(to) for to, made in assigned if isinstance(made.func, ast.Name) and made.func.id in ("Tap", "MaskTap")}
        for to, made in assigned:
            if (tap := own_name(made.func)) in taps - {None}:
                found[f"{owner.name}.{tap}"] = to.id if isinstance(to, ast.Name) else None
    assert {"MultiHeadAttention.weights", "Embedding.token", "FeedForward.hidden"} <= found.keys()
    assert {path: name for path, name in found.items() if path.rpartition(".")[2] != name} == {}


def test_a_tap_is_the_identity_without_a_scope():
    values = torch.randn(2, 3)
    assert Tap("batch vocab")(values) is values


def test_any_module_can_have_taps():
    class Doubled(nn.Module):
        config = small().config

        def __init__(self) -> None:
            super().__init__()
            self.twice = Tap("batch vocab")
            self.taps: dict[str, Tap] = name_taps(self)

        def forward(self, values: Tensor) -> Tensor:
            return self.twice(values * 2)

    model, ones = Doubled(), torch.ones(1, 3)
    with tracing(model, [Scale("twice", factor=5.0)]) as values:
        assert torch.equal(model(ones), 10 * ones)
    assert torch.equal(values["twice"], 10 * ones)
    assert torch.equal(model(ones), 2 * ones)


def test_a_tap_records_the_tensor_itself():
    model = small()
    with tracing(model) as values, torch.no_grad():
        logits = model(SOURCE, TARGET)
    assert values["logits"] is logits


@pytest.mark.parametrize("preset", PRESETS)
def test_taps_are_not_in_the_state(preset: str):
    model = small(preset)
    assert not [name for name in model.state_dict() if any(name.startswith(f"{path}.") or name == path for path in model.taps)]
    assert set(model.state_dict()) == {name for name, _ in model.named_parameters()}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_path_is_the_position_in_the_module_tree(preset: str):
    model = small(preset)
    assert model.taps
    for path, tap in model.taps.items():
        assert tap.path == path
        owner, _, name = path.rpartition(".")
        assert getattr(model.get_submodule(owner), name) is tap


def test_the_taps_of_a_model_are_one_pytree_leaf():
    model = small()
    (leaf,) = tree_leaves(model.taps)
    assert leaf is model.taps is model.logits.taps


def test_a_copy_of_a_model_has_its_own_taps():
    model = small("vanilla")
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin.output_projection.bias += 1
    ours, its = run_traced(model, SOURCE, TARGET), run_traced(twin, SOURCE, TARGET)
    assert list(ours.activations) == list(its.activations)
    assert set(twin.taps.values()).isdisjoint(model.taps.values())
    assert torch.equal(its.logits, twin(SOURCE, TARGET))
    assert not torch.equal(ours.logits, its.logits)


def test_a_replaced_layer_is_traced_once_its_taps_are_named():
    model, layer = small(encoder_layers=2), small("pytorch").encoder.layers[0]
    model.encoder.layers[1] = layer
    trace = run_traced(model, SOURCE, TARGET)
    with pytest.raises(PathError, match=r"there is no such tap as 'encoder.layers.1.self_attention.weights'"):
        trace.attention("encoder")
    assert trace.attention("cross").shape == (2, 2, 3, 5, 7)
    model.taps = name_taps(model)
    weights = run_traced(model, SOURCE, TARGET).attention("encoder")
    assert torch.equal(weights[:1], trace["encoder.layers.0.self_attention.weights"].values[None])
    assert weights.shape == (2, 2, 3, 7, 7)


def test_outside_a_scope_nothing_is_recorded():
    model = small()
    with tracing(model) as values:
        assert watched()
    model(SOURCE, TARGET)
    assert not watched()
    assert values == {}


def test_a_scope_without_keep_records_nothing():
    model = small()
    with tracing(model, keep=False) as values:
        model(SOURCE, TARGET)
    assert values == {}


def test_a_path_to_keep_that_the_model_lacks_is_refused():
    with (
        pytest.raises(PathError, match=r"keep has 'logit', which is no tap of this model\."),
        tracing(small(), keep=["logits", "logit"]),
    ):
        pass


def test_an_exception_inside_the_scope_ends_it():
    model = small()
    expected = model(SOURCE, TARGET)
    recorded = {}

    def fail_inside() -> None:
        with tracing(model, [Scale("logits", factor=0.0)]) as values:
            recorded["logits"], recorded["values"] = model(SOURCE, TARGET), values
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail_inside()
    assert not watched()
    assert torch.equal(model(SOURCE, TARGET), expected)
    assert recorded["values"]["logits"] is recorded["logits"]


def test_an_exception_inside_the_forward_pass_ends_the_scope():
    model = small()
    with pytest.raises(ValueError, match="source token id"), tracing(model):
        model(SOURCE + 99, TARGET)
    assert not watched()


def test_an_inner_scope_replaces_the_outer_until_it_ends():
    model = small()
    plain = model(SOURCE, TARGET)
    with tracing(model, [Scale("logits", factor=2.0)]) as outer:
        with tracing(model, [Scale("logits", factor=3.0)]) as inner:
            assert torch.equal(model(SOURCE, TARGET), 3 * plain)
        assert outer == {}
        assert torch.equal(model(SOURCE, TARGET), 2 * plain)
    assert torch.equal(inner["logits"], 3 * plain)
    assert torch.equal(outer["logits"], 2 * plain)


def test_scopes_left_out_of_order_end_completely():
    model = small()
    plain = model(SOURCE, TARGET)

    def edited() -> Generator[None]:
        with tracing(model, [Scale("logits", factor=0.0)]):
            yield

    first, second = edited(), edited()
    next(first)
    next(second)
    first.close()
    second.close()
    assert torch.equal(model(SOURCE, TARGET), plain)
    assert not watched()


def test_a_task_is_outside_the_scope_after_the_scope_has_ended():
    model = small()
    plain = model(SOURCE, TARGET)
    with tracing(model, [Scale("logits", factor=2.0)]) as values:
        task = contextvars.copy_context()  # the context of an `asyncio` task, or of a `to_thread` thread
        assert torch.equal(task.run(model, SOURCE, TARGET), 2 * plain)
        before = dict(values)
    assert torch.equal(task.run(model, SOURCE, TARGET), plain)
    assert not task.run(watched)
    assert values == before


def test_another_model_inside_the_scope_is_neither_recorded_nor_edited():
    model, other = small(seed=0), small(seed=1)
    expected = other(SOURCE, TARGET)
    with tracing(model, [Scale("logits", factor=0.0)]) as values:
        assert torch.equal(other(SOURCE, TARGET), expected)
        assert values == {}
        model(SOURCE, TARGET)
    assert set(values) == set(model.taps)


def test_a_scope_keeps_its_last_run():
    model = small()
    with tracing(model) as values:
        model(SOURCE, TARGET)
        last = model(SOURCE[:1], TARGET[:1])
    assert values["logits"] is last


def test_a_tensor_without_the_axes_of_its_tap_is_refused():
    model = small()
    with tracing(model), pytest.raises(PathError, match="must have the axes batch target vocab"):
        model.taps["logits"](torch.zeros(3))


# --- threads -----------------------------------------------------------------------------------------------------------

REPETITIONS = 15


@pytest.fixture
def _switching_often() -> Iterator[None]:
    """Make Python switch threads far more often than usual, also inside a forward pass."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.few_cases(1)
@pytest.mark.usefixtures("_switching_often")
@pytest.mark.parametrize("preset", PRESETS)
def test_threads_that_share_a_model_are_isolated(preset: str):
    model = small(preset)
    heads = Ablate("decoder.layers.0.cross_attention", heads=(1,))
    scopes = [[heads], [Scale("encoder.layers.0.feed_forward.output", factor=3.0)], []]
    alone = [traced(model, edits) for edits in scopes]
    untraced = model(SOURCE, TARGET).detach()
    assert not torch.equal(alone[0]["logits"], alone[1]["logits"])
    assert torch.equal(alone[2]["logits"], untraced)
    start = threading.Barrier(len(scopes) + 1)

    def repeatedly(work: Callable[[], None]) -> None:
        start.wait(timeout=30)
        for _ in range(REPETITIONS):
            work()

    def check_scope(index: int) -> None:
        values = traced(model, scopes[index])
        assert values.keys() == alone[index].keys()
        assert all(torch.equal(values[path], alone[index][path]) for path in values)

    def check_untraced() -> None:
        with torch.no_grad():
            assert torch.equal(model(SOURCE, TARGET), untraced)
        assert not watched()

    with ThreadPoolExecutor(len(scopes) + 1) as pool:
        jobs = [pool.submit(repeatedly, lambda index=index: check_scope(index)) for index in range(len(scopes))]
        jobs.append(pool.submit(repeatedly, check_untraced))
        for job in jobs:
            job.result(timeout=60)


def traced(model: torch.nn.Module, edits: list) -> dict[str, Tensor]:
    with torch.no_grad(), tracing(model, edits) as values:
        model(SOURCE, TARGET)
    return values


def test_a_thread_started_inside_a_scope_is_outside_it():
    model = small()
    with tracing(model) as values, ThreadPoolExecutor(1) as pool:
        assert not pool.submit(watched).result(timeout=30)
        pool.submit(model, SOURCE, TARGET).result(timeout=30)
    assert values == {}
