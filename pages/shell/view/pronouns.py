"""Two sentences whose difference decides what a pronoun refers to, and the row of a head that decides the pronoun of each."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from pages.shell.view.runs import runs
from pages.ui.charts import chart, show
from pages.ui.text import figure_labels
from transformer import InputError, Trace
from transformer.figures import head_map
from transformer.pipeline.protocol import TextPipeline

PRONOUNS = ("il", "elle", "ils", "elles")


class Run(NamedTuple):
    """A model's run on one of the two sentences.

    Attributes:
        source, answer: the sentence and the model's answer.
        trace: the trace of the model while it reads its own answer.
        row: the query whose row of the logits decides the pronoun.
        pronoun, probability: the pronoun in the answer, and its probability.
    """

    source: str
    answer: str
    trace: Trace
    row: int
    pronoun: str
    probability: float


def run_model(pipeline: TextPipeline, model: str, source: str) -> Run:
    """Run a model on one sentence and find the pronoun in its answer.

    Raises:
        InputError: the answer has no pronoun.
    """
    answer = runs().answer(model, source, ())
    row = max((index for index, token in enumerate(answer.tokens) if token in PRONOUNS), default=None)
    if row is None:
        raise InputError(
            "The model's answer “{answer}” has no pronoun; this page needs one of {pronouns}.",
            answer=answer.text,
            pronouns=", ".join(PRONOUNS),
        )
    trace = runs().trace(model, (source,), (None,), ())
    (token,) = pipeline.vocabulary("target").ids([answer.tokens[row]])
    return Run(source, answer.text, trace, row, answer.tokens[row], float(trace.probabilities[0, row, token]))


def own_words(run: Run, other: Run) -> str:
    """At most three words of one sentence that are not in the other sentence."""
    tokens, others = run.trace.source_tokens[0], other.trace.source_tokens[0]
    return " ".join([token for token in tokens if token not in others][:3])


def show_rows(
    sentences: tuple[Run, Run],
    weights: Sequence[Float[np.ndarray, " key"]],
    labels: Sequence[str],
    key: str,
    alt: str,
    framed: int | None = None,
) -> None:
    """Draw a head's weights in the row that decides the pronoun of each sentence. There are two maps if the sentences differ in
    length.

    Args:
        weights, labels: the row of each sentence, and its name.
        key: the key of the chart.
        alt: what screen readers say.
        framed: the sentence whose row is framed, 0 or 1; None for none.
    """
    keys_a, keys_b = (run.trace.source_tokens[0] for run in sentences)
    if len(keys_a) == len(keys_b):
        keys = [one if one == other else f"{one}/{other}" for one, other in zip(keys_a, keys_b, strict=True)]
        maps = [(np.stack(weights), labels, keys, "", framed)]
    else:
        rows = [0 if framed == place else None for place in (0, 1)]
        maps = [
            (weights[0][None], labels[:1], list(keys_a), "-a", rows[0]),
            (weights[1][None], labels[1:], list(keys_b), "-b", rows[1]),
        ]
    for values, queries, keys, ending, row in maps:
        everything = np.ones_like(values, dtype=bool)
        figure = chart(head_map, values, everything, queries, keys, wide=True, labels=figure_labels(), row=row)
        show(figure, f"{key}{ending}", alt)
