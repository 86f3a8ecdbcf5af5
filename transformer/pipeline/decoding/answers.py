"""The greedy answers of a batch."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jaxtyping import Int
from torch import Tensor

from transformer.network.tap import Edit
from transformer.pipeline.decoding.write import Network, write


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
