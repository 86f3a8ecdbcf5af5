"""The models that come with Headlight (shipped models), and the snapshots from their training."""

import logging
from pathlib import Path

from transformer.assets import assets
from transformer.errors import CheckpointError, InputError
from transformer.pipeline.checkpoint import read_card
from transformer.pipeline.snapshots import SIGN, parse_snapshot_name, saved_steps, snapshot_file, snapshot_name

CHECKPOINTS = assets() / "checkpoints"
SUFFIX = ".safetensors"
LOG = logging.getLogger("headlight")


def available(folder: Path = CHECKPOINTS) -> dict[str, str]:
    """The models in a folder, by default those that come with Headlight: name → description in one line. A file that is
    truncated, was not written by Headlight or has no card (record of the training) is left out with a warning in the log, so
    that the other models stay usable. The tensors are not checked; `Pipeline.load` does this."""
    descriptions = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            descriptions[path.stem] = read_card(path).description
        except CheckpointError as error:
            LOG.warning("a shipped model is left out: %s", error)
    return descriptions


def snapshots(name: object) -> tuple[int, ...]:
    """The training steps after which snapshots of a model that comes with Headlight were saved, in order; empty if there are no
    snapshots, or no such model."""
    return saved_steps(CHECKPOINTS, name) if isinstance(name, str) and name in available() else ()


def model_file(name: object, folder: Path = CHECKPOINTS) -> Path:
    """The path of the checkpoint file of a model, such as `reverse`, or of a snapshot of its training, such as
    `reverse@000316`. By default, `folder` has the models that come with Headlight.

    Raises:
        InputError: there is no such model or snapshot in the folder; the message lists the existing ones.
    """
    shipped = available(folder)
    if isinstance(name, str) and name in shipped:
        return folder / f"{name}{SUFFIX}"
    if isinstance(name, str) and SIGN in name:
        return _snapshot(name, shipped, folder)
    raise InputError(
        "There is no model {name!r}; shipped are {shipped}. No file has this name; `Pipeline.load` takes a path as a Path.",
        name=name,
        shipped=", ".join(shipped) or "none",
    )


def _snapshot(name: str, shipped: dict[str, str], folder: Path) -> Path:
    """The file of a snapshot. Raises `InputError` if there is no such snapshot."""
    model, step = parse_snapshot_name(name) or (name.partition(SIGN)[0], None)
    steps = saved_steps(folder, model) if model in shipped else ()
    if step is not None and step in steps:
        return snapshot_file(folder, model, step)
    if steps:
        raise InputError(
            "There is no snapshot {name!r}. Those of {model!r} were saved after these steps: {steps}; their names have six "
            "digits, such as {example!r}.",
            name=name,
            model=model,
            steps=", ".join(map(str, steps)),
            example=snapshot_name(model, steps[-1]),
        )
    raise InputError(
        "There is no snapshot {name!r}; shipped models with snapshots are {models}.",
        name=name,
        models=", ".join(each for each in shipped if saved_steps(folder, each)) or "none",
    )
