"""The picture of a lesson's stop on the printed sheet, drawn from a run of its model. Unless the answers are shown, the part
that a question asks for is left empty, so that it can be filled in with a pencil."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from pages.lessons.content.lesson import HEAD, LessonError, Stop
from pages.lessons.content.stop_views import run_of, view_of
from pages.lessons.content.truths import check_head, kind_of, place_of
from pages.lessons.desk.drawings import MOST_TOKENS, bars, cells, texts
from pages.shell.models.catalogue import snapshots
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.format import fixed, whole
from pages.ui.head_grid import strongest_rows
from pages.ui.limits import SENTENCES
from pages.ui.pickers import linked_whole
from pages.ui.text import text
from transformer import HeadlightError, Trace
from transformer.patching import Head
from transformer.pipeline.snapshots import snapshot_name

# Limit of probabilities that are drawn.
MOST_BARS = 5
# Pairs of a truth and a page whose picture reveals the answer to a question about that truth, also with a part left empty.
TELLING = {("token-count", "tokens"), ("token-count", "masks"), ("mask-row", "masks")}
# Limit of drawn numbers of a position's vector.
DIMENSIONS = 16
# The moments of a training at which a head is drawn, as shares of its snapshots.
MOMENTS = (0.0, 0.5, 1.0)


class _View(NamedTuple):
    """The input of a picture: a lesson's stop (step), its model and texts, their trace, whether to show the answers to
    questions, and all stops on the sheet."""

    stop: Stop
    run: View
    trace: Trace
    solutions: bool
    stops: Sequence[Stop]


def picture(stop: Stop, solutions: bool, stops: Sequence[Stop] = ()) -> Markup:
    """The picture of a lesson's stop for the printed sheet, with a caption, as HTML. Empty if its page has no picture, or if
    the picture would reveal the answer and `solutions` is off. It also hides the answers of `stops`, all on the sheet.

    Raises:
        HeadlightError: the model cannot read the stop's text, or does not have the stop's head.
    """
    draw = DRAWN.get(stop.page)
    if draw is None or ((stop.asks, stop.page) in TELLING and not solutions):
        return Markup("")
    run = run_of(stop)
    drawn, says = draw(_View(stop, run, runs().trace(run.key, run.sources, run.targets, ()), solutions, stops or (stop,)))
    return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(drawn, says)


def _head(view: _View) -> tuple[Markup, str]:
    """A picture and its caption: the map of the stop's head. Unless solutions are shown, each row of this map that a stop of
    the sheet asks about is empty, because a class sees all pictures of its sheet at once. If the question is about an edit of
    the model, a sentence with what the model reads and writes takes the place of the map."""
    stop, _, trace, solutions, stops = view
    if stop.asks == "edit-changes-answer":
        return _whole(view)
    drawn_head = _head_of_view(stop, trace, first=1)
    queries = trace.tokens(drawn_head.kind)[0]
    asked, empty = _row_asked(stop, queries), set[int]()
    if not solutions:
        of_map = (_row_asked(each, queries) for each in stops if each == stop or _has_map_of(each, stop))
        empty = {row for row in of_map if row is not None}
    drawn, largest = _map(trace, drawn_head, empty, asked)
    words = text("lessons")["pictures"]
    kind, layer, head = drawn_head
    says = words["head"].format(kind=text("attention")["kinds"][kind], layer=layer + 1, head=head + 1)
    if empty:
        says += " " + words["empty"].format(queries=", ".join(queries[row] for row in sorted(empty)))
    elif solutions:
        says += " " + words["largest"].format(**largest)
    return drawn, says


def _row_asked(stop: Stop, queries: tuple[str, ...]) -> int | None:
    """The position, from 0, of the row of a map that the question of a lesson's stop (step) asks about; None if it asks about
    no row."""
    truth = stop.truth
    return place_of(truth.query, queries) if truth and truth.form.may == HEAD and truth.query else None


def _has_map_of(stop: Stop, other: Stop) -> bool:
    """Whether two stops (steps of a lesson) are about the same head of the same run."""
    names = ("layer", "head")
    try:
        one, two = ([run_of(each), kind_of(each), *map(view_of(each).get, names)] for each in (stop, other))
    except HeadlightError:
        return False  # the error is shown with the question of its stop
    return stop.page == other.page and one == two


def _head_of_view(stop: Stop, trace: Trace, first: int) -> Head:
    """The head in the URL parameters of a lesson's stop (step). If they have no layer, it is `first`, which is counted from
    1."""
    view = view_of(stop)
    layer, head = linked_whole(view.get("layer", str(first)), 0), linked_whole(view.get("head", "1"), 0)
    named = Head(kind_of(stop), layer - 1, head - 1)
    check_head(trace, named)
    return named


def _map(trace: Trace, head: Head, empty: Collection[int] = (), asked: int | None = None) -> tuple[Markup, dict[str, str]]:
    """A map of one head, and where its largest weight is: the names of query and key, and the weight. If `asked` is
    not None, the largest weight of this row. The rows `empty` are left empty."""
    queries, keys = trace.tokens(head.kind)
    weights, allowed = trace.head(*head).numpy(), trace.head_allowed(*head).numpy()
    row, column = np.unravel_index(int(weights.argmax()), weights.shape) if asked is None else (asked, weights[asked].argmax())
    told = allowed.copy()
    told[list(empty)] = False
    alt = text("lessons")["pictures"]["head_alt"].format(queries=" ".join(queries), keys=" ".join(keys))
    alt = f"{alt} {strongest_rows(weights, told, queries, keys)}"
    drawn = cells(weights, allowed, queries, keys, alt, empty)
    return drawn, {"query": queries[row], "key": keys[column], "weight": fixed(float(weights[row, column]), 2)}


def _batch(view: _View) -> tuple[Markup, str]:
    """The texts of a batch with their padding, and the decoder's mask for the first text."""
    stop, run = view.stop, view.run
    lines = [line for line in view_of(stop).get("batch", "").splitlines() if line.strip()][: SENTENCES - 1]
    sources = (run.source, *lines)
    trace = runs().trace(run.key, sources, (None,) * len(sources), ())
    words, rows = text("lessons")["pictures"], trace.source_tokens
    real = trace.masks.source
    if real is None or not trace.target_tokens:
        raise LessonError("The model of this stop has one stack, so it has no such masks.")
    is_real = real[:, 0, 0].numpy()
    padded = texts(rows, is_real, words["batch_alt"].format(count=len(rows), padding=int((~is_real).sum())))
    target = trace.target_tokens[0]
    mask = trace.masks.target[0, 0].numpy()
    read = int(mask[-1].sum()) if mask.size else 0
    open_cells = mask[:read, :read]
    drawn = cells(0.7 * open_cells, open_cells, target[:read], target[:read], words["mask_alt"])
    return padded + Markup("<br>") + drawn, words["masks"]


def _next_word(view: _View) -> tuple[Markup, str]:
    """The most probable tokens after the token that the question names, or else at the step of the view. A covered page that
    opens at a step shows the answer, so these bars are empty, too."""
    stop, run, trace, solutions, _ = view
    truth = stop.truth
    read = trace.tokens_of("target")[0]
    step = view_of(stop).get("step", "")
    row = place_of(truth.query, read) if truth and truth.query else min(linked_whole(step or "1", 1), len(read)) - 1
    asked = stop.asks in ("next-word-probability", "next-token") or (stop.cover and step)
    empty = bool(asked) and not solutions
    probabilities = trace.probabilities[0, row].double().numpy()
    vocabulary = runs().pipeline(run.key).vocabulary("target")
    best = np.argsort(-probabilities)[:MOST_BARS].tolist()
    shares = {token: float(probabilities[of]) for of, token in zip(best, vocabulary.tokens_of(best), strict=True)}
    words = text("lessons")["pictures"]
    alt = words["empty_bars"] if empty else ", ".join(f"{token} {fixed(value, 2)}" for token, value in shares.items())
    return bars(shares, alt, empty), words["next"].format(read=" ".join(read[: row + 1]))


def _moments(view: _View) -> tuple[Markup, str]:
    """The map of one head at the start, in the middle and at the end of the training."""
    stop, run, trace = view.stop, view.run, view.trace
    drawn_head = _head_of_view(stop, trace, first=trace.layers(kind_of(stop)))
    steps = snapshots(str(run.key))
    if not steps:
        raise LessonError("The model {model!r} has no snapshots.", model=str(run.key))
    drawn = Markup("")
    chosen = [steps[min(int(part * len(steps)), len(steps) - 1)] for part in MOMENTS]
    for step in dict.fromkeys(chosen):
        # All snapshots read the same texts, so that their maps can be compared.
        of_step = runs().trace(snapshot_name(str(run.key), step), (run.source,), (runs().answer(run.key, run.source, ()),), ())
        drawn += _map(of_step, drawn_head)[0]
    (kind, layer, head), listed = drawn_head, ", ".join(whole(step) for step in dict.fromkeys(chosen))
    words = text("lessons")["pictures"]
    return drawn, words["moments"].format(kind=text("attention")["kinds"][kind], layer=layer + 1, head=head + 1, steps=listed)


def _ids(view: _View) -> tuple[Markup, str]:
    """The tokens of the text, with the id of each token below it."""
    trace = view.trace
    tokens, words = trace.source_tokens[0], text("lessons")["pictures"]
    ids = [str(each) for each in trace.source_ids[0]]
    return texts((tokens, ids), np.ones((2, len(tokens)), bool), " ".join(tokens)), words["ids"]


def _positions(view: _View) -> tuple[Markup, str]:
    """The first numbers of the vector that is added at each position of the text. The smallest number is white, the largest
    black."""
    trace, words = view.trace, text("lessons")["pictures"]
    side = trace.sides[0]
    path = f"{side}_embedding.position"
    if path not in trace:
        raise LessonError("The model of this stop adds no vectors for positions.")
    vectors = trace[path].numpy()
    vectors = vectors.reshape(-1, *vectors.shape[-2:])[0][:, :DIMENSIONS]
    tokens = trace.tokens_of(side)[0]
    low, high = float(vectors.min()), float(vectors.max())
    shades = (vectors - low) / ((high - low) or 1.0)
    alt = words["positions_alt"].format(tokens=" ".join(tokens))
    names = [f"{place} {token}" for place, token in enumerate(tokens)]
    columns = [str(dimension) for dimension in range(vectors.shape[1])]
    drawn = cells(shades, np.ones(shades.shape, bool), names, columns, alt)
    return drawn, words["positions"].format(count=vectors.shape[1], low=fixed(low, 2), high=fixed(high, 2))


def _whole(view: _View) -> tuple[Markup, str]:
    """What the model reads and writes, in words. The side of a stack that the model does not have is empty."""
    trace, words = view.trace, text("lessons")["pictures"]
    source, target = ((texts or ((),))[0] for texts in (trace.source_tokens, trace.target_tokens))
    read, wrote = " ".join(source[:MOST_TOKENS]), " ".join(target[1:MOST_TOKENS])
    return Markup("<p>{}</p>").format(words["whole_says"].format(read=read, wrote=wrote)), words["whole"]


Draw = Callable[[_View], tuple[Markup, str]]
# Page → the function that draws its picture.
DRAWN: Mapping[str, Draw] = {
    "home": _whole,
    "tokens": _ids,
    "positions": _positions,
    "masks": _batch,
    "attention": _head,
    "layers": _whole,
    "decoding": _next_word,
    "training": _moments,
    "turning": _head,
}
