"""A sentence as the model's input: tokens, ids, rows of the embedding table, scaling and padding."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Float
from markupsafe import Markup

from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.view import View
from pages.tokens.explained_rows import explain_number, explain_scaled
from pages.ui.charts import chart
from pages.ui.format import fixed, number, numbered_tokens
from pages.ui.pickers import pick, pick_text, unfolding
from pages.ui.style import style
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.word_trace import Group, word_groups
from transformer.figures.token_geometry_figures import aligned_maps
from transformer.pipeline.pipeline import Side
from transformer.pipeline.protocol import TextPipeline
from transformer.tasks import TASKS
from transformer.text.pieces import SPACE
from transformer.text.tokens import Tokens
from transformer.tracing.trace import as_array

STYLE = style(Path(__file__).parent / "chips.css")


class Sentence(NamedTuple):
    """One sentence of the batch, on one side of the model.

    Attributes:
        side: `source` or `target`.
        item: the index of the sentence in the batch.
        tokens: the tokens of the model's input, with padding. If pieces are joined, the words of the sentence, without padding.
        ids: the ids of the model's input, with padding.
        vocabulary: the vocabulary of the side.
        classes: the name of the class of each token of the vocabulary, such as noun.
        table: the embedding table of the side.
        of: the positions of the pieces of each word if pieces are joined; otherwise empty.
    """

    side: Side
    item: int
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    vocabulary: Tokens
    classes: tuple[str, ...]
    table: Float[np.ndarray, "vocab d_model"]
    of: tuple[Group, ...] = ()

    @property
    def rows(self) -> Float[np.ndarray, "token d_model"]:
        """For each token, its row of the embedding table; if pieces are joined, for each word the mean over its pieces'
        rows."""
        rows = self.table[list(self.ids)]
        return np.stack([rows[list(group)].mean(0) for group in self.of]) if self.of else rows

    def explain(self, cell: Cell) -> None:
        """Show how the number in a cell of `rows` is computed."""
        positions = self.of[cell.row] if self.of else (cell.row,)
        explain_number(self.table, self.tokens[cell.row], [self.ids[position] for position in positions], cell.column)

    @property
    def first_word(self) -> int:
        """The id of the first token that has letters or signs of the text: no special token, and no bare `▁`. If there is no
        such token, the id of the first token."""
        tokens = self.vocabulary.tokens
        known = (index for index in self.ids if index >= 0 and index not in self.vocabulary.specials)
        return next((index for index in known if tokens[index] != SPACE), self.ids[0])


def pick_sentence(view: View, trace: Trace, shown: Trace) -> Sentence:
    """Draw pickers of a side and, in a batch, of a sentence; returns the picked sentence. `shown` is `trace`, or the same trace
    with pieces joined to words."""
    words, pipeline = text("tokens"), view.pipeline
    with st.container(horizontal=True):
        side = pick(words["side"], trace.sides, "side", help=words["side_help"])
        item = pick_text(trace, words["item_help"])
    vocabulary = pipeline.vocabulary(side)
    tokens, ids = shown.tokens_of(side)[item], trace.ids_of(side)[item]
    of = word_groups(trace, side, item) if shown is not trace else ()
    table = as_array(pipeline.token_table(side))
    # In a batch, the words of a short text are followed by padding, which is cut off.
    tokens = tokens[: len(of)] if of else tokens
    return Sentence(side, item, tokens, ids, vocabulary, classes(pipeline, side), table, of)


def classes(pipeline: TextPipeline, side: Side) -> tuple[str, ...]:
    """The name of the class of each token of a vocabulary. A token without a class gets the text "no class known"."""
    words, vocabulary, task = text("tokens"), pipeline.vocabulary(side), TASKS.get(pipeline.card.task)
    names = [task.word_class(token, side) if task else None for token in vocabulary.tokens]
    specials = set(vocabulary.specials)
    return tuple(words["special"] if token_id in specials else name or words["no_class"] for token_id, name in enumerate(names))


def show_flow(view: View, trace: Trace, shown: Trace, sentence: Sentence) -> None:
    """Draw each sentence of the batch as a row of boxes: tokens with their ids, or words with the ids of their pieces."""
    words = text("tokens")
    st.markdown(words["flow_text"].format(vocab=len(sentence.vocabulary), d_model=trace.config.d_model))
    for item, ids in enumerate(trace.ids_of(sentence.side)):
        # Pieces of words, and the tokens of the model's own answer, are shown as they are, because they have no other spelling
        # that was typed.
        own = sentence.vocabulary.tokenizer_name == "pieces" or (sentence.side == "target" and view.targets[item] is None)
        typed = () if own else view.encoding(sentence.side, item).typed
        if len(view.sources) > 1:
            st.caption(words["item_title"].format(number=item + 1))
        if shown is trace:
            st.html(STYLE + chips(sentence.vocabulary, ids, typed))
        else:
            of = word_groups(trace, sentence.side, item)
            st.html(STYLE + word_chips(shown.tokens_of(sentence.side)[item][: len(of)], ids, of))
    if sentence.side == "target":
        st.caption(words["flow_target" if "source" in trace.sides else "flow_joined"])


def chips(vocabulary: Tokens, ids: tuple[int, ...], typed: tuple[str, ...]) -> Markup:
    """The tokens with these `ids` as an HTML list. An unknown word is shown as it was typed, with the token that the model
    reads instead. `typed` are the words as they were typed; if it is empty, the tokens themselves are shown."""
    words, start = text("tokens"), int(vocabulary.framed)
    items = []
    for position, (token, token_id) in enumerate(zip(vocabulary.tokens_of(ids), ids, strict=True)):
        part = typed[position - start] if start <= position < start + len(typed) else token
        kind = "padding" if token_id == vocabulary.pad else "unknown" if part != token else "known"
        small = Markup("<small>{}</small>")
        read_as = small.format(words["read_as"].format(token=token)) if kind == "unknown" else ""
        number = small.format(words["chip"].format(id=token_id))
        items.append(Markup('<li class="{}"><b>{}</b>{}{}</li>').format(kind, part, read_as, number))
    return _listed(items)


def word_chips(tokens: Sequence[str], ids: Sequence[int], of: Sequence[Group]) -> Markup:
    """The words `tokens` as an HTML list, each with the ids of its pieces; a word of one piece with its id and its row. `of`
    has the positions of the pieces of each word."""
    words = text("tokens")
    items = []
    for token, group in zip(tokens, of, strict=True):
        listed = " ".join(str(ids[place]) for place in group)
        number = words["chip" if len(group) == 1 else "chip_pieces"].format(id=listed, ids=listed)
        items.append(Markup('<li class="known"><b>{}</b><small>{}</small></li>').format(token, number))
    return _listed(items)


def _listed(items: Sequence[Markup]) -> Markup:
    template = Markup('<ol class="tokens" style="padding: 0" aria-label="{}">{}</ol>')
    return template.format(text("tokens")["chips"], Markup("").join(items))


def show_rows(sentence: Sentence) -> None:
    """Draw the rows of the embedding table that the ids select, as a figure and as numbers."""
    words, rows = text("tokens"), sentence.rows
    st.markdown(words["rows_text"].format(d_model=rows.shape[1]))
    figure = chart(aligned_maps, {words["rows_panel"]: rows}, sentence.tokens, words["token"], words["dimension"])
    alt = words["rows_alt"].format(count=len(rows), d_model=rows.shape[1])
    show_explained(figure, "tokens-rows", alt, sentence.explain)
    st.caption(words["signed"])
    if table := unfolding(words["numbers"], ":material/table:", "numbers"):
        table.dataframe(pd.DataFrame(rows, numbered_tokens(sentence.tokens)))


def show_scaling(view: View, trace: Trace, sentence: Sentence) -> None:
    """Draw the embedding rows of the tokens before and after the multiplication by √d_model, and the mean lengths of these
    vectors. If the trace has no scaled rows, write a sentence in place of the picture."""
    words, d_model, path = text("tokens"), trace.config.d_model, f"{sentence.side}_embedding"
    before, path_of_position = sentence.rows, f"{path}.position"
    position = {}
    if path_of_position in trace:
        position["length_position"] = _mean_length(trace[path_of_position].numpy())
    if f"{path}.scaled" not in trace:
        st.markdown(words["unscaled" if view.pipeline.model else "unscaled_recorded"])
        _show_lengths({"length_token": _mean_length(before)} | position)
        return
    after = trace[f"{path}.scaled"].numpy()[sentence.item][: len(before)]
    factor = fixed(d_model**0.5, 3)
    st.markdown(words["scaled"].format(d_model=d_model, factor=factor))
    panels = {words["before"]: before, words["after"].format(factor=factor): after}
    figure = chart(aligned_maps, panels, sentence.tokens, words["token"], words["dimension"])

    def explain(cell: Cell) -> None:
        if cell.trace == 0:
            sentence.explain(cell)
        else:
            place = cell.row, cell.column
            explain_scaled(float(before[place]), float(after[place]), d_model)

    show_explained(figure, "tokens-scaled", words["scaled_alt"], explain)
    _show_lengths({"length_before": _mean_length(before), "length_after": _mean_length(after)} | position)


def _mean_length(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors, axis=-1).mean())


def _show_lengths(lengths: dict[str, float]) -> None:
    words = text("tokens")
    for place, (name, length) in zip(st.columns(3), lengths.items(), strict=False):
        place.metric(words[name], fixed(length, 3), help=words["length_help"])


def show_padding(trace: Trace, sentence: Sentence) -> None:
    """Explain padding, write how many padding tokens this batch has, and draw two rows of the embedding table: that of the
    padding token and that of the first word. If the vocabulary has no padding token, draw only a note."""
    words, pad = text("tokens"), sentence.vocabulary.pad
    if pad < 0:
        st.markdown(words["padding_none"])
        return
    batch = trace.tokens_of(sentence.side)
    token = sentence.vocabulary.tokens[pad]
    count = sum(tokens.count(token) for tokens in batch)
    st.markdown(words["padding_text"].format(token=f"`{token}`", id=pad))
    if len(batch) == 1 and not count:
        st.markdown(words["padding_single"])
    else:
        st.markdown(words["padding_batch"].format(token=f"`{token}`", count=count, texts=len(batch), length=len(batch[0])))
    row = sentence.table[pad]
    values = {"length": fixed(_mean_length(row), 3), "mean": fixed(_mean_length(np.delete(sentence.table, pad, axis=0)), 3)}
    template = words["padding_ordinary" if row.any() else "padding_zero"]
    st.markdown(template.format(token=f"`{token}`", largest=number(float(abs(row).max()), 3), **values))
    shown = [pad, sentence.first_word]
    names = [sentence.vocabulary.tokens[token_id] for token_id in shown]
    figure = chart(aligned_maps, {words["padding_panel"]: sentence.table[shown]}, names, words["token"], words["dimension"])
    alt = words["padding_alt"].format(pad=names[0], word=names[1])

    def explain(cell: Cell) -> None:
        explain_number(sentence.table, names[cell.row], [shown[cell.row]], cell.column)

    show_explained(figure, "tokens-padding", alt, explain)
