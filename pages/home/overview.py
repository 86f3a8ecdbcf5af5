"""The parts around the map: the model in numbers, examples to start from, and the pages of the tour."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.home.part_links import Card, Link, show_cards, sidebar_query
from pages.lessons import first_lesson
from pages.shell.frame.navigation import name_of, tour
from pages.shell.models.catalogue import available
from pages.shell.models.model_examples import TEXTS
from pages.shell.models.model_texts import description, limits
from pages.shell.view.card_heads import card_head, head_choices
from pages.shell.view.view import View
from pages.ui.escaping import literal
from pages.ui.format import fixed, share, whole
from pages.ui.pickers import unfolding
from pages.ui.presenting import presenting
from pages.ui.tables import show_table
from pages.ui.text import text
from transformer import PRESETS, Trace
from transformer.pipeline.card import POOR


def show_numbers(view: View, trace: Trace) -> None:
    """Draw the model's sizes and, for a trained model, its accuracy."""
    words, config, card = text("home"), trace.config, view.pipeline.card
    both, depths = len(view.pipeline.stacks) > 1, (config.encoder_layers, config.decoder_layers)
    numbers = {
        words["layers" if both else "layers_one"]: " + ".join(str(depth) for depth in depths if depth),
        words["heads"]: str(config.heads),
        words["width"]: str(config.d_model),
        words["parameters"]: whole(view.pipeline.parameters),
        words["tensors"]: str(len(trace)),
    }
    helps, translation = {words["width"]: words["width_help"]}, card.measures.get("translation")
    if card.tested_on:
        numbers[words["exact"]] = share(card.accuracy, 1)
        helps[words["exact"]] = words["exact_help_translation" if translation else "exact_help"]
        if translation:
            for name in ("bleu", "chrf"):
                numbers[words[name]] = fixed(translation["beam"][name], 1)
                scores = {kind: fixed(translation[kind][name], 1) for kind in ("greedy", "small_letters")}
                helps[words[name]] = words[f"{name}_help"].format(width=translation["beam"]["width"], **scores)
    with st.container(horizontal=True):
        for label, value in numbers.items():
            st.metric(label, value, width="content", help=helps.get(label))
    if view.pipeline.note:
        st.caption(view.pipeline.note)
    if card.tested_on:
        values = {"description": description(view.model), "tested": whole(card.tested_on), "command": card.command}
        st.caption(literal(words["card"].format(**values)))
        stored = {name: card.recipe.get(name) for name in ("bits", "snapshot_bits")}
        if told := limits(view.model):
            st.caption(told.format(pieces=whole(len(view.pipeline.vocabulary("source"))), **stored))
    if doubt := card.measures.get("doubt"):
        shares = {name: share(doubt[name]) for name in ("marked", "poor_of_marked", "poor_of_others", "found")}
        st.caption(words["card_doubt"].format(poor=whole(POOR), **shares))
    if translation:
        _show_by_length(translation["by_length"])


def _show_by_length(by_length: Mapping[str, Mapping[str, float]]) -> None:
    """Draw the scores of a translator for texts of each length, as a table that unfolds."""
    words = text("home")
    if fold := unfolding(words["by_length"], ":material/table:", "by_length"):
        rows = [
            (length, str(scores["sentences"]), *(fixed(scores[name], 1) for name in ("bleu", "chrf")))
            for length, scores in by_length.items()
        ]
        with fold:
            show_table(tuple(words["by_length_columns"]), tuple(rows), named=True)


def show_starts() -> None:
    """Draw links to examples, each with its own model, texts and page. Examples whose model the app lacks are left out."""
    words = text("home")
    nothing = dict.fromkeys(TEXTS, "")
    cards = [
        Card(
            start["title"],
            start["says"],
            start["query"]["model"],
            Link(start["page"], nothing | _query(start), start.get("place", "")),
        )
        for start in words["starts"]
        if start["query"]["model"] in (*available(), *PRESETS)
    ]
    show_cards(cards, "starts", words["starts_heading"], base={})


def _query(start: dict[str, Any]) -> dict[str, str]:
    """The parameters of an example's link. If it names a head, its kind, layer and index are from the training record."""
    named = card_head(start["query"]["model"], start["head"]) if "head" in start else None
    return start["query"] | (head_choices(named) if named else {})


def show_first_lesson() -> None:
    """Draw the button that opens the first lesson, or continues the lesson that was left. Draw nothing while a lesson is open
    or the page is shown on a projector (`presenting`)."""
    first = first_lesson()
    if first and not presenting():
        lesson, stop, start = first
        count, minutes = counted(len(lesson.stops)).lower(), round(lesson.minutes)
        label = text("home")["continue_lesson" if stop else "first_lesson"]
        label = label.format(title=literal(lesson.title), count=count, minutes=minutes, stop=stop + 1)
        with st.container(horizontal=True, vertical_alignment="center", key="first_lesson"):
            st.button(label, key="open_first_lesson", on_click=start, type="primary", icon=":material/school:")
            st.caption(literal(lesson.about), width="stretch")


def show_tour() -> None:
    """Draw a link, with a sentence, to each page of the tour but the first, which is this page."""
    words, stops = text("home"), [name_of(stop) for stop in tour()]
    heading = words["tour_heading"].format(count=counted(len(stops)))
    st.header(heading, anchor="tour")
    cards = [Card(text(name)["title"], text(name)["tour_sentence"], "", Link(name, {})) for name in stops[1:]]
    show_cards(cards, "tour", heading, base=sidebar_query(), first=2)


def counted(count: int) -> str:
    """A number as a word of the page's language if it is small, otherwise in digits."""
    names = text("home")["counts"]
    return names[count] if count < len(names) else str(count)
