"""The edit that a question was about, made: the answers without and with it, drawn above the page."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from pages.lessons.content.lesson import Stop
from pages.lessons.content.stop_views import run_of, view_of
from pages.lessons.content.truths import edits_of, phrases_of
from pages.lessons.playing.asked import asks_for
from pages.shell.frame.navigation import exists
from pages.shell.view.edit_list import KEY as EDITS
from pages.shell.view.edited_answers import show_edited_answers
from pages.shell.view.view import View
from pages.ui.escaping import literal
from pages.ui.link_values import kept_in_links
from pages.ui.text import text
from transformer import HeadlightError

# Names of the truths that are about an edit.
EDITED = ("edit-changes-answer", "silence-changes-answer")


def made(stop: Stop, settled: bool) -> bool:
    """Whether the edit of a stop's question is made: as soon as the answer can no longer change."""
    truth = stop.question and stop.question.truth
    return settled and truth is not None and truth.name in EDITED


def show_experiment() -> None:
    """Draw the answers of the model, and of a second one if the question names it, without and with the edit of the question.
    Draw nothing if the open stop asks about no edit, or waits for its answer."""
    asked = next(filter(None, map(asks_for, EDITED)), None)
    if asked is None or not made(asked.stop, asked.data["settled"]):
        return
    try:
        for place, stop in enumerate(_stops(asked.stop)):
            _show(stop, place)
    except HeadlightError:
        return  # the bar draws the error


def _stops(stop: Stop) -> Iterator[Stop]:
    """The stop, and the same stop with the second model that its question names."""
    yield stop
    truth = stop.question and stop.question.truth
    if truth and truth.beside:
        yield replace(stop, view=tuple((dict(stop.view) | {"model": truth.beside}).items()))


def _show(stop: Stop, place: int) -> None:
    words, run, phrases = text("lesson")["experiment"], run_of(stop), phrases_of(stop)
    view = View(run.model, (run.source,), (run.target,), run.key)
    trace = view.trace()
    edits = ", ".join(f"**{literal(phrase)}**" for phrase in phrases)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(words["title"].format(edits=edits, model=literal(run.model)), width="content")
        if exists("attention"):
            query = {**kept_in_links(), **view_of(stop), "model": run.model, "source": run.source}
            query |= {"part": "what-if", EDITS: phrases}
            st.link_button(words["open"], f"attention?{urlencode(query, doseq=True)}", icon=":material/science:")
    show_edited_answers(view, trace, edits_of(trace, phrases), f"experiment-{place}")
