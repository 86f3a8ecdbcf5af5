"""The first half of a gradient step: what the model predicts for a batch, and the loss of each token."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell.view.explained_chart import show_explained
from pages.training.batches import schedule
from pages.training.explained_numbers import explain_loss
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import fixed, share
from pages.ui.text import text
from transformer import Pipeline
from transformer.analysis.label_smoothing import least_loss
from transformer.figures.decoding_figures import loss_bars
from transformer.tasks import Pair
from transformer.training.gradient_step import OpenedStep
from transformer.training.held_out import batch_of

TABLE_ROW = 29  # px: height of a row of a table


def show_prediction(pipeline: Pipeline, pairs: list[Pair], taken: OpenedStep, item: int) -> None:
    """Draw a table of the tokens that the decoder reads, must predict and predicts for each pair. Then draw the loss of each
    token of the pair with the index `item`. `taken` has the numbers of the gradient step on `pairs`."""
    words, vocabulary = text("training"), pipeline.target_vocabulary
    _, target = batch_of(pipeline, pairs)
    rows = target.tolist()
    columns = words["columns"]
    listed = []
    for place, (pair, row, best, counted, losses) in enumerate(
        zip(pairs, rows, taken.best.tolist(), taken.counted, taken.losses, strict=True), 1
    ):
        real = int(counted.sum())
        listed.append(
            {
                columns["number"]: place,
                columns["source"]: pair.source,
                columns["reads"]: " ".join(vocabulary.tokens_of(row[:real])),
                columns["expected"]: " ".join(vocabulary.tokens_of(row[1 : real + 1])),
                columns["predicted"]: " ".join(vocabulary.tokens_of(best[:real])),
                columns["loss"]: fixed(float(losses[:real].mean()), 3),
            }
        )
    st.dataframe(pd.DataFrame(listed), hide_index=True, width="stretch", row_height=TABLE_ROW)
    st.caption(words["forced_note"])
    st.markdown(f"### {words['compare_title']}")
    counted = not st.toggle(words["count_padding"], key="count_padding", bind="query-params", help=words["count_padding_help"])
    real = int(taken.counted[item].sum()) if counted else taken.counted.shape[1]
    tokens = vocabulary.tokens_of(rows[item][1 : real + 1])
    right = taken.best[item, :real] == np.array(rows[item][1 : real + 1])
    figure = chart(loss_bars, tokens, taken.losses[item, :real], right, words["token_loss"])
    padding, smoothing = ~taken.counted, schedule(pipeline).label_smoothing
    show_explained(
        figure,
        "token-losses",
        words["token_losses_alt"].format(number=item + 1),
        lambda bar: explain_loss(
            tokens[bar.column],
            *(float(of[item, bar.column]) for of in (taken.losses, taken.shares)),
            smoothing=smoothing,
            count=len(vocabulary),
        ),
    )
    least = least_loss(len(vocabulary), smoothing)
    values = {
        "loss": fixed(taken.loss, 4),
        "count": int(taken.counted.sum()),
        "padding": int(padding.sum()),
        "all": fixed(float(taken.losses.mean()), 4),
        "only": fixed(float(taken.losses[padding].mean()), 4) if padding.any() else "–",
        "share": share(float(padding.mean())),
        "least": fixed(least, 4),
    }
    st.markdown(words["mean_loss" if counted else "mean_with_padding"].format(**values))
    if not counted:
        lied = float(np.where(padding, least, taken.loss).mean())
        st.warning(words["padding_lie"].format(**values, lied=fixed(lied, 4)))
    elif smoothing:
        given = float(taken.shares[item, 0])
        first = {"token": literal(tokens[0]), "given": share(given, 2), "plain": fixed(-math.log(given), 3)}
        st.markdown(words["loss_smoothed"].format(**values, **first, bar=fixed(float(taken.losses[item, 0]), 3)))
