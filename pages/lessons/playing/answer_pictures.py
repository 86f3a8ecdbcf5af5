"""Pictures of a stop with answers side by side: written greedily and drawn, and before and after the training of the model."""

import re
from collections.abc import Sequence

import streamlit as st

from pages.lessons.content.lesson import Stop
from pages.lessons.content.stop_views import run_of
from pages.shell.models.catalogue import snapshots
from pages.shell.view.edited_answers import loss_of, wanted_tokens
from pages.shell.view.runs import right_answer, runs
from pages.shell.view.two_answers import say_parting, show_two_answers
from pages.shell.view.view import View
from pages.ui.escaping import literal
from pages.ui.format import number, whole
from pages.ui.text import text
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.logits_processors import Temperature
from transformer.pipeline.decoding.methods import Greedy, Sample
from transformer.pipeline.snapshots import snapshot_name


def show_draws(stop: Stop) -> None:
    """Draw four answers of the stop's model to its text: two that greedy decoding writes, and below them two whose words are
    drawn. The temperature and the seed of the first draw are in the view of the stop; the second draw has the next seed.

    Raises:
        HeadlightError: the model cannot read the text.
    """
    words, temperature, seed = text("lesson")["experiment"], _setting(stop, "temperature"), int(_setting(stop, "seed"))
    drawn = [words["drawn"].format(seed=each, temperature=number(temperature, 2)) for each in (seed, seed + 1)]
    say_parting(show_two_answers("greedy", [words["greedy"], words["greedy_again"]], [_written(stop), _written(stop)]))
    say_parting(show_two_answers("drawn", drawn, [_written(stop, each, temperature) for each in (seed, seed + 1)]))


def _written(stop: Stop, seed: int | None = None, temperature: float = 1.0) -> Sequence[str]:
    """The tokens of an answer that is computed now: by greedy decoding, or drawn if there is a seed."""
    run = run_of(stop)
    pipeline, encoding = runs().pipeline(run.key), runs().encoding(run.key, "source", run.source)
    if seed is None:
        steps = pipeline.generate(encoding, Greedy())
    else:
        steps = pipeline.generate(encoding, Sample(seed), [Temperature(temperature)])
    return pipeline.vocabulary("target").tokens_of(Generation.of(steps).ids())


def _setting(stop: Stop, name: str) -> float:
    """A setting of the page *Watch it write* in the view of a stop; 1, the first value of that page, if there is none."""
    given = dict(stop.view).get(name, "")
    return float(given) if re.fullmatch(r"\d{1,4}(\.\d{1,2})?", given, re.ASCII) else 1.0


def show_snapshots(stop: Stop) -> None:
    """Draw what the stop's model answered before its first step of training, and what it answers now, each with the loss of the
    right answer.

    Raises:
        HeadlightError: the model cannot read the text.
    """
    words, run = text("lesson")["experiment"], run_of(stop)
    if not snapshots(run.model):
        st.info(words["not_recorded"].format(model=literal(run.model)), icon=":material/photo_library:")
        return
    trained = runs().own_pipeline(run.key)
    right = right_answer(trained.card.task, run.source) or runs().answer(run.key, run.source, ()).text
    most = 1 + len(trained.target_vocabulary.split(right))  # an untrained model does not stop by itself
    first = snapshot_name(run.model, min(snapshots(run.model)))
    answers, notes = [], []
    for name in (first, run.key):
        answers.append(runs().own_pipeline(name).answers([run.source], max_new_tokens=most)[0].tokens)
        view = View(run.model, (run.source,), (right,), name)
        notes.append(words["loss"].format(loss=number(loss_of(wanted_tokens(view, view.trace())[1]), 3)))
    titles = [words["before_training"], words["after_training"].format(steps=whole(trained.card.recipe["steps"]))]
    st.markdown(words["learned"].format(model=literal(run.model), source=literal(run.source), right=literal(right)))
    show_two_answers("trained", titles, answers, notes)
