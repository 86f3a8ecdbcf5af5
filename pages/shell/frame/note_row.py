"""The row beside the label of the text box: what the box may hold, or a note about what was typed.

The row is always one line high, so that a note never pushes the pictures of the page down.
"""

import streamlit as st

from pages.shell.models.catalogue import available
from pages.shell.view.run_banner import NOTED
from pages.shell.view.text_notes import Note, can_tell, text_notes, unreadable_note
from pages.shell.view.turns import turn
from pages.shell.view.view import current_view
from pages.ui.escaping import literal
from pages.ui.text import text
from transformer import HeadlightError, InputError

# Key of the fragment, and of the container of the notes (app.css).
ROW, NOTES = "note_row", "notes"
# The translator that reads any text, and the beginning of the names of the tasks whose translators know few words.
READS_ANY, LIMITED = "everyday", "english-french"


@st.fragment(key=ROW)
def show_note_row(limit: str) -> None:
    """Draw the row beside the label of the text box: a note about the typed text, or else `limit`, a sentence on the texts that
    the model reads. Call it after all text boxes."""
    with turn():
        notes, suited = _notes()
    if not notes:
        with st.container(key="source_limit"):  # app.css hides it on a phone; the help of the box says the same
            st.caption(literal(limit))
        return
    words, first = text("common"), notes[0]
    label = first.short if len(notes) == 1 else words["several_notes"].format(note=first.short, count=len(notes))
    with st.container(key=NOTES, horizontal=True, vertical_alignment="center", gap="small"):
        with st.popover(f"{first.icon} **{label}**", type="tertiary", wrap=False):
            for note in notes:
                st.markdown(f"{note.icon} {note.full}")
        if written := next((note.instead for note in notes if note.instead), None):
            st.button(words["write_instead"], key="write_instead", on_click=_write, args=(written,), type="tertiary")
        if suited:
            reads_any = words["reads_any"].format(model=READS_ANY)
            st.button(reads_any, key="reads_any", on_click=_open_reads_any, type="tertiary", icon=":material/translate:")


def _notes() -> tuple[tuple[Note, ...], bool]:
    """The notes about the typed texts, and whether the translator that reads any text would suit the first text better."""
    try:
        view = current_view()
        st.session_state[NOTED] = can_tell(view)
        notes = text_notes(view) if st.session_state[NOTED] else ()
    except InputError as error:
        st.session_state[NOTED] = True
        return (unreadable_note(error),), False
    except HeadlightError:  # not about a text, so the page shows the error
        return (), False
    strange = any(note.strange for note in notes)
    return notes, strange and view.pipeline.card.task.startswith(LIMITED) and READS_ANY in available()


def _write(source: str) -> None:
    st.session_state["source"] = source
    st.rerun()  # the whole app, because the row is a fragment


def _open_reads_any() -> None:
    st.session_state["model"] = READS_ANY
    st.rerun()  # the whole app, because the model is in the sidebar
