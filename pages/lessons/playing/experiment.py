"""The pictures above the page once the question of a lesson's stop is answered: `lesson.PICTURES`."""

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from pages.lessons.content.lesson import Stop
from pages.lessons.content.stop_views import run_of, view_of, with_second_model
from pages.lessons.content.truths import edits_of, phrases_of
from pages.lessons.playing.answer_pictures import show_samples, show_snapshots, show_trainings
from pages.lessons.playing.asked import is_settled, open_stop
from pages.lessons.playing.row_pictures import legend, say_row, show_row, show_vectors
from pages.shell.frame.navigation import exists
from pages.shell.view.edit_list import KEY as EDITS
from pages.shell.view.edited_answers import show_edited_answers, show_edited_probabilities
from pages.ui.escaping import literal
from pages.ui.tables import show_table
from pages.ui.text import text
from transformer import HeadlightError


def show_experiment() -> None:
    """Draw the pictures that the lesson's open stop (step) shows after an answer, once the answer can no longer change."""
    stop = open_stop()
    if stop is None or not stop.drawn or not is_settled():
        return
    try:
        for picture in stop.drawn:
            if picture in ("row", "heads"):
                show_row(stop, in_each_head=picture == "heads")
            elif picture in OF_EDIT:
                for each in _stops(stop):
                    OF_EDIT[picture](each)
                    if each is not stop and picture == "answers" and "heads" in stop.drawn:
                        # The picture of the heads shows only the first model.
                        say_row(each)
            else:
                ALONE[picture](stop)
        if {"row", *OF_EDIT} & set(stop.drawn) and EDITS not in dict(stop.view):
            st.caption(text("lesson")["experiment"]["below"])
    except HeadlightError:
        return  # the bar draws the error


def _stops(stop: Stop) -> Iterator[Stop]:
    """The lesson's stop (step), and the same stop with its second model, if it has one. If two trainings are compared, only the
    stop with the second model, which was trained with the edit."""
    if "trainings" not in stop.drawn:
        yield stop
    if stop.beside:
        yield with_second_model(stop)


def _show_answers(stop: Stop) -> None:
    """Draw the answers of the model of a lesson's stop (step) without and with the edit."""
    words, view, phrases = text("lesson")["experiment"], run_of(stop), phrases_of(stop)
    edits = ", ".join(f"**{literal(phrase)}**" for phrase in phrases)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(words["title"].format(edits=edits, model=literal(view.model)), width="content")
        if exists("attention"):
            address = view.address("attention", **{**view_of(stop), "part": "what-if", EDITS: phrases})
            st.link_button(words["open"], address, icon=":material/science:")
    edits, names = edits_of(view.trace(), phrases), legend(phrases)
    show_edited_answers(view, edits, names, f"experiment-{view.model}")
    if stop.others:
        st.caption(words["others"])
        views = [replace(view, sources=(source,), targets=(None,)) for source in stop.others]
        rows = tuple((each.source, each.answer().text, each.answer(edits).text) for each in views)
        show_table((words["other"], *names), rows)


def _show_probabilities(stop: Stop) -> None:
    """Draw the probability of each token of the answer, without and with the edit."""
    view, phrases = run_of(stop), phrases_of(stop)
    trace = view.trace()
    st.markdown(text("lesson")["experiment"]["of_model"].format(model=literal(view.model)))
    show_edited_probabilities(view, trace, edits_of(trace, phrases), legend(phrases), f"experiment-{view.model}")


# Pictures of an edit, which are also drawn for the stop's second model; and pictures that are drawn once for a stop.
OF_EDIT = {"answers": _show_answers, "probabilities": _show_probabilities}
ALONE = {"vectors": show_vectors, "draws": show_samples, "snapshots": show_snapshots, "trainings": show_trainings}
