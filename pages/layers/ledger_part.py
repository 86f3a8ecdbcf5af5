"""The cost of a run in parameters, FLOPs and bytes: its shares, the table of every step, its totals, and how it grows."""

import pandas as pd
import streamlit as st

from pages.layers.cost_growth import show_growth
from pages.layers.explained_costs import COUNTED, amount_of, explain_share
from pages.shell.frame.footer import show_computed
from pages.shell.frame.parts import seen
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.recorded import own_network
from pages.shell.view.runs import Key, as_batches, runs
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.charts import chart
from pages.ui.export_menu import download
from pages.ui.format import amount, byte_size, shape, share, whole
from pages.ui.pickers import pick, search_box
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.ledger import Row, counted, ledger, lengths_of, markdown, totals
from transformer.figures import ledger_figures as figures
from transformer.network.cost import WORK, Cost, activation_flops, cost, total
from transformer.tracing.paths import TensorPath
from transformer.tracing.trace import Ids

# The option that selects all layers, or all kinds of work.
EVERYTHING = "all"
HEIGHT = 360
# Widths of columns in pixels. On a projector, all columns up to the bytes fit without scrolling. Long columns come after them.
WIDTHS = {"operation": 132, "shape": 96, "inputs": 540, "shares": 330, "work": 130}
COUNTS = {"parameters": 84, "flops": 76, "bytes": 72, "held": 84}


def show_ledger(view: View, trace: Trace) -> None:
    """Draw the cost of the forward pass (such as FLOPs): its totals, the share of each kind of work, the table of all steps,
    and its growth."""
    model = own_network(view)
    if model is None:
        return
    words, rows = text("ledger"), ledger(model, trace)
    st.markdown(words["intro"])
    st.header(words["shares"], anchor=False)
    _shares(trace, rows)
    _sums(view, trace, rows)
    st.header(words["table"], anchor=False)
    if seen("steps", 650):
        _show_steps(view, rows)
    if seen("totals", 350):
        left, right = st.columns(2)
        with left:
            _totals(words["by_layer"], words["layer"], totals(rows, lambda row: row.group), "ledger-by-layer")
        with right:
            _totals(words["by_work"], words["work"], totals(rows, lambda row: row.work), "ledger-by-work")
    st.header(words["growth"], anchor=False)
    if seen("growth", 770):
        show_growth(trace)
    show_computed(words["computed_text"], activation_flops, cost)


def _sums(view: View, trace: Trace, rows: tuple[Row, ...]) -> None:
    words, sum_of_rows = text("ledger"), total(row.cost for row in rows)
    held = byte_size(sum(row.held for row in rows))
    sums = (
        (words["steps"], whole(len(rows)), words["steps_help"]),
        (words["parameters"], whole(sum_of_rows.parameters), words["parameters_help"]),
        (words["flops"], amount(sum_of_rows.flops), words["flops_help"]),
        (words["bytes"], byte_size(sum_of_rows.bytes), words["bytes_help"].format(held=held)),
    )
    for place, (label, value, help) in zip(st.columns(4), sums, strict=True):
        place.metric(label, value, help=help)
    measured = view.run(_counted, view.key, trace.source_ids, trace.target_ids)
    sentence = words["agree" if measured == sum_of_rows.flops else "differ"]
    st.caption(sentence.format(count=measured, closed=sum_of_rows.flops))


@cached
def _counted(key: Key, sources: Ids, targets: Ids) -> int:
    """The number of FLOPs that PyTorch counts when the model runs again on the traced ids."""
    pipeline = runs().pipeline(key)
    return sum(counted(runs().own_network(key), *as_batches(pipeline, sources, targets)).values())


def _shares(trace: Trace, rows: tuple[Row, ...]) -> None:
    words, costs_of_work = text("ledger"), totals(rows, lambda row: row.work)
    costs = {counted: {work: amount_of(part, counted) for work, part in costs_of_work.items()} for counted in COUNTED}
    sentences = [
        words["shares_said"].format(counted=counted, work=most, share=share(parts[most] / sum(parts.values())))
        for counted, parts in costs.items()
        for most in [max(parts, key=lambda work: parts[work])]
    ]
    drawn = [work for work in figures.WORK_COLORS if any(parts.get(work) for parts in costs.values())]

    def explain(part: Cell) -> None:
        counted = COUNTED[part.column]
        explain_share(trace.config, lengths_of(trace), counted, drawn[part.trace], costs[counted])

    show_explained(
        chart(figures.shares, costs),
        "ledger-shares",
        words["shares_alt"].format(said=" ".join(sentences)),
        explain,
        tells=True,
    )


def _totals(title: str, heading: str, costs: dict[str, Cost], key: str) -> None:
    words = text("ledger")
    st.markdown(f"**{title}**")
    names = [words[name] for name in ("parameters", "flops", "bytes")]
    frame = pd.DataFrame([(name, *part) for name, part in costs.items()], columns=pd.Index([heading, *names]))
    numbers = {name: st.column_config.NumberColumn(format="localized") for name in names}
    st.dataframe(frame, hide_index=True, width="stretch", column_config=numbers, key=key, height=38 + 35 * min(9, len(frame)))


def _show_steps(view: View, rows: tuple[Row, ...]) -> None:
    """Draw pickers of layer and kind of work and a search box for paths, a table of the steps that match all of them, and
    buttons that save it."""
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
        download(words["markdown"], lambda: markdown(list(frame.columns), frame.to_numpy(dtype=object).tolist()), f"{name}.md")


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
