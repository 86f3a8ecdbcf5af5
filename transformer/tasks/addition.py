"""The task of adding two numbers: the source is a sum such as `417+85=`, and the answer is its value, written from the left. So
the first digit of the answer may depend on the last digits of both numbers, because of carries."""

import random
import re
import string
from collections.abc import Sequence
from typing import Literal

from transformer.errors import Remark
from transformer.tasks.task import Example, Pair, Task
from transformer.text.tokenizer import split_characters
from transformer.text.vocabulary import Vocabulary

NUMBER = r"(0|[1-9][0-9]{0,2})"
SUM = re.compile(rf"{NUMBER}\+{NUMBER}=?")
SIZES = (1, 2, 3)
# Weights of the sizes. Numbers with three digits are the hardest, but most numbers below 1000 have three digits. If all numbers
# had equal weights, short numbers would be very rare.
WEIGHTS = (2, 3, 5)
WITHOUT_SIGN_SHARE = 0.3  # share of the sums without = at the end


class Addition(Task):
    """The task: add two numbers of one to three digits, without leading zeros. For each number, first its length in digits is
    sampled, then its value."""

    name = "addition"
    description = "the sum of two numbers in, its value out"
    accepts = "two whole numbers from 0 to 999 with a + between them, such as 417+85= or 417+85"
    source_vocabulary = Vocabulary.of(string.digits + "+=", "characters")
    target_vocabulary = Vocabulary.of(string.digits, "characters")
    longest = len("417+385=")
    examples = (
        Example("417+85=", "Each answer digit has its column: see whether its row finds that column in both numbers."),
        Example("85+417=", "417+85= turned round: the columns have moved, and the bright cells should move along."),
        Example("123+456=", "No column carries, yet a row can know that only by looking at the columns to its right."),
        Example("999+1=", "The carry runs through every column: see how far right the row that predicts the 1 looks."),
        Example("445+554=", "Every column makes 9, one short of a carry: compare with 445+555=, where all carry."),
        Example("445+555=", "One more than 445+554=: the last digit read changes every digit written, from the first."),
        Example("999+999=", "Every column carries: the leading 1 has no column and must come from the hundreds."),
        Example("7+5=", "One column, two answer digits: both rows need both numbers."),
        Example("600+0=", "Adding nothing: see whether the rows still visit the 0."),
    )

    def sample(self, rng: random.Random) -> Pair:
        sizes = rng.choices(SIZES, WEIGHTS, k=2)
        left, right = (rng.randint(10 ** (size - 1) if size > 1 else 0, 10**size - 1) for size in sizes)
        end = "" if rng.random() < WITHOUT_SIGN_SHARE else "="
        carries = _carries(left, right)
        details = ("with =" if end else "without =", f"{carries} {'carry' if carries == 1 else 'carries'}")
        return Pair(f"{left}+{right}{end}", str(left + right), f"{sizes[0]} + {sizes[1]} digits", details)

    def solve(self, source: str) -> str | None:
        numbers = _numbers(split_characters(source))
        return str(int(numbers[0]) + int(numbers[1])) if numbers else None

    def remark(self, source: str) -> Remark | None:
        numbers = re.fullmatch(r"([0-9]+)\+([0-9]+)=?", "".join(split_characters(source)))
        for number in numbers.groups() if numbers else ():
            if number != "0" and number.startswith("0"):
                return Remark("“{number}” starts with 0. No number in training did, so do not trust the answer.", number=number)
            if len(number) > max(SIZES):
                return Remark("“{number}” is too large: numbers up to {most} were in training.", number=number, most=999)
        return super().remark(source)

    def alignment(self, source: Sequence[str], target: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
        """Pairs (target index, source index), counted from 0. Each answer digit comes from the digits of both numbers in its
        column. A leading digit that is only a carry comes from the column that carries. The columns are those of the right
        answer, so `target` may be incomplete. Returns None if the source is not a sum."""
        numbers = _numbers(source)
        if numbers is None:
            return None
        left, right = map(len, numbers)
        answer = len(str(int(numbers[0]) + int(numbers[1])))
        pairs = []
        for index in range(min(answer, len(target))):
            column = min(answer - 1 - index, max(left, right) - 1)  # counted from the right, 0 for the units
            if column < left:
                pairs.append((index, left - 1 - column))
            if column < right:
                pairs.append((index, left + right - column))
        return tuple(pairs)

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        return "digit" if token in self.target_vocabulary.words else "sign" if token in self.source_vocabulary.words else None

    def split_key(self, source: str) -> str:
        # A model that has seen 85+417 knows 417+85, so both must be in the same split.
        numbers = _numbers(split_characters(source))
        return "+".join(sorted(numbers)) if numbers else source


def _carries(left: int, right: int) -> int:
    """The number of columns of a sum that carry 1 to the next column."""
    count = carry = 0
    while left or right or carry:
        carry = (left % 10 + right % 10 + carry) // 10
        count += carry
        left, right = left // 10, right // 10
    return count


def _numbers(tokens: Sequence[str]) -> tuple[str, str] | None:
    match = SUM.fullmatch("".join(tokens))
    return (match[1], match[2]) if match else None
