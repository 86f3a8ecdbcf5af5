"""The plain answer, and the player: an answer token by token, with the distribution, the reason and the attention of each."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import streamlit as st

from pages.decoding.answer_steps import Run, as_json, player_steps, run_of, table, without_special_tokens
from pages.decoding.decoding_settings import PLAIN, Settings, generated
from pages.decoding.forced import force
from pages.decoding.whole_words import joined_tokens
from pages.shell.frame.parts import put_away
from pages.shell.view.answer_line import show_answer
from pages.shell.view.head_links import show_prediction_link, show_training_link
from pages.shell.view.runs import Key, runs
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.component import BARS_STYLE, PLAYBACK_STYLE, is_index, mounted, sent
from pages.ui.export_menu import download, saving
from pages.ui.head_grid import row_words, weight_colors
from pages.ui.pickers import kept_number, pick
from pages.ui.text import language, text
from transformer.analysis.word_trace import Group
from transformer.pipeline.pipeline import Answer
from transformer.pipeline.trace_export import step_file
from transformer.tracing.paths import Kind

KEY, STEP = "player", "step"
MOST_STEPS = 10_000  # a step that a browser sends is below this
# The anchors of the parts of the page that show the step of the player. Each has a chart or buttons that a step changes.
PARTS_OF_STEP = ("stages", "branch", "pushed", "smoothing")

_mount = mounted(Path(__file__).with_name("player"), PLAYBACK_STYLE, BARS_STYLE)


def show_plain_answer(view: View) -> None:
    """Draw the line with the answer that all pages have, made from this page's decoding steps to save computing it again."""
    run = run_of(view, PLAIN)
    ids = run.generation.ids()
    # `view.answer()` contains the unknown words of the source. The steps have `<unk>` in their place.
    rows = run.chain[: len(ids) + run.generation.ended]
    chances = tuple(made.log_probability for made in rows)
    answer = Answer(run.text, run.tokens_of(ids), run.generation.ended, log_probabilities=chances)
    answer = view.answer() if run.encoding.unknown else answer
    show_answer(view, answer, np.stack([run.own(made) for made in rows]) if rows else None)


def show_player(view: View, run: Run, of: tuple[Group, ...]) -> None:
    """Draw the player, which shows an answer token by token, and the buttons that save its content. `of` has the positions of
    each word's subword pieces if the text is shown in words; otherwise it is empty."""
    words, count = text("decoding"), len(run.chain)
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = run.kinds[0]
        layers, heads = run.heads(kind)
        layer = pick(words["layer"], range(1, layers + 1), "shown_layer", first=layers) - 1
        head = pick(words["head"], ["mean", *range(1, heads + 1)], "shown_head", help=words["head_help"])
        step = picked_step(count)
        if head != "mean":
            if run.settings == PLAIN:  # the other pages draw this answer
                made = run.chain[step]
                row = len(run.step(made).input_ids[made.row]) - 1
                show_prediction_link(replace(view, targets=(None,)), 0, kind, layer, int(head) - 1, row)
            show_training_link(view, 0, kind, layer, int(head) - 1)
        _save(view, run)
    with place:
        crossed = kind == Kind.CROSS
        texts = words["player"] | ({} if crossed else words["player_alone"])
        if run.settings.logits_processors:
            texts |= words["player_controlled"]
        elif any(without_special_tokens(run, made) for made in run.chain):
            texts |= words["player_allowed"]
        data = {
            "steps": _steps(
                view.key, view.source, run.settings, layer, None if head == "mean" else int(head) - 1, of, language()
            ),
            "step": step,
            "parts": PARTS_OF_STEP,
            "source": joined_tokens(run.text_tokens, of),
            "given": len(run.given if crossed else joined_tokens(run.given, of)),
            "scale": weight_colors(),
            "text": row_words() | texts,
        }
        _mount(key=KEY, data=data, on_step_change=_moved, on_force_change=_forced)


@cached
def _steps(key: Key, source: str, settings: Settings, layer: int, head: int | None, of: tuple[Group, ...], _: str) -> str:
    """`player_steps` as JSON, computed once for all visitors. The last argument is the language of its sentences."""
    model, encoding = runs().pipeline(key), runs().encoding(key, "source", source)
    return json.dumps(player_steps(Run(model, encoding, generated(key, source, settings), settings), layer, head, of))


def picked_step(count: int) -> int:
    """The index of the picked step of an answer, out of `count`, from 0: set by a click or by the URL; by default 0."""
    return kept_number(STEP, 1, count, 1) - 1


def _moved() -> None:
    """Store the step that the browser shows, and put away the parts that are below the browser's screen. Data from a browser
    are untrusted."""
    reported = sent(KEY, "step")
    if not isinstance(reported, Sequence) or isinstance(reported, str) or not reported:
        return
    step, *below = reported
    if is_index(step, MOST_STEPS):
        st.session_state[STEP] = step
        put_away(part for part in PARTS_OF_STEP if part in below)


def _forced() -> None:
    """Force the token that was clicked. Data from a browser are untrusted."""
    place = sent(KEY, "force")
    if isinstance(place, Sequence) and len(place) == 2 and is_index(place[0], MOST_STEPS) and isinstance(place[1], str):
        force(place[0], place[1])


def _save(view: View, run: Run) -> None:
    """Draw the menus that save the picture, the steps, and the tensors of the step that is shown."""
    words, name, settings = text("decoding"), f"{view.model}-steps", run.settings
    saving(KEY, name, lambda: table(run))
    download(
        words["json"],
        lambda: as_json(run_of(view, settings), view.source),
        f"{name}.json",
        ":material/data_object:",
        type="tertiary",
    )
    step = run.chain[min(st.session_state.get(STEP, 1), len(run.chain)) - 1].step
    download(
        words["step_trace"],
        lambda: _step_file(view, settings, step),
        f"{view.model}-step-{step + 1}.safetensors",
        type="tertiary",
        help=words["step_trace_help"],
    )


def _step_file(view: View, settings: Settings, step: int) -> bytes:
    run = run_of(view, settings)
    return step_file(run.pipeline.network, run.generation.steps[step])
