"""Tests of every page, without a browser. A new page is included automatically, by its folder."""

import json
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.frame.navigation import page_files
from pages.ui.text import text as texts
from tests.pages.apps import charts, on_page

ROOT = Path(__file__).parents[4]
PAGES = [str(file.relative_to(ROOT)) for file in page_files()]


def test_no_page_is_directly_in_the_pages_folder() -> None:
    assert [file.name for file in (ROOT / "pages").glob("*.py")] == ["__init__.py"]
    assert {file.parent.name for file in (ROOT / "pages").glob("*/*.py")} <= {
        *(Path(page).parent.name for page in PAGES),
        "ui",
        "shell",
    }


def test_pages_do_not_import_from_each_other() -> None:
    """import-linter checks only packages, and a folder that has only `page.py` is not a package."""
    for page in PAGES:
        imported = re.findall(r"^\s*(?:from|import) pages\.(\w+)", (ROOT / page).read_text(), re.MULTILINE)
        assert {*imported} <= {"ui", "shell", Path(page).parent.name}


# Runs in a copy of the app with an added page: prints navigation, tour, cards and the contents of that page.
OPEN_NEW_PAGE = """
import json
from streamlit.testing.v1 import AppTest
from pages.shell.frame.navigation import name_of, page_files, tour

app = AppTest.from_file("app.py", default_timeout=60)
app.session_state["parts_all"] = True
app.query_params["part"] = "tour"
app.run()
sent = [each.proto for each in app.main.get("bidi_component") if each.proto.component_name != "plotly_chart"]
home = [json.loads(proto.json or proto.bytes[4:]) for proto in sent]  # or a parcel of JSON
app.switch_page("pages/lengths/page.py").run()
print(json.dumps({
    "navigation": [name_of(file) for file in page_files()],
    "tour": [name_of(file) for file in tour()],
    "cards": [json.dumps(data["list"]) for data in home if "list" in data],
    "title": [title.value for title in app.title],
    "captions": [caption.value for caption in app.caption],
    "problems": [each.value for each in (*app.exception, *app.error)],
}))
"""
CHECK_CONTRACTS = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"


@pytest.mark.slow
def test_page_added_by_the_recipe_is_in_navigation_tour_and_import_contract(tmp_path: Path) -> None:
    """The two files of the recipe in docs/CONTRIBUTING.md are added to a copy of the app."""
    recipe = (ROOT / "docs" / "CONTRIBUTING.md").read_text().partition("## Add a page")[2].partition("\n## ")[0]
    files = {kind: re.search(rf"```{kind}\n(.*?)```", recipe, re.DOTALL) for kind in ("toml", "python")}
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("pages", "transformer", "assets/text"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for name in ("app.py", "pyproject.toml", "assets/app.css", "assets/checkpoints", ".streamlit"):
        (tmp_path / name).symlink_to(ROOT / name)
    folder = tmp_path / "pages" / "lengths"
    folder.mkdir(exist_ok=True)  # it exists if a reader has followed the recipe in this repository
    for path, block in ((tmp_path / "assets/text/en/lengths.toml", files["toml"]), (folder / "page.py", files["python"])):
        assert block
        path.write_text(textwrap.dedent(block[1]), encoding="utf-8")

    def python(code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)

    run = python(OPEN_NEW_PAGE)
    assert run.returncode == 0, run.stderr
    shown = json.loads(run.stdout)
    assert sorted(shown["navigation"]) == sorted({*(Path(page).parent.name for page in PAGES), "lengths"})
    assert shown["navigation"].index("patching") < shown["navigation"].index("lengths")
    stop = shown["tour"].index("lengths")
    assert shown["tour"].index("patching") < stop < shown["tour"].index("decoding")
    assert any("How long are the vectors?" in cards for cards in shown["cards"])
    assert shown["title"] == ["Lengths"]
    assert f"Stop {stop + 1} of {len(shown['tour'])}" in shown["captions"]
    assert shown["problems"] == []

    (folder / "__init__.py").touch()
    assert python(CHECK_CONTRACTS).returncode == 0
    (folder / "numbers.py").write_text("from pages.home import links\n")
    contracts = python(CHECK_CONTRACTS)
    assert contracts.returncode
    assert "pages.lengths is not allowed to import pages.home" in contracts.stdout


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest) -> str:
    """The file of a page. All tests of a page run one after another and share its app."""
    return request.param


@pytest.fixture(scope="module")
def app(page: str) -> AppTest:
    """The open page. Only the first test of a page gets it in its initial state."""
    return on_page(page)


@pytest.mark.few_cases(2)
def test_page_opens_with_described_charts_and_no_source(app: AppTest) -> None:
    """Source code in a closed part would load the highlighter on a first visit, and would be sent again with every click."""
    assert not app.exception
    assert not app.error
    assert app.title
    assert all(chart.alt for chart in charts(app))
    assert not app.code


@pytest.mark.slow
def test_every_page_shows_every_model() -> None:
    """Model by model, because the weights of an untrained one are drawn at random only once then."""
    for model in on_page(PAGES[0]).sidebar.selectbox(key="model").options:
        for each in PAGES:
            app = on_page(each, model=model)
            assert not app.exception, (model, each)
            assert not app.error, (model, each)


# Every quoted name in the code of the pages, which includes every parameter of a link. The model and its texts stay valid.
NAMES = {name for file in (ROOT / "pages").rglob("*.py") for name in re.findall(r'"([a-z_]+)"', file.read_text())}
KEPT_VALID = {"model", "source", "target", "batch", "batch_targets"}


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("value", ["", "1e999", "<b>"])
def test_page_takes_any_value_in_a_link(page: str, value: str) -> None:
    app = on_page(page, **dict.fromkeys(sorted(NAMES - KEPT_VALID), value))
    assert not app.exception
    assert not app.error


@pytest.mark.few_cases(4)
def test_computed_part_is_sent_when_open(page: str) -> None:
    if page.startswith("pages/layers"):
        pytest.skip("the parts of Layers have tests of their own")
    app = on_page(page, computed="true")
    (unfolded,) = [each for each in app.expander if each.label == texts("common")["computed"]]
    assert unfolded.code
    assert unfolded.markdown
    assert not app.exception
