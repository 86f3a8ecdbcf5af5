"""The residual stream: measures of each token through all layers of a stack."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.layers.position_cells import position_to_show
from pages.shell.frame.footer import show_computed
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import aligned, cosine_formula, length_formula
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import fixed, numbered_tokens
from pages.ui.pickers import pick, pick_position, pick_text, unfolding
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.residual import Stream, residual_stream, stacks
from transformer.analysis.word_trace import WordTrace
from transformer.figures.residual_figures import token_lines
from transformer.network.layers import AddNorm
from transformer.tracing.paths import STACK_SIDES

LIMITS = {"cosine": (-1.05, 1.05), "similarity": (-1.05, 1.05)}


def show_stream(trace: Trace, measures: Mapping[str, Any]) -> None:
    """Draw a value of the residual stream, such as its norm, as one line for each token; the line of the picked token is
    highlighted. `measures` are test results from the model's card (training record), by which a token is picked at first."""
    words, parts = text("residual"), text("walk")["parts"]
    with st.container(horizontal=True):
        stack = pick(words["stack"], stacks(trace), "stack")
        name = pick(words["measure"], list(words["measures"]), "measure")
        item = pick_text(trace)
    side = STACK_SIDES[stack]
    tokens = trace.tokens_of(side)[item]
    numbered = numbered_tokens(tokens)
    followed = pick_position(words["follow"], tokens, first=position_to_show(trace, measures, side, item))
    stream = residual_stream(trace, stack, item)
    steps = [words["point"].format(layer=layer, part=parts[part]) for layer, part in stream.places]
    values, points = _measured(stream, name, steps)
    st.caption(f"{words['measures'][name]} {words['joined'] if isinstance(trace, WordTrace) else ''}".rstrip())
    figure = chart(token_lines, values, points, tokens, words["axes"][name], followed, LIMITS.get(name))
    show_explained(
        figure,
        "stream",
        words["alt"].format(measure=name, count=len(tokens), stack=stack),
        lambda at: _explain(stream, name, points[at.column], numbered[at.row], at),
    )
    st.caption(words["legend"])
    _in_words(stream, numbered[followed], followed)
    if table := unfolding(words["numbers"], ":material/table:", "numbers"):
        table.dataframe(pd.DataFrame(values.astype(np.float32), points, numbered).T)
    says = words["computed_pre" if trace.config.norm_first else "computed_post"]
    show_computed(f"{says}\n\n$$\n{words['formula']}\n$$", AddNorm)


def _explain(stream: Stream, name: str, point: str, token: str, at: Cell) -> None:
    """Draw how a measure of a token at a point was computed from its vectors."""
    words, place, values = text("residual")["explained"], (at.column, at.row), {"token": literal(token), "point": point}
    st.markdown(words[name].format(**values))
    if name in ("norm", "added"):
        st.latex(aligned([length_formula((stream.vectors if name == "norm" else stream.outputs)[place], "x")]))
        return
    of_output = name == "cosine"
    a = (stream.outputs if of_output else stream.vectors)[place]
    b = stream.vectors[place if of_output else (0, at.row)]
    if not (a.any() and b.any()):
        st.markdown(words["no_cosine"].format(vector="b" if a.any() else "a"))
        return
    st.latex(cosine_formula(a, b, float((stream.cosine if of_output else stream.similarity)[place])))


def _measured(stream: Stream, name: str, steps: list[str]) -> tuple[np.ndarray, list[str]]:
    """The values of the measure `name` as [point, token], and the label of each point. `steps` has the labels of the
    sub-layers."""
    words = text("residual")
    points = [words["start"], *steps, *([words["end"]] if len(stream.points) > len(steps) + 1 else [])]
    if name in ("norm", "similarity"):
        return getattr(stream, name), points
    return (stream.added_norm if name == "added" else stream.cosine), steps


def _in_words(stream: Stream, token: str, position: int) -> None:
    """Show which sub-layer changed the followed token most, and how similar its last vector is to its first."""
    words, parts = text("residual"), text("walk")["parts"]
    # Relative to the vector before the addition, because the same addition changes a long vector less than a short one.
    share = stream.added_norm[:, position] / np.maximum(stream.norm[: len(stream.places), position], 1e-12)
    most = int(share.argmax())
    layer, part = stream.places[most]
    sentence = words["sentence"].format(
        token=literal(token),
        step=words["sublayer"].format(layer=layer, part=parts[part]),
        added=fixed(float(stream.added_norm[most, position]), 2),
        norm=fixed(float(stream.norm[most, position]), 2),
        cosine=fixed(stream.cosine[most, position], 2),
        similarity=fixed(stream.similarity[-1, position], 2),
    )
    st.markdown(sentence)
