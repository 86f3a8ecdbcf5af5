"""The last blocks of the map of a model: from its last vectors to its answer. They depend on the kind of its output."""

import math
from collections.abc import Hashable, Sequence

import numpy as np
from jaxtyping import Float

from pages.home.map_elements import MapElements
from pages.home.part_links import Link
from pages.shell.view.view import View
from pages.ui.caches import RESULTS
from pages.ui.component import Element
from pages.ui.format import fixed, share
from pages.ui.text import language, text
from transformer import InputError, Trace
from transformer.analysis.word_trace import row_groups
from transformer.figures.decoding_figures import percent
from transformer.pipeline.pipeline import Side
from transformer.text.pieces import joined_label

TIP_TOKENS = 5


def results(drawn: MapElements, view: View, trace: Trace, side: Side, joined: bool) -> list[Element]:
    """The HTML blocks of the model's map (`drawn`) after its last layer. `side` is the side of its last stack: `source` for an
    encoder, `target` for a decoder. If `joined`, the pieces of a word that the model writes are shown as one token."""
    words, kind, count = drawn.words, view.pipeline.output_kind, len(trace.tokens_of(side)[0])
    if kind == "vectors":
        note = words["size"].format(count=count, width=trace.config.d_model)
        return [drawn.block(words["vectors"], note, stop(f"{view.pipeline.stacks[-1]}.output"), [], "vectors_end")]
    outputs = {"tokens": trace.config.target_vocab, "span": 2}.get(kind, len(view.pipeline.labels))
    size = str(outputs) if kind == "label" else words["size"].format(count=count, width=outputs)
    callout = "scores" if kind == "tokens" else "label_scores"
    blocks = [drawn.block(words["linear"], size, stop("logits"), ["linear"], callout)]
    if "probabilities" in trace:
        blocks.append(drawn.block(words["softmax"], words["softmax_note"], stop("probabilities"), ["softmax"]))
    if kind == "tokens" and side == "target":
        return [*blocks, _written(drawn, view, trace, joined)]
    answers = {"tokens": _filled, "label": _label, "labels": _labels, "span": _span}
    return [*blocks, answers[kind](drawn, view, trace)]


def _written(drawn: MapElements, view: View, trace: Trace, joined: bool) -> Element:
    """The model's answer, or its most probable token after each token of a typed target. Each token has its probability.

    Pointing at a token of the answer shows the most probable tokens of its step. If `joined`, the pieces of a word of the
    answer are one token, whose probability is the product of the probabilities of its pieces. Such a token links to the step of
    its first piece.
    """
    words, rows = drawn.words, trace.probabilities[0].numpy()
    if view.target is not None:  # single pieces: a guess does not continue the guess before it
        guesses = view.pipeline.vocabulary("target").tokens_of(rows.argmax(-1).tolist())
        guesses = [joined_label([token]) for token in guesses] if joined else guesses
        return _answer(drawn, "guesses", guesses, _largest(rows), "guesses")
    answer, first, vocabulary = view.answer(), view.first_row(), view.pipeline.vocabulary("target")
    ids = view.expected(trace)[first : first + len(answer.tokens) + answer.ended]
    rows = rows[first : first + len(ids)]
    tokens, shares = vocabulary.tokens_of(ids), [float(row[token_id]) for row, token_id in zip(rows, ids, strict=True)]
    words_of = row_groups(vocabulary.words_of(ids) if joined else (), len(ids))
    if joined:
        tokens = [joined_label([tokens[place] for place in group]) for group in words_of]
        shares = [math.prod(shares[place] for place in group) for group in words_of]
    tips = RESULTS.result((_tip, language(), *run_key(view)), lambda: [_tip(view, row) for row in rows])
    return drawn.answer(
        words["answer_joined" if joined else "answer"],
        tokens,
        [share(each) for each in shares],
        [group[0] + 1 for group in words_of],
        [tips[group[0]] for group in words_of],
    )


def _filled(drawn: MapElements, view: View, trace: Trace) -> Element:
    """The most probable token at each mask token, for a model that is only an encoder. If the text has no mask token, the most
    probable token at every position."""
    rows, mask = trace.probabilities[0].numpy(), view.pipeline.mask_token
    masks = [place for place, token in enumerate(trace.source_tokens[0]) if mask and token == mask]
    rows = rows[masks or range(len(rows))]
    tokens = view.pipeline.vocabulary("source").tokens_of(rows.argmax(-1).tolist())
    return _answer(drawn, "filled" if masks else "unfilled", tokens, _largest(rows), "filled" if masks else "guesses")


def _tip(view: View, row: Float[np.ndarray, " vocab"]) -> str:
    """A heading, and a line for each of the `TIP_TOKENS` most probable tokens of a row of probabilities."""
    top = np.argsort(-row, kind="stable")[:TIP_TOKENS].tolist()
    tokens = view.pipeline.vocabulary("target").tokens_of(top)
    lines = [f"{token}  {percent(float(row[index]))}" for index, token in zip(top, tokens, strict=True)]
    return "\n".join([text("home")["map"]["tip"], *lines])


def _label(drawn: MapElements, view: View, trace: Trace) -> Element:
    """The labels of a text, the most probable first. For a model without probabilities, the number that it outputs."""
    labels = view.pipeline.labels
    if "probabilities" not in trace:
        return _answer(drawn, "number", [fixed(float(trace.logits[0, 0]), 3)], [], "label")
    row = trace.probabilities[0].numpy()
    best = np.argsort(-row, kind="stable")[:TIP_TOKENS].tolist()
    shares = [share(float(row[index])) for index in best]
    return _answer(drawn, "best_labels", [labels[index] for index in best], shares, "label")


def _labels(drawn: MapElements, view: View, trace: Trace) -> Element:
    """The most probable label of each token."""
    rows = trace.probabilities[0].numpy()
    labels = [view.pipeline.labels[index] for index in rows.argmax(-1).tolist()]
    return _answer(drawn, "token_labels", labels, _largest(rows), "label")


def _span(drawn: MapElements, view: View, _: Trace) -> Element:
    """The part of the text that answers the question; nothing if the text has no question."""
    try:
        tokens = view.answer().tokens
    except InputError:
        tokens = (drawn.words["nothing"],)
    return _answer(drawn, "span", tokens, [], "span")


def _answer(drawn: MapElements, says: str, tokens: Sequence[str], shares: Sequence[str], callout: str) -> Element:
    link, terms = stop("probabilities" if shares else "logits"), ["probability"] if shares else []
    return drawn.tokens(drawn.words[says], tokens, link, terms, callout, shares)


def _largest(rows: Float[np.ndarray, "row option"]) -> list[str]:
    """The largest probability of each row."""
    return [share(float(row.max())) for row in rows]


def run_key(view: View) -> tuple[Hashable, ...]:
    """The values on which the trace of a view's first text (item 0 of its batch) depends, as part of a cache key."""
    return view.key, view.source, view.target


def stop(path: str) -> Link:
    """A link to the page Layers, at the tensor with this path."""
    return Link("layers", {"stop": path})
