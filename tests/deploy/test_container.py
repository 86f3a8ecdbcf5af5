"""The container file passes its linter, and has the properties that a host relies on."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.app_server import ROOT

CONTAINERFILE = ROOT / "deploy" / "Containerfile"
# pip installs hadolint beside Python, in a folder that may not be on the PATH.
HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")


def instructions() -> list[tuple[str, str]]:
    """(instruction, arguments) pairs. Continued lines are joined, and comments are left out."""
    text = "\n".join(line for line in CONTAINERFILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return [(name, " ".join(rest.split())) for name, _, rest in (line.partition(" ") for line in lines)]


def arguments(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


@pytest.mark.skipif(HADOLINT is None, reason="hadolint has no package for this system")
def test_the_linter_finds_nothing() -> None:
    check = subprocess.run([str(HADOLINT), "--no-color", CONTAINERFILE], capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout


def test_the_container_does_not_run_as_root() -> None:
    (user,) = arguments("USER")
    assert int(user) > 0
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("CMD")
    # The files of the app belong to root, so the app cannot change them.
    assert not any("--chown" in copied for copied in arguments("COPY"))


def test_torch_is_the_cpu_build_of_the_pinned_version() -> None:
    (index,) = arguments("ARG")
    assert index.endswith("/whl/cpu")
    (pin,) = re.findall(r"^torch==\S+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    install = next(command for command in arguments("RUN") if "pip install" in command)
    assert f'--index-url "$TORCH_INDEX" {pin} &&' in install


def test_the_health_check_asks_the_port_that_the_app_serves() -> None:
    (port,) = arguments("EXPOSE")
    (health,) = arguments("HEALTHCHECK")
    assert f"http://127.0.0.1:{port}/_stcore/health" in health
    assert f"--server.port={port}" in arguments("CMD")[-1]


def test_all_copied_files_exist_and_include_the_parts_of_the_app() -> None:
    copied = [source for line in arguments("COPY") for source in line.split()[:-1]]
    assert all((ROOT / source).exists() for source in copied)
    assert {"app.py", ".streamlit", "transformer", "pages", "assets"} <= set(copied)
