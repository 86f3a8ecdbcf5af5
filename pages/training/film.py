"""The film: a slider over the frames of a training, with curves, the answer to the visitor's text, and every head's map.

All frames are sent at once, so moving between them asks the server nothing; it is told the frame once the slider stands still.
"""

import itertools
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import UInt8

from pages.shell.runs import runs, snapshot_of
from pages.shell.view import View
from pages.training.frames import Frames
from pages.ui import head_grid
from pages.ui.caches import cached
from pages.ui.component import PLAYBACK_STYLE, mounted, parcel
from pages.ui.escaping import quoted
from pages.ui.export_menu import saving
from pages.ui.link_values import publish, seed
from pages.ui.text import text
from pages.ui.waiting import waited
from transformer import Trace
from transformer.figures import KIND_COLORS
from transformer.figures.attention import quantized
from transformer.pipeline.pipeline import Answer
from transformer.training.held_out import HeldOut, held_out
from transformer.worlds import WORLDS

KEY, SNAPSHOT, ROW = "film", "snapshot", "token"
CHECKED = 32  # held-out pairs on which each frame is tested
MOST_BARS = 6  # tokens of a distribution that are drawn one by one

_mount = mounted(Path(__file__).with_suffix(""), PLAYBACK_STYLE, Path(head_grid.__file__).with_suffix(".css"))


class Film(NamedTuple):
    """What all frames made of one text.

    Attributes:
        frames: of the training.
        source: the text.
        target: what the decoder reads at every frame, so that the frames can be compared.
        right: the right answer, if the model's world knows it.
        answers: what each frame answers.
        traces: of each frame reading the source and the target.
        checks: of each frame on held-out pairs; empty if the model's world is not known.
    """

    frames: Frames
    source: str
    target: str
    right: str | None
    answers: tuple[str, ...]
    traces: tuple[Trace, ...]
    checks: tuple[HeldOut, ...]

    @property
    def expected(self) -> tuple[int, ...]:
        """Ids of the tokens that the rows of the decoder are to predict, `<eos>` last."""
        return (*self.traces[-1].target_ids[0][1:], self.frames.pipeline(-1).target_vocabulary.eos)


def target_of(view: View, frames: Frames) -> str:
    """The target that every frame reads: the one that was typed, the right answer of the model's world, or else the answer of
    the shipped model."""
    if isinstance(view.target, Answer):  # that the decoder is made to read
        return frames.pipeline(-1).as_target(view.target)
    if view.target is not None:
        return view.target
    world = WORLDS.get(frames.pipeline(-1).card.world)
    right = world.solve(view.source) if world else None
    if right is not None:
        return right
    return frames.pipeline(-1).as_target(runs().answer(frames.names[-1], view.source, ()))


@cached
def shoot(source: str, target: str, frames: Frames) -> Film:
    """Run every frame on a text. Each snapshot is loaded once for all sessions.

    Raises:
        InputError: the models cannot read the text or the target.
    """
    world = WORLDS.get(frames.pipeline(-1).card.world)
    return Film(
        frames,
        source,
        target,
        world.solve(source) if world else None,
        tuple(runs().answer(name, source, ()).text for name in frames.names),
        tuple(runs().trace(name, (source,), (target,), ()) for name in frames.names),
        tuple(checks for name in frames.names if (checks := check(name))),
    )


@cached
def check(name: str) -> HeldOut | None:
    """The test of a frame on the first held-out pairs of its world, with the label smoothing of its training; None if the world
    is not known."""
    pipeline = runs().own_pipeline(name)
    world = WORLDS.get(pipeline.card.world)
    if world is None:
        return None
    pairs = list(itertools.islice(world.pairs("held-out", "film"), CHECKED))
    return held_out(pipeline, pairs, float(pipeline.card.recipe["label_smoothing"]))


def show_film(view: View, frames: Frames, kind: str, layer: int, head: int) -> tuple[Film, int]:
    """Draw the film; returns it with the index of the frame that it shows.

    Args:
        view: of the sidebar.
        frames: of the training.
        kind, layer, head: the head with a frame around it; layer and head counted from 0.
    """
    words = text("training")
    film = waited(words["running"], shoot, view.source, target_of(view, frames), frames)
    frame, row = _frame(view, frames), _row(len(film.expected))
    asked = film.source, film.target, frames
    maps = _maps(*asked, kind)
    queries, keys = film.traces[-1].tokens(kind)
    data = {
        "frames": _told(*asked),
        "history": history(frames),
        "target": list(frames.pipeline(-1).target_vocabulary.tokens_of(film.expected)),
        "pairs": CHECKED,
        "frame": frame,
        "row": row,
        "grid": head_grid.grid_data(maps.shape[1:], queries, keys, (layer, head), KIND_COLORS[kind]),
        "text": words["film"],
    }
    _mount(
        key=KEY,
        data=parcel(data, maps),
        on_frame_change=_moved,
        on_row_change=_picked_row,
        on_pick_change=_picked_head,
    )
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
    caption = words["film_caption"].format(target=quoted(film.target), pairs=CHECKED, shown=len(film.checks))
    recipe = frames.pipeline(-1).card.recipe
    if recipe.get("hard"):
        caption += " " + words["film_hard"].format(step=recipe["hard_from"], drawn=recipe["hard"])
    st.caption(caption)
    return film, frame


def history(frames: Frames) -> list[dict[str, float | int]]:
    """What the card of the shipped model recorded while it was trained: step, loss of a batch, exact answers on held-out
    pairs."""
    recorded = frames.pipeline(-1).card.history
    return [{name: entry[name] for name in ("step", "loss", "accuracy")} for entry in recorded]


def table(film: Film) -> pd.DataFrame:
    """The curves as a table: a row for each check that the card recorded, and for each frame that was tested now."""
    recorded = [{"step": entry["step"], "source": "recorded in training"} | entry for entry in history(film.frames)]
    computed = [
        {"step": step, "source": f"computed on {checks.pairs} held-out pairs", "loss": checks.loss, "accuracy": checks.exact}
        | {"right_tokens": checks.right_tokens, "answer": answer}
        for step, checks, answer in zip(film.frames.steps, film.checks, film.answers, strict=False)
    ]
    return pd.DataFrame(recorded + computed).set_index("step")


@cached
def _maps(source: str, target: str, frames: Frames, kind: str) -> UInt8[np.ndarray, "frame layer head query key"]:
    """The levels of every head of a kind at each frame of a film."""
    traces = shoot(source, target, frames).traces
    levels = (quantized(trace.attention(kind)[:, 0].numpy(), trace.allowed(kind)[:, 0].numpy()) for trace in traces)
    return np.stack(list(levels))


@cached
def _told(source: str, target: str, frames: Frames) -> list[dict[str, Any]]:
    """Each frame of a film for `film.js`: its step, its test, its answer, and the distribution of each row."""
    film, told = shoot(source, target, frames), []
    for index, (step, answer, trace) in enumerate(zip(frames.steps, film.answers, film.traces, strict=True)):
        probabilities = trace.probabilities[0].numpy()
        tokens = frames.pipeline(index).target_vocabulary.tokens_of
        rows = []
        for row, expected in zip(probabilities, film.expected, strict=True):
            top = np.argsort(-row, kind="stable")[:MOST_BARS].tolist()
            top = top if expected in top else [*top[:-1], expected]
            bars = [
                [name, round(float(row[token]), 4), token == expected] for token, name in zip(top, tokens(top), strict=True)
            ]
            rows.append({"bars": bars, "rest": round(max(0.0, 1 - float(row[top].sum())), 4)})
        checks = film.checks[index] if film.checks else None
        told.append(
            {
                "step": step,
                "answer": answer,
                "right": answer == film.right if film.right is not None else None,
                "loss": None if checks is None else round(checks.loss, 5),
                "accuracy": None if checks is None else round(checks.exact, 5),
                "rows": rows,
            }
        )
    return told


def _frame(view: View, frames: Frames) -> int:
    """The frame of the session or of the link, counted from 0. At first that of the model in the sidebar if it is a snapshot,
    else the first."""
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
    """The row of the decoder whose distribution is shown, counted from 0; in a link, from 1."""

    def read(asked: str | None) -> int:
        number = int(asked) if asked and re.fullmatch(r"[0-9]{1,4}", asked) else 1
        return number - 1 if 1 <= number <= rows else 0

    seed(ROW, read, lambda value: min(max(value, 0), rows - 1))
    row = st.session_state[ROW]
    publish(ROW, None if row == 0 else str(row + 1))
    return row


def _sent(name: str) -> Any:
    """What the browser sent. It is untrusted."""
    sent = st.session_state.get(KEY)
    return sent.get(name) if isinstance(sent, dict) else None


def _moved() -> None:
    _take("frame", SNAPSHOT)


def _picked_row() -> None:
    _take("row", ROW)


def _take(name: str, key: str) -> None:
    """Take over an index from the browser; `seed` bounds it."""
    index = _sent(name)
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < 10_000:
        st.session_state[key] = index


def _picked_head() -> None:
    tile = head_grid.picked(KEY)
    if tile is not None:
        st.session_state["layer"], st.session_state["head"] = tile[0] + 1, tile[1] + 1
