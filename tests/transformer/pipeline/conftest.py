"""Fixtures of the tests of checkpoints."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transformer.pipeline.checkpoints import checkpoint
from transformer.pipeline.checkpoint import save_checkpoint


@pytest.fixture(scope="session")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A valid checkpoint of a very small model. Do not change it."""
    path = tmp_path_factory.mktemp("checkpoints") / "small.safetensors"
    save_checkpoint(path, checkpoint(d_model=4, heads=2, d_ff=4, encoder_layers=1, decoder_layers=1))
    return path


@pytest.fixture(scope="session")
def data(path: Path) -> bytes:
    return path.read_bytes()


@pytest.fixture
def damaged(tmp_path: Path) -> Callable[[bytes], Path]:
    """Writes bytes to a file and returns its path."""

    def write(data: bytes) -> Path:
        (tmp_path / "damaged.safetensors").write_bytes(data)
        return tmp_path / "damaged.safetensors"

    return write
