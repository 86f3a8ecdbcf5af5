"""The what-if view: a list of edits of the model, kept in the URL, and the runs without and with the edits side by side."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Bool, Float

from pages.attention.edited_output import show_edited_output
from pages.shell.view.card_heads import head_title
from pages.shell.view.edit_list import KEY as EDITS
from pages.shell.view.edit_list import edit_button, edit_menu, fits, show_edit_list
from pages.shell.view.edited_answers import show_edited_answers, show_edited_probabilities
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import difference_formula
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.charts import chart, show
from pages.ui.escaping import literal, quoted
from pages.ui.format import fixed, number, numbered_tokens, share, token_at
from pages.ui.pickers import pick_or_none, unfolding
from pages.ui.text import text
from transformer import Intervention, Trace
from transformer.analysis.head_measures import strongest
from transformer.figures.whatif_figures import difference_map, importance_map, probability_change
from transformer.tracing.paths import Kind, Side
from transformer.tracing.phrases import all_interventions, at_head, block

SIDES: tuple[Side, ...] = ("source", "target")
# Keys of the menus of edits.
BLOCK, MORE = "block_menu", "more_edits"


def show_whatif(view: View, trace: Trace, kind: str, layer: int, head: int) -> None:
    """Show the list of edits, and how they change the answer, the probabilities and the weights. For a model that writes an
    answer, also show how much each head matters. `kind` is e.g. `cross`; `layer` and `head` are from 0."""
    words = text("whatif")
    st.markdown(words["intro"])
    phrases = show_edit_list()
    _offer(view, trace, kind, layer, head)
    lengths: dict[str, int] = {side: len(tokens[0]) for side in SIDES if (tokens := trace.tokens_of(side))}
    edits = all_interventions(phrases, view.pipeline.config, lengths)
    if edits:
        _compare(view, trace, edits, kind, layer, head)
        if view.writes:
            # The same edits in the answer token by token.
            st.link_button(words["write"], view.address("decoding", **{EDITS: phrases}), icon=":material/edit_note:")
    else:
        st.info(words["none"], icon=":material/edit:")
    if view.writes:
        st.subheader(words["importance"])
        _importance(view, trace, edits)


def _offer(view: View, trace: Trace, kind: str, layer: int, head: int) -> None:
    """Show buttons that each add an edit: of the viewed head, of its layer, or of the whole model."""
    words = text("whatif")
    queries, keys = trace.tokens(kind)
    of = Kind.of(kind)
    with st.container(horizontal=True):
        edit_button(words["silence"], at_head("silence", kind, layer, head), words["silence_help"])
        edit_button(words["average"], at_head("average", kind, layer, head), words["average_help"])
        edit_button(words["silence_layer"], at_head("silence", kind, layer))
        with edit_menu(words["block"], ":material/block:", BLOCK):
            query = st.selectbox(
                words["query"], range(len(queries)), format_func=lambda position: token_at(position, queries[position])
            )
            key = st.selectbox(words["key"], range(len(keys)), format_func=lambda position: token_at(position, keys[position]))
            edit_button(words["block_button"], block(kind, layer, head, query, key), menu=BLOCK)
        with edit_menu(words["more"], ":material/tune:", MORE):
            actions = words["actions"]
            offered = {phrase: phrase for phrase in ("no causal mask", "no padding mask", "no positions")}
            offered["no scaling"] = f"no scaling {kind} layer {layer + 1}"
            offered["no residual"] = f"no residual {of.stack} layer {layer + 1} {of.sublayer}"
            for name, phrase in offered.items():
                if fits(view, phrase):
                    edit_button(actions[name], phrase, menu=MORE)


def _compare(view: View, trace: Trace, edits: tuple[Intervention, ...], kind: str, layer: int, head: int) -> None:
    """Show the answers without and with the edits, the change of each token's probability, and the change of the viewed head's
    weights. For a model that writes no answer, show its guesses or its other output instead of the answers."""
    words = text("whatif")
    if view.writes:
        show_edited_answers(view, edits)
        show_edited_probabilities(view, trace, edits)
        _answers_table(view.answer().tokens, view.answer(edits).tokens)
    elif view.pipeline.output_kind == "tokens":
        _compare_guesses(view, trace, view.forced().trace(edits))
    else:
        show_edited_output(view, trace, edits)
    st.markdown(f"**{words['difference']}**")
    st.caption(words["difference_caption" if view.writes else "difference_caption_read"])
    before, after, allowed = view.run(_both_weights, view, edits, kind, layer, head)
    change = after - before
    if not change.any():
        st.info(words["unchanged"].format(most=number(float(abs(change).max()), 1)), icon=":material/check:")
        return
    queries, keys = map_names(view, trace, kind)

    def explain(cell: Cell) -> None:
        query, key = (literal(numbered_tokens(tokens)[place]) for tokens, place in ((queries, cell.row), (keys, cell.column)))
        st.markdown(words["difference_explained"].format(query=query, key=key))
        st.latex(difference_formula(float(after[cell.row, cell.column]), float(before[cell.row, cell.column])))

    figure = chart(difference_map, change, allowed, queries, keys)
    show_explained(figure, "difference", words["difference_alt"], explain)


@cached
def _both_weights(
    view: View, edits: tuple[Intervention, ...], kind: str, layer: int, head: int
) -> tuple[Float[np.ndarray, "query key"], Float[np.ndarray, "query key"], Bool[np.ndarray, "query key"]]:
    """The weights of a head without and with edits, and which pairs may attend in either run. The result is cached, because the
    trace of a large model with edits is not cached."""
    trace, again = view.trace(), view.forced().trace(edits)
    before, after = (run.head(kind, layer, head).numpy() for run in (trace, again))
    return before, after, (again.head_allowed(kind, layer, head) | trace.head_allowed(kind, layer, head)).numpy()


def _compare_guesses(view: View, trace: Trace, again: Trace) -> None:
    """Show which token an encoder alone puts in the place of each mask, and how its probability changes. If the text has no
    mask, show this for every token."""
    words, mask = text("whatif"), view.pipeline.mask_token
    tokens, vocabulary = trace.source_tokens[0], view.pipeline.vocabulary("source")
    masks = [place for place, token in enumerate(tokens) if mask and token == mask]
    places = masks or list(range(len(tokens)))
    clean, edited = (run.probabilities[0].numpy()[places] for run in (trace, again))
    rows, guesses = np.arange(len(places)), clean.argmax(-1)
    names, changed = (list(vocabulary.tokens_of(ids)) for ids in (guesses, edited.argmax(-1)))
    st.markdown(f"**{words['guesses_masked' if masks else 'guesses']}**")
    differing = [
        words["guess"].format(place=token_at(place, quoted(tokens[place])), before=quoted(before), after=quoted(after))
        for place, before, after in zip(places, names, changed, strict=True)
        if before != after
    ]
    st.caption(words["guesses_differ"].format(list=", ".join(differing)) if differing else words["guesses_same"])
    legend = (words["clean"], words["edited"])
    figure = chart(probability_change, names, clean[rows, guesses], edited[rows, guesses], legend, written=True)
    show(figure, "probability-change", words["guesses_alt"])


def _answers_table(clean: Sequence[str], edited: Sequence[str]) -> None:
    words = text("whatif")
    if table := unfolding(words["table"], ":material/table:", "numbers"):
        rows = {words["clean"]: pd.Series(clean, dtype=str), words["edited"]: pd.Series(edited, dtype=str)}
        table.dataframe(pd.DataFrame(rows).fillna("").rename_axis(words["position"]))


def _importance(view: View, trace: Trace, edits: tuple[Intervention, ...]) -> None:
    """Show how much the log-probability of one picked token of the answer drops without each head."""
    words, kinds = text("whatif"), text("attention")["kinds"]
    tokens = view.pipeline.vocabulary("target").tokens_of(view.expected(trace))
    # Steps are counted from 1, as on Patching and Watch it write.
    labels = {position: f"{position + 1}: {token}" for position, token in enumerate(tokens)}
    position = pick_or_none(
        words["importance_pick"],
        range(view.first_row(), len(tokens)),
        "position",
        words["importance_none"],
        words["importance_help"],
        # Buttons render Markdown, so the tokens of a typed target are offered in a list.
        as_list=isinstance(view.target, str),
        labels=labels,
    )
    if position is None:
        return
    bar = st.progress(0.0)

    def progress(done: int, total: int) -> None:
        bar.progress(done / total, words["importance_running"].format(done=done, total=total))

    before, drops = view.importance(edits, position, progress)
    bar.empty()
    kind = max(drops, key=lambda kind: drops[kind].max())
    layer, head = strongest(drops[kind])
    drop = float(drops[kind][layer, head])
    st.markdown(
        words["importance_text"].format(
            kind=kinds[kind],
            layer=layer + 1,
            head=head + 1,
            token=literal(tokens[position]),
            drop=fixed(drop, 2),
            before=share(float(np.exp(before)), 1),
            after=share(float(np.exp(before - drop)), 1),
        )
    )

    def explain(cell: Cell) -> None:
        kind = list(drops)[cell.trace]
        head, drop = head_title(kind, cell.row, cell.column), float(drops[kind][cell.row, cell.column])
        st.markdown(words["importance_explained"].format(token=literal(tokens[position]), head=head))
        st.latex(difference_formula(before, before - drop))

    figure, alt = chart(importance_map, drops, kinds), words["importance_alt"]
    show_explained(figure, "importance", alt, explain)
