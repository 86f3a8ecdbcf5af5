"""Pictures of the masks of one text of a batch, and why a clicked cell is hidden or not.

Broadcasting repeats the axes of size 1 of a mask for every head and query; its picture has the real sizes.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from markupsafe import Markup

from pages.masks.batch import Batch
from pages.masks.explained_masks import Rule, explain_pair, explain_words, named, not_far, not_later
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.map_names import map_names
from pages.ui.charts import chart
from pages.ui.format import named_shape, numbered_tokens, shape
from pages.ui.pickers import unfolding
from pages.ui.style import style
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.mask_rules import is_causal, window
from transformer.analysis.word_trace import join_allowed, word_groups
from transformer.figures.masks_figures import mask_picture
from transformer.figures.theme import KIND_COLORS
from transformer.pipeline.pipeline import Side
from transformer.tracing.paths import Kind

# At most this many squares are drawn along an axis. A longer axis ends in dots.
MOST_SQUARES = 20
STYLE = style(Path(__file__).parent / "broadcast.css")


def show_masks(batch: Batch, shown: Trace) -> None:
    """Draw four masks of the picked sentence and their shapes: that of the source, and the padding, causal and combined masks
    of the target. `shown` is the batch's trace, or the same trace with pieces joined to words."""
    assert batch.target is not None
    masks: dict[str, tuple[Any, Side]] = {
        "source": (batch.trace.masks.source, "source"),
        "padding": (batch.target.padding, "target"),
        "causal": (batch.target.causal, "target"),
        "combined": (batch.trace.masks.target, "target"),
    }
    for names in (("source", "padding"), ("causal", "combined")):
        # The key is a place that a lesson scrolls to.
        columns, below = st.container(key=f"masks-{names[0]}").columns(2), st.container()
        for place, name in zip(columns, names, strict=True):
            with place:
                _show_mask(batch, shown, name, *masks[name], below)


def _show_mask(batch: Batch, shown: Trace, name: str, mask: Any, side: Side, below: Any) -> None:
    """Draw one of the four masks, `name`. `mask` is None if this variant has no such mask. A click on a cell draws in `below`
    why the cell is hidden or not."""
    words, trace, item = text("masks"), batch.trace, batch.item
    title = words["mask_titles"][name]
    st.markdown(f"**{title}**")
    if mask is not None:
        count = len(trace.tokens_of(side)[item])
        keep = mask[item if mask.shape[0] > 1 else 0, 0].expand(count, count).numpy()
        kind = Kind.ENCODER if side == "source" else Kind.DECODER
        _draw(batch, shown, kind, keep, title, f"mask-{name}", partial(_rules, batch, name), below, hint=name == "combined")
        st.caption(f"`{named_shape(_axes(name, side, mask), mask.shape)}`")
    if name == "padding":
        st.caption(words["padding_sentences"][trace.config.target_padding])
    else:
        st.caption(words["mask_sentences"]["combined_unmasked" if name == "combined" and batch.unmasked else name])


def _rules(batch: Batch, name: str, query: int, key: int) -> list[Rule]:
    """The rules of the mask `name`, for a query and a key; both are positions."""
    if name == "source":
        return [batch.no_padding("source", key)]
    rules = target_rules(batch, batch.trace.config.target_padding, query, key)
    return {"padding": rules[:-1], "causal": rules[-1:], "combined": rules}[name]


def target_rules(batch: Batch, padding: str, query: int, key: int) -> list[Rule]:
    """The rules of a target mask, for the positions of a query and a key: the rule about padding, if there is one, then the
    rule about later keys. `padding` is what the variant hides: `target_padding` in its configuration."""
    place = {"queries": query, "keys": key}.get(padding)
    return [*([] if place is None else [batch.no_padding("target", place)]), not_later(query, key)]


def _draw(
    batch: Batch,
    shown: Trace,
    kind: Kind,
    keep: np.ndarray,
    title: str,
    key: str,
    rules: Callable[[int, int], list[Rule]],
    below: Any = st,
    hint: bool = True,
) -> None:
    """Draw a mask as a picture. If it hides nothing, write only how many pairs of query and key it allows.

    Args:
        keep: the mask between tokens; True where the query may attend to the key.
        rules: returns the rules of the mask, for the positions of a query and a key.
        below: the container in which to draw why a clicked cell is hidden or not.
        hint: whether to write that cells can be clicked.
    """
    words, looks, groups = text("masks"), keep.size, None
    if shown is not batch.trace:
        groups = [word_groups(batch.trace, side, batch.item) for side in (kind.queries, kind.keys)]
    pieces = keep
    keep = keep if groups is None else join_allowed(keep, *groups)
    if keep.all():
        st.markdown(words["all_allowed"].format(looks=looks))
        return
    # Between words, the mask has no rows and columns for the padding of a shorter text.
    names = map_names(batch.view, shown, kind, batch.item)
    queries, keys = (tokens[:size] for tokens, size in zip(names, keep.shape, strict=True))
    alt = words["mask_alt"].format(name=title, tokens=len(queries), hidden=int((~keep).sum()))

    def explain(cell: Cell) -> None:
        pair = named(queries, cell.row), named(keys, cell.column)
        if groups is None:
            explain_pair(*pair, bool(keep[cell.row, cell.column]), rules(cell.row, cell.column))
        else:
            part = pieces[np.ix_(groups[0][cell.row], groups[1][cell.column])]
            explain_words(*pair, int(part.sum()), part.size)

    figure = chart(mask_picture, keep, queries, keys, KIND_COLORS[kind])
    show_explained(figure, key, alt, explain, hint=hint, place=below)


def show_recorded(batch: Batch, shown: Trace) -> None:
    """Draw the masks that each kind of attention used in the run. Layers with equal masks share a picture; a layer with a
    sliding window has its own. `shown` is the batch's trace, or the same trace with pieces joined to words."""
    words, item = text("masks"), batch.item
    st.markdown(words["recorded"])
    for kind in shown.kinds:
        alike: dict[bytes, list[int]] = {}
        for layer in range(shown.layers(kind)):
            alike.setdefault(_allowed(batch.trace, kind, layer, item).tobytes(), []).append(layer)
        for layers in alike.values():
            title = words["kinds"][kind]
            listed = "" if len(alike) == 1 else words["recorded_layers"].format(layers=", ".join(str(at + 1) for at in layers))
            st.markdown(f"**{title}** {listed}")
            keep = _allowed(batch.trace, kind, layers[0], item)
            _draw(batch, shown, kind, keep, title, f"mask-{kind}-{layers[0]}", partial(_recorded_rules, batch, kind, keep))


def _recorded_rules(batch: Batch, kind: Kind, keep: np.ndarray, query: int, key: int) -> list[Rule]:
    """The rules that explain a cell of a recorded mask. They are inferred from the mask `keep` itself, because another network
    does not tell its rules."""
    pad = batch.view.pipeline.vocabulary(kind.keys).pad
    real = np.array(batch.ids(kind.keys)) != pad
    # A tokenizer without padding has a negative id for it, which says nothing about a token of the text.
    rules = [] if pad < 0 and real[key] else [batch.no_padding(kind.keys, key)]
    if kind.queries != kind.keys:
        return rules
    if not keep[query].any():
        rules.append(batch.no_padding(kind.queries, query))
    # The mask of an encoder that reads a single token looks like that of a decoder.
    if kind == Kind.DECODER and is_causal(keep[np.ix_(real, real)]):
        rules.append(not_later(query, key))
    most = window(keep, real)
    return rules if most is None else [*rules, not_far(query, key, most)]


def _allowed(trace: Trace, kind: str, layer: int, item: int) -> np.ndarray:
    """True for each pair in which the query may attend to the key, in the first head of a layer."""
    return ~trace.hidden(trace.attention_path(kind, layer))[item, 0].numpy()


def _axes(name: str, side: Side, mask: Any) -> tuple[str, ...]:
    """The names of a mask's axes. An axis of size 1 that is broadcast is named `1`."""
    axes = zip(("batch", "head", f"{side} query", f"{side} key"), mask.shape, strict=True)
    # The batch axis keeps its name even for one text, except in the causal mask, which is equal for every text.
    own = () if name == "causal" else ("batch",)
    return tuple(axis if size > 1 or axis in own else "1" for axis, size in axes)


def show_numbers(batch: Batch) -> None:
    """Draw the combined target mask as a folded table of 0 and 1."""
    words = text("masks")
    if table := unfolding(words["numbers"], ":material/table:", "numbers"):
        rows, columns = map(numbered_tokens, map_names(batch.view, batch.trace, "decoder", batch.item))
        keep = batch.trace.masks.target[batch.item, 0].numpy()
        table.caption(words["numbers_caption"].format(kept=int(keep.sum()), total=keep.size))
        table.dataframe(pd.DataFrame(keep.astype("uint8"), rows, columns))


def show_broadcast(trace: Trace, kind: Kind) -> None:
    """Draw the shape of an attention mask above the shape of the scores that it is applied to, axis by axis."""
    words = text("masks")
    mask, scores = trace[kind.mask].values, trace[kind.path(0) / "scores"].shape
    names = ("batch", "head", f"query: {kind.queries}", f"key: {kind.keys}")
    heads = Markup("").join(Markup('<div class="axis">{}</div>').format(name) for name in names)
    rows = [
        tensor_row(words["mask_row"][kind], tuple(mask.shape), scores, names, words),
        tensor_row(words["scores_row"], scores, scores, names, words),
    ]
    template = '{style}<div class="broadcast" style="--kind: {color}"><div class="axis"></div>{heads}{rows}</div>'
    st.html(Markup(template).format(style=STYLE, color=KIND_COLORS[kind], heads=heads, rows=Markup("").join(rows)))


def tensor_row(
    name: str, sizes: tuple[int, ...], wanted: tuple[int, ...], names: tuple[str, ...], words: dict[str, Any]
) -> Markup:
    """An HTML row for a tensor: its name and shape, and on each axis one square for each index. `sizes` are those of the
    tensor, and `wanted` those after broadcasting; the squares of the copies are dashed. `names` are the names of the axes.

    Each cell repeats the name of its axis, because phones hide the row of names above.
    """
    cells = [Markup('<div class="name">{}<br><span class="shape">{}</span></div>').format(name, shape(sizes))]
    square, copy = Markup("<i></i>"), Markup("<i class=copy></i>")
    for axis, called, size, full in zip(("batch", "head", "query", "key"), names, sizes, wanted, strict=True):
        shown = min(full, MOST_SQUARES)
        squares = square * min(shown, size) + copy * (shown - size)
        dots = "…" if full > shown else ""
        copied = size < full or (axis in ("head", "query") and size == 1)
        says = words["same_for"][axis].format(count=full) if copied else words["own_for"][axis].format(count=size)
        cells.append(
            Markup(
                '<div class="cell"><div class="axis">{axis}</div>'
                '<div class="squares" aria-hidden="true">{squares}{dots}</div><div class="says">{says}</div></div>'
            ).format(axis=called, squares=squares, dots=dots, says=says)
        )
    return Markup("").join(cells)
