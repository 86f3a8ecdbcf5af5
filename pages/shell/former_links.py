"""Links of earlier versions, rewritten with today's parameter names and values."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import streamlit as st

from pages.shell.frame.parts import PAGE
from pages.ui.compat import opens_from_history
from pages.ui.pickers import option_id

Query = Mapping[str, list[str]]


def _same(value: str) -> str:
    return value


def _number(value: str) -> str:
    """`2 · cat` and `2: cat` → `2`."""
    return re.sub(r"^(\d+)( · |: ).*$", r"\1", value, flags=re.DOTALL)


def _token(value: str) -> str:
    """`17 · cat` → `cat`."""
    return re.sub(r"^\d+ · ", "", value)


class Row(NamedTuple):
    """The translation of a former parameter.

    Attributes:
        name: today's name.
        value: converts a former value to today's.
        only: a pattern that all former values match. It tells former values from today's if the name has another meaning now.
    """

    name: str
    value: Callable[[str], str] = _same
    only: str = ".*"


# Page → former name → its translation. Includes names that stayed the same, but whose values changed.
FORMER: dict[str, dict[str, Row]] = {
    "attention": {
        "attention_computed": Row("computed"),
        "look": Row("part"),
        "combine": Row("combine", option_id),
        "row": Row("query", _number, only=r"\d+ · .*"),
        "cell_row": Row("row", _number),
        "cell_column": Row("column", _number),
        "matters": Row("position", _number),
    },
    "layers": {
        "layers_computed": Row("computed"),
        "part": Row("part", option_id),
        "walk_item": Row("item"),
        "walk_head": Row("head"),
        "walk_speed": Row("speed"),
        "film_layer": Row("group", option_id),
        "work_layer": Row("group", option_id),
        "ledger_layer": Row("group", option_id),
        "ledger_work": Row("work", option_id),
        "ledger_part": Row("search"),
        "ledger_count": Row("counted", option_id),
        "ledger_along": Row("along"),
        "ledger_log": Row("logarithmic"),
        "calls_tree": Row("tree", option_id),
        "calls_differing": Row("differing"),
        "stream_stack": Row("stack"),
        "stream_measure": Row("measure"),
        "stream_follow": Row("position", _number),
        "work_part": Row("sublayer"),
        "work_position": Row("position", _number),
    },
    "masks": {
        "masks_computed": Row("computed"),
        "mask_part": Row("part", option_id),
        "mask_item": Row("item"),
        "mask_kind": Row("kind"),
        "mask_layer": Row("layer"),
        "mask_head": Row("head"),
        "leak_position": Row("position", _number),
        "leak_word": Row("word"),
        "leak_padding": Row("padding"),
    },
    "positions": {
        "positions_computed": Row("computed"),
        "positions_side": Row("side"),
        "positions_look": Row("part"),
        "positions_kind": Row("table", option_id),
        "positions_length": Row("length"),
        "positions_d_model": Row("width"),
        "positions_row": Row("position"),
        "positions_column": Row("dimension"),
        "positions_shift": Row("shift"),
        "positions_waves": Row("waves"),
        "positions_numbers": Row("vector"),
        "positions_first": Row("first", _number),
        "positions_second": Row("second", _number),
        "positions_run": Row("run", option_id),
    },
    "tokens": {
        "tokens_computed": Row("computed"),
        "tokens_side": Row("side"),
        "tokens_item": Row("item"),
        "tokens_word": Row("word", _token),
        "tokens_search": Row("search"),
    },
    "home": {"home_computed": Row("computed")},
    "turning": {"turning_computed": Row("computed")},
}
# Page → part → the parameters of the widgets in that part. Old links do not name the part: the page had no parts then, or this
# part was the first one, which a link does not name.
PARTS: dict[str, dict[str, frozenset[str]]] = {
    "tokens": {"alike": frozenset({"word"}), "vocabulary": frozenset({"search"})},
    "positions": {
        "table": frozenset({"table", "length", "width", "position", "dimension", "predict"}),
        "sum": frozenset({"side", "numbers", "vector"}),
    },
}
# Parameters of the sidebar, which every page has.
EVERYWHERE = {"model": Row("model", option_id, only="own sizes")}


def translated(page: str, query: Query) -> dict[str, list[str]]:
    """The query of a link with today's names and values. If it has both a former name and today's, today's value wins."""
    rows = {**EVERYWHERE, **FORMER.get(page, {})}
    current: dict[str, list[str]] = {}
    renamed: dict[str, list[str]] = {}
    for name, values in query.items():
        row = rows.get(name)
        if row and all(re.fullmatch(row.only, value, re.DOTALL) for value in values):
            renamed.setdefault(row.name, [row.value(value) for value in values])
        else:
            current[name] = values
    return {**renamed, **current}


def with_part(page: str, query: Query) -> Query:
    """The query of a link. If it names no part of the page, the part that has its widgets is added."""
    part = next((part for part, names in PARTS.get(page, {}).items() if names & query.keys()), None)
    return query if part is None or "part" in query else {**query, "part": [part]}


def read_former_link() -> None:
    """If the address is one of an earlier version, rewrite it with today's names and values and run the app again. Call it once
    the page is known, before any widget is drawn."""
    query = {name: st.query_params.get_all(name) for name in st.query_params}
    page = st.session_state["page"]
    today: Query = translated(page, query)
    # If the page was open already, an address without a part means the first part.
    if st.session_state.get(PAGE) != page or opens_from_history():
        today = with_part(page, today)
    if today == query:
        return
    for name in query.keys() - today.keys():
        del st.query_params[name]
    for name, values in today.items():
        if values != query.get(name):
            st.query_params[name] = values
    st.rerun()
