"""The task of rewriting a date such as `14 july 1998` as the ISO date `1998-07-14`: year, month and day change places, words
become digits, and short years get four digits."""

import calendar
import datetime
import random
import re
import string
from collections.abc import Sequence
from typing import Literal, NamedTuple

from transformer.errors import Remark
from transformer.tasks.task import Example, Pair, Task
from transformer.text.tokenizer import split_words_and_digits
from transformer.text.vocabulary import Vocabulary

# A hundred years, so that each two-digit year stands for exactly one year: 50 to 99 for 19.., and 00 to 49 for 20..
FIRST, LAST = datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
SUFFIXES = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
FUNCTION_WORDS = ("the", "of", "st", "nd", "rd", "th")

SEPARATORS = "/.-"
# Shares of the orders in which a date is written, and of optional parts and mistakes.
ORDERS = {"day month": 0.35, "month day": 0.2, "numbers": 0.3, "year first": 0.15}
WEEKDAY_SHARE, WRONG_WEEKDAY_SHARE, WRONG_SUFFIX_SHARE = 0.2, 0.1, 0.05
# The name of a form is this date, written in that form.
NAMESAKE = datetime.date(1998, 7, 4)

# `may` is both the full and the short name of a month.
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
# The patterns match tokens joined by spaces. A year directly after a day, or before a month, needs four digits: otherwise "july
# 1998" would be parsed as 19 July 98, and 98/07/14 would have two meanings.
PATTERNS = tuple(
    re.compile(order, re.ASCII)
    for order in (
        rf"{WEEKDAY}(?:the )?{NTH}(?: of)? {NAME}(?: ,)? {YEAR}",
        rf"{WEEKDAY}{DAY} - {NAME} - {YEAR}",
        rf"{WEEKDAY}{NAME} {NTH}(?: ,)? {LONG_YEAR}",
        rf"{DAY} (?P<mark>[/.-]) {NUMBER} (?P=mark) {YEAR}",
        rf"{LONG_YEAR} (?P<mark>[/.-]) {NUMBER} (?P=mark) {DAY}",
    )
)
# The indices of each field in 1998-07-14.
ISO_PLACES = {"year": range(4), "month": range(5, 7), "day": range(8, 10)}


class ParsedDate(NamedTuple):
    """A date, and for each of "year", "month" and "day" the indices (from 0) of the source tokens that it was read from."""

    date: datetime.date
    tokens: dict[str, range]


class Dates(Task):
    """The task: rewrite a date as an ISO date. All dates from 1950 to 2049 are equally likely. A weekday is optional."""

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
    longest = len(split_words_and_digits("saturday, the 14th of july, 1998"))
    examples = (
        Example("tuesday 14 july 1998", "Both month digits come from the one word july, and no row needs the weekday."),
        Example(
            "14/7/98",
            "The century stands nowhere: only 98 tells that the year starts with 19, so look at the row that predicts 1.",
        ),
        Example("1/1/49", "Read as 2049: compare the first row with 1/1/50, where the year starts with 19."),
        Example("1/1/50", "Read as 1950: compare the first row with 1/1/49, where the year starts with 20."),
        Example("04.07.1998", "Day and month could be mistaken for each other: only their order keeps them apart."),
        Example("mon, jun 1 1998", "Day and year touch, with no mark between: see which 1 the rows of the day find."),
        Example("the 23rd of april 2016", "The words the and of carry nothing: see whether any head rests on them."),
        Example("5-may-05", "The answer holds three 5s, each from another field: see whether their rows differ."),
        Example("1998/07/14", "Already in the answer's order: cross-attention can run down the diagonal."),
        Example("29 february 2000", "A leap day: a date is only rewritten, so nothing about its map should differ."),
    )

    def sample(self, rng: random.Random) -> Pair:
        date = datetime.date.fromordinal(rng.randint(FIRST.toordinal(), LAST.toordinal()))
        style = sample_style(rng)
        return Pair(style.write(date), date.isoformat(), style.form, style.details)

    def solve(self, source: str) -> str | None:
        parsed = parse(split_words_and_digits(source))
        return parsed.date.isoformat() if parsed else None

    def remark(self, source: str) -> Remark | None:
        tokens = split_words_and_digits(source)
        fields = _fields(tokens)
        if fields is None:
            return super().remark(source)
        day, month, year = fields.day, fields.month, fields.year
        if not 1 <= month <= 12:
            return Remark("There is no month {month}: in numbers, the day comes before the month.", month=month)
        days = calendar.monthrange(year, month)[1] if year else 31
        name = MONTHS[month - 1].capitalize()
        if not 1 <= day <= days:
            values = {"day": day, "month": name, "year": year, "days": days}
            return Remark("{day} {month} {year} does not exist: that month has {days} days.", **values)
        if not FIRST.year <= year <= LAST.year:
            values = {"year": year, "first": FIRST.year, "last": LAST.year}
            return Remark("Dates from {first} to {last} were in training, so do not trust the answer for {year}.", **values)
        weekday = WEEKDAYS[datetime.date(year, month, day).weekday()]
        if tokens[0].isalpha() and tokens[0] in CLASSES and CLASSES[tokens[0]] == "weekday" and tokens[0][:3] != weekday[:3]:
            values = {"day": day, "month": name, "year": year, "weekday": weekday.capitalize()}
            return Remark("{day} {month} {year} is a {weekday}. The model was trained to ignore a wrong weekday.", **values)
        return None

    def alignment(self, source: Sequence[str], target: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
        """Pairs (target index, source index): each digit of a field (year, month or day) comes from all source tokens of the
        same field; hyphens have no pairs. Returns None if the source is not a date from 1950 to 2049."""
        parsed = parse(source)
        if parsed is None:
            return None
        return tuple(
            (index, token)
            for field, places in ISO_PLACES.items()
            for index in places[: max(0, len(target) - places.start)]
            for token in parsed.tokens[field]
        )

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        return CLASSES.get(token)

    def split_key(self, source: str) -> str:
        # The key is the date itself, so a held-out date is in the training data in no form.
        return self.solve(source) or source


class Style(NamedTuple):
    """A way to write a date.

    Attributes:
        order: "day month" (`14 july 1998`), "month day" (`july 14, 1998`), "numbers" (`14/7/98`) or "year first"
            (`1998-07-14`).
        weekday: `long` or `short`; empty for no weekday.
        wrong_weekday: number of days added to the right weekday; 0 for the right weekday.
        weekday_comma, comma: whether a comma is written after the weekday, and before the year.
        the, of: whether the word `the` is written before the day, and `of` after it.
        suffix: `st`, `nd`, …; `right` for the right suffix, empty for no suffix.
        separator: the sign between numbers, or `-` on both sides of a month's name; otherwise empty.
        short_month, short_year, padded_day, padded_month: whether these are written like `jul`, `98`, `04`, `07`.
    """

    order: str
    weekday: str = ""
    wrong_weekday: int = 0
    weekday_comma: bool = False
    comma: bool = False
    the: bool = False
    of: bool = False
    suffix: str = ""
    separator: str = ""
    short_month: bool = False
    short_year: bool = False
    padded_day: bool = False
    padded_month: bool = False

    @property
    def form(self) -> str:
        """The name of the style: 4 July 1998 written in this style, without the parts that `details` names."""
        in_words = self.order in ("day month", "month day")
        bare = self._replace(weekday="", weekday_comma=False, comma=False, the=False, of=False, suffix="")
        return bare._replace(padded_day=self.padded_day and not in_words, padded_month=self.padded_day).write(NAMESAKE)

    @property
    def details(self) -> tuple[str, ...]:
        """The names of the optional parts and mistakes in this style, such as `with a weekday`."""
        in_words = self.order in ("day month", "month day")
        written = {
            "with a weekday": self.weekday and not self.wrong_weekday,
            "with a wrong weekday": self.weekday and self.wrong_weekday,
            "with a comma": self.weekday_comma or self.comma,
            "with “the”": self.the,
            "with “of”": self.of,
            "with st, nd, rd or th": self.suffix == "right",
            "with a wrong st, nd, rd or th": self.suffix not in ("", "right"),
            "with a 0 before the day, the month in letters": in_words and self.padded_day,
            "with a 0 before the day or the month alone": not in_words and self.padded_day != self.padded_month,
        }
        return tuple(name for name, is_written in written.items() if is_written)

    def write(self, date: datetime.date) -> str:
        """The text of a date in this style, such as `14 july 1998`."""
        day = f"{date.day:02}" if self.padded_day else f"{date.day}"
        year = f"{date:%y}" if self.short_year else f"{date.year}"
        if self.order in ("numbers", "year first"):
            month = f"{date.month:02}" if self.padded_month else f"{date.month}"
            return self.separator.join((day, month, year) if self.order == "numbers" else (year, month, day))
        month, comma, weekday_comma = MONTHS[date.month - 1], "," * self.comma, "," * self.weekday_comma
        month = month[:3] if self.short_month else month
        nth = day + (SUFFIXES.get(date.day, "th") if self.suffix == "right" else self.suffix)
        name = WEEKDAYS[(date.weekday() + self.wrong_weekday) % 7]
        weekday = {"long": f"{name}{weekday_comma} ", "short": f"{name[:3]}{weekday_comma} "}.get(self.weekday, "")
        if self.order == "month day":
            return f"{weekday}{month} {nth}{comma} {year}"
        if self.separator:
            return f"{weekday}{nth}{self.separator}{month}{self.separator}{year}"
        return f"{weekday}{'the ' * self.the}{nth}{' of' * self.of} {month}{comma} {year}"


def sample_style(rng: random.Random) -> Style:
    """A random style; common styles are sampled most often. `parse` can read dates in every style that can be sampled."""

    def chance(share: float) -> bool:
        return rng.random() < share

    (order,) = rng.choices(tuple(ORDERS), tuple(ORDERS.values()))
    if order in ("numbers", "year first"):
        padded_day = chance(0.5)
        # Most people pad either both numbers or no number.
        padded_month = padded_day if chance(0.8) else not padded_day
        short_year = order == "numbers" and chance(0.45)
        return Style(
            order, separator=rng.choice(SEPARATORS), short_year=short_year, padded_day=padded_day, padded_month=padded_month
        )
    weekday = rng.choice(("long", "short")) if chance(WEEKDAY_SHARE) else ""
    wrong_weekday = rng.randint(1, 6) if weekday and chance(WRONG_WEEKDAY_SHARE) else 0
    suffix = ("right" if not chance(WRONG_SUFFIX_SHARE) else rng.choice(("st", "nd", "rd", "th"))) if chance(0.4) else ""
    style = Style(
        order,
        weekday,
        wrong_weekday,
        weekday_comma=bool(weekday) and chance(0.5),
        comma=chance(0.5 if order == "month day" else 0.05),
        suffix=suffix,
        short_month=chance(0.4),
        padded_day=not suffix and chance(0.12),
    )
    if order == "month day":
        return style
    style = style._replace(short_year=chance(0.25))
    if not suffix and chance(0.25):
        return style._replace(separator="-", comma=False)
    return style._replace(the=(bool(suffix) and chance(0.6)) or chance(0.03), of=(bool(suffix) and chance(0.6)) or chance(0.03))


class Fields(NamedTuple):
    """The day, month and year in the source tokens, and the span of each field: the character indices (start, end) in the
    tokens joined by spaces. Two-digit years are completed. The date may not exist (31 February)."""

    day: int
    month: int
    year: int
    spans: dict[str, tuple[int, int]]


def _fields(tokens: Sequence[str]) -> Fields | None:
    text = " ".join(tokens)
    match = next((match for order in PATTERNS if (match := order.fullmatch(text))), None)
    if match is None:
        return None
    day, month, year = (match[field].replace(" ", "") for field in ("day", "month", "year"))
    full_year = int(year) if len(year) == 4 else FIRST.year + (int(year) - FIRST.year) % 100
    spans = {field: match.span(field) for field in ISO_PLACES}
    return Fields(int(day), MONTH_NUMBERS.get(month) or int(month), full_year, spans)


def parse(tokens: Sequence[str]) -> ParsedDate | None:
    """The date written in the source tokens; None if they are not a date from 1950 to 2049. The weekday is not checked."""
    fields = _fields(tokens)
    try:
        date = datetime.date(fields.year, fields.month, fields.day) if fields else None
    except ValueError:  # 31 February, month 13, year 0
        return None
    if fields is None or date is None or not FIRST <= date <= LAST:
        return None
    # The index of a token is the number of spaces before it.
    text = " ".join(tokens)
    return ParsedDate(date, {f: range(text.count(" ", 0, a), text.count(" ", 0, b) + 1) for f, (a, b) in fields.spans.items()})
