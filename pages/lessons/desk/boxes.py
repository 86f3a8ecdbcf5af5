"""The input boxes of the lesson editor.

Streamlit deletes the value of a widget when another page is opened, and the whole session when the page is loaded again. So
each box starts with the value that its page view (`Kept`) stores, and stores each new value there.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages.lessons.content.value_readers import SHORT
from pages.lessons.playing.keeping import Field, Kept
from pages.ui.limits import LESSON_CHARACTERS
from pages.ui.text import text

Value = TypeVar("Value", str, float, int, bool)


def key_of(of: str, name: str, fields: Mapping[str, Field], first: Value, options: Sequence[Any] = ()) -> str:
    """The widget key of the editor's box for the field `name` of a part of the lesson, `of`. A box without a valid value gets
    the field's value in `fields` or, if this is not valid either, `first`. `options` are the allowed values of a choice."""
    key = f"own_{of}_{name}"
    state = st.session_state
    if key not in state or (options and state[key] not in options):
        value = fields.get(name, first)
        state[key] = value if type(value) is type(first) and (not options or value in options) else first
    return key


class Boxes:
    """The editor's boxes for a lesson's stop. A method that draws a box returns its value, and stores it in `view.fields`."""

    def __init__(self, view: Kept) -> None:
        self.view, self.labels = view, text("lessons")["boxes"]

    def key(self, name: str) -> str:
        """The widget key of the box for the field `name`."""
        return f"own_stop_{self.view.number}_{name}"

    def shown(self, name: str, first: str) -> str:
        """The text in a box of one line, or `first` if the box has none. Can be called before the box is drawn."""
        return str(st.session_state.get(self.key(name), self.view.fields.get(name, first)))

    def line(self, name: str, first: str = "", most: int = SHORT) -> str:
        """Draw a box of one line, for up to `most` characters, and return its text: at first the stored text, or `first`."""
        return self._noted(name, st.text_input(self.labels[name], max_chars=most, key=self._begin(name, first)))

    def lines(self, name: str, height: int, most: int = LESSON_CHARACTERS, help: str | None = None) -> str:
        """Draw a box of several lines, `height` px high, for up to `most` characters, and return its text."""
        key = self._begin(name, "")
        return self._noted(name, st.text_area(self.labels[name], max_chars=most, key=key, height=height, help=help))

    def number(self, name: str, least: float, most: float, first: float, step: float) -> float:
        """Draw a box for a number (an integer if the limits are ints), and return it: at first the stored one, or `first`."""
        key = self._begin(name, first)
        st.session_state[key] = min(max(st.session_state[key], least), most)
        return self._noted(name, st.number_input(self.labels[name], least, most, step=step, key=key, width=150))

    def flag(self, name: str, disabled: bool) -> bool:
        """Draw a switch, which is off at first, and return whether it is on."""
        return self._noted(name, st.toggle(self.labels[name], key=self._begin(name, False), disabled=disabled))

    def choice(self, name: str, options: Sequence[str], labels: Mapping[str, str]) -> str:
        """Draw a drop-down list and return the chosen option. `labels` maps each option to its label."""
        key = self._begin(name, options[0], options)
        return self._noted(name, st.selectbox(self.labels[name], options, key=key, format_func=lambda option: labels[option]))

    def pick(self, name: str, options: Sequence[str], labels: Mapping[str, str]) -> str:
        """Draw a choice as buttons and return the chosen option. `labels` maps each option to its label."""
        key = self._begin(name, options[0], options)
        value = st.segmented_control(
            self.labels[name], options, key=key, format_func=lambda option: labels[option], required=True, wrap=True
        )
        return self._noted(name, value or options[0])

    def _begin(self, name: str, first: Value, options: Sequence[Any] = ()) -> str:
        return key_of(f"stop_{self.view.number}", name, self.view.fields, first, options)

    def _noted(self, name: str, value: Value) -> Value:
        self.view.fields[name] = value
        return value
