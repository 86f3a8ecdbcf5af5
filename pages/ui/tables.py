"""Small tables of text."""

import pandas as pd
import streamlit as st


def show_table(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...], named: bool = False) -> None:
    """Draw a table. If it is `named`, the first column holds the names of the rows."""
    frame = pd.DataFrame(rows, columns=pd.Index(columns))
    st.table(frame.set_index(columns[0]) if named else frame, hide_index=not named)
