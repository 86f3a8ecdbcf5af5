"""The settings for uv name the packages of requirements.txt, with the CPU build of torch."""

import re
import tomllib
from urllib.parse import urlsplit

import pytest

from benchmarks.app_server import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = ROOT / "uv.lock"
PUBLIC_HOSTS = {"pypi.org", "files.pythonhosted.org", "download.pytorch.org", "download-r2.pytorch.org"}


def test_uv_and_pip_install_the_same_packages() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line.replace("'", '"') for line in PROJECT["project"]["dependencies"]] == [
        line for line in lines if line and not line.startswith("#")
    ]


def test_the_extra_for_models_of_hugging_face_is_the_same_for_uv_and_pip() -> None:
    lines = (ROOT / "requirements-huggingface.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if line and not line.startswith(("#", "-r"))]
    assert PROJECT["project"]["optional-dependencies"]["huggingface"] == pinned
    assert all("==" in line for line in pinned)


def test_torch_comes_from_the_cpu_index_and_nothing_else_does() -> None:
    uv = PROJECT["tool"]["uv"]
    (index,) = uv["index"]
    assert index["url"].endswith("/whl/cpu")
    assert index["explicit"]
    assert {name: [source["index"] for source in sources] for name, sources in uv["sources"].items()} == {
        "torch": [index["name"]]
    }
    assert uv["pip"]["torch-backend"] == "cpu"


def test_the_oldest_supported_python_is_the_version_that_is_checked() -> None:
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert PROJECT["tool"]["pyrefly"]["python-version"] == oldest
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + oldest.replace(".", "")


@pytest.mark.skipif(not LOCK.exists(), reason="no uv.lock in the repository")
def test_a_lock_names_only_public_hosts() -> None:
    addresses = re.findall(r'https?://[^"\s]+', LOCK.read_text(encoding="utf-8"))
    assert {urlsplit(address).hostname for address in addresses} <= PUBLIC_HOSTS
