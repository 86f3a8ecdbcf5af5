"""A path makes the choices of the grammar: a `SamplingPath` samples a random sentence, a `ParsingPath` parses a given text.

The grammar is written once, as functions that get a path, pass it the English words from left to right and return the French.
On a `SamplingPath`, every choice is random, and every word is written down. On a `ParsingPath`, a text decides every choice. If
several choices are possible, a `ParsingPath` tries all of them: it starts again from the first word with the next combination
of choices. At the end of the text, it collects the words that may follow. So every sampled sentence can be parsed, and all
collected words are grammatical.
"""

import random
from bisect import bisect
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
NO_STARTS: Mapping[Any, Container[str]] = {}


class DeadEndError(Exception):
    """Raised where a path leads to no sentence: the parsed text has another word at this place, or the choices do not fit
    together."""


class Table(Generic[T]):
    """The entries of one choice in the grammar: English phrases, each with a value, such as its French. Sampling chooses an
    entry by its weight (by default equal), parsing by its English words.

    Attributes:
        by_first: the entries by their first word, those with the most words first.
    """

    def __init__(self, entries: Iterable[tuple[str, T]], weights: Sequence[float] | None = None) -> None:
        self.entries = tuple((tuple(english.split()), value) for english, value in entries)
        self.weights = tuple(weights or [1.0] * len(self.entries))
        self.cumulative = list(accumulate(self.weights))
        self.by_first: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for words, value in self.entries:
            self.by_first.setdefault(words[0], []).append((words, value))
        for entries_of_word in self.by_first.values():
            entries_of_word.sort(key=lambda entry: -len(entry[0]))


@lru_cache(maxsize=256)
def words_table(text: str) -> Table[str]:
    """A table of words with weights, from a text like `is 1, are 0.5`. The value of each entry is the word itself."""
    weights = {word: float(weight) for word, weight in (entry.rsplit(" ", 1) for entry in text.split(", "))}
    return Table([(word, word) for word in weights], list(weights.values()))


class Path(Protocol):
    """The methods that a frame (the function of a kind of sentence) may call. Their docstrings tell their effect while sampling
    and while parsing."""

    def say(self, *words: str) -> None:
        """Sampling: append English words to the sentence. Parsing: require that the text has these words next, and move past
        them."""
        ...

    def says(self, word: str, share: float) -> bool:
        """Sampling: append a word with probability `share`, and return whether it was appended. Parsing: return whether the
        word is next in the text; if so, move past it."""
        ...

    def word(self, table: Table[T], sampled_from: Table[T] | None = None) -> T:
        """The value of an entry. Sampling: append the words of a random entry of `sampled_from`, which has the entries of
        `table` that make sense here; by default, of `table`. Parsing: move past the words of any entry of `table` that comes
        next in the text."""
        ...

    def optional(self, table: Table[T], share: float, sampled_from: Table[T] | None = None) -> T | None:
        """The value of an entry, as `word` returns it; None if the words are missing. Sampling appends words with probability
        `share`."""
        ...

    def choose(self, options: Mapping[T, float], starts: Mapping[T, Container[str]] = NO_STARTS) -> T:
        """One of the keys of `options`. Sampling: a random option, with probability proportional to its value in `options`.
        Parsing: any option that can start with the next word of the text. `starts` has the words that an option can start with;
        an option that is not in `starts` is always tried."""
        ...

    def meaning(self, options: Sequence[T]) -> T | None:
        """Sampling: a random option, such as a kind of noun, by which the next words are chosen so that they make sense; no
        word is appended. Parsing: None."""
        ...

    def require(self, condition: bool) -> None:
        """Raise a `DeadEndError` unless the condition holds."""
        ...


class SamplingPath:
    """A path that samples a sentence: each choice is random, and `tokens` has the English words so far, with `a` for `an`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.tokens = rng, list[str]()

    def say(self, *words: str) -> None:
        self.tokens += words

    def says(self, word: str, share: float) -> bool:
        if self.rng.random() >= share:
            return False
        self.tokens.append(word)
        return True

    def word(self, table: Table[T], sampled_from: Table[T] | None = None) -> T:
        table = sampled_from or table
        index = bisect(table.cumulative, self.rng.random() * table.cumulative[-1])
        words, value = table.entries[index]
        self.tokens += words
        return value

    def optional(self, table: Table[T], share: float, sampled_from: Table[T] | None = None) -> T | None:
        return self.word(table, sampled_from) if self.rng.random() < share else None

    def choose(self, options: Mapping[T, float], starts: Mapping[T, Container[str]] = NO_STARTS) -> T:
        left = self.rng.random() * sum(options.values())
        for option, weight in options.items():
            left -= weight
            if left < 0:
                return option
        raise ValueError("no option has a weight")

    def meaning(self, options: Sequence[T]) -> T | None:
        return options[int(self.rng.random() * len(options))]

    def require(self, condition: bool) -> None:
        if not condition:
            raise DeadEndError

    def english(self) -> list[str]:
        """The English words so far, with `an` instead of `a` before a vowel."""
        pairs = zip(self.tokens, [*self.tokens[1:], ""], strict=True)
        return ["an" if word == "a" and takes_an(following) else word for word, following in pairs]


class ParsingPath:
    """A path that parses a text, in every way that the grammar allows.

    Attributes:
        next_words: the words that may follow the text, in the order in which they were found.
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = _with_one_article(tokens)
        self.article = "".join(tokens[-1:]) if tokens and tokens[-1] in ("a", "an") else ""
        self.next_words: dict[str, None] = {}
        self._noted: dict[int, Table[Any]] = {}  # id of a table → the table, if its words are in `next_words`
        self.position = self.depth = self.farthest = 0
        self.branches: list[list[int]] = []  # for each choice: the index that is tried, and the number of options

    def parses(self, program: Callable[["ParsingPath"], T]) -> Iterator[T]:
        """Yields the results of `program`, one for each parse of the whole text. `program` is called again and again with this
        path, each time with other choices; a `DeadEndError` ends a call."""
        while True:
            self.position = self.depth = 0
            try:
                value = program(self)
                if self.position == len(self.tokens):
                    yield value
            except DeadEndError:
                pass
            while self.branches and self.branches[-1][0] + 1 == self.branches[-1][1]:
                self.branches.pop()
            if not self.branches:
                return
            self.branches[-1][0] += 1

    def say(self, *words: str) -> None:
        for word in words:
            if self._peek(word) != word:
                raise DeadEndError
            self._pass(1)

    def says(self, word: str, share: float) -> bool:
        if self._peek(word if share else "") != word:
            return False
        self._pass(1)
        return True

    def word(self, table: Table[T], sampled_from: Table[T] | None = None) -> T:
        return self._entry(table, sampled_from, self._fitting(table, sampled_from))

    def optional(self, table: Table[T], share: float, sampled_from: Table[T] | None = None) -> T | None:
        fitting = self._fitting(table, sampled_from)
        if not fitting:
            return None
        index = self._branch(len(fitting) + 1)
        return None if index == len(fitting) else self._take(fitting[index])

    def choose(self, options: Mapping[T, float], starts: Mapping[T, Container[str]] = NO_STARTS) -> T:
        if starts and self.position < len(self.tokens):
            following = self.tokens[self.position]
            fitting = [option for option in options if option not in starts or following in starts[option]]
        else:
            fitting = list(options)
        return fitting[self._branch(len(fitting))]

    def meaning(self, options: Sequence[T]) -> T | None:
        return None

    def require(self, condition: bool) -> None:
        if not condition:
            raise DeadEndError

    def _peek(self, *wanted: str) -> str:
        """The next word of the text. At the end of the text, note `wanted` as words that may follow."""
        if self.position < len(self.tokens):
            return self.tokens[self.position]
        for word in wanted:
            self._note(word)
        return ""

    def _note(self, word: str) -> None:
        if word and (not self.article or (self.article == "an") == takes_an(word)):
            self.next_words[word] = None

    def _note_all(self, words: Iterable[str]) -> None:
        """Note words as words that may follow the text. The words must not be empty."""
        if self.article:
            for word in words:
                self._note(word)
        else:
            self.next_words.update(dict.fromkeys(words))

    def _fitting(self, table: Table[T], sampled_from: Table[T] | None) -> list[tuple[tuple[str, ...], T]]:
        """The entries whose words come next in the text. At the end of the text there are none; then the first words of all
        entries are noted as words that may follow."""
        if self.position == len(self.tokens):
            # Words that make sense are noted before other words.
            for some in (sampled_from, table):
                if some is not None and id(some) not in self._noted:
                    self._noted[id(some)] = some
                    self._note_all(some.by_first)
            return []
        fitting = []
        for words, value in table.by_first.get(self.tokens[self.position], ()):
            rest = tuple(self.tokens[self.position : self.position + len(words)])
            if rest == words:
                fitting.append((words, value))
            elif self.position + len(rest) == len(self.tokens) and words[: len(rest)] == rest:
                self._note(words[len(rest)])  # the text ends within the words of this entry
        return fitting

    def _entry(self, table: Table[T], sampled_from: Table[T] | None, fitting: list[tuple[tuple[str, ...], T]]) -> T:
        if not fitting:
            raise DeadEndError
        return self._take(fitting[self._branch(len(fitting))])

    def _take(self, entry: tuple[tuple[str, ...], T]) -> T:
        self._pass(len(entry[0]))
        return entry[1]

    def _pass(self, count: int) -> None:
        self.position += count
        self.farthest = max(self.farthest, self.position)

    def _branch(self, count: int) -> int:
        if count < 2:
            self.require(count == 1)
            return 0
        if self.depth == len(self.branches):
            self.branches.append([0, count])
        self.depth += 1
        return self.branches[self.depth - 1][0]


def takes_an(word: str) -> bool:
    """Whether the article before an English word is `an`, not `a`."""
    return (word[:1] in ("a", "e", "i", "o", "u") and not word.startswith(("uni", "eu", "use", "one"))) or word == "hour"


def _with_one_article(tokens: Sequence[str]) -> list[str]:
    """The tokens with `a` in place of each right article, `a` or `an`. A wrong article is replaced by a word that no grammar
    reads."""
    words = list(tokens)
    for index, word in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else ""
        if word in ("a", "an") and following:
            words[index] = "a" if (word == "an") == takes_an(following) else "<wrong article>"
        elif word == "an":
            words[index] = "a"
    return words
