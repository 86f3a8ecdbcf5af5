"""The table of every step of a run with its cost."""

import pandas as pd
import streamlit as st

from pages.shell.view.view import View
from pages.ui.export_menu import download
from pages.ui.format import shape
from pages.ui.pickers import pick, search_box
from pages.ui.text import text
from transformer.analysis.ledger import Row, markdown
from transformer.network.cost import WORK, total
from transformer.tracing.paths import TensorPath

# The option that selects all layers, or all kinds of work.
EVERYTHING = "all"
HEIGHT = 360
# Widths of columns in pixels. On a projector, all columns up to the bytes fit without scrolling. Long columns come after them.
WIDTHS = {"operation": 132, "shape": 96, "inputs": 540, "shares": 330, "work": 130}
COUNTS = {"parameters": 84, "flops": 76, "bytes": 72, "held": 84}


def show_steps(view: View, rows: tuple[Row, ...]) -> None:
    """Draw the table of the picked layer, kind of work and part of a path, and buttons that save it."""
    words = text("ledger")
    groups = dict.fromkeys(row.group for row in rows)
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    with left:
        layer = pick(words["layer"], [EVERYTHING, *groups], "group", as_list=True)
    with middle:
        work = pick(words["work"], [EVERYTHING, *WORK], "work", as_list=True)
    with right:
        part = search_box(words["search"], words["search_placeholder"])
    matching = [
        (number, row)
        for number, row in enumerate(rows, 1)
        if layer in (EVERYTHING, row.group)
        and work in (EVERYTHING, row.work)
        and part.strip().lower() in f"{row.path} {row.operation}".lower()
    ]
    if not matching:
        st.info(words["nothing"], icon=":material/search_off:")
        return
    sum_of_rows = total(row.cost for _, row in matching)
    st.caption(words["found"].format(count=len(matching), all=len(rows), **sum_of_rows._asdict()))
    frame, columns = _frame(matching), words["columns"]
    st.dataframe(
        frame,
        hide_index=True,
        width="stretch",
        height=min(HEIGHT, 38 + 35 * len(frame)),
        column_config={
            columns["number"]: st.column_config.NumberColumn(width=40),
            **{columns[name]: st.column_config.TextColumn(width=width) for name, width in WIDTHS.items()},
            **{columns[name]: st.column_config.NumberColumn(format="localized", width=width) for name, width in COUNTS.items()},
        },
        key="ledger-table",
    )
    name = f"{view.model}-ledger".replace(" ", "-")
    with st.container(horizontal=True):
        download(words["csv"], lambda: frame.to_csv(index=False), f"{name}.csv")
        download(words["markdown"], lambda: markdown(list(frame), frame.to_numpy(dtype=object).tolist()), f"{name}.md")


def _frame(rows: list[tuple[int, Row]]) -> pd.DataFrame:
    words = text("ledger")
    lines = [
        {
            "number": number,
            "path": row.path,
            "operation": row.operation,
            "shape": shape(row.shape),
            "parameters": row.parameters,
            "flops": row.flops,
            "bytes": row.bytes,
            "held": row.held,
            "inputs": " · ".join(f"{_near(path, row.path)} {shape(sizes)}" for path, sizes in row.inputs),
            "shares": row.shares,
            "layer": row.group,
            "work": row.work,
            "axes": " ".join(row.axes),
        }
        for number, row in rows
    ]
    return pd.DataFrame(lines).rename(columns=words["columns"])


def _near(path: str, seen_from: str) -> str:
    """A path relative to another path, without their common prefix: `query.heads`."""
    return TensorPath.parse(path).near(TensorPath.parse(seen_from))
