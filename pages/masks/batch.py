"""The masks of a batch: the texts with their padding, and the four masks of one text."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from pages.masks.batch_table import batch_table
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.charts import chart, show
from pages.ui.format import named_shape, numbered_tokens
from pages.ui.pickers import pick_text, unfolding
from pages.ui.text import figure_labels, text
from transformer import Trace
from transformer.analysis.mask_conventions import TargetMasks, target_masks
from transformer.analysis.word_trace import join_allowed, word_groups
from transformer.figures.masks_figures import mask_picture
from transformer.figures.theme import KIND_COLORS
from transformer.pipeline.pipeline import Side
from transformer.tasks import TASKS
from transformer.tracing.paths import Kind
from transformer.tracing.trace import unpadded_length

NO_CAUSAL = "no causal mask"  # an edit, as a phrase


class Batch(NamedTuple):
    """A traced batch and the sentence picked from it.

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

    def alone(self, side: Side) -> tuple[int, ...]:
        """The ids of the picked sentence, without the padding at its end."""
        ids = self.ids(side)
        return ids[: unpadded_length(ids, self.view.pipeline.vocabulary(side).pad)]

    def inside(self, end: int | None = None) -> list[int]:
        """The positions of padding that is typed among the ids of the picked target, before the position `end`."""
        pad = self.view.pipeline.vocabulary("target").pad
        return [position for position, token in enumerate(self.alone("target")[:end]) if token == pad]


def beside_an_example(view: View) -> View:
    """The view with a second text, an example of another length, so that the batch has padding. A view of several texts is
    returned unchanged, and so is a view of a model without a task, because the cost of reading more text is unknown there."""
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
    """Two sentences whose lengths differ from the first sentence's, taken from the model's task. If the model has no task,
    one or two shorter versions of the first sentence, or a longer version if the sentence is too short for this."""
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


def show_masks(batch: Batch, shown: Trace) -> None:
    """Draw the four masks of one sentence, and their shapes. `shown` is the batch's trace, or that trace between words."""
    assert batch.target is not None
    masks: dict[str, tuple[Any, Side]] = {
        "source": (batch.trace.masks.source, "source"),
        "padding": (batch.target.padding, "target"),
        "causal": (batch.target.causal, "target"),
        "combined": (batch.trace.masks.target, "target"),
    }
    for names in (("source", "padding"), ("causal", "combined")):
        # The key is a place that a lesson scrolls to.
        for place, name in zip(st.container(key=f"masks-{names[0]}").columns(2), names, strict=True):
            with place:
                _show_mask(batch, shown, name, *masks[name])


def _show_mask(batch: Batch, shown: Trace, name: str, mask: Any, side: Side) -> None:
    """Draw one of the four masks. `mask` is None if this variant has no such mask."""
    words, trace, item = text("masks"), batch.trace, batch.item
    title = words["mask_titles"][name]
    st.markdown(f"**{title}**")
    if mask is not None:
        count = len(trace.tokens_of(side)[item])
        keep = mask[item if mask.shape[0] > 1 else 0, 0].expand(count, count).numpy()
        looks = keep.size  # between tokens, as the shape below counts them
        if shown is not trace:
            of = word_groups(trace, side, item)
            keep = join_allowed(keep, of, of)
        kind = Kind.ENCODER if side == "source" else Kind.DECODER
        _draw(batch, shown, kind, keep, looks, title, f"mask-{name}")
        st.caption(f"`{named_shape(_axes(name, side, mask), mask.shape)}`")
    if name == "padding":
        st.caption(words["padding_sentences"][trace.config.target_padding])
    else:
        st.caption(words["mask_sentences"]["combined_unmasked" if name == "combined" and batch.unmasked else name])


def _draw(batch: Batch, shown: Trace, kind: Kind, keep: np.ndarray, looks: int, title: str, key: str) -> None:
    """Draw a mask as a picture. If it hides nothing, write how many looks it allows."""
    words = text("masks")
    if keep.all():
        st.markdown(words["all_allowed"].format(looks=looks))
        return
    # Between words, the mask has no rows and columns for the padding of a shorter text.
    names = map_names(batch.view, shown, kind, batch.item)
    queries, keys = (tokens[:size] for tokens, size in zip(names, keep.shape, strict=True))
    alt = words["mask_alt"].format(name=title, tokens=len(queries), hidden=int((~keep).sum()))
    show(chart(mask_picture, keep, queries, keys, KIND_COLORS[kind], labels=figure_labels()), key, alt)


def show_recorded(batch: Batch, shown: Trace) -> None:
    """Draw the masks that the attentions used. Layers of one kind with equal masks share a picture; a layer with a sliding
    window has its own. `shown` is the batch's trace, or that trace between words."""
    words, item = text("masks"), batch.item
    st.markdown(words["recorded"])
    for kind in shown.kinds:
        alike: dict[bytes, list[int]] = {}
        for layer in range(shown.layers(kind)):
            alike.setdefault(_allowed(shown, kind, layer, item).tobytes(), []).append(layer)
        for layers in alike.values():
            title = words["kinds"][kind]
            listed = "" if len(alike) == 1 else words["recorded_layers"].format(layers=", ".join(str(at + 1) for at in layers))
            st.markdown(f"**{title}** {listed}")
            keep, looks = _allowed(shown, kind, layers[0], item), _allowed(batch.trace, kind, layers[0], item).size
            _draw(batch, shown, kind, keep, looks, title, f"mask-{kind}-{layers[0]}")


def _allowed(trace: Trace, kind: str, layer: int, item: int) -> np.ndarray:
    """True for each pair in which the query may attend to the key, in the first head of a layer."""
    return ~trace.hidden(trace.attention_path(kind, layer))[item, 0].numpy()


def _axes(name: str, side: Side, mask: Any) -> tuple[str, ...]:
    """The names of a mask's axes. An axis of size 1 that is broadcast has the name `1`."""
    axes = zip(("batch", "head", f"{side} query", f"{side} key"), mask.shape, strict=True)
    # The batch axis keeps its name even for one text, except in the causal mask, which is equal for every text.
    own = () if name == "causal" else ("batch",)
    return tuple(axis if size > 1 or axis in own else "1" for axis, size in axes)


def show_numbers(batch: Batch) -> None:
    """Draw the combined target mask as a table of 0 and 1."""
    words = text("masks")
    if table := unfolding(words["numbers"], ":material/table:", "numbers"):
        rows, columns = map(numbered_tokens, map_names(batch.view, batch.trace, "decoder", batch.item))
        keep = batch.trace.masks.target[batch.item, 0].numpy()
        table.caption(words["numbers_caption"].format(kept=int(keep.sum()), total=keep.size))
        table.dataframe(pd.DataFrame(keep.astype("uint8"), rows, columns))
