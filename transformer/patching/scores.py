"""Four measures of a run's logits, which show how near the run is to the clean or to the corrupt run of a pair."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.patching.pair import RunPair

METRICS = ("logit", "probability", "divergence", "exact")
# If the two runs are closer than this, a share of their difference would be mostly rounding and chance, so no share is
# computed.
LEAST_GAPS = {"logit": 0.25, "probability": 0.02, "divergence": 0.02, "exact": 0.5}
# The gap between the logit differences of the two runs must also be at least this part of the larger one: if both runs prefer
# the same token by far, every head that the token needs moves the answer by many times the gap.
LEAST_PART = 0.1


class Scores(NamedTuple):
    """Four measures of each run in a batch, at the compared row of its logits (`RunPair.row`).

    Attributes:
        logit: the logit of the clean run's token, the first of `RunPair.tokens`, minus the logit of the second.
        probability: the probability of the clean run's token.
        divergence: the Kullback–Leibler divergence from the clean run's distribution to the distribution of the item, in nats;
            0 if they are equal.
        exact: 1 if the item's most probable tokens are those of the clean run in all rows of `RunPair.wanted`; otherwise 0.
    """

    logit: Float[Tensor, " item"]
    probability: Float[Tensor, " item"]
    divergence: Float[Tensor, " item"]
    exact: Float[Tensor, " item"]

    def moved(self, base: "Scores") -> "Scores":
        """The measures minus the measures of `base`, item by item."""
        return Scores(*(values - of_base for values, of_base in zip(self, base, strict=True)))


def scores(pair: RunPair, logits: Float[Tensor, "item row vocab"], clean: Float[Tensor, "item vocab"]) -> Scores:
    """The four measures of each run in a batch.

    Args:
        pair: the clean and the corrupt run, the compared row, and the compared tokens.
        logits: logits of the batch, from the compared row on.
        clean: log-probabilities of the clean run in the compared row, computed in a batch of the same size.
    """
    first, second = pair.tokens
    log_probabilities = logits[:, 0].double().log_softmax(-1)
    difference = logits[:, 0, first].double() - logits[:, 0, second].double()
    # A token of probability 0 in the clean run adds 0, even if its log-probability is −∞.
    terms = torch.where(clean.exp() > 0, clean.exp() * (clean - log_probabilities), 0.0)
    best = logits[:, : len(pair.wanted)].argmax(-1)
    exact = (best == torch.tensor(pair.wanted)).all(-1).double()
    return Scores(difference, log_probabilities[:, first].exp(), terms.sum(-1), exact)
