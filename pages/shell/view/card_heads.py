"""The attention heads that a model's card (its training record) names, and the pickers of a head."""

from collections.abc import Collection, Mapping
from typing import Any

import streamlit as st

from pages.shell.models.catalogue import available
from pages.shell.view.runs import runs
from pages.ui.link_values import choose
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer import InputError, Trace
from transformer.patching import Head
from transformer.tracing.paths import Kind


def head_title(kind: str, layer: int, head: int) -> str:
    """The name of a head, such as `Cross-attention, layer 2, head 1` for the kind `cross`, `layer` 1 and `head` 0."""
    words = text("attention")
    return words["head_title"].format(kind=words["kinds"][kind], layer=layer + 1, head=head + 1)


def head_choices(head: Head) -> dict[str, str]:
    """The values of the pickers of a head, by their names, as in a URL: layer and head are counted from 1."""
    return {"kind": str(head.kind), "layer": str(head.layer + 1), "head": str(head.head + 1)}


def choose_head(head: Head) -> None:
    """Choose an attention head in the pickers of the page. Call it in a callback, before they are drawn."""
    for name, value in head_choices(head).items():
        choose(name, value)


def pick_head(trace: Trace, first: Head | None, kinds: Collection[str] = (), kind_help: str | None = None) -> Head:
    """Draw pickers of kind of attention, layer and head, which every page shares; returns the picked head.

    Args:
        first: the head that is picked at first; if it is None, the first head of the first layer and kind.
        kinds: the kinds of attention that are offered; empty for all that the trace has.
    """
    words = text("attention")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        offered = [str(kind) for kind in kinds or trace.kinds]
        kind = pick(words["kind"], offered, "kind", kind_help, first.kind if first else None)
        own = first if first and first.kind == kind else Head(kind, 0, 0)
        layer = pick(words["layer"], range(1, trace.layers(kind) + 1), "layer", first=own.layer + 1)
        head = pick(words["head"], range(1, trace.heads(kind) + 1), "head", first=own.head + 1)
    return Head(kind, layer - 1, head - 1)


def _named(kind: str, place: Mapping[str, int]) -> Head:
    """The head at a place in a card, where layers and heads are counted from 1."""
    return Head(str(kind), place["layer"] - 1, place["head"] - 1)


def head_to_show(measures: Mapping[str, Any], kinds: Collection[str]) -> Head | None:
    """The cross-attention head with which a page opens, because its picture is easy to read: the head that aligns words best,
    the head that attends most to the token that the task needs next, or the head that attends most along the diagonal. None if
    `measures`, from the model's card, name none of these heads, or `kinds` lack cross-attention."""
    strongest = measures.get("strongest", {}).get(Kind.CROSS, {})
    named = measures.get("alignment") or strongest.get("alignment") or strongest.get("diagonal")
    return _named(Kind.CROSS, named) if named and Kind.CROSS in kinds else None


def turning_head(measures: Mapping[str, Any], kinds: Collection[str]) -> Head | None:
    """The cross-attention head whose attention changes with the meaning of a pronoun. None if `measures`, from the model's
    card, name none, or `kinds` lack cross-attention."""
    named = measures.get("pronouns")
    return _named(Kind.CROSS, named) if named and named["shift"] and Kind.CROSS in kinds else None


def card_head(model: str, name: str) -> Head:
    """An attention head that a model's card (the record of its training) names.

    Args:
        name: `turning`, `needed`, or a kind of attention and a measure, such as `encoder.previous`.

    Raises:
        InputError: the app has no such model, or the model's card names no such head.
    """
    measures = runs().pipeline(model).card.measures if model in available() else {}
    try:
        if name == "turning":
            return _named("cross", measures["pronouns"])
        if name == "needed":
            needed = measures["pronouns"]["needed"]
            return _named(needed["kind"], needed)
        kind, _, measure = name.partition(".")
        return _named(kind, measures["strongest"][kind][measure])
    except (KeyError, TypeError):
        raise InputError("The card of the model {model!r} names no head {name!r}.", model=model, name=name) from None
