"""The one place that tells a person what went wrong."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.shell.models import accepts
from pages.ui.compat import PageEnd
from pages.ui.escaping import filled, literal, quoted_token
from pages.ui.text import has_text, text
from transformer import HeadlightError
from transformer.pipeline.pipeline import Side
from transformer.text.vocabulary import Unknown

# Unknown tokens that are named one by one.
MOST_UNKNOWN = 4
LOG = logging.getLogger("headlight")


@contextmanager
def explained() -> Iterator[None]:
    """Show what is said by an error the library raised on purpose, and stop the page. Anything else is a fault of ours: a
    person gets an apology, the log gets the stack trace.

    Stops by raising what `st.stop` raises. `st.stop` itself asks the whole run to stop, and nothing could be drawn below.
    """
    words = text("common")
    try:
        yield
    except HeadlightError as error:
        st.error(literal(sentence(error)), icon=":material/error:")
        raise PageEnd from None
    except Exception:
        LOG.exception("a page failed")
        st.error(words["fault"], icon=":material/bug_report:")
        raise PageEnd from None


def sentence(error: HeadlightError) -> str:
    """The sentence of an error in the language of the page."""
    values = {name: sentence(value) if isinstance(value, HeadlightError) else value for name, value in error.values.items()}
    model = st.session_state.get("model")
    if "accepts" in values and model:
        values["accepts"] = accepts(model)
    return HeadlightError(error.template, **values).sentence(text("errors") if has_text("errors") else {})


def warn_unknown(side: Side, unknown: tuple[Unknown, ...], accepts: str, number: int | None = None) -> None:
    """Say which tokens the model does not know, what it knows instead, and what may be typed; of many, the first few.

    Args:
        side: of the text.
        unknown: its tokens that are not known.
        accepts: what the model was trained on.
        number: of the text, counted from 1; None where it is the only one.
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
    lines.append(filled(words[f"trained_on_{side}"], accepts=literal(accepts)))
    st.warning("  \n".join(lines), icon=":material/help:")
