"""A written date in, the ISO date out: year, month and day change places, and words and short years become digits."""

import datetime
import random
import re
import string
from collections.abc import Sequence
from typing import Literal, NamedTuple

from transformer.text.tokenizer import split_words_and_digits
from transformer.text.vocabulary import Vocabulary
from transformer.worlds.world import Example, Pair, World

# A hundred years, so that two digits stand for exactly one year: 50 to 99 for 19.., 00 to 49 for 20...
FIRST, LAST = datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
SUFFIXES = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
FUNCTION_WORDS = ("the", "of", "st", "nd", "rd", "th")

# A form is named after 14 July 1998 written in it.
FORMS = {
    "tuesday 14 july 1998": "{weekday} {date.day} {month} {date.year}",
    "tue, jul 14 1998": "{weekday:.3}, {month:.3} {date.day} {date.year}",
    "14 july 1998": "{date.day} {month} {date.year}",
    "the 14th of july 1998": "the {date.day}{suffix} of {month} {date.year}",
    "july 14, 1998": "{month} {date.day}, {date.year}",
    "july 14th, 1998": "{month} {date.day}{suffix}, {date.year}",
    "14 jul 98": "{date.day} {month:.3} {date:%y}",
    "14-jul-98": "{date.day}-{month:.3}-{date:%y}",
    "14/7/98": "{date.day}/{date.month}/{date:%y}",
    "14/7/1998": "{date.day}/{date.month}/{date.year}",
    "14.07.1998": "{date:%d.%m.%Y}",
    "1998/07/14": "{date:%Y/%m/%d}",
}

# `may` is a month whether it is written out or shortened.
CLASSES = {
    **{name: "weekday" for day in WEEKDAYS for name in (day, day[:3])},
    **{name: "month" for month in MONTHS for name in (month, month[:3])},
    **dict.fromkeys(FUNCTION_WORDS, "function word"),
    **dict.fromkeys(string.digits, "digit"),
    **dict.fromkeys("/.-,", "punctuation"),
}
MONTH_NUMBERS = {short: number for number, name in enumerate(MONTHS, 1) for short in (name, name[:3])}
WEEKDAY = rf"(?:(?:{'|'.join(name for day in WEEKDAYS for name in (day, day[:3]))})(?: ,)? )?"
DAY = r"(?P<day>\d(?: \d)?)"
NTH = rf"{DAY}(?: (?:st|nd|rd|th))?"
NAME = rf"(?P<month>{'|'.join(MONTH_NUMBERS)})"
NUMBER = r"(?P<month>\d(?: \d)?)"
LONG_YEAR = r"(?P<year>\d \d \d \d)"
YEAR = r"(?P<year>\d \d(?: \d \d)?)"
# They match tokens joined by spaces. A year directly after a day, or before a month, needs four digits: "july 1998" has no
# day, and 98/07/14 would have two readings.
PATTERNS = tuple(
    re.compile(order, re.ASCII)
    for order in (
        rf"{WEEKDAY}(?:the )?{NTH}(?: of| -)? {NAME}(?: [,-])? {YEAR}",
        rf"{WEEKDAY}{NAME} {NTH}(?: ,)? {LONG_YEAR}",
        rf"{DAY} (?P<mark>[/.-]) {NUMBER} (?P=mark) {YEAR}",
        rf"{LONG_YEAR} (?P<mark>[/.-]) {NUMBER} (?P=mark) {DAY}",
    )
)
# The indices of each field in 1998-07-14.
ISO_PLACES = {"year": range(4), "month": range(5, 7), "day": range(8, 10)}


class Reading(NamedTuple):
    """A date, and the indices of the source tokens that its year, month and day were read from."""

    date: datetime.date
    tokens: dict[str, range]


class Dates(World):
    """Every date from 1950 to 2049 is equally likely, and every form. A weekday is the true one; it is never needed."""

    name = "dates"
    description = "a date as people write it in, the ISO date out"
    accepts = (
        f"a date from {FIRST.year} to {LAST.year}, such as 14 july 1998, the 14th of july 1998 or 14/7/98: in numbers "
        "the day comes before the month, and two-digit years from 50 to 99 are 19.., from 00 to 49 are 20.."
    )
    source_vocabulary = Vocabulary.of(
        (*string.digits, *"/.-,", *WEEKDAYS, *(day[:3] for day in WEEKDAYS), *MONTH_NUMBERS, *FUNCTION_WORDS),
        "words and digits",
    )
    target_vocabulary = Vocabulary.of(string.digits + "-", "characters")
    longest = len(split_words_and_digits("the 14th of july 1998"))
    examples = (
        Example("tuesday 14 july 1998", "Both month digits come from the one word july, and no row needs the weekday."),
        Example("14/7/98", "The century stands nowhere: 98 alone decides for 19, so look at the row that writes 1."),
        Example("1/1/49", "Read as 2049: compare the first row with 1/1/50, where the year starts with 19."),
        Example("1/1/50", "Read as 1950: compare the first row with 1/1/49, where the year starts with 20."),
        Example("04.07.1998", "Day and month could be mistaken for each other: only their order keeps them apart."),
        Example("mon, jun 1 1998", "Day and year touch, with no mark between: see which 1 the rows of the day find."),
        Example("the 23rd of april 2016", "The words the and of carry nothing: see whether any head rests on them."),
        Example("5-may-05", "The answer holds three 5s, each from another field: see whether their rows differ."),
        Example("1998/07/14", "Already in the answer's order: cross-attention can run down the diagonal."),
        Example("29 february 2000", "A leap day: a date is only rewritten, so nothing about its map should differ."),
    )

    def draw(self, rng: random.Random) -> Pair:
        date = datetime.date.fromordinal(rng.randint(FIRST.toordinal(), LAST.toordinal()))
        form = rng.choice(tuple(FORMS))
        return Pair(write(date, form), date.isoformat(), form)

    def solve(self, source: str) -> str | None:
        reading = read(split_words_and_digits(source))
        return reading.date.isoformat() if reading else None

    def alignment(self, source: Sequence[str], target: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
        """Field by field: each digit of the year, the month and the day comes from all source tokens of that field."""
        reading = read(source)
        if reading is None:
            return None
        return tuple(
            (index, token)
            for field, places in ISO_PLACES.items()
            for index in places[: max(0, len(target) - places.start)]
            for token in reading.tokens[field]
        )

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        return CLASSES.get(token)

    def split_key(self, source: str) -> str:
        # The date itself: a date of the test is never in the training data, in any form.
        return self.solve(source) or source


def write(date: datetime.date, form: str) -> str:
    """A date in one of `FORMS`."""
    weekday, month = WEEKDAYS[date.weekday()], MONTHS[date.month - 1]
    return FORMS[form].format(date=date, weekday=weekday, month=month, suffix=SUFFIXES.get(date.day, "th"))


def read(tokens: Sequence[str]) -> Reading | None:
    """The date that source tokens write, or None if it is not a date from 1950 to 2049. The weekday is not checked."""
    text = " ".join(tokens)
    match = next((match for order in PATTERNS if (match := order.fullmatch(text))), None)
    if match is None:
        return None
    day, month, year = (match[field].replace(" ", "") for field in ("day", "month", "year"))
    full_year = int(year) if len(year) == 4 else FIRST.year + (int(year) - FIRST.year) % 100
    try:
        date = datetime.date(full_year, MONTH_NUMBERS.get(month) or int(month), int(day))
    except ValueError:  # 31 February, month 13, year 0
        return None
    if not FIRST <= date <= LAST:
        return None
    spans = {field: match.span(field) for field in ISO_PLACES}
    # A token's index is the number of spaces before it.
    return Reading(date, {f: range(text.count(" ", 0, a), text.count(" ", 0, b) + 1) for f, (a, b) in spans.items()})
