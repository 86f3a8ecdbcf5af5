"""Each undocumented part of Streamlit used by the app still works: one test for each function of `pages.ui.compat`."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import StopException
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from benchmarks.app_server import ROOT
from pages.ui import compat

# Documented modules of Streamlit and Plotly.
DOCUMENTED = {
    *("streamlit", "streamlit.components.v2", "streamlit.testing.v1"),
    *("plotly.colors", "plotly.graph_objects", "plotly.io", "plotly.offline", "plotly.subplots"),
}
# Names in the pages that Streamlit, Plotly and KaTeX draw. `st-key-…` with a fixed key is documented, so CSS may use it.
INTERNAL = re.compile(
    r"""data-(?:testid|stale|title|tag)\b|\.st[A-Z]\w+|\bst-?emotion|_stcore|js-plotly|plotly-graph|modebar|hoverlayer"""
    r"""|\.katex|_fullLayout|_fullData|_modeBar|\b_context\b|__streamlit|st-key-[{$]""",
)
# The files that may use them, and why it is not one of the three others.
COMPAT = {
    "pages/ui/compat.py": "Python",
    "pages/ui/compat.js": "JavaScript",
    "assets/app.css": "CSS",
    "pages/ui/chart/cursor.js": "it reads the label that Plotly draws; the folder imports nothing from outside",
    "pages/ui/chart/chart.css": "the same for Plotly's buttons",
    "pages/ui/chart/theme.js": "the name of these buttons in a layout is documented",
    "pages/shell/browser/present_page.css": "it is on the page only while that is presented",
    "pages/lessons/playing/lesson_page.css": "it is on the page only while a lesson is open",
    "pages/shell/browser/embed.css": "it is on the page only while that is embedded",
}


def imported(file: Path) -> set[str]:
    """The modules a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def private_attributes(file: Path) -> set[str]:
    """The names of private attributes that a file reads of other objects, and does not define itself."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    read: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            is_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            (own if is_self else read).add(node.attr)
    return read - own - {"_asdict", "_replace", "_fields"}  # documented attributes of a named tuple


@pytest.mark.parametrize("ending", ["py", "js", "css"])
def test_internals_of_streamlit_and_plotly_are_only_in_compat(ending: str) -> None:
    files = [file for folder in ("pages", "assets") for file in (ROOT / folder).rglob(f"*.{ending}")]
    files += [ROOT / "app.py"] if ending == "py" else []
    assert len(files) > 15
    found = {
        str(file.relative_to(ROOT)): sorted(set(INTERNAL.findall(file.read_text(encoding="utf-8"))))
        for file in files
        if str(file.relative_to(ROOT)) not in COMPAT
    }
    assert {file: names for file, names in found.items() if names} == {}
    assert all((ROOT / file).is_file() for file in COMPAT)


def test_python_imports_only_documented_modules_and_no_private_names() -> None:
    files = {file for file in [ROOT / "app.py", *(ROOT / "pages").rglob("*.py")] if file.name != "compat.py"}
    assert len(files) > 50
    for file in files:
        used = {name for name in imported(file) if name.split(".")[0] in ("streamlit", "plotly")}
        assert used <= DOCUMENTED, file
        assert private_attributes(file) == set(), file


def test_the_library_reads_one_private_name_of_plotly() -> None:
    used = {file: {name for name in imported(file) if "plotly" in name} for file in (ROOT / "transformer").rglob("*.py")}
    files = {file for file, names in used.items() if names}
    assert len(files) > 5
    assert set().union(*used.values()) <= DOCUMENTED
    private = {file.name: names for file in files if (names := private_attributes(file))}
    assert private == {"theme.py": {"_validate"}}  # its reason stands beside it


def test_every_function_has_a_test_named_after_it() -> None:
    tree = ast.parse(Path(compat.__file__).read_text(encoding="utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    tests = " ".join(name for name in globals() if name.startswith("test_"))
    assert [name for name in functions if name not in tests] == []


IGNORE = """
import sys
from streamlit.runtime.pages_manager import PagesManager
from pages.ui.compat import ignore_pages_folder

if "ignore" in sys.argv:
    ignore_pages_folder()
PagesManager("app.py")
print(PagesManager.uses_pages_directory)
"""


def test_ignore_pages_folder() -> None:
    """In a process of its own, as Streamlit decides only once whether it serves the folder `pages`."""
    for argument, serves in (("", "True"), ("ignore", "False")):
        done = subprocess.run([sys.executable, "-c", IGNORE, argument], capture_output=True, text=True, check=True, cwd=ROOT)
        assert done.stdout.strip() == serves


def test_widgets_of_and_run_page() -> None:
    """The script of a page can draw its widgets a second time, and the widgets belong to the page."""

    def script() -> None:
        import streamlit as st
        from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

        from pages.ui.compat import run_page, widgets_of

        def drawn() -> None:
            st.write(f"page {ThreadState.get().active_script_hash}")

        page = st.navigation([st.Page(drawn, title="A", url_path="a")])
        st.write(f"app {ThreadState.get().active_script_hash}")
        with widgets_of(page):
            st.write(f"page {ThreadState.get().active_script_hash}")
        run_page(page)
        run_page(page)

    app = AppTest.from_function(script).run()
    assert not app.exception
    outside, *inside = [element.value for element in app.markdown]
    assert len(inside) == 3
    assert len(set(inside)) == 1
    assert inside[0].removeprefix("page") != outside.removeprefix("app")


def test_runs_for_visitor() -> None:
    def script() -> None:
        import streamlit as st

        from pages.ui.compat import runs_for_visitor

        st.write(str(runs_for_visitor()))

    assert AppTest.from_function(script).run().markdown[0].value == "True"
    assert not compat.runs_for_visitor()


@pytest.mark.parametrize("number", ["inf", "-inf", "1e999"])
def test_forget_infinite(number: str) -> None:
    def script() -> None:
        import streamlit as st

        from pages.ui.compat import forget_infinite

        if st.query_params.get("forget") == "true":
            forget_infinite("size")
        st.write(f"size {st.number_input('Size', 1, 9, 3, key='size', bind='query-params')}")

    app = AppTest.from_function(script)
    app.query_params["size"] = number
    assert [error.message for error in app.run().exception]  # Streamlit raises an error at an infinite number
    app = AppTest.from_function(script)
    app.query_params["size"], app.query_params["forget"] = number, "true"
    assert not app.run().exception
    assert app.markdown[0].value == "size 3"
    assert "size" not in app.query_params
    assert app.number_input(key="size").set_value(4).run().markdown[0].value == "size 4"


def test_page_end_does_not_stop_the_run() -> None:
    def script() -> None:
        import streamlit as st

        from pages.ui.compat import PageEnd

        try:
            raise PageEnd
        except PageEnd:
            st.write("ended")
        try:
            st.stop()
        except PageEnd:
            st.write("not drawn: Streamlit's own stop ends the run")

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert [element.value for element in app.markdown] == ["ended"]
    assert issubclass(compat.PageEnd, StopException)  # so if nothing catches it, Streamlit ends the run without an error
    assert not issubclass(compat.PageEnd, Exception)  # so `except Exception` does not catch it


def test_navigation_page_is_the_type_of_st_page() -> None:
    assert isinstance(st.Page(lambda: None, title="A", url_path="a"), compat.NavigationPage)


def test_no_callback() -> None:
    def script() -> None:
        import streamlit as st
        from streamlit.components.v2 import component

        from pages.ui.compat import no_callback

        result = component("compat_test", html="<b>a</b>")(key="mounted", data={"a": 1}, on_pick_change=no_callback)
        st.write(str(result.get("pick")))

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert [element.value for element in app.markdown] == ["None"]
    assert '"a":1' in app.get("bidi_component")[0].proto.json.replace(" ", "")


def test_key_class() -> None:
    assert compat.key_class(" a chart: (1) ") == "st-key-a-chart---1-"


def test_static_folder() -> None:
    assert (compat.static_folder() / "index.html").is_file()
    assert list((compat.static_folder() / "static" / "js").glob("index.*.js"))


def test_browser_has() -> None:
    """A browser test of a message that was lost is in `test_link_values.py`."""

    def script() -> None:
        import streamlit as st

        from pages.ui.compat import browser_has

        has = browser_has("name")
        st.text_input("Name", key="name")
        st.text(str(has))

    app = AppTest.from_function(script).run()
    assert app.text[0].value == "False"
    assert app.run().text[0].value == "True"


def test_opens_from_history() -> None:
    """A browser test of Back and Forward is in `tests/pages/shell/frame/test_history.py`."""
    assert not compat.opens_from_history()
    assert "is_history_navigation" in ScriptRunContext.__dataclass_fields__
