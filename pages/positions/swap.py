"""Two swapped words: how the swap changes the encoder's output, with positional encodings and without."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.positions.differences import show_difference
from pages.positions.explained_numbers import explain_change, explain_output
from pages.shell.frame.parts import seen
from pages.shell.view.explained_chart import show_explained
from pages.shell.view.joined_words import say_joined
from pages.shell.view.recorded import own_network
from pages.shell.view.runs import Key, runs
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import numbered_tokens
from pages.ui.pickers import choice_label, pick, pick_position, unfolding
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.position_geometry import Swap, swap
from transformer.analysis.word_trace import Group, word_groups
from transformer.figures.position_geometry_figures import change_bars
from transformer.figures.token_geometry_figures import aligned_maps
from transformer.pipeline.protocol import TextPipeline
from transformer.tasks import TASKS
from transformer.tracing.phrases import interventions

# The ids of the two compared runs in a link.
WITH, WITHOUT = "with-positions", "without-positions"
TAKEN_AWAY = "no positions"


def show_swap(view: View, trace: Trace, shown: Trace) -> None:
    """Draw pickers of two words, how far each token's vector moves when the words are swapped, and the largest difference.
    `shown` is `trace`, or the same trace with subword pieces joined to words."""
    words = text("positions")
    st.markdown(words["swap_text"])
    if own_network(view) is None:
        return
    vocabulary, tokens = view.pipeline.vocabulary("source"), shown.source_tokens[0]
    say_joined(shown)
    # The start and end tokens keep their places, because they cannot be typed.
    typed = range(1, len(tokens) - 1) if vocabulary.framed else range(len(tokens))
    if len(typed) < 2:
        st.info(words["swap_short"])
        return
    one, other = _first_pair(view.pipeline, tokens, typed)
    # The pickers are below the picture, because on a phone the picture should be on the first screen.
    picture = st.container()
    with st.container(horizontal=True):
        first = pick_position(words["swap_first"], tokens, "first", typed, one)
        second = pick_position(words["swap_second"], tokens, "second", typed, other)
    order = list(range(len(tokens)))
    order[first], order[second] = second, first
    same, swapped = tokens[first] == tokens[second], [tokens[place] for place in order]
    ids = trace.source_ids[0]
    parts = None if shown is trace else word_groups(trace, "source")
    effects = {run: _swap(view.key, ids, first, second, run == WITHOUT, parts) for run in (WITH, WITHOUT)}
    changes = {choice_label("run", run): effect.changes for run, effect in effects.items()}
    with picture:
        st.markdown(words["swapped"].format(after=literal(" ".join(swapped))))
        if same:
            st.info(words["swap_same"], icon=":material/info:")
        show_explained(
            chart(change_bars, tokens, changes, words["change"]),
            "positions-swap",
            words["swap_alt"],
            lambda at: explain_change(effects, tokens, at),
        )
    for place, (run, effect) in zip(st.columns(2), effects.items(), strict=True):
        label = words["largest_difference"].format(run=choice_label("run", run))
        with place:
            show_difference(label, effect.largest, abs(effect.before).max(), 2, words["largest_difference_help"])
    if not same:
        st.markdown(words["swap_result"])
    if seen("outputs", 560):
        _show_outputs(tokens, effects, same)
    if table := unfolding(words["swap_numbers"], ":material/table:", "swap_numbers"):
        table.dataframe(pd.DataFrame(changes, numbered_tokens(tokens)))


def _first_pair(pipeline: TextPipeline, tokens: Sequence[str], places: Sequence[int]) -> tuple[int, int]:
    """The positions of the two words that are swapped by default, chosen from `places`. They are the first and the last noun,
    because swapping these leaves a sentence (`the dog sees the cat`). Without two nouns, they are two words as far apart as
    possible, and not punctuation. Two different words are preferred, because swapping equal words changes nothing."""
    task = TASKS.get(pipeline.card.task)
    nouns = [place for place in places if task and task.word_class(tokens[place], "source") == "noun"]
    spelled = [place for place in places if any(map(str.isalpha, tokens[place]))]
    for fitting in (nouns, spelled, places):
        different = [place for place in reversed(fitting) if tokens[place] != tokens[fitting[0]]]
        if different:
            return fitting[0], different[0]
    return places[0], places[-1]


def _show_outputs(tokens: tuple[str, ...], effects: dict[str, Swap], same: bool) -> None:
    """Draw the encoder's output for both sentences, number by number, and their difference. `same`: whether equal words were
    swapped; then the two outputs can differ by rounding alone."""
    words = text("positions")
    run = pick(words["swap_run"], list(effects), "run")
    before, after = effects[run].before, effects[run].after
    panels = {words["swap_before"]: before, words["swap_after"]: after, words["swap_change"]: after - before}
    figure = chart(aligned_maps, panels, tokens, words["token"], words["dimension"])
    show_explained(
        figure,
        "positions-outputs",
        words["swap_outputs_alt"].format(count=len(tokens), run=choice_label("run", run)),
        lambda at: explain_output(before, after, tokens, at),
    )
    st.caption(words["swap_outputs"]["same" if same else run])


@cached
def _swap(key: Key, ids: tuple[int, ...], first: int, second: int, without: bool, parts: tuple[Group, ...] | None) -> Swap:
    """The effect on the encoder's output if the tokens or words `first` and `second` are swapped; `without` positional
    encodings or with them. `parts` are the pieces of each word if words are swapped, and None otherwise."""
    edits = interventions(TAKEN_AWAY, runs().pipeline(key).config) if without else ()
    return swap(runs().own_network(key), ids, first, second, edits, parts)
