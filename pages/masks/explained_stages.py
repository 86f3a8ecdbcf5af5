"""How a number of the three conventions is computed: the mask, the scores before and after it, and the weights; and the weights
of a query that may look nowhere."""

import math

import streamlit as st

from pages.masks.explained_masks import Rule, explain_pair
from pages.shell.view.explained_number import formula_with_numbers
from pages.ui.escaping import literal
from pages.ui.format import latex, number
from pages.ui.text import text
from transformer.analysis.cell import explanation_of, softmax_of
from transformer.analysis.mask_conventions import Convention

# The pictures of a convention, from top to bottom, and the traces that draw each of them.
MASK, BEFORE, MASKED, WEIGHTS = range(4)
TRACES_OF_STAGE = 2


def explain_stage(
    one: Convention, stage: int, score: float, row: int, column: int, names: tuple[str, str], rules: list[Rule]
) -> None:
    """Show how a number of a convention is computed.

    Args:
        stage: `MASK`, `BEFORE`, `MASKED` or `WEIGHTS`.
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


def explain_empty(way: str, weight: float, keys: int) -> None:
    """Show the weight of a key that is hidden like all others.

    Args:
        way: `low`, `nan` or `zero`.
        weight: the weight.
        keys: the number of keys.
    """
    st.markdown(text("masks")["empty_explained"][way].format(count=keys))
    if way == "low":
        st.latex(rf"\frac{{e^0}}{{{keys} \cdot e^0}} = \frac{{1}}{{{keys}}} = {latex(weight)}")
    else:
        result = r"\text{NaN}" if math.isnan(weight) else latex(weight)
        arrow = "=" if math.isnan(weight) else r"\longrightarrow"
        st.latex(rf"\frac{{e^{{-\infty}}}}{{{keys} \cdot e^{{-\infty}}}} = \frac{{0}}{{0}} {arrow} {result}")
