"""The gain of a class from a file of answers: the numbers, what is left out, and the errors."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.learning_gain import COLUMNS, RESAMPLES, main, questions, read_answers, report, right_letters, score

HEAD = ",".join(COLUMNS)
# Code, form, time, and how many of the first answers are right; the others are empty.
# In percent: Ann 25 → 75, Bo 50 → 75, Cy 25 → 100. Dee and Eve wrote one test only.
CLASS = [
    *[("Ann", "a", "before", 3), ("bo", "b", "before", 6), ("cy", "a", "before", 3), ("dee", "b", "before", 12)],
    *[("ann ", "B", "after", 9), ("bo", "a", "after", 9), ("cy", "b", "After", 12), ("eve", "a", "after", 0)],
]


def line(code: str, form: str, when: str, right: int) -> str:
    letters = [*right_letters()[form.lower()][:right], *[""] * (12 - right)]
    return ",".join([code, form, when, *letters])


def write(folder: Path, *lines: str) -> Path:
    file = folder / "answers.csv"
    file.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path, *(line(*each) for each in CLASS))


def test_the_numbers_of_a_small_class_are_those_computed_by_hand(file: Path) -> None:
    result = score(read_answers(file))
    assert (result.people, result.only_before, result.only_after) == (3, 1, 1)
    assert (result.began, result.same_form) == ({"a": 2, "b": 1}, 0)
    assert (result.before, result.after) == pytest.approx((100 / 3, 250 / 3))
    assert result.gain.value == pytest.approx(0.75)
    # The gains are 50, 25 and 75: their mean is 50 and their standard deviation 25.
    assert result.effect.value == pytest.approx(2)
    assert result.questions_before == pytest.approx([100] * 3 + [100 / 3] * 3 + [0] * 6)
    assert result.questions_after == pytest.approx([100] * 9 + [100 / 3] * 3)


def test_the_intervals_contain_the_numbers_and_are_the_same_twice(file: Path) -> None:
    first, second = (score(read_answers(file)) for _ in range(2))
    assert first.gain.low < first.gain.value < first.gain.high
    assert first.effect.low < first.effect.value < first.effect.high
    assert (first.gain, first.effect) == (second.gain, second.effect)
    # The lowest and the highest gain of a resample: three times Bo, and three times Cy.
    assert first.gain.low >= 0.5
    assert first.gain.high <= 1
    # Three times the same person has no spread: 3 of 27 resamples.
    assert first.gain.undefined == 0
    assert first.effect.undefined / RESAMPLES == pytest.approx(1 / 9, abs=0.02)


@pytest.mark.slow
def test_the_interval_is_that_of_a_normal_mean_for_a_large_class(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    before, after = generator.integers(2, 7, 200), generator.integers(5, 13, 200)
    lines = [line(f"p{person}", "a", "before", int(right)) for person, right in enumerate(before)]
    lines += [line(f"p{person}", "b", "after", int(right)) for person, right in enumerate(after)]
    gain = score(read_answers(write(tmp_path, *lines))).gain
    # To first order, the gain varies as the mean of (after − before − gain × (12 − before)) / mean(12 − before).
    part = (after - before - gain.value * (12 - before)) / (12 - before).mean()
    width = 2 * 1.96 * part.std(ddof=1) / np.sqrt(200)
    assert gain.high - gain.low == pytest.approx(width, rel=0.05)


def test_the_script_prints_every_number_and_every_question(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file)]) == 0
    printed = capsys.readouterr().out
    assert printed == report(score(read_answers(file))) + "\n"
    for words in (
        "both tests: 3 (began: 2 with form A, 1 with form B)",
        "Left out: 1 with the test before only, 1 with the test after only",
        "before: 33.3%",
        "after: 83.3%",
        "(Hake 1998): 0.75 (95% interval ",
        "(Cohen's d_z): 2.00 (95% interval ",
        "  1  100  100  Why positions?",
        "  4   33  100  What does the causal mask prevent?",
    ):
        assert words in printed
    assert len(questions()) == 12
    assert all(about in printed for about in questions())


def test_a_number_that_is_not_defined_has_a_reason_and_the_same_form_a_warning(tmp_path: Path) -> None:
    full = [line(code, "a", when, 12) for code in ("x", "y") for when in ("before", "after")]
    result = score(read_answers(write(tmp_path, *full)))
    assert np.isnan([*result.gain[:3], *result.effect[:3]]).all()
    assert result.gain.undefined == result.effect.undefined == RESAMPLES
    printed = report(result)
    assert "not defined, because everything was right before the lesson" in printed
    assert "not defined, because all people gained the same" in printed
    assert "2 wrote the same form twice" in printed


def test_a_file_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    small = line("x", "a", "before", 12).lower()
    file.write_bytes(f"{HEAD}\r\n{small}\r\n{',' * 14}\r\n\r\n".encode("utf-8-sig"))  # with the mark that Excel writes first
    (sheet,) = read_answers(file)
    assert all(sheet.right)


GOOD = "x,a,before" + ",A" * 12
WRONG = {
    "Line 1 is 'x,a,before": [GOOD],
    "Line 3: the form is 'c'; expected a or b.": [HEAD, GOOD, GOOD.replace(",a,", ",c,")],
    "Line 4: the time is 'during'; expected before or after.": [HEAD, GOOD, "", GOOD.replace("before", "during")],
    "Line 2: answer 12 is 'E'; expected A, B, C, D or nothing.": [HEAD, GOOD[:-1] + "E"],
    "Line 2: answer 1 is 'AB'; expected A, B, C, D or nothing.": [HEAD, GOOD.replace(",A", ",AB", 1)],
    "Line 3 repeats line 2: 'x', before; expected one line": [HEAD, GOOD, GOOD.replace("x,a", "X,b")],
    "Line 2 has 14 values; expected 15.": [HEAD, GOOD[:-2]],
    "Line 2 has no code word.": [HEAD, GOOD[1:]],
    "People with a sheet before and a sheet after: 1; expected 2 or more.": [HEAD, GOOD, GOOD.replace("before", "after")],
    "Line 1 is ''": [],
}


@pytest.mark.parametrize("problem", WRONG)
def test_a_wrong_file_is_one_sentence_with_the_line(problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("\n".join(WRONG[problem]), encoding="utf-8")
    assert main([str(file)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"{file}: {problem}")
    assert told.err.count("\n") == 1


def test_the_names_that_are_expected_are_told_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.csv"
    file.write_text(HEAD.replace(",", ";"), encoding="utf-8")
    assert main([str(file)]) == 2
    assert f"expected {HEAD}." in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "missing.csv")]) == 2
    assert "No such file" in capsys.readouterr().err
    file = tmp_path / "answers.csv"
    file.write_bytes(HEAD.encode() + b"\n\xff")
    assert main([str(file)]) == 2
    assert "not text in UTF-8" in capsys.readouterr().err
