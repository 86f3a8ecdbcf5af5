"""The film of somebody's own training: attention, loss and norms, from a file that `transformer.Film` wrote."""

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.view.opened_file import opened_file, show_file_box, show_refused
from pages.training.film_curves import go_to
from pages.ui.charts import Chart, chart, show
from pages.ui.file_heads import pick_head, show_head
from pages.ui.format import fixed, whole
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer.analysis.head_measures import SHARES, measure
from transformer.figures.training_figures import Series, step_lines
from transformer.training.film_file import OwnRun, read_run

# Session keys.
RUN, FRAME, LAYER, HEAD = "own_run", "own_frame", "own_layer", "own_head"
NAMED_PARTS = 5  # parameters whose lines have a name: those that changed most


def show_own_run() -> None:
    """Draw the box for a file, and the film in it."""
    words = text("own_run")
    st.header(words["title"], anchor="own")
    run: OwnRun | None = opened_file(RUN)
    st.markdown(words["intro"])
    with st.expander(words["how"], icon=":material/code:", expanded=run is None):
        st.code(words["code"], language="python")
        show_file_box(RUN, words, read_run, forget=(FRAME, LAYER, HEAD))
    show_refused(RUN, words["refused"])
    if run is None:
        st.info(words["empty"], icon=":material/movie:")
        return
    frame = _pick_frame(run)
    groups = {paths[0]: paths for paths in _groups(run)}
    name = pick(words["group"], [*groups], "own_group", as_list=True) if len(groups) > 1 else next(iter(groups))
    _show_heads(run, groups[name], frame)
    _show_losses(run, frame)
    _show_norms(run, frame)


def _pick_frame(run: OwnRun) -> int:
    """Draw the slider and a caption; returns the index of the frame at the slider, which is at first the last frame."""
    words, last = text("own_run"), len(run.steps) - 1
    frame = last
    if last:
        labels = [whole(step) for step in run.steps]
        st.session_state[FRAME] = min(st.session_state.get(FRAME, last), last)
        frame = st.select_slider(words["frame"], range(last + 1), key=FRAME, format_func=lambda index: labels[index])
    loss = run.at(frame)
    values = {"step": whole(run.steps[frame]), "number": frame + 1, "count": last + 1, "loss": fixed(loss, 3)}
    st.caption(words["frame_says" if np.isfinite(loss) else "frame_says_alone"].format(**values))
    return frame


def _groups(run: OwnRun) -> list[list[str]]:
    """The paths of the attentions, grouped by their shape and tokens. A group is drawn together, each attention as a layer."""
    groups: dict[object, list[str]] = {}
    for path, levels in run.levels.items():
        groups.setdefault((levels.shape, run.labels[path]), []).append(path)
    return [*groups.values()]


def _show_heads(run: OwnRun, paths: list[str], frame: int) -> None:
    """Draw all heads of a group in the frame, and the picked one large, with its history."""
    words, labels = text("own_run"), run.labels[paths[0]]
    item = pick(words["text"], range(1, len(labels) + 1), "own_text") - 1 if len(labels) > 1 else 0
    queries, keys = labels[item]
    weights = np.stack([run.weights(path, frame, item) for path in paths])
    allowed = np.ones(weights.shape, dtype=bool)
    layer, head = pick_head("own", weights, allowed, queries, keys)
    st.markdown(words["head_title"].format(path=paths[layer], head=head + 1, step=whole(run.steps[frame])))
    left, right = st.columns(2)
    with left:
        show_head("own-map", weights[layer, head], allowed[layer, head], queries, keys, words["map_alt"])
    with right:
        _show_history(run, paths[layer], head, item, frame)


def _show_history(run: OwnRun, path: str, head: int, item: int, frame: int) -> None:
    """Draw on which keys the head's weight was in each frame: the three measures of `SHARES` that changed most."""
    words, names = text("own_run"), text("training")["measure_names"]
    weights = np.stack([run.weights(path, index, item)[head] for index in range(len(run.steps))])
    shares = {name: values[:, 0] for name, values in measure(weights[:, None]).items() if name in SHARES}
    most = sorted(shares, key=lambda name: -float(np.ptp(shares[name])))
    series = [
        Series(names[name], run.steps, shares[name].tolist(), "first" if name == most[0] else "other") for name in most[:3]
    ]
    figure = chart(step_lines, series, words["share"], words["step"], run.steps[frame], (0.0, 1.0), logarithmic=False)
    _show_lines(run, figure, "own-history", words["history_alt"])
    st.caption(words["history_says"])


def _show_losses(run: OwnRun, frame: int) -> None:
    words = text("own_run")
    st.subheader(words["loss_title"])
    if not np.isfinite(run.losses).any():
        st.caption(words["loss_none"])
        return
    series = [Series(words["loss"], run.loss_steps.tolist(), run.losses.tolist())]
    figure = chart(
        step_lines, series, words["loss"], words["step"], run.steps[frame], _limits(run.losses), logarithmic=False, points=False
    )
    _show_lines(run, figure, "own-loss", words["loss_alt"])


def _show_norms(run: OwnRun, frame: int) -> None:
    """Draw the norm of each parameter, relative to the first frame. The parameters that changed most have a name."""
    words = text("own_run")
    st.subheader(words["norms_title"])
    if not np.isfinite(run.norms).any():  # a module without parameters, or with weights that are NaN from the start
        st.caption(words["norms_none"])
        return
    start = np.where(run.norms[0] > 0, run.norms[0], 1.0)
    relative = run.norms / start
    change = abs(relative[-1] - 1)
    order = np.argsort(-np.nan_to_num(change), kind="stable").tolist()
    series = [
        Series(run.parts[index], run.steps, relative[:, index].tolist(), "context" if place >= NAMED_PARTS else "other")
        for place, index in enumerate(order[:60])
    ]
    figure = chart(
        step_lines, series, words["norm"], words["step"], run.steps[frame], _limits(relative), logarithmic=False, points=False
    )
    _show_lines(run, figure, "own-norms", words["norms_alt"])
    st.caption(words["norms_says"])


def _show_lines(run: OwnRun, figure: Chart, key: str, alt: str) -> None:
    """Draw lines over the steps. A click on a point goes to the nearest frame."""
    show(figure, key, alt, asks={"click": lambda: go_to(key, FRAME, run.steps)})


def _limits(values: Float[np.ndarray, "..."]) -> tuple[float, float]:
    """The limits of an axis: 0, or the smallest finite value if that is negative, and just above the largest finite value."""
    finite = values[np.isfinite(values)]
    return min(0.0, float(finite.min())), 1.05 * max(1e-6, float(finite.max()))
