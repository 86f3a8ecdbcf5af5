"""How a number of a map that combines heads or layers is computed from their weights."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.view.explained_number import aligned, mean_formula, shortened, sum_of_products
from pages.ui.escaping import literal
from pages.ui.format import latex, number, numbered_tokens
from pages.ui.text import text
from transformer.analysis.head_measures import mixed_with_stream, rollout

MOST_LISTED = 16  # terms named below the formula of a rollout, the largest first
DIGITS = 3  # significant digits of the terms of a long sum
# The weights of the heads of each layer.
Layers = Sequence[Float[np.ndarray, "head query key"]]


def explain_combined(way: str, layers: Layers, layer: int, head: int, query: int, key: int, names: tuple[str, str]) -> None:
    """Show the weights that a mean or maximum combines, and their combination.

    Args:
        way: the way to combine, such as `mean-over-heads`.
        layer, head: the picked layer and head, counted from 0.
        names: the query and the key.
    """
    words = text("attention")
    over_heads = way.endswith("heads")
    weights = {
        "heads": lambda: layers[layer][:, query, key],
        "layers": lambda: np.array([of_layer[head, query, key] for of_layer in layers]),
        "all": lambda: np.array([of_layer[:, query, key].mean() for of_layer in layers]),
    }[way.rpartition("-")[2]]()
    labels = [f"{words['head' if over_heads else 'layer']} {place}" for place in range(1, len(weights) + 1)]
    (first, second), most = map(literal, names), int(weights.argmax())
    places = {"count": len(weights), "layer": layer + 1, "head": head + 1, "most": labels[most]}
    st.markdown(words["combined_numbers"][way].format(query=first, key=second, **places))
    digits = DIGITS if len(weights) > 1 else 5
    if way.startswith("maximum"):
        terms = [latex(float(weight), digits) for weight in weights]
        st.latex(rf"\max({shortened(terms, ', ')}) = {latex(float(weights[most]))}")
    else:
        st.latex(mean_formula(weights.tolist(), digits))
    st.caption(" · ".join(f"{label}: {number(float(weight))}" for label, weight in zip(labels, weights, strict=True)))


def explain_rollout(layers: Layers, layer: int, query: int, key: int, names: tuple[str, str], keys: Sequence[str]) -> None:
    """Show the sum of products that a rollout computes in a layer; in the first layer, the mean of its heads and the stream.

    Args:
        layer: the layer, counted from 0.
        names: the query and the key.
        keys: the tokens.
    """
    words, (first, second) = text("attention")["combined_numbers"], map(literal, names)
    means = np.stack([of_layer.mean(0, keepdims=True) for of_layer in layers]).astype(np.float64)
    said = words["rollout_first" if layer == 0 else "rollout"]
    st.markdown(said.format(query=first, key=second, layer=layer + 1, before=layer))
    symbol = rf"R_{{{layer + 1}}}[{query},{key}]"
    if layer == 0:
        row = means[0, 0, query] + np.eye(len(keys))[query]
        mean, own, total = (latex(float(value)) for value in (means[0, 0, query, key], query == key, row.sum()))
        st.latex(rf"{symbol} = \frac{{{mean} + {own}}}{{{total}}} = {latex(float(row[key] / row.sum()))}")
        return
    left, right = mixed_with_stream(means)[layer, query], rollout(means)[layer - 1, :, key]
    order = [int(place) for place in np.argsort(-left * right, kind="stable")]
    terms = sum_of_products([(float(left[place]), float(right[place])) for place in order], DIGITS)
    sums = rf"\sum_j A_{{{layer + 1}}}[{query},j]\,R_{{{layer}}}[j,{key}]"
    # The result has a line of its own, because on a phone a long sum scrolls sideways.
    st.latex(aligned([f"{symbol} &= {sums}", f"&= {terms}", f"&= {latex(float(left @ right))}"]))
    places = numbered_tokens(keys)
    products = [f"{literal(places[place])}: {number(float(left[place] * right[place]))}" for place in order[:MOST_LISTED]]
    st.caption("; ".join(products))
