"""One map that combines heads or layers, and how a number of it is computed from their weights."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.attention.head_map_view import say_cells
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import aligned, mean_formula, shortened, sum_of_products
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import latex, number, numbered_tokens
from pages.ui.limits import MAP_TOKENS
from pages.ui.pickers import choice_label, pick
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.head_measures import mixed_with_stream, reachable, rollout
from transformer.figures import head_map
from transformer.figures.reduction import reduced_map
from transformer.tracing.paths import Kind


def show_combined(view: View, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Draw one heatmap that combines the weights of several heads or layers, and a picker of the way to combine them. A
    combination over heads has the heads of `layer`; one over layers has `head` of every layer. Both are from 0."""
    words = text("attention")
    allowed, (queries, keys) = shown.allowed(kind)[:, 0], map_names(view, shown, kind)
    layers = [shown.weights(kind, index)[0].numpy() for index in range(shown.layers(kind))]  # not copied into one array
    # Each way: the map, and the cells that a head of the combination may attend to. Sliding windows differ from layer to layer.
    by_layer, by_head, by_any = (some.any(0).numpy() for some in (allowed[layer], allowed[:, head], allowed.flatten(0, 1)))
    ways: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "mean-over-heads": lambda: (layers[layer].mean(0), by_layer),
        "maximum-over-heads": lambda: (layers[layer].max(0), by_layer),
        "mean-over-layers": lambda: (np.mean([of_layer[head] for of_layer in layers], axis=0), by_head),
        "maximum-over-layers": lambda: (np.max([of_layer[head] for of_layer in layers], axis=0), by_head),
        "mean-over-all": lambda: (np.mean([of_layer.mean(0) for of_layer in layers], axis=0), by_any),
    }
    if Kind.of(kind).queries == Kind.of(kind).keys:
        ways["rollout"] = lambda: (
            rollout(np.stack([of_layer.mean(0, keepdims=True) for of_layer in layers]))[layer],
            reachable(allowed.numpy())[layer],
        )
    way = pick(words["combine"], list(ways), "combine")
    st.caption(words["ways"][way].format(layer=layer + 1, head=head + 1))
    combined, open_cells = ways[way]()
    figure = chart(head_map, *reduced_map(combined, open_cells, queries, keys, MAP_TOKENS))
    alt = words["combined_alt"].format(way=choice_label("combine", way))
    if max(combined.shape) > MAP_TOKENS:  # a cell stands for several numbers
        show(figure, "combined-map", alt)
        say_cells(allowed.shape[-2:], MAP_TOKENS)
        return

    def explain(cell: Cell) -> None:
        query, key = cell.row, cell.column
        names = numbered_tokens(queries)[query], numbered_tokens(keys)[key]
        if not open_cells[query, key]:
            says = words["combined_numbers"]["unreachable" if way == "rollout" else "masked"]
            st.markdown(says.format(query=literal(names[0]), key=literal(names[1])))
        elif way == "rollout":
            _explain_rollout(layers, layer, query, key, names, keys)
        else:
            _explain_combined(way, layers, layer, head, query, key, names)

    show_explained(figure, "combined-map", alt, explain)


MOST_LISTED = 16  # terms named below the formula of a rollout, the largest first
DIGITS = 3  # significant digits of the terms of a long sum
# The weights of the heads of each layer.
Layers = Sequence[Float[np.ndarray, "head query key"]]


def _explain_combined(way: str, layers: Layers, layer: int, head: int, query: int, key: int, names: tuple[str, str]) -> None:
    """Show the weights that a mean or maximum combines, and their combination.

    Args:
        way: the way to combine, such as `mean-over-heads`.
        layer, head: the picked layer and head, counted from 0.
        query, key, names: the cell, counted from 0, and its two tokens with their positions.
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


def _explain_rollout(layers: Layers, layer: int, query: int, key: int, names: tuple[str, str], keys: Sequence[str]) -> None:
    """Show how one number of the attention rollout at a layer is computed: as a sum of products of its mean weights and the
    rollout below. In the first layer, it is the mean of its heads plus 1 on the diagonal, divided by the row's sum.

    Args:
        layer, query, key: the layer and the cell, counted from 0.
        names: the query and the key with their positions.
        keys: all tokens that are read.
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
