"""Tests of `app.py`, as `streamlit run` loads it when the server starts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOAD = """
import json, resource, runpy
import torch
from streamlit.runtime.pages_manager import PagesManager

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
runpy.run_path("app.py")

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def kept(size):
    before, count = resident(), (64 << 20) // size
    blocks = [b"x" * size for _ in range(count)]
    del blocks
    return (resident() - before) / (64 << 20)

print(json.dumps({
    "threads": torch.get_num_threads(),
    "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    "pages": PagesManager.uses_pages_directory,
    "kept": [kept(1 << 19), kept(4 << 20)],  # shares of the memory of freed blocks, of half a megabyte and of 4 megabytes
}))
"""


@pytest.mark.slow
def test_a_server_that_starts_sets_memory_threads_and_open_files() -> None:
    limits = {"HEADLIGHT_THREADS": "3", "HEADLIGHT_FILES": "500", "HEADLIGHT_REUSED_KILOBYTES": "1000"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD], capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ | limits
    )
    result = json.loads(done.stdout)
    small, large = result.pop("kept")
    assert result == {"threads": 3, "files": 500, "pages": False}
    assert small > 0.9
    assert large < 0.1
