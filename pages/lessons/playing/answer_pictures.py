"""Pictures of a lesson's stop (step) with answers side by side: written greedily and sampled, before and after the training of
the model, and of two models that were trained differently."""

import streamlit as st

from pages.lessons.content.lesson import Stop
from pages.lessons.content.stop_views import run_of, with_second_model
from pages.shell.models.catalogue import snapshots
from pages.shell.view.edited_answers import loss_of, wanted_tokens
from pages.shell.view.runs import Key, right_answer, runs
from pages.shell.view.two_answers import say_parting, show_two_answers
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.format import fixed, number, share, whole
from pages.ui.pickers import linked_number
from pages.ui.text import text
from transformer.figures.training_figures import Series, step_lines
from transformer.pipeline.card import Card
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.logits_processors import LogitsProcessor, Temperature
from transformer.pipeline.decoding.methods import LARGEST_SEED, Greedy, Method, Sample
from transformer.pipeline.snapshots import snapshot_name

LOSSES = 220  # px: height of the curves of two trainings; on a laptop the next picture begins on the same screen
HOTTEST = 3.0  # the highest temperature, as on the page Watch it write


def show_samples(stop: Stop) -> None:
    """Draw four answers of the model of a lesson's stop (step) to its text: two that greedy decoding writes, and below them two
    that are sampled. The stop sets the temperature, and the seed of the first sample; the second sample has the next seed.

    Raises:
        HeadlightError: the model cannot read the text.
    """
    words, run, view = text("lesson")["experiment"], run_of(stop), dict(stop.view)
    temperature = linked_number(view.get("temperature"), 0.0, HOTTEST, 1.0, whole=False)
    first = int(linked_number(view.get("seed"), 0, LARGEST_SEED - 1, 1, whole=True))
    titles = [words["drawn"].format(seed=seed, temperature=number(temperature, 2)) for seed in (first, first + 1)]
    answers = four_answers(run.key, run.source, temperature, first)
    say_parting(show_two_answers("greedy", [words["greedy"], words["greedy_again"]], answers[:2]))
    say_parting(show_two_answers("drawn", titles, answers[2:]))


@cached
def four_answers(key: Key, source: str, temperature: float, seed: int) -> list[tuple[str, ...]]:
    """The tokens of four answers of a model to a text: two greedy answers, which are both computed, and two answers
    that are sampled with `seed` and `seed + 1`.

    Raises:
        HeadlightError: the model cannot read the text.
    """
    pipeline, encoding = runs().pipeline(key), runs().encoding(key, "source", source)
    greedy: list[tuple[Method, list[LogitsProcessor]]] = [(Greedy(), [])] * 2
    sampled = [(Sample(each), [Temperature(temperature)]) for each in (seed, seed + 1)]
    written = (Generation.of(pipeline.generate(encoding, *settings)).ids() for settings in (*greedy, *sampled))
    return [tuple(pipeline.vocabulary("target").tokens_of(ids)) for ids in written]


def show_snapshots(stop: Stop) -> None:
    """Draw the answers of the model of a lesson's stop before and after its training, each with the loss of the right answer.

    Raises:
        HeadlightError: the model cannot read the text.
    """
    words, run = text("lesson")["experiment"], run_of(stop)
    if not snapshots(run.model):
        st.info(words["not_recorded"].format(model=literal(run.model)), icon=":material/photo_library:")
        return
    card, names = runs().own_pipeline(run.key).card, (snapshot_name(run.model, min(snapshots(run.model))), run.key)
    right = right_answer(card.task, run.source) or runs().answer(run.key, run.source, ()).text
    views = [View(run.model, (run.source,), (right,), name) for name in names]
    losses = [number(loss_of(wanted_tokens(view, view.trace())[1]), 3) for view in views]
    titles = [words["before_training"], words["after_training"].format(steps=whole(card.recipe["steps"]))]
    st.markdown(words["learned"].format(model=literal(run.model), source=literal(run.source), right=literal(right)))
    answers = [first_tokens(name, run.source, right) for name in names]
    say_parting(show_two_answers("trained", titles, answers, [words["loss"].format(loss=loss) for loss in losses]))
    if smoothed := card.recipe.get("label_smoothing"):
        st.caption(words["smoothing"].format(share=share(smoothed)))


def show_trainings(stop: Stop) -> None:
    """Draw the answers of both models of a lesson's stop, and their training losses up to the end of the shorter training.

    Raises:
        HeadlightError: a model cannot read the text, or there is no such model.
    """
    words, both = text("lesson")["experiment"], [run_of(each) for each in (stop, with_second_model(stop))]
    cards = [runs().own_pipeline(run.key).card for run in both]
    titles, answers = [], []
    for run, card in zip(both, cards, strict=True):
        edit = str(card.recipe.get("edit") or "")
        title = words["trained_with" if edit else "trained_as_usual"]
        titles.append(title.format(model=literal(run.model), edit=literal(edit)))
        right = right_answer(card.task, run.source) or runs().answer(run.key, run.source, ()).text
        answers.append(first_tokens(run.key, run.source, right))
    say_parting(show_two_answers("trainings", titles, answers))
    last = min(int(card.history[-1]["step"]) if card.history else 0 for card in cards)
    losses = [_losses(card, last) for card in cards]
    if not all(losses):
        return
    # The second model comes first, so that its line has the colour of an edit in other pictures.
    lines = [Series(run.model, [*loss], [*loss.values()]) for run, loss in zip(both[::-1], losses[::-1], strict=True)]
    st.markdown(words["trainings"].format(last=whole(last)))
    figure = chart(step_lines, lines, words["trainings_loss"], words["trainings_step"], None, None, False, height=LOSSES)
    alt = [words["trainings_alt"].format(model=run.model, losses=_said(loss)) for run, loss in zip(both, losses, strict=True)]
    show(figure, "trainings", " ".join(alt))


def _losses(card: Card, last: int) -> dict[int, float]:
    """Step → loss of the batch just learnt, as recorded, up to the step `last`."""
    return {int(each["step"]): float(each["loss"]) for each in card.history if each["step"] <= last}


def _said(losses: dict[int, float]) -> str:
    words = text("lesson")["experiment"]["loss_at"]
    return ", ".join(words.format(loss=fixed(loss, 2), step=whole(step)) for step, loss in losses.items())


@cached
def first_tokens(key: Key, source: str, right: str) -> tuple[str, ...]:
    """The tokens of a model's answer to a text: at most one more than the right answer has, and then `…`, because an untrained
    model does not stop by itself. Raises `HeadlightError` if the model cannot read the text."""
    pipeline = runs().own_pipeline(key)
    most = 1 + len(pipeline.target_vocabulary.split(right))
    answer = pipeline.answers([runs().encoding(key, "source", source)], max_new_tokens=most)[0]
    return answer.tokens if answer.ended else (*answer.tokens, "…")
