"""The menu of the second run: the settings of B, examples, and buttons that exchange both runs or end the comparison."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import streamlit as st

from pages.shell.models.catalogue import available, filmed, snapshot_of, snapshots
from pages.shell.models.folders import folder_models
from pages.shell.models.model_examples import starts
from pages.shell.models.model_texts import description
from pages.shell.models.own_models import own_models
from pages.shell.view.card_heads import choose_head, turning_head
from pages.shell.view.edit_list import fits
from pages.shell.view.second_run import EDITS, MENU, MODEL, OWN_ANSWER, SOURCE, TARGET, Asked, answer_of, asked_run
from pages.shell.view.view import OWN_SIZES, View
from pages.ui.escaping import literal
from pages.ui.link_values import choose
from pages.ui.text import text
from transformer import PRESETS
from transformer.patching import Head
from transformer.pipeline.snapshots import snapshot_name
from transformer.tracing.paths import Kind
from transformer.tracing.phrases import at_head

NO_POSITIONS = "no positions"
MOST_LABEL = 40  # characters of the label of an example


class Example(NamedTuple):
    """A comparison of two runs to try, offered as a button.

    Attributes:
        label: the label of its button.
        source: the text of the first run, A.
        asked: what is different in the second run, B.
        head: the head to look at; None for any.
    """

    label: str
    source: str
    asked: Asked
    head: Head | None = None


@contextmanager
def answer_row(gap: Literal["small", "xsmall"] = "small") -> Generator[Any]:
    """A context in which the model's answer is drawn. It yields the answer's row, to which `pick_second_run` adds a button."""
    row = st.container(horizontal=True, key="answer_row")
    with row.container(gap=gap):
        yield row


def pick_second_run(view: View, row: Any, text_alone: bool = False, default: Asked | None = None) -> Asked | None:
    """Draw the button that opens the menu of the second run, at the end of `row`, the row of the answer. Returns what differs
    in the second run (by default `default`), or None if nothing is compared. With `text_alone`, the menu offers only another
    text."""
    words, asked = text("second_run"), asked_run()
    asked = asked if any(asked) else default or asked
    compares = any(asked)
    # Filled only while open: the content of a closed menu would be sent with every click.
    label, kind = (words["comparing"], "primary") if compares else (words["compare"], "secondary")
    menu = row.popover(label, icon=":material/compare:", key=MENU, on_change="rerun", type=kind)
    if menu.open:
        with menu:
            _show_menu(view, asked, text_alone, default)
    return asked if compares else None


def _show_menu(view: View, asked: Asked, text_alone: bool, default: Asked | None) -> None:
    words = text("second_run")
    st.caption(words["intro_default" if default else "intro"])
    _show_examples(view, text_alone)
    placeholder = default.source if default else view.source
    st.text_input(words["source"], key=SOURCE, placeholder=placeholder)
    if not text_alone:
        _show_other_settings(view, asked)
    with st.container(horizontal=True):
        differs, fixed = asked._replace(phrases=()) != Asked(), bool(asked.model) and view.model == OWN_SIZES
        helps = words["swap_no" if fixed else "swap_help"]
        st.button(words["swap"], on_click=_swap, args=(view, asked), disabled=fixed or not differs, help=helps)
        if asked != default:
            stop = words["stop_default" if default else "stop"]
            st.button(stop, on_click=_ask, args=(Asked(),), disabled=not any(asked))


def _show_other_settings(view: View, asked: Asked) -> None:
    """Draw the boxes of the second run's target, model and edits."""
    words = text("second_run")
    if view.writes:
        typed = view.target if isinstance(view.target, str) else ""
        st.text_input(words["target"], key=TARGET, placeholder=typed or words["own_answer"])
        if typed and not asked.target:
            st.toggle(words["own_answer"], key=OWN_ANSWER, help=words["own_answer_help"])
    names = dict.fromkeys(["", *models(view), *filter(None, [asked.model])])
    st.selectbox(words["model"], list(names), key=MODEL, format_func=lambda name: _model_label(view, name))
    offered = dict.fromkeys([*phrases(view), *asked.phrases])
    st.multiselect(
        words["edits"],
        list(offered),
        key=EDITS,
        accept_new_options=True,
        placeholder=words["edits_none"],
        help=words["edits_help"],
    )


def _model_label(view: View, name: str) -> str:
    """The label of a model in the list. For a snapshot, it names the step."""
    return description(name) if snapshot_of(name) else name or f"{text('second_run')['as_a']}: {view.model}"


def _show_examples(view: View, text_alone: bool) -> None:
    offered = [example for example in examples(view) if not text_alone or example.asked.source]
    if offered:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(text("second_run")["examples"], width="content")
            for index, example in enumerate(offered):
                st.button(example.label, key=f"second_run_{index}", on_click=_take, args=(example,))


def models(view: View) -> list[str]:
    """The models that the second run of a comparison can have, other than the first run's: the snapshots of the first run's
    model, and the models of the picker without `own-sizes`, because the sidebar has boxes for these sizes only for the first
    run."""
    film = filmed(view.model)
    saved = [snapshot_name(film, step) for step in snapshots(film)] if film else []
    return [name for name in (*saved, *available(), *own_models(), *folder_models(), *PRESETS) if name != view.model]


def phrases(view: View) -> list[str]:
    """The edits that the second run's menu offers: no positions, and silencing each layer and head of the first run's model."""
    config = view.pipeline.config
    counts = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    if all(counts.values()):
        counts["cross"] = config.decoder_layers
    silenced = [
        at_head("silence", kind, layer, head)
        for kind, layers in counts.items()
        for layer in range(layers)
        for head in (None, *range(config.heads))
    ]
    return [*([NO_POSITIONS] if fits(view, NO_POSITIONS) else ()), *silenced]


def examples(view: View) -> list[Example]:
    """Comparisons to try with the first run's model: its first two examples, these again with its `turning_head` shown, the
    model before its training, and the model without positions. In the last two, the second run reads the answer of the first,
    so that both runs have the same tokens."""
    words, film, pipeline = text("second_run"), filmed(view.model), view.pipeline
    read = answer_of(view, ()) or "" if view.target is None else ""
    offered, texts = [], list(dict.fromkeys(start.source for start in starts(view.model)))
    if len(texts) > 1:
        offered.append(Example(_label(*texts[:2]), texts[0], Asked(source=texts[1])))
        turning = turning_head(pipeline.card.measures, list(Kind) if len(pipeline.stacks) > 1 else [])
        if turning:
            offered.append(offered[0]._replace(label=words["turning"], head=turning))
    if film and view.model == film:
        before = snapshot_name(film, snapshots(film)[0])
        offered.append(Example(words["before"], view.source, Asked(target=read, model=before)))
    if fits(view, NO_POSITIONS):
        offered.append(Example(words["no_positions"], view.source, Asked(target=read, phrases=(NO_POSITIONS,))))
    return offered


def _label(first: str, second: str) -> str:
    """The words that only one of two texts has, as Markdown, such as `tired / wide`; the texts if one has no such word. Each
    part is cut to `MOST_LABEL` characters."""
    one, other = first.split(), second.split()
    only = [" ".join(word for word in words if word not in others) for words, others in ((one, other), (other, one))]
    shown = [part[:MOST_LABEL] for part in (only if all(only) else (first, second))]
    return literal(text("second_run")["pair"].format(first=shown[0], second=shown[1]))


def _take(example: Example) -> None:
    _ask(example.asked)
    if example.head:
        choose_head(example.head)
    if st.session_state["source"] != example.source:
        st.session_state["source"], st.session_state["target"] = example.source, ""
        st.rerun()  # the whole app, because the text of A is not in the page


def _ask(asked: Asked) -> None:
    """Set what is different in the second run, and close the menu, which would cover the comparison."""
    for name, written in asked.written().items():
        choose(name, written)
    st.session_state[MENU] = False


def _swap(view: View, asked: Asked) -> None:
    """Exchange the texts, targets and models of the first and the second run."""
    typed = view.target if isinstance(view.target, str) else ""
    target = asked.target or ("" if asked.own_answer else typed)
    source, model = asked.source or view.source, asked.model or view.model
    before = Asked(view.source, typed, bool(target and not typed), view.model, asked.phrases)
    after = {"source": source, "target": target, "model": model}
    same = {"source": source == before.source, "target": target == before.target, "model": model == before.model}
    equal: dict[str, Any] = {name: "" for name, is_same in same.items() if is_same}
    _ask(before._replace(**equal))
    for name, value in after.items():
        st.session_state[name] = value
    st.rerun()  # the whole app, because the texts and the model of A are not in the page
