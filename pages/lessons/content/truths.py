"""The right answers to a lesson's questions, each computed from a run of the model on the text of the question's stop."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pages.lessons.content.lesson import PATCHED, LessonError, Question, Stop, Truth, Value
from pages.lessons.content.patching_truths import patching_value, share_of
from pages.lessons.content.stop_views import run_of, view_of, words_of
from pages.shell.view.runs import Edits, runs
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.format import fixed, number, share, token_at
from pages.ui.limits import LESSON_OPTIONS
from pages.ui.pickers import linked_whole
from pages.ui.text import text
from transformer import HeadlightError, Trace
from transformer.analysis.prediction_scores import likeness
from transformer.figures.decoding_figures import percent
from transformer.patching import Head
from transformer.tracing.paths import Kind
from transformer.tracing.phrases import all_interventions, at_head

# A number of the run in a lesson's words, such as `{scaled-score <sos> h}`: for a query and a key of the head in the view. A
# text may come from anybody, so the number of such places is limited.
NUMBER, MOST_NUMBERS = re.compile(r"\{(score|scaled-score|attention-weight) (\S{1,60}) (\S{1,60})\}"), 12
# What one head carries of the difference between the texts of a stop on Patching, such as `{lost-share cross 1 2}`.
SHARE = re.compile(r"\{(lost-share|restored-share) (encoder|decoder|cross) (\d{1,3}) (\d{1,3})\}")
# A size of the model in a lesson's words, such as `{d_head}`.
SIZE = re.compile(r"\{(d_model|heads|d_head|√d_head)\}")


def truth_of(stop: Stop) -> Value | None:
    """The right answer to the question of a lesson's stop (step), computed from a run of its model; None without a question, or
    if the lesson contains the answer.

    Raises:
        HeadlightError: the model cannot read the stop's text, or has no such head or token.
    """
    question = stop.question
    if question is None or question.truth is None:
        return None
    head = head_of(stop)
    if question.asks in PATCHED:
        return patching_value(stop, question.asks, head, question.options)
    return _truth(run_of(stop), question.truth, head, question.options)


def head_of(stop: Stop) -> Head:
    """The attention head that a lesson's stop (step) is about. Its layer and head are counted from 0; −1 means invalid.

    Raises:
        InputError: the stop names a head that the model's card (training record) does not have.
    """
    truth, view = stop.truth, view_of(stop)
    given = {"layer": truth.layer if truth else 0, "head": truth.head if truth else 0}
    layer, head = (value or linked_whole(view.get(name, "1"), 0) for name, value in given.items())
    return Head((truth and truth.kind) or kind_of(stop), layer - 1, head - 1)


def filled(stop: Stop, words: str) -> str:
    """The text `words` of a lesson's stop (step) as it is shown: the stop's head, and sizes and numbers of its run, replace
    placeholders such as `{d_head}`. If one of these values cannot be computed, placeholders may stay."""

    def size(match: re.Match[str]) -> str:
        run = run_of(stop)
        config = runs().trace(run.key, run.sources, run.targets, ()).config
        sizes = {"d_model": config.d_model, "heads": config.heads, "d_head": config.d_head, "√d_head": config.d_head**0.5}
        return number(sizes[match[1]], 3)

    def value(match: re.Match[str]) -> str:
        name, query, key = match.groups()
        asked = Question(kind="number", ask="", truth=Truth(name=name, query=query, key=key))
        computed = truth_of(replace(stop, question=asked))
        return number(computed.number, 3) if computed else match[0]

    def part(match: re.Match[str]) -> str:
        name, kind, layer, head = match.groups()
        return share(share_of(stop, name, Head(kind, int(layer) - 1, int(head) - 1)))

    try:
        words = SHARE.sub(part, words, count=MOST_NUMBERS)
        return SIZE.sub(size, NUMBER.sub(value, words_of(stop, words), count=MOST_NUMBERS))
    except HeadlightError:
        return words


def kind_of(stop: Stop) -> str:
    """The kind of attention in the URL parameters of a lesson's stop: `encoder`, `decoder` or `cross`; by default `encoder`.

    Raises:
        InputError: the stop names a head that the model's card (training record) does not have.
    """
    return view_of(stop).get("kind", "encoder")


@cached
def _truth(run: View, truth: Truth, at: Head, options: tuple[str, ...]) -> Value:
    trace = runs().trace(run.key, run.sources, run.targets, ())
    config = trace.config
    sizes = {"head-count": config.heads, "head-width": config.d_head, "vector-length": config.d_model}
    if truth.name in sizes:
        return Value(sizes[truth.name])
    if truth.name == "token-count":
        tokens = trace.tokens_of("target" if truth.side == "target" else "source")[0]
        return Value(len(tokens), words=(("tokens", " ".join(tokens)),))
    if truth.name == "next-word-probability":
        return _next_word(trace, run, truth)
    if truth.name == "next-token":
        return _next_of(trace, run, truth, options)
    if truth.name == "mask-row":
        return _mask_row(trace, truth)
    if truth.name == "most-alike-position":
        return _alike(trace, truth)
    if truth.name == "edit-changes-answer":
        return _edited(run, edits_of(trace, truth.edit.split("; ")))
    check_head(trace, at)
    if truth.name == "silence-changes-answer":
        return _edited(run, edits_of(trace, [at_head("silence", *at)]))
    queries, keys = trace.tokens(at.kind)
    query = place_of(truth.query, queries)
    row = trace.head(*at)[query].double().numpy()
    words = (("query", queries[query]), ("most", keys[int(row.argmax())]))
    shown = Value(0.0, tuple(row.tolist()), keys, words)
    tensors = {"score": "scores", "scaled-score": "scaled_scores", "attention-weight": "weights"}
    if truth.name in tensors:
        column = place_of(truth.key, keys)
        cell = trace[f"{Kind.of(at.kind).path(at.layer)}.{tensors[truth.name]}"].values[0, at.head, query, column]
        return shown._replace(number=float(cell), words=(*words, ("key", keys[column])))
    if truth.name == "most-attended-key":
        return shown._replace(number=int(row.argmax()))
    return shown._replace(number=float(row.sum()))


def phrases_of(stop: Stop) -> list[str]:
    """The edits of the model that a lesson's stop, or else its question, names, as phrases such as `no positions`; may be
    empty.

    Raises:
        HeadlightError: the stop names a head that the model's card (training record) does not have.
    """
    if stop.edit:
        return stop.edit.split("; ")
    truth = stop.truth
    if truth is None or truth.form.gives != "yes or no":
        return []
    return truth.edit.split("; ") if truth.edit else [at_head("silence", *head_of(stop))]


def edits_of(trace: Trace, phrases: Sequence[str]) -> Edits:
    """The interventions that phrases such as `no positions` describe, for the model and the text of a trace."""
    lengths = {side: len(trace.tokens_of(side)[0]) for side in ("source", "target")}
    return all_interventions(phrases, trace.config, lengths)


def check_head(trace: Trace, at: Head) -> None:
    """Raise a `LessonError` if the model of a trace does not have the attention head `at`."""
    kind, layer, head = at
    if kind not in trace.kinds or not 0 <= layer < trace.layers(kind) or not 0 <= head < trace.heads(kind):
        template = "The model has no head {head} in layer {layer} of {kind} attention."
        raise LessonError(template, head=head + 1, layer=layer + 1, kind=kind)


def _next_word(trace: Trace, run: View, truth: Truth) -> Value:
    vocabulary = runs().pipeline(run.key).vocabulary("target")
    read = trace.tokens_of("target")[0]
    query = place_of(truth.query, read)
    row = trace.probabilities[0, query].double().numpy()
    token = vocabulary.ids([truth.token])[0] if truth.token else int(np.argmax(row))
    words = (("query", read[query]), ("token", vocabulary.tokens_of([token])[0]))
    return Value(float(row[token]), words=words)


def _next_of(trace: Trace, run: View, truth: Truth, options: tuple[str, ...]) -> Value:
    """Which of the options is the most probable next token after a token that the decoder has read."""
    vocabulary, read = runs().pipeline(run.key).vocabulary("target"), written_tokens(trace)
    query = place_of(truth.query, read)
    probabilities = trace.probabilities[0, query].double().numpy()
    ids = [vocabulary.ids([option])[0] for option in options]
    for option, of in zip(options, ids, strict=True):
        if vocabulary.tokens_of([of])[0] != option:
            raise LessonError("The model's vocabulary has no token {name!r}.", name=option)
    row = tuple(float(probabilities[of]) for of in ids)
    listed = dict(sorted(zip(options, row, strict=True), key=lambda pair: -pair[1]))
    best = int(probabilities.argmax())
    if best not in ids:
        listed |= {text("lesson")["of_all"].format(token=vocabulary.tokens_of([best])[0]): float(probabilities[best])}
    shares = ", ".join(f"{token} {percent(value)}" for token, value in listed.items())
    return Value(float(np.argmax(row)), row, options, (("query", read[query]), ("shares", shares)))


def _mask_row(trace: Trace, truth: Truth) -> Value:
    """A row of the decoder's mask: for each token, 1 if the query may attend to it, and 0 if not."""
    tokens = written_tokens(trace)
    query = place_of(truth.query, tokens)
    row = trace.allowed("decoder")[0, 0, 0, query, : len(tokens)].double().numpy()
    return Value(0.0, tuple(row.tolist()), tokens, (("query", tokens[query]),))


def written_tokens(trace: Trace) -> tuple[str, ...]:
    """The first tokens that the decoder has read, at most as many as a question can offer.

    Raises:
        LessonError: the model has no decoder.
    """
    if "decoder" not in trace.kinds:
        raise LessonError("The model of this stop has no decoder.")
    return tuple(trace.tokens_of("target")[0][:LESSON_OPTIONS])


def position_vectors(trace: Trace) -> tuple[np.ndarray, tuple[str, ...]]:
    """The vectors [position, d_model] of the first positions, at most as many as a question can offer, and the tokens there.

    Raises:
        LessonError: the model adds no position vectors, or the text has only one position.
    """
    side = trace.sides[0]
    path, tokens = f"{side}_embedding.position", tuple(trace.tokens_of(side)[0][:LESSON_OPTIONS])
    if path not in trace or len(tokens) < 2:
        raise LessonError("The model of this stop adds no vectors for positions that could be compared.")
    vectors = trace[path].numpy()
    return vectors.reshape(-1, *vectors.shape[-2:])[0][: len(tokens)], tokens


def _alike(trace: Trace, truth: Truth) -> Value:
    """How similar the vector of each position is to the vector of the asked position; 0 for the asked position itself."""
    vectors, tokens = position_vectors(trace)
    names = tuple(token_at(place, token) for place, token in enumerate(tokens))
    position = place_of(truth.query, tokens)
    similar = likeness(vectors, position)
    row = np.where(np.arange(len(names)) == position, 0.0, similar.values)
    best = text("lesson")["and"].join(names[place] for place in similar.best)
    words = (("query", names[position]), ("most", best), ("value", fixed(similar.values[similar.best[0]], 2)))
    return Value(float(position), tuple(row.tolist()), names, words)


def _edited(run: View, edits: Edits) -> Value:
    before, after = runs().answer(run.key, run.source, ()), runs().answer(run.key, run.source, edits)
    return Value(float(before.tokens != after.tokens), words=(("before", before.text or "–"), ("after", after.text or "–")))


def place_of(name: str, tokens: tuple[str, ...]) -> int:
    """The index in `tokens` that a name means: that of the first token with this name, or the name itself as a number.

    Raises:
        LessonError: no token has this name, and it is not an index of a token.
    """
    if name in tokens:
        return tokens.index(name)
    if name.isascii() and name.isdecimal() and len(name) < 4 and int(name) < len(tokens):
        return int(name)
    raise LessonError("There is no token {name!r} among {tokens}.", name=name, tokens=" ".join(tokens))


def row_of(stop: Stop, read: tuple[str, ...]) -> int:
    """The index, in the query tokens `read`, of the attention row that a lesson's stop names, or else its question.

    Raises:
        LessonError: the row's name is neither a token that is read nor a position.
    """
    return place_of(stop.row or (stop.truth.query if stop.truth else ""), read)


def name_of_place(place: int, tokens: Sequence[str]) -> str:
    """A name for which `place_of` returns `place`: the token there, or else the index as a number; empty if neither works."""
    names = (tokens[place], str(place))
    return next((name for name in names if name and len(name) <= 60 and place_of(name, tuple(tokens)) == place), "")
