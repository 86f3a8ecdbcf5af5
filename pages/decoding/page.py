"""Watch it write: the answer, one token at a time."""

from dataclasses import replace

import streamlit as st

from pages.decoding.answer_player import picked_step, show_plain_answer, show_player
from pages.decoding.answer_steps import run_of
from pages.decoding.beam import show_beam
from pages.decoding.branch import show_branch, show_undo
from pages.decoding.decoding_settings import PLAIN, generate, pick_settings
from pages.decoding.distribution import show_distribution
from pages.decoding.edits import edits_in_force, show_edits
from pages.decoding.forced import forced_tokens, with_forced
from pages.decoding.insides import show_contributions, show_lens
from pages.decoding.next_token_question import NEXT, show_guess
from pages.decoding.two_answers import second_answer, show_both_steps
from pages.decoding.whole_words import text_words
from pages.decoding.writing_lessons import show_forcing, show_smoothing
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import pick_part, section
from pages.shell.view.answer_line import answer_of, show_answer
from pages.shell.view.run_banner import show_agreement, show_texts
from pages.shell.view.second_run_menu import answer_row, pick_second_run
from pages.shell.view.two_runs import show_two_runs
from pages.ui.compat import PageEnd
from pages.ui.escaping import quoted
from pages.ui.pickers import pick
from pages.ui.prediction import is_open
from pages.ui.text import text
from transformer.analysis.logit_contributions import logit_contributions
from transformer.analysis.logit_lens import logit_lens
from transformer.analysis.word_trace import Group
from transformer.pipeline.decoding.generate import generate as generate_steps
from transformer.pipeline.decoding.logits_processors import MinP, Temperature, TopK, TopP
from transformer.pipeline.decoding.methods import Beam, Sample

words = text("decoding")

with explained():
    view = show_texts(lambda view: view.writes and generate(view, PLAIN))
    if not view.writes:
        show_answer(view, answer_of(view))
        show_agreement(view)
        st.info(words["writes_nothing"][view.pipeline.output_kind], icon=":material/info:")
        raise PageEnd
    # In one container, so that the player keeps its place and the keyboard's focus when the elements above it change.
    with st.container():
        with answer_row() as row:
            if not is_open(NEXT):
                show_plain_answer(view)
            show_agreement(view)
        asked = pick_second_run(view, row)
        settings, both = pick_settings(), st.container()
        settings = replace(settings, edits=edits_in_force(view))
        run = run_of(view, settings)
        forced = forced_tokens(view, run)
        other = with_forced(view, run, forced.tokens) if forced.tokens else None
        shown = run
        if other:
            with st.container(horizontal=True, vertical_alignment="bottom"):
                chosen = pick(words["shown"], ["what-if", "answer"], "shown")
                show_undo(other, forced)
            shown = other if chosen == "what-if" else run
        # While the learner guesses, the page must show neither the token nor the tokens after it.
        step = picked_step(len(shown.chain))
        made = shown.chain[step]
        hides = show_guess(view, shown, step)
        if hides is None and shown.settings != PLAIN:
            st.markdown(words["written"].format(answer=quoted(shown.text) or text("common")["empty_answer"]))
        of: tuple[Group, ...] = () if hides else text_words(run.encoding)
        if of:
            st.caption(f":material/join: {words['joined']}")
    if hides is None:
        with both:
            show_two_runs(
                view,
                asked,
                lambda second: show_both_steps(shown, second_answer(second.view, shown, second.edits), step),
                lambda each, edits: second_answer(each, shown, edits).text,
            )
    if not hides:
        show_player(view, shown, of)
        # This text is below the picture, because on a phone the picture should be on the first screen.
        st.markdown(words["later"])
        if not isinstance(settings.method, Sample):
            st.caption(words["beam_controls" if isinstance(settings.method, Beam) else "greedy_controls"])
        # For the plain answer of a trained model, the line at the top of the page already says whether it ended.
        said = shown.settings == PLAIN and view.pipeline.trained and not is_open(NEXT)
        if not (shown.generation.ended or said) and len(view.pipeline.stacks) > 1:
            st.warning(words["not_ended"].format(count=len(shown.generation.ids())), icon=":material/more_horiz:")

    if hides is None:
        # Until another part is picked, the part with forced tokens and edits is open if there are any, or else the part of beam
        # search.
        changed = forced.tokens or forced.problems or settings.edits
        first = "branch" if changed else "beam" if isinstance(settings.method, Beam) else None
        parts = words["parts"] if view.pipeline.trained else words["parts"] | {"taught": words["taught_untrained"]}
        part = pick_part(words["part_label"], parts, words["anchors"], first)
    else:
        part = "" if hides else "probabilities"
    if part == "probabilities":
        height = 480 if len(shown.step(made).stages) > 1 else 60
        if section(words["stages_title"].format(step=step + 1), "stages", height):
            show_distribution(shown, made)
    elif part == "beam":
        if section(words["beam_title"], "beam", 520 if isinstance(settings.method, Beam) else 90):
            show_beam(view, shown, of)
    elif part == "branch":
        if section(words["branch_title"], "branch", 300):
            show_branch(run, other, forced, shown, step)
        if section(words["edits_title"], "edits", 220):
            show_edits(view, shown)
    elif part == "lens":
        if section(words["lens_title"], "lens", 540):
            show_lens(view, shown)
        if section(words["pushed_title"], "pushed", 840):
            show_contributions(view, shown, made)
    elif part == "taught":
        if section(words["forcing_title"], "forcing", 680):
            show_forcing(view, settings.edits)
        if section(words["smoothing_title"], "smoothing", 517):
            show_smoothing(shown, made)

    show_computed(words["computed_text"], generate_steps, Temperature, TopK, TopP, MinP, Beam, logit_lens, logit_contributions)
    show_next(words["next_text"])
