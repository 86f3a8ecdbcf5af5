"""Tests of the world that rewrites dates."""

import datetime

import pytest

from transformer.worlds.dates import FIRST, FORMS, LAST, Dates, write
from transformer.worlds.world import Split

WORLD = Dates()
# Every 37th date: all months, all days of a month, all weekdays and all years.
DATES = [datetime.date.fromordinal(day) for day in range(FIRST.toordinal(), LAST.toordinal() + 1, 37)]


def split(source: str) -> list[str]:
    return WORLD.source_vocabulary.split(source)


def test_a_form_is_named_after_an_example_of_it():
    assert {form: write(datetime.date(1998, 7, 14), form) for form in FORMS} == {form: form for form in FORMS}


@pytest.mark.parametrize("form", FORMS)
def test_every_date_is_read_back_from_every_form(form: str):
    for date in (*DATES, FIRST, LAST):
        assert WORLD.solve(write(date, form)) == date.isoformat()


# An independent reader: the standard library.
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
    ],
)
def test_the_standard_library_reads_the_same_date(form: str, standard: str):
    for date in DATES[::7]:
        assert datetime.datetime.strptime(write(date, form), standard).date() == date


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
    assert write(datetime.date.fromisoformat(date), "tuesday 14 july 1998") == source


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("  The 14TH  of JULY 1998", "1998-07-14"),
        ("friday 14 july 1998", "1998-07-14"),  # a wrong weekday: the date decides
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
    assert WORLD.solve(source) == target


@pytest.mark.parametrize(
    "source",
    [
        *("31/2/98", "29 february 1999", "0/7/98", "7/13/98", "july 14, 1949", "1/1/2050", "1066/10/14", "98/07/14"),
        *("july 1998", "july", "14 july", "tuesday", "14/7-98", "14/7/998", "14 7 98", "the 14th of brumaire 1998"),
    ],
)
def test_solve_returns_none_for_other_texts(source: str):
    assert WORLD.solve(source) is None


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
    assert WORLD.alignment(split(source), list("1998-07-14")) == expected


def test_alignment_of_an_unfinished_answer_stops_with_it():
    assert WORLD.alignment(split("4/7/98"), list("1998-0")) == (*((i, j) for i in range(4) for j in (4, 5)), (5, 2))
    assert WORLD.alignment(split("4/7/98"), []) == ()


def test_there_is_no_alignment_without_a_date():
    assert WORLD.alignment(split("31/2/98"), list("1998-02-31")) is None


def test_a_date_is_in_one_split_in_every_form():
    for date in DATES[::5]:
        assert len({WORLD.is_held_out(write(date, form)) for form in FORMS}) == 1


@pytest.mark.parametrize("side", ["train", "held-out"])
def test_every_form_is_drawn_in_both_splits(side: Split):
    pairs = WORLD.pairs(side, 0)
    assert {next(pairs).form for _ in range(500)} == set(FORMS)
