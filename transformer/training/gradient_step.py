"""One gradient step in detail: the loss of each token, the gradient of one weight, and Adam's computation for that weight."""

import copy
from collections.abc import Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer.analysis.checks import check_id_tensor, check_tensor, check_tokens
from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.pipeline.pipeline import Pipeline
from transformer.training.adam import BETAS, EPSILON, Adam
from transformer.validation import as_list, checked, within

NUDGE = 1e-4  # change of a weight to check its gradient
LARGEST_SETTING = 1_000_000
LARGEST_GRADIENT = 1e100  # its square is still a number

# Batches of one run differ in length, so their sizes are not compared.
Batch = tuple[Int[Tensor, "_ _"], Int[Tensor, "_ _"]]


class Weight(NamedTuple):
    """One trained number of a model.

    Attributes:
        name: name of its parameter, as in the checkpoint.
        index: its index in the parameter, with one number for each axis, counted from 0.
    """

    name: str
    index: tuple[int, ...]


class StepSettings(NamedTuple):
    """The settings of an optimiser step.

    Attributes:
        learning_rate: learning rate of the step.
        smoothing: ε of label smoothing, 0 to 1.
        clip: largest 2-norm of the gradient over all parameters; a longer gradient is scaled down.
    """

    learning_rate: float
    smoothing: float
    clip: float


class AdamUpdate(NamedTuple):
    """The numbers that Adam computes from the gradient of one weight (section 5.3).

    Attributes:
        number: number of the step, counted from 1.
        gradient: the gradient after clipping.
        mean_before, square_before: the running means of the gradient and of its square, before this step.
        mean, square: the running means after this step.
        corrected_mean, corrected_square: `mean` and `square` divided by 1 − βᵗ, because both start at 0.
        change: the number added to the weight: −learning rate · corrected mean / (√corrected square + ε).
    """

    number: int
    gradient: float
    mean_before: float
    square_before: float
    mean: float
    square: float
    corrected_mean: float
    corrected_square: float
    change: float


class OpenedStep(NamedTuple):
    """The numbers of one training step on a batch, in double precision and without dropout. Adam may have taken steps on
    earlier batches before.

    Attributes:
        losses: cross-entropy of each target token, padding included, in nats, with label smoothing.
        shares: the model's probability of each target token, 0 to 1.
        best: id of the most probable token at each position.
        counted: whether each target token counts: False for padding.
        loss_at_start: mean loss of the counted tokens of the last batch, before the steps on the earlier batches.
        loss: this mean after the steps on the earlier batches, before the step on the last batch.
        loss_after: this mean after the step on the last batch.
        value, value_after: the weight before and after the step.
        gradient: derivative of the loss with respect to the weight, from autograd, before clipping.
        nudged: `loss` with the weight made smaller, and larger, by 10⁻⁴.
        norms: name of a parameter → 2-norm of its gradient.
        norm: 2-norm of the gradient over all parameters, before clipping.
        update: Adam's computation for the weight.
    """

    losses: Float[np.ndarray, "batch target"]
    shares: Float[np.ndarray, "batch target"]
    best: Int[np.ndarray, "batch target"]
    counted: Bool[np.ndarray, "batch target"]
    loss_at_start: float
    loss: float
    loss_after: float
    value: float
    value_after: float
    gradient: float
    nudged: tuple[float, float]
    norms: dict[str, float]
    norm: float
    update: AdamUpdate

    @property
    def finite_difference(self) -> float:
        """The gradient of the weight without autograd: the slope between the two losses in `nudged`."""
        return (self.nudged[1] - self.nudged[0]) / (2 * NUDGE)


def open_step(pipeline: Pipeline, batches: Sequence[Batch], weight: Weight, settings: StepSettings) -> OpenedStep:
    """Take a step on a copy of a model, and return the numbers that are computed in it.

    Args:
        pipeline: the pipeline of the model, which is not changed.
        batches: for each batch, the ids of its sources and of its targets, with `<sos>` and `<eos>`. The returned step is taken
            on the last batch. Ordinary steps on the earlier batches come first, so that Adam's running means are not 0.
        weight: the weight whose gradient and change are returned.
        settings: the settings of all these steps.

    Raises:
        InputError: `pipeline` is not a Pipeline; `batches` is not a list of at least one pair of tensors of ids; or there is no
            such weight.
        ConfigError: a setting is not a number, is below 0 or above a million, or `smoothing` is above 1.
    """
    if not isinstance(pipeline, Pipeline):
        raise InputError("The pipeline must be a Pipeline, as `Pipeline.load` returns it, not {given!r}.", given=pipeline)
    listed = as_list(batches)
    if listed is None or not all(_is_batch(batch) for batch in listed):
        raise InputError("Batches are pairs of tensors, of source ids and of target ids, not {batches!r}.", batches=batches)
    batches = listed
    if not batches:
        raise InputError("There is no batch to take a step on.")
    limits = {"learning_rate": LARGEST_SETTING, "smoothing": 1, "clip": LARGEST_SETTING}
    settings = StepSettings(*(_number(name, getattr(settings, name, None), 0, most) for name, most in limits.items()))
    model = copy.deepcopy(pipeline.model).double().eval()
    parameter, pad, batch = _parameter(model, weight), pipeline.target_vocabulary.pad, batches[-1]
    optimizer = Adam(model.parameters())
    with torch.no_grad():
        loss_at_start = _loss(model, batch, pad, settings.smoothing).item()
    for earlier in batches[:-1]:
        optimizer.zero_grad()
        _loss(model, earlier, pad, settings.smoothing).backward()
        nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimizer.step(settings.learning_rate)
    mean, square = (float(values[weight.index]) for values in optimizer.moments[parameter])
    value = parameter[weight.index].item()
    source, target = batch
    optimizer.zero_grad()
    logits: Float[Tensor, "batch target vocab"] = model(source, target[:, :-1])
    expected, losses = target[:, 1:], token_losses(logits, target[:, 1:], settings.smoothing)
    counted = expected != pad
    loss = losses[counted].mean()
    loss.backward()
    norms = {name: float(each.grad.norm()) for name, each in model.named_parameters() if each.grad is not None}
    gradient = _gradient(parameter, weight)
    lower, upper = (_nudged_loss(model, batch, pad, settings.smoothing, parameter, weight.index, by) for by in (-NUDGE, NUDGE))
    norm = float(nn.utils.clip_grad_norm_(model.parameters(), settings.clip))
    update = _adam_update(len(batches), _gradient(parameter, weight), mean, square, settings.learning_rate)
    optimizer.step(settings.learning_rate)
    with torch.no_grad():
        loss_after = _loss(model, batch, pad, settings.smoothing).item()
    return OpenedStep(
        losses=losses.detach().numpy(),
        shares=logits.detach().softmax(-1).gather(-1, expected[..., None])[..., 0].numpy(),
        best=logits.argmax(-1).numpy(),
        counted=counted.numpy(),
        loss_at_start=loss_at_start,
        loss=loss.item(),
        loss_after=loss_after,
        value=value,
        value_after=parameter[weight.index].item(),
        gradient=gradient,
        nudged=(lower, upper),
        norms=norms,
        norm=norm,
        update=update,
    )


def _is_batch(batch: object) -> bool:
    """Whether a value is a pair of tensors of ids. The model checks the ids themselves."""
    return (
        isinstance(batch, tuple | list) and len(batch) == 2 and all(isinstance(ids, Tensor) and ids.ndim == 2 for ids in batch)
    )


def _parameter(model: Transformer, weight: Weight) -> nn.Parameter:
    """The parameter that contains a weight.

    Raises:
        InputError: there is no such weight.
    """
    if not isinstance(weight, tuple) or len(weight) != 2:
        raise InputError("A weight is a Weight(name, index), not {weight!r}.", weight=weight)
    name, index = weight
    parameter = dict(model.named_parameters(remove_duplicate=False)).get(name) if isinstance(name, str) else None
    shape = () if parameter is None else parameter.shape
    inside = isinstance(index, tuple) and len(index) == len(shape) and all(map(_is_inside, index, shape))
    if parameter is None or not inside:
        listed = list(index) if isinstance(index, tuple) else index
        raise InputError("The model has no weight {name}{index}.", name=name, index=listed)
    return parameter


def _is_inside(index: object, size: int) -> bool:
    return isinstance(index, Integral) and not isinstance(index, bool) and 0 <= int(index) < size


def _gradient(parameter: nn.Parameter, weight: Weight) -> float:
    """The gradient of a weight; 0 if the loss does not depend on its parameter."""
    return 0.0 if parameter.grad is None else float(parameter.grad[weight.index])


def adam_update(number: int, gradient: float, mean: float, square: float, learning_rate: float) -> AdamUpdate:
    """The numbers that Adam computes for one weight in one step (section 5.3).

    Args:
        number: number of the step, counted from 1.
        gradient: the gradient after clipping.
        mean, square: the running means before this step.
        learning_rate: learning rate of this step.

    Raises:
        ConfigError: `number` is not a whole number from 1; another argument is not a number, or its absolute value is above
            10¹⁰⁰ (`learning_rate`: a million); or `square` or `learning_rate` is below 0.
    """
    within("number", checked("number", number, int), 1)
    signed, most = -LARGEST_GRADIENT, LARGEST_GRADIENT
    return _adam_update(
        int(number),
        _number("gradient", gradient, signed, most),
        _number("mean", mean, signed, most),
        _number("square", square, 0, most),
        _number("learning_rate", learning_rate, 0, LARGEST_SETTING),
    )


def _number(name: str, value: object, least: int | float, most: int | float) -> float:
    """The value as a floating-point number from `least` to `most`. Raises ConfigError for any other value."""
    number = checked(name, value, float)
    within(name, number, least, most)
    return float(number)


def _adam_update(number: int, gradient: float, mean: float, square: float, learning_rate: float) -> AdamUpdate:
    new_mean = BETAS[0] * mean + (1 - BETAS[0]) * gradient
    new_square = BETAS[1] * square + (1 - BETAS[1]) * gradient**2
    corrected, corrected_square = new_mean / (1 - BETAS[0] ** number), new_square / (1 - BETAS[1] ** number)
    change = -learning_rate * corrected / (corrected_square**0.5 + EPSILON)
    return AdamUpdate(number, gradient, mean, square, new_mean, new_square, corrected, corrected_square, change)


def token_losses(
    logits: Float[Tensor, "batch target vocab"], expected: Int[Tensor, "batch target"], smoothing: float
) -> Float[Tensor, "batch target"]:
    """Cross-entropy of each token with label smoothing, in nats: −(1 − ε) log p(right) − ε · mean of log p over the vocabulary,
    where ε is `smoothing`.

    Raises:
        InputError: an argument is not a tensor with these axes, their sizes differ, or a token is not in the vocabulary.
        ConfigError: `smoothing` is not a number from 0 to 1.
    """
    check_tensor("logits", logits, "batch target vocab")
    check_id_tensor("expected", expected, "batch target")
    check_tokens(logits, expected)
    smoothing = _number("smoothing", smoothing, 0, 1)
    logs = logits.log_softmax(-1)
    right = logs.gather(-1, expected[..., None])[..., 0]
    return -(1 - smoothing) * right - smoothing * logs.mean(-1)


def _loss(model: Transformer, batch: Batch, pad: int, smoothing: float) -> Float[Tensor, ""]:
    source, target = batch
    expected = target[:, 1:]
    return token_losses(model(source, target[:, :-1]), expected, smoothing)[expected != pad].mean()


@torch.no_grad()
def _nudged_loss(
    model: Transformer, batch: Batch, pad: int, smoothing: float, parameter: Tensor, index: tuple[int, ...], by: float
) -> float:
    before = parameter[index].clone()
    parameter[index] += by
    loss = _loss(model, batch, pad, smoothing).item()
    parameter[index] = before
    return loss
