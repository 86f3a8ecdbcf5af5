"""The Masks page: which tokens may attend to which, and the effect of leaving a mask out."""

import streamlit as st

from pages.masks.batch import beside_an_example, show_batch
from pages.masks.conventions import pick_head, show_conventions, show_empty_row
from pages.masks.leak_part import show_future, show_padding
from pages.masks.mask_pictures import show_broadcast, show_masks, show_numbers, show_recorded
from pages.masks.mask_question import show_drawing
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import seen
from pages.shell.view.joined_words import pick_words
from pages.shell.view.run_banner import show_run
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer.network import masks
from transformer.network.attention import MultiHeadAttention

words = text("masks")

with explained():
    view, trace = show_run(batch=True, beside=beside_an_example)
    first = st.container()  # comes first, because what goes wrong without a mask is the reason for everything below
    st.header(words["batch"], anchor="batch")
    batch = show_batch(view, trace)
    shown = pick_words(trace)
    if shown is not trace:
        st.caption(f":material/join: {words['joined']}")

    st.header(words["pictures"], anchor="pictures")
    hides = "target" in trace.sides and show_drawing(batch)
    pictures, part = st.container(), ""
    if not hides:
        with first:
            st.header(words["further"], anchor="further")
            # The other parts compute the run again, which is possible only for our own networks.
            parts = list(words["parts"]) if batch.target else ["broadcasting"]
            part = pick(words["part"], parts, "part")
            st.caption(words["parts"][part])
            if batch.target is None:
                st.caption(words["recorded_parts"])
            if part == "broadcasting":
                for kind in trace.kinds:
                    st.markdown(f"**{words['kinds'][kind]}**")
                    show_broadcast(trace, kind)
            elif part == "three-conventions":
                show_conventions(batch, pick_head(batch))
            elif part == "empty-row":
                show_empty_row(batch, pick_head(batch))
            elif part == "no-causal-mask":
                show_future(batch, shown is not trace)
            else:
                show_padding(batch, shown is not trace)

    with pictures:
        if batch.target is None:
            show_recorded(batch, shown)
        elif part == "three-conventions":
            st.caption(words["pictures_above"])
        elif not hides and seen("target", 1000):
            show_masks(batch, shown)
            show_numbers(batch)

    parts = (masks.padding_keys, masks.padding_queries, masks.causal, masks.target_mask, MultiHeadAttention.hide)
    show_computed(words["computed_text"], *parts)
    show_next(words["next_text"])
