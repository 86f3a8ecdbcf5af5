"""The one place that tells a person what went wrong."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException, StopException

from pages.widgets.text import text
from transformer import HeadlightError
from transformer.vocabulary import Unknown

# Unknown tokens that are named one by one.
MOST_UNKNOWN = 4
LOG = logging.getLogger("headlight")
# Where an address is broken by a sign of no width: Markdown makes a link of it even where all its punctuation is escaped.
ADDRESS = re.compile(r"(?<=://)|(?<=www)(?=\.)|(?<=@)", re.IGNORECASE)
WORD_JOINER = "\u2060"


@contextmanager
def explained() -> Iterator[None]:
    """Show what is said by an error the library raised on purpose, and stop the page. Anything else is a fault of ours: a
    person gets an apology, the log gets the stack trace.

    Stops by raising what `st.stop` raises. `st.stop` itself asks the whole run to stop, and nothing could be drawn below.
    """
    words = text("common")
    try:
        yield
    except (StopException, RerunException):
        raise
    except HeadlightError as error:
        st.error(literal(str(error)), icon=":material/error:")
        raise StopException from None
    except Exception:
        LOG.exception("a page failed")
        st.error(words["fault"], icon=":material/bug_report:")
        raise StopException from None


def warn_unknown(side: str, unknown: tuple[Unknown, ...], accepts: str) -> None:
    """Say which tokens the model does not know, what it knows instead, and what may be typed; of many, the first few."""
    words = text("common")
    if not unknown:
        return
    lines = []
    for token in unknown[:MOST_UNKNOWN]:
        closest = words["closest"].format(tokens=", ".join(token.closest)) if token.closest else ""
        lines.append(words["unknown"].format(side=side, token=token.token, closest=closest))
    if len(unknown) > MOST_UNKNOWN:
        lines.append(words["unknown_more"].format(count=len(unknown) - MOST_UNKNOWN))
    lines.append(words["trained_on"].format(accepts=accepts))
    st.warning("  \n".join(map(literal, lines)), icon=":material/help:")


def literal(said: str) -> str:
    """A text with nothing in it that Markdown would read as markup."""
    parts = ADDRESS.sub(WORD_JOINER, said)
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!|<>~$:&^=" else sign for sign in parts)
