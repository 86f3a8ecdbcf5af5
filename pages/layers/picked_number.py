"""The number of a clicked cell in the picture of a tensor, and how it was computed."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from pages.layers.stops import title
from pages.layers.tensors import binned, named_place, opened_columns
from pages.shell.view.explained_number import formula_with_numbers, show_number
from pages.shell.view.view import View
from pages.ui.cards import card
from pages.ui.escaping import filled, literal
from pages.ui.format import number, numbered_tokens
from pages.ui.link_values import choose, publish, seed
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.cell import explain
from transformer.analysis.head_steps import attention_step, step_names, tensor_path
from transformer.analysis.provenance import SOURCE_IDS
from transformer.analysis.stop_number import explain_stop
from transformer.analysis.walk import Stop
from transformer.figures import KIND_COLORS
from transformer.figures.panels import TensorView
from transformer.tracing.paths import TensorPath

# Key of the picked number in the session and in the URL; session key of the stop whose picture contains this number.
NUMBER, OF_STOP = "number", "number_of_stop"
HEADS = ("head", "key_head")
WRITTEN = re.compile(r"\d{1,4}(\.\d{1,5}){3}")

# A view of a picture, counted from 0, and the tile, the row and the column of the number in it.
Picked = tuple[int, int, int, int]


def pick_number(views: Sequence[TensorView], view: TensorView, at: tuple[int, int, int]) -> None:
    """Pick the number at `at` (tile, the matrix of one head; row; column) of `view`, one of the tensors `views` of a picture.
    `view` may be only some columns of that tensor. Call this in a callback."""
    tile, row, column = at
    index = next(index for index, each in enumerate(views) if each.path == view.path)
    st.session_state[NUMBER] = (index, tile, row, column + view.first_column)


def say_picked(stops: Mapping[str, Stop], stop: Stop, views: Sequence[TensorView], head: int | None, key: str) -> Picked | None:
    """Draw a line of text above the picture of a stop (a tensor of the run): its inputs and the tensor itself, `views`. `stops`
    has all stops by path. If a number is picked, the line names it, with a link to its computation below the picture, because a
    picture can be higher than the screen. Otherwise the line tells what a click does. Returns the picked number: its index in
    `views`, its tile (matrix of one head), row and column, from 0; None if no number is picked. `head` is the head that the
    picture shows; None for all heads. `key` is the picture's key."""
    words, picked = text("walk")["number"], _picked(stop, views)
    if picked is None:
        hint = "hint_binned" if binned(views) and opened_columns(key, views) is None else "hint"
        st.container(key="walk_hint").caption(words[hint])  # not on a phone: app.css
    else:
        index, *at = picked
        st.caption(f"{_said(stops, views[index], at, head)} · [{words['see']}](#{NUMBER})")
    return picked


def _picked(stop: Stop, views: Sequence[TensorView]) -> Picked | None:
    """The number that is picked in the picture of a stop (a tensor of the run): from a click, or from the URL. None if the
    number was picked at another stop, or if it does not exist."""
    state = st.session_state
    seed(NUMBER, _read, lambda value: value if state.get(OF_STOP) == stop.path else None)
    state[OF_STOP] = stop.path
    picked: Picked | None = state[NUMBER]
    if picked is not None:
        sizes = len(views), *(views[picked[0]].panel.values.shape if picked[0] < len(views) else (0, 0, 0))
        if any(place >= size for place, size in zip(picked, sizes, strict=True)):
            state[NUMBER] = picked = None
    publish(NUMBER, None if picked is None else _written(picked))
    return picked


def _read(written: str | None) -> Picked | None:
    if written is None:
        return None
    if not WRITTEN.fullmatch(written):
        raise ValueError(written)
    index, tile, row, column = map(int, written.split("."))
    return index, tile, row, column


def show_picked(
    view: View,
    trace: Trace,
    stops: Mapping[str, Stop],
    current: Stop,
    drawn: TensorView,
    at: Sequence[int],
    item: int,
    head: int | None,
    go: Callable[[str], None],
) -> None:
    """Draw how a number of the drawn tensor was computed. If the tensor is an input of the current stop (the tensor that the
    page explains), also draw a button that goes to the input.

    Args:
        drawn, at: the drawn tensor, and the number's place in it: tile (matrix of one head), row and column, from 0.
        item, head: the indices, from 0, of the text in the batch and of the head that the picture shows; None for all heads.
        go: called with the path of the tensor to go to.
    """
    words, (tile, row, column) = text("walk"), at
    with card("number"):
        st.html(Markup('<div id="{}"></div>').format(NUMBER))
        st.markdown(_said(stops, drawn, at, head))
        own = stops.get(drawn.path)
        if own is None:
            st.markdown(words["number"]["read"]["ids"])
            return
        head = _head(trace, own, tile) if head is None else head
        if not _explain(view, trace, own, (row, column), item, head):
            st.markdown(_read_from(view, trace, stops, own, (row, column), item, head))
        if own.path != current.path:
            st.caption(words["number"]["input"])
            label, icon = words["go"].format(title=title(own)), ":material/subdirectory_arrow_left:"
            st.button(label, key="number_go", on_click=_follow, args=(go, own, at), icon=icon, help=own.path)


def _follow(go: Callable[[str], None], made: Stop, at: Sequence[int]) -> None:
    """Go to the stop (tensor of the run) `made` that has the number. The number stays picked there, in the result."""
    go(made.path)
    _pick_in_result(made, at)


def pick_result(stop: Stop, at: tuple[int, int, int]) -> None:
    """Pick a number of a stop (a tensor of the run), and show all heads, so that it is in the picture. Call this in a callback.

    Args:
        at: the tile (matrix of one head), the row and the column of the number, from 0, among all heads.
    """
    if "head" in stop.axes:
        choose("head", "all")
    _pick_in_result(stop, at)


def _pick_in_result(stop: Stop, at: Sequence[int]) -> None:
    choose(NUMBER, _written((len(stop.inputs), *at)))


def _written(picked: Iterable[int]) -> str:
    """A picked number as it is written in a URL."""
    return ".".join(map(str, picked))


def _read_from(
    view: View, trace: Trace, stops: Mapping[str, Stop], stop: Stop, cell: tuple[int, int], item: int, head: int
) -> str:
    """The origin, as Markdown, of a number that is not computed from other numbers of the trace: a copy, the row of a table, a
    wave or a mask. For a tensor of another network, that the number was recorded."""
    words, (row, column) = text("walk")["number"]["read"], cell
    if stop.recorded:
        return text("steps")["explanations"]["recorded"].format(path=stop.path)
    made = text("walk")["weight"]["trained" if view.pipeline.trained else "untrained"]
    place = {"row": str(row), "column": str(column), "made": made}
    (given,) = stop.inputs or ("",)
    if given in stops:  # a copy
        place |= {"column": str(head * trace.config.d_head + column) if stop.operation == "split" else str(column)}
        place |= {"input": title(stops[given])}
    elif given:
        side, at = ("source" if given == SOURCE_IDS else "target"), (row if stop.operation == "look up" else column)
        place |= {"id": str(trace.ids_of(side)[item][at]), "token": literal(trace.tokens_of(side)[item][at])}
    elif stop.operation == "waves":
        place |= {"wave": f"${_wave(trace, row, column)}$"}
    return filled(words[stop.operation], **place)


def _wave(trace: Trace, position: int, column: int) -> str:
    """The formula of a number of the sinusoidal positions, as LaTeX."""
    width = trace.config.d_model
    sines = -(-width // 2)
    halves = trace.config.sinusoid_order == "halves"
    is_cosine, pair = divmod(column, sines) if halves else (column % 2, column // 2)
    return rf"\{'cos' if is_cosine else 'sin'}\frac{{{position}}}{{10000^{{{2 * pair}/{width}}}}}"


def _head(trace: Trace, stop: Stop, tile: int) -> int:
    """The index of the head that a tile (matrix) of a stop (a tensor of the run) belongs to. If several heads share the tile's
    keys and values, the first of these heads."""
    sizes = dict(zip(stop.axes, stop.shape, strict=True))
    return tile * trace.config.heads // sizes["key_head"] if "key_head" in sizes else tile


def _said(stops: Mapping[str, Stop], drawn: TensorView, at: Sequence[int], head: int | None) -> str:
    """What a number is, and where, such as `Scores · head 1, query 3 · cat, key 2 · the = 0.5`, as Markdown."""
    tile, *cell = at
    own = stops.get(drawn.path)
    heads = [axis for axis in own.axes if axis in HEADS] if own else []
    names = [f"{axis} {tile + 1}" if head is None else f"head {head + 1}" for axis in heads]
    names += named_place(drawn, *cell)
    value = number(float(drawn.panel.values[tuple(at)]))
    return text("walk")["number"]["is"].format(title=literal(drawn.title), place=", ".join(names), value=value)


def _explain(view: View, trace: Trace, stop: Stop, cell: tuple[int, int], item: int, head: int) -> bool:
    """Draw the computation of one number of a stop (a tensor of the run). Returns False if there is no computation, as for an
    id or a row of a table."""
    path = TensorPath.parse(stop.path)
    model = view.pipeline.model
    if path.kind is not None and path.layer is not None:
        kind, (row, column) = str(path.kind), cell
        names = {tensor_path(trace, kind, path.layer, name): name for name in step_names(trace, kind)}
        name = names.get(stop.path)
        if model is not None and path.branch and path.last == "projected":  # the numbers of `heads` in another order
            name = path.branch
            if "head" not in stop.axes:
                head, column = divmod(column, trace.config.d_head)
        if name is None:
            return False
        step = attention_step(trace, kind, path.layer, head, name, item)
        queries, keys = map(numbered_tokens, trace.tokens(kind, item))
        sides = {"query": queries, "key": keys}
        explained = explain(model, trace, kind, path.layer, head, step.name, row, column, item)
        show_number(step, explained, sides, KIND_COLORS[kind])
        return True
    explained = None if model is None else explain_stop(model, trace, stop, *cell, item)
    if explained is None:
        return False
    st.latex(formula_with_numbers(explained))
    if not explained.agrees:
        st.warning(text("steps")["edited"], icon=":material/edit:")
    return True
