"""The link parameters that a page reads, and valid values for them, found by recording the page's lookups."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from streamlit.runtime.state.query_params import QueryParams
from streamlit.runtime.state.query_params_proxy import QueryParamsProxy

from benchmarks.app_server import ROOT
from pages.shell.frame.navigation import page_files
from pages.ui import pickers
from pages.ui.text import text
from tests.pages.apps import on_page

PAGES = [str(file.relative_to(ROOT)) for file in page_files()]
SIDEBAR = ("model", "source", "target", "batch", "batch_targets", "variant", "n_layers", "n_heads", "d_model", "d_ff")


class Parameters(NamedTuple):
    """The parameters and values that links to a page can contain.

    Attributes:
        names: the names of the parameters that the page reads.
        values: the ids of the options of the page's pickers.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]


@contextmanager
def watched() -> Iterator[tuple[set[str], set[str]]]:
    """Record the names of the parameters that the app reads or binds to widgets, and the ids of its pickers' options; yields
    both."""
    names: set[str] = set()
    ids: set[str] = set()
    get, bind, option_id = QueryParamsProxy.__getitem__, QueryParams.bind_widget, pickers.option_id

    def watched_get(self: QueryParamsProxy, key: str) -> str:
        names.add(key)
        return get(self, key)

    def watched_bind(self: QueryParams, param_key: str, *rest: Any, **named: Any) -> Any:
        names.add(param_key)
        return bind(self, param_key, *rest, **named)

    def watched_id(option: object) -> str:
        ids.add(option_id(option))
        return option_id(option)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(QueryParamsProxy, "__getitem__", watched_get)
        patched.setattr(QueryParams, "bind_widget", watched_bind)
        patched.setattr(pickers, "option_id", watched_id)
        yield names, ids


@functools.cache
def parameters(page: str) -> Parameters:
    """The parameters of all parts of a page. The page is run with its folds open and with several sentences to choose from."""
    with watched() as (names, ids):
        on_page(page, batch="a")
        for part in sorted(ids & {*text("choices")["part"]}) or [""]:
            query = {"part": part, "batch": "a"} if part else {}
            known = 0
            while known < len(names):  # an open fold can read more parameters
                known = len(names)
                on_page(page, **dict.fromkeys(names - {*SIDEBAR}, "true") | query)
    # If there are many words of a vocabulary, only every twentieth is used.
    chosen = {option for table in text("choices").values() for option in table}
    words = sorted(option for option in ids if option not in chosen and not option.isdecimal())
    values = {*ids.difference(words), *(words if len(words) < 100 else words[::20])}
    return Parameters(tuple(sorted({*names, *SIDEBAR})), tuple(sorted(values)))
