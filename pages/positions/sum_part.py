"""Positional encodings added to the tokens of a text, or the positions of a model that uses them in another way."""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Float

from pages.positions.explained_numbers import explain_mean_bias, explain_sum, explain_turn
from pages.shell.view.explained_chart import show_explained
from pages.shell.view.map_names import map_names
from pages.shell.view.second_run import SecondRun
from pages.shell.view.two_runs import difference_of, show_both_rows
from pages.shell.view.view import View
from pages.ui.charts import chart
from pages.ui.format import fixed, numbered_tokens
from pages.ui.pickers import pick, unfolding
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.word_trace import Group, row_groups, word_groups, word_means
from transformer.figures.head_steps_figures import Matrix, tensor_map
from transformer.figures.token_geometry_figures import aligned_maps
from transformer.pipeline.pipeline import Side
from transformer.tracing.paths import Kind


def show_sum(view: View, trace: Trace, shown: Trace) -> None:
    """Draw token + position = input for the first text, on the picked side; if the model adds no positions, call
    `show_recorded`. `shown` is `trace`, or the same trace with subword pieces joined to words."""
    words, config = text("positions"), view.pipeline.config
    if not any(f"{side}_embedding.position" in trace and f"{side}_embedding.sum" in trace for side in trace.sides):
        show_recorded(view, trace, shown)
        return
    side = pick(words["side"], trace.sides, "side")
    tokens, pieces = shown.tokens_of(side)[0], _pieces(trace, shown, side)
    factor, scaled = math.sqrt(config.d_model), config.scale_embedding
    recorded = f"{side}_embedding.scaled" in trace
    names = {"token": "scaled" if recorded else "token", "position": "position", "type": "token_type", "input": "sum"}
    paths = {name: f"{side}_embedding.{last}" for name, last in names.items()}
    parts = {name: _rows(trace, path) for name, path in paths.items() if path in trace}
    if scaled and not recorded:  # Marian multiplies outside of all modules
        parts["token"] = parts["token"] * np.float32(factor)
    vectors = {name: word_means(values, pieces) for name, values in parts.items()}
    st.markdown(words[f"sum_{config.position}"].format(max_len=config.max_len))
    if "type" in parts:
        st.markdown(words["sum_type"])
    first = words["panel_scaled"].format(factor=fixed(factor, 3)) if scaled else words["panel_token"]
    titles = [first, *(words[f"panel_{name}"] for name in parts if name != "token")]
    panels = dict(zip(titles, vectors.values(), strict=True))
    scale = factor if scaled else 1
    figure = chart(aligned_maps, panels, tokens, words["token"], words["dimension"])
    show_explained(
        figure,
        "positions-sum",
        words["sum_alt"].format(count=len(tokens), d_model=config.d_model, panels="; ".join(titles)),
        lambda at: explain_sum(parts, tokens, pieces, scale, view.pipeline.trained, at),
    )
    st.caption(words["sum_scale"])
    if table := unfolding(words["numbers"], ":material/table:", "numbers"):
        with table:
            _show_vectors(vectors, numbered_tokens(tokens))


def _pieces(trace: Trace, shown: Trace, side: Side) -> tuple[Group, ...]:
    """The positions of the pieces of each word that is drawn; if words are not joined, the position of each token."""
    return row_groups((), len(trace.tokens_of(side)[0])) if shown is trace else word_groups(trace, side)


def _rows(trace: Trace, path: str) -> Float[np.ndarray, "position d_model"]:
    """The rows of a tensor for the first text, whether or not the tensor has a batch axis."""
    values = trace[path].numpy()
    return values.reshape(-1, *values.shape[-2:])[0]


def show_both_positions(view: View, trace: Trace, second: SecondRun) -> None:
    """Draw the position vectors that are added in the run of the page and in a second run, and their difference."""
    words, side = text("second_run"), st.session_state.get("side")
    side = side if side in trace.sides else trace.sides[0]
    difference, path = difference_of(view, trace, second), f"{side}_embedding.position"
    if path not in difference:
        st.info(words["no_position_vectors"], icon=":material/info:")
        return
    show_both_rows(difference, path, side, words["position_vectors"])


def show_recorded(view: View, trace: Trace, shown: Trace) -> None:
    """Draw positions that are not added to the tokens. The model uses them as angles by which queries and keys are turned, or
    as a bias on the scores. `shown` is `trace`, or the same trace with subword pieces joined to words."""
    words = text("positions")
    st.markdown(words[f"sum_{view.pipeline.config.position}"])
    side = trace.sides[-1]
    tokens, pieces = shown.tokens_of(side)[0], _pieces(trace, shown, side)
    if "rotary.cos" in trace:
        cosines, sines = (_rows(trace, f"rotary.{name}") for name in ("cos", "sin"))
        panels = {words["panel_cos"]: word_means(cosines, pieces), words["panel_sin"]: word_means(sines, pieces)}
        show_explained(
            chart(aligned_maps, panels, tokens, words["token"], words["dimension"]),
            "positions-turned",
            words["turned_alt"].format(count=len(tokens)),
            lambda at: explain_turn(cosines, sines, tokens, pieces, at),
        )
        st.caption(words["turned"])
    for kind in trace.kinds:
        path, of = str(kind.path(0) / "position_bias"), Kind.of(kind)
        if path in shown and of.queries == of.keys:
            values = shown[path].numpy()
            biases = values.reshape(-1, *values.shape[-3:])[0]  # between words the bias also has an axis of texts
            bias = biases.mean(0)
            queries, keys = map_names(view, shown, kind)
            hidden = ~shown.allowed(kind)[0, 0].any(0).numpy()
            matrix = Matrix(bias, queries, keys, words["query"], words["key"], signed=True, hidden=hidden)
            st.markdown(f"**{words['panel_bias'].format(kind=kind)}**")
            figure = chart(tensor_map, matrix)
            show_explained(
                figure,
                f"positions-bias-{kind}",
                words["bias_alt"].format(count=len(bias), kind=kind),
                partial(explain_mean_bias, biases, queries, keys, _pieces(trace, shown, of.queries)),
            )
            st.caption(words["bias_says"])
    if view.pipeline.note:
        st.caption(view.pipeline.note)


def _show_vectors(vectors: Mapping[str, np.ndarray], rows: list[str]) -> None:
    """Draw a table of the lengths of all vectors of a sum, and a table of the numbers of one picked part."""
    words = text("positions")
    st.caption(words["numbers_text"])
    lengths = {words["columns"][name]: np.linalg.norm(values, axis=1) for name, values in vectors.items()}
    st.dataframe(pd.DataFrame(lengths, rows))
    st.dataframe(pd.DataFrame(vectors[pick(words["numbers_of"], list(vectors), "vector")], rows))
