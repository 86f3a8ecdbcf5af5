"""The models that come with Headlight: shipped models, and snapshots from their training."""

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
    """The models in a folder, by default the shipped ones, as name → description. A file that is truncated, is not one of ours
    or has no card is left out with a warning in the log, so that the other models stay usable. Only `Pipeline.load` checks the
    tensors."""
    descriptions = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            descriptions[path.stem] = read_card(path).description
        except CheckpointError as error:
            LOG.warning("a shipped model is left out: %s", error)
    return descriptions


def snapshots(name: object) -> tuple[int, ...]:
    """The steps after which snapshots of a shipped model were saved, in order; empty if there are none."""
    return saved_steps(CHECKPOINTS, name) if isinstance(name, str) and name in available() else ()


def model_file(name: object, folder: Path = CHECKPOINTS) -> Path:
    """The file of a model in `folder`, or of a snapshot such as `reverse@000316`. By default the folder is that of the shipped
    models.

    Raises:
        InputError: there is no such model or snapshot; the message lists those that exist.
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
