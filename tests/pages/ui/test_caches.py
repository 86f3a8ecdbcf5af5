"""Caches: results have the values of arguments as keys, a limit in bytes, and are computed once for simultaneous requests."""

import pickle
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import pytest

from pages.shell.view.runs import Runs
from pages.ui.caches import ABSENT, LARGE_BYTES, Store, byte_count, content_key
from pages.ui.charts import chart
from pages.ui.limits import CACHE_MEGABYTES
from tests.waiting import SECONDS
from transformer.figures.numbers import numbers

PAGES = Path(__file__).parents[3] / "pages"
# Files with their own caches, for constants that no visitor can change: number of caches, and what they contain.
CONSTANTS = {
    "ui/text.py": (4, "the texts of a page in one language, the languages there are"),
    "ui/term_links.py": (2, "the words that name a term of the glossary, and their pattern"),
    "shell/frame/navigation.py": (2, "the pages of the app, and the stops of the tour"),
    "lessons/content/library.py": (1, "the lessons that ship with the app"),
    "ui/head_grid.py": (1, "the colours of the levels of a weight"),
    "shell/models/folders.py": (1, "the models in the folders that the operator names"),
}
# Files that keep, for some minutes, what belongs to a tab that may come back (`cachetools.TTLCache`).
LEFT = {"shell/models/own_models.py", "training/live_desk.py"}


def test_simultaneous_requests_compute_a_result_once() -> None:
    calls: list[str] = []
    requests = threading.Semaphore(0)

    def slow(key: str) -> str:
        calls.append(key)
        assert all(requests.acquire(timeout=SECONDS) for _ in range(20))  # until all threads request the result
        return key

    def request() -> None:
        requests.release()
        shared("a")

    shared = Store(10_000).cached(slow)
    threads = [threading.Thread(target=request) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == ["a"]


def test_has_returns_whether_a_result_is_cached() -> None:
    store = Store(10_000)
    shared = store.cached(str.upper)
    assert not store.has(shared, "a")
    assert shared("a") == "A"
    assert store.has(shared, "a")
    assert not store.has(shared, "b")
    store.clear()
    assert not store.has(shared, "a")


def test_kept_returns_a_cached_result_and_never_computes() -> None:
    calls: list[str] = []
    store = Store(5000, 10_000)

    def upper(text: str) -> str | None:
        calls.append(text)
        return text.upper() or None

    shared, zeros = store.cached(upper), store.cached(lambda count: np.zeros(count, np.uint8))
    assert store.kept(shared, "a") is ABSENT
    assert shared("a") == "A"
    assert shared("") is None
    assert (store.kept(shared, "a"), store.kept(shared, "")) == ("A", None)
    assert store.kept(zeros, 9000) is ABSENT
    assert zeros(9000) is store.kept(zeros, 9000)
    store.clear()
    assert store.kept(shared, "a") is ABSENT
    assert store.kept(zeros, 9000) is ABSENT
    assert calls == ["a", ""]


def test_exceptions_are_not_cached() -> None:
    answers = iter([ValueError("first"), "second"])

    def sometimes(_: str) -> str:
        answer = next(answers)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    shared = Store(10_000).cached(sometimes)
    with pytest.raises(ValueError, match="first"):
        shared("a")
    assert shared("a") == "second"


def test_store_stays_within_its_bytes_and_drops_the_least_recently_used() -> None:
    store = Store(3500)
    zeros, ones = (store.cached(lambda size, make=make: make(size, np.uint8)) for make in (np.zeros, np.ones))
    first = zeros(1000)
    assert zeros(1000) is first
    assert (ones(1000) == 1).all()  # another function with equal arguments
    assert store.nbytes == 2000
    zeros(1000)
    ones(1400)
    assert store.nbytes == 2400 + 1000
    third = ones(1001)
    assert store.nbytes <= 3500
    assert ones(1001) is third
    large = zeros(4000)
    assert zeros(4000) is not large  # too large for the cache
    assert store.nbytes <= 3500
    store.clear()
    assert store.nbytes == 0
    assert zeros(1000) is not first


def test_a_large_result_replaces_large_results_before_small_ones() -> None:
    """When one visitor types new texts for a large model, the results that other visitors use stay in the cache."""
    store = Store(10 * LARGE_BYTES)

    def result(name: str, nbytes: int) -> object:
        return store.result(name, lambda: np.zeros(nbytes, np.uint8))

    model = result("model", 6 * LARGE_BYTES)
    figures = [result(f"figure {number}", LARGE_BYTES // 8) for number in range(4)]
    for number in range(20):
        assert result("model", 6 * LARGE_BYTES) is model
        result(f"trace {number}", LARGE_BYTES)
    assert [result(f"figure {number}", LARGE_BYTES // 8) for number in range(4)] == figures
    assert [store.result(f"trace {number}", lambda: None) is None for number in (16, 17, 18, 19)] == [True, False, False, False]
    assert store.nbytes <= 10 * LARGE_BYTES


def test_the_most_recently_used_large_result_stays_if_the_new_one_fits_too() -> None:
    store = Store(10 * LARGE_BYTES)
    model = store.result("model", lambda: np.zeros(7 * LARGE_BYTES, np.uint8))
    store.result("figure", lambda: np.zeros(10, np.uint8))
    for number in range(3):  # together above the share of large results
        store.result(f"trace {number}", lambda: np.zeros(3 * LARGE_BYTES - 1000, np.uint8))
        assert store.result("model", lambda: None) is model
    store.result("another model", lambda: np.zeros(7 * LARGE_BYTES, np.uint8))
    assert store.result("model", lambda: None) is None
    store.result("figure", lambda: pytest.fail("small, and still there"))


def test_one_result_above_the_limit_is_kept_in_addition_to_the_others() -> None:
    store = Store(3500, 5000)
    zeros = store.cached(lambda count: np.zeros(count, np.uint8))
    first, small = zeros(4000), zeros(100)
    assert zeros(4000) is first
    assert store.has(zeros, 4000)
    assert zeros(4500) is not zeros(4500)  # the first large result stays until it is dropped
    assert zeros(4000) is first
    store.drop_large()
    assert zeros(4500) is zeros(4500)
    assert not store.has(zeros, 4000)
    assert zeros(5001) is not zeros(5001)
    assert zeros(100) is small
    store.drop_large()
    assert not store.has(zeros, 4500)


def test_ignored_arguments_are_not_part_of_the_key() -> None:
    calls: list[int] = []

    def counted(value: int, report: object) -> int:
        calls.append(value)
        return value

    shared = Store(1000).cached(counted, ignored=1)
    assert shared(1, print) == shared(1, len) == 1
    assert calls == [1]


def test_byte_count_includes_nested_values_once() -> None:
    @dataclass
    class Result:
        rows: np.ndarray
        names: tuple[str, ...]

    rows = np.zeros((100, 10), np.float32)
    assert byte_count(rows) == rows.nbytes == 4000
    assert 4000 < byte_count(Result(rows, ("a", "b"))) < 5000
    assert byte_count([rows, rows]) < 5000  # counted once
    assert byte_count({"a": "x" * 10_000}) > 10_000
    cyclic: list[object] = []
    cyclic.append(cyclic)
    assert byte_count(cyclic) < 200


def test_traces_are_cached_by_value_and_counted_in_bytes() -> None:
    runs = Runs()
    first = runs.trace("reverse", ("abc",), (None,), ())
    assert runs.trace("reverse", ("abc",), (None,), ()) is first
    assert runs.trace("reverse", ("abd",), (None,), ()) is not first
    assert byte_count(first) == first.nbytes
    assert (CACHE_MEGABYTES << 20) // first.nbytes > 100  # enough for the sentences of a whole class


def test_pages_use_no_other_cache() -> None:
    other = re.compile(
        r"cache_data|cache_resource|lru_cache|@cache\b|functools\.cache|import .*\bcache\b|cached_property|cachetools"
    )
    sources = {str(file.relative_to(PAGES)): file.read_text(encoding="utf-8") for file in PAGES.rglob("*.py")}
    files = {name for name, source in sources.items() if other.search(source)}
    assert files - {"ui/caches.py", *LEFT} == set(CONSTANTS)
    assert {name: sources[name].count("@cache\n") for name in CONSTANTS} == {
        name: count for name, (count, _) in CONSTANTS.items()
    }


class Matrix(NamedTuple):
    values: np.ndarray
    title: str | None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32)),
        (np.zeros(2, np.float32), np.zeros(2, np.float64)),
        (np.array([1.0, 2.0]), np.array([2.0, 1.0])),
        (["ab", "c"], ["a", "bc"]),
        (["a", ["b"]], [["a"], "b"]),
        ({"a": 1}, {"a": 2}),
        (1, True),
        (None, "None"),
        (1.5, "1.5"),
        (Matrix(np.ones(2), None), Matrix(np.ones(2), "a")),
        (np.mean, np.max),
    ],
)
def test_content_keys_of_different_values_differ(first: object, second: object) -> None:
    assert content_key(first) != content_key(second)
    assert content_key(first, second) != content_key(second, first)


def test_content_keys_of_equal_values_are_equal() -> None:
    def values() -> tuple[object, ...]:
        return ([*"ab"], Matrix(np.arange(6.0).reshape(2, 3).T, "".join(["a", "b"])), {"x": (1, 2.5, None)}, range(3), np.mean)

    assert content_key(*values()) == content_key(*values())
    assert content_key(["ab" * 9, "".join(["ab"] * 9)]) == content_key(["ab" * 9] * 2)


def test_a_function_that_its_name_does_not_identify_has_no_content_key() -> None:
    with pytest.raises((AttributeError, pickle.PicklingError)):
        content_key([lambda: 1])


BUILT: list[str] = []


def heatmap(values: np.ndarray, title: str) -> go.Figure:
    BUILT.append(title)
    return go.Figure(go.Heatmap(z=values), {"title": {"text": title}, "meta": {"least_width": 300}})


def test_a_figure_of_equal_values_is_built_once() -> None:
    BUILT.clear()
    first, again = (chart(heatmap, np.full((2, 2), 7.25), title="one") for _ in range(2))
    assert len(BUILT) == 1
    assert again.finished is first.finished
    assert first.finished.least_width == 300
    assert first.finished.has_numbers
    chart(heatmap, np.full((2, 2), 7.5), title="one")
    assert len(BUILT) == 2
    assert numbers(first.build()).to_numpy().tolist() == [[7.25, 7.25], [7.25, 7.25]]


def test_make_room_drops_results_before_a_large_result_is_computed() -> None:
    store = Store(1_000_000)
    for name in "abc":
        store.result(name, lambda: np.zeros(300_000, np.uint8))
    store.result("a", lambda: pytest.fail("still there"))
    store.make_room(500_000)
    assert store.nbytes < 500_000
    store.result("a", lambda: pytest.fail("was used last"))
    store.make_room(2_000_000)  # larger than everything
    assert store.nbytes == 0
