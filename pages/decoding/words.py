"""The words of the text that the model reads, where its tokens are pieces of words and they are to be joined. What the model
writes stays in pieces: it is written piece by piece."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from transformer import Trace
from transformer.analysis.words import Group, WordTrace, word_groups
from transformer.text.pieces import joined_label


def text_words(trace: Trace, shown: Trace, given: int) -> tuple[Group, ...]:
    """The positions of each word of the text; nothing if its pieces are not joined.

    Args:
        trace: of the first text.
        shown: what the page draws: the trace, or that of its words.
        given: how many tokens a decoder alone has read before it writes.
    """
    if not isinstance(shown, WordTrace):
        return ()
    if trace.source_ids:
        return word_groups(trace, "source")
    parts = (tuple(place for place in group if place < given) for group in word_groups(trace, "target"))
    return tuple(filter(None, parts))


def joined_tokens(tokens: Sequence[str], of: Sequence[Group]) -> list[str]:
    """The words of a text, and the tokens after it."""
    count = sum(map(len, of))
    return [*(joined_label([tokens[place] for place in group]) for group in of), *tokens[count:]]


def joined_weights(weights: Float[np.ndarray, "*more key"], of: Sequence[Group]) -> Float[np.ndarray, "*more word"]:
    """The weights on the words of a text, each the sum over its pieces, and those on the tokens after it."""
    count = sum(map(len, of))
    starts = [*(group[0] for group in of), *range(count, weights.shape[-1])]
    return np.add.reduceat(weights, starts, axis=-1) if of else weights
