"""The token that a view of one position opens on."""

from collections.abc import Mapping
from typing import Any

from pages.shell.card_heads import head_to_show
from transformer import Trace
from transformer.analysis.query_to_show import cell_to_show
from transformer.tracing.paths import Kind


def position_to_show(trace: Trace, measures: Mapping[str, Any], side: str, item: int = 0) -> int:
    """The position that the head of a model's card looks from (`target`) or looks at (`source`). Without such a head, the same
    of the first head of the last kind of attention.

    Args:
        trace: a run.
        measures: of the model's card.
        side: `source` or `target`.
        item: the text of the batch, counted from 0.
    """
    kind, layer, head = head_to_show(measures, trace.kinds) or (str(trace.kinds[-1]), 1, 1)
    query, key = cell_to_show(trace, kind, layer - 1, head - 1, item)
    return query if Kind.of(kind).queries == side else key
