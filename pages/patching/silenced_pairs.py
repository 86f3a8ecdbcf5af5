"""What silencing heads does to pronouns, from the cards of the models that were trained to look at a noun, or not to."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.shell.models.catalogue import available
from pages.shell.view.patched_runs import head_name
from pages.shell.view.runs import runs
from pages.ui.format import fixed, share, whole
from pages.ui.tables import show_table
from pages.ui.text import text
from transformer.patching import Head
from transformer.training.recipe import RECIPES

MODELS = tuple(name for name, recipe in RECIPES.items() if recipe.turning or recipe.stillness)


def show_silenced(model: str) -> None:
    """Draw a table of `MODELS`, if the shown model is one of them and its card has these measures."""
    if model not in MODELS:
        return
    measures = {name: runs().pipeline(name).card.measures.get("pronouns", {}) for name in MODELS if name in available()}
    rows = {name: _row(name, of) for name, of in measures.items() if "needed" in of}
    if model in rows:
        words = text("patching")["silenced"]
        st.header(words["title"], anchor="silenced")
        show_table(tuple(words["columns"]), tuple(rows.values()), named=True)
        st.caption(words["says"])
        st.info(words["meaning"], icon=":material/psychology_alt:")


def _row(model: str, measures: Mapping[str, Any]) -> tuple[str, ...]:
    row = [model, whole(measures["pairs"]), share(measures["right"], 1), fixed(measures["shift"], 2)]
    for head in (dict(measures, kind="cross"), measures["needed"]):
        row += [head_name(Head(head["kind"], head["layer"] - 1, head["head"] - 1)), share(head["right_without"], 1)]
    return tuple(row)
