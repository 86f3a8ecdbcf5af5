"""The runs of all frames of a training on one text, and their numbers."""

import itertools
import json
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import UInt8

from pages.shell.view.runs import right_answer, runs
from pages.shell.view.view import View
from pages.training.frames import Frames
from pages.ui.caches import cached
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.word_trace import WordTrace
from transformer.figures.attention_figures import quantized
from transformer.figures.training_figures import place_of_step
from transformer.pipeline.pipeline import Answer
from transformer.tasks import TASKS
from transformer.training.held_out import HeldOut, held_out

CHECKED = 32  # held-out pairs on which each frame is tested
MOST_BARS = 6  # this many tokens of a distribution have their own bar


class Film(NamedTuple):
    """The forward passes of all frames (recorded states of a model in training) on one text. A frame's pass is computed when it
    is first needed, once for all sessions. The decoder reads the same target at all frames, so that they can be compared."""

    frames: Frames
    source: str
    target: str

    @property
    def name(self) -> str:
        """A string that is different for every film."""
        return json.dumps([self.frames.model, self.source, self.target])

    @property
    def right(self) -> str | None:
        """The right answer to the source; None if the model's task has no rule for it."""
        return right_answer(self.frames.pipeline(-1).card.task, self.source)

    def answer(self, index: int) -> Answer:
        """The answer of the model at frame `index`, from 0. If the right answer is known, the answer is cut off one token after
        the right answer's length: a model that has not learnt to stop would write to its limit, with a forward pass for each
        token. Raises `InputError` if the model cannot read the text."""
        pipeline = self.frames.pipeline(index)
        most = None if self.right is None else 1 + len(pipeline.target_vocabulary.split(self.right))
        encoding = runs().encoding(self.frames.names[index], "source", self.source)
        return pipeline.answers([encoding], max_new_tokens=most)[0]

    def trace(self, index: int) -> Trace:
        """All tensors of the model at frame `index` (from 0) for the film's source and target. Raises `InputError` if the model
        cannot read them."""
        return runs().trace(self.frames.names[index], (self.source,), (self.target,), ())

    def shown(self, index: int, joined: bool) -> Trace:
        """The trace of a frame, counted from 0. If `joined`, tokens that are pieces of a word are joined to the word."""
        trace = self.trace(index)
        return WordTrace.of(trace) if joined else trace


def film_of(view: View, frames: Frames) -> Film:
    """The film of the view's first text. At every frame, the decoder reads the typed target; without one, the right answer of
    the model's task; if that is not known, the answer of the shipped model."""
    shipped, target = frames.pipeline(-1), view.target
    if target is None:
        target = right_answer(shipped.card.task, view.source)
    if target is None:
        target = runs().answer(frames.names[-1], view.source, ())
    return Film(frames, view.source, shipped.as_target(target) if isinstance(target, Answer) else target)


@cached
def tests(frames: Frames) -> tuple[HeldOut, ...]:
    """The loss and the accuracy of each frame on the first `CHECKED` held-out pairs of the model's task, with the label
    smoothing of its training; empty if the task is not known."""
    card = frames.pipeline(-1).card
    if card.task not in TASKS:
        return ()
    pairs = list(itertools.islice(TASKS[card.task].pairs("held-out", "film"), CHECKED))
    smoothing = float(card.recipe["label_smoothing"])
    return tuple(held_out(runs().own_pipeline(name), pairs, smoothing) for name in frames.names)


def history(frames: Frames) -> list[dict[str, float | int]]:
    """The values recorded during the training, from the model card: `step`, `loss` of a batch, and `accuracy`, the share of
    exact answers on held-out pairs."""
    recorded = frames.pipeline(-1).card.history
    return [{name: entry[name] for name in ("step", "loss", "accuracy")} for entry in recorded]


def table(film: Film) -> pd.DataFrame:
    """The curves as a table: a row for each entry of `history`, and a row for each frame that this page has tested."""
    recorded = [{"step": entry["step"], "source": "recorded in training"} | entry for entry in history(film.frames)]
    computed = [
        {"step": step, "source": f"computed on {tested.pairs} held-out pairs", "loss": tested.loss, "accuracy": tested.exact}
        | {"right_tokens": tested.right_tokens, "answer": words_of(film.answer(index))}
        for index, (step, tested) in enumerate(zip(film.frames.steps, tests(film.frames), strict=False))
    ]
    return pd.DataFrame(recorded + computed).set_index("step")


@cached
def maps(film: Film, shown: tuple[int, ...], kind: str, joined: bool) -> UInt8[np.ndarray, "frame layer head query key"]:
    """The weights of all heads of one `kind` of attention, such as `cross`, as bytes (`quantized`), at the frames of a film
    with the indices `shown`. `joined`: whether tokens that are pieces of a word are joined."""
    traces = (film.shown(index, joined) for index in shown)
    levels = (quantized(trace.attention(kind)[:, 0].numpy(), trace.allowed(kind)[:, 0].numpy()) for trace in traces)
    return np.stack(list(levels))


def sent_frames(film: Film, shown: tuple[int, ...]) -> list[dict[str, Any]]:
    """Each frame of a film for `film.js`: its step, the step's place on the x axis of the curves, its loss and its accuracy.
    The frames with the indices `shown` also have their answer and distributions."""
    tested = tests(film.frames)
    sent = []
    for index, step in enumerate(film.frames.steps):
        frame = {
            "step": step,
            "place": place_of_step(step),
            "loss": round(tested[index].loss, 5) if tested else None,
            "accuracy": round(tested[index].exact, 5) if tested else None,
        }
        sent.append(frame | {"says": _trained(film.frames, index)} | _read(film, index) if index in shown else frame)
    return sent


def _trained(frames: Frames, index: int) -> str:
    """How far the model of a frame was trained, as the start of a sentence about its answer."""
    words = text("training")["film"]
    if frames.steps[index] == 0:
        return words["answer_untrained"]
    return words["answer_unfinished" if frames.steps[index] < frames.steps[-1] else "answer"]


@cached
def _read(film: Film, index: int) -> dict[str, Any]:
    """The result of a frame for the text: its answer, and the distribution at each position of the decoder."""
    trace, answer, rows = film.trace(index), film.answer(index), []
    vocabulary = film.frames.pipeline(index).target_vocabulary
    for row, expected in zip(trace.probabilities[0].numpy(), [*trace.target_ids[0][1:], vocabulary.eos], strict=True):
        top = np.argsort(-row, kind="stable")[:MOST_BARS].tolist()
        top = top if expected in top else [*top[:-1], expected]
        named = zip(top, vocabulary.tokens_of(top), strict=True)
        bars = [[name, round(float(row[token]), 4), token == expected] for token, name in named]
        rows.append({"bars": bars, "rest": round(max(0.0, 1 - float(row[top].sum())), 4)})
    right = None if film.right is None else answer.ended and answer.text == film.right
    return {"answer": words_of(answer), "ended": answer.ended, "right": right, "rows": rows}


def words_of(answer: Answer) -> str:
    """An answer as text. It ends in "…" if the model was stopped before the end."""
    return answer.text if answer.ended else f"{answer.text}…"
