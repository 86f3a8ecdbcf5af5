"""Heads that a model's card names."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from transformer.tracing.paths import Kind


class CardHead(NamedTuple):
    """A head that a model's card names; layer and head counted from 1."""

    kind: str
    layer: int
    head: int


def head_to_show(measures: Mapping[str, Any], kinds: Collection[str]) -> CardHead | None:
    """The head of cross-attention that a page opens on: the one that turns with a pronoun, or else the one that attends most
    to what its task needs next. None if the card names neither, or the model has no cross-attention.

    Args:
        measures: the measures of the model's card.
        kinds: the kinds of attention that the model has.
    """
    named = measures.get("pronouns") or measures.get("strongest", {}).get(Kind.CROSS, {}).get("alignment")
    return CardHead(str(Kind.CROSS), named["layer"], named["head"]) if named and Kind.CROSS in kinds else None
