"""Two sentences that differ in one adjective, and the head that turns furthest between them."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.models import description
from pages.shell.runs import available, runs
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import fixed, share
from pages.ui.text import figure_labels, linked_language, text
from transformer import InputError, Pipeline, Trace
from transformer.analysis.head_measures import shift
from transformer.figures import head_map
from transformer.worlds import world

MODELS = ("english-french", "english-french-static")
PRONOUNS = ("il", "elle", "ils", "elles")


class Run(NamedTuple):
    """A model's run on one of the two sentences.

    Attributes:
        source, answer: its text and the model's answer.
        trace: of the model reading its own answer.
        row: the query that writes the pronoun.
        pronoun, probability: the token it writes there, and the probability of that token.
    """

    source: str
    answer: str
    trace: Trace
    row: int
    pronoun: str
    probability: float


def read(pipeline: Pipeline, model: str, source: str) -> Run:
    """Run a model on one sentence and find the pronoun in its answer.

    Raises:
        InputError: the answer has no pronoun.
    """
    answer = runs().answer(model, source, ())
    row = max((index for index, token in enumerate(answer.tokens) if token in PRONOUNS), default=None)
    if row is None:
        raise InputError(
            "The model's answer {answer!r} has no pronoun; this page needs one of {pronouns}.",
            answer=answer.text,
            pronouns=", ".join(PRONOUNS),
        )
    trace = runs().trace(model, (source,), (None,), ())
    (token,) = pipeline.target_vocabulary.ids([answer.tokens[row]])
    return Run(source, answer.text, trace, row, answer.tokens[row], float(trace.probabilities[0, row, token]))


def show_turning(model: str) -> None:
    """Draw for one model: both sentences, the head that turns furthest on each of them, and its shift."""
    words = text("turning")
    if model not in available():
        return
    pipeline = runs().pipeline(model)
    st.subheader(words["model"].format(name=model, description=description(model)))
    measures = pipeline.card.measures.get("pronouns")
    if not measures:
        st.warning(words["untested"].format(name=model))
        return
    layer, head = measures["layer"] - 1, measures["head"] - 1
    a, b = (read(pipeline, model, example.source) for example in world("english-french").examples[:2])
    texts = {"a": a.source, "b": b.source, "answer_a": a.answer, "answer_b": b.answer}
    st.markdown(words["sentences"].format(**{name: literal(value) for name, value in texts.items()}))
    rows = [run.trace.attention("cross")[:, 0, :, run.row].numpy() for run in (a, b)]
    _show_rows(model, (a, b), np.stack([row[layer, head] for row in rows]), layer, head)
    nouns = [a.trace.source_tokens[0].index(noun) for noun in _nouns(a.trace.source_tokens[0])]
    _show_shift(float(shift(rows[0], rows[1], *nouns)[layer, head]), measures)
    view = {**linked_language(), "model": model, "source": a.source, "kind": "cross", "layer": layer + 1, "head": head + 1}
    st.link_button(words["open"], f"attention?{urlencode(view)}", icon=":material/visibility:")


def _show_rows(model: str, sentences: tuple[Run, Run], weights: Float[np.ndarray, "run key"], layer: int, head: int) -> None:
    """Draw the head's weights while it writes the pronoun of each sentence, and the probability of that pronoun."""
    words, (a, b) = text("turning"), sentences
    keys_a, keys_b = a.trace.source_tokens[0], b.trace.source_tokens[0]
    differing = next(index for index, pair in enumerate(zip(keys_a, keys_b, strict=True)) if pair[0] != pair[1])
    keys = [*keys_a]
    keys[differing] = f"{keys_a[differing]}/{keys_b[differing]}"
    labels = [
        words["row"].format(letter=letter, adjective=run.trace.source_tokens[0][differing], pronoun=run.pronoun)
        for letter, run in zip("ab", sentences, strict=True)
    ]
    read_last = dict.fromkeys(run.trace.target_tokens[0][run.row] for run in sentences)
    st.markdown(f"**{words['head'].format(layer=layer + 1, head=head + 1, row=literal(' / '.join(read_last)))}**")
    show(
        chart(head_map, weights, np.ones_like(weights, dtype=bool), labels, keys, wide=True, labels=figure_labels()),
        f"turning-{model}",
        words["alt"],
    )
    st.markdown(
        words["probability"].format(
            pronoun_a=a.pronoun,
            probability_a=share(a.probability, 1),
            pronoun_b=b.pronoun,
            probability_b=share(b.probability, 1),
        )
    )


def _show_shift(pair_shift: float, measures: Mapping[str, float]) -> None:
    """Draw how far the head turns: on these two sentences, and on the held-out pairs, as in the model's card."""
    words = text("turning")
    numbers = (
        (words["shift"], fixed(pair_shift, 3), words["shift_help"]),
        (words["mean_shift"].format(pairs=measures["pairs"]), fixed(measures["shift"], 3), words["shift_help"]),
        (words["right"], share(measures["right"], 1), None),
    )
    for column, (label, value, help) in zip(st.columns(3), numbers, strict=True):
        column.metric(label, value, help=help)


def _nouns(tokens: tuple[str, ...]) -> tuple[str, str]:
    """The first two nouns of the sentence, in order."""
    nouns = [token for token in tokens if world("english-french").word_class(token, "source") == "noun"]
    return nouns[0], nouns[1]
