"""The second run of a comparison, B. The URL contains B's own values; all other values are those of the first run, A."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import streamlit as st

from pages.shell.models.catalogue import trained
from pages.shell.view.runs import Edits
from pages.shell.view.view import View, view_of
from pages.ui.compat import opens_from_history
from pages.ui.limits import TEXT_CHARACTERS
from pages.ui.link_values import SECOND_RUN, memory, publish, seed
from transformer import PRESETS, InputError, Trace
from transformer.tracing.phrases import all_interventions

SOURCE, TARGET, OWN_ANSWER, MODEL, EDITS = SECOND_RUN
MENU = "second_run"  # key of the menu (second_run_menu.py)
# In an address: the separator of edits, the most characters of a model's name, and the most edits.
SEPARATOR, MODEL_CHARACTERS, MOST_EDITS = ";", 300, 20


class Asked(NamedTuple):
    """What is different in the second run of a comparison, B. An empty value means that B has the value of the first run, A.

    Attributes:
        source, target: the texts.
        own_answer: whether B's decoder reads the model's own answer, although A's reads a typed target.
        model: a choice of the picker of models.
        phrases: the edits of the model, as phrases such as `no causal mask`.
    """

    source: str = ""
    target: str = ""
    own_answer: bool = False
    model: str = ""
    phrases: tuple[str, ...] = ()

    def written(self) -> dict[str, str]:
        """The settings as URL parameters, by the names in `SECOND_RUN`; `""` for a parameter to leave out."""
        answer = "true" if self.own_answer else ""
        return dict(zip(SECOND_RUN, (self.source, self.target, answer, self.model, SEPARATOR.join(self.phrases)), strict=True))


@dataclass(frozen=True)
class SecondRun:
    """A run to compare with the sidebar's run. `view`: its model and texts; `asked`: the settings that differ."""

    view: View
    edits: Edits
    asked: Asked

    def trace(self) -> Trace:
        """The trace of the second run, from the shared cache."""
        return self.view.trace(self.edits)


def answer_of(view: View, edits: Edits) -> str | None:
    """The answer to the first text of a view, with edits of the model; None for a model that writes no answers."""
    try:
        return view.answer(edits).text
    except InputError:
        if view.writes:
            raise
        return None


def asked_run() -> Asked:
    """The settings that differ in the second run, B. They are read from the session or the URL, and written to the URL. Call it
    once in a run of the page, before widgets with the names in `SECOND_RUN` are drawn."""
    # Without a second run, a click must take no more time than drawing the button.
    if not (
        st.session_state.get(MENU) or opens_from_history() or {*st.query_params, *memory().chosen}.intersection(SECOND_RUN)
    ):
        return Asked()
    values = {}
    for name in SECOND_RUN:
        seed(name, READ.get(name, _text), bool if name == OWN_ANSWER else READ.get(name, _text))
        values[name] = st.session_state[name]
    asked = Asked(values[SOURCE], values[TARGET], values[OWN_ANSWER], values[MODEL], tuple(values[EDITS]))
    for name, written in asked.written().items():
        publish(name, written or None)
    return asked


def _text(asked: str | None) -> str:
    """A text of the URL or of a box, on one line and cut to `TEXT_CHARACTERS`; empty if it has only spaces."""
    text = " ".join((asked or "").split("\n"))[:TEXT_CHARACTERS]
    return text if text.strip() else ""


def _phrases(asked: Any) -> list[str]:
    """The edits of the URL or of the list, each once."""
    parts = (asked or "").split(SEPARATOR) if isinstance(asked, str | None) else asked
    return [phrase for phrase in dict.fromkeys(" ".join(part.split()) for part in parts) if phrase]


READ: dict[str, Any] = {
    OWN_ANSWER: lambda asked: asked == "true",
    MODEL: lambda asked: _text(asked)[:MODEL_CHARACTERS],
    EDITS: _phrases,
}


def second_run(view: View, asked: Asked) -> SecondRun:
    """The second run, B, with the values of `asked`. All else is as in the first run, A: the model of `view`, its first text,
    and the target of that text.

    Raises:
        HeadlightError: there is no such model, the model cannot be opened or cannot read a text, there are too many edits, or
            the model does not have what an edit changes.
    """
    if asked.model and asked.model != view.model and not (trained(asked.model) or asked.model in PRESETS):
        raise InputError("There is no model {model!r} here; choose one of the list.", model=asked.model)
    if len(asked.phrases) > MOST_EDITS:
        raise InputError("There are {count} edits; up to {most} can be in force.", count=len(asked.phrases), most=MOST_EDITS)
    target = asked.target or (None if asked.own_answer else view.target)
    other = view_of(asked.model or view.model, (asked.source or view.source,), (target,))
    other.enter_line()
    # The answer grows while it is written, so any of its positions is allowed.
    lengths = {"source": len(other.encoding("source").ids)} if "encoder" in other.pipeline.stacks else {}
    return SecondRun(other, all_interventions(asked.phrases, other.pipeline.config, lengths), asked)
