"""The Tokens page: a sentence as tokens, ids and rows of the embedding table."""

import streamlit as st

from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import pick_part
from pages.shell.view.joined_words import pick_words
from pages.shell.view.run_banner import show_run
from pages.shell.view.second_run import SecondRun
from pages.shell.view.second_run_menu import answer_row, pick_second_run
from pages.shell.view.two_runs import difference_of, show_both_rows, show_two_runs
from pages.tokens.sentence import pick_sentence, show_flow, show_padding, show_rows, show_scaling
from pages.tokens.vocabulary_part import show_nearest, show_plane, show_similarity, show_table
from pages.ui.text import text
from transformer.analysis.token_geometry import cosines
from transformer.analysis.word_trace import in_pieces
from transformer.network.embedding import Embedding
from transformer.text.vocabulary import Vocabulary

# Parts that can show whole words instead of their pieces.
WORDS = ("sentence", "scaling", "alike")

words = text("tokens")


def show_both_vectors(second: SecondRun) -> None:
    """Draw the vectors of the tokens of both runs, on the picked side."""
    difference = difference_of(view, shown, second)
    show_both_rows(difference, f"{sentence.side}_embedding.token", sentence.side, text("second_run")["token_vectors"])


with explained():
    with answer_row() as row:
        view, trace = show_run(batch=True)
    asked = pick_second_run(view, row)
    part = pick_part(words["part_label"], words["parts"], words["anchors"])
    # The other parts show the vocabulary, which contains only pieces.
    shown = pick_words(trace) if part in WORDS else trace
    sentence = pick_sentence(view, trace, shown)
    if shown is not trace:
        st.caption(f":material/join: {words['joined']}")
    elif part not in WORDS and in_pieces(trace):
        st.caption(text("common")["pieces"])
    show_two_runs(view, asked, show_both_vectors, texts=trace.batch_size)

    if part == "sentence":
        st.header(words["flow"], anchor="flow")
        show_flow(view, trace, shown, sentence)
        st.header(words["rows"], anchor="rows")
        show_rows(sentence)
    else:
        st.header(words[part], anchor=part)
    if part == "scaling":
        show_scaling(view, shown, sentence)
    elif part == "alike":
        (left, right), below = st.columns([3, 2], gap="large"), st.container()
        with left:
            show_similarity(sentence, below)
        with right:
            show_nearest(sentence)
    elif part == "plane":
        show_plane(view, sentence)
    elif part == "padding":
        show_padding(trace, sentence)
    elif part == "vocabulary":
        show_table(sentence)

    show_computed(words["computed_text"], Vocabulary.ids, Embedding.forward, cosines)
    show_next(words["next_text"])
