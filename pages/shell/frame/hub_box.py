"""The sidebar's box that opens a model from a hub: its id, the download, errors. Drawn only if the operator allows it."""

import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.models.folders import IN_OWN_NETWORK, folder_models, folders, hub_allowed
from pages.shell.models.hub_downloads import Download, leave, start
from pages.ui.escaping import literal
from pages.ui.format import byte_size
from pages.ui.text import text
from transformer import HeadlightError
from transformer.huggingface.hub import hub_id

# Session keys: the download that this session waits for, what is wrong with the id that was typed, and the id of the link.
DOWNLOAD, WRONG, LINKED = "hub_download", "hub_wrong", "hub_linked"
# Widget keys.
MENU, BOX = "hub", "hub_id"
# Seconds between two drawings of the progress, and the most characters that the box accepts.
PACE, LONGEST = 1.0, 250


def show_hub() -> None:
    """Draw the sidebar's menu for downloading a model of a hub. Below it, draw the progress of this session's download, or
    offer the download of the model that the URL names."""
    if not hub_allowed():
        return
    words, state = text("hub"), st.session_state
    # Like the other menus of the sidebar, this menu has content only while it is open.
    menu = st.popover(words["menu"], icon=":material/cloud_download:", width="stretch", key=MENU, on_change="rerun")
    if menu.open:
        with menu:
            st.markdown(words["about"])
            st.text_input(words["id"], key=BOX, max_chars=LONGEST, placeholder=words["placeholder"], on_change=_ask_typed)
            st.button(words["download"], key="hub_start", on_click=_ask_typed, type="primary", width="stretch")
    if state.get(WRONG):
        st.error(literal(sentence(state[WRONG])), icon=":material/cloud_off:")
    asked = _linked()
    if asked and DOWNLOAD not in state:
        st.info(words["linked"].format(name=literal(asked)), icon=":material/link:")
        st.button(words["download"], key="hub_linked_start", on_click=_ask, args=(asked,), width="stretch")
    if DOWNLOAD in state:
        every = PACE if state[DOWNLOAD].alive else None
        st.fragment(_progress, key="hub_progress", run_every=every)()


def arrived() -> str | None:
    """The name of the model whose download for this session has just ended; otherwise None. Each name is returned once.

    Also notes the model of a hub that the URL names. So call it before the picker of models is drawn, because the picker
    removes an unknown name from the URL.
    """
    asked = st.query_params.get("model", "")
    if "/" in asked and hub_allowed() and asked not in folders() and asked not in folder_models():
        st.session_state[LINKED] = asked.removesuffix(IN_OWN_NETWORK)
    one: Download | None = st.session_state.get(DOWNLOAD)
    if one is None or not one.name:
        return None
    del st.session_state[DOWNLOAD]
    return one.name if one.name in folder_models() else None


def _linked() -> str | None:
    """The model of a hub that this session's URL names, if this model is not on the server yet."""
    state = st.session_state
    if state.get(LINKED) in folders():
        del state[LINKED]
    return state.get(LINKED)


def _ask_typed() -> None:
    """Start the download of the id in the box."""
    if st.session_state[BOX].strip():
        _ask(st.session_state[BOX])


def _ask(written: str) -> None:
    state = st.session_state
    _leave()
    state.pop(WRONG, None)
    state.pop(LINKED, None)
    try:
        state[DOWNLOAD] = start(hub_id(written), _visitor())
    except HeadlightError as error:
        state[WRONG] = error


def _leave() -> None:
    """Stop waiting for the download of this session."""
    one = st.session_state.pop(DOWNLOAD, None)
    if one is not None:
        leave(one, _visitor())


def _visitor() -> object:
    """An object that identifies this session among all that wait for a download."""
    return st.session_state.setdefault("hub_visitor", object())


def _progress() -> None:
    """Draw the progress of the download. When it has ended, run the app again."""
    one: Download | None = st.session_state.get(DOWNLOAD)
    if one is None:
        return
    words = text("hub")
    name = literal(one.model.repo)
    if one.name:
        st.rerun()
    if one.problem is not None:
        st.error(literal(sentence(one.problem)), icon=":material/cloud_off:")
        st.button(words["close"], key="hub_close", on_click=_leave, width="stretch")
        return
    if one.total:
        label = words["progress"].format(name=name, done=byte_size(one.done), total=byte_size(one.total))
        st.progress(one.done / one.total, text=label)
    else:
        st.caption(words["asking"].format(name=name))
    st.button(words["cancel"], key="hub_cancel", on_click=_leave, width="stretch")
