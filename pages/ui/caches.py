"""Caches shared by all sessions of the process. Their keys are the values of arguments, and their size has a limit in bytes.

Sessions that request the same result at the same time wait for a single computation. Exceptions are not cached.
"""

import dataclasses
import enum
import functools
import hashlib
import inspect
import io
import pickle
import sys
import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal, TypeVar, cast

import cachetools
import streamlit as st
from cachetools.keys import hashkey

from pages.ui.limits import CACHE_MEGABYTES
from transformer.huggingface.hf_limits import TRACE_MEGABYTES

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")


class Absent(enum.Enum):
    """The type of `ABSENT`, the value that stands for a result that is not in a cache. None cannot stand for it, because None
    can be a result."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT

# A result of this many bytes or more is large, such as a model of the paper's base size or its trace. Shipped models and their
# traces are not large.
LARGE_BYTES = 4_000_000
# Large results may take this share of a cache. Above this share, a new large result replaces other large results.
LARGE_SHARE = 0.9


class RecentResults(cachetools.LRUCache[Hashable, Any]):
    """An LRU cache with a limit in bytes, in which a new large result (`LARGE_BYTES` or more) replaces other large results
    before small ones. Otherwise one visitor who types new texts for a large model would, every few seconds, drop the results
    that all other visitors use.
    """

    def __init__(self, most_bytes: int) -> None:
        super().__init__(most_bytes, getsizeof=byte_count)
        self._large: dict[Hashable, int] = {}  # bytes of each large result, the most recently used one last

    def __getitem__(self, key: Hashable) -> Any:
        if key in self._large:
            self._large[key] = self._large.pop(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Hashable, value: Any) -> None:
        nbytes = own_bytes(value) or 0
        if LARGE_BYTES <= nbytes <= self.maxsize:
            self.make_room(nbytes)
            self._large[key] = nbytes
        super().__setitem__(key, value)

    def __delitem__(self, key: Hashable) -> None:
        self._large.pop(key, None)
        super().__delitem__(key)

    def clear(self) -> None:
        self._large.clear()
        super().clear()

    def make_room(self, nbytes: int) -> None:
        """Drop results until a new large result of `nbytes` bytes fits: first large ones, then any, the least recently used
        first. The most recently used large result stays if both fit, because it may be the model that computes the new one."""
        for key in tuple(self._large):
            share = LARGE_SHARE if len(self._large) > 1 else 1
            if sum(self._large.values()) + nbytes <= share * self.maxsize:
                break
            del self[key]
        while self and self.currsize + nbytes > self.maxsize:
            self.popitem()


class Store:
    """A cache of function results with a limit in bytes (`RecentResults`).

    Args:
        most_bytes: limit for all results together. A result above this limit is computed again each time.
        most_large: limit in bytes for a single array or model above `most_bytes`. One such result is kept until `drop_large`.
    """

    def __init__(self, most_bytes: int, most_large: int = 0) -> None:
        self._most_large = most_large
        self._large: tuple[Hashable, Any] | None = None
        self._cache = RecentResults(most_bytes)
        self._condition = threading.Condition()
        keyed = cachetools.cached(self._cache, key=lambda key, _: key, condition=self._condition)
        self._cached: Callable[[Hashable, Callable[[], Any]], Any] = keyed(lambda _, compute: compute())

    @property
    def nbytes(self) -> int:
        """Bytes of all cached results, except the single one that `most_large` allows."""
        return int(self._cache.currsize)

    def result(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The result cached under a key. If the key is new, the result of `compute()`, which is then cached."""
        large = self._large
        if large is not None and large[0] == key:
            return large[1]
        return self._cached(key, functools.partial(self._computed, key, compute) if self._most_large else compute)

    def _computed(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        large = self._large  # set meanwhile if another thread computed the same result
        if large is not None and large[0] == key:
            return large[1]
        value = compute()
        if self._large is None and self._cache.maxsize < (own_bytes(value) or 0) <= self._most_large:
            self._large = key, value
        return value

    def drop_large(self) -> None:
        """Drop the single result above `most_bytes`. Call this before computing another such result, because only one is kept
        at a time."""
        self._large = None

    def cached(self, function: Function, ignored: int = 0) -> Function:
        """The same function with its results cached by the values of its arguments. Arguments must be hashable and passed by
        position. Results are shared: never write to them.

        Args:
            ignored: number of trailing arguments that do not change the result, such as a callback for progress.
        """

        def shared(*arguments: Any) -> Any:
            key = hashkey(function, *arguments[: len(arguments) - ignored])
            return self.result(key, lambda: function(*arguments))

        return cast("Function", functools.wraps(function)(shared))

    def has(self, function: Callable[..., Any], *arguments: Any) -> bool:
        """Whether the result of a function made by `cached` is in the cache. Pass its arguments without the ignored ones."""
        return self.kept(function, *arguments) is not ABSENT

    def kept(self, function: Callable[..., Result], *arguments: Any) -> Result | Literal[Absent.ABSENT]:
        """The result of a function made by `cached`, if it is in the cache; otherwise `ABSENT`. Pass the function's arguments
        without the ignored ones. Never computes the result, whereas calling the function after `has` can: another thread may
        drop the result in between."""
        key, large = hashkey(inspect.unwrap(function), *arguments), self._large
        if large is not None and large[0] == key:
            return large[1]
        with self._condition:
            return self._cache.get(key, Absent.ABSENT)

    def make_room(self, nbytes: int) -> None:
        """Drop results until a result of this many bytes fits. Call it before a large result is computed, so that this result
        and the results that it replaces are never in memory together."""
        with self._condition:
            self._cache.make_room(nbytes)

    def clear(self) -> None:
        """Drop all results; for tests."""
        with self._condition:
            self._cache.clear()
        self.drop_large()


def own_bytes(value: object) -> int | None:
    """The `nbytes` of a value, such as an array, a trace or a model; None if it has no such number."""
    nbytes = None if isinstance(value, type) else getattr(value, "nbytes", None)
    return nbytes if isinstance(nbytes, int) else None


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
        nbytes = own_bytes(part)
        if nbytes is not None:
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


# The single cache of all models, traces, figures and other results, so that their memory has one limit. A large trace may take
# twice `TRACE_MEGABYTES`, because its `nbytes` include tensors that it computes later.
RESULTS = Store(CACHE_MEGABYTES << 20, TRACE_MEGABYTES * 2_000_000)
# A decorator: the same function with its results in the common cache.
cached = RESULTS.cached


def of_session(make: Callable[[], Result], release: Callable[[Result], None]) -> Callable[[], Result]:
    """A function that returns the calling session's own object. The first call in a session makes the object.

    Args:
        make: makes the object; a function at the top level of a module.
        release: called with the object, outside any run of the app, some milliseconds after the session's browser has
            disconnected. If the browser returns to its session, the session gets a new object.
    """
    return st.cache_resource(scope="session", show_spinner=False, on_release=release)(make)


def content_key(*values: Any) -> bytes:
    """A key of 16 bytes that is equal for equal values: numbers, texts, arrays, classes and functions at the top level of a
    module, and collections and dataclasses of these. The key does not keep large values in memory.

    Raises:
        AttributeError, PicklingError: a value is a function inside a function, whose name does not identify its code.
    """
    content = io.BytesIO()
    pickler = pickle.Pickler(content, pickle.HIGHEST_PROTOCOL)
    pickler.fast = True  # otherwise an object that occurs twice and two equal objects have different bytes
    pickler.dump(values)
    return hashlib.blake2b(content.getbuffer(), digest_size=16).digest()
