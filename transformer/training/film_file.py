"""`OwnRun`: a recording of a training of any module, and its file: safetensors with JSON in the metadata."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt8
from safetensors.numpy import save

from transformer.errors import CheckpointError
from transformer.pipeline.checkpoint import read_safetensors
from transformer.pipeline.foreign_file import ForeignFile, are_texts
from transformer.tracing.paths import check_index
from transformer.tracing.trace import as_array

FORMAT, VERSION = "headlight-film", "1"
MOST_FRAMES, MOST_PARTS, MOST_ATTENTIONS, MOST_LOSSES = 10_000, 5_000, 1_000, 20_000
LONGEST_NAME = 500  # characters of a name or of a token

# For each text, the tokens of the queries and of the keys.
Labels = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


class OwnRun(NamedTuple):
    """A recording of a training: losses, and frames. A frame has the attention weights for some texts and the norms of the
    parameters at one step.

    Attributes:
        steps: for each frame, the number of steps done.
        loss_steps, losses: for each loss that was noted, its step and its value.
        parts: names of the parameters.
        norms: the 2-norm of each parameter in each frame.
        levels: path of an attention → its weights in each frame, as whole numbers from 0 to 255.
        labels: path of an attention → for each text, the tokens of its queries and of its keys.
    """

    steps: tuple[int, ...]
    loss_steps: Int[np.ndarray, " loss"]
    losses: Float[np.ndarray, " loss"]
    parts: tuple[str, ...]
    norms: Float[np.ndarray, "frame part"]
    levels: Mapping[str, UInt8[np.ndarray, "frame text head query key"]]
    labels: Mapping[str, Labels]

    def weights(self, path: str, frame: int, text: int = 0) -> Float[np.ndarray, "head query key"]:
        """The weights of the attention at `path`, rounded to 1/255, in one frame and for one text, both counted from 0.

        Raises:
            CheckpointError: there is no such attention.
            PathError: there is no such frame or text.
        """
        if path not in self.levels:
            raise CheckpointError(
                "The film has no attention {path!r}; it has {names}.", path=path, names=", ".join(self.levels)
            )
        levels = self.levels[path]
        check_index("frame", frame, len(levels))
        check_index("text", text, levels.shape[1])
        return levels[frame, text].astype(np.float32) / 255

    def at(self, frame: int) -> float:
        """The loss at a frame, counted from 0: the mean of the losses that were noted after the frame before and up to this
        frame; NaN if there are no such losses."""
        start = self.steps[frame - 1] if frame else -1
        between = (self.loss_steps > start) & (self.loss_steps <= self.steps[frame])
        return float(self.losses[between].mean()) if between.any() else float("nan")


def run_bytes(run: OwnRun, most_losses: int = MOST_LOSSES) -> bytes:
    """The contents of a file with the recording `run`, which `read_run` reads. If there are more than `most_losses` losses,
    they are averaged in `most_losses` groups of about equal size."""
    steps, losses = run.loss_steps, run.losses
    if len(losses) > most_losses:
        groups = np.array_split(np.arange(len(losses)), most_losses)
        steps = np.array([steps[group[-1]] for group in groups])
        losses = np.array([losses[group].mean() for group in groups], np.float32)
    paths = [*run.levels]
    tensors = {"loss_steps": steps.astype(np.int64), "losses": losses, "norms": run.norms}
    tensors |= {f"levels.{index}": run.levels[path] for index, path in enumerate(paths)}
    metadata = {"steps": run.steps, "parts": run.parts, "paths": paths, "labels": [run.labels[path] for path in paths]}
    return save(tensors, {FORMAT: VERSION} | {name: json.dumps(value, ensure_ascii=False) for name, value in metadata.items()})


def read_run(data: bytes, name: str = "run.safetensors") -> OwnRun:
    """The recording in `data`: the contents of a file that `run_bytes` made. The file may come from an untrusted source, so
    every part is checked, and no code from the file is run.

    Raises:
        CheckpointError: `data` is not such a file; the message calls the file `name`.
    """
    metadata, tensors = read_safetensors(data, name)
    file = ForeignFile(name, "the film of a training")
    if metadata.get(FORMAT) != VERSION:
        raise file.refused("`Film` did not write it")
    steps, parts, paths, labels = (file.json(metadata, part) for part in ("steps", "parts", "paths", "labels"))
    file.need(_whole(steps) and 0 < len(steps) <= MOST_FRAMES and steps == sorted({*steps}), "steps")
    file.need(
        are_texts(parts, MOST_PARTS, LONGEST_NAME)
        and are_texts(paths, MOST_ATTENTIONS, LONGEST_NAME)
        and len({*paths}) == len(paths) > 0,
        "names",
    )
    file.need({*tensors} == {"loss_steps", "losses", "norms", *(f"levels.{index}" for index in range(len(paths)))}, "tensors")
    arrays = {key: as_array(tensor) for key, tensor in tensors.items()}
    loss_steps, losses, norms = arrays["loss_steps"], arrays["losses"], arrays["norms"]
    file.need(loss_steps.dtype == np.int64 and losses.dtype == np.float32, "losses")
    file.need(loss_steps.ndim == 1 and loss_steps.shape == losses.shape and len(losses) <= MOST_LOSSES, "losses")
    file.need(norms.dtype == np.float32 and norms.shape == (len(steps), len(parts)), "norms")
    levels = {path: arrays[f"levels.{index}"] for index, path in enumerate(paths)}
    file.need(isinstance(labels, list) and len(labels) == len(paths), "labels")
    for path, rows in zip(paths, labels, strict=True):
        shape = levels[path].shape
        file.need(levels[path].dtype == np.uint8 and len(shape) == 5 and shape[0] == len(steps) and min(shape) > 0, "levels")
        file.need(_labels(rows, shape), "labels")
    named = {path: tuple((tuple(q), tuple(k)) for q, k in rows) for path, rows in zip(paths, labels, strict=True)}
    return OwnRun(tuple(steps), loss_steps, losses, tuple(parts), norms, levels, named)


def _labels(rows: Any, shape: tuple[int, ...]) -> bool:
    """Whether `rows` has, for each text, a list of tokens as long as the queries and another as long as the keys. `shape` is
    that of the attention's weights, as in `OwnRun.levels`."""
    if not isinstance(rows, list) or len(rows) != shape[1]:
        return False
    pairs = all(isinstance(row, list) and len(row) == 2 for row in rows)
    return pairs and all(
        are_texts(each, size, LONGEST_NAME) and len(each) == size
        for row in rows
        for each, size in zip(row, shape[3:], strict=True)
    )


def _whole(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(number) is int and 0 <= number < 1 << 62 for number in numbers)
