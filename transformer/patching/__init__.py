"""Activation patching: in one of two runs, replace the tensor of one head or layer (a place) by that of the other run, and
measure the answer. This finds the places that carry the difference between the runs.

    from transformer.patching import needs, patch_everywhere, run_pair

    pair = run_pair(pipeline, "the animal did not cross the street because it was too tired",
                    "the animal did not cross the street because it was too wide")
    *_, denoised = patch_everywhere(pair, direction="denoise")
    *_, noised = patch_everywhere(pair, direction="noise")
    needs(denoised, noised).roles

- `pair`: two runs, the row and the two tokens that are compared. `places`: the tensors that can be taken from the other run.
- `sweep`: every place, one at a time (`patch_everywhere`). `scores`: four measures of the result.
- `need`: which heads the answer needs, and which heads are enough alone. `averages`: the same over many pairs, with intervals.
- `head_paths`: the effect of a head through another head. `repair`: how other heads change if one head is patched.
- `attribution`: an estimate of the effect of every place by one backward pass, and the terms of the estimate of one place.
"""

from transformer.patching.attribution import Attribution, agreement, attribute_everywhere, attribute_place
from transformer.patching.averages import AverageNeeds, Interval, average_needs, pairs_of_task
from transformer.patching.head_paths import path_effects
from transformer.patching.need import Needs, needs, ranks_agree, role
from transformer.patching.opened import patched_logits
from transformer.patching.pair import RunPair, run_pair
from transformer.patching.places import Head, Place
from transformer.patching.repair import changes_elsewhere
from transformer.patching.sweep import Patched, patch_everywhere

__all__ = [
    "Attribution",
    "AverageNeeds",
    "Head",
    "Interval",
    "Needs",
    "Patched",
    "Place",
    "RunPair",
    "agreement",
    "attribute_everywhere",
    "attribute_place",
    "average_needs",
    "changes_elsewhere",
    "needs",
    "pairs_of_task",
    "patch_everywhere",
    "patched_logits",
    "path_effects",
    "ranks_agree",
    "role",
    "run_pair",
]
