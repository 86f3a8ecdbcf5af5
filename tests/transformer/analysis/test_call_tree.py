"""Tests of the two call trees. They are compared with the modules of the model and with the calls that hooks record."""

import inspect
import math
import sys
import threading

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.small import SOURCE, TARGET, VARIANTS, small
from transformer import PRESETS, InputError, PathError, Transformer
from transformer.analysis import call_tree as calls
from transformer.analysis.call_tree import Call, constructor_calls, described, explanation, find, forward_calls
from transformer.network.attention import MultiHeadAttention
from transformer.network.masks import attention_softmax


def unfolded(call: Call) -> list[Call]:
    """Every call. A call that stands for several equal calls is repeated `count` times."""
    return [call, *(nested for below in call.calls for _ in range(below.count) for nested in unfolded(below))]


def find_call(root: Call, path: str, name: str) -> Call:
    return next(call for call in root if (call.path, call.name) == (path, name))


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_constructor_calls_have_every_module_with_its_parameters(preset: str, norm_first: bool) -> None:
    model = small(preset, norm_first=norm_first, decoder_layers=1)
    before = [parameter.clone() for parameter in model.parameters()]
    root = constructor_calls(model)
    modules = dict(model.named_modules())
    built = [call for call in unfolded(root) if call.function.endswith("__init__")]
    # `unfolded` repeats the one call that stands for all equal layers.
    assert sorted(call.name for call in built) == sorted(type(module).__name__ for module in modules.values())
    for call in root:
        if call.function.endswith("__init__"):
            module = modules[call.path]
            assert call.name == type(module).__name__
            assert call.parameters == sum(parameter.numel() for parameter in module.parameters())
            below = [child.path for child in call.calls if child.function.endswith("__init__")]
            assert below == [
                f"{call.path}.{name}".lstrip(".")
                for name, child in module.named_children()
                if not (name.isdecimal() and name != "0")
            ]
    assert all(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))


def test_constructor_calls_have_their_arguments() -> None:
    root = constructor_calls(small("vanilla", decoder_layers=1))
    assert root.inputs == (("config", "TransformerConfig"),)
    assert find_call(root, "encoder.layers.0.feed_forward.up_projection", "Linear").inputs == (
        ("in_features", "12"),
        ("out_features", "20"),
    )
    assert ("axis", "'key'") in find_call(root, "encoder.layers.0.self_attention.value", "PerHeadProjection").inputs
    assert find_call(root, "encoder.layers.0", "EncoderLayer").count == 2
    shared = constructor_calls(small("shared_heads"))
    assert find_call(shared, "encoder.layers.0.self_attention.query.projection", "Linear").inputs == (
        ("in_features", "4"),
        ("out_features", "4"),
        ("bias", "False"),
    )


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_the_calls_of_a_forward_pass_equal_the_calls_that_hooks_record(preset: str, norm_first: bool) -> None:
    model = small(preset, norm_first=norm_first, final_norm=norm_first)
    root = forward_calls(model, SOURCE, TARGET)
    recorded = [call for call in unfolded(root) if call.function.endswith(".forward")]

    hooked: list[list[object]] = []
    names = {module: path for path, module in model.named_modules()}

    def before(module: nn.Module, inputs: tuple[object, ...]) -> None:
        hooked.append([type(module).__name__, [described(value) for value in inputs if isinstance(value, Tensor)], module])

    def after(module: nn.Module, inputs: object, output: Tensor) -> None:
        next(entry for entry in reversed(hooked) if entry[-1] is module and len(entry) == 3).insert(2, described(output))

    for module in names:
        module.register_forward_pre_hook(before)
        module.register_forward_hook(after)
    with torch.no_grad():
        model(SOURCE, TARGET)

    def tensors(call: Call) -> list[str]:
        return [value for _, value in call.inputs if value.startswith("[")]

    assert [(call.name, tensors(call), call.output) for call in recorded] == [
        (name, inputs, output) for name, inputs, output, _ in hooked
    ]
    # The path of a call is the path of its module.
    first = [call.path for call in root if call.function.endswith(".forward")]
    assert set(first) <= set(names.values())
    assert {"encoder.layers.0", "decoder.layers.0", "output_projection"} <= set(first)


def test_functions_of_the_library_are_below_their_callers() -> None:
    root = forward_calls(small("pytorch"), SOURCE, TARGET)
    assert [call.name for call in root.calls] == ["encode", "decode"]
    attention = find_call(root, "encoder.layers.0.self_attention", "MultiHeadAttention")
    assert [value for _, value in attention.inputs] == ["[2, 7, 12]", "[2, 7, 12]", "Mask [2, 1, 1, 7] bool"]
    assert attention.output == "[2, 7, 12]"
    softmax = find_call(attention, "encoder.layers.0.self_attention", "attention_softmax")
    assert softmax.output == "[2, 3, 7, 7]"
    assert find_call(root, "", "padding_keys").output == "[2, 1, 1, 7] bool"
    assert find_call(root, "encoder.layers.0", "EncoderLayer").count == 2


def test_every_call_has_its_source() -> None:
    model = small("vanilla")
    for root in (constructor_calls(model), forward_calls(model, SOURCE, TARGET)):
        for call in {call.function: call for call in root}.values():
            assert inspect.getsource(find(call.function)).strip().startswith(("def ", "@"))
            if call.function.startswith("transformer."):
                assert explanation(call) or call.name in EXPLAINED_BY_THEIR_NAMES, call.function
    root = forward_calls(model, SOURCE, TARGET)
    softmax = find_call(root, "encoder.layers.0.self_attention", "attention_softmax")
    assert inspect.unwrap(find(softmax.function)) is inspect.unwrap(attention_softmax)
    assert explanation(softmax) == inspect.getdoc(attention_softmax)
    attention = find_call(root, "encoder.layers.0.self_attention", "MultiHeadAttention")
    assert explanation(attention) == inspect.getdoc(MultiHeadAttention)


# Methods whose names explain them, so that they need no docstring.
EXPLAINED_BY_THEIR_NAMES = {"check", "Mask.of", "normalize"}


@pytest.mark.parametrize(
    "function",
    [
        "",
        "os:system",
        "transformer.analysis.call_tree:nothing",
        "transformer.network.model",
        "transformer.analysis.call_tree:MAX_VALUE_LENGTH",
    ],
)
def test_find_refuses_functions_that_no_call_recorded(function: str) -> None:
    with pytest.raises(PathError):
        find(function)


def test_recording_covers_only_its_own_thread_and_leaves_no_hook() -> None:
    layers = {"encoder_layers": 1, "decoder_layers": 1}
    model, other = small("vanilla", **layers), small("shared_heads", **layers)
    with torch.inference_mode():
        expected = model(SOURCE, TARGET)
    alone, stop, same, profiled = forward_calls(model, SOURCE, TARGET), threading.Event(), [], []

    def visit() -> None:
        while not stop.wait(0.001):
            with torch.inference_mode():
                other(SOURCE, TARGET)
                same.append(torch.equal(model(SOURCE, TARGET), expected))
            profiled.append(sys.getprofile())

    thread = threading.Thread(target=visit)
    thread.start()
    beside = [forward_calls(model, SOURCE, TARGET) for _ in range(2)]
    built = constructor_calls(model)
    stop.set()
    thread.join()
    assert beside == [alone] * 2
    assert built == constructor_calls(model)
    assert same
    assert all(same)
    assert set(profiled) == {None}
    assert sys.getprofile() is None
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_a_failing_pass_leaves_no_profiler() -> None:
    with pytest.raises(InputError):
        forward_calls(small("vanilla"), torch.tensor([[99]]), torch.tensor([[1]]))
    assert sys.getprofile() is None


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_rebuilt_model_takes_no_memory_and_no_random_numbers(preset: str) -> None:
    model = small(preset)
    state = torch.random.get_rng_state()
    with calls.NoMemory():
        again = Transformer(model.config)
    constructor_calls(model)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(parameter.is_meta for parameter in again.parameters())
    assert [parameter.shape for parameter in again.parameters()] == [parameter.shape for parameter in model.parameters()]
    assert not any(parameter.is_meta for parameter in Transformer(model.config).parameters())


@pytest.mark.parametrize(
    ("value", "description"),
    [
        (torch.zeros(2, 3), "[2, 3]"),
        (torch.zeros(2, 3, dtype=torch.bool), "[2, 3] bool"),
        ((torch.zeros(1), None), "([1], None)"),
        (nn.Linear(1, 1), "Linear"),
        (lambda: None, "lambda"),
        (math.sqrt, "sqrt"),
        (-math.inf, "-inf"),
        ("x" * 99, "'" + "x" * 38 + "…"),
    ],
)
def test_values_are_described_by_shape_name_or_repr(value: object, description: str) -> None:
    assert described(value) == description
