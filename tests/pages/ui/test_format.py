"""How a page writes numbers, shapes and tokens."""

import math
import re
from pathlib import Path

import pytest

from pages.ui import format

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "pages"
# Written by hand, and why.
WRITTEN_BY_HAND = {
    "attention/heads.py": 1,  # the threshold as it stands in the URL
    "layers/tensors.py": 1,  # a number for JavaScript
}


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [(0.25, 5, "0.25"), (-0.25, 5, "−0.25"), (-0.0, 5, "0"), (1.2e-7, 2, "1.2e−07"), (-math.inf, 5, "−∞"), (2 / 3, 3, "0.667")],
)
def test_a_number_has_a_true_minus_and_so_many_digits(value: float, digits: int, written: str) -> None:
    assert format.number(value, digits) == written
    assert format.number(-12345.6, 5, ",") == "−12,346"


@pytest.mark.parametrize(("value", "written"), [(-0.001, "0.00"), (0.001, "0.00"), (-0.996, "−1.00"), (0.25, "0.25")])
def test_a_number_that_rounds_to_zero_has_no_sign(value: float, written: str) -> None:
    assert format.fixed(value, 2) == written
    assert format.fixed(-0.25, 3) == "−0.250"


@pytest.mark.parametrize(
    ("value", "places", "written"), [(0.5, 0, "50%"), (0.1234, 1, "12.3%"), (-0.0001, 1, "0.0%"), (1, 0, "100%")]
)
def test_a_share_is_in_per_cent(value: float, places: int, written: str) -> None:
    assert format.share(value, places) == written


def test_counts_amounts_and_bytes() -> None:
    assert [format.whole(12345), format.difference(3), format.difference(-3)] == ["12,345", "+3", "−3"]
    assert [format.amount(count) for count in (999, 1000, 5_790_000_000)] == ["999", "1 k", "5.79 G"]
    assert [format.byte_size(count) for count in (999, 31_200_000)] == ["999 B", "31.2 MB"]
    words = {"items": "{count} items", "items_one": "{count} item"}
    assert [format.for_count(words, "items", count) for count in (0, 1, 2)] == [
        words["items"],
        words["items_one"],
        words["items"],
    ]


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.1, "0.1"), (-1e4, "−10,000"), (-math.inf, "−∞"), (2048, "2,048"), (True, "True"), ("pre", "pre"), (1e-5, "1e−05")],
)
def test_a_field_of_a_configuration(value: object, written: str) -> None:
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
def test_a_number_in_a_formula(value: float, written: str) -> None:
    assert format.latex(value) == written


def test_shapes_and_tokens() -> None:
    assert format.shape((2, 8, 9, 32)) == "[2, 8, 9, 32]"
    assert format.shape(()) == "[]"
    assert format.named_shape(("batch", "1", "query"), (2, 1, 9)) == "[batch 2, 1, query 9]"
    assert format.numbered_tokens(["the", "cat"]) == ["0 · the", "1 · cat"]
    assert format.linked_token(1, "cat") == "1: cat"


def test_pages_write_numbers_in_no_other_way() -> None:
    by_hand = re.compile(r'f"[^"]*\{[^"{}]*:(?:\.\d[fge%]|,)|\.replace\("-", ?"−"\)|" · \{token|str\(list\(\w+\.shape')
    found = {
        str(file.relative_to(PAGES)): len(by_hand.findall(file.read_text(encoding="utf-8"))) for file in PAGES.rglob("*.py")
    }
    assert {name: count for name, count in found.items() if count and name != "ui/format.py"} == WRITTEN_BY_HAND


def test_texts_format_no_number_but_counts() -> None:
    """`{drop:.2f}` would write a negative number with a hyphen; a page passes `fixed(drop, 2)` for `{drop}`."""
    for file in (ROOT / "assets" / "text").rglob("*.toml"):
        assert set(re.findall(r"\{\w+(:[^}]+)\}", file.read_text(encoding="utf-8"))) <= {":,"}, file
