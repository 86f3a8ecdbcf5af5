"""Somebody's own module: the tensors that `transformer.watch` recorded, or those that `transformer.compare` set beside ours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from pages.layers.explained_module import explain_compared, explain_recorded, explain_watched, show_tensors
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.opened_file import opened_file, show_file_box, show_refused
from pages.ui.escaping import literal
from pages.ui.file_heads import head_chart, pick_head
from pages.ui.format import named_shape, number, token_at
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer import Watched
from transformer.draw.draw_watched import watched_views
from transformer.figures.panels import tensor_view
from transformer.watching.compared_file import FORMAT, ComparedRun, ComparedTensor, read_compared
from transformer.watching.watched_number import watched_number

# Session keys.
FILE, TENSOR, ITEM, PART = "own_module", "own_tensor", "own_item", "own_part"
MOST_CELLS = 40_000  # cells of a map
CELL, TENSOR_CELL = 16, 20  # px of a cell, of compared tensors and of one tensor
AXES = ("query", "key")


def show_module() -> None:
    """Draw the box for a file, and the tensors of somebody's module in the opened file."""
    words = text("module")
    st.header(words["title"], anchor="module")
    opened: Watched | ComparedRun | None = opened_file(FILE)
    st.markdown(words["intro"])
    with st.expander(words["how"], icon=":material/code:", expanded=opened is None):
        st.code(words["watch_code"], language="python")
        st.code(words["compare_code"], language="python")
        show_file_box(FILE, words, _read, forget=(TENSOR, ITEM))
    show_refused(FILE, words["refused"])
    if opened is None:
        st.info(words["empty"], icon=":material/schema:")
    elif isinstance(opened, Watched):
        _show_watched(opened)
    else:
        _show_compared(opened)


def _read(data: bytes, name: str) -> Watched | ComparedRun:
    """Read a file with watched or with compared tensors. The header of the file tells its kind; the first 8 bytes are the
    length of the header."""
    header = data[: 8 + int.from_bytes(data[:8], "little")]
    return read_compared(data, name) if FORMAT.encode() in header else Watched.from_bytes(data, name)


def _show_watched(watched: Watched) -> None:
    words = text("module")
    counted = {"tensors": len(watched), "attentions": len(watched.attentions)}
    st.caption(words["watched_says" if watched.attentions else "watched_none"].format(**counted))
    if not len(watched):
        return
    # Attentions come first, because they are what most people look for.
    weights = [watched[path].path for path in watched.attentions]
    paths = [*weights, *(step.path for step in watched if step.path not in weights)]
    path = pick(words["tensor"], paths, TENSOR, as_list=True)
    step = watched[path]
    texts = step.shape[step.axes.index("batch")] if "batch" in step.axes else 1
    item = pick(words["text"], range(1, texts + 1), ITEM, as_list=texts > 8) - 1 if texts > 1 else 0
    st.markdown(f"**{literal(path)}** {literal(named_shape(step.axes, step.shape))}")
    if np.prod(step.shape) / texts > MOST_CELLS:
        st.info(words["large"].format(most=MOST_CELLS), icon=":material/zoom_out_map:")
        return
    named = next((each for each in watched.attentions if watched[each].path == path), None)
    alt = words["alt"].format(path=path)
    if named is None:
        views = watched_views(watched, path, item)
        show_tensors(
            step.path,
            views,
            TENSOR_CELL,
            "own-tensor",
            alt,
            lambda view, at: explain_watched(watched, path, item, views.index(view), view, at),
        )
        return
    weights, allowed = watched.weights(named)[item, None].float().numpy(), watched.allowed(named)[item, None].numpy()
    names = watched.labels(named, item)
    layer, head = pick_head("module", weights, allowed, *names)
    st.markdown(f"**{text('attention')['head']} {head + 1}**")
    shown, strongest = head_chart(weights[layer, head], allowed[layer, head], *names)

    def explain_weight(cell: Cell) -> None:
        place = [f"{axis} {token_at(at, literal(of[at]))}" for axis, at, of in zip(AXES, cell[2:], names, strict=True)]
        computed = watched_number(watched, path, item, head, cell.row, cell.column)
        explain_recorded(path, place, float(weights[layer, head, cell.row, cell.column]), computed)

    show_explained(shown, "own-tensor", f"{alt} {strongest}", explain_weight, tells=True)


def _show_compared(run: ComparedRun) -> None:
    words = text("module")
    lines = [f"- {literal(line[2:])}" if line.startswith("- ") else f"\n{literal(line)}\n" for line in run.says]
    st.markdown("\n".join(lines))
    by_path = {tensor.path: tensor for tensor in run.tensors}
    labels = {path: f"{_sign(run, tensor)} {path}" for path, tensor in by_path.items()}
    first = run.first if run.first in by_path else None
    path = pick(words["tensor"], [*by_path], TENSOR, first=first, as_list=True, labels=labels)
    tensor = by_path[path]
    says = {"path": literal(path), "difference": number(tensor.difference, 2)}
    if tensor.theirs is None:
        st.warning(words["absent"].format(**says), icon=":material/block:")
    elif tensor.difference <= run.tolerance:
        st.success(words["same"].format(**says), icon=":material/check:")
    else:
        st.warning(words["first_differs" if path == run.first else "differs"].format(**says), icon=":material/difference:")
    _show_three(run, tensor)


def _sign(run: ComparedRun, tensor: ComparedTensor) -> str:
    return "✓" if tensor.difference <= run.tolerance else "✗"


def _show_three(run: ComparedRun, tensor: ComparedTensor) -> None:
    """Draw one matrix of our tensor, the same of the nearest of their tensors, and theirs − ours. If they have no such tensor,
    draw only ours."""
    words, (ours, theirs, axes) = text("module"), _matrix(tensor)
    if ours.size > MOST_CELLS:
        st.info(words["large"].format(most=MOST_CELLS), icon=":material/zoom_out_map:")
        return
    sides = _labels(run, tensor, axes, ours.shape)
    scale = "weights" if tensor.path.endswith(".weights") else "signed"
    views = [tensor_view(words["ours"], ours, axes, scale, sides)]
    if theirs is not None:
        views.append(tensor_view(words["theirs"], theirs, axes, scale, sides))
        views.append(tensor_view(words["change"], theirs - ours, axes, "signed", sides))

    first, second = views[0], views[1] if theirs is not None else None
    show_tensors(
        tensor.path,
        views,
        CELL,
        "own-compared",
        words["compared_alt"].format(path=tensor.path),
        lambda _, at: explain_compared(tensor.path, first, second, at),
    )


def _matrix(tensor: ComparedTensor) -> tuple[np.ndarray, np.ndarray | None, tuple[str, str]]:
    """Draw a picker of an index for each axis but the last two, such as the heads. Returns the picked matrix of our tensor,
    that of theirs (None if they have none), and the names of its two axes."""
    ours, theirs, axes = tensor.ours, tensor.theirs, list(tensor.axes)
    while len(axes) > 2:
        count = ours.shape[0]
        place = pick(axes[0], range(1, count + 1), f"{PART}_{axes[0]}") - 1 if count > 1 else 0
        ours, theirs, axes = ours[place], None if theirs is None else theirs[place], axes[1:]
    if len(axes) == 1:
        ours, theirs, axes = ours[None], None if theirs is None else theirs[None], ["", *axes]
    return ours, theirs, (axes[0], axes[1])


def _labels(run: ComparedRun, tensor: ComparedTensor, axes: Sequence[str], shape: Sequence[int]) -> dict[str, Any]:
    """Axis → labels of its tokens, for each axis that has as many labels as its size."""
    stack = "target" if tensor.path.startswith(("target", "decoder", "logits")) else "source"
    keys = "source" if "cross_attention" in tensor.path else stack
    of_axis = {"query": stack, "key": keys, "source": "source", "target": "target"}
    named = {axis: run.labels.get(of_axis.get(axis, ""), ()) for axis in axes}
    sizes = dict(zip(axes, shape, strict=True))
    return {axis: row for axis, row in named.items() if row and len(row) == sizes[axis]}
