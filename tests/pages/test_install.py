"""The wheel: what it holds, and the app and the library in an environment in which it is installed.

The environment is new, except that it also finds the packages of this one, so that torch is not installed again. The current
folder of its processes is an empty one, so the repository is not found.
"""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from benchmarks.app_server import ROOT, Server, free_port, started
from tests.pages.visitor import Visitor

# Streamlit's own variables: no browser is opened, and only this machine can reach the server.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
    "STREAMLIT_SERVER_HEADLESS": "true",
    "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
}
# The folder of the programs of an environment, which is `Scripts` on Windows.
PROGRAMS = Path(sysconfig.get_path("scripts")).name
TRAINING = """
from transformer.training.live_run import LiveTraining
from transformer.training.training_settings import LiveSettings

training = LiveTraining(LiveSettings(task="reverse", steps=2))
training.start()
training.join()
print(training.progress.status, training.progress.step)
"""


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Run a command to its end; returns its output. The test fails if the command fails."""
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `pip install .` builds and installs."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ("--no-index", "--no-deps", "--no-build-isolation")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", *offline, "--wheel-dir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment with the wheel."""
    environment = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / PROGRAMS / "python"
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (packages / "packages_of_the_tests.pth").write_text(sysconfig.get_path("purelib"))
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", wheel)
    return python.parent


@pytest.fixture
def served(programs: Path, tmp_path: Path) -> Iterator[Server]:
    """A server that the command `headlight` has started in another folder, with one model that cannot be read."""
    (tmp_path / "models" / "mine").mkdir(parents=True)
    port = free_port()
    command = [str(programs / "headlight"), "--port", str(port), "--models", "models"]
    with started(command, port, tmp_path, ENVIRONMENT) as server:
        yield server


def test_the_wheel_is_small_and_has_all_files_of_the_app_and_no_module_that_shadows_others(wheel: Path) -> None:
    assert wheel.stat().st_size <= 40_000_000
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"headlight", "transformer"}
    files = [Path("app.py")]
    for folder in ("transformer", "pages", "assets", ".streamlit"):
        files += [file.relative_to(ROOT) for file in (ROOT / folder).rglob("*") if file.is_file()]
    paths = {file.as_posix() for file in files if "__pycache__" not in file.parts}
    assert {path if path.startswith("transformer/") else f"headlight/{path}" for path in paths} <= names


@pytest.mark.slow
def test_programs_elsewhere_do_not_import_the_modules_of_the_app(programs: Path, tmp_path: Path) -> None:
    names = ("app", "assets", "pages", "transformer")
    code = f"from importlib.util import find_spec; print([name for name in {names} if find_spec(name)])"
    assert run(programs / "python", "-c", code, folder=tmp_path) == "['transformer']\n"


@pytest.mark.slow
def test_the_notebook_runs_in_another_folder(programs: Path, tmp_path: Path) -> None:
    cells = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    place = "import transformer, sys; assert transformer.__file__.startswith(sys.prefix)"
    run(programs / "python", "-c", "\n".join([place, *code]), folder=tmp_path)


@pytest.mark.slow
def test_the_command_for_hand_in_codes_reads_them_in_another_folder(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text("ada,nonsense")
    header, line = run(programs / "headlight-check-codes", "codes.csv", folder=tmp_path).splitlines()
    assert header.startswith("name,lesson,")
    assert line.startswith("ada,")


@pytest.mark.slow
def test_a_training_in_its_own_process_runs(programs: Path, tmp_path: Path) -> None:
    # A module of the standard library is not replaced by a file in the current folder.
    (tmp_path / "random.py").write_text("raise AssertionError")
    assert run(programs / "python", "-P", "-c", TRAINING, folder=tmp_path) == "done 2\n"


@pytest.mark.slow
@pytest.mark.browser
def test_the_command_serves_the_app_and_the_models_of_a_folder(known: BrowserContext, served: Server) -> None:
    visitor = Visitor(known, served.address)
    page = visitor.open("attention?model=reverse&source=abc&layer=2&head=3")
    expect(page.locator("h1")).to_have_text("Attention")
    expect(page.locator(".head_grid[data-painted]").first).to_be_visible()
    expect(page.get_by_text("Models in folders: 1, 1 not readable")).to_be_visible()
    visitor.close()
    assert visitor.complaints == []
