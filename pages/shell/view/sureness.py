"""How sure a model was of an answer: the mark of doubt, the words that it was not sure of, and its least sure token."""

import math
from itertools import groupby

import numpy as np
from jaxtyping import Float

from pages.shell.view.view import View
from pages.ui.escaping import literal, quoted
from pages.ui.format import share, whole
from pages.ui.text import text
from transformer.analysis.hesitation import UNSURE, hesitation
from transformer.pipeline.card import POOR
from transformer.pipeline.pipeline import Answer
from transformer.text.pieces import joined_label

# Probabilities of the next token, for each row of an answer.
Probabilities = Float[np.ndarray, "row vocab"]


def doubt(view: View, answer: Answer) -> str | None:
    """How often the model is wrong if it is as unsure as in this answer. None if its confidence is not below the limit that its
    card names."""
    measured, chances = view.pipeline.card.measures.get("doubt"), answer.log_probabilities
    if not measured or not chances or sum(chances) / len(chances) >= measured["below"]:
        return None
    shares = {name: share(measured[name]) for name in ("poor_of_marked", "poor_of_others")}
    words, tested = text("common"), whole(view.pipeline.card.tested_on)
    return words["doubt_help"].format(sentences=tested, poor=whole(POOR), unsure=share(UNSURE), **shares)


def shaded(view: View, answer: Answer) -> str:
    """An answer as Markdown, with a shade behind each word that has a token of less than `UNSURE`."""
    vocabulary, tokens = view.pipeline.vocabulary("target"), answer.tokens
    ids = vocabulary.ids(tokens)
    numbers = vocabulary.words_of(ids) or range(len(tokens))
    chances = answer.log_probabilities[: len(tokens)]
    unsure = {word for word, chance in zip(numbers, chances, strict=True) if math.exp(chance) < UNSURE}
    parts, end, written = [], 0, ""
    for is_unsure, run in groupby(numbers, lambda word: word in unsure):
        end += len([*run])
        before, written = written, vocabulary.text_of(ids[:end])
        if not written.startswith(before):  # the pieces of one character, which are not a text without one another
            return quoted(answer.text)
        part = written[len(before) :]
        space = " " * part.startswith(" ")
        parts.append(f"{space}:orange-background[{literal(part.strip())}]" if is_unsure and part.strip() else literal(part))
    return "".join(parts) if quoted(answer.text) == literal(answer.text) == literal(written) else quoted(answer.text)


def least_sure(view: View, answer: Answer, probabilities: Probabilities | None) -> list[str]:
    """Names the token of the answer that the model was least sure of, and its word, if it was unsure of any."""
    unsure = None if probabilities is None or not len(probabilities) else hesitation(probabilities)
    if unsure is None:
        return []
    vocabulary, words = view.pipeline.vocabulary("target"), text("common")
    token, other = (joined_label([piece]) for piece in vocabulary.tokens_of([unsure.token, unsure.other]))
    numbers = vocabulary.words_of(vocabulary.ids(answer.tokens))
    word = token
    if unsure.row < len(numbers):
        pieces = [piece for piece, number in zip(answer.tokens, numbers, strict=True) if number == numbers[unsure.row]]
        word = joined_label(pieces)
    shares = {"share": share(unsure.probability), "other_share": share(unsure.other_probability)}
    names = {"word": literal(word), "token": literal(token), "other": literal(other)}
    return [words["unsure" if word == token else "unsure_in"].format(**names, **shares)]
