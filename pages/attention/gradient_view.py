"""Weights of a head beside weight × gradient: does a head attend to the tokens that matter for a predicted token?"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Bool, Float

from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import factor, show_number
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.charts import chart, show
from pages.ui.escaping import literal, quoted
from pages.ui.format import fixed, latex, number, numbered_tokens, share, token_at
from pages.ui.head_grid import strongest_rows
from pages.ui.pickers import pick
from pages.ui.text import figure_labels, text
from transformer import Trace
from transformer.analysis.cell import explain
from transformer.analysis.gradients import attention_gradients, input_gradients, weights_and_gradients
from transformer.analysis.head_steps import attention_step
from transformer.figures import KIND_COLORS
from transformer.figures.attention_figures import small_head_map
from transformer.figures.whatif_figures import difference_map, probability_change
from transformer.tracing.paths import Kind

SURE = 0.99  # a token that is more probable than this has gradients near zero
FEW = 3  # fewer tokens have no order worth comparing


def show_gradients(view: View, trace: Trace, kind: str, layer: int, head: int) -> None:
    """Draw the weights of a head beside weight × gradient of a picked token's log-probability. If the head's queries are on the
    side of the output, also compare the weights in the row that predicts this token with input × gradient of each key. `kind`
    is e.g. `cross`; `layer` and `head` are from 0."""
    words = text("gradients")
    if view.pipeline.output_kind != "tokens":
        st.info(words["no_tokens"], icon=":material/info:")
        return
    st.markdown(words["intro"])
    ids, first = _explained(view, trace), view.first_row() if view.writes else 0
    names = view.pipeline.vocabulary(trace.sides[-1]).tokens_of(ids)
    labels = {place: token_at(place, name) for place, name in enumerate(names)}
    # A token that the model is sure of has gradients near zero, so the least probable one comes first.
    asked = trace.probabilities[0].numpy()[np.arange(len(ids)), ids]
    least = first + int(asked[first:].argmin())
    place = pick(words["token"], range(first, len(ids)), "gradient_of", first=least, as_list=True, labels=labels)
    weights, allowed = trace.head(kind, layer, head).numpy(), trace.head_allowed(kind, layer, head).numpy()
    queries, keys = map_names(view, trace, kind)
    (left, right), below = st.columns(2), st.container()
    at_head = view, trace, kind, layer, head
    with left:
        st.markdown(f"**{words['weight']}**")
        figure = chart(small_head_map, weights, allowed, queries, keys)
        says = f"{words['weight_alt']} {strongest_rows(weights, allowed, queries, keys)}"
        key, explain_weight = "gradient-weights", partial(_explain_weight, *at_head)
        show_explained(figure, key, says, explain_weight, hint=False, place=below, tells=True)
    with right:
        st.markdown(f"**{words['product'].format(token=quoted(names[place]))}**")
        units = {**figure_labels(), "change_of_weight": words["product_short"], "change": words["nats"]}
        product = view.run(_of_weights, view, place, ids[place])[kind][layer, head]
        figure = chart(difference_map, product, allowed, queries, keys, labels=units, small=True)
        explain_product = partial(_explain_product, *at_head, place, ids[place])
        show_explained(figure, "gradient-products", words["product_alt"], explain_product, place=below)
    most = float(abs(product).max())
    st.caption(words["maps_say"].format(most=number(most, 2)))
    if asked[place] > SURE:
        st.info(words["sure"].format(token=quoted(names[place]), share=share(float(asked[place]), 1)), icon=":material/info:")
    if Kind.of(kind).queries == trace.sides[-1]:
        shares = view.run(_of_inputs, view, place, ids[place])[Kind.of(kind).keys]
        _compare_row(weights[place], shares, trace.tokens(kind)[1], allowed[place], quoted(names[place]))


def _explain_weight(view: View, trace: Trace, kind: str, layer: int, head: int, cell: Cell) -> None:
    """Show how a weight is computed from the scores of its row."""
    model = view.pipeline.model
    explained = explain(model, trace, kind, layer, head, "weights", cell.row, cell.column)
    queries, keys = map(numbered_tokens, map_names(view, trace, kind))
    step = attention_step(trace, kind, layer, head, "weights", 0)
    show_number(step, explained, {"query": queries, "key": keys}, KIND_COLORS[kind])


def _explain_product(view: View, trace: Trace, kind: str, layer: int, head: int, position: int, token: int, cell: Cell) -> None:
    """Show a weight, its gradient and their product. The gradient is that of the log-probability (in nats) of the id `token` in
    row `position` of the logits."""
    words, place = text("gradients"), (layer, head, cell.row, cell.column)
    weight, gradient = (float(values[place]) for values in view.run(_of_weight_and_gradient, view, position, token)[kind])
    queries, keys = map(numbered_tokens, map_names(view, trace, kind))
    (name,) = view.pipeline.vocabulary(trace.sides[-1]).tokens_of([token])
    allowed = trace.head_allowed(kind, layer, head)[cell.row, cell.column]
    says = words["explained" if allowed else "explained_masked"]
    st.markdown(says.format(query=literal(queries[cell.row]), key=literal(keys[cell.column]), token=quoted(name)))
    st.latex(rf"{latex(weight)} \cdot {factor(gradient)} = {latex(weight * gradient)} \text{{ {words['nats']}}}")


def _compare_row(
    weights: Float[np.ndarray, " key"],
    shares: Float[np.ndarray, " key"],
    keys: Sequence[str],
    allowed: Bool[np.ndarray, " key"],
    token: str,
) -> None:
    """Draw the weights of one query beside the absolute values of `shares` (input × gradient of each key), scaled to a sum of
    1, and write the rank correlation of the two. `token` is the token that the row predicts."""
    words, sizes = text("gradients"), abs(shares)[allowed]
    sizes = sizes / max(float(sizes.sum()), 1e-12)
    seen, tokens = weights[allowed], [key for key, may in zip(keys, allowed, strict=True) if may]
    st.markdown(f"**{words['row'].format(token=token)}**")
    names = (words["weight_short"], words["share_short"])
    units = {**figure_labels(), "probability": words["share_axis"]}
    show(chart(probability_change, tokens, seen, sizes, names, labels=units), "gradient-row", words["row_alt"])
    if len(tokens) >= FEW and np.ptp(seen) > 0 and np.ptp(sizes) > 0:
        ranks = float(pd.Series(seen).rank().corr(pd.Series(sizes).rank()))
        st.markdown(words["agreement"].format(correlation=fixed(ranks, 2), count=len(tokens)))


def _explained(view: View, trace: Trace) -> list[int]:
    """The id whose log-probability is explained in each row of the logits: the next token of the target, or for an encoder
    alone the most probable token."""
    return view.expected(trace) if trace.target_ids else trace.logits[0].argmax(-1).tolist()


@cached
def _of_weights(view: View, position: int, token: int) -> dict[str, Float[np.ndarray, "layer head query key"]]:
    """Kind of attention → weight × gradient of the log-probability of the id `token` in row `position` of the logits, in
    nats."""
    return attention_gradients(view.pipeline, view.trace(), position, token)


@cached
def _of_weight_and_gradient(view: View, position: int, token: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Kind of attention → every weight, and the gradient with respect to it of the log-probability of the id `token` in row
    `position` of the logits; both [layer, head, query, key]."""
    return weights_and_gradients(view.pipeline, view.trace(), position, token)


@cached
def _of_inputs(view: View, position: int, token: int) -> dict[str, Float[np.ndarray, " position"]]:
    """Side → input × gradient of the log-probability of the id `token`, in nats, for every token that is read on this side."""
    return input_gradients(view.pipeline, view.trace(), position, token).values
