"""How a clicked number of the page *Watch it learn* was computed: a sentence, and the formula with its numbers."""

import math

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.view.explained_number import aligned, difference_formula, length_formula, smoothed_share
from pages.ui.escaping import literal
from pages.ui.format import latex, number, share, whole
from pages.ui.text import text
from transformer.training.recipe import Recipe
from transformer.training.short_run import Point


def explain_loss(token: str, loss: float, given: float, smoothing: float, count: int) -> None:
    """Draw how the loss of a token was computed.

    Args:
        loss, smoothing: the cross-entropy of the token in nats; the label smoothing, from 0 to 1.
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
    """Draw how the gradient norm of a part of the model was computed from `norms`, the gradient norms of its parameters."""
    st.markdown(text("training")["explained_norm"].format(part=part, count=len(norms)))
    st.latex(aligned([length_formula(norms, "g")]))


def explain_asked_share(token: str, is_right: bool, smoothing: float, count: int) -> None:
    """Draw how the target probability of a token under label smoothing was computed. `is_right`: whether the token is the right
    one. `count` is the number of tokens of the vocabulary."""
    words = text("training")
    says = words["explained_right" if is_right else "explained_other"]
    st.markdown(says.format(token=literal(token), count=count))
    st.latex(smoothed_share(smoothing, count, is_right))


def explain_rate(recipe: Recipe, step: int) -> None:
    """Draw how the learning rate of a step, counted from 0, was computed."""
    words, rise = text("training"), recipe.rise_at(step)
    rises = rise.rising <= min(rise.falling, 1)
    falls = not rises and rise.falling < 1
    part = "rises" if rises else "falls" if falls else "peak"
    place = {"step": whole(step), "peak": number(rise.peak, 3), "warmup": whole(recipe.warmup), "last": whole(rise.last)}
    st.markdown(words[f"explained_rate_{part}"].format(**place))
    shares = {
        "rises": rf"\frac{{{step - rise.first + 1}}}{{{max(1, recipe.warmup)}}}",
        "falls": rf"\frac{{{rise.last - step}}}{{{max(1, rise.last - rise.first - recipe.warmup)}}}",
        "peak": "1",
    }
    st.latex(rf"{latex(rise.peak)} \cdot {shares[part]} = {latex(recipe.rate_at(step))}")


def explain_held_out(name: str, point: Point) -> None:
    """Draw what the loss on held-out pairs means at a point of a training. `name` is the name of the training."""
    values = {"name": name, "step": whole(point.step), "loss": number(point.held_out_loss), "exact": share(point.exact)}
    st.markdown(text("training")["explained_held_out"].format(**values))
    st.latex(f"e^{{{latex(-point.held_out_loss)}}} = {latex(math.exp(-point.held_out_loss))}")


def explain_gap(point: Point) -> None:
    """Draw how much larger the loss on held-out pairs is than the loss on the training pairs, at a point of the training."""
    values = {"step": whole(point.step), "loss": number(point.loss), "held_out": number(point.held_out_loss)}
    st.markdown(text("training")["explained_gap"].format(**values, exact=share(point.exact)))
    st.latex(difference_formula(point.held_out_loss, point.loss))
