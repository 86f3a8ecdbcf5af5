"""The most probable next tokens in two runs, and the differences of their probabilities."""

from dataclasses import replace

import numpy as np
import streamlit as st

from pages.decoding.answer_player import STEP
from pages.decoding.answer_steps import Run, run_of
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import difference_formula, show_softmax
from pages.shell.view.runs import Edits
from pages.shell.view.two_answers import differing
from pages.shell.view.two_runs import KEY
from pages.shell.view.view import View
from pages.ui.charts import chart
from pages.ui.escaping import literal, quoted_tokens
from pages.ui.link_values import choose
from pages.ui.text import text
from transformer.analysis.forcing import parting
from transformer.figures.comparison_figures import three_bars

MOST_BARS = 7  # the most probable tokens of each run that have bars


def second_answer(view: View, run: Run, edits: Edits) -> Run:
    """The answer of a view's model, written with the settings of `run` and with these edits. If `edits` is empty, the edits of
    `run` are used. Its forced tokens are forced only in an answer of the same model."""
    forced = run.settings.forced if view.pipeline is run.pipeline else ()
    return run_of(view, replace(run.settings, forced=forced, edits=edits or run.settings.edits))


def show_both_steps(run: Run, other: Run, step: int) -> None:
    """Draw the probabilities of the most probable tokens at a step, counted from 0, of two answers, and how they differ. If the
    other answer has no such step, draw only a note."""
    words = text("second_run")
    if step >= len(other.chain):
        st.info(words["step_missing"].format(step=step + 1, count=len(other.chain)), icon=":material/info:")
        return
    written = run.tokens[:step], other.tokens[:step]
    differ = differing(*written)
    first, second = (quoted_tokens(tokens, differ) or words["step_nothing"] for tokens in written)
    says = words["step_differs" if differ else "step_same"].format(step=step + 1, first=first, second=second)
    parts_at = parting(*(each.tokens_of(each.generation.ids()) for each in (run, other)))
    whole = words["same_answer"] if parts_at is None else words["part"].format(step=parts_at + 1)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{says} {whole}", width="content")
        if parts_at is not None and parts_at != step and parts_at < len(run.chain):
            label = words["open_step"].format(step=parts_at + 1)
            st.button(label, key="open_step", icon=":material/arrow_forward:", on_click=_open, args=(parts_at,))
    runs = [(each, each.chain[step]) for each in (run, other)]
    names = list(dict.fromkeys(name for each, made in runs for name in each.tokens_of(each.top(made)[:MOST_BARS])))
    a, b = (_probabilities(each, each.own(made), names) for each, made in runs)
    if (a == b).all():
        st.info(words["equal"], icon=":material/check:")
        return
    figure = chart(three_bars, names, a, b)

    def explain(bar: Cell) -> None:
        """Draw how the probability of a token in a run was computed, or the difference of the two."""
        token, (first, second) = names[bar.column], (float(values[bar.column]) for values in (a, b))
        if np.isnan((first, second, second - first)[bar.row]):
            st.markdown(words["explained_missing"])
            return
        if bar.row == 2:
            st.markdown(words["explained_bar"].format(token=literal(token)))
            st.latex(difference_formula(second, first))
            return
        each, made = runs[bar.row]
        rule = text("common")["softmax_rule"]
        st.markdown(words["explained_share"].format(token=literal(token), run="AB"[bar.row], rule=rule))
        index = each.pipeline.vocabulary("target").tokens.index(token)
        show_softmax(each.step(made).own.logits[made.row].double().numpy(), index)

    show_explained(figure, KEY, words["bars_alt"].format(step=step + 1), explain)


def _open(step: int) -> None:
    """Open a step of the answer, counted from 0."""
    choose(STEP, str(step + 1))


def _probabilities(run: Run, own: np.ndarray, names: list[str]) -> np.ndarray:
    """The probabilities of the tokens `names`, taken from `own`, those of all tokens in the run's vocabulary. NaN for a token
    that this vocabulary lacks."""
    ids = {token: index for index, token in enumerate(run.pipeline.vocabulary("target").tokens)}
    return np.array([own[ids[name]] if name in ids else np.nan for name in names])
