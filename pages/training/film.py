"""The film: a slider over the frames of a training, with curves, the answer to the visitor's text, and every head's map.

For a new text, only the frame at the cursor is run. When the visitor first points at the film, focuses or presses it, or starts
playing, the browser asks for all frames. They are sent together, so moving between them needs no request. When the slider
stops, the browser sends the frame to the server.
"""

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import UInt8

from pages.shell.error_boundary import explained
from pages.shell.frame.body import BODY, draw_alone
from pages.shell.models.catalogue import snapshot_of
from pages.shell.view.runs import right_answer, runs
from pages.shell.view.turns import turn
from pages.shell.view.view import View
from pages.training.frames import Frames
from pages.ui import head_grid
from pages.ui.caches import cached
from pages.ui.chart import event
from pages.ui.charts import chart, show
from pages.ui.compat import key_class
from pages.ui.component import BARS_STYLE, PLAYBACK_STYLE, mounted, parcel
from pages.ui.escaping import quoted
from pages.ui.export_menu import saving
from pages.ui.format import fixed, share, whole
from pages.ui.link_values import publish, seed
from pages.ui.text import text
from pages.ui.waiting import waited
from transformer import Trace
from transformer.analysis.label_smoothing import least_loss
from transformer.figures import KIND_COLORS
from transformer.figures.attention_figures import quantized
from transformer.figures.training_figures import Curve, curve_panels
from transformer.pipeline.pipeline import Answer
from transformer.tasks import TASKS
from transformer.training.held_out import HeldOut, held_out

KEY, CURVES, FRAGMENT, SNAPSHOT, ROW = "training_film", "film_curves", "film_frames", "snapshot", "token"
# Session key: the name of the film whose frames the browser has asked for.
ASKED = "film_asked"
CHECKED = 32  # held-out pairs on which each frame is tested
MOST_BARS = 6  # this many tokens of a distribution have their own bar

_mount = mounted(Path(__file__).with_suffix(""), PLAYBACK_STYLE, BARS_STYLE, Path(head_grid.__file__).with_suffix(".css"))


class Film(NamedTuple):
    """The runs of all frames of a training on one text. A frame is run when it is first needed, once for all sessions.

    Attributes:
        frames: the frames of the training.
        source: the text.
        target: the text that the decoder reads at every frame. It is the same for all, so that the frames can be compared.
    """

    frames: Frames
    source: str
    target: str

    @property
    def name(self) -> str:
        """A string that is different for every film."""
        return json.dumps([self.frames.model, self.source, self.target])

    @property
    def right(self) -> str | None:
        """The right answer, if the model's task knows it."""
        return right_answer(self.frames.pipeline(-1).card.task, self.source)

    def answer(self, index: int) -> Answer:
        """The answer of a frame. If the right answer is known, the answer is cut off one token after the right answer's length:
        a model that has not learnt to stop would write to its limit, with a forward pass for each token. Raises `InputError` if
        the frame cannot read the text."""
        pipeline = self.frames.pipeline(index)
        most = None if self.right is None else 1 + len(pipeline.target_vocabulary.split(self.right))
        encoding = runs().encoding(self.frames.names[index], "source", self.source)
        return pipeline.answers([encoding], max_new_tokens=most)[0]

    def trace(self, index: int) -> Trace:
        """The trace of a frame that reads the source and the target. Raises `InputError` if the frame cannot read them."""
        return runs().trace(self.frames.names[index], (self.source,), (self.target,), ())


def film_of(view: View, frames: Frames) -> Film:
    """The film of the view's first text."""
    return Film(frames, view.source, _target_of(view, frames))


def _target_of(view: View, frames: Frames) -> str:
    """The target that every frame reads: the typed target, or otherwise the right answer of the model's task, or otherwise the
    answer of the shipped model."""
    if isinstance(view.target, Answer):  # an answer that the decoder is forced to read
        return frames.pipeline(-1).as_target(view.target)
    if view.target is not None:
        return view.target
    right = right_answer(frames.pipeline(-1).card.task, view.source)
    if right is not None:
        return right
    return frames.pipeline(-1).as_target(runs().answer(frames.names[-1], view.source, ()))


@cached
def tests(frames: Frames) -> tuple[HeldOut, ...]:
    """The test of each frame on held-out pairs; empty if the model's task is not known."""
    return tuple(tested for name in frames.names if (tested := _test(name)))


def _test(name: str) -> HeldOut | None:
    """The test of a frame on the first held-out pairs of its task, with the label smoothing of its training; None if the task
    is not known."""
    pipeline = runs().own_pipeline(name)
    task = TASKS.get(pipeline.card.task)
    if task is None:
        return None
    pairs = list(itertools.islice(task.pairs("held-out", "film"), CHECKED))
    return held_out(pipeline, pairs, float(pipeline.card.recipe["label_smoothing"]))


def show_film(film: Film, frame: int, view: View, kind: str, layer: int, head: int) -> None:
    """Draw the film."""
    words, frames = text("training"), film.frames
    waited(words["running"], tests, frames)
    _show_curves(film)
    # A fragment, so that the frames that the browser asks for are sent without running the rest of the page.
    st.fragment(_mount_film, key=FRAGMENT)(film, view, kind, layer, head)
    with st.container(horizontal=True):
        saving(KEY, f"{frames.model}-{frames.steps[frame]:06d}", lambda: table(film))
        st.download_button(
            words["card"],
            lambda: json.dumps(json.loads(frames.pipeline(-1).card.to_json()), ensure_ascii=False, indent=1),
            f"{frames.model}-card.json",
            "application/json",
            icon=":material/data_object:",
            type="tertiary",
            help=words["card_help"],
            on_click="ignore",
        )
    st.caption(_caption(film))


def _show_curves(film: Film) -> None:
    """Draw the loss and the accuracy over the steps: recorded in training, and computed now for each frame. A click on a point
    goes to its frame. The film's script marks the step of the frame."""
    words, frames, tested = text("training")["film"], film.frames, tests(film.frames)
    curves, courses = [], []
    for name, values in (("loss", [each.loss for each in tested]), ("accuracy", [each.exact for each in tested])):
        recorded = [(float(entry["step"]), float(entry[name])) for entry in history(frames)]
        computed = [(float(step), float(value)) for step, value in zip(frames.steps, values, strict=False)]
        most = 1.0 if name == "accuracy" else 1.05 * max([1e-9, *(value for _, value in [*recorded, *computed])])
        curves.append(Curve(words[name], recorded, most, "", computed, ".0%" if name == "accuracy" else ""))
        if course := computed if len(computed) > 1 else recorded:
            courses.append(_course(name, course[0], course[-1]))
    names = (words["recorded"], words["computed"].format(pairs=CHECKED))
    figure = chart(curve_panels, curves, frames.steps[-1], words["axis"], names, logarithmic=True, height=250)
    asks = {"click": lambda: _go_to(frames, event(CURVES, "click").get("data"))}
    show(figure, CURVES, " ".join(courses), f"{frames.model}-curves", asks=asks, tells=True, table=lambda: table(film))


def _course(name: str, first: tuple[float, float], last: tuple[float, float]) -> str:
    """A sentence about the first and the last point (step, value) of a curve."""
    values = [share(value) if name == "accuracy" else fixed(value, 2) for _, value in (first, last)]
    steps = {"from": whole(int(first[0])), "to": whole(int(last[0]))}
    return text("training")["film"][f"{name}_alt"].format(**steps, first=values[0], last=values[1])


def _go_to(frames: Frames, step: Any) -> None:
    """Go to the frame nearest to a step."""
    if isinstance(step, int | float) and math.isfinite(step):
        distances = [abs(each - step) for each in frames.steps]
        st.session_state[SNAPSHOT] = distances.index(min(distances))


def _caption(film: Film) -> str:
    """The caption that explains the numbers of the film, and special settings of its training."""
    words, pipeline = text("training"), film.frames.pipeline(-1)
    recipe, says = pipeline.card.recipe, [words["film_caption"].format(target=quoted(film.target))]
    if pipeline.config.dropout:
        says.append(words["film_dropout"])
    if recipe["label_smoothing"]:
        least = least_loss(len(pipeline.target_vocabulary), recipe["label_smoothing"])
        says.append(words["film_smoothing"].format(least=fixed(least, 2)))
    if recipe.get("hard"):
        says.append(words["film_hard"].format(step=recipe["hard_from"], drawn=recipe["hard"]))
    return " ".join(says)


def _mount_film(film: Film, view: View, kind: str, layer: int, head: int) -> None:
    """Send the frame at the cursor to the browser, or all frames if the browser has asked for them. When it asks, Streamlit
    calls only this function. The arguments are as for `show_film`."""
    with turn(), explained():
        frames, frame = film.frames, pick_frame(view, film.frames)
        shown = tuple(range(len(frames.names))) if st.session_state.get(ASKED) == film.name else (frame,)
        trace, maps = film.trace(frame), _maps(film, shown, kind)
        vocabulary = frames.pipeline(-1).target_vocabulary
        # The ids of the tokens that the rows of the decoder should predict.
        expected = [*trace.target_ids[0][1:], vocabulary.eos]
        queries, keys = trace.tokens(kind)
        data = {
            "film": film.name,
            "frames": _sent_frames(film, shown),
            "curves": key_class(CURVES).removeprefix("st-key-"),
            "target": list(vocabulary.tokens_of(expected)),
            "frame": frame,
            "row": _row(len(expected)),
            "grid": head_grid.grid_data(maps.shape[1:], queries, keys, (layer, head), KIND_COLORS[kind]),
            "text": text("training")["film"],
        }
        _mount(
            key=KEY,
            data=parcel(data, maps),
            on_asked_change=_asked,
            on_frame_change=_moved,
            on_row_change=_picked_row,
            on_pick_change=_picked_head,
        )


def history(frames: Frames) -> list[dict[str, float | int]]:
    """The values that the shipped model's card recorded during training: step, loss of a batch, and the share of exact answers
    on held-out pairs."""
    recorded = frames.pipeline(-1).card.history
    return [{name: entry[name] for name in ("step", "loss", "accuracy")} for entry in recorded]


def table(film: Film) -> pd.DataFrame:
    """The curves as a table: a row for each check in the model's card, and a row for each frame that this page has tested."""
    recorded = [{"step": entry["step"], "source": "recorded in training"} | entry for entry in history(film.frames)]
    computed = [
        {"step": step, "source": f"computed on {tested.pairs} held-out pairs", "loss": tested.loss, "accuracy": tested.exact}
        | {"right_tokens": tested.right_tokens, "answer": _words(film.answer(index))}
        for index, (step, tested) in enumerate(zip(film.frames.steps, tests(film.frames), strict=False))
    ]
    return pd.DataFrame(recorded + computed).set_index("step")


@cached
def _maps(film: Film, shown: tuple[int, ...], kind: str) -> UInt8[np.ndarray, "frame layer head query key"]:
    """The levels of the weights of all heads of one kind, at some frames of a film."""
    traces = (film.trace(index) for index in shown)
    levels = (quantized(trace.attention(kind)[:, 0].numpy(), trace.allowed(kind)[:, 0].numpy()) for trace in traces)
    return np.stack(list(levels))


def _sent_frames(film: Film, shown: tuple[int, ...]) -> list[dict[str, Any]]:
    """Each frame of a film for `film.js`: its step and its test. The frames `shown` also have their answer and
    distributions."""
    tested = tests(film.frames)
    sent = []
    for index, step in enumerate(film.frames.steps):
        frame = {
            "step": step,
            "loss": round(tested[index].loss, 5) if tested else None,
            "accuracy": round(tested[index].exact, 5) if tested else None,
        }
        sent.append(frame | _read(film, index) if index in shown else frame)
    return sent


@cached
def _read(film: Film, index: int) -> dict[str, Any]:
    """The result of a frame for the text: its answer, and the distribution of each row."""
    trace, answer, rows = film.trace(index), film.answer(index), []
    vocabulary = film.frames.pipeline(index).target_vocabulary
    for row, expected in zip(trace.probabilities[0].numpy(), [*trace.target_ids[0][1:], vocabulary.eos], strict=True):
        top = np.argsort(-row, kind="stable")[:MOST_BARS].tolist()
        top = top if expected in top else [*top[:-1], expected]
        named = zip(top, vocabulary.tokens_of(top), strict=True)
        bars = [[name, round(float(row[token]), 4), token == expected] for token, name in named]
        rows.append({"bars": bars, "rest": round(max(0.0, 1 - float(row[top].sum())), 4)})
    right = None if film.right is None else answer.ended and answer.text == film.right
    return {"answer": _words(answer), "ended": answer.ended, "right": right, "rows": rows}


def _words(answer: Answer) -> str:
    """An answer as text. It ends in "…" if the model was stopped before the end."""
    return answer.text if answer.ended else f"{answer.text}…"


def pick_frame(view: View, frames: Frames) -> int:
    """The frame of the session or of the link, counted from 0. By default it is the frame of the sidebar's model if that is a
    snapshot, otherwise the first frame."""
    opened = snapshot_of(view.model)
    first = frames.steps.index(opened[1]) if opened and opened[1] in frames.steps else 0

    def read(asked: str | None) -> int:
        steps = {str(step): index for index, step in enumerate(frames.steps)}
        return steps.get(asked or "", first)

    seed(SNAPSHOT, read, lambda value: min(max(value, 0), len(frames.steps) - 1))
    frame = st.session_state[SNAPSHOT]
    publish(SNAPSHOT, None if frame == first else str(frames.steps[frame]))
    return frame


def _row(rows: int) -> int:
    """The row of the decoder whose distribution is shown. It is counted from 0, but in a link from 1."""

    def read(asked: str | None) -> int:
        number = int(asked) if asked and re.fullmatch(r"[0-9]{1,4}", asked) else 1
        return number - 1 if 1 <= number <= rows else 0

    seed(ROW, read, lambda value: min(max(value, 0), rows - 1))
    row = st.session_state[ROW]
    publish(ROW, None if row == 0 else str(row + 1))
    return row


def _sent(name: str) -> Any:
    """A value that the browser sent under a name. It is untrusted."""
    sent = st.session_state.get(KEY)
    return sent.get(name) if isinstance(sent, dict) else None


def _asked() -> None:
    asked = _sent("asked")
    if isinstance(asked, str) and len(asked) < 10_000:
        st.session_state[ASKED] = asked


def _moved() -> None:
    _take("frame", SNAPSHOT)
    draw_alone(BODY)


def _picked_row() -> None:
    _take("row", ROW)


def _take(name: str, key: str) -> None:
    """Store an index from the browser in the session. `seed` limits it to the valid range."""
    index = _sent(name)
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < 10_000:
        st.session_state[key] = index


def _picked_head() -> None:
    tile = head_grid.picked(KEY)
    if tile is not None:
        st.session_state["layer"], st.session_state["head"] = tile[0] + 1, tile[1] + 1
        draw_alone(BODY)
