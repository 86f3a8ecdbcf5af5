"""Check every shape annotation of the library in the tests. The hook must be installed before the first import.

Only modules with such annotations are hooked, because the hook makes each call of each function slower: 1.8 million calls in
the walk's tests alone. The tasks are not hooked, because they have no shapes.
"""

import os
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

install_import_hook(
    [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in sorted((ROOT / "transformer").rglob("*.py"))
        if "jaxtyping" in file.read_text(encoding="utf-8")
    ],
    "beartype.beartype",
)

# Long files that would come last. A worker that starts such a file at the end leaves the others idle.
LONG_FILES = tuple(f"tests/transformer/watching/test_{name}.py" for name in ("compare", "layer_mistakes"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the long files first."""
    items.sort(key=lambda item: item.nodeid.partition("::")[0] not in LONG_FILES)


def pytest_collection_finish() -> None:
    """Exclude all that is imported now from garbage collection, as the app's server does. A full collection would visit it each
    time, and building an untrained model begins with one."""
    from transformer.process import ignore_present_objects

    ignore_present_objects()
