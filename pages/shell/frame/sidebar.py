"""The sidebar of every page: the model and the texts. `app.py` draws it outside of the pages, so its widgets keep their values
when another page is opened. They are bound to the URL, so a link opens the same view."""

from contextlib import nullcontext

import streamlit as st

from pages.shell.error_boundary import explained, sentence
from pages.shell.frame.body import BODY, draw_alone
from pages.shell.frame.glossary import explain_terms
from pages.shell.frame.history import keep_history
from pages.shell.frame.hub_box import arrived, show_hub
from pages.shell.frame.next_words import CHIPS, show_next_words
from pages.shell.models.folders import folder_models, folders, hub_allowed, is_open, open_folder, problem_of
from pages.shell.models.model_examples import TEXTS, Start, starts
from pages.shell.models.model_texts import about_folder, accepts, open_description
from pages.shell.models.own_models import PREFIX, own_models
from pages.shell.view.runs import available, runs, snapshot_of, trained, trained_key
from pages.shell.view.view import OWN_SIZES, current_view
from pages.ui.compat import forget_infinite
from pages.ui.escaping import literal, quoted
from pages.ui.limits import SENTENCES, SIZES, TEXT_CHARACTERS
from pages.ui.link_values import publish
from pages.ui.text import KEY, default_language, languages, text
from transformer import PRESETS, HeadlightError, Pipeline
from transformer.pipeline.snapshots import SIGN
from transformer.pipeline.untrained import Untrained

# Session keys: the model of the last run, and model → its texts when another model was picked.
LAST_MODEL, TEXTS_OF_MODELS = "sidebar_model", "sidebar_texts"
# Session key: the model to open in the next run of the app (`open_model`).
OPENED = "opened_model"
# Key of the fragment with the sentence on an example.
LOOK_FOR = "look_for"
FIRST_SIZES = {"n_layers": 2, "n_heads": 4, "d_model": 64, "d_ff": 256}


def sidebar(in_lesson: bool = False) -> None:
    """Draw the sidebar. In a lesson it does not say what to look for in an example, because the lesson may ask for it."""
    words = text("sidebar")
    with st.sidebar, explained():
        opened = arrived() or st.session_state.pop(OPENED, None)
        if opened:
            st.session_state["model"] = opened
            _start_anew()
        models = [*available(), *own_models(), *folder_models(), *_open_snapshot(), *PRESETS, OWN_SIZES]
        asked = st.query_params.get("model")
        if asked and asked not in models:
            _refuse(asked)
        model = st.selectbox(
            words["model"],
            models,
            key="model",
            bind="query-params",
            help=_models(),
            on_change=_start_anew,
        )
        about = st.container(gap="small") if not trained(model) else None
        if model == OWN_SIZES:
            _sizes()
        if folders():
            _folders()
        show_hub()
        readable = _opens(model)
        offered = starts(model) if readable else (Start("", ""),)
        _source(model, offered, readable)
        # The examples are drawn after all text boxes, because they depend on the boxes' values.
        examples = st.container(gap="small")
        if readable:
            show_next_words(model)
        _other_texts()
        with examples:
            _examples(offered)
            _look_for(() if in_lesson else offered)
        if about is not None:
            with about:
                _untrained(model)
        if len(languages()) > 1:
            _language()
        st.session_state[LAST_MODEL] = model
        keep_history()
        explain_terms()


def _open_snapshot() -> list[str]:
    """The names of the open snapshot and of the snapshot in the address. Other snapshots are not in the list of models."""
    asked = (st.session_state.get("model"), st.query_params.get("model"))
    names = dict.fromkeys(name for name in asked if name and name not in available())
    return [name for name in names if snapshot_of(name)]


def _refuse(asked: str) -> None:
    """Draw why the model that the address asks for is not in the list of models."""
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


def _opens(model: str) -> bool:
    """Open a model in a folder of the server, with a spinner. Returns whether it is open. If not, the error is drawn. Returns
    True for other models."""
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


def _folders() -> None:
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


def _examples(offered: tuple[Start, ...]) -> None:
    """Draw the list of the examples. It opens in the sidebar, so that the page stays visible beside it."""
    # Filled only while open: the buttons of a closed list would be sent with every click.
    menu = st.expander(text("sidebar")["examples"], icon=":material/lightbulb:", key="examples", on_change="rerun")
    if menu.open:
        with menu, st.container(gap=None, key="example-list"):
            for index, start in enumerate(offered):
                st.button(
                    literal(start.label),
                    key=f"example-{index}",
                    on_click=take,
                    args=(start,),
                    type="tertiary",
                    width="stretch",
                )


@st.fragment(key=LOOK_FOR)
def _look_for(offered: tuple[Start, ...]) -> None:
    """If the text boxes contain an example that this page can show, draw what to look for in it."""
    for start in offered:
        if start.now and st.session_state.get("page") in start.pages:
            st.info(start.look_for, icon=":material/visibility:")


def _read_anew() -> None:
    """Draw the page for changed texts, and only those parts of the sidebar that depend on the texts."""
    # The number of parameters of an untrained model is in the sidebar, and depends on its vocabulary.
    if trained(st.session_state["model"]):
        draw_alone(LOOK_FOR, CHIPS, BODY)


def take(start: Start) -> None:
    """Put the texts of an example into the sidebar. Call it from a callback only."""
    for name in TEXTS:
        st.session_state[name] = getattr(start, name)


def open_model(name: str) -> None:
    """Open a model with its texts in the next run of the app. Call it from a callback, and make sure that the whole app runs.

    A callback must not set the picker itself while a fragment runs every few seconds. If the fragment's request arrives during
    the callback, Streamlit 1.67 joins it with the run after the callback, and uses the widget values that the browser sent."""
    st.session_state[OPENED] = name


def _start_anew() -> None:
    """Replace the texts after another model was picked, because it reads other texts: by the last texts of that model, or by
    its first example."""
    state = st.session_state
    texts: dict[str, Start] = state.setdefault(TEXTS_OF_MODELS, {})
    texts[state.get(LAST_MODEL, "")] = Start(look_for="", **{name: state[name] for name in TEXTS})
    model = state["model"]
    if model in folder_models() and model not in texts:
        try:
            open_folder(folder_models()[model])
        except HeadlightError:
            return  # the sidebar draws the error
    take(texts.get(model) or starts(model)[0])


def _models() -> str:
    """A Markdown list of all models, each with one line on what it does."""
    words = text("sidebar")
    described = {name: open_description(name) for name in (*available(), *folder_models())} | words["presets"]
    lines = [f"- `{name}`: {literal(says)}" for name, says in described.items()]
    return "\n".join([words["model_help"], "", *lines])


def _untrained(model: str) -> None:
    """Draw a badge, a line on the model and its number of parameters."""
    words = text("sidebar")
    st.badge(words["untrained"], icon=":material/shuffle:", color="orange", help=words["untrained_help"])
    st.caption(words["presets"][model])
    try:
        key = current_view().key
        count = key.parameters if isinstance(key, Untrained) else 0
    except HeadlightError:
        return  # the page shows the error
    st.caption(words["parameters"].format(count=count))


def _language() -> None:
    """Draw the picker of the language. `start_language` has set its value."""
    label = text("sidebar")[KEY]
    chosen = st.selectbox(label, list(languages()), key=KEY, format_func=lambda name: languages()[name])
    publish(KEY, None if chosen == default_language() else chosen)


def _sizes() -> None:
    """Draw the boxes for a model of own sizes."""
    words = text("sidebar")
    st.selectbox(words["variant"], list(PRESETS), key="variant", bind="query-params", help=words["variant_help"])
    columns = st.columns(2)
    for index, (name, most) in enumerate(SIZES.items()):
        forget_infinite(name)
        first = min(FIRST_SIZES[name], most)
        columns[index % 2].number_input(
            words[name], 1, most, first, key=name, bind="query-params", help=words[f"{name}_help"].format(most=most)
        )


def _limit(model: str) -> str:
    """A sentence on the texts that the model reads, and on their greatest length."""
    words = text("sidebar")
    if not trained(model):
        return words["type"].format(accepts=accepts(model))
    pipeline = runs().pipeline(trained_key(model))
    unit = words["units"][pipeline.vocabulary("source").tokenizer_name]
    return words["limit"].format(accepts=accepts(model), most=pipeline.card.longest, unit=unit)


def _source(model: str, offered: tuple[Start, ...], readable: bool) -> None:
    """Draw the box of the first sentence. Below it is which texts the model reads, if the model can be opened, and what a
    trained model does."""
    words = text("sidebar")
    st.text_input(
        words["source"],
        value=offered[0].source,
        max_chars=TEXT_CHARACTERS,
        key="source",
        bind="query-params",
        on_change=_read_anew,
        help=words["source_help"].format(accepts=accepts(model)) if readable else None,
    )
    paragraphs = [_limit(model)] if readable else []
    if trained(model):  # not below the picker of the model, so that the box is on the first screen of a small laptop
        paragraphs.append(open_description(model))
    st.caption("\n\n".join(literal(paragraph) for paragraph in paragraphs))


def _other_texts() -> None:
    """Draw the boxes of the target and of the other sentences of the batch."""
    words = text("sidebar")
    st.text_input(
        words["target"],
        max_chars=TEXT_CHARACTERS,
        key="target",
        bind="query-params",
        on_change=_read_anew,
        placeholder=words["target_placeholder"],
        help=words["target_help"],
    )
    with st.expander(words["more"], icon=":material/view_agenda:"):
        st.caption(words["more_help"])
        for name in ("batch", "batch_targets"):
            st.text_area(
                words[name],
                max_chars=(SENTENCES - 1) * TEXT_CHARACTERS,
                key=name,
                bind="query-params",
                on_change=_read_anew,
                height=96,
                placeholder=words[f"{name}_placeholder"],
                help=words[f"{name}_help"].format(most=SENTENCES - 1),
            )
