"""A file that a visitor opens on a page. Its value stays in the session until another file is opened or the page reloads."""

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.view.turns import aside
from pages.ui.escaping import literal
from pages.ui.limits import UPLOAD_MEGABYTES
from transformer import HeadlightError

Value = TypeVar("Value")


def opened_file(name: str) -> Any:
    """The value that was read from the file opened in the box `name` (`show_file_box`); None if no file is open."""
    return st.session_state.get(name)


def show_file_box(
    name: str,
    words: dict[str, str],
    read: Callable[[bytes, str], Value],
    forget: tuple[str, ...] = (),
    megabytes: int = UPLOAD_MEGABYTES,
) -> None:
    """Draw the box for a file. If a new file is refused, the file that is open stays open. The box takes files of any type, so
    that `read` refuses a file and gives the reason. Streamlit would only say "files are not allowed".

    Args:
        name: name of the box, and session key of the value that `read` returned.
        words: the texts `file`, in which `{megabytes}` is filled in, and optionally `file_help`.
        read: makes a value from the contents and the name of a file. `show_refused` draws the errors that it raises.
        forget: keys of the session that belong to the file that was open before.
        megabytes: the size of the largest file that the browser sends.
    """
    key = f"{name}_box_{st.session_state.get(f'{name}_count', 0)}"
    label, asked = words["file"].format(megabytes=megabytes), (name, key, read, forget)
    st.file_uploader(label, max_upload_size=megabytes, key=key, on_change=_take, args=asked, help=words.get("file_help"))


def show_refused(name: str, template: str) -> bool:
    """Draw why the last file was refused in the box `name` (`show_file_box`), if it was; returns whether it was. `template` has
    a place for the `{problem}`."""
    problem = st.session_state.get(f"{name}_refused")
    if problem:
        st.error(template.format(problem=problem), icon=":material/block:")
    return bool(problem)


def _take(name: str, key: str, read: Callable[[bytes, str], object], forget: tuple[str, ...]) -> None:
    """Read the file. Called before the app runs again."""
    state = st.session_state
    file = state.get(key)
    if file is None:
        return
    # The number is part of the key of the box, because Streamlit forgets the file when the box has a new key.
    state[f"{name}_count"], state[f"{name}_refused"] = state.get(f"{name}_count", 0) + 1, ""
    try:
        with aside():
            state[name] = read(file.getvalue(), file.name)
        for each in forget:
            state.pop(each, None)
    except HeadlightError as problem:
        state[f"{name}_refused"] = literal(sentence(problem))
    st.rerun()  # runs the whole app, because the sidebar or a list above the box can have one more line
