"""The gain of a class between the two forms of the test, from a file of answers:

    python -m benchmarks.learning_gain FILE.csv

The first line of the file is `code,form,when,1,2,3,4,5,6,7,8,9,10,11,12`. Each further line is one sheet: the code word that
the person chose, the form (`a` or `b`), `before` or `after` the lesson, and the letter marked for each question (`A` to `D`,
empty if none is marked). The two sheets of a person have the same code word. No network is needed.
"""

import argparse
import csv
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pages.lessons.desk.before_after import FORMS, normalised_gain
from pages.ui.format import fixed
from transformer.assets import assets

TIMES = ("before", "after")
QUESTIONS = 12
COLUMNS = ("code", "form", "when", *map(str, range(1, QUESTIONS + 1)))
LETTERS = "ABCD"
RESAMPLES = 10_000
SEED = 1998

Floats = NDArray[np.float64]


class AnswersError(ValueError):
    """A file of answers is invalid. The message names the line and says what is allowed."""


class Sheet(NamedTuple):
    """The answers of one person at one time. The code word is in small letters; a question without an answer is not right."""

    code: str
    form: str
    when: str
    right: tuple[bool, ...]


class Estimate(NamedTuple):
    """A number with its 95% bootstrap interval over people (percentile method).

    Attributes:
        value: the number, from all people; NaN if it is not defined.
        low, high: the ends of the interval; NaN if no resample defines the number.
        undefined: how many of the `RESAMPLES` resamples do not define it. The interval leaves them out.
    """

    value: float
    low: float
    high: float
    undefined: int


class Result(NamedTuple):
    """The gain of a class. Only people with both sheets count.

    Attributes:
        people: the number of people with both sheets.
        only_before, only_after: the number of people with one sheet, who are left out.
        began: form → the number of counted people who wrote it before the lesson.
        same_form: the number of counted people who wrote the same form twice.
        before, after: the mean of right answers, in percent of all questions.
        gain: the normalised gain of the class; 1 is the greatest possible. Not defined if `before` is 100.
        effect: Cohen's d_z: the mean of the people's gains, divided by their standard deviation. Not defined if all gains are
            equal.
        questions_before, questions_after: for each question, the share of people with the right answer, in percent.
    """

    people: int
    only_before: int
    only_after: int
    began: dict[str, int]
    same_form: int
    before: float
    after: float
    gain: Estimate
    effect: Estimate
    questions_before: Floats
    questions_after: Floats


def questions() -> tuple[str, ...]:
    """The short names of the questions, in the order of the test. Both forms have the same names."""
    return tuple(item["about"] for item in _items()["a"])


def right_letters() -> dict[str, str]:
    """Form → the letters of the right answers, in the order of the test."""
    return {form: "".join(LETTERS[item["answer"] - 1] for item in items) for form, items in _items().items()}


def _items() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((assets() / "text" / "en" / "lesson_tests.toml").read_text(encoding="utf-8"))


def read_answers(file: Path) -> list[Sheet]:
    """The sheets of a file, in its order. Blanks around a value, and capital or small letters, make no difference.

    Raises:
        AnswersError: the file is not CSV in UTF-8 as the module describes it, or has two sheets of one person and time.
        OSError: the file cannot be read.
    """
    key = right_letters()
    sheets: list[Sheet] = []
    line_of: dict[tuple[str, str], int] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = csv.reader(opened)
            names = [name.strip().lower() for name in next(rows, list[str]())]
            if names != [*COLUMNS]:
                raise AnswersError(f"Line 1 is {','.join(names)!r}; expected {','.join(COLUMNS)}.")
            for row in rows:
                if not any(value.strip() for value in row):
                    continue
                line = rows.line_num
                sheet = _sheet([value.strip() for value in row], f"Line {line}", key)
                first = line_of.setdefault((sheet.code, sheet.when), line)
                if first != line:
                    repeats = f"Line {line} repeats line {first}: {sheet.code!r}, {sheet.when}"
                    raise AnswersError(f"{repeats}; expected one line for each person and time.")
                sheets.append(sheet)
    except UnicodeDecodeError as error:
        raise AnswersError("The file is not text in UTF-8; save it as “CSV UTF-8”.") from error
    except csv.Error as error:
        raise AnswersError(f"The file is not CSV: {error}.") from error
    return sheets


def _sheet(values: list[str], line: str, key: dict[str, str]) -> Sheet:
    if len(values) != len(COLUMNS):
        raise AnswersError(f"{line} has {len(values)} values; expected {len(COLUMNS)}.")
    code, form, when = (value.lower() for value in values[:3])
    if not code:
        raise AnswersError(f"{line} has no code word.")
    if form not in FORMS:
        raise AnswersError(f"{line}: the form is {values[1]!r}; expected a or b.")
    if when not in TIMES:
        raise AnswersError(f"{line}: the time is {values[2]!r}; expected before or after.")
    for number, answer in enumerate(values[3:], 1):
        if answer.upper() not in ("", *LETTERS):
            raise AnswersError(f"{line}: answer {number} is {answer!r}; expected A, B, C, D or nothing.")
    return Sheet(code, form, when, tuple(answer.upper() == right for answer, right in zip(values[3:], key[form], strict=True)))


def score(sheets: Sequence[Sheet]) -> Result:
    """The gain of a class, with bootstrap intervals, from at most one sheet for each person and time. The same sheets always
    give the same result.

    Raises:
        AnswersError: fewer than two people have both sheets.
    """
    before, after = ({sheet.code: sheet for sheet in sheets if sheet.when == when} for when in TIMES)
    codes = sorted(before.keys() & after.keys())
    if len(codes) < 2:
        raise AnswersError(f"People with a sheet before and a sheet after: {len(codes)}; expected 2 or more.")
    right_before, right_after = (100 * np.array([of[code].right for code in codes], dtype=float) for of in (before, after))
    points = np.stack([right_before.mean(1), right_after.mean(1)])
    return Result(
        people=len(codes),
        only_before=len(before.keys() - after.keys()),
        only_after=len(after.keys() - before.keys()),
        began={form: sum(before[code].form == form for code in codes) for form in FORMS},
        same_form=sum(before[code].form == after[code].form for code in codes),
        before=float(points[0].mean()),
        after=float(points[1].mean()),
        gain=_estimate(_gain, points),
        effect=_estimate(_effect, points),
        questions_before=right_before.mean(0),
        questions_after=right_after.mean(0),
    )


def _gain(before: Floats, after: Floats) -> Floats:
    """The normalised gain of each class, from points of shape (classes, people). Not finite where it is not defined."""
    return normalised_gain(before.mean(1), after.mean(1))


def _effect(before: Floats, after: Floats) -> Floats:
    """Cohen's d_z of each class, from points of shape (classes, people). Not finite where it is not defined."""
    gains = after - before
    spread = gains.std(1, ddof=1)
    # Equal gains have a spread of rounding errors only.
    spread[np.isclose(spread, 0)] = 0
    return gains.mean(1) / spread


def _estimate(measure: Callable[[Floats, Floats], Floats], points: Floats) -> Estimate:
    """A measure of a class, with its interval. `points` has the shape (before and after, people)."""
    people = points.shape[1]
    drawn = np.random.default_rng(SEED).integers(people, size=(RESAMPLES, people))
    with np.errstate(divide="ignore", invalid="ignore"):
        (value,), resampled = measure(*points[:, None]), measure(*points[:, drawn])
    defined = resampled[np.isfinite(resampled)]
    low, high = np.percentile(defined, [2.5, 97.5]) if len(defined) else (np.nan, np.nan)
    return Estimate(float(value) if np.isfinite(value) else np.nan, float(low), float(high), RESAMPLES - len(defined))


def report(result: Result) -> str:
    """The result as lines of text, for a terminal."""
    began = ", ".join(f"{count} with form {form.upper()}" for form, count in result.began.items())
    lines = [
        f"People with both tests: {result.people} (began: {began})",
        f"Left out: {result.only_before} with the test before only, {result.only_after} with the test after only",
        f"Mean before: {fixed(result.before, 1)}%",
        f"Mean after: {fixed(result.after, 1)}%",
        f"Normalised gain (Hake 1998): {_written(result.gain, 'everything was right before the lesson')}",
        f"Paired effect size (Cohen's d_z): {_written(result.effect, 'all people gained the same')}",
        "",
        "Right before and after, in % of the people:",
    ]
    if result.same_form:
        lines.insert(2, f"Warning: {result.same_form} wrote the same form twice; they are counted")
    shares = zip(questions(), result.questions_before, result.questions_after, strict=True)
    lines += [f"{number:>3}  {before:>3.0f}  {after:>3.0f}  {about}" for number, (about, before, after) in enumerate(shares, 1)]
    return "\n".join(lines)


def _written(estimate: Estimate, reason: str) -> str:
    if np.isnan(estimate.value):
        return f"not defined, because {reason}"
    left_out = f"; {estimate.undefined} of {RESAMPLES} resamples do not define it" if estimate.undefined else ""
    return f"{fixed(estimate.value, 2)} (95% interval {fixed(estimate.low, 2)} to {fixed(estimate.high, 2)}{left_out})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the gain of the class whose file is named. Returns the exit code: 0, or 2 after one sentence on stderr for a file
    that is invalid or cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning_gain", description="The gain of a class.")
    parser.add_argument("file", type=Path, help=f"a CSV file with the columns {','.join(COLUMNS)}")
    file: Path = parser.parse_args(arguments).file
    try:
        lines = report(score(read_answers(file)))
    except AnswersError as error:
        sys.stderr.write(f"{file}: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"{file}: {error.strerror}.\n")
        return 2
    sys.stdout.write(f"{lines}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
