"""The effect of edits on the output of a model without a language head: labels, a part of the text, or vectors."""

import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.view.answer_line import answer_of
from pages.shell.view.view import View
from pages.ui.charts import chart, show
from pages.ui.escaping import literal, quoted
from pages.ui.format import fixed, token_at
from pages.ui.text import text
from transformer import InputError, Intervention, Trace
from transformer.analysis.residual import cosine
from transformer.figures.whatif_figures import probability_change


def show_edited_output(view: View, trace: Trace, edits: tuple[Intervention, ...]) -> None:
    """Draw the answers without and with the edits. For a model that classifies texts, also draw the probability of each label.
    For a model that outputs vectors, write only the cosine between its last vectors without and with edits."""
    words, kind, again = text("whatif"), view.pipeline.output_kind, view.forced().trace(edits)
    if kind == "vectors":
        _show_turned(view, trace, again)
        return
    answer = answer_of(view)
    if isinstance(answer, InputError):  # a text without a question
        st.caption(literal(sentence(answer)))
        return
    names = {"before": quoted(answer.text) or "–", "after": quoted(view.answer(edits).text) or "–"}
    st.markdown(words["output_same" if names["before"] == names["after"] else "output_other"].format(**names))
    if kind == "label" and "probabilities" in trace:
        before, after = (run.probabilities[0].numpy() for run in (trace, again))
        legend = (words["clean"], words["edited"])
        figure = chart(probability_change, list(view.pipeline.labels), before, after, legend)
        show(figure, "probability-change", words["labels_alt"])


def _show_turned(view: View, trace: Trace, again: Trace) -> None:
    """Write at which token the edits turn the vector of the last stack most, and the cosine of the vectors without edits
    (`trace`) and with edits (`again`)."""
    stack = view.pipeline.stacks[-1]
    before, after = (run[f"{stack}.output"].values[0].numpy() for run in (trace, again))
    angles = cosine(before, after)
    place = int(angles.argmin())
    token = trace.tokens_of("target" if stack == "decoder" else "source")[0][place]
    values = {"token": token_at(place, token), "least": fixed(float(angles[place]), 3)}
    st.markdown(text("whatif")["turned"].format(**values, mean=fixed(float(angles.mean()), 3)))
