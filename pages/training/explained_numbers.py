"""How a clicked number of the page *Watch it learn* was computed: a sentence, and the formula with its numbers."""

import math

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.view.explained_number import aligned, length_formula, smoothed_share
from pages.ui.escaping import literal
from pages.ui.format import latex, number
from pages.ui.text import text


def explain_loss(token: str, loss: float, given: float, smoothing: float, count: int) -> None:
    """Draw how the loss of a token was computed.

    Args:
        given: the probability that the model gives the token.
        count: the number of tokens of the vocabulary.
    """
    words = text("training")
    mean = (loss + (1 - smoothing) * math.log(given)) / smoothing if smoothing else 0.0  # of −log p over all tokens
    says = words["explained_loss" if smoothing else "explained_plain_loss"]
    st.markdown(says.format(token=literal(token), smoothing=number(smoothing), count=count))
    right = rf"(-\ln({latex(given)}))"
    smoothed = rf"(1 - {latex(smoothing)}) \cdot {right} + {latex(smoothing)} \cdot {latex(mean)}"
    st.latex(rf"{smoothed if smoothing else right} = {latex(loss)}")


def explain_norm(part: str, norms: Float[np.ndarray, " parameter"]) -> None:
    """Draw how the norm of the gradient of a part was computed from those of its parameters."""
    st.markdown(text("training")["explained_norm"].format(part=part, count=len(norms)))
    st.latex(aligned([length_formula(norms, "g")]))


def explain_asked_share(token: str, is_right: bool, smoothing: float, count: int) -> None:
    """Draw how the share that label smoothing asks for at a token was computed. `count` is the number of tokens."""
    words = text("training")
    says = words["explained_right" if is_right else "explained_other"]
    st.markdown(says.format(token=literal(token), count=count))
    st.latex(smoothed_share(smoothing, count, is_right))
