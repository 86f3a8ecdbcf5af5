"""The sidebar every page has: which model, which text. Its widgets live in `app.py`, so they survive a change of page, and
are bound to the URL, so a link opens the same view."""

from typing import NamedTuple

import streamlit as st

from pages.widgets.limits import TEXT_CHARACTERS
from pages.widgets.problems import explained, literal
from pages.widgets.runs import available, runs
from pages.widgets.text import text
from transformer import Pipeline, Trace
from transformer.tasks import Example, world


class View(NamedTuple):
    """What a person chose to look at.

    Attributes:
        model: name of the model.
        source: text as typed.
        target: text the decoder shall read, or None for the model's own answer.
    """

    model: str
    source: str
    target: str | None

    @property
    def pipeline(self) -> Pipeline:
        return runs().pipeline(self.model)

    def trace(self) -> Trace:
        """The trace of this view, from the shared cache."""
        return runs().trace(self.model, self.source, self.target, ())


def current_view() -> View:
    """What the sidebar holds, for the page that runs after `app.py` has drawn it."""
    target = st.session_state["target"]
    return View(st.session_state["model"], st.session_state["source"], target if target.strip() else None)


def sidebar() -> None:
    """Draw the sidebar."""
    words, models = text("sidebar"), available()
    with st.sidebar, explained():
        model = st.selectbox(
            words["model"],
            list(models),
            key="model",
            bind="query-params",
            help=words["model_help"],
            on_change=_start_anew,
        )
        card = runs().pipeline(model).card
        st.caption(literal(models[model]))
        examples = world(card.world).examples
        source = st.text_input(
            words["source"],
            value=examples[0].source,
            max_chars=TEXT_CHARACTERS,
            key="source",
            bind="query-params",
            help=words["source_help"].format(accepts=card.accepts),
        )
        st.text_input(
            words["target"],
            max_chars=TEXT_CHARACTERS,
            key="target",
            bind="query-params",
            placeholder=words["target_placeholder"],
            help=words["target_help"],
        )
        with st.popover(words["examples"], icon=":material/lightbulb:", width="stretch"):
            for index, example in enumerate(examples):
                st.button(
                    literal(example.source),
                    key=f"example-{index}",
                    help=example.look_for,
                    on_click=_take,
                    args=(example,),
                    width="stretch",
                )
        for example in examples:
            if example.source == source:
                st.info(example.look_for, icon=":material/visibility:")


def _start_anew() -> None:
    """Another model reads other texts: put its first example in place of what was typed for the last one."""
    card = runs().pipeline(st.session_state["model"]).card
    _take(world(card.world).examples[0])


def _take(example: Example) -> None:
    st.session_state["source"] = example.source
    st.session_state["target"] = ""
