"""Tests of the configuration: the three variants field by field, and a clear error for each value that is not allowed."""

import dataclasses
import functools
import inspect
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from transformer.errors import ConfigError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.model import Transformer

# The complete table of variants, one column for each.
COLUMNS = {
    "vanilla": {
        "source_vocab": 10,
        "target_vocab": 10,
        "source_pad": 0,
        "target_pad": 0,
        "d_model": 512,
        "heads": 8,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "d_ff": 2048,
        "max_len": 4096,
        "dropout": 0.1,
        "scale_embedding": False,
        "position": "sinusoidal",
        "sinusoid_order": "alternating",
        "zero_pad_row": True,
        "tied_weights": "nothing",
        "head_projection": "per_head",
        "projection_bias": True,
        "output_bias": True,
        "score_divisor": "d_head",
        "mask_before_scaling": False,
        "mask_fill": -10_000.0,
        "target_padding": "queries",
        "decoder_alone": True,
        "dropout_on": "sublayer",
        "activation": "relu",
        "ff_dropout": True,
        "embedding_dropout": True,
        "norm_first": False,
        "norm_eps": 1e-12,
        "final_norm": False,
        "initialization": "pytorch",
    },
    "pytorch": {
        "source_vocab": 10,
        "target_vocab": 10,
        "source_pad": 0,
        "target_pad": 0,
        "d_model": 512,
        "heads": 8,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "d_ff": 2048,
        "max_len": 5000,
        "dropout": 0.1,
        "scale_embedding": True,
        "position": "sinusoidal",
        "sinusoid_order": "alternating",
        "zero_pad_row": False,
        "tied_weights": "nothing",
        "head_projection": "per_head",
        "projection_bias": True,
        "output_bias": True,
        "score_divisor": "d_head",
        "mask_before_scaling": False,
        "mask_fill": -math.inf,
        "target_padding": "keys",
        "decoder_alone": False,
        "dropout_on": "sublayer",
        "activation": "relu",
        "ff_dropout": True,
        "embedding_dropout": True,
        "norm_first": False,
        "norm_eps": 1e-5,
        "final_norm": True,
        "initialization": "xavier",
    },
    "shared_heads": {
        "source_vocab": 10,
        "target_vocab": 10,
        "source_pad": 0,
        "target_pad": 0,
        "d_model": 256,
        "heads": 8,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "d_ff": 1024,
        "max_len": 100,
        "dropout": 0.1,
        "scale_embedding": False,
        "position": "learned",
        "sinusoid_order": "alternating",
        "zero_pad_row": False,
        "tied_weights": "nothing",
        "head_projection": "shared",
        "projection_bias": False,
        "output_bias": False,
        "score_divisor": "d_model",
        "mask_before_scaling": True,
        "mask_fill": -math.inf,
        "target_padding": "nothing",
        "decoder_alone": False,
        "dropout_on": "norm",
        "activation": "relu",
        "ff_dropout": False,
        "embedding_dropout": True,
        "norm_first": False,
        "norm_eps": 1e-5,
        "final_norm": False,
        "initialization": "pytorch",
    },
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_preset_equals_its_column_of_the_table(name: str):
    assert dataclasses.asdict(TransformerConfig.preset(name)) == COLUMNS[name]


def test_there_are_no_other_presets():
    assert PRESETS.keys() == COLUMNS.keys()
    with pytest.raises(ConfigError, match="preset is 'bert'; allowed are vanilla, pytorch, shared_heads"):
        TransformerConfig.preset("bert")


def test_given_values_replace_values_of_the_preset():
    config = TransformerConfig.preset("pytorch", d_model=64, mask_fill=-5000.0)
    assert (config.d_model, config.mask_fill, config.norm_eps) == (64, -5000.0, 1e-5)
    assert config.replace(heads=4) == TransformerConfig.preset("pytorch", d_model=64, mask_fill=-5000.0, heads=4)


@pytest.mark.parametrize(("divisor", "scale"), [("d_head", 4.0), ("d_model", 8.0)])
def test_d_head_and_score_scale_follow_from_the_fields(divisor: str, scale: float):
    config = TransformerConfig.preset("vanilla", d_model=64, heads=4, score_divisor=divisor)
    assert config.d_head == 16
    assert config.score_scale == scale


INTEGERS = ("source_vocab", "target_vocab", "source_pad", "target_pad", "d_model", "heads", "encoder_layers")
INTEGERS += ("decoder_layers", "d_ff", "max_len")
FLOATS = ("dropout", "mask_fill", "norm_eps")
BOOLS = ("scale_embedding", "zero_pad_row", "projection_bias", "output_bias", "mask_before_scaling", "decoder_alone")
BOOLS += ("ff_dropout", "embedding_dropout", "norm_first", "final_norm")
CHOICES = {
    "position": "sinusoidal, learned",
    "sinusoid_order": "alternating, halves",
    "tied_weights": "nothing, output, all",
    "activation": "relu, gelu, swish",
    "head_projection": "per_head, shared",
    "score_divisor": "d_head, d_model",
    "target_padding": "queries, keys, nothing",
    "dropout_on": "sublayer, norm",
    "initialization": "pytorch, xavier",
}


def test_every_field_has_invalid_values_below():
    assert {*INTEGERS, *FLOATS, *BOOLS, *CHOICES} == {field.name for field in dataclasses.fields(TransformerConfig)}


BAD = [
    *((name, value, "must be a whole number") for name in INTEGERS for value in ("8", 8.0, True, None, [8], math.nan)),
    *((name, value, "must be a number") for name in FLOATS for value in ("0.1", True, None, [0.1], math.nan)),
    *((name, value, "allowed are True and False") for name in BOOLS for value in (1, 0, "yes", None)),
    *((name, value, f"allowed are {allowed}") for name, allowed in CHOICES.items() for value in ("other", "", None, 1, [1])),
    *((name, value, "allowed are 1 to") for name in INTEGERS if "pad" not in name for value in (0, -1, -(10**30), 10**30)),
    ("source_pad", -1, "allowed are 0 to 9"),
    ("source_pad", 10, "allowed are 0 to 9"),
    ("target_pad", 10**30, "allowed are 0 to 9"),
    ("d_model", 100, "must be a multiple of heads, which is 8"),
    ("d_model", 7, "must be a multiple of heads, which is 8"),
    ("heads", 7, "must be a multiple of heads, which is 7"),
    ("max_len", 65_536 + 1, "allowed are 1 to 65536"),
    ("source_vocab", 1_000_001, "allowed are 1 to 1000000"),
    ("dropout", 1.0, "it must be a probability from 0 to below 1"),
    ("dropout", -0.1, "a probability"),
    ("dropout", math.inf, "a probability"),
    ("dropout", 10**400, "a probability"),
    ("norm_eps", 0.0, "it must be a number from 1e-30 to below 1"),
    ("norm_eps", -1e-5, "it must be a number from"),
    ("norm_eps", 1e-300, "it must be a number from"),
    ("norm_eps", 1.0, "it must be a number from"),
    ("mask_fill", 0.0, "allowed are -1000 down to -1e+30, and -inf"),
    ("mask_fill", math.inf, "allowed are -1000"),
    ("mask_fill", -999.0, "allowed are -1000"),
    ("mask_fill", -1e300, "allowed are -1000"),
    ("mask_fill", -(10**400), "allowed are -1000"),
]


@pytest.mark.few_cases(20)
@pytest.mark.parametrize(("name", "value", "allowed"), BAD, ids=lambda value: str(value)[:30])
def test_an_invalid_value_is_refused_with_its_name_and_the_allowed_values(name: str, value: object, allowed: str):
    with pytest.raises(ConfigError) as caught:
        TransformerConfig.preset("vanilla", **{name: value})
    # d_model and heads are checked together; the message names d_model, whose value is 512.
    field, wrong = ("d_model", 512) if name == "heads" and "multiple" in allowed else (name, value)
    assert str(caught.value).startswith(f"{field} is {repr(wrong)[:59]}")
    assert f"{allowed}" in str(caught.value)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 250


def test_a_table_too_large_for_any_machine_is_refused():
    with pytest.raises(ConfigError, match="max_len is 65536; with d_model 8192, allowed are up to 4096"):
        TransformerConfig.preset("vanilla", d_model=8192, max_len=65_536)


@pytest.mark.parametrize("other", [{"source_vocab": 11}, {"source_pad": 1}])
def test_one_table_for_both_sides_needs_one_vocabulary(other: dict[str, int]):
    with pytest.raises(ConfigError, match="tied_weights is 'all'; with different vocabularies or padding, allowed are noth"):
        TransformerConfig.preset("vanilla", tied_weights="all", **other)
    assert TransformerConfig.preset("vanilla", tied_weights="output", **other).tied_weights == "output"


def test_numpy_numbers_become_python_numbers():
    config = TransformerConfig.preset(
        "vanilla", d_model=np.int64(64), heads=np.uint8(4), dropout=np.float32(0.25), norm_eps=1e-12
    )
    assert config == TransformerConfig.preset("vanilla", d_model=64, heads=4, dropout=0.25)
    assert {type(getattr(config, name)) for name in ("d_model", "heads")} == {int}
    assert type(config.dropout) is float
    assert TransformerConfig.from_json(config.to_json()) == config


@pytest.mark.parametrize("value", [np.array([8]), np.array(["learned", "x"]), np.bool_(True), torch.tensor(8), {}])
@pytest.mark.parametrize("name", ["heads", "dropout", "norm_first", "position"])
def test_arrays_and_other_look_alikes_are_refused(name: str, value: object):
    with pytest.raises(ConfigError, match=f"^{name} is "):
        TransformerConfig.preset("vanilla", **{name: value})


@pytest.mark.parametrize("value", [None, 3, ["vanilla"], {}])
def test_values_that_are_not_texts_are_refused_as_preset_and_as_json(value: object):
    with pytest.raises(ConfigError, match="allowed are vanilla"):
        inspect.unwrap(TransformerConfig.preset.__func__)(TransformerConfig, value)
    with pytest.raises(ConfigError, match="is not JSON"):
        inspect.unwrap(TransformerConfig.from_json.__func__)(TransformerConfig, value)


def test_an_unknown_field_is_refused_with_a_list_of_known_fields():
    with pytest.raises(ConfigError, match="width is not a field; the fields are source_vocab, target_vocab"):
        TransformerConfig.preset("vanilla", width=3)
    config = TransformerConfig.preset("vanilla")
    for make in (config.replace, functools.partial(dataclasses.replace, config), TransformerConfig):
        with pytest.raises(ConfigError, match="width is not a field; the fields are source_vocab, target_vocab"):
            make(width=3)


def test_a_field_without_a_default_must_be_given_by_name():
    with pytest.raises(ConfigError, match="target_vocab is missing and has no default; the fields are source_vocab"):
        TransformerConfig(source_vocab=10)
    with pytest.raises(ConfigError, match=r"Fields are given by name, not as \(10, 10\); the fields are source_vocab"):
        TransformerConfig(10, 10)
    # The signature, which editors show, still lists the fields.
    assert [*inspect.signature(TransformerConfig).parameters] == [field.name for field in dataclasses.fields(TransformerConfig)]


@pytest.mark.parametrize("name", PRESETS)
def test_json_round_trip(name: str):
    config = TransformerConfig.preset(name, dropout=0.3, source_pad=4)
    text = config.to_json()
    assert TransformerConfig.from_json(text) == config
    # Standard JSON has no number for infinity.
    assert "Infinity" not in text


def fields_of_a_small_config() -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries(
        {
            "heads": st.integers(1, 4),
            "d_model": st.just(12),
            **{name: st.integers(1, 3) for name in ("encoder_layers", "decoder_layers")},
            **{name: st.booleans() for name in BOOLS},
            **{name: st.sampled_from(allowed.split(", ")) for name, allowed in CHOICES.items()},
            "d_ff": st.integers(1, 30),
            "max_len": st.integers(1, 20),
            "dropout": st.floats(0, 0.99),
            "mask_fill": st.sampled_from([-1000.0, -10_000.0, -1e30, -math.inf]),
            "norm_eps": st.floats(1e-30, 0.5),
        }
    )


@given(fields_of_a_small_config())
@settings(max_examples=15)
def test_any_mixture_of_choices_runs_after_a_json_round_trip(values: dict[str, object]):
    config = TransformerConfig.preset("vanilla", **values)
    assert TransformerConfig.from_json(config.to_json()) == config
    logits = Transformer(config).eval()(torch.tensor([[3]]), torch.tensor([[0]]))
    assert logits.isfinite().all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("garbage", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("1" * 10_000, "is not JSON"),
        ("[]", "must be a JSON object of fields"),
        ("null", "must be a JSON object of fields"),
        ("3", "must be a JSON object of fields"),
        ('"vanilla"', "must be a JSON object of fields"),
        ("{}", "source_vocab is missing"),
        ('{"self": 1}', "self is not a field"),
        ('{"source_vocab": 10}', "target_vocab is missing"),
        ('{"source_vocab": 10, "target_vocab": 10, "what": 1}', "is not a field"),
        ('{"source_vocab": 10, "target_vocab": "10"}', "target_vocab is '10'; it must be a whole number"),
        ('{"source_vocab": 10, "target_vocab": 10, "mask_fill": null}', "mask_fill is None"),
        ('{"source_vocab": 10, "target_vocab": 10, "mask_fill": "NaN"}', "mask_fill is nan"),
        ('{"source_vocab": 10, "target_vocab": 10, "mask_fill": "very low"}', "mask_fill is 'very low'"),
        ('{"source_vocab": 10, "target_vocab": 10, "mask_fill": -1' + "0" * 400 + "}", "mask_fill is -1000"),
        ('{"source_vocab": 10, "target_vocab": 10, "dropout": NaN}', "dropout is nan"),
        ('{"source_vocab": 10, "target_vocab": 10, "heads": 1e999}', "heads is inf"),
    ],
    ids=lambda value: value[:40],
)
def test_invalid_json_is_refused(text: str, message: str):
    with pytest.raises(ConfigError) as caught:
        TransformerConfig.from_json(text)
    assert message in str(caught.value)


@given(st.text())
def test_arbitrary_text_is_refused_as_json(text: str):
    with pytest.raises(ConfigError):
        TransformerConfig.from_json(text)


def test_configurations_are_compared_and_hashed_by_value():
    one, same, other = (TransformerConfig.preset("vanilla", heads=heads) for heads in (4, 4, 2))
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, same, other}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.heads = 2
