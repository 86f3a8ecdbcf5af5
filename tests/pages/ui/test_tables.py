"""Small tables of text."""

import pandas as pd
from streamlit.testing.v1 import AppTest


def test_a_table_is_sent_like_the_table_of_a_data_frame() -> None:
    def script() -> None:
        import pandas as pd
        import streamlit as st

        from pages.ui.tables import show_table

        columns, rows = ("case", "share"), (("as it is", "96 %"), ("<b>without</b>", "2 %"))
        frame = pd.DataFrame(rows, columns=list(columns))
        for named in (False, True):
            show_table(columns, rows, named=named)
            st.table(frame.set_index("case") if named else frame)

    tables = AppTest.from_function(script).run().table
    assert len(tables) == 4
    for ours, plain in (tables[:2], tables[2:]):
        assert ours.proto == plain.proto
        assert isinstance(ours.value, pd.DataFrame)
        assert ours.value.equals(plain.value)
