"""Two sentences that differ in one word, the head that turns between them, and what silencing heads does to the pronoun."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.error_boundary import sentence, warn_remark
from pages.shell.links.training_link import show_training_link
from pages.shell.models.catalogue import available
from pages.shell.models.model_texts import COMPARED, description, question_of
from pages.shell.view.pronouns import Run, own_words, run_model, show_rows
from pages.shell.view.run_banner import warn_wrong
from pages.shell.view.runs import runs
from pages.shell.view.second_run import SOURCE as SECOND_TEXT
from pages.ui.escaping import literal
from pages.ui.format import fixed, share, whole
from pages.ui.link_values import kept_in_links
from pages.ui.prediction import KEY, asked, pick_yes_or_no, show_buttons, verdict
from pages.ui.prediction_codec import Prediction
from pages.ui.prediction_codec import read as read_questions
from pages.ui.tables import show_table
from pages.ui.text import text
from transformer import HeadlightError, Intervention
from transformer.analysis.head_measures import shift
from transformer.pipeline.protocol import TextPipeline
from transformer.tasks import find_task
from transformer.tracing.interventions import silence
from transformer.tracing.paths import Kind


class Head(NamedTuple):
    """A head of an attention; layer and head counted from 0."""

    kind: str
    layer: int
    head: int

    @property
    def silenced(self) -> tuple[Intervention, ...]:
        """The edit that silences this head."""
        return (silence(self.kind, self.layer, (self.head,)),)

    @property
    def name(self) -> str:
        """The name of the head for the page, with layer and head counted from 1."""
        return text("turning")["head_name"].format(
            kind=text("turning")["kinds"][self.kind], layer=self.layer + 1, head=self.head + 1
        )


def needed_head(model: str, sentences: tuple[Run, Run]) -> Head:
    """The head of the model that lowers the log-probability of the two pronouns most when it is silenced."""
    total: dict[str, np.ndarray] = {}
    for run in sentences:
        _, drops = runs().importance(model, run.source, run.answer, (), run.row, _unreported)
        for kind, values in drops.items():
            total[kind] = total.get(kind, 0.0) + values
    kind, drops_of_kind = max(total.items(), key=lambda item: item[1].max())
    layer, head = np.unravel_index(drops_of_kind.argmax(), drops_of_kind.shape)
    return Head(kind, int(layer), int(head))


def _unreported(done: int, total: int) -> None:
    """Show no progress, because the search is too short for a progress bar."""


def show_overview() -> None:
    """Draw a table of measures on pairs of sentences that no model was trained on, from the models' cards. A model is in the
    table only after the learner has answered its question, because its numbers would reveal the answer."""
    words = text("turning")
    columns = words["overview"]
    rows: list[dict[str, str]] = []
    for model in COMPARED:
        measures = _measures(model)
        if measures is None or not is_told(model):
            continue
        needed = measures["needed"]
        rows.append(
            {
                columns["model"]: model,
                columns["pairs"]: whole(measures["pairs"]),
                columns["shift"]: fixed(measures["shift"], 2),
                columns["right"]: share(measures["right"], 1),
                columns["without"]: share(measures["right_without"], 1),
                columns["needed"]: Head(needed["kind"], needed["layer"] - 1, needed["head"] - 1).name,
                columns["without_needed"]: share(needed["right_without"], 1),
            }
        )
    st.header(words["overview_title"], anchor="overview")
    if rows:
        show_table(tuple(rows[0]), tuple(tuple(row.values()) for row in rows), named=True)
        st.caption(words["overview_says"])
    if len(rows) < len(COMPARED):
        st.markdown(words["overview_waits"])


def is_told(model: str) -> bool:
    """Whether the learner has already seen the effect of silencing in a model."""
    question = read_questions(st.session_state.get(KEY, "")).get(question_of(model))
    return question is not None and question.shown


def show_turning(model: str, first: str, second: str) -> None:
    """Draw for one model: both sentences, the head that turns furthest by the model's card, and the effect of silencing
    heads."""
    words = text("turning")
    if model not in available():
        return
    # The description of the model says something about the head that would answer the question below.
    name = "model" if is_told(model) else "model_alone"
    st.header(words[name].format(name=model, description=description(model)), anchor=model)
    measures = _measures(model)
    if measures is None:
        st.warning(words["untested"].format(name=model))
        return
    pipeline = runs().own_pipeline(model)
    try:
        a, b = (run_model(pipeline, model, source) for source in (first, second))
    except HeadlightError as error:
        st.warning(literal(sentence(error)), icon=":material/error:")
        return
    for source in dict.fromkeys((first, second)):
        warn_remark(pipeline.card.task, source)
    st.markdown(words["answers"].format(a=literal(a.answer), b=literal(b.answer)))
    for run in (a, b) if a.source != b.source else (a,):
        warn_wrong(pipeline.card.task, run.source, run.answer)
    turning = Head(str(Kind.CROSS), measures["layer"] - 1, measures["head"] - 1)
    rows = [run.trace.attention("cross")[:, 0, :, run.row].numpy() for run in (a, b)]
    _show_rows(model, (a, b), [row[turning.layer, turning.head] for row in rows], turning)
    _show_silenced(model, pipeline, (a, b), turning)
    _show_shift(_pair_shift((a, b), rows, turning), measures, is_told(model))
    view = {
        **kept_in_links(),
        **{"model": model, "source": a.source, "kind": "cross", "layer": turning.layer + 1, "head": turning.head + 1},
        SECOND_TEXT: b.source,
    }
    with st.container(horizontal=True):
        st.link_button(words["open"], f"attention?{urlencode(view)}", icon=":material/visibility:")
        if is_told(model):
            needed = f"patching?{urlencode(view | {'part': 'need'})}"
            st.link_button(words["needed_or_enough"], needed, icon=":material/swap_horiz:")
        show_training_link(model, a.source, None, *turning)


def _measures(model: str) -> Mapping[str, Any] | None:
    """The measures of pronouns in the model's card. None if the card has no measures of silenced heads."""
    if model not in available():
        return None
    measures = runs().pipeline(model).card.measures.get("pronouns")
    return measures if measures and "needed" in measures else None


def _show_rows(model: str, sentences: tuple[Run, Run], weights: list[Float[np.ndarray, " key"]], head: Head) -> None:
    """Draw the head's weights in the row that decides the pronoun of each sentence."""
    words, (a, b) = text("turning"), sentences
    labels = [
        words["row"].format(letter=letter, adjective=literal(own_words(run, other)), pronoun=run.pronoun)
        for letter, run, other in (("a", a, b), ("b", b, a))
    ]
    read_last = dict.fromkeys(run.trace.target_tokens[0][run.row] for run in sentences)
    st.markdown(f"**{words['head'].format(head=head.name, row=literal(' / '.join(read_last)))}**")
    show_rows(sentences, weights, labels, f"turning-{model}", words["alt"])


def _pair_shift(sentences: tuple[Run, Run], rows: list[np.ndarray], head: Head) -> float | None:
    """How far the head turns between the first two nouns. None if the two sentences do not have nouns at the same places."""
    tokens = [run.trace.source_tokens[0] for run in sentences]
    nouns = [[place for place, token in enumerate(row) if _is_noun(token)][:2] for row in tokens]
    if nouns[0] != nouns[1] or len(nouns[0]) < 2 or len(tokens[0]) != len(tokens[1]):
        return None
    return float(shift(rows[0], rows[1], *nouns[0])[head.layer, head.head])


def _is_noun(token: str) -> bool:
    return find_task("english-french").word_class(token, "source") == "noun"


def _show_shift(pair_shift: float | None, measures: Mapping[str, float], tells: bool) -> None:
    """Draw how far the head turns on these two sentences, and on the held-out pairs of the model's card. If `tells` is true,
    also draw how many answers stay right without the head."""
    words = text("turning")
    numbers = [
        (words["shift"], "–" if pair_shift is None else fixed(pair_shift, 3), words["shift_help"]),
        (words["mean_shift"].format(pairs=measures["pairs"]), fixed(measures["shift"], 3), words["shift_help"]),
        (words["right"], share(measures["right"], 1), None),
    ]
    if tells:
        numbers.append((words["right_without"], share(measures["right_without"], 1), words["right_without_help"]))
    for column, (label, value, help) in zip(st.columns(4), numbers, strict=False):
        column.metric(label, value, help=help)


def _show_silenced(model: str, pipeline: TextPipeline, sentences: tuple[Run, Run], turning: Head) -> None:
    """Ask the learner whether silencing changes the answers. After that, draw a table with the answers and the probability of
    each pronoun: of the whole model, without the head that turns, and without the head that these two sentences need most."""
    words = text("turning")
    st.markdown(f"**{words['silenced']}**")
    question = question_of(model)
    asked_of = (model, *(run.source for run in sentences))
    prediction = asked(question, asked_of, 2) or Prediction()
    if not prediction.shown:
        st.markdown(text("prediction")["silence"]["turning"].format(head=turning.name))
        pick_yes_or_no(question, prediction)
        show_buttons(question, prediction, can_leave=False)
        return
    changed = any(runs().answer(model, run.source, turning.silenced).text != run.answer for run in sentences)
    st.markdown(verdict(prediction, changed))
    needed = needed_head(model, sentences)
    cases: list[tuple[str, tuple[Intervention, ...]]] = [
        (words["as_it_is"], ()),
        (words["without"].format(head=turning.name), turning.silenced),
    ]
    if needed == turning:
        st.markdown(words["same_head"])
    else:
        cases.append((words["without_needed"].format(head=needed.name), needed.silenced))
    pronouns = list(dict.fromkeys((sentences[0].pronoun, sentences[1].pronoun, "il", "elle")))[:2]
    rows: list[dict[str, str]] = []
    for name, edits in cases:
        row = {words["case"]: name}
        for letter, run in zip("ab", sentences, strict=True):
            forced = runs().trace(model, (run.source,), (run.answer,), edits)
            ids = pipeline.vocabulary("target").ids(pronouns)
            row[words["answer_of"].format(letter=letter)] = runs().answer(model, run.source, edits).text
            for pronoun, token in zip(pronouns, ids, strict=True):
                probability = float(forced.probabilities[0, run.row, token])
                row[words["probability_of"].format(letter=letter, pronoun=pronoun)] = share(probability, 1)
        rows.append(row)
    show_table(tuple(rows[0]), tuple(tuple(row.values()) for row in rows), named=True)
    st.caption(words["silenced_says"])
    show_buttons(question, prediction, can_leave=False)
