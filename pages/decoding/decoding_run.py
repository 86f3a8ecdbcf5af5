"""The run for the text of the sidebar, and the model's plain answer to that text."""

import numpy as np

from pages.decoding.answer_steps import Run
from pages.decoding.decoding_settings import PLAIN, Settings, generate
from pages.shell.view.run_banner import show_answer
from pages.shell.view.view import View
from transformer.pipeline.pipeline import Answer


def run_of(view: View, settings: Settings) -> Run:
    """The run of a view's model for the first text of the view."""
    return Run(view.pipeline, view.encoding("source"), generate(view, settings), settings)


def show_plain_answer(view: View) -> None:
    """Draw the answer as the banner of every page does, but from the steps of this page, so that it is not computed again."""
    run = run_of(view, PLAIN)
    ids = run.generation.ids()
    # `view.answer()` contains the unknown words of the source. The steps have `<unk>` in their place.
    answer = view.answer() if run.encoding.unknown else Answer(run.text, run.tokens_of(ids), run.generation.ended)
    rows = run.chain[: len(ids) + run.generation.ended]
    show_answer(view, answer, np.stack([run.own(made) for made in rows]) if rows else None)
