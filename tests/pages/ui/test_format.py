"""Numbers, shapes and tokens as text."""

import math
import re
from pathlib import Path

import pytest

from pages.ui import format

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "pages"
# File → number of values that it formats without `format.py`, with the reason.
WRITTEN_BY_HAND = {
    "decoding/answer_steps.py": 1,  # a number for JavaScript
    "attention/lines_view.py": 1,  # the threshold as it is written in the URL
}


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [(0.25, 5, "0.25"), (-0.25, 5, "−0.25"), (-0.0, 5, "0"), (1.2e-7, 2, "1.2e−07"), (-math.inf, 5, "−∞"), (2 / 3, 3, "0.667")],
)
def test_number_has_u2212_as_minus_and_significant_digits(value: float, digits: int, written: str) -> None:
    assert format.number(value, digits) == written
    assert format.number(-12345.6, 5, ",") == "−12,346"


@pytest.mark.parametrize(("value", "written"), [(-0.001, "0.00"), (0.001, "0.00"), (-0.996, "−1.00"), (0.25, "0.25")])
def test_fixed_rounds_to_zero_without_a_sign(value: float, written: str) -> None:
    assert format.fixed(value, 2) == written
    assert format.fixed(-0.25, 3) == "−0.250"


@pytest.mark.parametrize(
    ("value", "places", "written"), [(0.5, 0, "50%"), (0.1234, 1, "12.3%"), (-0.0001, 1, "0.0%"), (1, 0, "100%")]
)
def test_share_is_in_per_cent(value: float, places: int, written: str) -> None:
    assert format.share(value, places) == written


def test_whole_difference_amount_and_byte_size() -> None:
    assert [format.whole(12345), format.difference(3), format.difference(-3)] == ["12,345", "+3", "−3"]
    assert [format.amount(count) for count in (999, 1000, 5_790_000_000)] == ["999", "1 k", "5.79 G"]
    assert [format.byte_size(count) for count in (999, 31_200_000)] == ["999 B", "31.2 MB"]


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.1, "0.1"), (-1e4, "−10,000"), (-math.inf, "−∞"), (2048, "2,048"), (True, "True"), ("pre", "pre"), (1e-5, "1e−05")],
)
def test_setting_writes_a_configuration_value(value: object, written: str) -> None:
    assert format.setting(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-0.25, "-0.25"),
        (1e-5, "10^{-5}"),
        (-1e-5, "-10^{-5}"),
        (1.2e-7, r"1.2 \cdot 10^{-7}"),
        (-math.inf, r"-\infty"),
        (-0.0, "0"),
    ],
)
def test_latex_writes_powers_of_ten_and_infinity(value: float, written: str) -> None:
    assert format.latex(value) == written


def test_shapes_and_numbered_tokens() -> None:
    assert format.shape((2, 8, 9, 32)) == "[2, 8, 9, 32]"
    assert format.shape(()) == "[]"
    assert format.named_shape(("batch", "1", "query"), (2, 1, 9)) == "[batch 2, 1, query 9]"
    assert format.numbered_tokens(["the", "cat"]) == ["0 · the", "1 · cat"]
    assert format.linked_token(1, "cat") == "1: cat"


def test_pages_format_numbers_only_with_this_module() -> None:
    by_hand = re.compile(r'f"[^"]*\{[^"{}]*:(?:\.\d[fge%]|,)|\.replace\("-", ?"−"\)|" · \{token|str\(list\(\w+\.shape')
    found = {
        str(file.relative_to(PAGES)): len(by_hand.findall(file.read_text(encoding="utf-8"))) for file in PAGES.rglob("*.py")
    }
    assert {name: count for name, count in found.items() if count and name != "ui/format.py"} == WRITTEN_BY_HAND


def test_texts_format_only_counts() -> None:
    """`{drop:.2f}` would write a negative number with a hyphen; a page fills `{drop}` with `fixed(drop, 2)`."""
    for file in (ROOT / "assets" / "text").rglob("*.toml"):
        assert set(re.findall(r"\{\w+(:[^}]+)\}", file.read_text(encoding="utf-8"))) <= {":,"}, file
