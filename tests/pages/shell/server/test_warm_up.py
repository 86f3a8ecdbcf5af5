"""The work of a server before its first visitor."""

import subprocess
import sys

from benchmarks.app_server import ROOT

CODE = """
import sys
from pages.shell.server.warm_up import ANY_TEXT, get_ready
from pages.shell.models.catalogue import available
from pages.shell.view.runs import runs
from pages.ui.caches import RESULTS
from transformer.tasks import TASKS

get_ready()
for name in available():
    assert RESULTS.has(runs()._loaded, name), name
    task = TASKS.get(runs().pipeline(name).card.task)
    first = task.examples[0].source if task else ANY_TEXT
    assert RESULTS.has(runs().trace, name, (first,), (None,), ()), name
imported = [name for name in sys.modules if name.startswith("pages.")]
assert "pages.attention.all_heads_view" in imported
assert not [name for name in imported if name.endswith(".page")]
"""


def test_every_model_is_loaded_and_no_page_is_drawn() -> None:
    run = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
