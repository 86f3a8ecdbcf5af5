"""The film: a slider over the recorded states of a training (its frames), with curves, the answer to the visitor's text, and
the attention map of every head.

For a new text, only the model of the frame at the slider is run. When the visitor first points at the film, focuses or presses
it, or starts playing, the browser requests all frames. They are sent together, so moving between them needs no request. When
the slider stops, the browser sends the index of its frame to the server.
"""

import json
from pathlib import Path

import pandas as pd
import streamlit as st

from pages.shell.error_boundary import explained
from pages.shell.frame.body import BODY, draw_alone
from pages.shell.view.joined_words import pick_words
from pages.shell.view.map_names import map_names
from pages.shell.view.turns import computed, turn
from pages.shell.view.view import View
from pages.training import film_curves
from pages.training.film_curves import show_curves
from pages.training.films import Film, maps, sent_frames, tests
from pages.training.frames import SNAPSHOT, pick_frame
from pages.ui import head_grid
from pages.ui.compat import key_class
from pages.ui.component import BARS_STYLE, PLAYBACK_STYLE, is_index, mounted, parcel, sent
from pages.ui.escaping import quoted
from pages.ui.export_menu import download, saving
from pages.ui.format import fixed, share, whole
from pages.ui.pickers import kept_number
from pages.ui.text import text
from pages.ui.weights_table import weights_table
from transformer import Trace
from transformer.analysis.label_smoothing import least_loss
from transformer.figures import KIND_COLORS

KEY, FRAGMENT, ROW = "training_film", "film_frames", "token"
# Session key: the name of the film whose frames the browser has asked for.
ASKED = "film_asked"

_mount = mounted(Path(__file__).with_suffix(""), PLAYBACK_STYLE, BARS_STYLE, Path(head_grid.__file__).with_suffix(".css"))


def show_film(film: Film, frame: int, view: View, kind: str, layer: int, head: int) -> None:
    """Draw the curves of a training, the film at one of its frames (states of the model) with all heads of one `kind` of
    attention, and the download buttons. `layer` and `head` name the picked head. They and `frame` are counted from 0."""
    words, frames = text("training"), film.frames
    computed(words["running"], tests, frames)
    show_curves(film)
    trace = film.trace(frame)
    joined = pick_words(trace) is not trace
    # A fragment, so that the frames that the browser asks for are sent without running the rest of the page.
    st.fragment(_mount_film, key=FRAGMENT)(film, view, kind, layer, head, joined)
    if joined:
        st.caption(f":material/join: {words['film_joined']}")
    with st.container(horizontal=True):
        saving(KEY, f"{frames.model}-{frames.steps[frame]:06d}-{kind}", lambda: _weights(view, film.shown(frame, joined), kind))
        download(
            words["card"],
            lambda: json.dumps(json.loads(frames.pipeline(-1).card.to_json()), ensure_ascii=False, indent=1),
            f"{frames.model}-card.json",
            ":material/data_object:",
            type="tertiary",
            help=words["card_help"],
        )
    st.caption(_caption(film))


def _weights(view: View, shown: Trace, kind: str) -> pd.DataFrame:
    """The attention weights in the pictures of a frame as a table: one row for each weight. `shown` is the frame's trace."""
    weights, allowed = shown.attention(kind)[:, 0].numpy(), shown.allowed(kind)[:, 0].numpy()
    return weights_table(weights, allowed, *map_names(view, shown, kind))


def _caption(film: Film) -> str:
    """The caption that explains the numbers of the film, and special settings of its training."""
    words, pipeline, steps = text("training"), film.frames.pipeline(-1), film.frames.steps
    recipe, says = pipeline.card.recipe, [words["film_caption"].format(target=quoted(film.target))]
    if steps[0]:
        says.insert(0, words["film_steps"].format(steps="; ".join(map(whole, steps)), first=whole(steps[0])))
    if pipeline.config.dropout and tests(film.frames):
        says.append(words["film_dropout"])
    if recipe["label_smoothing"]:
        least = least_loss(len(pipeline.target_vocabulary), recipe["label_smoothing"])
        says.append(words["film_smoothing"].format(least=fixed(least, 2)))
    if recipe.get("hard"):
        says.append(words["film_hard"].format(step=whole(recipe["hard_from"]), drawn=recipe["hard"]))
    if recipe.get("as_typed"):
        says.append(words["film_as_typed"].format(step=whole(recipe["hard_from"]), share=share(recipe["as_typed"])))
    if recipe.get("pieces"):  # it learned from a file, in which a sentence can have several translations
        says.append(words["film_translations"])
    return " ".join(says)


def _mount_film(film: Film, view: View, kind: str, layer: int, head: int, joined: bool) -> None:
    """Send the frame at the slider to the browser, or all frames if the browser has asked for them. When the browser asks,
    Streamlit calls only this function. `layer` and `head` name the picked head, from 0. `joined`: whether pieces are joined to
    words in the heads' pictures."""
    with turn(), explained():
        frames, frame = film.frames, pick_frame(view, film.frames)
        shown = tuple(range(len(frames.names))) if st.session_state.get(ASKED) == film.name else (frame,)
        trace, levels = film.trace(frame), maps(film, shown, kind, joined)
        vocabulary = frames.pipeline(-1).target_vocabulary
        # The ids of the tokens that the rows of the decoder should predict.
        expected = [*trace.target_ids[0][1:], vocabulary.eos]
        target = vocabulary.tokens_of(expected)
        queries, keys = map_names(view, film.shown(frame, joined), kind)
        data = {
            "film": film.name,
            "frames": sent_frames(film, shown),
            "curves": key_class(film_curves.KEY).removeprefix("st-key-"),
            "target": list(target),
            "frame": frame,
            "row": kept_number(ROW, 1, len(expected), 1) - 1,
            "grid": head_grid.grid_data(levels.shape[1:], queries, keys, (layer, head), KIND_COLORS[kind]),
            "text": _words(film, view),
        }
        _mount(
            key=KEY,
            data=parcel(data, levels),
            on_asked_change=_asked,
            on_frame_change=_moved,
            on_row_change=_picked_row,
            on_pick_change=_picked_head,
        )


def _words(film: Film, view: View) -> dict[str, str]:
    """The words of the film. They name its target: the right answer, the typed target, or the trained model's own answer."""
    words = text("training")["film"]
    whose = "" if film.target == film.right else "_own" if view.target is None else "_typed"
    return words | {name: words[name + whose] for name in ("tokens", "bars")}


def _asked() -> None:
    asked = sent(KEY, "asked")
    if isinstance(asked, str) and len(asked) < 10_000:
        st.session_state[ASKED] = asked


def _moved() -> None:
    _take("frame", SNAPSHOT, 0)
    draw_alone(BODY)


def _picked_row() -> None:
    _take("row", ROW, 1)


def _take(name: str, key: str, first: int) -> None:
    """Store the index that the browser sent as `name` under a key of the session. The browser counts from 0, the session from
    `first`. When the page is drawn, `seed` limits the index to the valid range."""
    index = sent(KEY, name)
    if is_index(index, 10_000):
        st.session_state[key] = first + index


def _picked_head() -> None:
    tile = head_grid.picked(KEY)
    if tile is not None:
        st.session_state["layer"], st.session_state["head"] = tile[0] + 1, tile[1] + 1
        draw_alone(BODY)
