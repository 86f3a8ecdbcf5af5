"""Heads that a model's card names."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from transformer import Trace
from transformer.tracing.paths import Kind


class CardHead(NamedTuple):
    """A head that a model's card names; layer and head counted from 1."""

    kind: str
    layer: int
    head: int


def head_to_show(measures: Mapping[str, Any], trace: Trace) -> CardHead | None:
    """The head that a page opens on: the one that turns with a pronoun, otherwise the one that looks most at what its task
    needs next; None if the card names neither, or a run has no cross-attention.

    Args:
        measures: of the model's card.
        trace: the run.
    """
    named = measures.get("pronouns") or measures.get("strongest", {}).get(Kind.CROSS, {}).get("alignment")
    return CardHead(str(Kind.CROSS), named["layer"], named["head"]) if named and Kind.CROSS in trace.kinds else None
