"""Widgets that pick a value. The URL contains the id of the picked option, the page shows its label."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages.ui.format import numbered_tokens
from pages.ui.limits import SEARCH_CHARACTERS
from pages.ui.link_values import publish, seed
from pages.ui.text import text
from transformer import Trace

Option = TypeVar("Option")

MOST_BUTTONS = 12
# Session key of a dict: key of a widget → whether it was drawn as a list in the last run.
LISTED = "choices_listed"
# The state of a switch in a URL.
SWITCH = {"true": True, "false": False}


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
    present: Callable[[str], str] = str,
) -> Option:
    """Draw a picker and return the picked option. Up to `MOST_BUTTONS` options are drawn as buttons, more as a list.

    Args:
        options: the options, at least one.
        key: the key in the session and in the URL.
        first: the default option, which also replaces an invalid value; if it is None, the first option.
        as_list: whether to draw a list even for a few options.
        labels: option → label. By default, and for other options, the label is that of `choice_label`.
        written: converts an option to its id in a URL; by default `option_id`.
        present: converts the id in a URL, which can be an older id of an option, to its present id.
    """
    first = options[0] if first is None else first
    written = written or option_id
    ids = {written(option): option for option in options}
    seed(key, lambda asked: first if asked is None else ids[present(asked)], lambda value: value if value in options else first)
    shown, listed = _shown(key, labels), as_list or len(options) > MOST_BUTTONS
    kinds = st.session_state.setdefault(LISTED, {})
    if kinds.get(key, listed) != listed:
        # If buttons replace a list, Streamlit treats them as a new widget, which starts without a value unless one is set.
        st.session_state[key] = st.session_state[key]
    kinds[key] = listed
    if listed:
        value = st.selectbox(label, options, key=key, help=help, format_func=shown, on_change=on_change)
    else:
        # Without `wrap`, Streamlit scrolls buttons in columns that are too narrow for them.
        value = st.segmented_control(
            label, options, required=True, key=key, help=help, wrap=True, format_func=shown, on_change=on_change
        )
    assert value is not None  # `seed` has set a value
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
    """Draw a picker and return the picked option, or None until one is picked. The list shows `placeholder` for None; `key` is
    the key in the session and in the URL, and `pick` explains the other arguments."""
    written = written or option_id
    ids = {written(option): option for option in options}
    seed(key, lambda asked: None if asked is None else ids[asked], lambda value: value if value in options else None)
    shown = _shown(key, labels)
    if as_list:
        value = st.selectbox(label, options, None, shown, key, help, placeholder=placeholder)
    else:
        value = st.segmented_control(label, options, key=key, help=help, wrap=True, format_func=shown)
    publish(key, None if value is None else written(value))
    return value


def pick_text(trace: Trace, help: str | None = None, first: int = 0) -> int:
    """Draw a picker of the texts of a batch, if it has several. Returns the index of the picked text. This index and `first`,
    the default, are counted from 0; the URL counts from 1."""
    count = trace.batch_size
    return pick(text("common")["item"], range(1, count + 1), "item", help, first + 1) - 1 if count > 1 else 0


def pick_position(
    label: str,
    tokens: Sequence[str],
    key: str = "position",
    positions: Sequence[int] | None = None,
    first: int | None = None,
    help: str | None = None,
    as_list: bool = True,
) -> int:
    """Draw a picker of tokens, and return the position of the picked token, counted from 0.

    Args:
        tokens: all tokens of the text.
        positions: the positions offered; None for all.
        first: the default position; if it is None, the first one offered.
        as_list: whether to draw a list. Buttons are only for words that a model has written itself, because tokens can be long
            and buttons render Markdown in them.
    """
    labels = dict(enumerate(numbered_tokens(tokens)))
    options = range(len(tokens)) if positions is None else positions
    return pick(label, options, key, help, first, as_list=as_list, labels=labels)


def pick_switch(label: str, key: str, help: str | None = None, first: bool = False) -> bool:
    """Draw a switch, and return whether it is on. The URL has `true` or `false` if the state differs from `first`. The
    session keeps the state while other pages are open."""
    seed(key, lambda asked: first if asked is None else SWITCH[asked], bool)
    on = st.toggle(label, key=key, help=help)
    publish(key, None if on == first else str(on).lower())
    return on


def search_box(label: str, placeholder: str) -> str:
    """Draw a search box, and return its text. The URL has this text as `search`."""
    seed("search", lambda asked: (asked or "")[:SEARCH_CHARACTERS], lambda value: value)
    value = st.text_input(label, key="search", placeholder=placeholder, max_chars=SEARCH_CHARACTERS)
    publish("search", value or None)
    return value


def unfolding(label: str, icon: str, key: str) -> Any:
    """Draw an expander whose state is written in the URL. Returns the container to draw in while it is open, or None while
    it is closed: the content of a closed expander would be sent with every click."""
    seed(key, lambda asked: asked is not None and SWITCH[asked], lambda value: value)
    fold = st.expander(label, icon=icon, key=key, on_change="rerun")
    publish(key, "true" if fold.open else None)
    return fold if fold.open else None


def option_id(option: object) -> str:
    """The id of an option in a URL: `add and norm` becomes `add-and-norm`."""
    return str(option).lower().replace(",", "").replace(" ", "-")


def choice_label(key: str, option: object) -> str:
    """The label of an option in `choices.toml`; if it has no label there, the option itself as text."""
    return text("choices").get(key, {}).get(option_id(option), str(option))


def _shown(key: str, labels: Mapping[Any, str] | None) -> Callable[[Any], str]:
    return lambda option: (labels or {}).get(option) or choice_label(key, option)


def pick_several(label: str, options: Sequence[str], key: str, first: Sequence[str], help: str | None = None) -> list[str]:
    """Draw a list in which several options can be picked. Returns them in the order in which they were picked; `first` are the
    default. The URL has the ids (`option_id`) of the picked options, separated by commas."""
    ids = {option_id(option): option for option in options}

    def read(asked: str | None) -> list[str]:
        return list(first) if asked is None else list(dict.fromkeys(ids[part] for part in asked.split(",") if part))

    seed(key, read, lambda value: [option for option in value if option in options])
    value = st.multiselect(label, options, key=key, help=help, format_func=_shown(key, None), placeholder="")
    publish(key, None if value == list(first) else ",".join(map(option_id, value)))
    return value


def slide(
    label: str, least: int | float, most: int | float, first: int | float, step: int | float, key: str, help: str | None = None
) -> int | float:
    """Draw a slider from `least` to `most`, and return its number; `first` is the default. The number is an integer if the
    limits, the default and the step are integers. Only a number other than `first` is in the URL."""
    whole = all(isinstance(value, int) for value in (least, most, first, step))

    def read(asked: str | None) -> int | float:
        return first if asked is None else read_number(asked, least, most, whole)

    seed(key, read, lambda value: min(max(value, least), most))
    value = st.slider(label, least, most, step=step, key=key, help=help)
    publish(key, None if value == first else f"{value:g}")
    return value


def read_number(asked: str, least: float, most: float, whole: bool = True) -> int | float:
    """The number that a URL gives to a setting as the text `asked`. Raises `ValueError` if the text is not a plain decimal
    number (if `whole`, an integer), or if the number is not from `least` to `most`."""
    if not re.fullmatch(r"-?\d{1,9}" if whole else r"-?\d{1,9}(\.\d{1,6})?", asked, re.ASCII):
        raise ValueError(asked)
    value = int(asked) if whole else float(asked)
    if not least <= value <= most:
        raise ValueError(asked)
    return value


def kept_number(key: str, least: int, most: int, first: int) -> int:
    """The integer of a choice that has no widget, set by a click or by the URL; `first` until one is set. A number that is
    left over from another text is clamped to `least` and `most`."""

    def read(asked: str | None) -> int:
        return first if asked is None else int(read_number(asked, least, most))

    seed(key, read, lambda value: min(max(value, least), most))
    value: int = st.session_state[key]
    publish(key, None if value == first else str(value))
    return value


def linked_number(asked: str | None, least: float, most: float, first: float, whole: bool) -> int | float:
    """The number that a URL gives to a setting as the text `asked`. `first` if `asked` is None or is not allowed."""
    try:
        return first if asked is None else read_number(asked, least, most, whole)
    except ValueError:
        return first


def linked_whole(asked: str | None, first: int, least: int = 0) -> int:
    """The integer in a URL's text `asked`. `first` if `asked` is None, is not an integer, or is less than `least`. The caller
    checks whether the number is too large, because that depends on the model or the text."""
    return int(linked_number(asked, least, math.inf, first, whole=True))


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
    """Draw a box for an integer from `least` to `most`, `width` px wide. Returns the integer; None while the box is empty or
    `disabled`. If `first` is None, the box is empty at first. A number outside the limits, which can be left over from a larger
    table, is clamped."""

    def settled(value: int | None) -> int | None:
        return None if value is None or disabled else min(max(value, least), most)

    def read(asked: str | None) -> int | None:
        return settled(first if asked is None else int(read_number(asked, least, most)))

    seed(key, read, settled)
    value = st.number_input(
        label, least, most, None, 1, key=key, placeholder=placeholder, help=help, disabled=disabled, width=width
    )
    publish(key, None if value is None or value == first else str(value))
    return value
