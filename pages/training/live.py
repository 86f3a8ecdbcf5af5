"""A training on the visitor's own settings, here and now: growing curves, one answer and all heads, about twice a second."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell.error_boundary import explained, sentence
from pages.shell.examples import starts
from pages.shell.own_models import OwnModel, add_own, own_models, own_name
from pages.shell.parts import seen
from pages.shell.runs import runs
from pages.shell.sidebar import take
from pages.shell.turns import turn
from pages.training.live_desk import LINE, Desk, desk
from pages.training.live_files import show_files
from pages.training.live_settings import pick_training
from pages.ui.caches import cached
from pages.ui.component import mounted
from pages.ui.escaping import literal
from pages.ui.export_menu import saving
from pages.ui.format import fixed, share, whole
from pages.ui.head_grid import overview
from pages.ui.limits import TEXT_CHARACTERS
from pages.ui.link_values import publish, seed
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer import InputError
from transformer.analysis.head_measures import alignment_mask, measure, strongest
from transformer.figures import KIND_COLORS
from transformer.tracing.paths import Kind
from transformer.training.live import LiveTraining, Progress
from transformer.training.live_view import LiveView, live_view
from transformer.training.settings import LiveSettings
from transformer.worlds import world

# Seconds between two pictures of a training that runs.
PACE = 0.5
# Points of a curve; each is the mean of a stretch of steps.
POINTS = 240
CURVES, HEADS = "live_curves", "live_heads"
# Session key: the training whose model is in the sidebar, and the step at which it ended, or None.
REMEMBERED = "live_remembered"
ATTENTION = "pages/attention/page.py"

_mount = mounted(Path(__file__).with_name("live_curves"))


def show_live() -> None:
    """Draw the section: settings, the training of this session, and its files."""
    words = text("live")
    st.header(words["title"])
    st.markdown(words["sentence"])
    if not seen("live", 900):
        return
    here = desk()
    with explained():
        settings = pick_training()
        watched = _watched(settings)
        kind = pick(words["kind"], [str(kind) for kind in Kind], "live_kind", first=str(Kind.CROSS))
        label = words["start_over"] if here.training else words["start"]
        icon = ":material/restart_alt:" if here.training else ":material/play_arrow:"
        st.button(label, key="live_start", icon=icon, type="primary", on_click=here.start, args=(settings,))
        st.caption(words["away"])
        if here.training is None:
            st.info(words["nothing"], icon=":material/school:")
        else:
            busy = here.busy
            st.fragment(_show_training, key="live_training", run_every=PACE if busy else None)(here, watched, kind, busy)
        show_files(here.training)


def _watched(settings: LiveSettings) -> str:
    """The text to watch; at first an example of the world that is no longer than the texts of the training."""
    words, task = text("live"), settings.make_world()
    examples = [example.source for example in task.examples]
    fitting = [source for source in examples if len(task.source_vocabulary.split(source)) <= task.longest]
    first = (fitting or examples)[0]
    seed("live_text", lambda asked: first if asked is None else asked[:TEXT_CHARACTERS], lambda value: value)
    label, helps = words["example"], words["example_help"]
    value = st.text_input(label, key="live_text", max_chars=TEXT_CHARACTERS, help=helps, width=420)
    publish("live_text", None if value == first else value)
    return value


def model_name(training: LiveTraining) -> str:
    """The name in the sidebar of the model in training."""
    return own_name(training.settings.world)


def _show_training(here: Desk, watched: str, kind: str, was_busy: bool) -> None:
    """Draw the training as it is now. While it runs, Streamlit calls this alone."""
    training = here.training
    if training is None:
        return
    with turn(), explained():
        progress, place = training.progress, here.place
        if (was_busy and not here.busy) or _remember_end(training):
            st.rerun()  # so that this is not called any more, and the sidebar has the model as it is at the end
        if not was_busy and here.busy:
            st.rerun()
        _show_line(training, progress, place)
        _show_buttons(here, progress, place)
        training.watch(watched)
        progress = _with_view(training, progress, watched)
        _show_curves(training, progress)
        _show_heads(training, progress, kind)


def _with_view(training: LiveTraining, progress: Progress, watched: str) -> Progress:
    """The progress with a view of the watched text; of a training that has ended, nobody else makes one."""
    name = model_name(training)
    shown = progress.view is not None and progress.view.text == watched
    if progress.alive or shown or progress.copy is None or name not in own_models():
        return progress
    try:
        return replace(progress, view=_view(own_models()[name], watched, progress.copy.step), unreadable=None)
    except InputError as problem:
        return replace(progress, unreadable=(watched, sentence(problem)))


@cached
def _view(key: OwnModel, watched: str, step: int) -> LiveView:
    return live_view(runs().pipeline(key), watched, step)


def _remember_end(training: LiveTraining) -> bool:
    """Put the model into this session's sidebar when it is there for the first time, and when it has come to an end; whether
    that was now."""
    progress, name = training.progress, model_name(training)
    if progress.copy is None:
        return False
    known, end = st.session_state.get(REMEMBERED), None if progress.alive else progress.copy.step
    if known and known[0] is training and name in own_models() and (progress.alive or known[1] == end):
        return False
    _remember(training, progress)
    st.session_state[REMEMBERED] = training, end
    return True


def _remember(training: LiveTraining, progress: Progress) -> None:
    """Give the session the latest copy of the model."""
    copy, words = progress.copy, text("live")
    if copy is not None:
        about = words["about"].format(
            world=training.settings.world, step=whole(copy.step), steps=whole(training.settings.steps)
        )
        add_own(model_name(training), copy.data, about)


def _show_line(training: LiveTraining, progress: Progress, place: int) -> None:
    """Draw where the training is, in a line of text and a bar."""
    words = text("live")
    if place:
        template = words["waiting_one" if LINE.places == 1 else "waiting"]
        st.info(template.format(place=place, running=LINE.places), icon=":material/hourglass_empty:")
        return
    if progress.status == "failed":
        _show_failure(progress, training)
    left = progress.seconds_left if progress.alive else 0
    checks = progress.checks
    st.progress(min(1.0, progress.step / max(1, progress.steps)))
    st.markdown(
        words["line"].format(
            status=words["status"][progress.status],
            step=whole(progress.step),
            steps=whole(progress.steps),
            speed=fixed(progress.steps_per_second, 1),
            left=words["no_left"] if left is None else words["left"].format(time=_time(left)),
            exact=share(checks[-1][1], 1) if checks else words["no_check"],
        )
    )
    if progress.status == "done" and progress.step < progress.steps:
        minutes = training.settings.minutes
        says = words["out_of_time"].format(minutes=minutes, step=whole(progress.step), steps=whole(progress.steps))
        st.warning(says, icon=":material/timer_off:")


def _show_failure(progress: Progress, training: LiveTraining) -> None:
    words = text("live")
    if progress.problem == "diverged":
        st.error(words["failed_diverged"].format(step=whole(progress.step)), icon=":material/trending_up:")
        return
    says = words["failed_crashed"].format(code=progress.exit_code, step=whole(progress.step))
    resumes = f" {words['failed_resumes']}" if training.can_resume else ""
    st.error(says + resumes, icon=":material/error:")


def _time(seconds: float) -> str:
    words, count = text("live"), round(seconds)
    if count < 60:
        return words["seconds"].format(seconds=count)
    return words["minutes"].format(minutes=count // 60, seconds=count % 60)


def _show_buttons(here: Desk, progress: Progress, place: int) -> None:
    """Draw what can be done with the training now."""
    words, training = text("live"), here.training
    assert training is not None
    with st.container(horizontal=True):
        if progress.status == "paused":
            st.button(words["go"], key="live_go", icon=":material/play_arrow:", on_click=training.go)
        elif progress.status == "running":
            st.button(words["pause"], key="live_pause", icon=":material/pause:", on_click=training.pause)
        if place or progress.status in ("starting", "running", "paused"):
            st.button(words["stop"], key="live_stop", icon=":material/stop:", on_click=here.stop)
        if training.can_resume and not place:
            st.button(words["resume"], key="live_resume", icon=":material/play_arrow:", on_click=here.resume)
        if progress.copy is not None:
            name = model_name(training)
            opened = st.button(
                words["open"],
                key="live_open",
                icon=":material/visibility:",
                help=words["open_help"].format(name=name),
                on_click=_open,
                args=(training,),
            )
            if opened and name in own_models():
                st.switch_page(ATTENTION, query_params={})


def _open(training: LiveTraining) -> None:
    """Make a copy of now the model of the sidebar. Called before the app runs again, so nobody's turn is used up by waiting."""
    training.copy()
    _remember(training, training.progress)
    name = model_name(training)
    if st.session_state["model"] != name:
        take(starts(name)[0])
        st.session_state["model"] = name


def _show_curves(training: LiveTraining, progress: Progress) -> None:
    """Draw the curves and the answer, and the menu that saves them."""
    words = text("live")
    data = {
        "steps": progress.steps,
        "curves": {
            "loss": thinned(progress.losses),
            "accuracy": [list(check) for check in progress.checks],
            "rate": thinned(progress.rates),
        },
        "answer": answer_of(progress.view, training) if progress.view else None,
        "text": words["curves"],
    }
    _mount(key=CURVES, data=data)
    if progress.unreadable:
        watched, problem = progress.unreadable
        st.warning(words["unreadable"].format(text=literal(watched), problem=literal(problem)), icon=":material/help:")
    saving(CURVES, f"{model_name(training)}-{words['curves_name']}", lambda: curve_table(training.progress))


def thinned(values: tuple[float, ...], most: int = POINTS) -> list[list[float]]:
    """(step, value) of a curve with at most so many points; each is the mean of a stretch of steps, and stands at its last."""
    count = len(values)
    if count <= most:
        return [[step, value] for step, value in enumerate(values, 1)]
    ends = [round(count * index / most) for index in range(most + 1)]
    return [[end, float(np.mean(values[start:end]))] for start, end in itertools.pairwise(ends)]


def curve_table(progress: Progress) -> pd.DataFrame:
    """Loss and learning rate of each step, and the accuracy where it was tested."""
    steps = range(1, len(progress.losses) + 1)
    table = pd.DataFrame({"loss": progress.losses, "learning_rate": progress.rates}, index=pd.Index(steps, name="step"))
    return table.assign(accuracy=pd.Series(dict(progress.checks), dtype=float))


def answer_of(view: LiveView, training: LiveTraining) -> dict[str, Any]:
    """The answer of a view for the component: each token with its probability and whether it is right."""
    split = world(training.settings.world).target_vocabulary.split
    expected = None if view.right is None else [*split(view.right), None]  # at the end it should end
    tokens = []
    for index, (token, probability) in enumerate(zip(view.written, view.probabilities, strict=True)):
        right = None
        if expected is not None:
            ends = view.ended and index == len(view.written) - 1
            right = index < len(expected) and (None if ends else token) == expected[index]
        tokens.append({"token": token, "share": round(probability, 4), "right": right})
    right = None if view.right is None else view.answer == view.right and view.ended
    return {
        "step": view.step,
        "text": view.text,
        "tokens": tokens,
        "right": right,
        "expected": view.right,
        "ended": view.ended,
    }


def _show_heads(training: LiveTraining, progress: Progress, kind: str) -> None:
    """Draw all heads of a kind, and the head that points best."""
    words, view = text("live"), progress.view
    if view is None:
        st.caption(words["heads_waits"])
        return
    queries, keys = view.tokens[kind]
    pointing = _pointing(training, view)
    selected = pointing[0][:2] if pointing and kind == Kind.CROSS else (0, 0)
    overview(view.weights[kind], view.allowed[kind], queries, keys, selected, KIND_COLORS[kind], HEADS)
    saving(HEADS, f"{model_name(training)}-{kind}-all-heads")
    for template, found in zip((words["head"], words["line_head"]), pointing, strict=False):
        layer, head, value = found
        st.markdown(template.format(layer=layer + 1, head=head + 1, share=share(value)))


def _pointing(training: LiveTraining, view: LiveView) -> list[tuple[int, int, float]]:
    """The head of cross-attention with most weight on the tokens that the answer needs, and the one with most along the
    anti-diagonal: layer, head and that share. Empty for a world without a rule for it, or an answer that is cut off."""
    task = world(training.settings.world)
    queries, keys = view.tokens["cross"]
    source, target = list(keys[1:-1]), list(queries[1:])
    pairs = task.alignment(source, target) if view.right is not None and len(target) <= len(source) else None
    mask = alignment_mask(pairs, len(queries), len(keys)) if pairs else None
    if mask is None or not mask.any():
        return []
    measures = measure(view.weights["cross"], mask)
    found = []
    for name in ("alignment", "anti-diagonal"):
        layer, head = strongest(measures[name])
        found.append((layer, head, float(measures[name][layer, head])))
    return found if training.settings.world == "reverse" else found[:1]
