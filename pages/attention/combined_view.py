"""One map that combines heads or layers."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from pages.attention.combined_numbers import explain_combined, explain_rollout
from pages.attention.head_map_view import say_cells
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import numbered_tokens
from pages.ui.limits import MAP_TOKENS
from pages.ui.pickers import choice_label, pick
from pages.ui.text import figure_labels, text
from transformer import Trace
from transformer.analysis.head_measures import reachable, rollout
from transformer.figures import head_map
from transformer.figures.reduction import reduced_map
from transformer.tracing.paths import Kind


def show_combined(view: View, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Show one map that combines heads or layers, and a picker of the way to combine them."""
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
    figure = chart(head_map, *reduced_map(combined, open_cells, queries, keys, MAP_TOKENS), labels=figure_labels())
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
            explain_rollout(layers, layer, query, key, names, keys)
        else:
            explain_combined(way, layers, layer, head, query, key, names)

    show_explained(figure, "combined-map", alt, explain, combined.shape, ("query", "key"))
