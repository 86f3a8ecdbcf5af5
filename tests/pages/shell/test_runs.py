"""The shared caches of models and traces: keys, limits and errors."""

import pytest

from pages.shell import runs
from pages.shell.view import FIELDS
from pages.ui.limits import CACHE_MEGABYTES, PARAMETERS, SIZES
from transformer import ConfigError, InputError
from transformer.pipeline.untrained import Untrained


def test_models_are_cached_by_value_within_bytes() -> None:
    own = runs.Runs()
    one, same, other = (Untrained.of("vanilla", [words], sizes={"d_model": 16, "d_ff": 8}) for words in "aab")
    assert own.pipeline(one) is own.pipeline(same)
    assert own.pipeline(one) is not own.pipeline(other)
    assert own.trace(one, ("a",), (None,), ()) is own.trace(same, ("a",), (None,), ())
    assert own.trace(one, ("a",), (None,), ()) is not own.trace(one, ("a", "a"), (None, None), ())
    assert own.trace(one, ("a",), (None,), ()) is not own.trace(one, ("a",), ("a",), ())
    base = Untrained.of("vanilla", ["a"])
    # Room for a model of the paper's size and its traces. Heavy runs come one at a time, so two of them need not fit.
    assert 1.5 * 4 * base.parameters < CACHE_MEGABYTES << 20
    assert 4 * PARAMETERS < CACHE_MEGABYTES << 20


def test_model_errors_are_not_cached() -> None:
    own = runs.Runs()
    for _ in range(2):
        with pytest.raises(InputError):
            own.pipeline("nobody")


def test_too_many_parameters_are_refused_before_building(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Untrained, "build", lambda _: pytest.fail("built"))
    largest = {field: most for name, most in SIZES.items() for field in FIELDS[name]}
    with pytest.raises(ConfigError, match=f"parameters; one that is built here has up to {PARAMETERS:,}"):
        runs.load(Untrained.of("vanilla", ["a"], sizes=largest))
