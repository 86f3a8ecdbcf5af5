"""The heading and the sidebar of every page: its title and the box of the first text; the model and further texts.

`app.py` draws all of it outside of the pages, so its widgets keep their values when another page is opened. They are bound to
the URL, so a link opens the same view.
"""

from contextlib import AbstractContextManager

import streamlit as st

from pages.shell.error_boundary import explained
from pages.shell.frame.body import BODY, draw_alone
from pages.shell.frame.example_list import LAST_MODEL, LOOK_FOR, show_examples, show_look_for
from pages.shell.frame.glossary import explain_terms
from pages.shell.frame.history import keep_history
from pages.shell.frame.hub_box import show_hub
from pages.shell.frame.model_picker import opens, pick_model, show_folders, show_sizes, show_untrained
from pages.shell.frame.next_words import CHIPS, show_next_words
from pages.shell.frame.note_row import ROW, show_note_row
from pages.shell.models.catalogue import trained, trained_key
from pages.shell.models.folders import folders
from pages.shell.models.model_examples import Start, starts
from pages.shell.models.model_texts import accepts, description
from pages.shell.view.runs import runs
from pages.shell.view.view import OWN_SIZES
from pages.ui.escaping import literal
from pages.ui.limits import SENTENCES
from pages.ui.link_values import publish, refuse
from pages.ui.text import KEY, default_language, languages, text


def sidebar(in_lesson: bool) -> None:
    """Draw the heading of the page, with the box of the first text, and the sidebar. In a lesson, the sidebar does not say what
    to look for in an example, because the lesson may ask for it."""
    place = _heading()
    with st.sidebar, explained():
        model = pick_model()
        about = st.container(gap="small") if not trained(model) else None
        if model == OWN_SIZES:
            show_sizes()
        if folders():
            show_folders()
        show_hub()
        readable = opens(model)
        offered = starts(model) if readable else (Start("", ""),)
        with place:
            _source(model, offered, readable)
        if trained(model):
            st.caption(literal(description(model)))
        # The examples are drawn after all text boxes, because they depend on the boxes' values.
        examples = st.container(gap="small")
        if readable:
            show_next_words(model)
        _other_texts(model, readable)
        if readable:
            with place:
                show_note_row(_limit(model))
        with examples:
            show_examples(offered)
            show_look_for(() if in_lesson else offered)
        if about is not None:
            with about:
                show_untrained(model)
        _language()
        st.session_state[LAST_MODEL] = model
        keep_history()
        explain_terms()


def _heading() -> AbstractContextManager[object]:
    """Draw the title of the page and its sentence, between the bar of a lesson and the page. Returns the place of the text box
    below them. If the page reads no text, this place is hidden. The box is still drawn in it, because a widget that is not
    drawn loses its value."""
    words = text(st.session_state["page"])
    with st.container(key="heading", gap="xxsmall"):
        st.title(words.get("heading", words["title"]))
        st.markdown(words["sentence"])
        # app.css hides `source_unread`
        return st.container(gap="xxsmall", key="source_place" if words.get("reads_source", True) else "source_unread")


def _read_anew() -> None:
    """Draw the page again after a change of the texts, and of the sidebar only the parts that depend on the texts. For an
    untrained model, the whole app is drawn."""
    # The number of parameters of an untrained model is in the sidebar, and depends on its vocabulary.
    if trained(st.session_state["model"]):
        draw_alone(LOOK_FOR, CHIPS, ROW, BODY)


def _language() -> None:
    """Draw the picker of the language, if there are several. `start_language` has set its value."""
    asked = st.query_params.get(KEY)
    if asked is not None and asked not in languages():
        refuse(KEY, asked)
        del st.query_params[KEY]
    if len(languages()) == 1:
        return
    label = text("sidebar")[KEY]
    chosen = st.selectbox(label, list(languages()), key=KEY, format_func=lambda name: languages()[name])
    publish(KEY, None if chosen == default_language() else chosen)


def _limit(model: str) -> str:
    """A sentence on the texts that the model reads, and on their greatest length."""
    words = text("sidebar")
    if not trained(model):
        return words["type"].format(accepts=accepts(model))
    pipeline = runs().pipeline(trained_key(model))
    unit = words["units"][pipeline.vocabulary("source").tokenizer_name]
    return words["limit"].format(accepts=accepts(model), most=pipeline.card.longest, unit=unit)


def _source(model: str, offered: tuple[Start, ...], readable: bool) -> None:
    """Draw the box of the first text. Its help says which texts the model reads, if the model can be opened."""
    words = text("sidebar")
    # The box grows with its text. Enter submits the text: pages/shell/browser/enter.js. No text box has `max_chars`: Streamlit
    # would drop a longer pasted text without a word. The error of a text that is too long is that of
    # `View.encoding`.
    st.text_area(
        words["source"],
        value=offered[0].source,
        key="source",
        bind="query-params",
        on_change=_take_source,
        height="content",
        help=words["source_help"].format(limit=_limit(model)) if readable else None,
    )


def _take_source() -> None:
    """Read the changed text. Pasted lines are joined into one line, because a text has no line breaks."""
    typed = st.session_state["source"]
    if "\n" in typed:
        st.session_state["source"] = " ".join(typed.split("\n"))
    _read_anew()


def _other_texts(model: str, readable: bool) -> None:
    """Draw the boxes of the target and of the other sentences of the batch. A model without a decoder has no
    target."""
    words = text("sidebar")
    targetless = readable and trained(model) and "decoder" not in runs().pipeline(trained_key(model)).stacks
    st.text_input(
        words["target"],
        key="target",
        bind="query-params",
        on_change=_read_anew,
        placeholder=words["target_none" if targetless else "target_placeholder"],
        disabled=targetless,
        help=words["target_help"],
    )
    with st.expander(words["more"], icon=":material/view_agenda:"):
        st.caption(words["more_help"])
        for name in ("batch", "batch_targets"):
            st.text_area(
                words[name],
                key=name,
                bind="query-params",
                on_change=_read_anew,
                height=96,
                placeholder=words[f"{name}_placeholder"],
                help=words[f"{name}_help"].format(most=SENTENCES - 1),
            )
