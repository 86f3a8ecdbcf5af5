"""Snapshots: checkpoints saved while a shipped model was trained, each named by model and step, such as `reverse@000316`."""

import re
from pathlib import Path

FOLDER = "snapshots"  # beside the shipped checkpoints, with a folder for each model
SIGN = "@"
DIGITS = 6


def snapshot_name(model: str, step: int) -> str:
    """The name of the snapshot of a model after `step` training steps, such as `reverse@000316`."""
    return f"{model}{SIGN}{step:0{DIGITS}d}"


def parse_snapshot_name(name: str) -> tuple[str, int] | None:
    """The model and the step in the name of a snapshot, such as `reverse@000316`; None if the text is not such a name."""
    match = re.fullmatch(rf"(.+){SIGN}([0-9]{{{DIGITS}}})", name, re.DOTALL)
    return (match[1], int(match[2])) if match else None


def snapshot_file(checkpoints: Path, model: str, step: int) -> Path:
    """The path of the file of a model's snapshot after `step` training steps, whether the file exists or not. `checkpoints` is
    the folder of the models."""
    return checkpoints / FOLDER / model / f"{step:0{DIGITS}d}.safetensors"


def saved_steps(checkpoints: Path, model: str) -> tuple[int, ...]:
    """The training steps after which snapshots of a model were saved in the folder `checkpoints`, in order; empty if there are
    no snapshots."""
    names = (path.stem for path in (checkpoints / FOLDER / model).glob("*.safetensors"))
    return tuple(sorted(int(name) for name in names if re.fullmatch(rf"[0-9]{{{DIGITS}}}", name)))
