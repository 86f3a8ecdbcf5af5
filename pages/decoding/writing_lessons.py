"""How the model was trained to write: teacher forcing compared with free running, and the target of label smoothing."""

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.decoding.answer_steps import Run, with_rest
from pages.decoding.decoding_settings import Settings, generate
from pages.decoding.explained_numbers import explain_loss, explain_probability, explain_target
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.runs import Edits, right_answer, runs
from pages.shell.view.two_answers import say_parting, show_two_answers
from pages.shell.view.view import View
from pages.ui.chart import narrowness
from pages.ui.charts import chart
from pages.ui.escaping import TEXT, literal
from pages.ui.format import fixed, number, share
from pages.ui.text import text
from transformer.analysis.forcing import forcing
from transformer.analysis.label_smoothing import entropy, smoothed_target
from transformer.errors import cut
from transformer.figures.decoding_figures import draw_bars, loss_bars, percent
from transformer.pipeline.decoding.methods import Greedy, Hypothesis

NEAR = 0.03  # a probability this close to the target of training is described as about the same


def show_forcing(view: View, edits: Edits) -> None:
    """Draw the loss of each token of a target under teacher forcing, and the model's own answer without teacher forcing."""
    words, pipeline = text("decoding"), view.pipeline
    st.markdown(words["forcing_text"])
    target = view.target if isinstance(view.target, str) else right_answer(pipeline.card.task, view.source)
    if target is None:
        st.info(words["no_target"], icon=":material/edit:")
        return
    trace = runs().trace(view.key, (view.source,), (target,), edits)
    first, vocabulary = view.first_row(), pipeline.vocabulary("target")
    forced = forcing(pipeline, trace, first)
    free = generate(view, Settings(Greedy(), edits=edits))
    answers = [vocabulary.tokens_of(ids) for ids in (trace.target_ids[0][first + 1 :], free.ids())]
    say_parting(show_two_answers("forced", (words["teacher"], words["free_run"]), answers))
    tokens = vocabulary.tokens_of(forced.ids)
    right = np.array([one == other for one, other in zip(forced.ids, forced.best, strict=True)])
    figure = chart(loss_bars, tokens, forced.losses, right, words["loss"])
    narrow, turned = [figure.finished.least_width or 0], narrowness("losses") > 0
    if turned:
        figure = chart(loss_bars, tokens, forced.losses, right, words["loss"], turned=True)

    show_explained(
        figure,
        "losses",
        words["losses_alt"].format(target=cut(target, TEXT)),
        lambda bar: explain_loss(tokens, forced.probabilities, bar.column),
        narrow=narrow,
    )
    st.caption(
        words["losses_caption"].format(
            mean=fixed(forced.loss, 4),
            wrong=int((~right).sum()),
            total=len(right),
            worst=literal(tokens[int(forced.losses.argmax())]),
        )
    )


def show_smoothing(run: Run, made: Hypothesis) -> None:
    """Draw the target distribution of one step, with label smoothing, beside the distribution that the model computes. Draw a
    note if the smoothing of the training is unknown or 0."""
    words, recipe = text("decoding"), run.pipeline.card.recipe
    smoothing = recipe.get("label_smoothing")
    if not isinstance(smoothing, int | float) or not 0 <= smoothing <= 1:
        st.info(words["unknown_smoothing" if run.pipeline.trained else "no_smoothing"], icon=":material/shuffle:")
        return
    own, top = run.own(made), run.top(made)
    (token,) = run.tokens_of([made.token])
    given = "<0.01%" if 0 < own[made.token] < 0.00005 else share(own[made.token], 2)
    if not smoothing:
        st.info(words["zero_smoothing"].format(token=literal(token), given=given), icon=":material/info:")
        return
    target = smoothed_target(len(own), made.token, smoothing)
    values = {"token": literal(token), "given": given}
    asked = {"asked": share(target[made.token], 2), "other": number(smoothing / len(own), 2)}
    st.markdown(words["smoothing_text"].format(smoothing=number(smoothing, 3), count=len(own), **values, **asked))
    both = [with_rest(values, top) for values in (target, own)]
    figure = chart(draw_bars, run.bar_names(made), *both, (words["asked"], words["given"]))

    def explain(bar: Cell) -> None:
        if bar.row:
            explain_probability(run, made, bar.column)
        else:
            explain_target(run, made, smoothing, bar.column)

    show_explained(
        figure,
        "smoothing",
        words["smoothing_alt"].format(token=token),
        explain,
    )
    loss = float(-(target * np.log(np.maximum(own, 1e-300))).sum())
    best = int(own.argmax())
    values |= {"best": literal(run.tokens_of([best])[0]), "best_share": percent(own[best])}
    least = words["smoothing_loss"].format(least=fixed(entropy(target), 4), loss=fixed(loss, 4))
    st.caption(least + words[_compared(own, target, made.token)].format(**values))


def _compared(own: Float[np.ndarray, " token"], target: Float[np.ndarray, " token"], token: int) -> str:
    """The name of the text that compares the probability of a token, an id, with its target in training."""
    if own.argmax() != token:
        return "smoothing_other"
    if abs(own[token] - target[token]) < NEAR:
        return "smoothing_as_asked"
    return "smoothing_unsure" if own[token] < target[token] else "smoothing_surer"
