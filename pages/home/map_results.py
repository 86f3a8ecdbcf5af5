"""The last blocks of the map of a model: from its last vectors to its answer. They depend on the kind of its output."""

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from pages.home.part_links import Link
from pages.shell.view.view import View
from pages.ui.caches import RESULTS
from pages.ui.format import fixed, share
from pages.ui.text import language, text
from transformer import InputError, Trace
from transformer.analysis.word_trace import row_groups
from transformer.figures.decoding_figures import percent
from transformer.pipeline.pipeline import Side
from transformer.text.pieces import joined_label

Node = dict[str, Any]

TIP_TOKENS = 5


def results(view: View, trace: Trace, side: Side, joined: bool) -> list[Node]:
    """The blocks after the last layer of a model.

    Args:
        view, trace: the run of the first text.
        side: the side of the model's last stack.
        joined: whether the pieces of a word that the model writes are shown as one token.
    """
    words, kind, count = text("home")["map"], view.pipeline.output_kind, len(trace.tokens_of(side)[0])
    if kind == "vectors":
        note = words["size"].format(count=count, width=trace.config.d_model)
        return [_block("vectors", note, f"{view.pipeline.stacks[-1]}.output", "", "vectors_end")]
    outputs = {"tokens": trace.config.target_vocab, "span": 2}.get(kind, len(view.pipeline.labels))
    size = str(outputs) if kind == "label" else words["size"].format(count=count, width=outputs)
    blocks = [_block("linear", size, "logits", "linear", "scores" if kind == "tokens" else "label_scores")]
    if "probabilities" in trace:
        blocks.append(_block("softmax", words["softmax_note"], "probabilities", "softmax", ""))
    if kind == "tokens" and side == "target":
        return [*blocks, _written(view, trace, joined)]
    answers = {"tokens": _filled, "label": _label, "labels": _labels, "span": _span}
    return [*blocks, answers[kind](view, trace)]


def _block(name: str, note: str, path: str, term: str, callout: str) -> Node:
    title = text("home")["map"][name]
    terms = [term] if term else []
    return {"type": "block", "title": title, "note": note, "link": stop(path), "terms": terms, "callout": callout}


def _written(view: View, trace: Trace, joined: bool) -> Node:
    """The model's answer, or its most probable token after each token of a typed target. Each token has its probability.

    A token of the answer links to the step that wrote it. Pointing at the token shows the most probable tokens of that step. If
    `joined`, the pieces of a word of the answer are one token, whose probability is the product of the probabilities of its
    pieces. Such a token links to the step of its first piece.
    """
    words, vocabulary = text("home")["map"], view.pipeline.vocabulary("target")
    rows = trace.probabilities[0].numpy()
    if view.target is None:
        answer, first = view.answer(), view.first_row()
        rows = rows[first:]
        ids = view.expected(trace)[first : first + len(answer.tokens) + answer.ended]
    else:
        ids = rows.argmax(-1).tolist()
    tokens, shares = vocabulary.tokens_of(ids), [float(row[token_id]) for row, token_id in zip(rows, ids, strict=False)]
    # Guesses after a typed target are single pieces: a guess does not continue the guess before it.
    words_of = row_groups(vocabulary.words_of(ids) if joined and view.target is None else (), len(ids))
    if joined:
        tokens = [joined_label([tokens[place] for place in group]) for group in words_of]
        shares = [math.prod(shares[place] for place in group) for group in words_of]
    tips = RESULTS.result((_tip, language(), *run_key(view)), lambda: [_tip(view, row) for row in rows[: len(ids)]])
    written = {
        "link": Link("decoding", {}),
        "step": Link("decoding", {"step": "{step}"}),
        "steps": [group[0] + 1 for group in words_of],
        "tips": [tips[group[0]] for group in words_of],
    }
    return {
        **(written if view.target is None else {"link": stop("probabilities")}),
        "type": "tokens",
        "id": "answer",
        "says": words[("answer_joined" if joined else "answer") if view.target is None else "guesses"],
        "tokens": list(tokens),
        "shares": [share(each) for each in shares],
        "terms": ["probability"],
        "callout": "answer" if view.target is None else "guesses",
    }


def _filled(view: View, trace: Trace) -> Node:
    """The most probable token of an encoder alone at each mask. If the text has no mask, the most probable token at every
    position."""
    words, vocabulary = text("home")["map"], view.pipeline.vocabulary("source")
    rows, mask = trace.probabilities[0].numpy(), view.pipeline.mask_token
    masks = [place for place, token in enumerate(trace.source_tokens[0]) if mask and token == mask]
    rows = rows[masks or range(len(rows))]
    ids = rows.argmax(-1).tolist()
    return {
        "type": "tokens",
        "id": "answer",
        "says": words["filled" if masks else "unfilled"],
        "tokens": list(vocabulary.tokens_of(ids)),
        "shares": [share(row[token_id]) for row, token_id in zip(rows, ids, strict=True)],
        "link": stop("probabilities"),
        "terms": ["probability"],
        "callout": "filled" if masks else "guesses",
    }


def _tip(view: View, row: Float[np.ndarray, " vocab"]) -> str:
    """The most probable tokens of a row, a line for each."""
    top = np.argsort(-row, kind="stable")[:TIP_TOKENS].tolist()
    tokens = view.pipeline.vocabulary("target").tokens_of(top)
    lines = [f"{token}  {percent(float(row[index]))}" for index, token in zip(top, tokens, strict=True)]
    return "\n".join([text("home")["map"]["tip"], *lines])


def _label(view: View, trace: Trace) -> Node:
    """The labels of a text, the most probable first. For a model without probabilities, the number that it outputs."""
    labels = view.pipeline.labels
    if "probabilities" not in trace:
        return _answer("number", [fixed(float(trace.logits[0, 0]), 3)], [], "label")
    row = trace.probabilities[0].numpy()
    best = np.argsort(-row, kind="stable")[:TIP_TOKENS].tolist()
    return _answer("best_labels", [labels[index] for index in best], [share(float(row[index])) for index in best], "label")


def _labels(view: View, trace: Trace) -> Node:
    """The most probable label of each token."""
    rows = trace.probabilities[0].numpy()
    best = rows.argmax(-1).tolist()
    shares = [share(float(row[index])) for row, index in zip(rows, best, strict=True)]
    return _answer("token_labels", [view.pipeline.labels[index] for index in best], shares, "label")


def _span(view: View, _: Trace) -> Node:
    """The part of the text that answers the question; nothing if the text has no question."""
    try:
        return _answer("span", view.answer().tokens, [], "span")
    except InputError:
        return _answer("span", [text("home")["map"]["nothing"]], [], "span")


def _answer(says: str, tokens: Sequence[str], shares: Sequence[str], callout: str) -> Node:
    return {
        "type": "tokens",
        "id": "answer",
        "says": text("home")["map"][says],
        "tokens": list(tokens),
        **({"shares": list(shares)} if shares else {}),
        "link": stop("probabilities" if shares else "logits"),
        "terms": ["probability"] if shares else [],
        "callout": callout,
    }


def run_key(view: View) -> tuple[Hashable, ...]:
    """The values that decide the trace of the first text, as a key of the cache."""
    return view.key, view.source, view.target


def stop(path: str) -> Link:
    """A link to the stop of a tensor on the page Layers."""
    return Link("layers", {"stop": path})
