"""Inside a step: in which layer the answer appears (logit lens), and which parts of the model contributed to a token's
logit."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.decoding.answer_steps import Run
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import formula_with_numbers
from pages.shell.view.view import View
from pages.ui.chart import narrowness
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import fixed, number
from pages.ui.pickers import pick_or_none, unfolding
from pages.ui.text import text
from transformer.analysis.cell import explanation_of, sum_of
from transformer.analysis.logit_contributions import OUTPUT_BIAS, Part, contribution, logit_contributions
from transformer.analysis.logit_lens import answer_lens, lens_number
from transformer.figures.decoding_figures import contribution_bars, lens_map, percent
from transformer.pipeline.decoding.methods import Hypothesis
from transformer.tracing.readout import Readout

SHORT = 3  # significant digits of the factors of a long sum of products
MOST_PARTS = 14  # this many parts have their own bar; the others are summed in one bar


def show_lens(view: View, run: Run) -> None:
    """Draw the logit lens of every step of the answer."""
    words, readout = text("decoding"), _readout(view)
    if readout is None:
        return
    st.markdown(words["lens_text"])
    lens = answer_lens(readout, run.generation)
    layers, steps = len(lens.top) - 1, len(run.chain)
    top = [run.tokens_of(ids) for ids in lens.top.tolist()]
    points = [words["lens_start"], *(words["lens_layer"].format(layer=layer) for layer in range(1, layers + 1))]
    drawn = (lens_map, top, lens.shares, lens.ranks, points, run.tokens, words["rank"], words["lens_hover"])
    figure = chart(*drawn)
    narrow, turned = [figure.finished.least_width or 0], narrowness("lens") > 0
    if turned:
        figure = chart(*drawn, turned=True)
    settled = [int(np.nonzero(column)[0].max(initial=-1)) + 1 for column in lens.ranks.T]
    says = words["lens_settled"].format(count=sum(depth < layers for depth in settled), total=steps)
    # `tells`, because a generated description would name the values of the colours, which are logarithms of ranks.
    show_explained(
        figure,
        "lens",
        f"{words['lens_alt'].format(layers=layers, steps=steps)} {says}",
        lambda cell: _explain_lens(readout, run, points[cell.row], cell),
        tells=True,
        narrow=narrow,
    )
    st.caption(says)
    norm = run.pipeline.config.norm_first
    final = words["lens_final"] if run.pipeline.config.final_norm else ""
    st.caption(words["lens_pre" if norm else "lens_post"] + final)


def _explain_lens(readout: Readout, run: Run, place: str, cell: Cell) -> None:
    """Draw how the logit lens computes the most probable token at a point of the residual stream, and the rank of the written
    token. `place` is the name of the point; the row of `cell` is the point, and its column is the step."""
    words, found = text("decoding"), lens_number(readout, run.generation, cell.row, cell.column)
    token, written = (literal(name) for name in run.tokens_of([found.token, run.chain[cell.column].token]))
    share = words["lens_share"].format(count=len(found.share.terms), rule=text("common")["softmax_rule"])
    capped = words["lens_capped"].format(cap=number(found.cap)) if found.cap else ""
    values = {"place": place, "step": cell.column + 1, "token": token, "logit": number(found.logit.result)}
    st.markdown(words["lens_logit"].format(**values, bias=words["lens_bias"] if dict(found.logit.extra) else ""))
    st.latex(formula_with_numbers(found.logit, SHORT))
    st.markdown(" ".join([capped, share]).strip())
    st.latex(formula_with_numbers(found.share))
    values = {"token": token, "share": percent(found.share.result), "written": written, "logit": number(found.written)}
    st.markdown(words["lens_rank"].format(**values, rank=found.rank, above=found.rank - 1))


def show_contributions(view: View, run: Run, made: Hypothesis) -> None:
    """Draw the contribution of each part of the model to the logit of a hypothesis's last token, or to the difference between
    this logit and the logit of a second, picked token."""
    words, readout, step = text("decoding"), _readout(view), run.step(made)
    if readout is None:
        return
    (token,) = run.tokens_of([made.token])
    st.markdown(words["pushed_text"].format(token=literal(token), step=made.step + 1))
    others = [index for index in run.top(made) if index != made.token]
    names = dict(zip(others, run.tokens_of(others), strict=True))
    against = pick_or_none(words["against"], others, "against", words["against_none"], labels=names)
    contributions = logit_contributions(readout, step.values, made.token, against, made.row)
    order = np.argsort(-abs(contributions.values), kind="stable")
    first, rest = order[:MOST_PARTS], order[MOST_PARTS:]
    titles = [part_name(contributions.parts[index]) for index in first]
    values = contributions.values[first]
    if len(rest):
        titles.append(words["other_parts"].format(count=len(rest)))
        values = np.append(values, contributions.values[rest].sum())
    axis = (
        words["to_logit"].format(token=token)
        if against is None
        else words["to_difference"].format(token=token, other=names[against])
    )

    def explain(cell: Cell) -> None:
        if cell.column >= len(first):
            others = {str(index): float(contributions.values[index]) for index in rest}
            st.markdown(words["explain_others"].format(count=len(rest)))
            st.latex(formula_with_numbers(explanation_of(sum_of(others), float(values[-1]))))
            return
        part = contributions.parts[first[cell.column]]
        says = words["explain_bias" if part.name == OUTPUT_BIAS else "explain_part"]
        less = "" if against is None else words["explain_against"].format(other=literal(names[against]))
        st.markdown(says.format(part=part_name(part), token=literal(token), less=less))
        found = contribution(readout, step.values, part, made.token, against, made.row)
        st.latex(formula_with_numbers(found, SHORT))

    show_explained(
        chart(contribution_bars, titles, values, axis),
        "contributions",
        words["pushed_alt"].format(token=token),
        explain,
    )
    total, logit = float(contributions.values.sum()), contributions.logit
    st.markdown(
        words["check_sum"].format(
            count=len(contributions.parts), total=fixed(total, 4), logit=fixed(logit, 4), rest=number(abs(total - logit), 1)
        )
    )
    st.caption(words["held"] + (words["capped"].format(cap=number(readout.cap)) if readout.cap else ""))
    if fold := unfolding(words["all_parts"], ":material/table:", "numbers"):
        rows = {"part": [part_name(part) for part in contributions.parts], "contribution": contributions.values}
        fold.dataframe(pd.DataFrame(rows).set_index("part"))


def _readout(view: View) -> Readout | None:
    """How the logits of the view's model are computed. If that is not known, write so on the page and return None."""
    readout = view.pipeline.readout
    if readout is None:
        st.info(text("decoding")["no_readout"].format(model=literal(view.model)), icon=":material/info:")
    return readout


def part_name(part: Part) -> str:
    """The name, as shown on the page, of a part of the model that contributes to a logit. It counts layers and heads from 1."""
    template = text("decoding")["part"][part.name]
    layer, head = (None if index is None else index + 1 for index in (part.layer, part.head))
    return template.format(layer=layer, head=head)
