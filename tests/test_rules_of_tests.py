"""Rules for the tests: what they share lies in helper modules, and they wait for events, not for milliseconds."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = re.compile(r"tests\.(.*\.)?(test_\w+|conftest)(\.|$)")


def imported(file: Path) -> set[str]:
    """The names of all modules that a file imports, and of what it imports from them."""
    modules = set[str]()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {f"{node.module}.{name.name}" for name in node.names}
    return modules


def test_no_file_imports_from_a_file_of_tests_or_a_conftest() -> None:
    files = [file for folder in ("tests", "benchmarks", "docs") for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 100
    assert {str(file): names for file in files if (names := [*filter(TESTS.match, imported(file))])} == {}


def test_no_test_waits_for_a_fixed_time() -> None:
    allowed = {
        "waiting.py",  # it asks again until an event has happened
        "test_still_page.py",  # the page that it opens is slow, so that the browser draws it in parts
        "test_link_values.py",  # its page waits until Streamlit has sent one element, and has not sent the next
    }
    waits = re.compile(r"\.wait_for_timeout\(|\bsleep\(")
    assert {file.name for file in (ROOT / "tests").rglob("*.py") if waits.search(file.read_text(encoding="utf-8"))} == allowed
