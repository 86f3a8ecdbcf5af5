"""Three mask conventions, applied to the same scores, and how each of their numbers is computed; and the weights of a query
whose keys are all masked."""

import math
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from pages.masks.batch import Batch
from pages.masks.explained_masks import Rule, explain_pair, named
from pages.masks.mask_pictures import target_rules
from pages.shell.view import card_heads
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import formula_with_numbers
from pages.shell.view.head_links import show_training_link
from pages.shell.view.map_names import map_names
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import latex, number
from pages.ui.presenting import presenting
from pages.ui.text import text
from transformer.analysis.cell import explanation_of, softmax_of
from transformer.analysis.head_measures import measure
from transformer.analysis.mask_conventions import FIELDS, Convention, conventions, empty_row
from transformer.figures.mask_conventions_figures import Stages, convention_stages, empty_rows, written_number
from transformer.figures.theme import KIND_COLORS
from transformer.patching import Head
from transformer.tracing.paths import Kind

COLUMN = 300  # px: width of a convention
# The decoder comes first, because only its self-attention has a mask that hides the future.
ORDER = (Kind.DECODER, Kind.CROSS, Kind.ENCODER)
# The pictures of a convention, from top to bottom, and the traces that draw each of them.
MASK, BEFORE, MASKED, WEIGHTS = range(4)
TRACES_OF_STAGE = 2


def pick_head(batch: Batch) -> Head:
    """Draw pickers of kind of attention, layer and head; returns the picked head. The choice is kept in the URL."""
    kinds = [kind for kind in ORDER if kind in batch.trace.kinds]
    chosen = card_heads.pick_head(batch.trace, None, kinds, text("masks")["kind_help"])
    show_training_link(batch.view, batch.item, *chosen)
    return chosen


def show_conventions(batch: Batch, chosen: Head) -> None:
    """Draw a column for each way to apply a mask (convention): the mask, the scores before and after masking, the weights."""
    words, trace, item, kind = text("masks"), batch.trace, batch.item, Kind.of(chosen.kind)
    path, side = kind.path(chosen.layer), kind.keys
    scores = trace[path / "scores"].values[item, chosen.head]
    ids = batch.view.pipeline.batch([batch.ids(side)], side)[0]
    compared = conventions(scores, ids, kind, trace.config)
    queries, keys = map_names(batch.view, trace, kind, item)
    st.caption(words["conventions_caption"])
    # The figures have the same height, so bottom alignment keeps them level below texts of different lengths.
    # The columns scroll sideways on a narrow page (app.css). In the large type for a projector, they stand one below the other.
    row = st.container() if presenting() else st.container(horizontal=True, vertical_alignment="bottom", key="conventions")
    places = [row.container(width="stretch" if presenting() else COLUMN) for _ in compared]
    below = st.container()

    def explain(one: Convention, cell: Cell) -> None:
        query, key = cell.row, cell.column
        padding = one.config.target_padding
        rules = target_rules(batch, padding, query, key) if side == "target" else [batch.no_padding(side, key)]
        pair = named(queries, query), named(keys, key)
        _explain_stage(one, cell.trace // TRACES_OF_STAGE, float(scores[query, key]), query, key, pair, rules)

    for place, one in zip(places, compared, strict=True):
        with place:
            st.markdown(f"**`{one.name}`**")
            # The variants hide padding in different ways only where a decoder attends to itself.
            hides = words["convention_hides"][one.name if kind == Kind.DECODER else "keys"]
            st.caption(words["conventions"][one.name].format(hides=hides))
            before, masked, weights = one.before.numpy(), one.masked.numpy(), one.weights.numpy()
            stages = Stages(one.keep.numpy(), one.true_means == "ignore", before, masked, weights, _titles(one))
            alt = words["convention_alt"].format(name=one.name, queries=len(queries), keys=len(keys))
            show_explained(
                chart(convention_stages, stages, queries, keys, KIND_COLORS[kind]),
                f"convention-{one.name}",
                alt,
                partial(explain, one),
                hint=one is compared[-1],
                place=below,
            )
    own = trace[path / "weights"].values[item, chosen.head].numpy()
    st.markdown(f"**{words['compare']}**")
    st.dataframe(_compared(compared, own), hide_index=True, width="stretch")
    st.caption(_verdict(compared, batch))


def _titles(one: Convention) -> tuple[str, str, str, str]:
    words, config = text("masks")["stages"], one.config
    width = config.d_head if config.score_divisor == "d_head" else config.d_model
    late, fill = config.mask_before_scaling, written_number(config.mask_fill)
    return (
        words[f"mask_{one.true_means}"],
        words["before_raw"] if late else words["before_scaled"].format(width=width),
        (words["hidden_then_divided"] if late else words["hidden"]).format(fill=fill, width=width),
        words["weights"],
    )


def _compared(compared: tuple[Convention, ...], own: np.ndarray) -> pd.DataFrame:
    """A table with one row for each convention: its settings, hidden cells, rows without an open cell, entropy, and largest
    difference from `own`, the weights of the model."""
    names, rows = text("masks")["compare_columns"], []
    for one in compared:
        weights = one.weights.numpy()
        rows.append(
            {
                names["convention"]: one.name,
                names["fill"]: written_number(one.config.mask_fill),
                names["divisor"]: round(one.config.score_scale, 3),
                names["hidden"]: int((~one.keep).sum()),
                names["empty"]: int(one.empty.sum()),
                names["entropy"]: round(float(measure(weights[None, None])["entropy"][0, 0]), 4),
                names["difference"]: written_number(float(abs(weights - own).max()), 3),
            }
        )
    return pd.DataFrame(rows)


def _verdict(compared: tuple[Convention, ...], batch: Batch) -> str:
    """A sentence that says which convention the model uses, or that it uses none of them."""
    words, config = text("masks"), batch.view.pipeline.config
    own = [one.name for one in compared if all(getattr(one.config, name) == getattr(config, name) for name in FIELDS)]
    return words["own"].format(name=own[0]) if own else words["own_none"]


def show_empty_row(batch: Batch, chosen: Head) -> None:
    """Draw the weights of the last query as if all its keys were masked. They are uniform, NaN or zeros, depending on how the
    mask is applied."""
    words, trace, item = text("masks"), batch.trace, batch.item
    queries, keys = trace.tokens(chosen.kind, item)
    path = Kind.of(chosen.kind).path(chosen.layer)
    scores = trace[path / "scores"].values[item, chosen.head, -1]
    values = trace[path / "value.heads"].values[item, chosen.head]
    low, none = (empty_row(scores, values, fill) for fill in (-10_000.0, float("-inf")))
    ways = (("low", low.plain, low.plain_output), ("nan", none.plain, none.plain_output), ("zero", none.ours, none.ours_output))
    st.markdown(words["empty_text"].format(query=len(queries) - 1))
    figure = chart(empty_rows, [(words["empty_ways"][name], weights.numpy()) for name, weights, _ in ways], keys)
    shares = {name: written_number(float(weights[0]), 3) for name, weights, _ in ways}

    def explain(cell: Cell) -> None:
        name, weights, _ = ways[cell.row]
        _explain_empty(name, float(weights[cell.column]), len(keys))

    alt = words["empty_alt"].format(keys=len(keys), **shares)
    show_explained(figure, "empty-rows", alt, explain, tells=True)
    st.markdown(words["empty_metrics"])
    for place, (name, weights, output) in zip(st.columns(3), ways, strict=True):
        place.metric(words["empty_ways"][name], written_number(float(output.norm()), 4), help=words["empty_metric_help"])
        place.caption(words["empty_says"][name].format(total=written_number(float(weights.sum()), 4)))
    says = words["empty_here"].format(rows=batch.padded) if batch.padded else words["empty_not_here"]
    if batch.padded:
        says += " " + words["empty_read" if batch.inside() else "empty_unread"]
    st.info(says, icon=":material/table_rows:")


def _explain_stage(
    one: Convention, stage: int, score: float, row: int, column: int, names: tuple[str, str], rules: list[Rule]
) -> None:
    """Show how one number of a convention is computed: the cell at `row` and `column` (from 0) of one of its four pictures.

    Args:
        stage: the picture, one of `MASK`, `BEFORE`, `MASKED` and `WEIGHTS`.
        score: the score of the head, neither divided nor masked.
        names: the query and the key, with their positions.
        rules: the rules of the convention's mask for the two tokens.
    """
    words, steps, config = text("masks"), text("steps")["explanations"], one.config
    kept, late = bool(one.keep[row, column]), config.mask_before_scaling
    before, masked = float(one.before[row, column]), float(one.masked[row, column])
    tokens = {"row": literal(names[0]), "column": literal(names[1])}
    if stage == MASK:
        explain_pair(*names, kept, rules)
        st.caption(
            words["stages_explained"][f"mask_{one.true_means}"].format(name=one.name, value=bool(one.written[row, column]))
        )
    elif stage == BEFORE:
        st.markdown(words["stages_explained"]["score"].format(**tokens) if late else steps["scaled_scores"].format(**tokens))
        st.latex(latex(before) if late else _divided(score, config.score_scale, before))
    elif stage == MASKED:
        said = steps["kept" if kept else "replaced"].format(**tokens, fill=number(config.mask_fill), score=number(before))
        st.markdown(" ".join([said, *([words["stages_explained"]["divided"]] if late else [])]))
        passed = before if kept else config.mask_fill
        st.latex(_divided(passed, config.score_scale, masked) if late else latex(masked))
    else:
        scores = one.masked[row].double().numpy()
        explained = explanation_of(softmax_of(scores, column, "key"), float(one.weights[row, column]), column)
        extra = {name: number(value) for name, value in explained.extra}
        st.markdown(steps["weights" if explained.operation == "softmax" else "empty"].format(**tokens, **extra))
        st.latex(formula_with_numbers(explained) or "0")


def _divided(score: float, divisor: float, result: float) -> str:
    return rf"\frac{{{latex(score)}}}{{{latex(divisor)}}} = {latex(result)}"


def _explain_empty(way: str, weight: float, keys: int) -> None:
    """Show how the weight of a key is computed if all keys of the query are hidden.

    Args:
        way: `low`, `nan` or `zero`.
        weight: the weight; NaN for the way `nan`.
        keys: the number of keys.
    """
    st.markdown(text("masks")["empty_explained"][way].format(count=keys))
    if way == "low":
        st.latex(rf"\frac{{e^0}}{{{keys} \cdot e^0}} = \frac{{1}}{{{keys}}} = {latex(weight)}")
    else:
        result = r"\text{NaN}" if math.isnan(weight) else latex(weight)
        arrow = "=" if math.isnan(weight) else r"\longrightarrow"
        st.latex(rf"\frac{{e^{{-\infty}}}}{{{keys} \cdot e^{{-\infty}}}} = \frac{{0}}{{0}} {arrow} {result}")
