"""The run of a view: the model's answers, and the trace."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeVar

import streamlit as st

from pages.shell.view.view import View, current_view
from transformer import HeadlightError, InputError, Trace
from transformer.pipeline.pipeline import Answer, Encoding, Side

Result = TypeVar("Result")

# Session keys: the last view that could be computed, and whether the page shows it instead of the present one.
LAST, SHOWS_LAST = "last_drawn", "shows_last"


class Run(NamedTuple):
    """The results of running a model on a view, each computed once.

    Attributes:
        view: the model and texts.
        answers: what the model writes for each text, or the error that says why it writes nothing.
        trace: trace of one forward pass.
    """

    view: View
    answers: tuple[Answer | InputError, ...]
    trace: Trace


def run_of(view: View, batch: bool, beside: Callable[[View], View]) -> Run:
    """The run of the first text of a view.

    Args:
        batch: run every text, instead of the first alone.
        beside: returns a view with further texts added after the typed ones. They are traced, but not answered.

    Raises:
        HeadlightError: a text, or with `batch` the batch, cannot be read.
    """
    view = beside(view)
    read_texts(view, batch)
    trace = view.batch_trace() if batch else view.trace()
    return Run(view, tuple(answer_of(view, item) for item in range(view.typed if batch else 1)), trace)


def read_texts(view: View, batch: bool = False) -> None:
    """Check that the model can read the first text of a view; with `batch`, all typed texts. A batch that cannot be read is not
    in the view (`current_view`).

    Raises:
        HeadlightError: a text or a target cannot be read.
    """
    for item in range(view.typed if batch else 1):
        read_text(view, "source", item, batch)
        if view.targets[item] is not None:
            read_text(view, "target", item, batch)


def unreadable(view: View, batch: bool = False) -> bool:
    """Whether the first text of a view cannot be read, or with `batch` any text."""
    try:
        read_texts(view, batch)
    except InputError:
        return True
    return False


def answer_of(view: View, item: int = 0) -> Answer | InputError:
    """The answer to a text. If the model only fills in masks and the text has none, this returns the error."""
    try:
        return view.answer(item=item)
    except InputError as error:
        if view.writes:
            raise
        return error


def read_text(view: View, side: Side, item: int, batch: bool) -> Encoding:
    """A text as the model reads it. Raises an `InputError` if it cannot; in a batch of several texts, the error names the text
    by its number."""
    try:
        return view.encoding(side, item)
    except InputError as error:
        if not batch or len(view.sources) == 1:
            raise
        if side == "source":
            raise InputError("Text {number} cannot be read. {problem}", number=item + 1, problem=error) from None
        raise InputError("Target {number} cannot be read. {problem}", number=item + 1, problem=error) from None


def present_view() -> tuple[View, InputError | None]:
    """The view of the sidebar, and None. If a text has numbers that are not valid ids: the last view of this session,
    and the error. Raises the error if there is no last view."""
    try:
        return current_view(), None
    except InputError as error:
        last = st.session_state.get(LAST)
        if last is None:
            raise
        return last, error


def of_view_or_last(view: View, compute: Callable[[View], Result]) -> tuple[Result, View, HeadlightError | None]:
    """The result of `compute` for a view, the view, and None. If a text cannot be read: the result for the last view of this
    session that could be computed, that view, and the error of the given view. Raises the error if there is no last view, or
    if `compute` fails for it, too."""
    problem = None
    view.enter_line()
    try:
        result = compute(view)
    except HeadlightError as error:
        last = st.session_state.get(LAST)
        if last is None:
            raise
        last.enter_line()
        try:
            result = compute(last)
        except HeadlightError:
            raise error from None
        view, problem = last, error
    st.session_state[LAST] = replace(view, problem=None)
    return result, view, problem
