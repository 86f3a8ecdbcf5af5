"""What this is, what the loaded model does, and where to go."""

import streamlit as st

from pages.widgets.pages import GROUPS, page_files
from pages.widgets.problems import explained, literal
from pages.widgets.reading import show_reading
from pages.widgets.sidebar import current_view
from pages.widgets.text import text

words = text("home")
st.title(words["heading"])
st.markdown(words["sentence"])

with explained():
    view = current_view()
    st.subheader(words["now"])
    trace = show_reading(view)
    config, card = view.pipeline.config, view.pipeline.card
    for column, (label, value) in zip(
        st.columns(4),
        {
            words["layers"]: f"{config.encoder_layers} + {config.decoder_layers}",
            words["heads"]: config.heads,
            words["tensors"]: len(trace),
            words["exact"]: f"{card.accuracy:.1%}" if card.tested_on else "–",
        }.items(),
        strict=True,
    ):
        column.metric(label, value)
    if card.command:
        st.caption(literal(words["card"].format(description=card.description, tested=card.tested_on, command=card.command)))

    st.subheader(words["pages"])
    for file in page_files():
        if file.parent.name != GROUPS[0]:
            page = text(file.stem)
            st.page_link(file, label=page["title"], icon=page["icon"])
            st.markdown(page["sentence"])
