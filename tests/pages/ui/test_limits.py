"""Limits: each can be replaced by an environment variable."""

import re
from pathlib import Path

import pytest

from pages.ui import limits
from transformer.environment import switch

ROOT = Path(__file__).parents[3]


def test_a_switch_is_on_only_if_it_is_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_PICKLED_WEIGHTS", raising=False)
    assert not switch("PICKLED_WEIGHTS")
    for written, on in (("0", False), ("1", True)):
        monkeypatch.setenv("HEADLIGHT_PICKLED_WEIGHTS", written)
        assert switch("PICKLED_WEIGHTS") == on
    monkeypatch.setenv("HEADLIGHT_PICKLED_WEIGHTS", "yes")
    with pytest.raises(ValueError, match="is 'yes'; expected 1 for on or 0 for off"):
        switch("PICKLED_WEIGHTS")


def test_a_limit_is_replaced_by_its_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_SENTENCES", raising=False)
    assert limits.setting("SENTENCES", 4) == 4
    monkeypatch.setenv("HEADLIGHT_SENTENCES", "7")
    assert limits.setting("SENTENCES", 4) == 7


@pytest.mark.parametrize("written", ["", "0", "-1", "4.5", "4 MB", "٤", "many", "2147483648", "9" * 5_000])
def test_the_error_of_an_invalid_limit_names_the_limit(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_SENTENCES", written)
    with pytest.raises(
        ValueError, match=r"^HEADLIGHT_SENTENCES is .*; expected a whole number from 1 to 2147483647, such as 4\.$"
    ):
        limits.setting("SENTENCES", 4)


def test_a_limit_can_have_a_largest_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_TRAINING_NICENESS", "19")
    assert limits.setting("TRAINING_NICENESS", 10, most=19) == 19
    monkeypatch.setenv("HEADLIGHT_TRAINING_NICENESS", "20")
    with pytest.raises(ValueError, match=r"is '20'; expected a whole number from 1 to 19, such as 10\.$"):
        limits.setting("TRAINING_NICENESS", 10, most=19)


def test_a_limit_can_be_zero_if_it_switches_a_part_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CLASSES", "0")
    assert limits.setting("CLASSES", 20, least=0) == 0
    monkeypatch.setenv("HEADLIGHT_CLASSES", "-1")
    with pytest.raises(ValueError, match="expected a whole number from 0 to"):
        limits.setting("CLASSES", 20, least=0)


def test_hosting_md_lists_every_limit() -> None:
    files = [Path(limits.__file__), ROOT / "transformer" / "huggingface" / "hf_limits.py"]
    names = [name for file in files for name in re.findall(r'setting\("(\w+)"', file.read_text(encoding="utf-8"))]
    assert len(names) > 12
    listed = (ROOT / "docs" / "HOSTING.md").read_text(encoding="utf-8")
    assert [name for name in names if f"_{name}`" not in listed] == []
