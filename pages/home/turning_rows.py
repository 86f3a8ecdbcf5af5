"""The head that turns, in two rows: one adjective decides which noun a head looks at when it writes *il* or *elle*."""

import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.frame.navigation import exists
from pages.shell.models.catalogue import available
from pages.shell.view.card_heads import card_head
from pages.shell.view.pronouns import own_words, run_model, show_rows
from pages.shell.view.runs import runs
from pages.ui.escaping import literal
from pages.ui.format import share
from pages.ui.link_values import kept_in_links
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer import HeadlightError
from transformer.tasks import find_task

MODEL, PAGE = "english-french", "turning"


def can_turn() -> bool:
    """Whether the app has the model with the head, and the page about it."""
    return MODEL in available() and exists(PAGE)


@st.fragment
def show_turning_rows() -> None:
    """Draw a switch between the two adjectives, both rows of the head, and what the model answers."""
    words, pipeline = text("home")["turning"], runs().own_pipeline(MODEL)
    sources = [example.source for example in find_task(MODEL).examples[:2]]
    try:
        head = card_head(MODEL, "turning")
        both = tuple(run_model(pipeline, MODEL, source) for source in sources)
    except HeadlightError as error:
        st.warning(literal(sentence(error)))
        return
    first, second = both
    adjectives = own_words(first, second), own_words(second, first)
    st.markdown(words["says"].format(model=MODEL, layer=head.layer, head=head.head))
    stem = first.source.removesuffix(adjectives[0]).strip()
    picked = adjectives.index(pick(f"*{literal(stem)} …*", adjectives, "adjective", written=str))
    weights = [run.trace.head(head.kind, head.layer - 1, head.head - 1)[run.row].numpy() for run in both]
    labels = [words["row"].format(adjective=of, pronoun=run.pronoun) for of, run in zip(adjectives, both, strict=True)]
    show_rows((first, second), weights, labels, "home-turning", words["alt"], picked)
    shown, row = both[picked], weights[picked]
    most = int(row.argmax())
    noun = literal(shown.trace.source_tokens[0][most])
    st.markdown(
        words["answer"].format(
            answer=literal(shown.answer), pronoun=literal(shown.pronoun), noun=noun, share=share(float(row[most]), 0)
        )
    )
    st.page_link(f"pages/{PAGE}/page.py", label=words["open"], icon=":material/science:", query_params=kept_in_links())
