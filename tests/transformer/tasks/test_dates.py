"""Tests of the task that rewrites dates."""

import datetime
import random

import pytest

from transformer.tasks.dates import FIRST, LAST, Dates, Style, sample_style
from transformer.tasks.task import Split

TASK = Dates()
# Every 37th date: all months, all days of a month, all weekdays and all years.
DATES = [datetime.date.fromordinal(day) for day in range(FIRST.toordinal(), LAST.toordinal() + 1, 37)]


def split(source: str) -> list[str]:
    return TASK.source_vocabulary.split(source)


STYLES = list({sample_style(random.Random(seed)): None for seed in range(3_000)})


def test_the_name_of_a_form_is_an_example_of_the_form():
    plain = {style.form: style for style in STYLES if not style.details}
    assert {form: style.write(datetime.date(1998, 7, 4)) for form, style in plain.items()} == {form: form for form in plain}
    assert len({style.form for style in STYLES}) <= 40


def test_every_date_is_read_back_from_every_style():
    for index, style in enumerate(STYLES):
        for date in (*DATES[index % 29 :: 29], FIRST, LAST):
            assert TASK.solve(style.write(date)) == date.isoformat(), style


@pytest.mark.parametrize(
    "form",
    [
        *("4 july 1998", "4 jul 1998", "july 4 1998", "jul 4 1998", "4 july 98", "4-jul-98", "4-july-1998"),
        *("4/7/98", "04/07/98", "4/7/1998", "04.07.1998", "4-7-98", "04-07-1998"),
        *("1998-07-04", "1998-7-4", "1998/7/4", "1998/07/04", "1998.07.04"),
    ],
)
def test_every_form_that_people_type_is_drawn(form: str):
    assert form in {style.form for style in STYLES}


def test_the_details_are_exactly_these():
    assert {detail for style in STYLES for detail in style.details} == {
        "with a weekday",
        "with a wrong weekday",
        "with a comma",
        "with “the”",
        "with “of”",
        "with st, nd, rd or th",
        "with a wrong st, nd, rd or th",
        "with a 0 before the day, the month in letters",
        "with a 0 before the day or the month alone",
    }


@pytest.mark.parametrize(
    ("source", "remark"),
    [
        ("31 april 2001", "31 April 2001 does not exist: that month has 30 days."),
        ("29 february 1999", "29 February 1999 does not exist: that month has 28 days."),
        ("14/13/98", "There is no month 13: in numbers, the day comes before the month."),
        ("14 july 1066", "Dates from 1950 to 2049 were in training, so do not trust the answer for 1066."),
        ("monday 14 july 1998", "14 July 1998 is a Tuesday. The model was trained to ignore a wrong weekday."),
        ("14 july", "No text of this form was in training"),
        ("0/0/0000", "There is no month 0"),
        ("1.1.0000", "Dates from 1950 to 2049"),
        ("tuesday 14 july 1998", None),
        ("1998-07-14", None),
        ("may 5 2000", None),
    ],
)
def test_a_text_that_cannot_be_answered_has_a_remark(source: str, remark: str | None):
    said = TASK.remark(source)
    assert said is None if remark is None else str(said).startswith(remark)


# The standard library is an independent reader of dates.
@pytest.mark.parametrize(
    ("form", "standard"),
    [
        ("tuesday 14 july 1998", "%A %d %B %Y"),
        ("tue, jul 14 1998", "%a, %b %d %Y"),
        ("14 july 1998", "%d %B %Y"),
        ("july 14, 1998", "%B %d, %Y"),
        ("14/7/1998", "%d/%m/%Y"),
        ("14.07.1998", "%d.%m.%Y"),
        ("1998/07/14", "%Y/%m/%d"),
        ("jul 14 1998", "%b %d %Y"),
        ("14-7-98", "%d-%m-%y"),
        ("1998-7-14", "%Y-%m-%d"),
    ],
)
def test_the_standard_library_reads_the_same_date(form: str, standard: str):
    wrote = 0
    for style in STYLES:
        if style.write(datetime.date(1998, 7, 14)) == form:
            wrote += 1
            for date in DATES[::7]:
                if standard.endswith("%y") and not 1969 <= date.year <= 2049:  # Python reads others differently
                    continue
                assert datetime.datetime.strptime(style.write(date), standard).date() == date
    assert wrote


@pytest.mark.parametrize(
    ("date", "source"),
    [
        ("1969-07-20", "sunday 20 july 1969"),
        ("2000-02-29", "tuesday 29 february 2000"),
        ("1950-01-01", "sunday 1 january 1950"),
        ("2001-09-12", "wednesday 12 september 2001"),
    ],
)
def test_the_weekday_is_the_real_one(date: str, source: str):
    style = Style("day month", weekday="long")
    assert style.write(datetime.date.fromisoformat(date)) == source


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("  The 14TH  of JULY 1998", "1998-07-14"),
        ("friday 14 july 1998", "1998-07-14"),  # a wrong weekday is ignored
        ("tue, jul 1 1998", "1998-07-01"),
        ("tue, jul 11 1998", "1998-07-11"),
        ("14/07/98", "1998-07-14"),
        ("3/4/05", "2005-04-03"),
        ("31/12/49", "2049-12-31"),
        ("1/1/50", "1950-01-01"),
        ("1/1/00", "2000-01-01"),
        ("1/1/99", "1999-01-01"),
        ("1998\u201307\u201314", "1998-07-14"),  # typed with dashes
        ("22nd may 2022", "2022-05-22"),
    ],
)
def test_known_texts_have_their_answers(source: str, target: str):
    assert TASK.solve(source) == target


@pytest.mark.parametrize(
    "source",
    [
        *("31/2/98", "29 february 1999", "0/7/98", "7/13/98", "july 14, 1949", "1/1/2050", "1066/10/14", "98/07/14"),
        *("july 1998", "july", "14 july", "tuesday", "14/7-98", "14/7/998", "14 7 98", "the 14th of brumaire 1998"),
    ],
)
def test_solve_returns_none_for_other_texts(source: str):
    assert TASK.solve(source) is None


@pytest.mark.parametrize(
    ("source", "year", "month", "day"),
    [
        ("tuesday 14 july 1998", (4, 5, 6, 7), (3,), (1, 2)),
        ("tue, jul 4 1998", (4, 5, 6, 7), (2,), (3,)),
        ("the 14th of july 1998", (6, 7, 8, 9), (5,), (1, 2)),
        ("14/7/98", (5, 6), (3,), (0, 1)),
        ("4.07.1998", (5, 6, 7, 8), (2, 3), (0,)),
        ("1998/07/14", (0, 1, 2, 3), (5, 6), (8, 9)),
    ],
)
def test_alignment_goes_by_field(source: str, year: tuple[int, ...], month: tuple[int, ...], day: tuple[int, ...]):
    fields = {**dict.fromkeys(range(4), year), 5: month, 6: month, 8: day, 9: day}
    expected = tuple((row, column) for row, columns in fields.items() for column in columns)
    assert TASK.alignment(split(source), list("1998-07-14")) == expected


def test_alignment_of_an_unfinished_answer_ends_at_its_last_token():
    assert TASK.alignment(split("4/7/98"), list("1998-0")) == (*((i, j) for i in range(4) for j in (4, 5)), (5, 2))
    assert TASK.alignment(split("4/7/98"), []) == ()


def test_there_is_no_alignment_without_a_date():
    assert TASK.alignment(split("31/2/98"), list("1998-02-31")) is None


def test_a_date_is_in_the_same_split_in_every_style():
    for date in DATES[::40]:
        assert len({TASK.is_held_out(style.write(date)) for style in STYLES}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("side", ["train", "held-out"])
def test_every_form_is_drawn_in_both_splits(side: Split):
    pairs = TASK.pairs(side, 0)
    assert {next(pairs).form for _ in range(2_000)} == {style.form for style in STYLES}
