"""Pictures of the row of attention that a lesson's stop is about, and the vectors behind its largest and its smallest weight.

The row is drawn without and with an edit, or in each head of its layer.
"""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st
from jaxtyping import Bool, Float

from pages.lessons.content.lesson import Stop
from pages.lessons.content.stop_views import run_of
from pages.lessons.content.truths import edits_of, head_of, phrases_of, row_of
from pages.lessons.playing.asked import asked_here
from pages.shell.view.map_names import map_names
from pages.ui.chart import narrowness
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import fixed, number
from pages.ui.head_grid import strongest_rows
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.head_steps import attention_step, step_names
from transformer.figures import head_map, small_head_map
from transformer.figures.attention_figures import percent_width
from transformer.figures.head_steps_figures import Matrix, tensor_map

LONGEST_NAME = 26  # characters of a name in a legend


def legend(phrases: Sequence[str]) -> tuple[str, str]:
    """The labels of two runs: without and with the edits that `phrases`, such as `no positions`, describe."""
    words, name = text("lesson")["experiment"], ", ".join(phrases)
    if len(name) > LONGEST_NAME:
        return words["unedited"], words["edited"]
    without = re.fullmatch(r"no ([\w ]+)", name)
    return words["with_it"].format(what=without[1]) if without else words["unedited"], name


def say_row(stop: Stop) -> None:
    """Write on the page which key the query of a lesson's stop (step) attends to most, in the head that the stop is about.

    Raises:
        HeadlightError: the model has no such head or token.
    """
    view, (kind, layer, head) = run_of(stop).forced(), head_of(stop)
    trace = view.trace()
    queries, keys = map_names(view, trace, kind)
    query = row_of(stop, trace.tokens(kind)[0])
    weights = trace.head(kind, layer, head)[query]
    most = int(weights.argmax())
    said = {"model": literal(view.model), "query": literal(queries[query]), "key": literal(keys[most])}
    st.caption(text("lesson")["experiment"]["row_most"].format(**said, weight=fixed(float(weights[most]), 2)))


def show_row(stop: Stop, in_each_head: bool) -> None:
    """Draw the attention row that a lesson's stop (step) is about: without and with the stop's edit or, if `in_each_head`, in
    each head of its layer, with the mean of these heads.

    Raises:
        HeadlightError: the model has no such head or token.
    """
    words, view, (kind, layer, head) = text("lesson")["experiment"], run_of(stop).forced(), head_of(stop)
    trace = view.trace()
    (read, _), (queries, keys) = trace.tokens(kind), map_names(view, trace, kind)
    query = row_of(stop, read)
    edits, marks, what = phrases_of(stop), None, "heads"
    if in_each_head:
        rows, allowed = _in_each_head(trace, kind, layer, query)
        names = [*(words["head"].format(head=number + 1) for number in range(len(rows) - 1)), words["mean"]]
    else:
        what, marks = "row", asked_here(read, keys, kind, layer, head)
        both = trace, view.trace(edits_of(trace, edits))
        rows = np.stack([of.head(kind, layer, head)[query].numpy() for of in both])
        allowed = np.stack([of.head_allowed(kind, layer, head)[query].numpy() for of in both])
        # Short, because they take their width from the cells on a projector. The sentence above has the edits.
        names = [words["unedited"], words["edited"]]
    said = {"query": literal(queries[query]), "kind": text("lesson")["kinds"][kind], "layer": layer + 1, "head": head + 1}
    said["model"] = literal(view.model)
    said["edits"] = ", ".join(f"**{literal(phrase)}**" for phrase in edits)
    st.markdown(words[what].format(**said))
    framed = {"marks": [(0, key) for key in marks.keys]} if marks and marks.keys else {}
    key, drawn = f"experiment-{what}", (rows, allowed, names, list(keys))
    figure = chart(head_map, *drawn, wide=True, **framed)
    narrow = [figure.finished.least_width or 0, percent_width(names, keys)]
    if narrower := narrowness(key):
        figure = chart(small_head_map, *drawn, percent=narrower == 1, **framed)
    alt = words["row_alt"].format(query=queries[query])
    show(figure, key, f"{alt} {strongest_rows(rows, allowed, names, keys)}", tells=True, narrow=narrow)
    says = [words[f"{what}_caption"], words["row_percent"] * (narrower == 1), words["row_marked"] if framed else ""]
    st.caption(" ".join(filter(None, says)))


def _in_each_head(
    trace: Trace, kind: str, layer: int, query: int
) -> tuple[Float[np.ndarray, "row key"], Bool[np.ndarray, "row key"]]:
    """The weights of a query in each head of a layer, and in the last row their mean. The second value is True, in the same
    rows, for the keys that the query may attend to."""
    weights = trace.weights(kind, layer)[0, :, query].numpy()
    allowed = trace.allowed(kind)[layer, 0, :, query].numpy()
    return np.concatenate([weights, weights.mean(0, keepdims=True)]), np.concatenate([allowed, allowed[:1]])


def show_vectors(stop: Stop) -> None:
    """Draw the query vector that a lesson's stop is about, the keys with the largest and smallest weight, their values, and the
    output of the head.

    Raises:
        HeadlightError: the model has no such head or token.
    """
    words, view, (kind, layer, head) = text("lesson")["experiment"], run_of(stop).forced(), head_of(stop)
    trace = view.trace()
    queries, keys = map_names(view, trace, kind)
    query, names = row_of(stop, trace.tokens(kind)[0]), step_names(trace, kind)
    steps = {name: attention_step(trace, kind, layer, head, name, 0).values for name in names}
    weights = steps["weights"][query]
    most = int(weights.argmax())
    least = int(np.where(trace.head_allowed(kind, layer, head)[query].numpy(), weights, np.inf).argmin())
    said = {"query": literal(queries[query]), "most": literal(keys[most]), "least": literal(keys[least])}
    for name, place in {"of_most": most, "of_least": least}.items():
        said[f"product_{name}"] = number(steps["scores"][query, place], 3)
        said[f"score_{name}"] = number(steps["scaled_scores" if "scaled_scores" in steps else "scores"][query, place], 3)
        said[f"weight_{name}"] = number(weights[place], 3)
    st.markdown(words["vectors"].format(**said))
    rows = {
        "query": steps["query"][query],
        "key_most": steps["key"][most],
        "key_least": steps["key"][least],
        "value_most": steps["value"][most],
        "value_least": steps["value"][least],
        "passed_on": steps["head_output"][query],
    }
    plain = {"query": queries[query], "most": keys[most], "least": keys[least]}
    labels = [words["vector_rows"][name].format(**plain) for name in rows]
    axis = text("steps")["axes"]["d_head"]
    matrix = Matrix(np.stack([*rows.values()]), labels, None, words["vector_axis"], axis, signed=True)
    show(chart(tensor_map, matrix), "experiment-vectors", words["vectors_alt"].format(**plain))
    st.caption(words["vectors_caption"])
