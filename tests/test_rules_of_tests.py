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


def test_only_these_files_replace_what_they_test() -> None:
    """Elsewhere a test passes an argument, or takes a real session, file, server or model."""
    allowed = {
        "links.py",  # it records which parameters of the address Streamlit and the pickers look up
        "test_classes.py",  # a store of classes and a tab of its own for each test; runs that end at a write
        "test_live_training.py",  # a line of trainings and a tab of its own for each test; trainings that do not compute
        "test_run_banner.py",  # it counts how often a text is split and answered
        "test_text.py",  # another folder of texts, because only English is shipped
        "test_turns.py",  # another session drops a result between two steps
        "test_hub.py",  # smaller blocks and less room for downloads; the switch for the hub is read when the server starts
    }
    replaces = re.compile(r"\.(setattr|setitem|delattr|delitem)\(|\bunittest(\.| import )mock\b")
    assert {
        file.name for file in (ROOT / "tests").rglob("*.py") if replaces.search(file.read_text(encoding="utf-8"))
    } == allowed
