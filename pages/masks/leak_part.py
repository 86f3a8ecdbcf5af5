"""Information that leaks without a mask, measured by running the model with the mask and without it."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.masks.batch import NO_CAUSAL, Batch
from pages.shell.frame.parts import seen
from pages.shell.view.runs import Key, runs
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.cards import card
from pages.ui.charts import chart, show
from pages.ui.escaping import literal, quoted
from pages.ui.format import fixed
from pages.ui.pickers import pick, pick_position
from pages.ui.text import text
from transformer.analysis.leaks import Leak, append_padding, change_later, fill_padding, padded_answer
from transformer.figures.mask_conventions_figures import written_number
from transformer.figures.whatif_figures import probability_change
from transformer.text.pieces import BYTE, joined_label
from transformer.tracing.phrases import interventions

LEAKS_HEIGHT = 480  # height in px of the two runs side by side
NO_PADDING = "no padding mask"
PADDINGS, FIRST_PADDING = (1, 2, 4, 8, 16, 32), 8
Ids = tuple[int, ...]


def show_future(batch: Batch, joined: bool) -> None:
    """Draw how much earlier predictions change when a later target token is replaced, with the causal mask and without it.
    `joined`: whether one bar stands for all subword pieces of a word."""
    words, pipeline = text("masks"), batch.view.pipeline
    source, target = batch.alone("source"), batch.alone("target")
    tokens = pipeline.vocabulary("target").tokens_of(target)
    if len(target) < 2:
        st.info(words["too_short"], icon=":material/short_text:")
        return
    # The pickers are below the picture, because on a phone the picture should be on the first screen.
    picture = st.container()
    with st.container(horizontal=True):
        positions = range(1, len(tokens))
        # A piece that is one byte of a character says nothing to a reader.
        last = next((index for index in reversed(positions) if not BYTE.fullmatch(tokens[index])), positions[-1])
        position = pick_position(words["change"], tokens, "position", positions, last, words["change_help"], as_list=False)
        others = _others(batch, position)
        first = next((token for token in target if token in others), others[0])
        options = list(pipeline.vocabulary("target").tokens_of(others))
        word = pick(words["word"], options, "word", words["word_help"], options[others.index(first)], written=str)
    (token,) = pipeline.vocabulary("target").ids([word])
    old, new = ((joined_label([token]) if joined else token) for token in (tokens[position], word))
    names = (words["original"].format(token=old), words["changed"].format(token=new))
    with picture:
        if not seen("leaks", LEAKS_HEIGHT):
            return
        masked, unmasked = (
            _measured(batch.view, change_later, phrases, source, target, position, token) for phrases in ((), (NO_CAUSAL,))
        )
        _side_by_side(masked, unmasked, names, "future", joined)
    config = pipeline.config
    if (padded := batch.inside(position)) and config.target_padding == "queries" and math.isfinite(config.mask_fill):
        rows, fill = ", ".join(map(str, padded)), written_number(config.mask_fill)
        st.warning(words["padded_rows"].format(rows=rows, pad=tokens[padded[0]], fill=fill), icon=":material/table_rows:")
    says = words["row_of_unmasked" if batch.unmasked else "row_of" if pipeline.trained else "row_of_untrained"]
    st.caption(says.format(position=position - 1, token=literal(old)))


def show_padding(batch: Batch, joined: bool) -> None:
    """Draw how much the predictions change when padding is appended to the source, with the padding mask and without it.
    `joined`: whether one bar stands for all subword pieces of a word."""
    words, pipeline = text("masks"), batch.view.pipeline
    source, target = batch.alone("source"), batch.alone("target")
    most = pipeline.config.max_len - len(source)
    if most < 1:
        st.info(words["no_room"].format(max_len=pipeline.config.max_len), icon=":material/expand:")
        return
    st.markdown(words["padding_text"])
    many = [count for count in PADDINGS if count <= most]
    first = FIRST_PADDING if FIRST_PADDING in many else many[-1]
    count = pick(words["count"], many, "padding", words["count_help"], first)
    if not seen("leaks", LEAKS_HEIGHT):
        return
    masked, unmasked = (
        _measured(batch.view, append_padding, phrases, source, target, count) for phrases in ((), (NO_PADDING,))
    )
    names = (words["without_padding"], words["with_padding"].format(count=count))
    _side_by_side(masked, unmasked, names, "padding", joined)
    if pipeline.trained:
        _answers(batch.view, source, count)
    filled = _measured(batch.view, fill_padding, (), source, target, count)
    hides = "filled" if filled.largest == 0 else "filled_read"
    st.markdown(words[hides].format(count=count, most=_change(filled)))


def _side_by_side(masked: Leak, unmasked: Leak, names: tuple[str, str], what: str, joined: bool) -> None:
    """Draw the leak without the mask, which comes first on a phone, then the leak with it. Each shows the probability of every
    token, or if `joined` of every word, before and after the change (`names`), and the largest change of a bar. `what`:
    `future` or `padding`."""
    words, groups = text("masks"), [(row,) for row in range(len(masked.tokens))]
    if joined:
        groups = masked.words
        masked, unmasked = masked.between_words(), unmasked.between_words()
    for place, leak, name in zip(st.columns(2), (unmasked, masked), ("off", "on"), strict=True):
        with card(f"{what}-{name}", place, height="stretch"):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.markdown(f"**{words[f'{what}_{name}']}**", width=100)
                # As wide as its number, because a number in two lines would push down the bars of one of the two runs.
                st.metric(words["largest"], written_number(_bar_change(leak), 3), help=words["largest_help"], width="content")
            said = {"name": words[f"{what}_{name}"], "before": names[0], "after": names[1], "most": _change(leak)}
            show(
                chart(probability_change, leak.tokens, leak.before, leak.after, names),
                f"leak-{what}-{name}",
                words["leak_alt"].format(**said, says=_says(leak, groups, str)),
                tells=True,
            )
            st.caption(_says(leak, groups, literal))


def _says(leak: Leak, groups: Sequence[Sequence[int]], written: Callable[[str], str]) -> str:
    """A sentence about the largest change between the two runs of a leak. `groups` has the positions that each bar stands for;
    `written` formats a token."""
    words = text("masks")
    if leak.same:
        return words["bit_equal"]
    if leak.largest < 1e-5:
        return words["rounding"]
    worst = int(abs(leak.after - leak.before).argmax())
    before, after = (fixed(float(probabilities[worst]), 3) for probabilities in (leak.before, leak.after))
    first, *others = groups[worst]
    row = words["in_rows"].format(first=first, last=others[-1]) if others else words["in_row"].format(row=first)
    says = words["moved"].format(token=written(leak.tokens[worst]), row=row, before=before, after=after)
    # Pieces of words can move more than the bar of their word.
    if written_number(leak.largest, 3) == written_number(_bar_change(leak), 3) or leak.largest < _bar_change(leak):
        return says
    other = {"token": written(leak.largest_token), "row": leak.largest_row, "most": _change(leak)}
    return f"{says} {words['moved_more'].format(**other)}"


def _bar_change(leak: Leak) -> float:
    """The largest change of a bar, from 0 to 1."""
    return float(abs(leak.after - leak.before).max())


def _change(leak: Leak) -> str:
    """The largest change of any token's probability, as text. It is "0" only if the change is exactly 0."""
    return written_number(leak.largest, 3)


def _answers(view: View, source: Ids, count: int) -> None:
    """List three answers: without padding, with `count` padding tokens after the source, and with these but no padding mask."""
    words = text("masks")
    asked = ((0, ()), (count, ()), (count, (NO_PADDING,)))
    answers = [_measured(view, padded_answer, phrases, source, many) for many, phrases in asked]
    names = (words[f"answer_{name}"].format(count=count) for name in ("plain", "on", "off"))
    st.markdown("\n".join(f"- {name}: **{quoted(answer) or '–'}**" for name, answer in zip(names, answers, strict=True)))
    st.caption(words["answer_moved" if answers[0] != answers[2] else "answer_stayed"])


def _others(batch: Batch, position: int) -> list[int]:
    """The ids of all tokens that can replace the token at a position of the target."""
    vocabulary = batch.view.pipeline.vocabulary("target")
    excluded = batch.alone("target")[position], vocabulary.pad, vocabulary.sos
    return [token for token in range(len(vocabulary)) if token not in excluded]


def _measured(view: View, experiment: Callable[..., Any], phrases: tuple[str, ...], *asked: int | Ids) -> Any:
    """The result of `experiment`, a function of `transformer.analysis.leaks`, called with the model of a view, the arguments
    `asked` and the edits that `phrases` describe."""
    return view.run(_leak, view.key, experiment, phrases, *asked)


@cached
def _leak(key: Key, experiment: Callable[..., Any], phrases: tuple[str, ...], *asked: int | Ids) -> Any:
    pipeline = runs().pipeline(key)
    edits = tuple(edit for phrase in phrases for edit in interventions(phrase, pipeline.config))
    return experiment(pipeline, *asked, edits)
