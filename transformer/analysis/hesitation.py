"""Where a model was not sure of its answer: the token that it wrote with the least probability."""

from typing import NamedTuple

from transformer.analysis.checks import check_trace
from transformer.tracing.trace import Trace

UNSURE = 0.5  # a token of which the model was less sure than of all others together


class Hesitation(NamedTuple):
    """A token that the model wrote with little probability.

    Attributes:
        row: of the decoder, the one that wrote the token.
        token, probability: what it wrote, and how probable that was, 0 to 1.
        other, other_probability: the next most probable token.
    """

    row: int
    token: int
    probability: float
    other: int
    other_probability: float


def hesitation(trace: Trace, rows: int, item: int = 0, start: int = 0) -> Hesitation | None:
    """The row of a greedy answer whose token had the least probability; None if that is at least `UNSURE`.

    Args:
        trace: of a run whose decoder read the model's own answer.
        rows: how many rows of the decoder wrote the answer, the one that wrote `<eos>` included.
        item: index of the text in the batch.
        start: the row that wrote the first token.

    Raises:
        InputError: not a trace.
        PathError: the trace has no probabilities, because its model has no decoder.
    """
    check_trace(trace)
    two = trace.probabilities[item, start : start + rows].topk(2)
    row = int(two.values[:, 0].argmin())
    first, second = two.values[row].tolist()
    if first >= UNSURE:
        return None
    token, other = two.indices[row].tolist()
    return Hesitation(start + row, token, first, other, second)
