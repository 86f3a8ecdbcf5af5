"""Caches shared by all sessions of the process: results are keyed by value and limited in bytes.

Sessions that request the same result at the same time wait for one computation. Exceptions are not cached.
"""

import dataclasses
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import cachetools
from cachetools.keys import hashkey

from pages.ui.limits import RESULT_BYTES

Function = TypeVar("Function", bound=Callable[..., Any])


class Store:
    """A cache of function results with a limit in bytes; the least recently used result is dropped first.

    Args:
        most_bytes: limit for all results together. A result above it is computed anew each time.
    """

    def __init__(self, most_bytes: int) -> None:
        self._cache: cachetools.LRUCache[Any, Any] = cachetools.LRUCache(most_bytes, getsizeof=byte_count)
        self._condition = threading.Condition()

    @property
    def nbytes(self) -> int:
        """Bytes of all cached results."""
        return int(self._cache.currsize)

    def cached(self, function: Function, ignored: int = 0) -> Function:
        """The same function with its results cached by the values of its arguments. Arguments must be hashable and passed by
        position. Results are shared: never write to them.

        Args:
            function: the function to cache.
            ignored: number of trailing arguments that do not change the result, such as a callback for progress.
        """

        def key(*arguments: Any) -> Any:
            return hashkey(function, *arguments[: len(arguments) - ignored])

        shared: Any = cachetools.cached(self._cache, key=key, condition=self._condition)(function)
        return shared

    def clear(self) -> None:
        """Drop all results; for tests."""
        with self._condition:
            self._cache.clear()


def byte_count(value: object) -> int:
    """About how many bytes of memory a value takes: `nbytes` of arrays, traces and models, `sys.getsizeof` of everything else,
    with all items of collections and fields of dataclasses. An object that occurs twice is counted once."""
    counted: set[int] = set()
    waiting, total = [value], 0
    while waiting:
        part = waiting.pop()
        if id(part) in counted:
            continue
        counted.add(id(part))
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


# The cache of all results but models and traces, which have caches of their own.
RESULTS = Store(RESULT_BYTES)


def cached(function: Function) -> Function:
    """The same function with its results in the common cache (see `Store.cached`); use it as a decorator."""
    return RESULTS.cached(function)
