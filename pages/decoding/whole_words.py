"""The pieces of the text that the model reads, joined into words. The answer stays in pieces, because it is written piece by
piece."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from pages.shell.view.joined_words import joins_pieces
from transformer.analysis.word_trace import Group, are_pieces, groups
from transformer.pipeline.pipeline import Encoding
from transformer.text.pieces import joined_label


def text_words(encoding: Encoding) -> tuple[Group, ...]:
    """The positions of the pieces of each word of a text. If its tokens are pieces of words, draw the switch that joins them.
    Empty if the tokens are not pieces of words, or if the switch is off."""
    of = groups(encoding.words)
    return of if are_pieces(encoding.tokens, of) and joins_pieces() else ()


def joined_tokens(tokens: Sequence[str], of: Sequence[Group]) -> list[str]:
    """The words of a text, the positions of whose pieces are in `of`, then the tokens that follow the text."""
    count = sum(map(len, of))
    return [*(joined_label([tokens[place] for place in group]) for group in of), *tokens[count:]]


def joined_weights(weights: Float[np.ndarray, "*more key"], of: Sequence[Group]) -> Float[np.ndarray, "*more word"]:
    """The weights on the words of a text, each the sum over the word's pieces, whose positions are in `of`; then the weights on
    the tokens that follow the text. If `of` is empty, the weights are returned unchanged."""
    count = sum(map(len, of))
    starts = [*(group[0] for group in of), *range(count, weights.shape[-1])]
    return np.add.reduceat(weights, starts, axis=-1) if of else weights
