"""Where one number of an attention comes from: a sentence, the formula with its numbers, the terms as bars."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.attention.steps_words import Sides, labels
from pages.ui.charts import show
from pages.ui.escaping import literal
from pages.ui.format import latex, number
from pages.ui.text import text
from transformer.analysis.cell import Explanation, Term
from transformer.analysis.head_steps import AttentionStep
from transformer.figures.head_steps import terms_bars
from transformer.figures.theme import ROLE_COLORS

# Products that a formula writes out before it says "and so on".
MOST_WRITTEN = 3


def show_number(step: AttentionStep, found: Explanation, sides: Sides, color: str) -> None:
    """A sentence, the formula with its numbers, the terms as bars, and the sum beside what the model computed."""
    words, summed = text("steps"), found.operation == "sum of products"
    st.markdown(_sentence(step, found, sides))
    formula = _worked_out(found)
    if formula:
        st.latex(formula)
    terms = [term._replace(label=_name(term, sides)) for term in found.terms]
    if summed or found.operation == "softmax":
        terms += [Term(words["bias"], found["bias"], 1.0, found["bias"])] if "bias" in dict(found.extra) else []
        bars = terms_bars(
            terms,
            found.result if summed else found["total"],
            color=ROLE_COLORS["value"] if step.name == "head_output" else ROLE_COLORS.get(step.name, color),
            picked=None if summed else found.column,
            total=words["sum"],
            told=words["hover_product" if summed else "hover_softmax"],
        )
        show(bars, "step-terms", words["bars_alt"].format(count=len(terms), result=number(found.result)))
    said = words["result" if summed else "result_plain"]
    st.markdown(said.format(result=number(found.result), traced=number(found.traced)))
    if not found.agrees:
        st.warning(words["edited"], icon=":material/edit:")
    if summed or found.operation == "softmax":
        columns = words["columns"]
        names = [columns["term"], *columns[step.name], columns["product" if summed else "exponential"]]
        with st.expander(words["terms"], icon=":material/table:"):
            st.dataframe(pd.DataFrame(terms, columns=pd.Index(names)), hide_index=True)


def _sentence(step: AttentionStep, found: Explanation, sides: Sides) -> str:
    said = text("steps")["explanations"]
    own = {"given": "given", "kept": "kept", "replaced": "replaced", "nothing to look at": "empty"}
    row, column = (
        literal(names[at]) if (names := labels(step, sides, axis)) else str(at)
        for axis, at in enumerate((found.row, found.column))
    )
    extra = {name: number(value) for name, value in found.extra}
    if found.operation == "joined":
        extra = {"head": str(int(found["head"]) + 1), "dimension": str(int(found["dimension"]))}
    return said[own.get(found.operation, found.step)].format(row=row, column=column, path=step.path, **extra)


def _worked_out(found: Explanation) -> str:
    """The formula with its numbers, as LaTeX; empty where there is nothing to compute."""
    if found.operation == "quotient":
        (term,) = found.terms
        return rf"\frac{{{latex(term.left)}}}{{{latex(term.right)}}} = {latex(found.result)}"
    if found.operation == "softmax":
        powers = _shortened([f"e^{{{latex(term.right)}}}" for term in found.terms])
        own = found.terms[found.column]
        return (
            rf"\frac{{e^{{{latex(own.right)}}}}}{{{powers}}} = "
            rf"\frac{{{latex(own.value)}}}{{{latex(found['total'])}}} = {latex(found.result)}"
        )
    if found.operation == "sum of products":
        products = [rf"{_factor(term.left)} \cdot {_factor(term.right)}" for term in found.terms]
        bias = f" + {_factor(found['bias'])}" if "bias" in dict(found.extra) else ""
        return f"{_shortened(products)}{bias} = {latex(found.result)}"
    return ""


def _shortened(parts: Sequence[str]) -> str:
    if len(parts) > MOST_WRITTEN + 2:
        parts = [*parts[:MOST_WRITTEN], r"\dots", parts[-1]]
    return " + ".join(parts)


def _name(term: Term, sides: Sides) -> str:
    """A term's label; a key by its token."""
    axis, _, index = term.label.partition(" ")
    return sides["key"][int(index)] if axis == "key" else term.label


def _factor(value: float) -> str:
    return f"({latex(value)})" if value < 0 else latex(value)
