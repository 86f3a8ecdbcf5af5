"""The token that a view of one position shows first."""

from collections.abc import Mapping
from typing import Any

from pages.shell.view.card_heads import head_to_show, turning_head
from transformer import Trace
from transformer.analysis.query_to_show import cell_to_show
from transformer.patching import Head
from transformer.tracing.paths import Kind


def position_to_show(trace: Trace, measures: Mapping[str, Any], side: str, item: int = 0) -> int:
    """The position whose token is picked at first on `side` (`source` or `target`) in the text `item` of the batch; positions
    and texts are counted from 0. It depends on one head: a head that `measures`, from the model's card (training record), name,
    or otherwise the first head of the last kind of attention. If the head's queries are on `side`, the position is the query to
    show first (`cell_to_show`); otherwise the key with this query's largest weight."""
    named = turning_head(measures, trace.kinds) or head_to_show(measures, trace.kinds)
    kind, layer, head = named or Head(str(trace.kinds[-1]), 0, 0)
    query, key = cell_to_show(trace, kind, layer, head, item)
    return query if Kind.of(kind).queries == side else key
