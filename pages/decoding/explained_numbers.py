"""How a clicked number of the page *Watch it write* was computed: a sentence, and the formula with its numbers."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.decoding.answer_steps import Run
from pages.shell.view.explained_number import factor, mean_formula, shortened, show_softmax, smoothed_share
from pages.ui.escaping import literal
from pages.ui.format import latex, number
from pages.ui.text import text
from transformer.pipeline.decoding.methods import Hypothesis


def explain_probability(run: Run, made: Hypothesis, column: int, stage: int = 0, titles: Sequence[str] = ("",)) -> None:
    """Draw how the probability of the bar `column` was computed at a stage, an index of `Run.distributions`. The bars are the
    tokens of `Run.top`, then one bar for all other tokens. `titles` are the names of the stages."""
    words, top, distributions = text("decoding"), run.top(made), run.distributions(made)
    probabilities = distributions[stage]
    if column >= len(top):
        st.markdown(words["explain_rest"].format(count=len(probabilities) - len(top)))
        shown = [factor(value) for value in probabilities[top].tolist()]
        st.latex(rf"1 - \left({shortened(shown)}\right) = {latex(float(np.delete(probabilities, top).sum()))}")
        return
    (token,) = run.tokens_of([top[column]])
    says, named = words["explain_stage" if stage else "explain_own"], stage
    if not probabilities[top[column]]:
        # A token that one stage has cut off stays cut off in all later ones.
        says, named = words["explain_cut"], int((distributions[:, top[column]] == 0).argmax())
    values = {"stage": titles[named], "count": len(probabilities), "rule": text("common")["softmax_rule"]}
    st.markdown(says.format(token=literal(token), **values))
    show_softmax(run.step(made).stages[stage].logits[made.row].double().numpy(), top[column])


def explain_loss(tokens: Sequence[str], probabilities: Float[np.ndarray, " token"], column: int) -> None:
    """Draw how the loss of the token at index `column`, in nats, was computed from its probability."""
    share = float(probabilities[column])
    st.markdown(text("decoding")["explain_loss"].format(token=literal(tokens[column])))
    st.latex(rf"-\ln({latex(share)}) = {latex(-float(np.log(max(share, np.finfo(float).tiny))))}")


def explain_target(run: Run, made: Hypothesis, smoothing: float, column: int) -> None:
    """Draw how label smoothing computes the target probability of the bar `column`. The bars are the tokens of `Run.top`, then
    one bar for all other tokens. `smoothing` is from 0 to 1."""
    words, top, vocab = text("decoding"), run.top(made), len(run.own(made))
    if column >= len(top):
        rest = vocab - len(top)
        st.markdown(words["explain_asked_rest"].format(count=rest, smoothing=number(smoothing)))
        st.latex(rf"{rest} \cdot \frac{{{latex(smoothing)}}}{{{vocab}}} = {latex(rest * smoothing / vocab)}")
        return
    right = top[column] == made.token
    (token,) = run.tokens_of([top[column]])
    says = words["explain_asked" if right else "explain_asked_other"]
    st.markdown(says.format(token=literal(token), smoothing=number(smoothing), count=vocab))
    st.latex(smoothed_share(smoothing, vocab, right))


def explain_samples(token: str, drawn: int, count: int) -> None:
    """Draw how the share of samples that are the `token` was computed: `drawn` out of `count` samples."""
    st.markdown(text("decoding")["explain_drawn"].format(token=literal(token), drawn=drawn, count=count))
    st.latex(rf"\frac{{{drawn}}}{{{count}}} = {latex(drawn / count)}")


def explain_mean_weight(weights: Float[np.ndarray, " head"], layer: int, key: str) -> None:
    """Draw how the mean of `weights` was computed: the attention of each head of a layer (from 0) to the token `key`."""
    st.markdown(text("decoding")["explain_weight"].format(layer=layer + 1, key=literal(key), count=len(weights)))
    st.latex(mean_formula(weights.tolist()))
