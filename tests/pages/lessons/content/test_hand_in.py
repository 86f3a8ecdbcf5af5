"""Hand-in codes: what is written is read again, and nothing else is."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.lessons.content import hand_in
from pages.lessons.content.hand_in import Result, code_of, read_code
from pages.lessons.content.lesson import LessonError
from pages.lessons.content.library import shipped
from pages.lessons.content.stop_views import view_of
from pages.lessons.desk.check_codes import COLUMNS, main
from tests.pages.apps import HOME, on_page
from tests.pages.lessons.bar import bar

LESSONS = [*shipped().values()]
FIRST = shipped()["first-look"]
RESULTS = (Result.RIGHT, Result.CHANGED, Result.WRONG, Result.OPEN, Result.RIGHT, Result.RIGHT, Result.CHANGED)


@pytest.mark.slow
@given(st.sampled_from(LESSONS), st.integers(0, 256**3 - 1), st.data())
def test_a_code_says_what_was_written(lesson: hand_in.Lesson, seat: int, data: st.DataObject) -> None:
    results = tuple(data.draw(st.sampled_from(list(Result))) for _ in lesson.questions)
    code = code_of(lesson, results, seat)
    assert len(code) <= 60
    for written in (code, code.lower(), f"  {code.replace('-', ' ')} "):
        read = read_code(written, LESSONS)
        assert (read.lesson, read.seat, read.results) == (lesson.title, seat, results)


@given(st.integers(0, 25), st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"))
def test_a_changed_letter_is_noticed(place: int, letter: str) -> None:
    code = code_of(FIRST, RESULTS, 7).replace("-", "")
    changed = code[:place] + letter + code[place + 1 :]
    if changed != code:
        with pytest.raises(LessonError):
            read_code(changed, LESSONS)


@given(st.text(max_size=80))
def test_any_other_text_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(LessonError):
        read_code(text, LESSONS)


def test_a_code_of_another_key_or_lesson_is_refused() -> None:
    code = code_of(FIRST, RESULTS, 7)
    with pytest.raises(LessonError, match="not here, or was changed"):
        read_code(code, [replace(FIRST, title="Another")])
    with pytest.raises(LessonError, match="signed with another key"):
        read_code(code, LESSONS, b"another")
    assert read_code(code_of(FIRST, RESULTS, 7, b"another"), LESSONS, b"another").results == RESULTS


def test_the_end_of_a_lesson_has_the_code_and_the_command_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = on_page(HOME, lesson="first-look", lesson_stop="8", answers="1~2~_2~1~2_4~1~", **view_of(FIRST.stops[0]))
    (code,) = re.findall("[A-Z2-7-]{26,}", json.dumps(bar(app)["reveal"]))
    expected = (Result.RIGHT, Result.CHANGED, Result.OPEN, Result.WRONG, Result.OPEN, Result.OPEN, Result.OPEN)
    assert read_code(code, LESSONS).results == expected
    file = tmp_path / "codes.csv"
    file.write_text(f"ada,{code}\n\nbob\t{code.lower()}\n{'AB'[code[0] == 'A']}{code[1:]}\n", encoding="utf-8")
    assert main([str(file)]) == 0
    header, ada, bob, nobody = csv.reader(capsys.readouterr().out.splitlines())
    assert tuple(header) == COLUMNS
    assert (ada[0], ada[1], ada[3:]) == ("ada", "First look", ["2", "7", "rcowooo", ""])
    assert bob[-1] == "the same code as ada"
    assert nobody[0] == "line 4"
    file.write_text(f"=1+1,{code}", encoding="utf-8")
    assert main([str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("'=1+1,")  # no formula for a spreadsheet
    assert "mistyped" in nobody[-1]
    assert main([str(tmp_path / "none")]) == 2
    assert "none" in capsys.readouterr().err


def test_without_an_answer_there_is_nothing_to_hand_in() -> None:
    assert bar(on_page(HOME, lesson="first-look", lesson_stop="8"))["reveal"] == []
