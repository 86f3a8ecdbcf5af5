"""The greedy answers of a batch."""

from collections.abc import Sequence
from typing import NamedTuple

from jaxtyping import Int
from torch import Tensor

from transformer.network.model import Transformer
from transformer.network.tap import Edit
from transformer.pipeline.decoding.write import write


class Generated(NamedTuple):
    """The ids from greedy decoding.

    Attributes:
        ids: written ids of each batch item, without `<sos>` and `<eos>`.
        ended: for each batch item, True if it ended with `<eos>`, False if it was stopped at the limit.
    """

    ids: list[list[int]]
    ended: list[bool]


def greedy(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    sos: int,
    eos: int,
    limit: int,
    never: Sequence[int] = (),
    edits: Sequence[Edit] = (),
) -> Generated:
    """The ids from greedy decoding: the most probable token is appended to the decoder's input until that token is `<eos>`.
    Arguments as for `write`."""
    ids: list[list[int]] = [[] for _ in source]
    ended = [False] * len(source)
    for step in write(model, source, sos, eos, limit, never=never, edits=edits, traced=False):
        for hypothesis in step.hypotheses:
            if hypothesis.ended:
                ended[hypothesis.row] = True
            elif step.room:
                ids[hypothesis.row].append(hypothesis.token)
    return Generated(ids, ended)
