"""Attribution patching: an estimate of the effect of patching, for every head or layer by one backward pass. It is for networks
in which `patch_everywhere` would take too long."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.errors import InputError
from transformer.network.tap import tracing
from transformer.patching.bench import DIRECTIONS, paths_of
from transformer.patching.pair import Ids, RunPair, check_pair
from transformer.patching.pair_checks import check_gradients
from transformer.patching.places import OF_HEADS, OF_LAYERS, Place, Swap, check_places
from transformer.patching.sweep import EACH, Grids, Patched, all_places
from transformer.tracing.interventions import Change
from transformer.validation import one_of

EMBEDDINGS = OF_LAYERS["embedding"][::-1]  # in the order of computation


def attribute_everywhere(
    pair: RunPair, what: str = "head_output", direction: str = "denoise", positions: str = "together", steps: str = "all"
) -> Grids:
    """Estimates how much the logit difference would change by patching, for every place (head or layer) at once: the gradient
    of the logit difference with respect to the place's tensor, in the run that would be patched, times the change that patching
    would make to the tensor (Nanda 2023). The estimate is exact only if the logits depend linearly on the tensor, and softmax,
    norms and activation functions are not linear: compare it with `patch_everywhere` on the places that matter.

    `direction` is `denoise` (the corrupt run would be patched) or `noise` (the clean run). `patch_everywhere` explains the
    other arguments (`what` names the tensor) and the errors. There is one more error:

    Raises:
        InputError: the model was built within `torch.inference_mode`, or its token vectors are not recorded, so it has no
            gradients.

    Returns:
        `Place.grid` (`encoder`, `decoder` or `cross`) → the estimate for each place, with the axes of `Patched.moved["logit"]`.
    """
    check_pair(pair)
    swap, each = Swap(what, steps), one_of("positions", positions, EACH) == "each"
    shapes, _ = all_places(pair, swap, each)
    gradients, changes = _gradients_and_changes(pair, paths_of(pair, swap), direction)
    products = {path: _per_position(gradients[path] * changes[path], what) for path in gradients}
    grids = {}
    for grid, (layers, _, _) in shapes.items():
        of_layers = [[products[path] for path in swap.paths(pair.network, grid, layer)] for layer in range(layers)]
        estimate = torch.stack([torch.stack(of_layer).sum(0) for of_layer in of_layers])
        if not each:
            taken = [pair.row] if swap.steps == "this" and swap.side(grid) == "target" else slice(None)
            estimate = estimate[..., taken].sum(-1, keepdim=True)
        grids[grid] = estimate.numpy()
    return grids


class Attribution(NamedTuple):
    """The terms of the estimate for one place (`attribute_place`): one term for each number of its tensors, at all positions
    that patching would replace.

    Attributes:
        gradients: the gradient of the logit difference with respect to each number.
        changes: how much patching would change each number.
    """

    gradients: Float[np.ndarray, " number"]
    changes: Float[np.ndarray, " number"]

    @property
    def estimate(self) -> float:
        """The estimated change of the logit difference: the sum of gradient times change."""
        return float(self.gradients @ self.changes)


def attribute_place(
    pair: RunPair, place: Place, what: str = "head_output", direction: str = "denoise", steps: str = "all"
) -> Attribution:
    """The terms that `attribute_everywhere` adds up to the estimate for one place. `what` names the tensor of the place;
    `direction` is `denoise` or `noise`, `steps` `all` or `this`. The errors are those of `attribute_everywhere`, and one more:

    Raises:
        InputError: `place` is not a Place that exists in this network for `what`.
    """
    check_pair(pair)
    swap = Swap(what, steps)
    shapes, _ = all_places(pair, swap, False)
    (place,) = check_places("place", [place], shapes, {grid: pair.length(swap.side(grid)) for grid in shapes})
    paths = [*swap.paths(pair.network, place.grid, place.layer)]
    positions = swap.positions(place, pair.row)

    def taken(values: Tensor) -> Float[np.ndarray, " number"]:
        """The numbers of a tensor at the place: of its head, if it has one, and of its positions."""
        of_place = values[0, place.head] if what in OF_HEADS else values[0]
        return (of_place if positions is None else of_place[[*positions]]).double().flatten().numpy()

    gradients, changes = _gradients_and_changes(pair, paths, direction)
    return Attribution(*(np.concatenate([taken(of[path]) for path in paths]) for of in (gradients, changes)))


def agreement(estimated: Grids, patched: Patched) -> float:
    """Pearson's correlation between estimated and exact changes of the logit difference, over all places. NaN if the estimates
    or the exact changes are the same for all places.

    Args:
        estimated: the result of `attribute_everywhere`.
        patched: the last result of `patch_everywhere`, for the same arguments.

    Raises:
        InputError: an argument is not such a result, they are of different places, or not all places have been patched.
    """
    if not isinstance(patched, Patched) or not isinstance(estimated, dict):
        raise InputError("An estimate of `attribute_everywhere` is compared with a result of `patch_everywhere`.")
    exact = patched.moved["logit"]
    if {grid: np.shape(values) for grid, values in estimated.items()} != {grid: of.shape for grid, of in exact.items()}:
        raise InputError("The estimate and the exact changes are of different places.")
    first, second = (np.concatenate([values.ravel() for values in of.values()]) for of in (estimated, exact))
    if not np.isfinite(second).all():
        raise InputError("Only {done} of {total} places have been patched.", done=patched.done, total=patched.total)
    if first.std() == 0 or second.std() == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def _gradients_and_changes(pair: RunPair, paths: list[str], direction: str) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """For each tensor of the run that would be patched (the base run): the gradient of the logit difference with respect to the
    tensor, and the tensor of the other run minus this tensor."""
    noise = one_of("direction", direction, DIRECTIONS) == "noise"
    base, other = (pair.clean, pair.corrupt) if noise else (pair.corrupt, pair.clean)
    with torch.inference_mode(), tracing(pair.network, keep=paths) as others:
        pair.network(other.source, other.target)
    values, gradients = _gradients(pair, base, paths)
    return gradients, {path: others[path] - values[path] for path in paths}


def _per_position(products: Float[Tensor, "1 ... width"], what: str) -> Float[Tensor, "head position"]:
    """The products, summed over the width of each token's vector. Tensors without heads get an axis of one head."""
    summed = products[0].double().sum(-1)
    return summed if what in OF_HEADS else summed[None]


def _gradients(pair: RunPair, base: Ids, paths: list[str]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The tensors of the base run, and the gradient of its logit difference with respect to each."""
    check_gradients(pair.network)
    # Gradients are followed from the first tensor of each embedding on, because the parameters may be frozen.
    starts = [
        next((path for name in EMBEDDINGS if (path := f"{side}_embedding.{name}") in pair.network.taps), "")
        for side in pair.sides
    ]
    if not all(starts):
        raise InputError("The vectors of the tokens are not recorded in this network, so it has no gradients.")
    edits = [Change(path, _as_leaf) for path in starts]
    with torch.inference_mode(False), torch.enable_grad():
        with tracing(pair.network, edits, keep=paths) as values:
            logits = pair.network(base.source, base.target)
        difference = logits[0, pair.row, pair.tokens[0]] - logits[0, pair.row, pair.tokens[1]]
        tensors = [values[path] for path in paths]
        found = torch.autograd.grad(difference, tensors, allow_unused=True)
    zeros = (torch.zeros_like(of) if gradient is None else gradient for of, gradient in zip(tensors, found, strict=True))
    return {path: of.detach() for path, of in zip(paths, tensors, strict=True)}, dict(zip(paths, zeros, strict=True))


def _as_leaf(values: Tensor) -> Tensor:
    return values.detach().clone().requires_grad_()
