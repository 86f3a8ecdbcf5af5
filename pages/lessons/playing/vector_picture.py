"""Picture of the vectors behind one weight: query, keys, values and what the head passes on, as numbers of this run."""

import numpy as np
import streamlit as st

from pages.lessons.content.lesson import Stop
from pages.lessons.content.stop_views import run_of
from pages.lessons.content.truths import head_of, row_of
from pages.shell.view.map_names import map_names
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import number
from pages.ui.text import figure_labels, text
from transformer.analysis.head_steps import attention_step, step_names
from transformer.figures.head_steps_figures import Matrix, tensor_map


def show_vectors(stop: Stop) -> None:
    """Draw the query of the stop's row, the keys with its largest and its smallest weight, the values of both keys, and the
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
    show(chart(tensor_map, matrix, labels=figure_labels()), "experiment-vectors", words["vectors_alt"].format(**plain))
    st.caption(words["vectors_caption"])
