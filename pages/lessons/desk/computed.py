"""Questions in the lesson editor whose right answer is computed from a run of the stop's model. The lessons that ship with the
app compute theirs in the same way."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from pages.lessons.content.grading import judge, right_answer
from pages.lessons.content.lesson import HEAD, PATCHED, SIDES, TRUTHS, Question, Stop, Truth
from pages.lessons.content.stop_views import run_of
from pages.lessons.content.truths import kind_of, name_of_place, place_of, position_vectors, truth_of, written_tokens
from pages.lessons.desk.boxes import Boxes
from pages.shell.view.runs import runs
from pages.ui.escaping import literal
from pages.ui.format import token_at
from pages.ui.limits import LESSON_OPTIONS, TEXT_CHARACTERS
from pages.ui.text import text
from transformer import Trace

# The page whose views name a head, so that a question can be about a row of the head's attention map.
OF_HEAD = "attention"
# Kind of a question whose answer is computed → the only page on which it can be asked; None for every page.
COMPUTED = {"tokens": OF_HEAD, "silence": OF_HEAD, "mask": "masks", "alike": "positions", "next": None, "number": None}
# Number of options of a question about the next token, if its author writes no options.
GUESSES = 4


def computed_question(boxes: Boxes, kind: str, ask: str) -> Question:
    """Draw the editor's boxes for a question whose answer is computed, and the right answer below them. `kind` is one of
    `COMPUTED`, and `ask` is the text of the question. Returns the question.

    Raises:
        HeadlightError: the model has random weights, or cannot read the text, or cannot answer this kind of question.
    """
    stop = boxes.view.stop
    run = run_of(stop)
    trace = runs().trace(run.key, run.sources, run.targets, ())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        question = _drawn(boxes, kind, ask, trace)
    value = truth_of(replace(stop, question=question))
    assert value is not None  # the question has a truth
    words = text("lessons")
    if kind == "number":
        answer = judge(question, np.format_float_positional(value.number, precision=9), value).says
    else:
        answer = words["solution"].format(answer=right_answer(question, value))
    st.caption(literal(words["truth_now"].format(says=answer)))
    return question


def _drawn(boxes: Boxes, kind: str, ask: str, trace: Trace) -> Question:
    stop = boxes.view.stop
    if kind == "tokens":
        truth = Truth(name="attention-row", query=_pick_token(boxes, "query", trace.tokens(kind_of(stop))[0]))
        most = int(boxes.number("most", 1, LESSON_OPTIONS, 2, 1))
        return Question(kind="tokens", ask=ask, truth=truth, most=most, enough=boxes.number("enough", 0.05, 1.0, 0.5, 0.05))
    if kind == "silence":
        options = tuple(text("lessons")["silence_options"])
        return Question(kind="choose", ask=ask, options=options, truth=Truth(name="silence-changes-answer"))
    if kind == "mask":
        tokens = written_tokens(trace)
        truth = Truth(name="mask-row", query=_pick_token(boxes, "query", tokens))
        return Question(kind="tokens", ask=ask, truth=truth, most=len(tokens))
    if kind == "alike":
        truth = Truth(name="most-alike-position", query=_pick_token(boxes, "place", position_vectors(trace)[1]))
        return Question(kind="tokens", ask=ask, truth=truth, most=1)
    if kind == "next":
        tokens = written_tokens(trace)
        query = _pick_token(boxes, "after", tokens)
        written = boxes.lines("guesses", 100, TEXT_CHARACTERS).splitlines()
        options = tuple(line.strip() for line in written if line.strip()) or _guesses(stop, trace, place_of(query, tokens))
        return Question(kind="choose", ask=ask, options=options, truth=Truth(name="next-token", query=query))
    names = [name for name, form in TRUTHS.items() if form.gives == "number" and _offered(name, stop.page, trace)]
    truth = _pick_truth(boxes, boxes.choice("truth", names, text("lessons")["truths"]), trace)
    return Question(kind="number", ask=ask, truth=truth, tolerance=boxes.number("tolerance", 0.0, 1e6, 0.05, 0.01))


def _guesses(stop: Stop, trace: Trace, place: int) -> tuple[str, ...]:
    """The most probable tokens after the token at the index `place` of the decoder's text. They are in alphabetical order,
    which does not reveal the answer."""
    ids = np.argsort(-trace.probabilities[0, place].numpy(), kind="stable")[:GUESSES].tolist()
    return tuple(sorted(runs().pipeline(run_of(stop).key).vocabulary("target").tokens_of(ids)))


def _offered(name: str, page: str, trace: Trace) -> bool:
    """Whether a question on a page can ask for the truth with this name, which is a number."""
    if name in PATCHED:  # a kept view of Patching does not name the head that the page picks
        return False
    return (page == OF_HEAD or TRUTHS[name].may != HEAD) and (bool(trace.target_ids) or name != "next-word-probability")


def _pick_truth(boxes: Boxes, name: str, trace: Trace) -> Truth:
    """Draw the boxes for the settings of a truth that is a number. Returns the truth."""
    form, given, target = TRUTHS[name], dict[str, Any](), trace.tokens_of("target")
    written = target[0] if target else ()
    queries, keys = trace.tokens(kind_of(boxes.view.stop)) if form.may == HEAD else (written, ())
    if "side" in form.needs:
        sides = [side for side in SIDES if trace.tokens_of(side)]
        given["side"] = boxes.choice("side", sides, text("lessons")["sides"])
    if "query" in form.needs:
        given["query"] = _pick_token(boxes, "query", queries)
    if "key" in form.needs:
        given["key"] = _pick_token(boxes, "key", keys)
    if "token" in form.may:
        given["token"] = boxes.line("token", most=60).strip()
    return Truth(name=name, **given)


def _pick_token(boxes: Boxes, name: str, tokens: Sequence[str]) -> str:
    """Draw a list of tokens. Returns the name by which a truth identifies the picked token."""
    names = {name_of_place(place, tokens): place for place in range(len(tokens))}
    labels = {of: token_at(place, tokens[place]) for of, place in names.items() if of}
    return boxes.choice(name, [*labels], labels)
