"""Which heads an answer needs, and which head alone is enough for it: what the answer loses without a head, and what the head
alone restores."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from jaxtyping import Float

from transformer.analysis.checks import check_array
from transformer.errors import InputError
from transformer.patching.places import Head
from transformer.patching.sweep import Patched

# A share from which a head is needed, or enough: half of the difference, so the run is nearer to the other end.
HALF = 0.5
# A share below which a head works against the clean answer.
AGAINST = -0.25
# A share from which a head counts when two measures are compared; the order of smaller shares means nothing.
MATTERS = 0.05
ROLES = ("alone", "backup", "partner", "against", "bystander")

OfHeads = dict[str, Float[np.ndarray, "layer head"]]


def role(lost: float, restored: float) -> str:
    """The role of a head in the difference between a clean and a corrupt run, from two shares of this difference.

    Args:
        lost: the share that the clean run loses if this head alone is taken from the corrupt run. The head is needed if
            the share is at least 0.5.
        restored: the share that the corrupt run gains if this head alone is taken from the clean run. The head is enough if
            the share is at least 0.5.

    Returns:
        `alone`: needed and enough. `backup`: enough, but not needed, because other heads can do the same. `partner`: needed,
        but not enough, because other heads are needed too. `against`: neither, and a share is at most −0.25, so the head moves
        the answer away from the clean answer. `bystander`: none of these.

    Raises:
        InputError: a share is not a number.
    """
    for name, share in (("lost", lost), ("restored", restored)):
        _check_share(name, share)
    needed, enough = lost >= HALF, restored >= HALF
    if needed or enough:
        return ("alone" if enough else "partner") if needed else "backup"
    return "against" if min(lost, restored) <= AGAINST else "bystander"


@dataclass(frozen=True, eq=False)
class Needs:
    """How much of the difference between the clean and the corrupt run is lost without each head, and restored by it alone.

    Attributes:
        lost, restored: kind of attention → the share of each head, [layer, head], as in `role`.
    """

    lost: OfHeads
    restored: OfHeads

    @property
    def roles(self) -> dict[Head, str]:
        """Head → its role, one of `ROLES` (see `role`)."""
        return {
            Head(kind, int(layer), int(head)): role(float(values[layer, head]), float(self.restored[kind][layer, head]))
            for kind, values in self.lost.items()
            for layer, head in np.ndindex(values.shape)
        }


def needs(denoised: Patched, noised: Patched, metric: str = "logit") -> Needs:
    """The lost and restored shares of each head, from the same heads patched in both directions.

    Args:
        denoised, noised: the last results of `patch_everywhere` for the directions `denoise` and `noise`, with all positions
            together and without `also`.
        metric: the measure whose shares are computed, one of `METRICS`.

    Raises:
        InputError: the two are not such results of the same pair, or the runs barely differ in this measure.
        ConfigError: there is no such measure.
    """
    for given, direction in ((denoised, "denoise"), (noised, "noise")):
        if not isinstance(given, Patched) or given.direction != direction:
            raise InputError("Needed against enough takes a denoised and a noised result of `patch_everywhere`.")
        if given.done < given.total:
            raise InputError("Only {done} of {total} places have been patched.", done=given.done, total=given.total)
        if any(values.shape[2] != 1 for values in given.moved["logit"].values()):
            raise InputError("The places must be patched at all positions together.")
        if given.also:
            raise InputError("Needed against enough is a question about each place alone; leave out `also`.")
    compared = [(each.row, each.tokens, each.swap) for each in (denoised, noised)]
    if compared[0] != compared[1] or not np.allclose(*([*each.ends.values()] for each in (denoised, noised)), atol=1e-3):
        raise InputError("Both results must be of the same pair of runs and of the same tensors.")
    return Needs(
        {grid: 1 - values[..., 0] for grid, values in noised.shares(metric).items()},
        {grid: values[..., 0] for grid, values in denoised.shares(metric).items()},
    )


def ranks_agree(first: OfHeads, second: OfHeads, least: float = MATTERS) -> float:
    """Spearman's rank correlation of two measures over the heads that matter: 1 if both rank these heads alike, 0 if the ranks
    are unrelated. NaN if fewer than three heads matter, if a measure is equal for all heads that matter, or if a measure is NaN
    for any head.

    Args:
        first, second: the two measures: kind of attention → a share for each head, [layer, head].
        least: a head matters if at least one of its two shares is this far from 0, or farther.

    Raises:
        InputError: the measures are not arrays of the same heads, or `least` is not a number.
    """
    _check_share("least", least)
    for measure in (first, second):
        if not isinstance(measure, dict) or not measure:
            raise InputError("A measure must be a dict: kind → array with axes layer head; not {measure!r}.", measure=measure)
        for kind, values in measure.items():
            check_array(str(kind), values, "layer head")
    if {kind: of.shape for kind, of in first.items()} != {kind: of.shape for kind, of in second.items()}:
        raise InputError("Two measures of the same heads are compared; these two are of different heads.")
    one, other = (np.concatenate([values.ravel() for values in of.values()]) for of in (first, second))
    matter = np.maximum(np.abs(one), np.abs(other)) >= least
    if np.isnan([*one, *other]).any() or matter.sum() < 3:
        return float("nan")
    ranks = [_ranks(of[matter]) for of in (one, other)]
    if any(values.std() == 0 for values in ranks):
        return float("nan")
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: Float[np.ndarray, " head"]) -> Float[np.ndarray, " head"]:
    """The rank of each number, counted from 1; equal numbers share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]


def _check_share(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or value != value:
        raise InputError("{name} is {value!r}; it must be a number.", name=name, value=value)
