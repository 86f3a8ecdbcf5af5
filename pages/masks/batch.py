"""A batch of texts as a table with their padding, and the text that is picked from it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st
from jaxtyping import Bool
from markupsafe import Markup

from pages.masks.explained_masks import Rule, named, no_padding
from pages.shell.view.view import View
from pages.ui.format import named_shape
from pages.ui.pickers import pick_text
from pages.ui.style import style
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.mask_conventions import TargetMasks, target_masks
from transformer.figures.theme import KIND_COLORS, MASKED
from transformer.pipeline.pipeline import Side
from transformer.tasks import TASKS
from transformer.tracing.trace import unpadded_length

NO_CAUSAL = "no causal mask"  # an edit, as a phrase


class Batch(NamedTuple):
    """A traced batch of sentences and the one picked from it.

    Attributes:
        view: the model and the texts that are read together.
        trace: the trace of the whole batch.
        item: the picked sentence, counted from 0.
        target: the causal and padding parts of the target mask. None if the network is not our own: its masks are only
            recorded.
        padded: number of padding positions in the decoder's input, over all sentences.
    """

    view: View
    trace: Trace
    item: int
    target: TargetMasks | None
    padded: int

    @property
    def unmasked(self) -> bool:
        """Whether the model was trained without the causal mask."""
        return self.view.pipeline.card.recipe.get("edit") == NO_CAUSAL

    def ids(self, side: Side) -> tuple[int, ...]:
        """The ids of the picked sentence, with padding."""
        return self.trace.ids_of(side)[self.item]

    def no_padding(self, side: Side, position: int) -> Rule:
        """The rule that the token at `position` of the picked sentence is not padding."""
        name = named(self.trace.tokens_of(side)[self.item], position)
        return no_padding(name, self.ids(side)[position], self.view.pipeline.vocabulary(side).pad)

    def alone(self, side: Side) -> tuple[int, ...]:
        """The ids of the picked sentence, without the padding at its end."""
        ids = self.ids(side)
        return ids[: unpadded_length(ids, self.view.pipeline.vocabulary(side).pad)]

    def inside(self, end: int | None = None) -> list[int]:
        """The positions of padding tokens that are typed inside the picked target, before the position `end`; None for all
        positions. The padding at the end of the target does not count."""
        pad = self.view.pipeline.vocabulary("target").pad
        return [position for position, token in enumerate(self.alone("target")[:end]) if token == pad]


def beside_an_example(view: View) -> View:
    """The view (model and texts) with a second text, an example of another length, so that the batch has padding. Unchanged if
    it has several texts or a text that cannot be read, or if its model's task is not in `TASKS`."""
    if len(view.sources) > 1 or view.problem or view.pipeline.card.task not in TASKS:
        return view
    return replace(view, sources=(*view.sources, more_sentences(view)[0]), targets=(*view.targets, None), examples=1)


def show_batch(view: View, trace: Trace) -> Batch:
    """Draw every text with its padding and a picker of one text; return the batch with that text picked."""
    words, pipeline = text("masks"), view.pipeline
    count = trace.batch_size
    ids = {side: pipeline.batch(trace.ids_of(side), side) for side in trace.sides}
    real = {side: (ids[side] != pipeline.vocabulary(side).pad).numpy() for side in trace.sides}
    # By default, pick the typed text with the most padding, because its masks hide the most.
    first = int(np.sum([(~places[: view.typed]).sum(1) for places in real.values()], axis=0).argmax())
    item = pick_text(trace, words["pick_item_help"], first)
    names = [words["item"].format(number=number) for number in range(1, count + 1)]
    for side in trace.sides:
        kind = "encoder" if side == "source" else "decoder"
        st.markdown(f"**{words[f'batch_{side}']}** `{named_shape(('batch', side), real[side].shape)}`")
        st.html(batch_table(trace.tokens_of(side), real[side], names, words["position"], KIND_COLORS[kind], item))
    if view.examples:
        st.caption(words["example"].format(number=count))
    if all(places.all() for places in real.values()):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(words["no_padding"], width="content")
            st.button(words["fill"], on_click=_fill, args=(view,), help=words["fill_help"], icon=":material/playlist_add:")
    masks = target_masks(ids["target"], pipeline.model.config) if pipeline.model else None
    return Batch(view, trace, item, masks, int((~real["target"]).sum()) if "target" in real else 0)


def _fill(view: View) -> None:
    """Add two sentences of other lengths to the sidebar's batch."""
    st.session_state["batch"] = "\n".join(more_sentences(view))
    if "batch_targets" in st.session_state:
        st.session_state["batch_targets"] = ""
    st.rerun()  # runs the whole app, because a click in a page does not redraw the sidebar


def more_sentences(view: View) -> list[str]:
    """At most two sentences whose lengths differ from the first sentence's, taken from the model's task. If the model has no
    task, one or two shorter versions of the first sentence, or if it is too short for this, a version three times as long."""
    pipeline = view.pipeline
    own = len(pipeline.encode(view.source).tokens)
    if pipeline.card.task in TASKS:
        examples = TASKS[pipeline.card.task].examples
        lengths = {len(pipeline.encode(example.source).tokens): example.source for example in examples}
        lengths.pop(own, None)
        return [lengths[length] for length in sorted(lengths)[:2]]
    tokens = view.source.split()
    parts = {max(1, len(tokens) // 2), 3 * len(tokens) // 4} - {0, len(tokens)}
    return [" ".join(part) for part in [tokens[:length] for length in sorted(parts)] or [tokens * 3]]


STYLE = style(Path(__file__).parent / "batch_table.css")


def batch_table(
    rows: Sequence[Sequence[str]],
    real: Bool[np.ndarray, "item position"],
    names: Sequence[str],
    corner: str,
    color: str,
    picked: int | None = None,
) -> Markup:
    """An HTML table: one row for each text, one column for each position; padding is hatched.

    Args:
        rows: the tokens of each text.
        real: False for padding.
        names: the name of each text, at the start of its row; `corner` is the label above them.
        color: colour of the tokens that are not padding.
        picked: the text whose name is bold, counted from 0.
    """
    nothing = Markup("")
    head = nothing.join(Markup('<th scope="col">{}</th>').format(position) for position in range(real.shape[1]))
    body = []
    for item, (row, name) in enumerate(zip(rows, names, strict=True)):
        label = Markup("<b>{}</b>").format(name) if item == picked else name
        cells = nothing.join(
            Markup('<td class="{}">{}</td>').format("real" if real[item, position] else "hidden", token)
            for position, token in enumerate(row)
        )
        body.append(Markup('<tr><th scope="row">{}</th>{}</tr>').format(label, cells))
    return Markup(
        '{style}<div class="batch-rows" tabindex="0" style="--real: {color}; --masked: {masked}">'
        '<table><tr><th scope="col">{corner}</th>{head}</tr>{body}</table></div>'
    ).format(style=STYLE, color=color, masked=MASKED, corner=corner, head=head, body=nothing.join(body))
