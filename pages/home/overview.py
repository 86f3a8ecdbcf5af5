"""What stands around the map: the model in numbers, examples to start from, and the stops of the tour."""

import streamlit as st

from pages.home.cards import Card, cards
from pages.home.links import Link, chosen
from pages.shell.examples import TEXTS
from pages.shell.navigation import name_of, tour
from pages.shell.runs import available
from pages.shell.view import View
from pages.ui.escaping import literal
from pages.ui.format import share, whole
from pages.ui.text import text
from transformer import PRESETS, Trace
from transformer.network.cost import parameters


def show_numbers(view: View, trace: Trace) -> None:
    """The model's sizes, and how good it is, where it was ever trained."""
    words, config, card = text("home"), trace.config, view.pipeline.card
    numbers = {
        words["layers"]: f"{config.encoder_layers} + {config.decoder_layers}",
        words["heads"]: str(config.heads),
        words["width"]: str(config.d_model),
        words["parameters"]: whole(parameters(config)),
        words["tensors"]: str(len(trace)),
    }
    if card.tested_on:
        numbers[words["exact"]] = share(card.accuracy, 1)
    with st.container(horizontal=True, gap="medium"):
        for label, value in numbers.items():
            st.metric(label, value, width="content", help=words["width_help"] if label == words["width"] else None)
    if view.pipeline.trained:
        st.caption(literal(words["card"].format(description=card.description, tested=card.tested_on, command=card.command)))


def show_starts() -> None:
    """The curated examples, each with a model, texts and a page of its own; those of models that are not there are left out."""
    words = text("home")
    nothing = dict.fromkeys(TEXTS, "")
    found = [
        Card(start["title"], start["says"], start["query"]["model"], Link(start["page"], nothing | start["query"]))
        for start in words["starts"]
        if start["query"]["model"] in (*available(), *PRESETS)
    ]
    cards(found, "starts", words["starts_heading"], base={})


def show_way_in() -> None:
    """A link to the first stop after this page."""
    words, stops = text("home"), tour()
    if len(stops) > 1:
        label = words["tour_start"].format(count=_counted(len(stops)).lower())
        st.page_link(stops[1], label=label, icon=":material/directions_walk:")


def show_tour() -> None:
    """The stops of a first visit, in order."""
    words, stops = text("home"), [name_of(stop) for stop in tour()]
    heading = words["tour_heading"].format(count=_counted(len(stops)))
    st.subheader(heading)
    st.caption(words["tour_says"])
    found = [Card(text(name)["title"], text(name)["tour_sentence"], "", Link(name, {})) for name in stops]
    cards(found, "tour", heading, base=chosen(), ordered=True)


def _counted(count: int) -> str:
    """A small number in words, a larger one in digits."""
    names = text("home")["counts"]
    return names[count] if count < len(names) else str(count)
