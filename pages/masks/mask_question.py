"""The learner draws the decoder's mask before it is shown. Then the page shows which cells are right, missed and too many, and
what the drawn mask would let the decoder read."""

import numpy as np
import streamlit as st

from pages.masks.batch import Batch
from pages.ui.escaping import literal
from pages.ui.marking import Truth, marking
from pages.ui.prediction import asked, offer, on_each_answer, show_buttons
from pages.ui.prediction_codec import Cells
from pages.ui.text import text
from transformer.analysis.prediction_scores import DrawnMask, drawn_mask
from transformer.figures.theme import KIND_COLORS

MASK = "mask"
MOST_TOKENS = 12  # of a longer text only the first 12 tokens are used, because more cells take too long to click


def show_drawing(batch: Batch) -> bool:
    """Draw one of three things: the button that opens the question, cells in which the learner draws the mask, or after the
    answer the true mask with the learner's mask on it. Returns whether the page must still hide the masks of the target."""
    words = text("prediction")["mask"]
    # If only the causal mask hides padding, the rows of padding follow no rule of the model that a learner could know.
    only_causal = batch.target is not None and batch.target.padding is None
    ids = batch.alone("target") if only_causal else batch.ids("target")
    tokens = batch.trace.target_tokens[batch.item][: min(len(ids), MOST_TOKENS)]
    count = len(tokens)
    prediction = asked(MASK, (batch.view.key, batch.ids("target")), count * count)
    if prediction is None:
        offer(MASK, words["offer"], words["offer_help"])
        return False
    allowed = batch.trace.masks.target[batch.item, 0, :count, :count].expand(count, count).numpy()
    st.markdown(words["truth" if prediction.shown else "ask"])
    if len(ids) > count:
        st.caption(words["part"].format(count=count))
    truth = _truth(allowed, _drawn(prediction.answer, count)) if prediction.shown else None
    marking(MASK, words["alt"], tokens, tokens, prediction, truth, subject="-".join(map(str, ids)))
    if prediction.shown:
        pad = batch.view.pipeline.vocabulary("target").pad
        real = np.array([only_causal or token != pad for token in ids[:count]])
        # Only `vanilla` lets a token read padding: where padding is typed before it.
        rule = "perfect" if real.all() else "perfect_rows" if allowed[real][:, ~real].any() else "perfect_padding"

        def sentence(answer: Cells) -> str:
            return _sentence(drawn_mask(allowed, _drawn(answer, count), real), tokens, rule)

        st.markdown(on_each_answer(prediction, sentence))
    show_buttons(MASK, prediction)
    return not prediction.shown


def _drawn(answer: Cells, count: int) -> np.ndarray:
    """An answer as [query, key]; True for each cell that the learner opened."""
    drawn = np.zeros(count * count, dtype=bool)
    drawn[list(answer)] = True
    return drawn.reshape(count, count)


def _truth(allowed: np.ndarray, drawn: np.ndarray) -> Truth:
    """The true mask, with the learner's mask `drawn` on it: open cells are coloured, hidden cells are hatched. ✓ marks an open
    cell that the learner opened, ✕ a hidden cell that the learner opened, ○ an open cell that the learner did not open."""
    words = text("prediction")["mask"]
    pairs = list(zip(allowed.ravel().tolist(), drawn.ravel().tolist(), strict=True))
    signs = {(True, True): "✓", (True, False): "○", (False, True): "✕", (False, False): ""}
    values = {True: words["open"], False: words["hidden"]}
    return Truth(
        tuple(KIND_COLORS["decoder"] if may else "" for may, _ in pairs),
        tuple(values[may] for may, _ in pairs),
        tuple(signs[pair] for pair in pairs),
    )


def _sentence(score: DrawnMask, tokens: tuple[str, ...], rule: str) -> str:
    """Two sentences: how many cells are right, missed and too many; and what is wrong with the mask that the learner drew. If
    nothing is wrong, the second sentence is the rule of the mask, which is the text named `rule`."""
    words = text("prediction")["mask"]
    counts = words["counts"].format(right=score.right, missed=len(score.missed), too_many=len(score.too_many))
    if score.future:
        query, key = score.future[0]
        names = {"query": literal(tokens[query]), "next": literal(tokens[query + 1]), "key": literal(tokens[key])}
        return f"{counts} {words['future_next' if key == query + 1 else 'future'].format(**names)}"
    if score.padding:
        return f"{counts} {words['padding'].format(query=literal(tokens[score.padding[0][0]]))}"
    if score.too_many:
        return f"{counts} {words['row']}"
    return f"{counts} {words['missing' if score.missed else rule]}"
