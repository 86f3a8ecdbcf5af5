"""Check every shape annotation of the library in the tests. The hook must be installed before the first import.

Only modules with such annotations are hooked, because the hook makes each call of each function slower: 1.8 million calls in
the walk's tests alone. The tasks are not hooked, because they have no shapes. The tests of analysis and tracing still take 1.8
times as long with the hook, so `.ci/run` sets HEADLIGHT_SHAPES=unchecked for most tests.
"""

import os
import zlib
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

ROOT = Path(__file__).parents[1]
# No time limit for an example, and the same examples each time: a busy machine or a rare value must not fail another change.
# HEADLIGHT_FUZZ draws new ones (tests/fuzz/hostile.py).
FUZZ = "HEADLIGHT_FUZZ" in os.environ
settings.register_profile("headlight", deadline=None, derandomize=not FUZZ, max_examples=100 if FUZZ else 40)
settings.load_profile("headlight")

if os.environ.get("HEADLIGHT_SHAPES") != "unchecked":
    install_import_hook(
        [
            ".".join(file.relative_to(ROOT).with_suffix("").parts)
            for file in sorted((ROOT / "transformer").rglob("*.py"))
            if "jaxtyping" in file.read_text(encoding="utf-8")
        ],
        "beartype.beartype",
    )


def function_of(item: pytest.Item) -> str:
    """The id of an item without its parameters."""
    return item.nodeid.partition("[")[0]


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out the slow tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all cases of a test with `few_cases(count)` as slow, except `count` of them.

    Which ones are kept depends on their ids alone: they are the same in every run and on every machine, and tests with the same
    parameters keep different ones.
    """
    marked = [item for item in items if item.get_closest_marker("few_cases")]
    for _, cases in groupby(sorted(marked, key=function_of), key=function_of):
        ordered = sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode()))
        (count,) = ordered[0].get_closest_marker("few_cases").args
        for item in ordered[count:]:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Exclude all that is imported now from garbage collection, as the app's server does. A full collection would visit it each
    time, and building an untrained model begins with one."""
    from transformer.process import ignore_present_objects

    ignore_present_objects()
