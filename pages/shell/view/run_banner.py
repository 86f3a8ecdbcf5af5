"""The banner above a page's pictures: warnings about the texts, and the model's answers. It hands the page its run."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.error_boundary import MOST_UNKNOWN, explained, remark_on, sentence, warn_remark, warn_unknown
from pages.shell.models.catalogue import available
from pages.shell.models.folders import FolderModel
from pages.shell.models.model_texts import accepts
from pages.shell.view.run_of_view import Run, Texts, of_view_or_last, run_of, texts_of
from pages.shell.view.runs import right_answer
from pages.shell.view.view import View, current_view
from pages.ui.escaping import literal, quoted
from pages.ui.format import number, share, whole
from pages.ui.later import draw_later
from pages.ui.text import text
from transformer import HeadlightError, InputError, Trace
from transformer.analysis.hesitation import hesitation
from transformer.pipeline.pipeline import MAX_UNTRAINED_TOKENS, Answer, Encoding
from transformer.pipeline.protocol import TextPipeline
from transformer.pipeline.untrained import Untrained
from transformer.tasks import TASKS, find_task
from transformer.text.pieces import joined_label
from transformer.text.vocabulary import Unknown

Result = TypeVar("Result")
# The translator that reads any text, and how the names of the tasks begin whose translators know few words.
READS_ANY, LIMITED = "everyday", "english-french"


def show_run(
    batch: bool = False,
    with_answer: bool = True,
    beside: Callable[[View], View] = lambda view: view,
    labelled: bool = False,
) -> tuple[View, Trace]:
    """Draw the banner and return the view and trace that the page draws.

    If the text cannot be read, the error is shown and the page draws the view that was drawn last in this session.

    Args:
        batch: show and trace every sentence, instead of the first alone.
        with_answer: whether the banner tells the answer. False while the learner guesses it.
        beside: returns a view with the page's own example texts added after the typed ones. These texts are traced, but the
            banner does not show them.
        labelled: whether the line with an answer says what it is. It then takes one line more on a phone.

    Raises:
        HeadlightError: a text (with `batch`, any text of the batch) cannot be read, and nothing was drawn before.
    """
    run = _with_note(partial(run_of, batch=batch, beside=beside))
    _show_warnings(run.texts)
    for item in range(len(run.answers) if with_answer else 0):
        _show_answer(run, item, labelled)
    show_agreement(run.texts.view)
    return run.texts.view, run.trace


def show_texts(compute: Callable[[View], object] | None = None) -> View:
    """Draw the banner of a page that needs no trace: only the warnings about the first text. Returns the view. In all else it
    does the same as `show_run`.

    Args:
        compute: the first computation of the page. If it raises a `HeadlightError`, the text is treated as unreadable.
    """

    def read(view: View) -> Texts:
        texts = texts_of(view)
        if compute is not None:
            compute(view)
        return texts

    texts = _with_note(read)
    _show_warnings(texts)
    return texts.view


def _with_note(compute: Callable[[View], Result]) -> Result:
    """The result of `compute` for the present view, or for the last one that could be computed (`of_view_or_last`). Draws which
    view that is, and that an untrained model is untrained."""
    view = current_view()
    # Drawn before the run, which may take seconds, because an element that appears late pushes the page down while somebody
    # reads it. A trained model keeps the empty place, so that the elements below are not mounted anew when the model changes.
    note = st.empty()
    with note:
        _note_untrained(view)
    try:
        result, computed, problem = of_view_or_last(view, compute)
    except HeadlightError:
        note.empty()
        raise
    if problem is not None:
        note.empty()
        with note:
            _note_untrained(computed)
        st.error(literal(sentence(problem)), icon=":material/error:")
        notice = text("common")["last_drawn"].format(source=quoted(computed.source), model=literal(computed.model))
        st.info(notice, icon=":material/history:")
    return result


def _note_untrained(view: View) -> None:
    """Say that the model of a view is untrained, if it is."""
    if isinstance(view.key, Untrained):
        st.markdown(text("common")["untrained"].format(most=MAX_UNTRAINED_TOKENS))


def _show_warnings(texts: Texts) -> None:
    """Draw the warnings about each text."""
    words, view, several = text("common"), texts.view, len(texts.sources) > 1
    if view.problem:
        st.warning(words["first_alone"].format(problem=literal(sentence(view.problem))), icon=":material/view_agenda:")
    for item in range(len(texts.sources)):
        _warn(texts, item, item + 1 if several else None)


def show_agreement(view: View) -> None:
    """For a model from a folder, say whether the traced run gave the same logits as the untraced model in `transformers`. That
    model runs once more for it, so it is said when the pictures are drawn."""
    if isinstance(view.key, FolderModel):
        draw_later("agreement", partial(_say_agreement, view, view.key.own_network))


@explained()
def _say_agreement(view: View, own_network: bool) -> None:
    words, agreement = text("common"), view.agreement()
    if own_network and agreement.rounding:
        st.caption(words["agrees_own"].format(difference=number(agreement.difference, 2)))
    elif agreement.equal:
        st.caption(words["agrees_vectors" if view.pipeline.output_kind == "vectors" else "agrees"])
    else:
        st.warning(words["differs"].format(difference=number(agreement.difference, 2)), icon=":material/balance:")


def _warn(texts: Texts, item: int, number: int | None) -> None:
    """Draw warnings about one text: unknown tokens, and more tokens than the model was trained on."""
    words, pipeline, target = text("common"), texts.view.pipeline, texts.targets[item]
    # The training texts of a model from a folder are not known.
    read = accepts(texts.view.model) if pipeline.card.accepts else ""
    if not (pipeline.trained and _remark_names_unknown(texts, item)):
        warn_unknown("source", _with_fitting(pipeline, texts.sources[item]), read, number)
    if target is not None:
        warn_unknown("target", target.unknown, read, number)
    if pipeline.trained:
        warn_remark(pipeline.card.task, texts.view.sources[item])
    strange = texts.sources[item].unknown or remark_on(pipeline.card.task, texts.view.sources[item]) is not None
    if item == 0 and strange and pipeline.card.task.startswith(LIMITED) and READS_ANY in available():
        label = words["reads_any"].format(model=READS_ANY)
        st.button(label, key="reads_any", on_click=_open_reads_any, icon=":material/translate:")
    length = len(texts.sources[item].typed)
    if pipeline.trained and length > pipeline.card.longest:
        which = words["this_text"] if number is None else words["text_number"].format(number=number)
        warning = words["longer"].format(which=which, length=length, longest=pipeline.card.longest)
        st.warning(warning, icon=":material/straighten:")


def _open_reads_any() -> None:
    st.session_state["model"] = READS_ANY
    st.rerun()  # the whole app, because the model is in the sidebar


def _remark_names_unknown(texts: Texts, item: int) -> bool:
    """Whether the remark of the model's task names all unknown words of a source, so that a second warning would repeat it."""
    remark = remark_on(texts.view.pipeline.card.task, texts.view.sources[item])
    unknown = [token.token for token in texts.sources[item].unknown]
    return remark is not None and any(all(token in str(value) for token in unknown) for value in remark.values.values())


def _with_fitting(pipeline: TextPipeline, encoding: Encoding) -> tuple[Unknown, ...]:
    """The unknown tokens of a source. Each gets known words that could replace it, if the model's task can suggest some."""
    if pipeline.card.task not in TASKS:
        return encoding.unknown
    closest = find_task(pipeline.card.task).closest
    fitting = [
        tuple(closest(encoding.typed, encoding.typed.index(unknown.token))) for unknown in encoding.unknown[:MOST_UNKNOWN]
    ]
    named = [
        replace(unknown, closest=words or unknown.closest) for unknown, words in zip(encoding.unknown, fitting, strict=False)
    ]
    return (*named, *encoding.unknown[MOST_UNKNOWN:])


def _show_answer(run: Run, item: int, labelled: bool) -> None:
    view, answer = run.texts.view, run.answers[item]
    probabilities = None
    if isinstance(answer, Answer) and view.targets[item] is None and view.writes and "probabilities" in run.trace:
        start = view.first_row(item)
        probabilities = run.trace.probabilities[item, start : start + len(answer.tokens) + answer.ended].numpy()
    show_answer(view, answer, probabilities, item, labelled)


def show_answer(
    view: View,
    answer: Answer | InputError,
    probabilities: Float[np.ndarray, "row vocab"] | None = None,
    item: int = 0,
    labelled: bool = False,
) -> None:
    """Draw the part of the banner that is about the answer to a text.

    Args:
        answer: the answer to the text, or the error that says why the model writes none.
        probabilities: probabilities of the next token, a row for each token of the answer and one for `<eos>`; None if they are
            not known.
        labelled: whether the line says what it is.
    """
    words, target = text("common"), view.targets[item]
    if isinstance(answer, InputError):
        st.caption(literal(sentence(answer)))
        return
    source, written = quoted(view.sources[item]), quoted(answer.text) or words["empty_answer"]
    # One text stands in its box, right above.
    name = "answer" if len(view.sources) > 1 else "answer_labelled" if labelled else "answer_alone"
    st.markdown(words[name].format(source=source, answer=written))
    if view.pipeline.trained:
        _warn_wrong(view.pipeline.card.task, view.sources[item], answer.text)
    # A decoder alone always writes as many tokens as it may.
    if view.pipeline.trained and not answer.ended and len(view.pipeline.stacks) > 1:
        st.warning(words["not_ended"].format(count=len(answer.tokens)), icon=":material/more_horiz:")
    if view.pipeline.trained and probabilities is not None:
        doubted = _show_doubt(view, probabilities)
        _show_hesitation(view, probabilities, "least_sure" if doubted else "unsure")
    if isinstance(target, str):
        st.caption(words["forced"].format(target=quoted(target)))


def _warn_wrong(task_name: str, source: str, written: str) -> None:
    """Say what the right answer is if the model wrote another one. Says nothing if its task has no rule for the text."""
    right = right_answer(task_name, source)
    if right is not None and written != right:
        words = text("common")
        st.warning(words["wrong"].format(right=quoted(right) or words["empty_answer"]), icon=":material/rule:")


def _show_doubt(view: View, probabilities: Float[np.ndarray, "row vocab"]) -> bool:
    """Say that the model is unsure of the whole answer, if it is below the confidence that its card names, and how often it is
    wrong then. Returns whether that was said."""
    doubt = view.pipeline.card.measures.get("doubt")
    if not doubt or not len(probabilities) or float(np.log(probabilities.max(-1)).mean()) >= doubt["below"]:
        return False
    shares = {name: share(doubt[name]) for name in ("poor_of_marked", "poor_of_others")}
    st.markdown(text("common")["doubt"].format(sentences=whole(view.pipeline.card.tested_on), **shares))
    return True


def _show_hesitation(view: View, probabilities: Float[np.ndarray, "row vocab"], name: str) -> None:
    """Name the token of the answer that the model was least sure of, if it was unsure of any. `name`: the sentence that says
    so."""
    unsure = hesitation(probabilities) if len(probabilities) else None
    if unsure is not None:
        vocabulary = view.pipeline.vocabulary("target")
        written = vocabulary.tokens_of([unsure.token, unsure.other])
        token, other = (literal(joined_label([piece])) for piece in written)
        shares = {"share": share(unsure.probability), "other_share": share(unsure.other_probability)}
        st.markdown(text("common")[name].format(token=token, other=other, **shares))
