"""The history of a head: its measures at every frame of the training, and the frame at which it changed most."""

from collections.abc import Mapping

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.view.runs import runs
from pages.shell.view.turns import computed
from pages.training.film_curves import go_to
from pages.training.films import Film, tests
from pages.training.frames import SNAPSHOT, Frames
from pages.ui.caches import cached
from pages.ui.charts import chart, show
from pages.ui.escaping import quoted
from pages.ui.format import fixed, whole
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer.analysis.head_measures import MEASURES, SHARES, alignment_mask, measure
from transformer.figures.training_figures import Series, step_lines
from transformer.tasks import TASKS
from transformer.tracing.paths import Kind
from transformer.training.evaluation import head_shifts

SHIFT = "shift"
REFERENCES = 8  # the number of pairs of sentences with a pronoun


@cached
def measures(film: Film, kind: str) -> Mapping[str, Float[np.ndarray, "frame layer head"]]:
    """Name of a measure → its value at each frame (saved state), for every head of one kind of attention, on a film's text."""
    aligned, traces = None, [film.trace(index) for index in range(len(film.frames.names))]
    trace, task = traces[-1], TASKS.get(film.frames.pipeline(-1).card.task)
    if Kind.of(kind) == Kind.CROSS and task is not None:
        read, written = trace.source_tokens[0][1:-1], trace.target_tokens[0][1:]
        aligned = alignment_mask(task.alignment(read, written), len(written) + 1, len(read) + 2)
    of_frames = [measure(trace.attention(kind)[:, 0].numpy(), aligned) for trace in traces]
    return {name: np.stack([values[name] for values in of_frames]) for name in MEASURES if name in of_frames[0]}


@cached
def shifts(frames: Frames) -> Float[np.ndarray, "frame layer head"] | None:
    """How much attention each cross-attention head moves from one noun to the other when a changed adjective changes the noun
    that a pronoun refers to (`head_shifts`, from −1 to 1), at each frame. None if the task has no pronouns."""
    task = TASKS.get(frames.pipeline(-1).card.task)
    pairs = task.reference_pairs(REFERENCES, "film") if task else []
    return np.stack([head_shifts(runs().own_pipeline(name), pairs) for name in frames.names]) if pairs else None


def largest_change(values: Float[np.ndarray, " frame"]) -> int:
    """The index of the frame at the end of the largest change between two neighbouring frames. Needs two frames or more."""
    return int(abs(np.diff(values)).argmax()) + 1


def show_head_history(film: Film, frame: int, kind: str, layer: int, head: int) -> None:
    """Draw a measure of a head over the training steps, with the lines of all other heads of its kind behind it, and a button
    that goes to the frame at which the measure changed most. `frame` (saved state), `layer` and `head` are counted from 0."""
    words, frames = text("training"), film.frames
    st.markdown(words["turned_text"])
    recipe = frames.pipeline(-1).card.recipe
    if recipe.get("turning"):
        place = {name: whole(recipe[name]) for name in ("turning_layer", "turning_head", "turning_from")}
        st.markdown(words["told"].format(**place))
    by_measure = dict(computed(words["running"], measures, film, kind))
    names = list(by_measure)
    turning = frames.pipeline(-1).card.measures.get("pronouns", {})
    if kind == Kind.CROSS and turning:
        names.append(SHIFT)
    shares = {name: by_measure[name][-1, layer, head] for name in SHARES if name in by_measure}
    if SHIFT in names and (layer + 1, head + 1) == (turning.get("layer"), turning.get("head")):
        first = SHIFT
    else:
        first = "alignment" if "alignment" in shares else max(shares, key=lambda name: shares[name])
    picked = pick(words["measure"], names, "measure", first=first, as_list=True, labels=words["measure_names"])
    if picked == SHIFT:
        moved = computed(words["shift_running"], shifts, frames)
        if moved is None:
            return
        by_measure[SHIFT] = moved
    values = by_measure[picked]
    mine = values[:, layer, head]
    name = words["head_name"].format(kind=words["kinds"][kind], layer=layer + 1, head=head + 1)
    lines = [Series(name, frames.steps, mine.tolist())]
    for other in np.ndindex(values.shape[1:]):
        if other != (layer, head):
            label = words["head_short"].format(layer=other[0] + 1, head=other[1] + 1)
            lines.append(Series(label, frames.steps, values[:, *other].tolist(), "context"))
    limits = (-1.02, 1.02) if picked == SHIFT else (-0.02, 1.02) if picked in SHARES else None
    title = words["measure_names"][picked]
    figure = chart(step_lines, lines, title, words["steps"], frames.steps[frame], limits)
    asks = {"click": lambda: go_to("head-history", SNAPSHOT, frames.steps)}
    alt = words["turned_alt"].format(head=name, measure=title)
    show(figure, "head-history", alt, f"{frames.model}-{picked}", asks=asks)
    st.caption(words["meanings"][picked].format(source=quoted(film.source), pairs=REFERENCES))
    after = largest_change(mine)
    numbers = {"before": fixed(mine[after - 1], 2), "after": fixed(mine[after], 2)}
    first, last = (whole(step) for step in frames.steps[after - 1 : after + 1])
    says, tested = words["turned"].format(**numbers, first=first, last=last), tests(frames)
    if tested:
        # As counts: the curves above also have shares recorded in training, of more pairs.
        before, now = (whole(round(each.exact * each.pairs)) for each in tested[after - 1 : after + 1])
        exact, same = {"before": before, "after": now, "pairs": whole(tested[after].pairs)}, before == now
        says += " " + words["turned_exact_same" if same else "turned_exact"].format(**exact)
    st.markdown(says)
    label = words["jump"].format(step=last)
    st.button(label, key="jump", icon=":material/my_location:", on_click=_go, args=(after,))


def _go(frame: int) -> None:
    st.session_state[SNAPSHOT] = frame
