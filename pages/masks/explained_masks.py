"""Why a query may attend to a key, or may not: the rules of a mask, with the positions and the ids of the two tokens."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from pages.ui.escaping import literal
from pages.ui.format import token_at
from pages.ui.text import text

# The values of a rule in a formula.
TRUE, FALSE = r"\text{True}", r"\text{False}"


class Rule(NamedTuple):
    """A rule of a mask, applied to one query and one key.

    Attributes:
        allows: whether the rule lets the query attend to the key.
        says: the rule in words, as Markdown.
        formula: the rule with its numbers, as LaTeX.
    """

    allows: bool
    says: str
    formula: str


def no_padding(name: str, token_id: int, pad: int) -> Rule:
    """The rule that a token is not padding. `name` is the token with its position."""
    allows = token_id != pad
    says = text("masks")["rules"]["real" if allows else "padding"].format(token=literal(name), id=token_id, pad=pad)
    return Rule(allows, says, rf"[\,{token_id} \neq {pad}\,]")


def not_later(query: int, key: int) -> Rule:
    """The rule that a key does not come later than its query."""
    allows = key <= query
    says = text("masks")["rules"]["earlier" if allows else "later"].format(query=query, key=key)
    return Rule(allows, says, rf"[\,{key} \leq {query}\,]")


def not_far(query: int, key: int, most: int) -> Rule:
    """The rule that a key is at most `most` tokens before or after its query."""
    away = abs(query - key)
    says = text("masks")["rules"]["near" if away <= most else "far"].format(away=away, most=most)
    return Rule(away <= most, says, rf"[\,{away} \leq {most}\,]")


def explain_pair(query: str, key: str, allowed: bool, rules: Sequence[Rule]) -> None:
    """Draw whether a query may attend to a key, and the rules that decide this.

    Args:
        query, key: the tokens with their positions.
        allowed: whether the mask lets the query attend to the key.
        rules: the rules of the mask. If they contradict `allowed`, which is possible for another network, they are not shown.
    """
    words = text("masks")["rules"]
    st.markdown(words["allowed" if allowed else "hidden"].format(query=literal(query), key=literal(key)))
    if all(rule.allows for rule in rules) != allowed:
        st.markdown(words["unknown"])
        return
    if not rules:  # no rule of this mask can hide the key
        return
    st.markdown("\n".join(f"- {rule.says}" for rule in rules))
    values = [r" \wedge ".join(TRUE if rule.allows else FALSE for rule in rules)] if len(rules) > 1 else []
    formulas = r" \wedge ".join(rule.formula for rule in rules)
    st.latex(" = ".join([formulas, *values, TRUE if allowed else FALSE]))


def explain_words(query: str, key: str, allowed: int, pairs: int) -> None:
    """Draw whether a word may attend to another word. It may if any piece of it may attend to a piece of the other: `allowed`
    is the number of such pairs of pieces, `pairs` the number of all pairs."""
    words = text("masks")["rules"]
    st.markdown(words["allowed" if allowed else "hidden"].format(query=literal(query), key=literal(key)))
    st.markdown(words["pieces"].format(allowed=allowed, pairs=pairs))
    st.latex(rf"[\,{allowed} > 0\,] = {TRUE if allowed else FALSE}")


def named(tokens: Sequence[str], position: int) -> str:
    """The token at a position, counted from 0, with the position in front: `2 · cat`."""
    return token_at(position, tokens[position])
