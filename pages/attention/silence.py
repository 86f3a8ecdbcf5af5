"""The answer without the shown head. A map shows to which tokens a head attends; only silencing the head (setting its weights
to 0) shows whether the answer depends on the head."""

import numpy as np
import streamlit as st

from pages.attention.head_question import MAP, SILENCE
from pages.lessons import withheld
from pages.shell.view.head_links import ROW
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.escaping import literal, quoted
from pages.ui.format import fixed, share
from pages.ui.pickers import pick_or_none
from pages.ui.prediction import asked, is_open, offer, pick_yes_or_no, show_buttons, verdict
from pages.ui.text import text
from transformer import Trace, silence
from transformer.analysis.query_to_show import cell_to_show
from transformer.text.pieces import joined_label

# Two heads clearly look at two tokens if the largest weight of each is at least this.
CLEAR = 0.6


def show_silence(view: View, trace: Trace, kind: str, layer: int, head: int) -> bool:
    """Write which token of the target loses most probability if this head is silenced (its weights set to 0), and what the
    answer then is. `layer` and `head` are from 0. Returns whether the page must still hide the effect of the head.

    If the question about the silenced head is open, draw the question instead. If the learner has just predicted where the head
    attends, draw a button that opens the question. Draw nothing while a lesson asks this question, and for a model that writes
    no answer or is not trained.
    """
    if not view.pipeline.trained or not view.writes:
        return False
    if withheld("silence-changes-answer"):
        return True
    words, question = text("prediction")["silence"], None
    if view.target is None:
        question = asked(SILENCE, (view.key, view.source, kind, layer, head), 2)
        if question is None and (is_open(ROW) or is_open(MAP)):
            offer(SILENCE, words["offer"], words["offer_help"])
            return True
    if question is not None and not question.shown:
        st.markdown(words["ask"])
        pick_yes_or_no(SILENCE, question)
        show_buttons(SILENCE, question)
        return True
    lost, same = _without(view, trace, kind, layer, (head,))
    if question is not None:
        lost = f"{verdict(question, not same)}\n\n{lost}"
    st.markdown(f":material/volume_off: {lost}", help=text("silence")["help"])
    if question is not None:
        show_buttons(SILENCE, question)
    return False


def _without(view: View, trace: Trace, kind: str, layer: int, heads: tuple[int, ...]) -> tuple[str, bool]:
    """A sentence about the probability that the answer loses without some heads of a layer, and whether the answer stays the
    same (always False if the target was typed). Layer and heads are counted from 0."""
    words, vocabulary = text("silence"), view.pipeline.vocabulary("target")
    edits = (silence(kind, layer, heads),)
    first, ids = view.first_row(), view.expected(trace)
    before, after = trace.probabilities[0].numpy()[np.arange(len(ids)), ids], view.edited(edits, ids)
    losses = before - after.given
    most = first + int(losses[first:].argmax())
    numbers = {
        "token": quoted(joined_label(vocabulary.tokens_of([ids[most]]))),
        "before": share(float(before[most]), 1),
        "after": share(float(after.given[most]), 1),
    }
    lost = words["loss" if losses[most] > 0 else "no_loss"].format(**numbers)
    if view.target is not None:
        return lost, False
    # A greedy answer is unchanged if each of its tokens is still the most probable one after the tokens before it.
    unchanged = bool((after.best[first:] == np.array(ids)[first:]).all())
    answer = view.answer(() if unchanged else edits).text
    same = answer == view.answer().text
    return lost + " " + (words["same"] if same else words["other"].format(answer=quoted(answer) or "–")), same


def show_other_need(view: View, trace: Trace, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Write to which token this head attends most, for the query that is framed at first, and to which other token another head
    of the layer does; a single head would have to average the two. Draw a choice that silences one of the two heads or both.
    Draw nothing unless both heads attend clearly. `kind` is e.g. `cross`; `layer` and `head` are from 0. `shown` is `trace`, or
    the same trace with pieces joined to words, as in the picture of the head."""
    words, (row, key) = text("silence"), cell_to_show(shown, kind, layer, head)
    weights = shown.weights(kind, layer)[0, :, row].numpy()
    elsewhere = np.where(weights.argmax(-1) != key, weights.max(-1), 0.0)
    other = int(elsewhere.argmax())
    if min(weights[head, key], elsewhere[other]) < CLEAR:
        return
    queries, keys = map_names(view, shown, kind)
    values = {"row": literal(queries[row]), "token": literal(keys[key]), "other": other + 1}
    values |= {"other_token": literal(keys[int(weights[other].argmax())])}
    values |= {"weight": fixed(float(weights[head, key]), 2), "other_weight": fixed(float(elsewhere[other]), 2)}
    st.markdown(words["several"].format(**values))
    if not view.writes:
        return
    choices = {str(head + 1): (head,), str(other + 1): (other,), "both": (head, other)}
    labels = {name: words["both"] if name == "both" else words["one"].format(head=name) for name in choices}
    chosen = pick_or_none(words["silence_one"], list(choices), "silenced", as_list=False, labels=labels)
    if chosen:
        st.markdown(f":material/volume_off: **{labels[chosen]}**: {_without(view, trace, kind, layer, choices[chosen])[0]}")
