"""The whole vocabulary: similarities, nearest words, a map in the plane, and a table to search."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell.runs import Key, runs
from pages.shell.view import View
from pages.tokens.sentence import Sentence
from pages.ui.caches import cached
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import numbered_tokens, share
from pages.ui.limits import SEARCH_CHARACTERS
from pages.ui.pickers import pick_or_none, search_box
from pages.ui.text import figure_labels, text
from transformer.analysis.token_geometry import Plane, cosines, nearest, plane, token_table
from transformer.figures.token_geometry import similarity_map, vocabulary_map
from transformer.pipeline.pipeline import Side
from transformer.text.vocabulary import Vocabulary

NEAREST = 10


def show_similarity(sentence: Sentence) -> None:
    """Draw the cosine similarity of every pair of tokens of the sentence."""
    words = text("tokens")
    st.markdown(words["alike_text"])
    rows = sentence.table[list(sentence.ids)]
    similarities = cosines(rows, rows)
    show(
        chart(similarity_map, similarities, sentence.tokens, labels=figure_labels()),
        "tokens-similarity",
        words["alike_alt"].format(count=len(rows)),
    )
    if np.isnan(similarities).any():
        st.caption(words["no_direction"])


def show_nearest(sentence: Sentence) -> None:
    """List the tokens of the vocabulary nearest to a picked one."""
    words, vocabulary = text("tokens"), sentence.vocabulary
    labels = dict(zip(vocabulary.tokens, numbered_tokens(vocabulary.tokens), strict=True))
    first = sentence.first_word
    until = words["nearest_first"].format(token=vocabulary.tokens[first])
    word = pick_or_none(words["nearest"], vocabulary.tokens, "word", until, words["nearest_help"], labels=labels, written=str)
    token_id = first if word is None else vocabulary.tokens.index(word)
    neighbours = nearest(sentence.table, token_id, NEAREST)
    if not neighbours:
        st.info(words["nearest_none"].format(token=literal(vocabulary.tokens[token_id])))
        return
    st.markdown(words["nearest_text"].format(token=literal(vocabulary.tokens[token_id]), count=len(neighbours)))
    columns = words["columns"]
    frame = pd.DataFrame(
        {
            columns["token"]: [vocabulary.tokens[other] for other, _ in neighbours],
            columns["cosine"]: np.array([cosine for _, cosine in neighbours], np.float32).round(4),
            columns["id"]: [other for other, _ in neighbours],
            columns["class"]: [sentence.classes[other] for other, _ in neighbours],
        }
    )
    st.dataframe(frame, hide_index=True, width="content")


@cached
def _plane(key: Key, side: Side) -> Plane:
    """The embedding table of one side of a model, projected onto a plane. The axes are fitted to the words alone: a special
    token that was hardly trained has large numbers and would dominate them."""
    pipeline = runs().pipeline(key)
    vocabulary = pipeline.vocabulary(side)
    words = [token_id for token_id in range(len(vocabulary)) if token_id not in vocabulary.specials]
    return plane(token_table(pipeline.model, side), words or None)


def show_plane(view: View, sentence: Sentence) -> None:
    """Draw every token of the vocabulary as a point, coloured by class."""
    words = text("tokens")
    plane = _plane(view.key, sentence.side)
    st.markdown(words["plane_text"].format(vocab=len(sentence.vocabulary), d_model=sentence.table.shape[1]))
    figure = chart(
        vocabulary_map,
        plane.points,
        sentence.vocabulary.tokens,
        sentence.classes,
        sentence.ids,
        plane.shares,
        labels=figure_labels(),
    )
    show(figure, "tokens-plane", words["plane_alt"].format(count=len(sentence.vocabulary)))
    first, second, both = (share(part, 1) for part in (*plane.shares, sum(plane.shares)))
    st.caption(words["plane_shares"].format(both=both, first=first, second=second))
    if not view.pipeline.trained:
        st.caption(words["plane_untrained"])


def show_table(sentence: Sentence) -> None:
    """Draw a search box and a table of the matching tokens: id, class, count in the sentence, length of the row."""
    words, vocabulary, columns = text("tokens"), sentence.vocabulary, text("tokens")["columns"]
    asked = search_box(words["search"], words["search_placeholder"], SEARCH_CHARACTERS)
    ids = found_ids(vocabulary, sentence.classes, asked)
    st.caption(words["found"].format(count=len(ids), vocab=len(vocabulary)))
    lengths = np.linalg.norm(sentence.table, axis=1)
    frame = pd.DataFrame(
        {
            columns["id"]: ids,
            columns["token"]: [vocabulary.tokens[token_id] for token_id in ids],
            columns["class"]: [sentence.classes[token_id] for token_id in ids],
            columns["count"]: [sentence.ids.count(token_id) for token_id in ids],
            columns["length"]: lengths[ids].astype(np.float32).round(4),
        }
    )
    st.dataframe(frame, hide_index=True, width="stretch", height=320 if len(ids) > 8 else "auto")


def found_ids(vocabulary: Vocabulary, classes: tuple[str, ...], asked: str) -> list[int]:
    """The ids that match a search: by part of the token or of its class, or by the id itself; all ids for an empty search."""
    wanted = asked.strip().lower()
    return [
        token_id
        for token_id, (token, name) in enumerate(zip(vocabulary.tokens, classes, strict=True))
        if wanted in token.lower() or wanted in name.lower() or wanted == str(token_id)
    ]
