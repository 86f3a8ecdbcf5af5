"""`Film`: a recording of the training of any module, in one file that the page *Watch it learn* opens.

    film = Film(model, (source_ids, target_ids), every=100, path="run.safetensors")
    for batch in batches:
        loss = train_step(batch)
        film(loss)              # the one line in the loop
    film.save()

The film consists of frames. A frame has the attention weights for some texts, and the norm of every parameter, at one step.
The model may be any module whose attentions `transformer.watch` recognises.
"""

import math
import os
import time
import warnings
from array import array
from collections.abc import Iterator, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor, nn

from transformer.errors import CheckpointError, InputError
from transformer.pipeline.checkpoint import as_path, as_place, write_whole
from transformer.training.film_file import MOST_LOSSES, MOST_PARTS, OwnRun, run_bytes
from transformer.watching.watch import check_module, watch
from transformer.watching.watched import Watched

LOSS_BYTES, STEP_BYTES = 12, 12  # bytes in the file: of a loss and the number of its step; of the number of a frame's step
LEVELS = 255  # a weight from 0 to 1 is stored as a whole number from 0 to this one
NONE = "This module has no attention that is recognised; name its weights with names={{'path': 'batch head query key'}}."


class Film:
    """Records a training as frames: the attention weights for some texts, and the norms of the parameters. Call the film once
    after each step, and `save` at the end.

    The first frame is taken at once, and the last by `save`. Between them, a frame is due every `every` steps. It is delayed if
    all frames would otherwise take more than `share` of the training time. If there are more frames than fit into the file,
    every second frame is dropped, and `every` is doubled. At most 20,000 losses are written, in at most a quarter of the file;
    more losses are averaged in groups. If a frame fails, for example because memory is short, a warning gives the reason, no
    more frames are taken, and the training goes on.

    Args:
        model: the module that is trained. For a frame it runs in evaluation mode; then its former mode is restored.
        texts: the arguments with which the module is called for a frame: a tensor, several in a tuple, or a mapping of names to
            tensors, such as a tokenizer returns.
        every: steps between two frames.
        path: where `save` writes the file.
        tokens, names: labels of the tokens, and names of the axes of tensors, as in `transformer.watch`; None to give none.
        megabytes: the largest size of the file, in units of 2²⁰ bytes.
        share: the share of the training time that frames may take, above 0 and up to 1. With 1, no frame is delayed.

    Attributes:
        step: number of the last step.
        every: steps between two frames now; doubled each time that frames are dropped.
        frame_bytes: bytes of one frame.
        most_frames: how many frames fit into the file.
        seconds: time that the frames have taken so far.
        failed: whether a frame after the first frame failed.

    Raises:
        InputError: the module fails on the texts, or has no attention that is recognised; an argument is not valid; or fewer
            than two frames fit into the file.
    """

    def __init__(
        self,
        model: nn.Module,
        texts: Any,
        every: int = 100,
        path: str | Path = "run.safetensors",
        tokens: Any = None,
        names: Mapping[str, str] | None = None,
        megabytes: float = 20.0,
        share: float = 0.03,
    ) -> None:
        check_module("model", model)
        _check_numbers(every, megabytes, share)
        _check_place(as_path(path))
        self.model, self.every, self.path, self.share = model, every, as_path(path), share
        self._inputs, self._tokens, self._names = _as_inputs(texts), tokens, names
        self.step, self.seconds = 0, 0.0
        self._started, self._due = time.perf_counter(), every
        self._loss_steps, self._losses = array("q"), array("f")
        self._most_losses = max(1, min(MOST_LOSSES, int(megabytes * 2**18 // LOSS_BYTES)))
        self.failed = False
        self._steps: list[int] = []
        self._weights: list[dict[str, UInt8[np.ndarray, "text head query key"]]] = []
        self._norms: list[list[float]] = []
        self._record()
        if not self.first.attentions:
            raise InputError(NONE)
        self.frame_bytes = sum(weights.nbytes for weights in self._weights[0].values()) + 4 * len(self._norms[0])
        heading = len(run_bytes(self.run(), 0)) - self.frame_bytes
        room = megabytes * 2**20 - heading - LOSS_BYTES * self._most_losses
        self.most_frames = int(room // (self.frame_bytes + STEP_BYTES))
        if self.most_frames < 2:
            template = (
                "A frame takes {size:.1f} MB and the file may take {most} MB; give fewer or shorter texts, or allow more."
            )
            raise InputError(template, size=self.frame_bytes / 2**20, most=megabytes)

    def __repr__(self) -> str:
        size = self.frame_bytes / 2**20
        return f"Film of {len(self._steps)} frames; up to {self.most_frames} frames of {size:.2f} MB each fit into its file."

    def __call__(self, loss: Any = None, step: int | None = None) -> None:
        """Count a step of the training, and record a frame if one is due.

        Args:
            loss: the loss of the step: a number, or a tensor with one. None if it is not known.
            step: the number of the step; None for one more than the last step.

        Raises:
            InputError: the loss is not a number; or the step is not a whole number, or is below the last step.
        """
        count = self.step + 1 if step is None else step
        if isinstance(count, bool) or not isinstance(count, Integral) or count < self.step:
            raise InputError("step is {step!r}; the last one was {last}, and steps only grow.", step=step, last=self.step)
        self.step = count = int(count)
        if loss is not None:
            self.note_loss(loss)
        elapsed = time.perf_counter() - self._started
        if count >= self._due and may_record(self.seconds, len(self._steps), elapsed, self.share):
            self._record_or_warn()
            self._due = count + self.every

    def note_loss(self, loss: Any) -> None:
        """Record the loss of the present step.

        Raises:
            InputError: `loss` is not a number.
        """
        refused = InputError("loss is {loss!r}; a number is needed.", loss=loss)
        if isinstance(loss, str | bytes):
            raise refused
        try:
            value = float(loss.detach() if isinstance(loss, Tensor) else loss)
        except (TypeError, ValueError, OverflowError, RuntimeError):
            raise refused from None
        self._loss_steps.append(self.step)
        self._losses.append(value)

    def run(self) -> OwnRun:
        """The recording so far: its frames and losses."""
        weights = {path: np.stack([frame[path] for frame in self._weights]) for path in self.first.attentions}
        labels = {path: self._labels(path) for path in self.first.attentions}
        return OwnRun(
            tuple(self._steps),
            np.array(self._loss_steps, np.int64),
            np.array(self._losses, np.float32),
            tuple(self._parts),
            np.array(self._norms, np.float32),
            weights,
            labels,
        )

    def save(self, path: str | Path | None = None) -> None:
        """Record the last frame, and write the file.

        Args:
            path: where to write the file; None for the path that the constructor was given.

        Raises:
            CheckpointError: the file cannot be written.
        """
        if self._steps[-1] != self.step:
            self._record_or_warn()
        write_whole(self.path if path is None else as_path(path), run_bytes(self.run(), self._most_losses))

    # --- one frame -----------------------------------------------------------------------------------------------------------

    def _record_or_warn(self) -> None:
        """Record a frame. If this fails, only warn: a training of hours must not end because of its film."""
        if self.failed:
            return
        try:
            self._record()
        except Exception as error:  # noqa: BLE001 (the module, or memory, may fail in any way)
            self.failed = True
            warnings.warn(f"The film stops at step {self.step}: {error}", RuntimeWarning, stacklevel=3)
        else:
            self._thin()

    def _record(self) -> None:
        start = time.perf_counter()
        watched = self._watched()
        if not self._steps:
            self.first = watched
            self._parts = [name for name, _ in self.model.named_parameters()][:MOST_PARTS]
        weights = {path: _levels(watched.weights(path)) for path in self.first.attentions}
        parameters = dict(self.model.named_parameters())
        with torch.no_grad():
            norms = [float(parameters[name].float().norm()) for name in self._parts]
        self._steps.append(self.step)
        self._weights.append(weights)
        self._norms.append(norms)
        self.seconds += time.perf_counter() - start

    def _watched(self) -> Watched:
        """The tensors of the module on the texts, in evaluation mode."""
        training = [module for module in self.model.modules() if module.training]
        self.model.eval()
        try:
            parameter = next(self.model.parameters(), None)
            # The model may have moved since the film began.
            given, named = self._inputs if parameter is None else _moved(self._inputs, parameter.device)
            return watch(self.model, *given, names=self._names, tokens=self._tokens, **named)
        finally:
            for module in training:
                module.training = True

    def _thin(self) -> None:
        """Drop every second frame and double `every` while there are too many frames; the first and the last frame stay."""
        while len(self._steps) > self.most_frames:
            last = len(self._steps) - 1
            kept = [index for index in range(last) if index % 2 == 0 and index != last - 1] + [last]
            self._steps = [self._steps[index] for index in kept]
            self._weights = [self._weights[index] for index in kept]
            self._norms = [self._norms[index] for index in kept]
            self.every *= 2

    def _labels(self, path: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
        """The tokens of the queries and of the keys of an attention, for each text."""
        return tuple(self.first.labels(path, item) for item in range(len(self.first.weights(path))))


def may_record(spent: float, frames: int, elapsed: float, share: float) -> bool:
    """Whether all frames stay within their share of the training time after one more frame, which is assumed to take as long
    as the earlier frames on average.

    Args:
        spent: seconds that the frames have taken.
        frames: the number of these frames.
        elapsed: seconds since the recording began, including the frames.
        share: the share of the time that frames may take, above 0 and up to 1. With 1, the result is True.
    """
    return share == 1 or spent + spent / frames <= share * elapsed


def _levels(weights: Tensor) -> UInt8[np.ndarray, "text head query key"]:
    """Weights from 0 to 1 as whole numbers from 0 to `LEVELS`; 0 for a number that is not finite."""
    return (weights.float().nan_to_num(0.0, 0.0, 0.0).clamp(0, 1) * LEVELS).round().to(torch.uint8).cpu().numpy()


def _moved(values: Any, device: torch.device) -> Any:
    """The values, with all tensors in them on a device."""
    if isinstance(values, Tensor):
        return values.to(device)
    if isinstance(values, Mapping):
        return {name: _moved(each, device) for name, each in values.items()}
    return tuple(_moved(each, device) for each in values) if isinstance(values, tuple | list) else values


def _as_inputs(texts: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional arguments and the keyword arguments of the module.

    Raises:
        InputError: `texts` is empty, contains itself, has a tensor on the device meta, which has no numbers, or is neither a
            tensor, nor a tuple or list, nor a mapping with strings as keys.
    """
    refused = InputError(
        "texts must be a tensor, several in a tuple, or a mapping of names to tensors, not {texts!r}.", texts=texts
    )
    try:
        if any(tensor.is_meta for tensor in _tensors(texts)):
            raise InputError("texts has a tensor on the device meta, so it has no numbers.")
    except RecursionError:
        raise refused from None
    if isinstance(texts, Tensor):
        return (texts,), {}
    if isinstance(texts, Mapping) and texts and all(isinstance(name, str) for name in texts):
        return (), dict(texts)
    if isinstance(texts, tuple | list) and texts:
        return tuple(texts), {}
    raise refused


def _tensors(values: Any) -> Iterator[Tensor]:
    """All tensors in the values."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, Mapping | tuple | list):
        for each in values.values() if isinstance(values, Mapping) else values:
            yield from _tensors(each)


def _check_place(path: Path) -> None:
    """Make the folder of this path and check that a file can be written there: a training must not end without its film. Raises
    `InputError` if not."""
    try:
        place = as_place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        writable = os.access(place.parent, os.W_OK)
    except (CheckpointError, OSError, ValueError):  # a ValueError: the path has a null character
        writable = False
    if not writable:
        raise InputError("path is {path!r}; no file can be written there.", path=str(path))


def _check_numbers(every: Any, megabytes: Any, share: Any) -> None:
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise InputError("every is {every!r}; allowed are whole numbers from 1.", every=every)
    if not _is_number(megabytes) or not 0 < megabytes < math.inf:
        raise InputError("megabytes is {megabytes!r}; allowed are numbers above 0.", megabytes=megabytes)
    if not _is_number(share) or not 0 < share <= 1:
        raise InputError("share is {share!r}; allowed are numbers above 0 up to 1.", share=share)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
