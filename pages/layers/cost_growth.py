"""How the cost of a model grows with one of its sizes, or with the length of its text."""

import numpy as np
import streamlit as st

from pages.layers.explained_costs import COUNTED, amount_of, explain_amount
from pages.shell.view.explained_chart import Cell, show_explained
from pages.ui.charts import chart
from pages.ui.format import difference, number, share
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.ledger import lengths_of
from transformer.figures import ledger_figures as figures
from transformer.network.cost import ALONG, WORK, crossing, growth


def show_growth(trace: Trace) -> None:
    """Draw pickers of a cost (such as FLOPs) and of a size of the model or text, and each kind of work's cost at each size."""
    words, config, lengths = text("ledger"), trace.config, lengths_of(trace)
    st.markdown(words["growth_intro"])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = pick(words["counted"], COUNTED, "counted")
        along = pick(words["along"], ALONG, "along")
        logarithmic = st.toggle(
            words["logarithmic"], key="logarithmic", bind="query-params", help=words["logarithmic_help"], value=True
        )
    curve = growth(config, lengths, along)
    lines = {work: np.array([amount_of(costs[work], count) for costs in curve.costs], dtype=np.float64) for work in WORK}
    lines = {work: values for work, values in lines.items() if values.any()}
    all_work = np.sum(list(lines.values()), axis=0)
    drawn = lines | {figures.TOTAL: all_work}
    limit = None if curve.limit is None else (curve.limit, words["limit"])
    figure = chart(
        figures.growth,
        curve.sizes,
        drawn,
        along,
        count,
        curve.present,
        logarithmic,
        limit,
    )
    now = curve.sizes.index(curve.present)
    shares = ", ".join(
        words["growth_said"].format(work=work, share=share(values[now] / all_work[now], 1)) for work, values in lines.items()
    )
    numbers = {"least": curve.sizes[0], "most": curve.sizes[-1], "here": curve.present}
    alt = words["growth_alt"].format(counted=count, along=along, said=f"{shares}.", **numbers)

    def explain(point: Cell) -> None:
        amounts = {work: amount_of(part, count) for work, part in curve.costs[point.column].items() if work in lines}
        work, size = [*drawn][point.trace], curve.sizes[point.column]
        explain_amount(curve.models[point.column], count, work, along, size, amounts)

    show_explained(
        figure,
        "ledger-growth",
        alt,
        explain,
        tells=True,
    )
    st.markdown(_lesson(trace, along))


def _lesson(trace: Trace, along: str) -> str:
    """Sentences that explain the curves over the size `along`, one of `transformer.network.cost.ALONG`."""
    lessons, config, lengths = text("ledger")["lessons"], trace.config, lengths_of(trace)
    if along == "length":
        more = lengths.target - lengths.source if lengths.source else 0
        name = "length_same" if not more else "length_differ_one" if abs(more) == 1 else "length_differ"
        target = lessons[name].format(more=difference(more))
        lesson = lessons["length"].format(crossing=crossing(config, lengths.batch), target=target)
        return lesson + lessons["length_limit"].format(max_len=config.max_len)
    if along == "d_model":
        return lessons["d_model"].format(ratio=number(config.d_ff / config.d_model, 3))
    if along == "heads":
        return lessons[f"heads_{config.head_projection}"]
    more = config.decoder_layers - config.encoder_layers
    return lessons["layers"].format(both=lessons["layers_differ" if more else "layers_same"].format(more=difference(more)))
