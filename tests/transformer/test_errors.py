"""One sentence a person can act on."""

import pytest

from transformer.errors import CheckpointError, ConfigError, HeadlightError, InputError, PathError


@pytest.mark.parametrize("kind", [ConfigError, InputError, PathError, CheckpointError])
def test_every_error_is_a_headlight_error_that_says_what_value_and_what_is_allowed(kind: type[HeadlightError]):
    error = kind("head", 9, "allowed are 0 to 7")
    assert isinstance(error, HeadlightError)
    assert isinstance(error, ValueError)
    assert str(error) == "head = 9: allowed are 0 to 7"
    assert (error.what, error.value, error.allowed) == ("head", 9, "allowed are 0 to 7")


def test_a_pasted_novel_does_not_become_the_message():
    text = str(InputError("source text", "word " * 10_000, "has 10000 words"))
    assert len(text) < 100
    assert text.endswith("…: has 10000 words")


def test_what_is_short_stays_whole():
    assert str(InputError("token", "x" * 58, "no")) == f"token = {'x' * 58!r}: no"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_whatever_a_file_puts_into_a_message_it_stays_short_and_can_be_shown(place: int):
    parts: list[str] = ["field", "value", "allowed"]
    parts[place] = "\ud800" + "x" * 10**6
    text = str(ConfigError(*parts))
    assert len(text) < 1100
    assert "\\ud800" in text.encode().decode()
    assert text.endswith("x…" if place == 2 else ": allowed")


def test_a_value_that_has_no_repr_is_named_by_its_kind():
    deep: list[object] = []
    for _ in range(10**5):
        deep = [deep]
    assert str(ConfigError("heads", 10**5000, "no")) == "heads = <int>: no"
    assert str(ConfigError("heads", deep, "no")) == "heads = <list>: no"
