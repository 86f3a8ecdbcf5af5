"""The work of a server before its first visitor."""

import os
import subprocess
import sys

import pytest

from benchmarks.app_server import ROOT
from tests.transformer.huggingface.tiny import folder_of

CODE = """
import sys
from pages.shell.server.warm_up import get_ready
from pages.shell.models.catalogue import available
from pages.shell.models.model_examples import starts
from pages.shell.view.runs import runs
from pages.ui.caches import RESULTS

get_ready()
for name in available():
    assert RESULTS.has(runs()._loaded, name), name
    assert RESULTS.has(runs().trace, name, (starts(name)[0].source,), (None,), ()), name
imported = [name for name in sys.modules if name.startswith("pages.")]
assert "pages.attention.all_heads_view" in imported
assert not [name for name in imported if name.endswith(".page")]
assert "transformers" not in sys.modules
"""
OF_FOLDERS = """
import sys
from pages.shell.server.warm_up import import_for_folders

import_for_folders()
assert "transformers.modeling_utils" in sys.modules
"""


@pytest.mark.slow
def test_every_model_is_loaded_and_no_page_is_drawn() -> None:
    run = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "ScriptRunContext" not in run.stderr  # nothing asks for the models of a session, because there is none


@pytest.mark.slow
def test_the_packages_for_models_of_folders_are_imported_if_there_are_some() -> None:
    given = os.environ | {"HEADLIGHT_MODELS": str(folder_of("gpt2"))}
    run = subprocess.run([sys.executable, "-c", OF_FOLDERS], cwd=ROOT, env=given, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
