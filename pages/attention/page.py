"""The Attention page: which tokens attend to which, from all heads at once down to a single number."""

import streamlit as st

from pages.attention.all_heads_view import beside, show_overview, show_small_map
from pages.attention.attention_steps import show_steps
from pages.attention.combined_view import show_combined
from pages.attention.gradient_view import show_gradients
from pages.attention.head_map_view import show_map, show_numbers
from pages.attention.head_patterns import induction_head, say_induction, show_pattern
from pages.attention.head_question import SILENCE, head_question, show_question
from pages.attention.lines_view import show_lines
from pages.attention.silence import show_other_need, show_silence
from pages.attention.two_heads import show_both_heads
from pages.attention.what_if import show_whatif
from pages.attention.word_alignment_view import show_word_alignment
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import seen
from pages.shell.view.card_heads import head_title, head_to_show, pick_head
from pages.shell.view.joined_words import pick_words
from pages.shell.view.run_banner import show_run
from pages.shell.view.second_run_menu import answer_row, pick_second_run
from pages.shell.view.two_runs import show_two_runs
from pages.ui.pickers import pick
from pages.ui.prediction import is_open
from pages.ui.text import text
from transformer.network.attention import MultiHeadAttention

# Ways to show the picked head that compute with the run's own numbers, so their tokens are always the pieces, not joined words.
COMPUTED = ("steps", "gradient", "what-if")


words = text("attention")

with explained():
    with answer_row() as row:
        view, trace = show_run()
    asked = pick_second_run(view, row)

    # The head that is picked first is one that the model's card names, or an induction head.
    named = head_to_show(view.pipeline.card.measures, trace.kinds) or induction_head(view, trace)
    kind, layer, head = pick_head(trace, named)
    pictures = st.container()  # they come first; the question and the sentences about them are drawn below
    question = head_question(view, trace, kind, layer, head)
    shown = pick_words(trace)
    st.caption(words["kind_sentences"][kind])
    title = head_title(kind, layer, head)
    with pictures:
        hides = show_question(question, title)
    if not hides:
        # A link that names a look scrolls to it, so this look is drawn at once. A look that is drawn only after scrolling would
        # not be found.
        at_once = is_open(SILENCE) or "part" in st.query_params
        st.header(title, anchor="head")
        look = pick(words["look"], list(words["looks"]), "part")
        st.caption(words["looks"][look])
        with pictures:
            show_two_runs(view, asked, lambda second: show_both_heads(view, shown, second, kind, layer, head))
            tiles, picture = beside(shown, kind, title)
            with picture:
                # The map is large if no other look at the head is open below.
                if look == "map":
                    show_map(view, trace, shown, kind, layer, head)
                else:
                    show_small_map(view, shown, kind, layer, head)
            show_overview(view, shown, kind, layer, head, tiles)
        if seen("head", 920, at_once):
            if look in COMPUTED and shown is not trace:
                st.caption(text("common")["computed_in_pieces"])
            if look in ("map", "lines"):
                st.markdown(words["qkv"])
            if look in ("map", "lines", "pattern"):
                say_induction(view, trace, kind, layer, head)
                waits = show_silence(view, trace, kind, layer, head)
                if look == "map" and view.pipeline.trained and not waits:
                    show_other_need(view, trace, shown, kind, layer, head)
            if look == "map":
                show_numbers(view, trace, shown, kind, layer, head)
            elif look == "lines":
                show_lines(view, trace, shown, kind, layer, head)
            elif look == "pattern":
                show_pattern(view, shown, kind, layer, head)
                show_word_alignment(view, kind, layer, head)
            elif look == "steps":
                show_steps(view, trace, kind, layer, head)
            elif look == "combined":
                show_combined(view, shown, kind, layer, head)
            elif look == "gradient":
                show_gradients(view, trace, kind, layer, head)
            else:
                show_whatif(view, trace, kind, layer, head)

    show_computed(words["computed_text"], MultiHeadAttention)
    show_next(words["next_text"])
