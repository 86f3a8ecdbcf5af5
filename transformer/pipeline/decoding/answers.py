"""The greedy answers of a batch, and the greedy answer to one text from a guess."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.network.masks import Mask
from transformer.network.tap import Edit
from transformer.pipeline.decoding.write import Network, write

# A token is accepted from a pass over a guess only if its logit is above all others by more than this. Logits of a pass over
# several positions differ from those of a pass over one position by about a thousandth of `CLEAR`, because sums are rounded in
# another order.
CLEAR = 1e-3
# Each pass extends the guess by this many copies of its last token. A model that has not learnt to stop often repeats it.
REPEATED = 8


class Generated(NamedTuple):
    """The ids from greedy decoding.

    Attributes:
        ids: written ids of each batch item, without `<sos>` and `<eos>`.
        ended: for each batch item, True if it ended with `<eos>`, False if it was stopped at the limit.
    """

    ids: list[list[int]]
    ended: list[bool]


def greedy(
    model: Network,
    source: Int[Tensor, "batch source"] | None,
    sos: int,
    eos: int,
    limit: int,
    never: Sequence[int] = (),
    edits: Sequence[Edit] = (),
    forced: Mapping[int, int] | None = None,
    prompt: Int[Tensor, "batch length"] | None = None,
) -> Generated:
    """The ids from greedy decoding: the most probable token is appended to the decoder's input until that token is `<eos>`.
    Arguments as for `write`."""
    steps = write(model, source, sos, eos, limit, forced=forced, never=never, edits=edits, traced=False, prompt=prompt)
    ids: list[list[int]] = []
    ended: list[bool] = []
    for step in steps:
        if not ids:
            ids, ended = [[] for _ in step.read], [False] * len(step.read)
        for hypothesis in step.hypotheses:
            if hypothesis.ended:
                ended[hypothesis.row] = True
            elif step.room:
                ids[hypothesis.row].append(hypothesis.token)
    return Generated(ids, ended)


@torch.inference_mode()
def greedy_from(
    model: Network,
    source: Int[Tensor, "batch source"],
    sos: int,
    eos: int,
    limit: int,
    guess: Int[Tensor, " length"],
    logits: Float[Tensor, "position vocab"],
    encoded: tuple[Any, Mask] | None = None,
) -> Generated:
    """The result of `greedy` for one text, computed in fewer passes if a guess of the answer is nearly right.

    One pass over a guess computes the model's choices after all tokens of the guess. The guess is right up to its first token
    that the model would not write. From there on, the model's own choices are the next guess (Jacobi decoding). So a right
    guess needs no pass after the one that computed `logits`, and a wrong guess at most as many passes as `greedy`. If two
    logits are almost equal, `greedy` is called instead.

    Args:
        model, source, sos, eos, limit: as for `write`, with one row.
        guess: ids without `<sos>`.
        logits: output of the model if the decoder reads `<sos>` and the guess.
        encoded: output of `model.encode` for the source; computed if None.
    """
    limit, config = min(limit, model.config.max_len - 1), model.config
    guess, logits = guess[:limit], logits[: limit + 1]
    # If padded queries are masked with a finite number, a written `<pad>` also attends to the tokens after it.
    unlike = {config.target_pad} if config.target_padding == "queries" and config.mask_fill > -math.inf else set[int]()
    while True:
        best = logits.topk(2)
        own, clear = best.indices[:, 0], best.values[:, 0] - best.values[:, 1] > CLEAR
        agrees = (own[:-1] == guess) & clear[:-1]
        right = int(agrees.long().cumprod(0).sum())  # length of the part of the guess that is right
        written = own[: right + 1].tolist()
        if not clear[right] or not unlike.isdisjoint(written):
            return greedy(model, source, sos, eos, limit)
        if eos in written:
            return Generated([written[: written.index(eos)]], [True])
        if right == limit:
            return Generated([written[:limit]], [False])
        guess = torch.cat([own, own[-1:].expand(REPEATED)])[:limit]
        encoded = encoded or model.encode(source)
        logits = model.decode(torch.cat([guess.new_tensor([sos]), guess])[None], *encoded)[0]
