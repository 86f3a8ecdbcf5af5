"""The one place for what is computed once and kept: for all sessions of the process, by value, bounded by bytes.

Sessions that ask for the same thing at the same time wait for one computation. A failure is not kept.
"""

import dataclasses
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from pages.ui.limits import RESULT_BYTES

Function = TypeVar("Function", bound=Callable[..., Any])


class Store:
    """Results of functions, at most so many bytes of them; the one that was not used for longest goes first.

    Args:
        most_bytes: of all results together. A larger result is computed anew each time.
    """

    def __init__(self, most_bytes: int) -> None:
        self._cache: LRUCache[Any, Any] = LRUCache(most_bytes, getsizeof=byte_count)
        self._condition = threading.Condition()

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return int(self._cache.currsize)

    def keep(self, function: Function, ignored: int = 0) -> Function:
        """The same function, called once for each value of its arguments. They must be hashable, and given by position; the
        result is shared, so nobody may write to it.

        Args:
            function: what to call.
            ignored: how many arguments at the end do not change the result: what is called to tell of progress.
        """

        def key(*given: Any) -> Any:
            return hashkey(function, *given[: len(given) - ignored])

        shared: Any = cached(self._cache, key=key, condition=self._condition)(function)
        return shared

    def clear(self) -> None:
        """Forget everything; for tests."""
        with self._condition:
            self._cache.clear()


def byte_count(value: object) -> int:
    """About how many bytes of memory a value takes: the `nbytes` of arrays, traces and models; what texts, numbers and
    collections take, with all that is in them. What occurs twice is counted once."""
    seen: set[int] = set()
    waiting, total = [value], 0
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        nbytes = None if isinstance(part, type) else getattr(part, "nbytes", None)
        if isinstance(nbytes, int):
            total += nbytes
            continue
        total += sys.getsizeof(part)
        if isinstance(part, Mapping):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set | frozenset):
            waiting += part
        elif dataclasses.is_dataclass(part) and not isinstance(part, type):
            waiting += [getattr(part, field.name) for field in dataclasses.fields(part)]
    return total


# Whatever is worked out of a model or a run, but models and traces themselves.
RESULTS = Store(RESULT_BYTES)


def kept(function: Function) -> Function:
    """Keep what a function of hashable values returns, together with all other results (see `Store.keep`)."""
    return RESULTS.keep(function)
