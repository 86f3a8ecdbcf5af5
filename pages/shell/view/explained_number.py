"""How one number was computed: a sentence, the formula with its numbers, and the terms as bars."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Float

from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import latex, number
from pages.ui.pickers import unfolding
from pages.ui.text import text
from transformer.analysis.cell import Explanation, Term, explanation_of, softmax_of
from transformer.analysis.head_steps import AttentionStep
from transformer.figures.head_steps_figures import terms_bars
from transformer.figures.theme import ROLE_COLORS

# The numbered tokens of each side; the keys are `query` and `key`.
Sides = dict[str, list[str]]
# A formula writes out this many terms before the dots.
MOST_WRITTEN = 3


def show_number(step: AttentionStep, explained: Explanation, sides: Sides, color: str, place: Any = st) -> None:
    """Draw how a number of an attention step was computed: a sentence, the formula with its numbers, the sum beside the traced
    number, and the terms as bars. `place`: a narrower container for all but the bars and the table of the terms. `color`: the
    bars' colour, for a step without its own."""
    words, summed = text("steps"), explained.operation == "sum of products"
    value = words["columns"]["product" if summed else "exponential"]
    place.markdown(_sentence(step, explained, sides))
    narrow = place is not st
    formula = formula_with_numbers(explained, 3 if narrow else 5, narrow)
    if formula:
        place.latex(formula)
    sentences = words["result" if summed else "result_plain"]
    place.markdown(sentences.format(result=number(explained.result), traced=number(explained.traced)))
    if not explained.agrees:
        place.warning(words["edited"], icon=":material/edit:")
    terms = [term._replace(label=_name(term, sides)) for term in explained.terms]
    if summed or explained.operation == "softmax":
        terms += [Term(words["bias"], explained["bias"], 1.0, explained["bias"])] if "bias" in dict(explained.extra) else []
        bars = chart(
            terms_bars,
            terms,
            explained.result if summed else explained["total"],
            color=ROLE_COLORS["value"] if step.name == "head_output" else ROLE_COLORS.get(step.name, color),
            picked=None if summed else explained.column,
            total=words["sum"],
            value=value,
            hover_text=words["hover_product" if summed else "hover_softmax"],
        )
        show(bars, "step-terms", words["bars_alt"].format(count=len(terms), result=number(explained.result)))
    if summed or explained.operation == "softmax":
        columns = words["columns"]
        names = [columns["term"], *columns[step.name], value]
        if table := unfolding(words["terms"], ":material/table:", "numbers"):
            table.dataframe(pd.DataFrame(terms, columns=pd.Index(names)), hide_index=True)


def labels(step: AttentionStep, sides: Sides, axis: int) -> list[str] | None:
    """The tokens on an axis of a step's matrix (0 for rows, 1 for columns), or None if the axis has no tokens."""
    side = step.tokens[axis]
    return None if side is None else sides[side]


def _sentence(step: AttentionStep, explained: Explanation, sides: Sides) -> str:
    sentences = text("steps")["explanations"]
    own = {"nothing to look at": "empty"} | {name: name for name in ("given", "kept", "replaced", "recorded", "biased")}
    row, column = (
        literal(names[position]) if (names := labels(step, sides, axis)) else str(position)
        for axis, position in enumerate((explained.row, explained.column))
    )
    extra = {name: number(value) for name, value in explained.extra}
    if explained.operation == "joined":
        extra = {"head": str(int(explained["head"]) + 1), "dimension": str(int(explained["dimension"]))}
    return sentences[own.get(explained.operation, explained.step)].format(row=row, column=column, path=step.path, **extra)


def formula_with_numbers(explained: Explanation, digits: int = 5, narrow: bool = False) -> str:
    """The formula of an explained number, with its numbers, as LaTeX; empty if nothing is computed. `digits`: significant
    digits of the factors of products. `narrow`: whether a softmax is written in two lines."""
    if explained.operation == "quotient":
        (term,) = explained.terms
        return rf"\frac{{{latex(term.left)}}}{{{latex(term.right)}}} = {latex(explained.result)}"
    if explained.operation == "softmax":
        powers = shortened([f"e^{{{latex(term.right)}}}" for term in explained.terms])
        own = explained.terms[explained.column]
        share = rf"\frac{{e^{{{latex(own.right)}}}}}{{{powers}}}"
        value = rf"= \frac{{{latex(own.value)}}}{{{latex(explained['total'])}}} = {latex(explained.result)}"
        return aligned([f"& {share}", f"& {value}"]) if narrow else f"{share} {value}"
    if explained.operation == "sum":
        return f"{shortened([factor(term.value) for term in explained.terms])} = {latex(explained.result)}"
    if explained.operation == "made from":
        return rf"{latex(explained.terms[0].value)} \;\longrightarrow\; {latex(explained.result)}"
    if explained.operation == "LayerNorm":
        mean, variance, eps = (latex(explained[name]) for name in ("mean", "variance", "eps"))
        x, gamma, beta = latex(explained.terms[0].value), factor(explained["gamma"]), factor(explained["beta"])
        mean = f"({mean})" if explained["mean"] < 0 else mean
        root = rf"\sqrt{{{variance} + {eps}}}"
        return rf"\frac{{{x} - {mean}}}{{{root}}} \cdot {gamma} + {beta} = {latex(explained.result)}"
    if explained.operation == "sum of products":
        bias = f" + {factor(explained['bias'], digits)}" if "bias" in dict(explained.extra) else ""
        products = sum_of_products([(term.left, term.right) for term in explained.terms], digits)
        return f"{products}{bias} = {latex(explained.result)}"
    return ""


def show_softmax(logits: Sequence[float] | np.ndarray, token: int) -> None:
    """Draw the softmax of logits at the index `token`, as a formula with its numbers."""
    computation = softmax_of(np.asarray(logits, np.float64), token, "vocab")
    st.latex(formula_with_numbers(explanation_of(computation, computation[-1], token)))


def smoothed_share(smoothing: float, count: int, is_right: bool) -> str:
    """The target probability of label smoothing over `count` tokens, as LaTeX: of the right token if `is_right`, otherwise of
    any other token."""
    asked = smoothing / count + (1 - smoothing if is_right else 0)
    return rf"{f'1 - {latex(smoothing)} + ' if is_right else ''}\frac{{{latex(smoothing)}}}{{{count}}} = {latex(asked)}"


def sum_of_products(pairs: Iterable[tuple[float, float]], digits: int = 5) -> str:
    """The sum of the products of pairs of numbers, without its result, as LaTeX."""
    return shortened([rf"{factor(left, digits)} \cdot {factor(right, digits)}" for left, right in pairs])


def difference_formula(first: float, second: float) -> str:
    """The difference of two numbers, as LaTeX."""
    return f"{latex(first)} - {factor(second)} = {latex(first - second)}"


def mean_formula(values: Sequence[float], digits: int = 5) -> str:
    """The mean of numbers, as LaTeX. `digits`: significant digits of the numbers."""
    total = shortened([factor(value, digits) for value in values])
    return rf"\frac{{{total}}}{{{len(values)}}} = {latex(math.fsum(values) / len(values))}"


def length_formula(vector: Float[np.ndarray, " d_model"], name: str) -> str:
    """The length of the vector `name` as the root of the sum of its squares, as a line of LaTeX for `aligned`."""
    squares = shortened([_square(value) for value in vector.tolist()])
    return rf"\lVert {name} \rVert &= \sqrt{{{squares}}} = {latex(float(np.linalg.norm(vector)))}"


def cosine_formula(a: Float[np.ndarray, " d_model"], b: Float[np.ndarray, " d_model"], result: float) -> str:
    """The cosine of the angle between two vectors, as LaTeX: their dot product, their lengths, and the quotient with its
    `result`."""
    product, *lengths = (latex(float(value)) for value in (a @ b, np.linalg.norm(a), np.linalg.norm(b)))
    dot = sum_of_products(zip(a.tolist(), b.tolist(), strict=True), 3)
    quotient = rf"\frac{{{product}}}{{{lengths[0]} \cdot {lengths[1]}}} = {latex(result)}"
    whole = rf"\frac{{a \cdot b}}{{\lVert a \rVert\,\lVert b \rVert}} &= {quotient}"
    return aligned([rf"a \cdot b &= {dot} = {product}", length_formula(a, "a"), length_formula(b, "b"), whole])


def shortened(parts: Sequence[str], between: str = " + ") -> str:
    """The parts of a formula with the sign `between` them. Of six or more parts, the first three and the last are written, with
    dots in place of the others."""
    if len(parts) > MOST_WRITTEN + 2:
        parts = [*parts[:MOST_WRITTEN], r"\dots", parts[-1]]
    return between.join(parts)


def aligned(lines: Sequence[str]) -> str:
    """The lines of a formula one below the other, aligned at the `&` in each, as LaTeX."""
    return "\n".join([r"\begin{aligned}", " \\\\\n".join(lines), r"\end{aligned}"])


def _name(term: Term, sides: Sides) -> str:
    """The label of a term. If the term belongs to a key, the label is the key's token."""
    axis, _, index = term.label.partition(" ")
    return sides["key"][int(index)] if axis == "key" else term.label


def _square(value: float) -> str:
    """The square of a number, as LaTeX. A power of ten gets parentheses, because LaTeX refuses two exponents in a row."""
    written = factor(value, 3)
    return f"({written})^2" if "^" in written and not written.startswith("(") else f"{written}^2"


def factor(value: float, digits: int = 5) -> str:
    """A number in LaTeX; in parentheses if it is negative."""
    return f"({latex(value, digits)})" if value < 0 else latex(value, digits)
