"""A cross-attention head in two sentences: an adjective decides to which noun it attends when *il* or *elle* is written."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.home.part_links import Card, Link, show_cards
from pages.shell.error_boundary import sentence
from pages.shell.models.catalogue import available
from pages.shell.models.model_examples import TEXTS
from pages.shell.view.card_heads import card_head, head_choices
from pages.shell.view.runs import runs
from pages.shell.view.second_run import SOURCE as SECOND_TEXT
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import share
from pages.ui.pickers import pick
from pages.ui.prediction import KEY
from pages.ui.text import text
from transformer import HeadlightError
from transformer.figures import head_map
from transformer.patching import Head
from transformer.tasks import find_task

MODEL = "english-french"


class Run(NamedTuple):
    """The model's run on one of the two compared sentences.

    Attributes:
        source, answer: the sentence and the model's answer.
        tokens: the source tokens.
        adjective: the words that only this sentence has.
        pronoun: the answer's token at the first position at which the two answers differ.
        weights: the weights of the head for the query that predicts the pronoun.
    """

    source: str
    answer: str
    tokens: tuple[str, ...]
    adjective: str
    pronoun: str
    weights: Float[np.ndarray, " key"]


def can_turn() -> bool:
    """Whether the app has the model with the head that this module shows."""
    return MODEL in available()


@st.fragment
def show_turning_rows() -> None:
    """Draw a switch between the two adjectives, the head's attention weights in both sentences, and the model's answer."""
    words = text("home")["turning"]
    try:
        head = card_head(MODEL, "turning")
        both = _run_both(head)
    except HeadlightError as error:
        st.warning(literal(sentence(error)))
        return
    st.markdown(words["says"].format(model=MODEL, layer=head.layer + 1, head=head.head + 1))
    stem = both[0].source.removesuffix(both[0].adjective).strip()
    adjectives = [run.adjective for run in both]
    picked = adjectives.index(pick(f"*{literal(stem)} …*", adjectives, "adjective", written=str))
    _show_rows(both, picked)
    run = both[picked]
    most = int(run.weights.argmax())
    values = {name: literal(value) for name, value in (("answer", run.answer), ("pronoun", run.pronoun))}
    values |= {"noun": literal(run.tokens[most]), "share": share(float(run.weights[most]), 0)}
    st.markdown(words["answer"].format(**values))
    _show_links(head, run, both[1 - picked])


def _run_both(head: Head) -> tuple[Run, Run]:
    """The runs on the first two examples of the task. The two sentences differ in one word, and so do the two answers."""
    sources = [example.source for example in find_task(MODEL).examples[:2]]
    answers = [runs().answer(MODEL, source, ()) for source in sources]
    traces = [runs().trace(MODEL, (source,), (None,), ()) for source in sources]
    tokens = [trace.source_tokens[0] for trace in traces]
    pairs = enumerate(zip(*(answer.tokens for answer in answers), strict=False))
    row = next((index for index, (first, second) in pairs if first != second), 0)
    first, second = (
        Run(
            source=sources[place],
            answer=answers[place].text,
            tokens=tuple(tokens[place]),
            adjective=" ".join(token for token in tokens[place] if token not in tokens[1 - place]),
            pronoun=answers[place].tokens[row],
            weights=traces[place].head(*head)[row].numpy(),
        )
        for place in (0, 1)
    )
    return first, second


def _show_rows(both: tuple[Run, Run], picked: int) -> None:
    """Draw the row of the head in both runs, with a frame around the row of the picked run."""
    words, weights = text("home")["turning"], np.stack([run.weights for run in both])
    labels = [words["row"].format(adjective=run.adjective, pronoun=run.pronoun) for run in both]
    keys = [one if one == other else f"{one}/{other}" for one, other in zip(*(run.tokens for run in both), strict=True)]
    allowed = np.ones_like(weights, dtype=bool)
    figure = chart(head_map, weights, allowed, labels, keys, wide=True, row=picked)
    show(figure, "home-turning", words["alt"])


def _show_links(head: Head, run: Run, other: Run) -> None:
    """Draw the links to the comparison of both runs, with the question about the head, and to the patching of all heads."""
    words = text("home")["turning"]
    query = dict.fromkeys(TEXTS, "") | {"model": MODEL, "source": run.source, SECOND_TEXT: other.source}
    query |= head_choices(head)
    links = (
        (words["silence"], Link("attention", query | {"part": "map", KEY: "silence:"})),
        (words["patch"], Link("patching", query | {"part": "need"})),
    )
    cards = [Card(said["title"], said["says"], "", link) for said, link in links]
    show_cards(cards, "turning-links", words["heading"], base={})
