"""The row of a head that is followed: below a large map, and through the matrices of all steps. Its name in the address is
`query`; `row` names the row of one number in the matrix of a step."""

import streamlit as st

from pages.ui.link_values import choose, refuse, unread
from pages.ui.pickers import read_number

# Names in the address.
QUERY, ROW = "query", "row"


def take_linked_row(count: int) -> None:
    """Follow the row that a link names `row` alone: that of its number, or in older links that of a large map. Call it before
    the followed row is read, if rows are queries. `count` is the number of rows."""
    asked = unread(ROW)
    if asked is None or QUERY in st.query_params:
        return
    del st.query_params[ROW]
    try:
        read_number(asked, 0, count - 1)
    except ValueError:
        refuse(ROW, asked)
    else:
        choose(QUERY, asked)
