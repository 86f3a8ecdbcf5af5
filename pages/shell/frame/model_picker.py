"""The picker of the model in the sidebar, and what the sidebar says about the picked model."""

from collections.abc import Mapping
from contextlib import nullcontext

import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.frame.example_list import start_anew
from pages.shell.frame.hub_box import arrived
from pages.shell.models.catalogue import available, snapshot_of
from pages.shell.models.folders import folder_models, folders, hub_allowed, is_open, open_folder, problem_of
from pages.shell.models.model_texts import about_folder, description
from pages.shell.models.own_models import PREFIX, own_models
from pages.shell.view.view import OWN_SIZES, current_view
from pages.ui.compat import forget_infinite
from pages.ui.escaping import literal, quoted
from pages.ui.limits import SIZES
from pages.ui.link_values import refuse
from pages.ui.text import text
from transformer import PRESETS, HeadlightError, Pipeline
from transformer.pipeline.snapshots import SIGN
from transformer.pipeline.untrained import Untrained

# Session key: the model to open in the next run of the app (`open_model`).
OPENED = "opened_model"
FIRST_SIZES = {"n_layers": 2, "n_heads": 4, "d_model": 64, "d_ff": 256}


def pick_model() -> str:
    """Draw the list of models in the sidebar, and return the picked name. If the list lacks the model of the URL, draw why."""
    words = text("sidebar")
    opened = arrived() or st.session_state.pop(OPENED, None)
    if opened:
        st.session_state["model"] = opened
        start_anew()
    models = [*available(), *own_models(), *folder_models(), *_open_snapshot(), *PRESETS, OWN_SIZES]
    asked = st.query_params.get("model")
    if asked is not None and asked not in models:
        _refuse(asked)
    return st.selectbox(words["model"], models, key="model", bind="query-params", help=_models(), on_change=start_anew)


def _open_snapshot() -> list[str]:
    """The names of the open snapshot and of the snapshot in the URL. Other snapshots are not in the list of models."""
    asked = (st.session_state.get("model"), st.query_params.get("model"))
    names = dict.fromkeys(name for name in asked if name and name not in available())
    return [name for name in names if snapshot_of(name)]


def _refuse(asked: str) -> None:
    """Draw why the model that the URL asks for is not in the list of models."""
    if "/" not in asked or not hub_allowed():
        refuse("model", asked)  # said on the page, too, because a phone hides the sidebar
    problem = problem_of(asked)
    if asked.startswith(PREFIX):
        st.warning(text("sidebar")["not_own"].format(name=literal(asked)), icon=":material/person_off:")
    elif problem is not None:
        st.error(literal(sentence(problem)), icon=":material/folder_off:")
    elif "/" in asked:
        if not hub_allowed():  # otherwise the hub box draws the progress or the error
            st.warning(text("hub")["refused"].format(name=literal(asked)), icon=":material/cloud_off:")
    elif SIGN in asked:
        try:
            Pipeline.load(asked)
        except HeadlightError as error:
            st.error(literal(sentence(error)), icon=":material/error:")
    else:
        st.warning(text("sidebar")["no_model"].format(name=quoted(asked)), icon=":material/error:")


def open_model(name: str) -> None:
    """Open a model with its texts in the next run of the app. Call it from a callback, and make sure that the whole app runs.

    A callback must not set the picker itself while a fragment runs every few seconds. If the fragment's request arrives during
    the callback, Streamlit 1.67 joins it with the run after the callback, and uses the widget values that the browser sent."""
    st.session_state[OPENED] = name


def _models() -> str:
    """A Markdown list of all models, each with one line on what it does."""
    words = text("sidebar")
    described = {name: description(name) for name in (*available(), *folder_models())} | words["presets"]
    lines = [f"- `{name}`: {literal(says)}" for name, says in described.items()]
    return "\n".join([words["model_help"], "", *lines])


def opens(model: str) -> bool:
    """Whether a model, by its name in the picker, can be used. A model in a folder of the server is opened, with a spinner; if
    that fails, the error is drawn and the result is False. For any other model the result is True."""
    key = folder_models().get(model)
    if key is None:
        return True
    try:
        with nullcontext() if is_open(key) else st.spinner(text("sidebar")["opening"].format(name=literal(model))):
            open_folder(key)
    except HeadlightError as error:
        st.error(literal(sentence(error)), icon=":material/folder_off:")
        return False
    return True


def show_folders() -> None:
    """Draw the menu with the models in folders of the server, their sizes, and why some cannot be opened."""
    words, named = text("sidebar"), folders()
    broken = [name for name in named if problem_of(name)]
    label = words["folders_broken" if broken else "folders"].format(count=len(named), broken=len(broken))
    # Filled only while open: the table of a closed menu would be sent with every click.
    menu = st.popover(label, icon=":material/folder:", width="stretch", key="folders", on_change="rerun")
    if menu.open:
        with menu:
            st.caption(words["folders_help"])
            for name, folder in named.items():
                problem = problem_of(name)
                about = about_folder(folder.model) if folder.model else ""
                says = f":red[{literal(sentence(problem))}]" if problem else literal(about)
                st.markdown(f"**{literal(name)}**  \n{says}")


def show_sizes(sizes: Mapping[str, int] = SIZES) -> None:
    """Draw the boxes for the sizes of the untrained model `own-sizes`. `sizes`: name of a box → its largest number."""
    words = text("sidebar")
    linked = {name: asked for name, asked in st.query_params.items() if name not in st.session_state}
    st.selectbox(words["variant"], list(PRESETS), key="variant", bind="query-params", help=words["variant_help"])
    columns = st.columns(2)
    for index, (name, most) in enumerate(sizes.items()):
        forget_infinite(name)
        first = min(FIRST_SIZES[name], most)
        columns[index % 2].number_input(
            words[name], 1, most, first, key=name, bind="query-params", help=words[f"{name}_help"].format(most=most)
        )
    for name in ("variant", *sizes):
        if linked.get(name, str(st.session_state[name])) != str(st.session_state[name]):
            refuse(name, linked[name])


def show_untrained(model: str) -> None:
    """Draw what the sidebar says of an untrained model, a preset or `own-sizes`: a badge, a line, its number of parameters."""
    words = text("sidebar")
    st.badge(words["untrained"], icon=":material/shuffle:", color="orange", help=words["untrained_help"])
    st.caption(words["presets"][model])
    try:
        key = current_view().key
        count = key.parameters if isinstance(key, Untrained) else 0
    except HeadlightError:
        return  # the page shows the error
    st.caption(words["parameters"].format(count=count))
