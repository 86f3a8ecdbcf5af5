"""Tests of the settings that a program makes for its process."""

import gc
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from transformer import process

# Prints how much memory of freed blocks the process keeps, and how much after it was returned, as shares of the blocks.
KEPT = """
import resource
from transformer.process import return_freed_memory, reuse_freed_memory

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

reuse_freed_memory()
before = resident()
blocks = [b"x" * (1 << 19) for _ in range(128)]
del blocks
print((resident() - before) / (64 << 20))
return_freed_memory()
print((resident() - before) / (64 << 20))
"""


@pytest.mark.slow
@pytest.mark.skipif(not process.has_glibc(), reason="the C library is not glibc")
def test_freed_memory_is_reused_until_it_is_returned() -> None:
    """The effect of the limit on large blocks is tested with the app (`tests/test_app.py`)."""
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    kept, returned = map(float, done.stdout.split())
    assert kept > 0.9
    assert returned < 0.1


def test_a_program_with_another_c_library_has_no_glibc(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_bytes(b"\x7fELF /lib/ld-musl-x86_64.so.1")
    assert not process.has_glibc(str(program))


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        ((1_024, 20_000), 8_192),
        ((1_024, 4_096), 4_096),
        ((1_024, resource.RLIM_INFINITY), 8_192),
        ((10_000, 20_000), None),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), None),
    ],
)
def test_the_limit_on_files_is_raised_and_never_lowered(limits: tuple[int, int], allowed: int | None) -> None:
    """That the limit is set is tested with the app (`tests/test_app.py`)."""
    assert process.raised_limit(8_192, *limits) == (limits[0] if allowed is None else allowed)


def test_the_number_of_threads_holds_in_every_thread() -> None:
    before, counts = torch.get_num_threads(), []
    try:
        process.use_threads(2)
        thread = threading.Thread(target=lambda: counts.append(torch.get_num_threads()))
        thread.start()
        thread.join()
    finally:
        process.use_threads(before)
    assert counts == [2]


@pytest.mark.slow
def test_a_collection_skips_objects_that_existed_before() -> None:
    before = gc.get_freeze_count()
    try:
        process.ignore_present_objects()
        assert gc.get_freeze_count() > before
        assert len(gc.get_objects()) < gc.get_freeze_count()
    finally:
        gc.unfreeze()


@pytest.mark.slow
def test_nothing_loads_the_compiler_of_pytorch() -> None:
    """The compiler would take 80 MB of a server's memory."""
    script = """
import sys
import torch
from transformer.analysis.ledger import counted
from transformer.training.recipe import recipe
from transformer.training.run import Training

training = Training("reverse", recipe("reverse").replace(steps=1, batch=2, check_pairs=1))
training.advance()
counted(training.model, torch.ones(1, 3, dtype=torch.long), torch.ones(1, 3, dtype=torch.long))
print("torch._dynamo" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
