"""Tests of snapshots of a training: they are listed from the files and loaded by name. An error lists the existing steps."""

from pathlib import Path

import pytest
import torch

from transformer import InputError, Pipeline
from transformer.pipeline import catalogue
from transformer.pipeline.snapshots import parse_snapshot_name, snapshot_name

SNAPSHOTS = catalogue.CHECKPOINTS / "snapshots"
MODELS = sorted(folder.name for folder in SNAPSHOTS.iterdir())


@pytest.mark.parametrize("model", MODELS)
def test_the_snapshots_of_a_model_are_its_files(model: str):
    steps = Pipeline.snapshots(model)
    assert [f"{step:06d}.safetensors" for step in steps] == sorted(path.name for path in (SNAPSHOTS / model).iterdir())
    assert steps[0] == (300 if model == "everyday" else 0)


def test_a_model_without_snapshots_has_none():
    assert Pipeline.snapshots("copy") == Pipeline.snapshots("no such model") == Pipeline.snapshots("../checkpoints") == ()


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("model", MODELS)
def test_a_snapshot_is_a_model_like_any_other(model: str):
    step = Pipeline.snapshots(model)[1]
    name = snapshot_name(model, step)
    snapshot, shipped = Pipeline.load(name), Pipeline.load(model)
    assert parse_snapshot_name(name) == (model, step)
    assert (snapshot.name, snapshot.config) == (name, shipped.config)
    assert snapshot.source_vocabulary == shipped.source_vocabulary
    assert snapshot.card.trained_on == step * snapshot.card.recipe["batch"]
    by_path = Pipeline.load(SNAPSHOTS / model / f"{step:06d}.safetensors")
    for (key, one), other in zip(snapshot.model.state_dict().items(), by_path.model.state_dict().values(), strict=True):
        assert torch.equal(one, other), key


def test_the_snapshot_of_the_last_step_is_the_shipped_model_in_half_precision():
    shipped = Pipeline.load("reverse")
    last = Pipeline.load(snapshot_name("reverse", shipped.card.recipe["steps"])).model.state_dict()
    for key, values in shipped.model.state_dict().items():
        assert torch.equal(last[key], values.half().float()), key


@pytest.mark.parametrize("name", ["reverse@000317", "reverse@316", "reverse@", "reverse@-00025", "reverse@000316@000316"])
def test_an_unknown_step_is_refused_with_those_that_exist(name: str):
    with pytest.raises(InputError, match=r"There is no snapshot '.*'") as refused:
        Pipeline.load(name)
    # A name with two signs contains no model's name, so the message lists the models that have snapshots.
    assert ("0, 25, 47" in str(refused.value)) == (not name.startswith("reverse@000316@"))
    assert "reverse" in str(refused.value)


@pytest.mark.parametrize("name", ["copy@000001", "@000000", "../checkpoints/reverse@000316", "@", "a@b\0"])
def test_a_snapshot_of_a_model_without_any_is_refused(name: str):
    with pytest.raises(InputError, match=r"shipped models with snapshots are .*reverse"):
        Pipeline.load(name)


def test_an_empty_folder_has_no_snapshots(tmp_path: Path):
    with pytest.raises(InputError, match="snapshots are none"):
        catalogue.model_file("reverse@000316", tmp_path)
