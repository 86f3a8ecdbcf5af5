"""A test of twelve questions in two forms, one to write before the lesson and the other after it, and the gain of a class."""

from typing import Any, TypeVar

import numpy as np
import streamlit as st
from markupsafe import Markup
from numpy.typing import NDArray

from pages.ui.format import fixed
from pages.ui.pickers import pick_number
from pages.ui.prose import line_as_html
from pages.ui.text import text

FORMS = ("a", "b")
Percent = TypeVar("Percent", float, NDArray[np.float64])


def normalised_gain(before: Percent, after: Percent) -> Percent:
    """The normalised gain: the gain between two tests, divided by the greatest possible gain (Hake 1998). `before` and `after`
    are means of a class in percent of all points; `before` is below 100."""
    return (after - before) / (100 - before)


def show_tests() -> None:
    """Draw the text about the test, and the inputs and the result of the gain of a class."""
    words = text("lessons")
    st.markdown(words["tests_text"])
    st.markdown(words["gain_text"])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        before = pick_number(words["mean_before"], "before", 0, 100)
        after = pick_number(words["mean_after"], "after", 0, 100)
        if before is not None and after is not None and before < 100:
            gain = normalised_gain(before, after)
            st.metric(words["gain"], fixed(gain, 2), help=words["gain_help"], width="content")
            kind = "low" if gain < 0.3 else "medium" if gain < 0.7 else "high"
            st.caption(words["gain_kinds"][kind])


def test_sheet(form: str, solutions: bool) -> Markup:
    """The form `a` or `b` of the test as HTML. With `solutions`, it also has the right answers and why they are right."""
    words = text("lessons")
    items = Markup("").join(_item(number, item, solutions) for number, item in enumerate(text("lesson_tests")[form], 1))
    head = Markup("<h2>{}</h2><p>{}</p><p>{}</p>").format(words["forms"][form], words["test_rule"], words["name_line"])
    return Markup('<article class="lesson-sheet">{}{}</article>').format(head, items)


def _item(number: int, item: dict[str, Any], solutions: bool) -> Markup:
    lettered = [(chr(ord("A") + place), option) for place, option in enumerate(item["options"])]
    options = Markup("").join(Markup("<li>{}: {}</li>").format(letter, line_as_html(option)) for letter, option in lettered)
    solved = Markup("")
    if solutions:
        letter = lettered[item["answer"] - 1][0]
        solved = Markup('<p class="solution">{}: {}</p>').format(letter, line_as_html(item["reason"]))
    ask = line_as_html(item["ask"])
    return Markup('<section><h3>{}. {}</h3><ul class="choices">{}</ul>{}</section>').format(number, ask, options, solved)
