"""The words that figures draw, in English. A translation is another table with the same names."""

from collections.abc import Mapping

LABELS: Mapping[str, str] = {
    # walk
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
}
