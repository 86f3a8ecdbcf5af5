"""Watch it learn: a model from random weights to the end of its training."""

import streamlit as st

from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import row_of_parts, section
from pages.shell.view.run_banner import show_texts
from pages.training.experiments import show_overfitting, show_warmup
from pages.training.film import film_of, pick_frame, show_film
from pages.training.frames import show_which
from pages.training.gradient import show_schedule, show_smoothing, show_step
from pages.training.head_history import show_head_history
from pages.training.live_training import show_live
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer.tracing.paths import Kind
from transformer.training.run import Training

words = text("training")
st.title(words["title"])
st.markdown(words["sentence"])

with explained():
    view = show_texts()
    frames = show_which(view)
    if frames:
        film, frame = film_of(view, frames), pick_frame(view, frames)
        trace = film.trace(frame)
        st.header(words["recorded_title"].format(model=frames.model), anchor="film")
        # The picture comes first. The head is picked by a click in the picture, or by the pickers below it.
        picture = st.container()
        with st.container(horizontal=True):
            kind = pick(words["kind"], [str(kind) for kind in trace.kinds], "kind", first="cross", labels=words["kinds"])
            # If the card names a head that turns, that head is picked first.
            turning = view.pipeline.card.measures.get("pronouns", {}) if kind == Kind.CROSS else {}
            layers, heads = trace.layers(kind), trace.heads(kind)
            layer = pick(words["layer"], range(1, layers + 1), "layer", first=turning.get("layer", layers)) - 1
            head = pick(words["head"], range(1, heads + 1), "head", first=turning.get("head", 1)) - 1
        with picture:
            show_film(film, frame, view, kind, layer, head)

        if section(words["turned_title"], "turned", 560):
            show_head_history(film, frame, kind, layer, head)
    show_live()

    with row_of_parts():
        if frames and section(words["step_title"], "step", 1600):
            show_step(frames, frame)

        if frames and section(words["schedule_title"], "schedule", 420):
            show_schedule(frames, frame)
            show_smoothing(frames)

        if section(words["warmup_title"], "warmup", 420):
            show_warmup()

        if section(words["overfit_title"], "overfit", 420):
            show_overfitting()

    show_computed(words["computed_text"], Training.learn)
    show_next(words["next_text"])
