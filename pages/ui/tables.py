"""Small tables of text, which a page draws at every click."""

import pandas as pd
import pyarrow as pa
import streamlit as st

from pages.ui.caches import cached


def show_table(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...], named: bool = False) -> None:
    """Draw a table.

    Args:
        columns: the headings of the columns.
        rows: the texts of each row.
        named: whether the first column holds the names of the rows.
    """
    st.table(_arrow(columns, rows, named), hide_index=not named)


@cached
def _arrow(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...], named: bool) -> pa.Table:
    """The table as Arrow, the form in which it is sent. `st.table` would convert a data frame again at every click."""
    frame = pd.DataFrame(rows, columns=pd.Index(columns))
    return pa.Table.from_pandas(frame.set_index(columns[0]) if named else frame)
