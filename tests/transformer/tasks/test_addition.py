"""Tests of the task of sums."""

import random

import pytest

from transformer.tasks.addition import Addition
from transformer.tasks.task import Split

TASK = Addition()


@pytest.mark.parametrize(
    ("source", "target"),
    [("417+85=", "502"), ("417 + 85 =", "502"), ("417+85", "502"), ("0+0=", "0"), ("999+999=", "1998"), ("9+1=", "10")],
)
def test_known_texts_have_their_answers(source: str, target: str):
    assert TASK.solve(source) == target


@pytest.mark.parametrize(
    "source", ["1000+1=", "1+", "+1=", "5", "1+2+3=", "1-2=", "1+2==", "007+5=", "a+b=", "=1+2", "-1+2=", "٣+٤="]
)
def test_solve_returns_none_for_other_texts(source: str):
    assert TASK.solve(source) is None


@pytest.mark.parametrize(
    ("source", "target", "alignment"),
    [
        ("417+85=", "502", ((0, 0), (1, 1), (1, 4), (2, 2), (2, 5))),
        ("85+417=", "502", ((0, 3), (1, 0), (1, 4), (2, 1), (2, 5))),
        ("999+1=", "1000", ((0, 0), (1, 0), (2, 1), (3, 2), (3, 4))),
        ("7+5=", "12", ((0, 0), (0, 2), (1, 0), (1, 2))),
        ("7+5", "12", ((0, 0), (0, 2), (1, 0), (1, 2))),
        ("0+0=", "0", ((0, 0), (0, 2))),
        ("417+85=", "50", ((0, 0), (1, 1), (1, 4))),
        ("417+85=", "50222", ((0, 0), (1, 1), (1, 4), (2, 2), (2, 5))),
        ("417+85=", "", ()),
        ("417-85=", "332", None),
    ],
)
def test_alignment_goes_by_column(source: str, target: str, alignment: tuple[tuple[int, int], ...] | None):
    assert TASK.alignment(list(source), list(target)) == alignment


def test_every_digit_is_the_sum_of_its_column_with_or_without_a_carry():
    rng = random.Random(0)
    for _ in range(500):
        pair = TASK.sample(rng)
        columns = [0] * len(pair.target)
        for row, place in TASK.alignment(pair.source, pair.target) or ():
            columns[row] += int(pair.source[place])
        for digit, total in zip(pair.target[1:], columns[1:], strict=True):
            assert int(digit) in (total % 10, (total + 1) % 10), pair


def test_a_sum_and_its_swapped_sum_are_in_the_same_split():
    rng = random.Random(0)
    for _ in range(500):
        left, right = TASK.sample(rng).source.removesuffix("=").split("+")
        sources = (f"{left}+{right}=", f"{right}+{left}=", f" {right} + {left}")
        assert len({TASK.is_held_out(source) for source in sources}) == 1


@pytest.mark.parametrize("split", ["train", "held-out"])
def test_every_pair_of_sizes_is_drawn_often(split: Split):
    pairs = TASK.pairs(split, 0)
    forms = [next(pairs).form for _ in range(2000)]
    assert set(forms) == {f"{left} + {right} digits" for left in (1, 2, 3) for right in (1, 2, 3)}
    assert all(forms.count(form) > 30 for form in set(forms))
    assert max(set(forms), key=forms.count) == "3 + 3 digits"


def test_sums_have_details_for_the_equals_sign_and_the_number_of_carries():
    rng = random.Random(0)
    seen = set()
    for _ in range(2000):
        pair = TASK.sample(rng)
        left, right = map(int, pair.source.removesuffix("=").split("+"))
        carries = sum(left % 10**k + right % 10**k >= 10**k for k in (1, 2, 3))
        sign = "with =" if pair.source.endswith("=") else "without ="
        assert pair.details == (sign, "1 carry" if carries == 1 else f"{carries} carries")
        seen.add(pair.details)
    assert len(seen) == 8


@pytest.mark.parametrize(
    ("source", "remark"),
    [
        ("1000+1=", "“1000” is too large: numbers up to 999 were in training."),
        ("007 + 12", "“007” starts with 0. No number in training did, so do not trust the answer."),
        ("1+2+3=", "No text of this form was in training, so do not trust the answer. Its training had only two whole numbers"),
        ("=1", "No text of this form"),
    ],
)
def test_a_text_that_the_rule_cannot_read_has_a_remark(source: str, remark: str):
    assert str(TASK.remark(source)).startswith(remark)


@pytest.mark.parametrize("source", ["1+2", "417 + 85 =", "0+0=", "a+b"])
def test_a_readable_text_and_a_text_with_unknown_tokens_have_no_remark(source: str):
    assert TASK.remark(source) is None


def test_the_form_counts_the_digits():
    rng = random.Random(0)
    for _ in range(500):
        pair = TASK.sample(rng)
        left, right = pair.source.removesuffix("=").split("+")
        assert pair.form == f"{len(left)} + {len(right)} digits"
        assert (left, right) == (str(int(left)), str(int(right)))
