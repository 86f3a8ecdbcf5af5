"""Draws the errors and warnings of all pages."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.shell.models.model_texts import accepts
from pages.ui.caches import cached
from pages.ui.compat import PageEnd
from pages.ui.escaping import filled, literal, quoted_token
from pages.ui.text import has_text, text
from transformer import HeadlightError
from transformer.errors import Remark, Sentence
from transformer.pipeline.pipeline import Side
from transformer.tasks import TASKS, find_task
from transformer.text.vocabulary import Unknown

# So many unknown tokens are named one by one. Of the others, only the number is shown.
MOST_UNKNOWN = 4
LOG = logging.getLogger("headlight")


@contextmanager
def explained() -> Iterator[None]:
    """A context that shows an error on the page and ends the page. A `HeadlightError` is shown with its own sentence. Any other
    exception is a bug of the app. The page then shows an apology with a number, and the log has the stack trace with the same
    number.

    Raises `PageEnd` instead of calling `st.stop`, which would stop the whole run before the rest of the app is drawn.
    """
    try:
        yield
    except HeadlightError as error:
        st.error(literal(sentence(error)), icon=":material/error:")
        raise PageEnd from None
    except Exception:
        number = fault_number()
        LOG.exception("Fault %s: the page %r failed", number, st.session_state.get("page"))
        show_fault(number)
        raise PageEnd from None


def fault_number() -> str:
    """A new number for a bug of the app, which finds it in the log."""
    return secrets.token_hex(4)


def show_fault(number: str) -> None:
    """Draw the apology for a bug of the app, with its number."""
    st.error(text("common")["fault"].format(number=number), icon=":material/bug_report:")


def sentence(error: Sentence, model: str | None = None) -> str:
    """A sentence of the library in the language of the page. It says which texts a model accepts: the given one, by default
    the model of the sidebar."""
    model = model or st.session_state.get("model")
    clauses = {"accepts": accepts(model)} if model else {}
    return error.sentence(text("errors") if has_text("errors") else {}, **clauses)


def warn_remark(task_name: str, source: str) -> None:
    """Draw the remark of the model's task on a text: why its answer should not be trusted. Draws nothing without a remark."""
    remark = remark_on(task_name, source)
    if remark is not None:
        st.warning(literal(sentence(remark)), icon=":material/do_not_disturb_on:")


@cached
def remark_on(task_name: str, source: str) -> Remark | None:
    """The remark that `warn_remark` draws; None for a text without a remark."""
    return find_task(task_name).remark(source) if task_name in TASKS else None


def warn_unknown(side: Side, unknown: tuple[Unknown, ...], accepts: str, number: int | None = None) -> None:
    """Draw a warning that names the first unknown tokens, the closest known ones, and the texts the model was trained on.

    Args:
        unknown: the tokens of the text that are not in the vocabulary.
        accepts: the texts the model was trained on, as a clause; empty if that is not known.
        number: the number of the text, counted from 1; None if it is the only one.
    """
    words = text("common")
    if not unknown:
        return
    lines, where = [], words[side] if number is None else words["of_text"].format(side=words[side], number=number)
    for token in unknown[:MOST_UNKNOWN]:
        closest = filled(words["closest"], tokens=literal(", ".join(token.closest))) if token.closest else ""
        name = quoted_token(token.token, words["invisible"])
        lines.append(filled(words["unknown"], side=where, token=name, closest=closest))
    if len(unknown) > MOST_UNKNOWN:
        lines.append(filled(words["unknown_more"], count=str(len(unknown) - MOST_UNKNOWN)))
    if accepts:
        lines.append(filled(words[f"trained_on_{side}"], accepts=literal(accepts)))
    st.warning("  \n".join(lines), icon=":material/help:")
