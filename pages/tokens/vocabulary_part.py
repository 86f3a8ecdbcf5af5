"""The whole vocabulary: similarities, nearest words, a map in the plane, and a table to search."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.runs import Key, runs
from pages.shell.view.view import View
from pages.tokens.explained_rows import explain_cosine
from pages.tokens.sentence import Sentence
from pages.ui.caches import cached
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import number, numbered_tokens, share
from pages.ui.pickers import pick_or_none, search_box
from pages.ui.text import text
from transformer.analysis.token_geometry import Plane, cosines, nearest, plane
from transformer.figures.token_geometry_figures import similarity_map, vocabulary_map
from transformer.pipeline.pipeline import Side
from transformer.text.tokens import Tokens
from transformer.tracing.trace import as_array

NEAREST = 10
MOST_SAID = 5  # the description for screen readers has the places of at most this many tokens of the text
# Only a part of a vocabulary with more than LARGE tokens is shown: the tokens of the sentence, and the first ones.
LARGE, LARGE_PLANE, LARGE_TABLE = 5_000, 1_000, 1_000


def show_similarity(sentence: Sentence, place: Any) -> None:
    """Draw the cosine similarity of every pair of tokens of the sentence. In the container `place`, draw how a clicked cell was
    computed."""
    words = text("tokens")
    st.markdown(f"{words['alike_text']} {words['alike_joined' if sentence.of else 'alike_trained']}")
    rows = sentence.rows
    similarities = cosines(rows, rows)
    figure = chart(similarity_map, similarities, sentence.tokens)

    def explain(cell: Cell) -> None:
        first, second = cell.row, cell.column
        pair = sentence.tokens[first], sentence.tokens[second]
        explain_cosine(pair, (rows[first], rows[second]), float(similarities[first, second]))

    alt = words["alike_alt"].format(count=len(rows))
    show_explained(figure, "tokens-similarity", alt, explain, place=place)
    if np.isnan(similarities).any():
        st.caption(words["no_direction"])


def show_nearest(sentence: Sentence) -> None:
    """Draw a picker of a token, and a table of the `NEAREST` tokens of the vocabulary that are nearest to it by cosine."""
    words, vocabulary = text("tokens"), sentence.vocabulary
    first = sentence.first_word
    offered = vocabulary.tokens
    if len(offered) > LARGE:  # otherwise the long list would be sent again with every click
        offered = tuple(dict.fromkeys(vocabulary.tokens_of([index for index in sentence.ids if index >= 0])))
    labels = dict(zip(offered, numbered_tokens(offered), strict=True)) if offered is vocabulary.tokens else {}
    until = words["nearest_first"].format(token=vocabulary.tokens[first])
    picked = pick_or_none(words["nearest"], offered, "word", until, words["nearest_help"], labels=labels, written=str)
    token = vocabulary.tokens[first] if picked is None else picked
    neighbours = nearest(sentence.table, vocabulary.tokens.index(token), NEAREST)
    if not neighbours:
        st.info(words["nearest_none"].format(token=literal(token)))
        return
    st.markdown(words["nearest_text"].format(token=literal(token), count=len(neighbours)))
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
def _plane(key: Key, side: Side, ids: tuple[int, ...]) -> Plane:
    """The rows `ids` of one side's embedding table, projected onto a plane. The axes are fitted only to words, because a
    special token that was hardly trained has large numbers and would dominate the axes."""
    pipeline = runs().pipeline(key)
    specials = set(pipeline.vocabulary(side).specials)
    words = [row for row, token_id in enumerate(ids) if token_id not in specials]
    return plane(as_array(pipeline.token_table(side))[list(ids)], words or None)


def show_plane(view: View, sentence: Sentence) -> None:
    """Draw every token of the vocabulary as a point, coloured by class. Of a large vocabulary, draw only the first tokens and
    the tokens of the sentence."""
    words, vocabulary = text("tokens"), sentence.vocabulary
    ids, own = tuple(range(len(vocabulary))), [index for index in sentence.ids if index >= 0]
    if len(vocabulary) > LARGE:
        ids = tuple(sorted({*range(LARGE_PLANE), *own}))
        st.caption(words["part"].format(count=len(ids), vocab=len(vocabulary)))
    plane = _plane(view.key, sentence.side, ids)
    st.markdown(words["plane_text"].format(vocab=len(ids), d_model=sentence.table.shape[1]))
    tokens, token_classes = vocabulary.tokens_of(ids), [sentence.classes[index] for index in ids]
    ringed = [ids.index(index) for index in own]
    figure = chart(vocabulary_map, plane.points, tokens, token_classes, ringed, plane.shares)
    alt = words["plane_alt"].format(count=len(ids))
    places = _places(plane, list(dict.fromkeys(ringed)), tokens)
    show(figure, "tokens-plane", f"{alt} {places}", tells=True)
    first, second, both = (share(part, 1) for part in (*plane.shares, sum(plane.shares)))
    st.caption(words["plane_shares"].format(both=both, first=first, second=second))
    if not view.pipeline.trained:
        st.caption(words["plane_untrained"])


def _places(plane: Plane, rows: Sequence[int], tokens: Sequence[str]) -> str:
    """Sentences for screen readers about the points with the indices `rows`: where each is on the plane, and which token
    is nearest to it there. Only the first `MOST_SAID` points are described."""
    words, told = text("tokens"), []
    for row in rows[:MOST_SAID]:
        away = np.linalg.norm(plane.points - plane.points[row], axis=1)
        away[row] = np.inf
        x, y = (number(float(part), 3) for part in plane.points[row])
        told.append(words["plane_place"].format(token=tokens[row], x=x, y=y, near=tokens[int(away.argmin())]))
    return words["plane_places"].format(places="; ".join(told))


def show_table(sentence: Sentence) -> None:
    """Draw a search box and a table of the matching tokens of the vocabulary: id, token, class, how often the token is in the
    sentence, and the norm of its embedding. Of a vocabulary with more than 5,000 tokens, at most 1,000 rows are shown."""
    words, vocabulary, columns = text("tokens"), sentence.vocabulary, text("tokens")["columns"]
    asked = search_box(words["search"], words["search_placeholder"])
    ids = found_ids(vocabulary, sentence.classes, asked)
    st.caption(words["found"].format(count=len(ids), vocab=len(vocabulary)))
    if len(vocabulary) > LARGE and len(ids) > LARGE_TABLE:
        ids = ids[:LARGE_TABLE]
        st.caption(words["part"].format(count=len(ids), vocab=len(vocabulary)))
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


def found_ids(vocabulary: Tokens, classes: tuple[str, ...], asked: str) -> list[int]:
    """The ids of the tokens that match the search `asked`: a part of the token, a part of its class, or the whole id. Capital
    and small letters make no difference. An empty search matches all tokens."""
    wanted = asked.strip().lower()
    return [
        token_id
        for token_id, (token, name) in enumerate(zip(vocabulary.tokens, classes, strict=True))
        if wanted in token.lower() or wanted in name.lower() or wanted == str(token_id)
    ]
