"""Edits of the model that are active while it writes, and what they change in the answer."""

from dataclasses import replace

import streamlit as st

from pages.decoding.answer_steps import Run, run_of
from pages.shell.view.edit_list import edit_button, edit_menu, edits_asked, fits, show_edit_list
from pages.shell.view.runs import Edits
from pages.shell.view.two_answers import say_parting, show_two_answers
from pages.shell.view.view import View
from pages.ui.text import text
from transformer.tracing.phrases import all_interventions, at_head


def edits_in_force(view: View) -> Edits:
    """The edits of the model that the session or the URL has. If there are any, also draw their list.

    Raises:
        InputError: a line of the list is not an edit, or it names a layer, head or token that does not exist.
    """
    if not edits_asked():
        return ()
    phrases = show_edit_list()
    st.caption(text("decoding")["edits_caption"])
    # The answer grows while it is written, so any of its positions is allowed.
    lengths = {"source": len(view.encoding("source").tokens)} if len(view.pipeline.stacks) > 1 else {}
    return all_interventions(phrases, view.pipeline.config, lengths)


def show_edits(view: View, run: Run) -> None:
    """Draw buttons that add edits of the model, and if there are edits, the answers without and with them."""
    words, whatif = text("decoding"), text("whatif")
    st.markdown(words["edits_text"])
    layers, heads = run.heads(run.kinds[0])
    layer = st.session_state.get("shown_layer", layers) - 1
    with st.container(horizontal=True):
        for kind in run.kinds:
            menu = f"silence_{kind}"
            with edit_menu(words["silence"][kind].format(layer=layer + 1), ":material/volume_off:", menu):
                for head in range(heads):
                    label = words["silence_head"].format(head=head + 1)
                    edit_button(label, at_head("silence", kind, layer, head), menu=menu)
                edit_button(whatif["silence_layer"], at_head("silence", kind, layer), menu=menu)
        if fits(view, "no positions"):
            edit_button(whatif["actions"]["no positions"], "no positions")
    if not run.settings.edits:
        st.info(words["no_edits"], icon=":material/edit:")
        return
    plain = run_of(view, replace(run.settings, edits=()))
    answers = [one.tokens_of(one.generation.ids()) for one in (plain, run)]
    say_parting(show_two_answers("edited", (whatif["answer_clean"], whatif["answer_edited"]), answers))
