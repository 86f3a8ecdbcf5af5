"""A live training with the visitor's own settings. The curves, one answer and all heads are drawn again about twice a
second."""

from dataclasses import replace

import streamlit as st

from pages.shell.error_boundary import explained, sentence
from pages.shell.models.own_models import OwnModel, own_models
from pages.shell.view.runs import runs
from pages.shell.view.turns import turn
from pages.training.live_desk import LINE, Desk, desk
from pages.training.live_files import show_files
from pages.training.live_pictures import show_curves, show_heads, watched_head
from pages.training.live_return import GONE
from pages.training.live_settings import pick_training
from pages.training.live_sidebar import model_name, offer_when_new, open_copy
from pages.ui.caches import cached
from pages.ui.format import fixed, share, whole
from pages.ui.limits import TEXT_CHARACTERS
from pages.ui.link_values import publish, seed
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer import InputError
from transformer.tracing.paths import Kind
from transformer.training.live_run import LiveTraining, Progress
from transformer.training.live_view import LiveView, live_view
from transformer.training.training_settings import LiveSettings

# Seconds between two drawings of a running training.
PACE = 0.5
ATTENTION = "pages/attention/page.py"


def show_live() -> None:
    """Draw the section of the live training: its settings, the training of this session, and its files."""
    words, session_desk = text("live"), desk()
    st.header(words["title"], anchor="live")
    st.markdown(words["sentence"])
    with explained():
        settings = pick_training()
        watched = _watched(session_desk.training.settings if session_desk.training else settings)
        kinds = text("training")["kinds"]
        kind = pick(words["kind"], [str(kind) for kind in Kind], "live_kind", first=str(Kind.CROSS), labels=kinds)
        label = words["start_over"] if session_desk.training else words["start"]
        icon = ":material/restart_alt:" if session_desk.training else ":material/play_arrow:"
        st.button(label, key="live_start", icon=icon, type="primary", on_click=_start, args=(session_desk, settings))
        st.caption(words["away"])
        if session_desk.training is None:
            st.info(words["gone" if st.session_state.get(GONE) else "nothing"], icon=":material/school:")
        else:
            busy = session_desk.busy
            every = PACE if busy else None
            st.fragment(_show_training, key="live_training", run_every=every)(session_desk, watched, kind, busy)
        show_files(session_desk.training)


def _start(session_desk: Desk, settings: LiveSettings) -> None:
    session_desk.start(settings)
    st.rerun()  # the whole app, because the tab stores the token of the training outside of the page


def _watched(settings: LiveSettings) -> str:
    """Draw the box for the text to watch; returns the text. By default it is the first example of the task that is not longer
    than the texts of the training with these settings, or if all are longer, the first example."""
    words, task = text("live"), settings.make_task()
    examples = [example.source for example in task.examples]
    fitting = [source for source in examples if len(task.source_vocabulary.split(source)) <= task.longest]
    first = (fitting or examples)[0]
    seed("live_text", lambda asked: first if asked is None else asked, lambda value: value[:TEXT_CHARACTERS])
    label, helps = words["example"], words["example_help"]
    value = st.text_input(label, key="live_text", help=helps, width=420)
    publish("live_text", None if value == first else value)
    return value


def _show_training(session_desk: Desk, watched: str, kind: str, was_busy: bool) -> None:
    """Draw the current state of the training. While it runs, Streamlit calls only this function."""
    words, training = text("live"), session_desk.training
    if training is None:
        return
    with turn(), explained():
        progress, place = training.progress, session_desk.place
        # A rerun of the page starts or ends Streamlit's regular calls, and puts the finished model into the sidebar.
        if was_busy != session_desk.busy or offer_when_new(training):
            st.rerun()
        if session_desk.came_back is not None and session_desk.busy:
            st.caption(words["came_back"].format(step=whole(session_desk.came_back)))
        _show_line(training, progress, place)
        _show_buttons(session_desk, progress, place, kind)
        training.watch(watched)
        progress = _with_view(training, progress, watched)
        show_curves(training, progress)
        show_heads(training, progress, kind)


def _with_view(training: LiveTraining, progress: Progress, watched: str) -> Progress:
    """The progress with a view of the text `watched`: the model's answer and attention. A running training computes the view
    itself. For a training that has ended, this function computes the view."""
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
    return live_view(runs().own_pipeline(key), watched, step)


def _show_line(training: LiveTraining, progress: Progress, place: int) -> None:
    """Draw the progress of the training as a line of text and a bar. If it waits, draw only its `place` in the line, from 1."""
    words = text("live")
    if place:
        template = words["waiting_one" if LINE.places == 1 else "waiting"]
        st.info(template.format(place=place, running=LINE.places), icon=":material/hourglass_empty:")
        return
    if progress.status == "failed":
        _show_failure(progress, training)
    if LINE.gave_way(training):
        st.info(words["gave_way"], icon=":material/hourglass_empty:")
    left, checks = progress.seconds_left, progress.checks
    time_left = words["no_left"] if left is None else words["left"].format(time=_time(left))
    st.progress(min(1.0, progress.step / max(1, progress.steps)))
    st.markdown(
        words["line"].format(
            status=words["status"][progress.status],
            step=whole(progress.step),
            steps=whole(progress.steps),
            speed=fixed(progress.steps_per_second, 1),
            left=time_left if progress.alive else "",
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


def _show_buttons(session_desk: Desk, progress: Progress, place: int, kind: str) -> None:
    """Draw the buttons that the training's status allows. `kind` is the kind of attention that is watched."""
    words, training = text("live"), session_desk.training
    assert training is not None
    with st.container(horizontal=True):
        if progress.status == "paused":
            st.button(words["go"], key="live_go", icon=":material/play_arrow:", on_click=training.go)
        elif progress.status == "running":
            st.button(words["pause"], key="live_pause", icon=":material/pause:", on_click=training.pause)
        if place or progress.status in ("starting", "running", "paused"):
            st.button(words["stop"], key="live_stop", icon=":material/stop:", on_click=session_desk.stop)
        if training.can_resume and not place:
            st.button(words["resume"], key="live_resume", icon=":material/play_arrow:", on_click=session_desk.resume)
        if progress.copy is not None:
            name = model_name(training)
            opened = st.button(
                words["open"],
                key="live_open",
                icon=":material/visibility:",
                help=words["open_help"].format(name=name),
                on_click=open_copy,
                args=(training,),
            )
            if opened and name in own_models():
                st.switch_page(ATTENTION, query_params=watched_head(training, progress, kind))
