"""Which edits allow a key–value cache while an answer is written."""

from collections.abc import Sequence

from transformer.network.tap import Edit, Traceable
from transformer.tracing.interventions import Ablate, Replace, Scale
from transformer.tracing.paths import find_tap


def fits_cache(model: Traceable, edits: Sequence[Edit]) -> bool:
    """Whether a key–value cache gives the right result with these edits: whether they have the same effect on a new position
    alone as on all positions so far.

    True for edits of the encoder, and for edits that treat all target positions alike: `Ablate`, `Scale` without positions, and
    `Replace` by a decoder tensor with the same axes (but not by the tap `split`). False for all other edits: with an edit of
    the target mask, a position may attend to a later position; positions and values of an edit are indexed along the whole
    target.
    """
    return all(_fits_cache(model, edit) for edit in edits)


def _fits_cache(model: Traceable, edit: Edit) -> bool:
    path = edit.place(model)
    if path.startswith(("encoder", "source")):
        return True
    if path == "target_mask":
        return False
    if isinstance(edit, Replace):
        by = find_tap(model.taps, edit.by, "output")
        same = _axes(model, by) == _axes(model, path)
        return same and by.startswith("decoder") and not by.endswith(".split")
    return isinstance(edit, Ablate) or (isinstance(edit, Scale) and edit.positions is None)


def _axes(model: Traceable, path: str) -> list[str]:
    """The axes of a tap. `query` is returned as `target`, because a query of the decoder is a position of the target."""
    return ["target" if axis == "query" else axis for axis in model.taps[path].axes]
