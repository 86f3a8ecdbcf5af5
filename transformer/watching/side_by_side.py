"""The tensors of our `Transformer` beside the nearest tensors of a user's module, for the file of a comparison."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer.tracing.trace import as_array
from transformer.watching.alterations import run_altered
from transformer.watching.compared_file import ComparedTensor
from transformer.watching.matching import Library, aligned, is_milestone, region, relative
from transformer.watching.search import Compared


@torch.no_grad()
def side_by_side(compared: Compared) -> tuple[ComparedTensor, ...]:
    """Each tensor of our `Transformer` that is looked for in the user's network, beside the nearest tensor there, for item 0 of
    the batch, in the order of computation."""
    _, recording = run_altered(compared.model, compared.source, compared.target, ())
    pads, found = compared.source == compared.model.config.source_pad, []
    for path in filter(is_milestone, recording):
        values, axes = recording[path], compared.model.taps[path].axes
        keep, key = region(recording, path, axes, pads)
        difference = compared.library.distance(values, axes, keep, key)
        theirs = nearest(compared.library, values, axes, keep)
        first = None if theirs is None else as_array(theirs[0])
        found.append(ComparedTensor(path, axes[1:], difference, as_array(values[0]), first))
    return tuple(found)


def nearest(library: Library, values: Tensor, axes: tuple[str, ...], keep: Bool[Tensor, "..."] | None) -> Tensor | None:
    """The tensor of the user's network that is nearest to a tensor of ours, in our order of axes; None if the user's network
    has no tensor of this size.

    Args:
        library: the tensors of the user's network.
        values, axes: the tensor of ours, and the names of its axes.
        keep: True where the numbers count; None for everywhere.
    """
    counted = slice(None) if keep is None else keep.expand(values.shape)
    candidates = [each for theirs in library.of_size(values.numel()) for each in aligned(theirs, values.shape, axes)]
    return min(
        (each.reshape(values.shape).to(values.dtype) for each in candidates),
        key=lambda each: float(relative(each[counted], values[counted])),
        default=None,
    )
