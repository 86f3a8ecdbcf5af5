"""The words that figures draw, in English. A translation is another table with the same keys."""

from collections.abc import Mapping

LABELS: Mapping[str, str] = {
    # queries, keys and masks
    "query": "query",
    "key": "key",
    "query_axis": "query: who is looking",
    "key_axis": "key: what is looked at",
    "weight": "weight",
    "masked_cell": "masked: may not be looked at",
    "may_look": "may look",
    "may_not_look": "hidden",
    "hidden_value": "hidden: {value}",
    "true": "True",
    "false": "False",
    "nan": "NaN: not a number",
    # edits and their effects
    "change": "change",
    "change_of_weight": "change of weight",
    "probability": "probability",
    "layer": "layer",
    "head_axis": "head",
    "drop": "drop, nats",
    "drop_value": "drop in log-probability {value} nats",
    # the walk
    "head": "head {number}",
    "sized_axis": "{axis} {size}",
    "bin": "{axis} {first}–{last}, greatest of {count}",
    "masked": "masked",
    "masked_value": "masked: {value}",
    "open": "true: may be looked at",
    "hidden": "false: masked",
    "branch_query": "query",
    "branch_key": "key",
    "branch_value": "value",
    # steps of a head, hidden units
    "sum": "sum",
    "unit": "unit",
    # the ledger
    "feed-forward": "feed-forward",
    "scores and weights": "scores and weights",
    "projections": "projections",
    "embedding": "embedding",
    "output": "output",
    "masks": "masks",
    "add and norm": "add and norm",
    "all together": "all together",
    "here": "here: {size}",
    # positions
    "position": "position",
    "dimension": "dimension",
    "value": "value",
    "dot_product": "dot product",
    "distance": "distance",
    "distance_axis": "distance between the two positions",
    "from_to": "from {first} to {last}",
    "mean": "mean",
    "from_dimension": "from dimension",
    "to_dimension": "to dimension",
    "from_dimension_axis": "from dimension of PE(pos)",
    "to_dimension_axis": "to dimension of PE(pos + k)",
    # tokens as vectors
    "cosine": "cosine",
    "no_direction": "all zeros, so without a direction",
    "token_id": "{token} (id {id})",
    "variance_axis": "axis {number}: {share} of the variance",
}
