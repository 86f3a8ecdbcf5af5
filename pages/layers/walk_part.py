"""The walk: every tensor of the run, one at a time. Each tensor is a stop. The current stop is kept in the URL."""

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import groupby
from typing import Any

import streamlit as st

from pages.layers.details import show_details
from pages.layers.picked_number import pick_number, say_picked, show_picked
from pages.layers.stops import group_title, heading, title, written
from pages.layers.tensor_views import in_one_scale, inputs, tensor_of
from pages.layers.tensors import binned, numbers_of_cell, opened_columns, picture, show_all_columns
from pages.shell.frame.history import change_by_itself
from pages.shell.frame.parts import seen
from pages.shell.view.head_links import show_prediction_link, show_training_link
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.component import picked
from pages.ui.format import shape
from pages.ui.link_values import publish, refuse, seed
from pages.ui.pickers import pick, pick_text
from pages.ui.text import language, text
from pages.ui.tree import Line, tree
from transformer import Trace
from transformer.analysis.provenance import UNDESCRIBED
from transformer.analysis.walk import Stop, Taps, taps, walk_of
from transformer.analysis.word_trace import WordTrace
from transformer.figures.panels import TensorView
from transformer.network.config import NetworkConfig
from transformer.tracing.paths import STACK_SIDES, TensorPath

STOP, PLAYING, DUE, OUTLINE, PICTURE = "stop", "walk_playing", "walk_due", "walk_outline", "walk_picture"
DETAILS_HEIGHT = 440  # px of the list of all stops and of the details of the current stop
SHOWN = "walk_shown"  # key of the container of the current stop
# Session key: whether playing has moved the walk since the button Play was pressed.
MOVED = "walk_moved"
# The key of the switch between the short walk and all tensors.
EVERY = "every"
SPEEDS = ("0.5", "1", "2", "4")
# The short walk shows one example of what each kind of part adds. ALONE leads through one {stack}, which reads the tokens of
# one {side}. BESIDE_ENCODER adds the parts of a decoder that an encoder does not have; {last} is the last layer.
ALONE = (
    "{side}_embedding.token",
    "{side}_embedding.sum",
    "{side}_embedding.stream",
    "{stack}.layers.0.self_attention.query.heads",
    "{stack}.layers.0.self_attention.weights",
    "{stack}.layers.0.self_attention.head_output",
    "{stack}.layers.0.self_attention_add_norm.sum",
    "{stack}.layers.0.feed_forward.hidden",
    "{stack}.output",
)
BESIDE_ENCODER = (
    "target_embedding.sum",
    "target_embedding.stream",
    "decoder.layers.0.self_attention.weights",
    "decoder.layers.{last}.cross_attention.weights",
)
END = "probabilities"


def show_walk(view: View, trace: Trace, drawn: Trace) -> None:
    """Draw the buttons and the picker of a stop (a tensor of the run), the picked stop, and the list of all stops. The picture
    shows the numbers of `drawn`, which is `trace`, or the same trace with pieces joined to words."""
    stops = stops_of(trace.config, made := taps(trace))
    by_path = {stop.path: stop for stop in stops}
    # Settings that are set once are below the picture, because on a phone the picture should be on the first screen.
    controls, shown = st.container(), st.container(key=SHOWN)
    settings = st.container(horizontal=True, vertical_alignment="bottom")
    with controls:
        path, steps = _navigation(stops, short_walk(trace.config.decoder_layers, by_path), settings)
    current = by_path[path]
    place = text("walk")["place"].format(number=steps.index(path) + 1, count=len(steps)) if len(steps) < len(stops) else ""
    with shown:
        item = _picture(view, drawn, by_path, current, place)
    if seen("details", DETAILS_HEIGHT):
        left, right = st.columns([1, 2], gap="large")
        with left:
            st.caption(text("walk")["outline"])
            tree(
                _lines(trace.config, made, language()),
                current.path,
                text("walk")["outline"],
                OUTLINE,
                lambda: _go(picked(OUTLINE, list(by_path))),
                open_levels=0,
                only_leaves=True,
            )
        with right:
            show_details(view, trace, by_path, current, item, _go)


# The next two functions are cached by the values that they depend on, because there can be hundreds of stops.
stops_of = cached(walk_of)


@cached
def _lines(config: NetworkConfig, taps: Taps, _language: str) -> list[Line]:
    """The list of all stops (tensors of the run) in the page's language: below each group its stops."""
    words, lines = text("walk"), []
    for name, members in groupby(stops_of(config, taps), lambda stop: stop.group):
        group, stops = group_title(name), [*members]
        lines.append(Line(group, 0, group, "", "", str(len(stops))))
        lines += [Line(stop.path, 1, _listed(stop, words), "", "", shape(stop.shape)) for stop in stops]
    return lines


def _listed(stop: Stop, words: Mapping[str, Any]) -> str:
    """The label of a stop (a tensor of the run) in the list. It contains the sub-layer if several sub-layers have such a stop,
    but not the layer."""
    called = title(stop)
    return f"{words['parts'][stop.part]}: {called}" if stop.kind.startswith(("attention", "add_norm")) else called


# --- stepping -------------------------------------------------------------------------------------------------------------


def short_walk(decoder_layers: int, paths: Collection[str]) -> list[str]:
    """The paths of the tensors in the short walk, which visits one example of each kind of part of the model. Only paths of the
    run (`paths`) are returned. `decoder_layers` is the number of layers of the decoder."""
    stack = next((stack for stack in STACK_SIDES if f"{stack}.output" in paths), "")
    walked = [path.format(stack=stack, side=STACK_SIDES.get(stack, "")) for path in ALONE]
    if stack == "encoder":
        walked += [path.format(last=decoder_layers - 1) for path in BESIDE_ENCODER]
    return [path for path in (*walked, END) if path in paths]


def _navigation(stops: Sequence[Stop], short: Sequence[str], settings: AbstractContextManager) -> tuple[str, list[str]]:
    """Show the buttons for back, next and play and the list of stops (tensors of the run). Show the speed and the switch to all
    tensors in `settings`. Returns the path of the current stop, and the paths to step through."""
    words, paths = text("walk"), [stop.path for stop in stops]
    # The first visit starts at the first step with numbers, because the masks before it often hide nothing.
    first = next((index for index, stop in enumerate(stops) if stop.kind == "embedding.token"), 0)
    # The stop may have been picked in another model and not exist in this one.
    linked = st.query_params.get(STOP)
    if STOP not in st.session_state and linked is not None and linked not in paths:
        refuse(STOP, linked)
    if st.session_state.get(STOP, paths[first]) not in paths:
        st.session_state[STOP] = paths[first]
    label = words["stop"].format(count=len(paths))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        buttons = st.container(horizontal=True, vertical_alignment="bottom", width="content")
        # The list is drawn before the buttons beside it, because it reads the stop from the link.
        chosen = st.selectbox(label, paths, first, key=STOP, bind="query-params", help=words["stop_help"], on_change=_pause)
    with settings:
        paths = _steps(paths, short, chosen)
        seconds = float(pick(words["speed"], SPEEDS, "speed"))
    index = paths.index(chosen)
    last = index + 1 == len(paths)
    playing = bool(st.session_state.get(PLAYING)) and not last
    with buttons:
        _button(words["back"], paths[max(0, index - 1)], index == 0, "Left")
        _button(words["next"], paths[min(len(paths) - 1, index + 1)], last, "Right")
        does, icon = ("pause", "pause") if playing else ("again", "replay") if last else ("play", "play_arrow")
        # The button is never disabled, not even at the end, because a disabled button loses the keyboard's focus.
        again = paths[0] if last else None
        st.button(words[does], key="walk_play", on_click=_play, args=(not playing, again), icon=f":material/{icon}:")
    if playing:
        # A fragment also runs immediately, so `_tick` skips runs before this time.
        st.session_state[DUE] = time.monotonic() + 0.8 * seconds
        st.fragment(_tick, run_every=seconds)(paths)
    return chosen, paths


def _steps(paths: list[str], short: Sequence[str], chosen: str) -> list[str]:
    """Show the switch to all tensors; returns the paths to step through. If the current stop (tensor) is not in the short walk,
    for example because a link names it, the switch is on."""
    if not short:
        return paths

    def leave() -> None:
        if not st.session_state[EVERY]:
            before = [path for path in paths[: paths.index(chosen) + 1] if path in short]
            st.session_state[STOP] = before[-1] if before else short[0]

    seed(EVERY, lambda asked: asked == "true" or chosen not in short, lambda value: value or chosen not in short)
    every = st.toggle(text("walk")["every"].format(count=len(paths), short=len(short)), key=EVERY, on_change=leave)
    publish(EVERY, "true" if every else None)
    return paths if every else list(short)


def _button(label: str, path: str, disabled: bool, shortcut: str) -> None:
    """Draw a button that goes to the stop (the tensor of the run) at `path`. Streamlit draws its keyboard shortcut as an arrow
    after the label."""
    st.button(label, key=f"walk_{shortcut}", on_click=_go, args=(path,), disabled=disabled, shortcut=shortcut)


def _go(path: str | None) -> None:
    """Go to a stop (a tensor of the run) and pause, so that playing does not move on from the stop that the visitor chose. None
    does nothing."""
    if path is not None:
        st.session_state[STOP] = path
        _pause()


def _play(playing: bool, start: str | None = None) -> None:
    st.session_state[PLAYING], st.session_state[MOVED] = playing, False
    if start is not None:
        st.session_state[STOP] = start


def _pause() -> None:
    _play(False)


def _tick(paths: Sequence[str]) -> None:
    """Go to the next stop (tensor of the run). Stop playing at the end."""
    if time.monotonic() < st.session_state.get(DUE, 0.0):
        return
    index = min(len(paths) - 1, paths.index(st.session_state[STOP]) + 1)
    st.session_state[STOP] = paths[index]
    st.session_state[PLAYING] = index + 1 < len(paths)
    if st.session_state[MOVED]:  # the first step is undone by Back, and the others with it
        change_by_itself()
    st.session_state[MOVED] = True
    st.rerun()


# --- one stop -------------------------------------------------------------------------------------------------------------


def _picture(view: View, trace: Trace, stops: Mapping[str, Stop], current: Stop, place: str) -> int:
    """Show the reason for the step in a sentence, and its inputs and result drawn to scale. `place` is the start of the
    heading. Returns the index of the picked text in the batch."""
    words, pipeline = text("walk"), view.pipeline
    st.header(f"{place}{heading(current)}", anchor=False)
    st.markdown(written(current, trace.config)[0])
    item, head = _pickers(trace, stops, current)
    result = tensor_of(pipeline, trace, current, item, head)
    *before, result = in_one_scale(current, [*inputs(pipeline, trace, stops, current, item, head), result])
    names = words["inputs_and"].join(f"{view.title} {view.shape}" for view in before)
    recorded = current.recorded and current.operation == UNDESCRIBED.operation
    operation = words["operation_recorded"] if recorded else words["operations"][current.operation]
    no_inputs = words["not_described" if current.operation == UNDESCRIBED.operation else "nothing"]
    shown = {"inputs": names or no_inputs, "operation": operation, "result": result.title, "shape": result.shape}
    alt = words["picture"].format_map(shown)
    views = [*before, result]
    # Between words, the picture shows sums and means, so its numbers have no computation to show.
    on_number = None if isinstance(trace, WordTrace) else partial(pick_number, views)
    picked = None if on_number is None else say_picked(stops, current, views, head, PICTURE)
    framed = None if picked is None else (views[picked[0]].path, picked[1:])
    picture(before, operation, result, alt, PICTURE, current.path, zooms=True, on_number=on_number, framed=framed)
    if picked is not None:
        show_picked(view, trace, stops, current, views[picked[0]], picked[1:], item, head, _go)
    _explain_picture(views)
    path = TensorPath.parse(current.path)
    if path.layer is not None and path.kind is not None:
        with st.container(horizontal=True):
            show_prediction_link(view, item, path.kind, path.layer, head or 0)
            if head is not None:
                show_training_link(view, item, path.kind, path.layer, head)
    return item


def _explain_picture(views: Sequence[TensorView]) -> None:
    """Explain how to read and use the picture of these tensors."""
    words, opened, wide = text("tensors")["picture"], opened_columns(PICTURE, views), binned(views)
    if opened is not None:
        st.button(words["whole"], on_click=show_all_columns, icon=":material/unfold_more:")
    elif wide:
        each = max(map(numbers_of_cell, wide))
        st.caption(words["binned"].format(titles=", ".join(view.title for view in wide), each=f"1 × {each}"))
    st.caption(words["hint"])


def _pickers(trace: Trace, stops: Mapping[str, Stop], current: Stop) -> tuple[int, int | None]:
    """Show a picker of the text if the batch has several, and of the head if a shown tensor has heads. Returns the index of the
    text, and that of the head; None for all heads."""
    words = text("walk")
    shown = [current, *(stops[path] for path in current.inputs if path in stops)]
    head = None
    left, right = st.columns([1, 4]) if trace.batch_size > 1 else [st.container()] * 2
    with left:
        item = pick_text(trace)
    with right:
        counts = [stop.shape[stop.axes.index("head")] for stop in shown if "head" in stop.axes]
        if counts:
            picked_head = pick(words["head"], ["all", *range(1, counts[0] + 1)], "head")
            head = picked_head - 1 if isinstance(picked_head, int) else None
    return item, head
