"""Choices that stand in the address by id, and are shown by their labels."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages.ui.format import numbered_tokens
from pages.ui.link_values import publish, seed
from pages.ui.text import text
from transformer import Trace

Option = TypeVar("Option")

MOST_BUTTONS = 12


def pick(
    label: str,
    options: Sequence[Option],
    key: str,
    help: str | None = None,
    first: Option | None = None,
    as_list: bool = False,
    labels: Mapping[Any, str] | None = None,
    on_change: Callable[[], None] | None = None,
    written: Callable[[Option], str] | None = None,
) -> Option:
    """One of a few options as buttons, one of many as a list.

    Args:
        label: above the choice.
        options: what there is to choose from.
        key: in the session and in the address.
        help: shown when its question mark is pointed at.
        first: which to take where nobody has chosen, or what a link or another model has left is not there; by default the
            first of the options.
        as_list: whether it is a list, however few the options.
        labels: what an option is called, for those that `choices.toml` does not name.
        on_change: called when a person has picked another option.
        written: an option as it stands in an address; by default as `option_id` writes it.
    """
    first = options[0] if first is None else first
    written = written or option_id
    ids = {written(option): option for option in options}
    seed(key, lambda asked: ids.get(asked or "", first), lambda value: value if value in options else first)
    shown = _shown(key, labels)
    if as_list or len(options) > MOST_BUTTONS:
        value = st.selectbox(label, options, key=key, help=help, format_func=shown, on_change=on_change)
    else:
        # In columns and rows, Streamlit scrolls what is too wide unless told to break it into lines.
        value = st.segmented_control(
            label, options, required=True, key=key, help=help, wrap=True, format_func=shown, on_change=on_change
        )
    assert value is not None  # `seed` has set one
    publish(key, None if value == first else written(value))
    return value


def pick_or_none(
    label: str,
    options: Sequence[Option],
    key: str,
    placeholder: str = "",
    help: str | None = None,
    as_list: bool = True,
    labels: Mapping[Any, str] | None = None,
    written: Callable[[Option], str] | None = None,
) -> Option | None:
    """One of many as a list or as buttons, or none until somebody picks. `placeholder` is shown for none; the rest as for
    `pick`."""
    written = written or option_id
    ids = {written(option): option for option in options}
    seed(key, lambda asked: ids.get(asked or ""), lambda value: value if value in options else None)
    shown = _shown(key, labels)
    if as_list:
        value = st.selectbox(label, options, None, shown, key, help, placeholder=placeholder)
    else:
        value = st.segmented_control(label, options, key=key, help=help, wrap=True, format_func=shown)
    publish(key, None if value is None else written(value))
    return value


def pick_text(trace: Trace, help: str | None = None, first: int = 0) -> int:
    """Which text of the batch, counted from 0; asked only where there are several. In a link they are counted from 1."""
    count = trace.batch_size
    return pick(text("common")["item"], range(1, count + 1), "item", help, first + 1) - 1 if count > 1 else 0


def pick_position(
    label: str,
    tokens: Sequence[str],
    key: str = "position",
    positions: Sequence[int] | None = None,
    first: int | None = None,
    help: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> int:
    """The position of one of the tokens, picked from a list: tokens are long, and Markdown in them must stay as typed.

    Args:
        label: above the list.
        tokens: all of them.
        key: in the session and in the address.
        positions: those that may be picked; None for all.
        first: the position to start from.
        help: shown when the question mark of the list is pointed at.
        on_change: called when a person has picked another position.
    """
    labels = dict(enumerate(numbered_tokens(tokens)))
    options = range(len(tokens)) if positions is None else positions
    return pick(label, options, key, help, first, as_list=True, labels=labels, on_change=on_change)


def search_box(label: str, placeholder: str, max_chars: int) -> str:
    """What a person searches for on this page; stands in the address as `search`."""
    seed("search", lambda asked: (asked or "")[:max_chars], lambda value: value)
    value = st.text_input(label, key="search", placeholder=placeholder, max_chars=max_chars)
    publish("search", value or None)
    return value


def unfolding(label: str, icon: str, key: str) -> Any:
    """A fold that stands open or closed in the address; its place to draw in while it is open, else None: what is closed
    would be sent with every click."""
    seed(key, lambda asked: asked == "true", lambda value: value)
    fold = st.expander(label, icon=icon, key=key, on_change="rerun")
    publish(key, "true" if fold.open else None)
    return fold if fold.open else None


def option_id(option: object) -> str:
    """An option as it stands in an address: `add and norm` as `add-and-norm`."""
    return str(option).lower().replace(",", "").replace(" ", "-")


def choice_label(key: str, option: object) -> str:
    """What an option of a choice is called, as `choices.toml` has it; else the option as it is."""
    return text("choices").get(key, {}).get(option_id(option), str(option))


def _shown(key: str, labels: Mapping[Any, str] | None) -> Callable[[Any], str]:
    return lambda option: (labels or {}).get(option) or choice_label(key, option)


def pick_number(
    label: str,
    key: str,
    least: int,
    most: int,
    first: int | None = None,
    placeholder: str | None = None,
    help: str | None = None,
    disabled: bool = False,
    width: int = 190,
) -> int | None:
    """A whole number from `least` to `most`; None while the box is empty, which it is at first where `first` is None. A number
    beyond the limits, left by a larger table, becomes the nearest one within."""

    def settled(value: int | None) -> int | None:
        return None if value is None or disabled else min(max(value, least), most)

    def read(asked: str | None) -> int | None:
        allowed = asked is not None and re.fullmatch(r"-?\d{1,9}", asked) and least <= int(asked) <= most
        return settled(int(asked) if asked is not None and allowed else first)

    seed(key, read, settled)
    value = st.number_input(
        label, least, most, None, 1, key=key, placeholder=placeholder, help=help, disabled=disabled, width=width
    )
    publish(key, None if value is None or value == first else str(value))
    return value
