"""Tests of `open_model`: it opens a model by name or path."""

from contextlib import chdir
from pathlib import Path

import pytest

from transformer import HeadlightError, Pipeline, open_model


@pytest.mark.parametrize("name", ["reverse", "reverse@000316"])
def test_a_name_opens_a_shipped_model_or_a_snapshot(name: str) -> None:
    assert open_model(name).name == name


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_opens_a_checkpoint(tmp_path: Path, kind: type) -> None:
    shipped = Pipeline.load("reverse")
    shipped.save(tmp_path / "mine.safetensors")
    assert open_model(kind(tmp_path / "mine.safetensors")).answer("abc") == shipped.answer("abc")


def test_a_name_comes_before_a_folder(tmp_path: Path) -> None:
    (tmp_path / "reverse").mkdir()
    with chdir(tmp_path):
        assert open_model("reverse").name == "reverse"
        with pytest.raises(HeadlightError):
            open_model(Path("reverse"))


@pytest.mark.parametrize("name", ["", "nowhere", "a\0", "a" * 5000, Path("nowhere"), Path("a\0")])
def test_a_model_that_does_not_exist_is_refused(name: str | Path) -> None:
    with pytest.raises(HeadlightError):
        open_model(name)
