"""One head's attention step by step, and where any single number of it comes from."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from string import Template
from typing import Any

import pandas as pd
import streamlit as st

from pages.widgets.charts import show
from pages.widgets.problems import literal
from pages.widgets.source import show_source
from pages.widgets.text import text
from transformer import Trace, Transformer, TransformerConfig
from transformer.attention import PROJECTIONS, MultiHeadAttention
from transformer.explain import AttentionStep, Explanation, Term, attention_steps, explain
from transformer.figures import KIND_COLORS
from transformer.figures.steps import Matrix, tensor_map, tensor_maps, terms_bars
from transformer.figures.theme import ROLE_COLORS
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.masks import attention_softmax
from transformer.trace import KINDS

# Row and column of a number; and the tokens of queries and keys, by side.
Cell = tuple[int, int]
Sides = dict[str, list[str]]
# Products that a formula writes out before it says "and so on".
MOST_WRITTEN = 3
# Characters up to which a row's numbers are shown in full, and pixels of the box in which longer ones scroll.
LISTED, LISTED_HEIGHT = 600, 130
ACROSS = 3


def show_steps(model: Transformer, trace: Trace, kind: str, layer: int, head: int) -> None:
    """From the vectors that enter the attention to those that leave it: pickers, the number that is asked for, every matrix.

    Args:
        model: the one that was traced; only its weights are read.
        trace: the run; its first batch item is shown.
        kind: `encoder`, `decoder` or `cross`.
        layer, head: counted from 0.

    Raises:
        HeadlightError: the trace has no such attention.
    """
    words = text("steps")
    steps = attention_steps(trace, kind, layer, head)
    queries, keys = map(_numbered, trace.attention_tokens(kind))
    sides = {"query": queries, "key": keys}
    st.markdown(words["intro"])
    row = queries.index(_select(words["row"], queries, "row", on_change=_follow))
    overview = st.container()
    name = _pick_step(steps)
    step = next((step for step in steps if step.name == name), None)
    cell = None
    if step is not None:
        with st.container(border=True):
            _say(steps.index(step) + 1, step, trace.config, kind, head)
            cell = _pick_cell(step, sides)
            found = explain(model, trace, kind, layer, head, step.name, *cell)
            _show_explanation(step, found, sides, KIND_COLORS[kind])
            _show_matrix(step, trace, kind, head, sides, row, cell)
    with overview:
        _show_overview(steps, trace.config, head, sides, row, (name, cell))
    st.subheader(words["all"], anchor=False)
    _show_words(steps, trace.config, kind, head)


# --- pickers -----------------------------------------------------------------------------------------------------------


def _numbered(tokens: Sequence[str]) -> list[str]:
    return [f"{index} · {token}" for index, token in enumerate(tokens)]


def _select(label: str, options: Sequence[str], key: str, on_change: Callable[[], None] | None = None) -> str:
    """`pickers.pick` as a list, however few the options: tokens are long, and Markdown in them must stay as typed."""
    if st.session_state.get(key, options[0]) not in options:
        st.session_state[key] = options[0]
    return st.selectbox(label, options, key=key, bind="query-params", on_change=on_change)


def _pick_step(steps: Sequence[AttentionStep]) -> str | None:
    """Of which step a number is to be explained, or None."""
    names = [step.name for step in steps]
    if st.session_state.get("step") not in names:
        st.session_state["step"] = None
    return st.segmented_control(text("steps")["step"], names, key="step", bind="query-params", wrap=True)


def _pick_cell(step: AttentionStep, sides: Sides) -> Cell:
    words, places = text("steps"), []
    for place, axis, key in zip(st.columns(2), (0, 1), ("cell_row", "cell_column"), strict=True):
        options = _labels(step, sides, axis) or [str(index) for index in range(step.values.shape[axis])]
        with place:
            label = words[f"{key}_of"].format(axis=words["axes"][step.axes[axis]])
            places.append(options.index(_select(label, options, key)))
    return places[0], places[1]


def _follow() -> None:
    """The cell moves to the row that is followed, where it has such a row."""
    st.session_state["cell_row"] = st.session_state["row"]


def _labels(step: AttentionStep, sides: Sides, axis: int) -> list[str] | None:
    """The tokens on an axis of a step, or None where it has none."""
    side = step.tokens[axis]
    return None if side is None else sides[side]


# --- the matrices ------------------------------------------------------------------------------------------------------


def _show_overview(
    steps: Sequence[AttentionStep],
    config: TransformerConfig,
    head: int,
    sides: Sides,
    row: int,
    picked: tuple[str | None, Cell | None],
) -> None:
    """Every matrix in order, in one figure."""
    words, (name, cell) = text("steps"), picked
    matrices = []
    for number, step in enumerate(steps, start=1):
        matrix = _matrix(step, config, head, sides, row, cell if step.name == name else None)
        rows, columns = (f"{axis} {size}" for axis, size in zip(step.axes, step.values.shape, strict=True))
        title = words["heading"].format(number=number, title=words["steps"][step.name]["title"])
        matrices.append(replace(matrix, title=title, row_title=rows, column_title=columns))
    titles = ", ".join(words["steps"][step.name]["title"] for step in steps)
    show(tensor_maps(matrices), "steps", words["overview_alt"].format(count=len(steps), titles=titles))
    st.caption(words["scales"])


def _show_words(steps: Sequence[AttentionStep], config: TransformerConfig, kind: str, head: int) -> None:
    """Every step in words, side by side."""
    for first in range(0, len(steps), ACROSS):
        for place, number in zip(st.columns(ACROSS), range(first, min(first + ACROSS, len(steps))), strict=False):
            with place.container(border=True, height="stretch"):
                _say(number + 1, steps[number], config, kind, head)


def _say(number: int, step: AttentionStep, config: TransformerConfig, kind: str, head: int) -> None:
    """What a step is, why, its formula and its shape."""
    words, said = text("steps"), text("steps")["steps"][step.name]
    st.markdown(f"**{words['heading'].format(number=number, title=said['title'])}**")
    st.markdown(_why(said, step, config, kind))
    st.latex(_formula(said, step, config, kind, head))
    st.caption(_shape(step, head))


def _show_matrix(step: AttentionStep, trace: Trace, kind: str, head: int, sides: Sides, row: int, cell: Cell) -> None:
    """The matrix of one step to be read, the numbers of the row that is followed, and the lines that compute it."""
    words, config = text("steps"), trace.config
    matrix = _matrix(step, config, head, sides, row, cell)
    show(tensor_map(matrix), f"step-{step.name}", _alt(words["steps"][step.name]["title"], step))
    if matrix.selected_row is None:
        st.caption(words["every_row"])
    else:
        listed = _listed(step, sides, row)
        st.caption(words["followed"].format(row=literal(sides["query"][row])))
        st.code(listed, language=None, wrap_lines=True, height=LISTED_HEIGHT if len(listed) > LISTED else "content")
        if step.name == "weights" and step.hidden[row].all():
            fate = words["empty_zero" if config.mask_fill == -math.inf else "empty_uniform"]
            st.markdown(words["empty_row"].format(fate=fate))
    with st.expander(words["lines"], icon=":material/code:"):
        show_source(_source(step.name, config, kind))


def _matrix(step: AttentionStep, config: TransformerConfig, head: int, sides: Sides, row: int, cell: Cell | None) -> Matrix:
    axes = text("steps")["axes"]
    rows, columns = (None if side is None else [name.partition(" · ")[2] for name in sides[side]] for side in step.tokens)
    return Matrix(
        step.values,
        rows,
        columns,
        axes[step.axes[0]],
        axes[step.axes[1]],
        signed=step.name != "weights",
        # A query meets every key, so of keys and values no single row is its own.
        selected_row=row if step.tokens[0] == "query" else None,
        selected_cell=cell,
        hidden=step.hidden,
        marked_columns=(head * config.d_head, (head + 1) * config.d_head) if step.name == "concatenated" else None,
    )


def _alt(title: str, step: AttentionStep) -> str:
    words, (rows, columns) = text("steps"), step.values.shape
    row_axis, column_axis = (words["axes"][axis] for axis in step.axes)
    return words["alt"].format(title=title, rows=rows, columns=columns, row_axis=row_axis, column_axis=column_axis)


def _why(said: dict[str, str], step: AttentionStep, config: TransformerConfig, kind: str) -> str:
    variants = {
        "why_cross": kind == "cross",
        "why_shared": config.head_projection == "shared",
        "why_wide": config.score_divisor == "d_model",
        "why_open": not step.hidden.any(),
    }
    return next((said[name] for name, fits in variants.items() if fits and name in said), said["why"])


def _formula(said: dict[str, str], step: AttentionStep, config: TransformerConfig, kind: str, head: int) -> str:
    """The formula with this variant's symbols; the scores are S, then S′, then S″ in whichever order they come."""
    shared = config.head_projection == "shared" and "formula_shared" in said
    letter = {"query": "Q", "key": "K", "value": "V", "output": "O"}.get(step.name)
    with_bias = config.output_bias if step.name == "output" else config.projection_bias
    own = "" if shared or step.name == "output" else f"_{{{head + 1}}}"
    first = (step.name == "masked_scores") == config.mask_before_scaling
    rows, columns = step.values.shape
    return Template(said["formula_shared" if shared else "formula"]).substitute(
        {
            "rows": rows,
            "columns": columns,
            "head": head + 1,
            "heads": r"\;".join(f"O_{{{index + 1}}}" for index in range(config.heads)),
            "from": "M" if kind == "cross" else "X",
            "bias": f" + b^{letter}{own}" if with_bias else "",
            "into": "S" if first else "S'",
            "out": "S'" if first else "S''",
            "width": rf"d_\text{{{config.score_divisor.removeprefix('d_')}}}",
            "divisor": f"{config.score_scale:.4g}",
            "fill": _latex(config.mask_fill),
        }
    )


def _shape(step: AttentionStep, head: int) -> str:
    """The whole tensor's axes by name, and which part of it is shown."""
    words, sizes = text("steps"), dict(step.whole)
    shown = [words["shown_item"].format(number=1)] if sizes.get("batch", 1) > 1 else []
    shown += [words["shown_head"].format(number=head + 1)] if "head" in sizes else []
    axes = ", ".join(f"{axis} {size}" for axis, size in step.whole)
    return words["shape"].format(axes=axes, shown=", ".join(shown) or words["shown_all"])


def _listed(step: AttentionStep, sides: Sides, row: int) -> str:
    """The numbers of a row, each with its token where it belongs to one."""
    numbers, columns = [_number(value) for value in step.values[row].tolist()], _labels(step, sides, 1)
    if columns is not None:
        numbers = [f"{name}: {number}" for number, name in zip(numbers, columns, strict=True)]
    return "   ".join(numbers)


def _source(name: str, config: TransformerConfig, kind: str) -> Callable[..., Any]:
    """The method that computes a step."""
    layer = EncoderLayer if KINDS[kind][0] == "encoder" else DecoderLayer
    found = {
        **dict.fromkeys(("input", "memory"), layer.forward),
        **dict.fromkeys(("query", "key", "value"), PROJECTIONS[config.head_projection].forward),
        "scaled_scores": MultiHeadAttention.scale,
        "masked_scores": MultiHeadAttention.hide,
        "weights": attention_softmax,
    }
    return found.get(name, MultiHeadAttention.forward)


# --- one number --------------------------------------------------------------------------------------------------------


def _show_explanation(step: AttentionStep, found: Explanation, sides: Sides, color: str) -> None:
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
        show(bars, "step-terms", words["bars_alt"].format(count=len(terms), result=_number(found.result)))
    said = words["result" if summed else "result_plain"]
    st.markdown(said.format(result=_number(found.result), traced=_number(found.traced)))
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
        literal(names[at]) if (names := _labels(step, sides, axis)) else str(at)
        for axis, at in enumerate((found.row, found.column))
    )
    extra = {name: _number(value) for name, value in found.extra}
    if found.operation == "joined":
        extra = {"head": str(int(found["head"]) + 1), "dimension": str(int(found["dimension"]))}
    return said[own.get(found.operation, found.step)].format(row=row, column=column, path=step.path, **extra)


def _worked_out(found: Explanation) -> str:
    """The formula with its numbers, as LaTeX; empty where there is nothing to compute."""
    if found.operation == "quotient":
        (term,) = found.terms
        return rf"\frac{{{_latex(term.left)}}}{{{_latex(term.right)}}} = {_latex(found.result)}"
    if found.operation == "softmax":
        powers = _shortened([f"e^{{{_latex(term.right)}}}" for term in found.terms])
        own = found.terms[found.column]
        return (
            rf"\frac{{e^{{{_latex(own.right)}}}}}{{{powers}}} = "
            rf"\frac{{{_latex(own.value)}}}{{{_latex(found['total'])}}} = {_latex(found.result)}"
        )
    if found.operation == "sum of products":
        products = [rf"{_factor(term.left)} \cdot {_factor(term.right)}" for term in found.terms]
        bias = f" + {_factor(found['bias'])}" if "bias" in dict(found.extra) else ""
        return f"{_shortened(products)}{bias} = {_latex(found.result)}"
    return ""


def _shortened(parts: Sequence[str]) -> str:
    if len(parts) > MOST_WRITTEN + 2:
        parts = [*parts[:MOST_WRITTEN], r"\dots", parts[-1]]
    return " + ".join(parts)


def _name(term: Term, sides: Sides) -> str:
    """A term's label; a key by its token."""
    axis, _, index = term.label.partition(" ")
    return sides["key"][int(index)] if axis == "key" else term.label


def _number(value: float) -> str:
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    # Adding 0 makes −0 a plain 0.
    return f"{value + 0.0:.5g}".replace("-", "−")


def _latex(value: float) -> str:
    if math.isinf(value):
        return r"-\infty" if value < 0 else r"\infty"
    mantissa, _, exponent = f"{value + 0.0:.5g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _factor(value: float) -> str:
    return f"({_latex(value)})" if value < 0 else _latex(value)
