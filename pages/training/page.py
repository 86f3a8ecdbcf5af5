"""Watch it learn: a model from random weights to the end of its training."""

import streamlit as st

from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import pick_part, section
from pages.shell.view.run_banner import show_texts
from pages.training.experiments import show_overfitting, show_warmup
from pages.training.film import show_film
from pages.training.films import film_of
from pages.training.frames import frames_of_view, pick_frame, say_whose, show_other_films
from pages.training.gradient import show_step
from pages.training.head_history import show_head_history
from pages.training.learning_settings import show_schedule, show_smoothing
from pages.training.live_training import show_live
from pages.training.own_run import show_own_run
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer.tracing.paths import Kind
from transformer.training.run import Training

words = text("training")

with explained():
    view = show_texts()
    frames = frames_of_view(view)
    # A model without snapshots has no recorded training, so there is no step of it to show.
    part = pick_part(
        words["part"], {name: says for name, says in words["parts"].items() if frames or name != "step"}, words["anchors"]
    )
    if frames and part not in ("live", "own"):
        say_whose(frames, view)
    if part == "film" and frames:
        film, frame = film_of(view, frames), pick_frame(view, frames)
        trace = film.trace(frame)
        st.header(words["recorded_title"].format(model=frames.model), anchor="film")
        # The picture comes first. The head is picked by a click in the picture, or by the pickers below it.
        picture = st.container()
        with st.container(horizontal=True):
            kind = pick(words["kind"], [str(kind) for kind in trace.kinds], "kind", first="cross")
            # If the card names a head that turns, or one that aligns words best, that head is picked first.
            measures = view.pipeline.card.measures if kind == Kind.CROSS else {}
            named = measures.get("pronouns") or measures.get("alignment") or {}
            layers, heads = trace.layers(kind), trace.heads(kind)
            layer = pick(words["layer"], range(1, layers + 1), "layer", first=named.get("layer", layers)) - 1
            head = pick(words["head"], range(1, heads + 1), "head", first=named.get("head", 1)) - 1
        with picture:
            show_film(film, frame, view, kind, layer, head)
        if section(words["turned_title"], "turned", 560):
            show_head_history(film, frame, kind, layer, head)
    elif part == "film":
        show_other_films(view)
    elif part == "live":
        show_live()
    elif part == "own":
        show_own_run()
    elif part == "step" and frames:
        st.header(words["step_title"], anchor="step")
        show_step(frames, pick_frame(view, frames, buttons=True))
    else:
        if frames and section(words["schedule_title"], "schedule", 420):
            show_schedule(frames, pick_frame(view, frames))
            show_smoothing(frames)
        if section(words["warmup_title"], "warmup", 420):
            show_warmup()
        if section(words["overfit_title"], "overfit", 420):
            show_overfitting()

    show_computed(words["computed_text"], Training.learn)
    show_next(words["next_text"])
