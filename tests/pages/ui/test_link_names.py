"""The names of an address that the app has."""

import ast
import importlib
import inspect
from collections.abc import Iterator

import pytest

from benchmarks.app_server import ROOT
from pages.lessons.content.library import shipped
from pages.ui import link_values, pickers
from pages.ui.link_names import NAMES, unknown

# Function → the place of the name among its arguments.
FUNCTIONS = {
    name: list(inspect.signature(function).parameters).index(argument)
    for module, argument in ((pickers, "key"), (link_values, "name"))
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if argument in inspect.signature(function).parameters
}


def names_in_the_code() -> Iterator[tuple[str, str]]:
    """The file and the name of each call that reads or writes a name of the address, if it is a text or a constant."""
    for file in sorted((ROOT / "pages").rglob("*.py")):
        module = (
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts)) if file.name != "page.py" else None
        )
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            function = getattr(call.func, "id", "")
            named = {each.arg: each.value for each in call.keywords}
            name = named.get("key", named.get("name")) if function in FUNCTIONS or "bind" in named else None
            if name is None and function in FUNCTIONS and len(call.args) > FUNCTIONS[function]:
                name = call.args[FUNCTIONS[function]]
            value = name.value if isinstance(name, ast.Constant) else getattr(module, getattr(name, "id", ""), None)
            if isinstance(value, str):
                yield str(file.relative_to(ROOT)), value


def test_every_name_that_the_code_reads_is_known() -> None:
    found = [*names_in_the_code()]
    assert len({name for _, name in found}) > 90
    assert [(file, name) for file, name in found if name not in NAMES] == []


def test_the_names_of_the_shipped_lessons_are_known() -> None:
    for lesson in shipped().values():
        assert not unknown(name for stop in lesson.stops for name, _ in stop.view)


@pytest.mark.parametrize(
    ("name", "closest"), [("foo", ""), ("modle", "model"), ("Layer", "layer"), ("heds", "heads"), ("model" * 20, "")]
)
def test_an_unknown_name_has_the_known_name_that_is_most_like_it(name: str, closest: str) -> None:
    assert unknown(["source", name, "embed", "utm_source", "fbclid"]) == {name: closest}
