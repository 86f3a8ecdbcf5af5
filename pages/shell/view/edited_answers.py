"""A model's answer without and with edits: both texts, and the probability of each token in both runs."""

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.view.two_answers import differing, show_two_answers
from pages.shell.view.view import View
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import fixed, number
from pages.ui.text import text
from transformer import Intervention, Trace
from transformer.figures.whatif_figures import probability_change

LEAST = np.finfo(np.float32).tiny  # in place of a probability of 0, whose loss would be infinite


def show_edited_answers(
    view: View, edits: tuple[Intervention, ...], names: tuple[str, str] | None = None, key: str = "edited"
) -> None:
    """Draw the answers of the model without and with edits, and in how many places they differ. `names` are the names of the
    two runs in the titles."""
    words = text("whatif")
    clean, edited = view.answer().tokens, view.answer(edits).tokens
    titles = [words["answer_clean"], words["answer_edited"]]
    if names:
        titles = [words["answer_named"].format(name=literal(name)) for name in names]
    show_two_answers(key, titles, (clean, edited))
    length, differ = max(len(clean), len(edited)), len(differing(clean, edited))
    says = "same" if not differ else "differs_all" if differ == length else "differs"
    st.caption(words[says].format(count=differ, total=length))


def show_edited_probabilities(
    view: View,
    trace: Trace,
    edits: tuple[Intervention, ...],
    names: tuple[str, str] | None = None,
    key: str = "probability-change",
) -> None:
    """Draw the probability of each token of the answer, without edits (`trace`) and with edits, as two bars. `names` are the
    names of the two runs in the legend."""
    words = text("whatif")
    title = words["forced_named"].format(first=literal(names[0]), second=literal(names[1])) if names else words["forced"]
    st.markdown(f"**{title}**")
    st.caption(words["forced_caption"])
    tokens, before = wanted_tokens(view, trace)
    first = view.first_row()
    after, best = (values[first:] for values in view.edited(edits, view.expected(trace)))
    names = names or (words["clean"], words["edited"])
    figure = chart(probability_change, tokens, before, after, names, written=True)
    show(figure, key, words["forced_alt"])
    most = int(np.abs(after - before).argmax())
    shares, says = [fixed(values[most], 2) for values in (before, after)], []
    if shares[0] != shares[1]:
        says.append(words["forced_most"].format(token=literal(tokens[most]), before=shares[0], after=shares[1]))
        if best[most] != int(trace.probabilities[0, first + most].argmax()):
            (now,) = view.pipeline.vocabulary("target").tokens_of([int(best[most])])
            says.append(words["forced_now"].format(token=literal(now)))
    values = {"before": number(loss_of(before), 3), "after": number(loss_of(after), 3)}
    says.append(words["forced_loss"].format(**values, first=literal(names[0]), second=literal(names[1])))
    st.caption(" ".join(says))


def loss_of(probabilities: Float[np.ndarray, " token"]) -> float:
    """The loss of an answer in nats per token: the mean of −log of the probabilities that its tokens got."""
    return float(-np.log(np.maximum(probabilities, LEAST)).mean())


def wanted_tokens(view: View, trace: Trace) -> tuple[list[str], np.ndarray]:
    """The tokens that the decoder should write for the first text: the answer or the typed target, then `<eos>` unless
    `View.end()` is None. Also the probability of each in `trace`."""
    first, ids = view.first_row(), view.expected(trace)
    probabilities = trace.probabilities[0].numpy()[np.arange(len(ids)), ids]
    return list(view.pipeline.vocabulary("target").tokens_of(ids[first:])), probabilities[first:]
