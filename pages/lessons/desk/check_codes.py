"""Check the hand-in codes of a lesson:

    HEADLIGHT_HAND_IN_KEY=… python -m pages.lessons.desk.check_codes FILE

An installed app has the command `headlight-check-codes FILE` for it. Each line of the file is a code, or a name and a code
with a comma or a tab between them, as a form exports them. Prints a line of CSV for each code. The key must be the key of the
app that made the codes. Name the file of your own lesson with `--lesson FILE.toml`.
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pages.lessons.content.hand_in import VARIABLE, HandIn, Result, read_code
from pages.lessons.content.lesson import Lesson, LessonError
from pages.lessons.content.library import shipped
from pages.lessons.content.reading import read_toml
from pages.lessons.content.spreadsheet import as_cell

# Letters, because a spreadsheet reads digits as a number and drops leading zeros.
MARKS = {Result.OPEN: "o", Result.WRONG: "w", Result.RIGHT: "r", Result.CHANGED: "c"}
COLUMNS = ("name", "lesson", "day", "right", "questions", "answers", "remark")


def table(lines: Sequence[str], lessons: Sequence[Lesson]) -> Iterator[tuple[str, ...]]:
    """A row of `COLUMNS` for each line that is not empty: a hand-in code, or a name and a code. In `answers`, a question that
    was answered right at once is `r`, right after a change `c`, wrong `w`, and not answered `o`. The remark says why a code is
    not valid, or who has already handed in the same code."""
    seen: dict[HandIn, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, _, code = line.replace("\t", ",").rpartition(",")
        name = name.strip(' ,"') or f"line {number}"
        try:
            handed = read_code(code.strip(' "'), lessons)
        except LessonError as error:
            yield (name, "", "", "", "", "", str(error))
            continue
        first = seen.setdefault(handed, name)
        answers = "".join(MARKS[result] for result in handed.results)
        remark = "" if first == name else f"the same code as {first}"
        yield (name, handed.lesson, str(handed.day), str(handed.right), str(len(handed.results)), answers, remark)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line of CSV for each hand-in code in a file. Returns 0; or 2, after a line on stderr, if a file cannot be
    read."""
    parser = argparse.ArgumentParser(description=f"Check hand-in codes. {VARIABLE} has the key of the app that made them.")
    parser.add_argument("file", type=Path, help="the codes, one in a line, each after a name and a comma if there is one")
    parser.add_argument("--lesson", type=Path, action="append", default=[], help="the file of a lesson of your own")
    given = parser.parse_args(arguments)
    try:
        lessons = [*shipped().values(), *(read_toml(file.read_bytes()) for file in given.lesson)]
        lines = given.file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError, LessonError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    out.writerows(map(as_cell, row) for row in table(lines, lessons))
    return 0


if __name__ == "__main__":
    sys.exit(main())
