"""Draws the errors of all pages."""

import logging
import secrets
from collections.abc import Generator
from contextlib import contextmanager

import streamlit as st

from pages.shell.models.model_texts import accepts
from pages.ui.compat import PageEnd
from pages.ui.escaping import literal
from pages.ui.text import has_text, text
from transformer import HeadlightError
from transformer.errors import Sentence

LOG = logging.getLogger("headlight")


@contextmanager
def explained() -> Generator[None]:
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
    """A new number for a bug of the app, by which the bug can be found in the log."""
    return secrets.token_hex(4)


def show_fault(number: str) -> None:
    """Draw the apology for a bug of the app, with its number."""
    st.error(text("common")["fault"].format(number=number), icon=":material/bug_report:")


def sentence(error: Sentence, model: str | None = None) -> str:
    """The text of an error or a remark, in the language of the page. If the sentence describes the texts that a model accepts,
    this model is `model`; by default, the model that is picked in the sidebar."""
    model = model or st.session_state.get("model")
    clauses = {"accepts": accepts(model)} if model else {}
    return error.sentence(text("errors") if has_text("errors") else {}, **clauses)
