"""Texts of the pages, read from `assets/text/<language>/`. Each language has a folder; its texts replace the English ones.

The language of a session is, in this order: the language picked in the sidebar, the link's `language`, the server's
`HEADLIGHT_LANGUAGE`, English. A language without a folder is ignored.
"""

import os
import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.compat import opens_from_history, runs_for_visitor
from pages.ui.term_links import linked, names_of
from transformer.assets import assets
from transformer.figures.labels import LABELS

FOLDER = assets() / "text"
ENGLISH = "en"
# Environment variable with the language of visitors who have not chosen one.
VARIABLE = "HEADLIGHT_LANGUAGE"
# The page whose text file has the meanings of the terms.
GLOSSARY = "glossary"
# The key in the session and in the URL.
KEY = "language"
# The language of this run. A page reads up to 400 texts, and each access to the session takes 6 µs.
_OF_RUN: ContextVar[str] = ContextVar(KEY, default="")


def text(page: str) -> dict[str, Any]:
    """The texts of a page, or of another text file such as `common`, in the language of the session, by name. A text that has
    no translation is in English. The dict is shared: never write to it.

    Call it while a page runs, never on import, because a text read on import stays in one language.
    """
    return _texts(FOLDER, language(), page)


def figure_labels() -> Mapping[str, str]:
    """The words drawn in figures, in the language of the session; a word without a translation is in English."""
    return _labels(FOLDER, language())


def has_text(page: str) -> bool:
    """Whether a page has a text file. A page without a text file is unfinished and left out."""
    return _exists(FOLDER, language(), page)


def languages() -> Mapping[str, str]:
    """The languages: name of the folder → the language's own name, which its `common.toml` has as `language`."""
    return _languages(FOLDER)


def default_language() -> str:
    """The language of the server, which `HEADLIGHT_LANGUAGE` sets; English if it sets none or one without a folder."""
    asked = os.environ.get(VARIABLE, ENGLISH)
    return asked if asked in languages() else ENGLISH


def language() -> str:
    """The language of this session. Outside a visitor's run it is the language of the server."""
    of_run = _OF_RUN.get()
    if of_run in languages():
        return of_run
    if not runs_for_visitor():
        return default_language()
    # If only a fragment reruns, perhaps in another thread than the page, no language is set yet.
    chosen = str(st.session_state.get(KEY, ""))
    chosen = chosen if chosen in languages() else default_language()
    _OF_RUN.set(chosen)
    return chosen


def start_language() -> None:
    """Set the language of this run. Call it before the first text."""
    state = st.session_state
    if state.get(KEY) not in languages() or opens_from_history():
        asked = st.query_params.get(KEY)
        state[KEY] = asked if asked in languages() else default_language()
    _OF_RUN.set(state[KEY])


def linked_language() -> dict[str, str]:
    """The query parameter for the language in a URL, as a dict; empty for the server's language."""
    return {} if language() == default_language() else {KEY: language()}


def merged(english: Any, translation: Any) -> Any:
    """The English texts, replaced by their translations. Tables are merged by name, lists of equal length by entry. A value
    stays English if the translation does not have it, or has a value of another type or length."""
    if isinstance(english, dict) and isinstance(translation, dict):
        both = {name: merged(value, translation[name]) for name, value in english.items() if name in translation}
        return {**english, **translation, **both}
    if isinstance(english, list) and isinstance(translation, list) and len(english) == len(translation):
        return [merged(*pair) for pair in zip(english, translation, strict=True)]
    return translation if type(english) is type(translation) and not isinstance(english, list) else english


# `functools.cache`, because Streamlit's cache copies the value on each call.
@cache
def _texts(folder: Path, language: str, page: str) -> dict[str, Any]:
    """The texts of a page in a language, with the terms of the glossary marked.

    Raises:
        FileNotFoundError: neither the language nor English has a file for the page.
    """
    files = [folder / name / f"{page}.toml" for name in (ENGLISH, language)]
    texts = [tomllib.loads(file.read_text(encoding="utf-8")) for file in dict.fromkeys(files) if file.exists()]
    if not texts:
        raise FileNotFoundError(files[0])
    whole = merged(*texts) if len(texts) > 1 else texts[0]
    if page == GLOSSARY or not _exists(folder, language, GLOSSARY):
        return whole
    return linked(whole, names_of(*(term.lower() for term in _texts(folder, language, GLOSSARY)["terms"])))


@cache
def _labels(folder: Path, language: str) -> Mapping[str, str]:
    return merged(dict(LABELS), _texts(folder, language, "figures") if _exists(folder, language, "figures") else {})


@cache
def _exists(folder: Path, language: str, page: str) -> bool:
    return any((folder / name / f"{page}.toml").exists() for name in (ENGLISH, language))


@cache
def _languages(folder: Path) -> Mapping[str, str]:
    names = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))
    return {name: _own_name(folder / name / "common.toml") or name for name in names}


def _own_name(file: Path) -> str:
    return tomllib.loads(file.read_text(encoding="utf-8")).get("language", "") if file.exists() else ""
