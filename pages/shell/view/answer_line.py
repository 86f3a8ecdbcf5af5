"""The part of the banner about an answer: the answer, how sure the model was of it, and what is wrong with it."""

import math
from itertools import groupby

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.error_boundary import sentence
from pages.shell.view.runs import right_answer
from pages.shell.view.view import View
from pages.ui.escaping import literal, quoted
from pages.ui.format import share, whole
from pages.ui.text import text
from transformer import InputError
from transformer.analysis.hesitation import UNSURE, hesitation
from transformer.pipeline.card import POOR
from transformer.pipeline.pipeline import Answer
from transformer.text.pieces import joined_label

# Session key: whether the page shows the last view that could be computed instead of the present one.
SHOWS_LAST = "shows_last"
# Probabilities of the next token, for each row of an answer.
Probabilities = Float[np.ndarray, "row vocab"]


def answer_of(view: View, item: int = 0) -> Answer | InputError:
    """The model's answer to the text with the index `item` in the batch. If the model does not write answers (`View.writes`),
    an error can be returned instead, such as that the text has no mask to fill in."""
    try:
        return view.answer(item=item)
    except InputError as error:
        if view.writes:
            raise
        return error


def show_answer(
    view: View,
    answer: Answer | InputError,
    probabilities: Probabilities | None = None,
    item: int = 0,
    labelled: bool = False,
) -> None:
    """Draw the answer to a text, how sure the model was of it, and what is wrong with it.

    Args:
        answer: the answer to the text, or the error that says why the model writes none.
        probabilities: probabilities of the next token, a row for each token of the answer and one for `<eos>`; None if unknown.
        labelled: whether a label is written before the answer.
    """
    words, target = text("common"), view.targets[item]
    if isinstance(answer, InputError):
        st.caption(literal(sentence(answer)))
        return
    source, written = quoted(view.sources[item]), quoted(answer.text) or words["empty_answer"]
    # A single text is not repeated, because its box is right above.
    name = "answer" if len(view.sources) > 1 else "answer_labelled" if labelled else "answer_alone"
    last = st.session_state.get(SHOWS_LAST)
    if last:
        name = "last_answer" if view.model == st.session_state["model"] else "last_answer_of"
    remarks, help = [], None
    if view.pipeline.trained and not last:
        help = _doubt(view, answer)
        if help is not None:
            written, remarks = shaded(view, answer) or written, [words["doubt"]]
        elif remarks := _least_sure(view, answer, probabilities):
            help = words["unsure_help"]
        remarks = [*_faults(view, answer, item), *remarks]
    line = [words[name].format(source=source, answer=written, model=literal(view.model)), *remarks]
    # All on one line, so that the remarks on an answer do not push the picture down.
    st.markdown(" · ".join(line), help=help)
    if isinstance(target, str):
        st.caption(words["forced"].format(target=quoted(target)))


def _faults(view: View, answer: Answer, item: int) -> list[str]:
    """What is wrong with an answer: another one was right by the rule of the task, or a model with two stacks did
    not end it."""
    words, says = text("common"), []
    right = right_answer(view.pipeline.card.task, view.sources[item])
    if right is not None and answer.text != right:
        says.append(words["wrong"].format(right=quoted(right) or words["empty_answer"]))
    # A decoder alone always writes as many tokens as it may.
    if not answer.ended and len(view.pipeline.stacks) > 1:
        says.append(words["not_ended"].format(count=len(answer.tokens)))
    return says


def _doubt(view: View, answer: Answer) -> str | None:
    """How often the model is wrong if it is as unsure as in this answer. None if its confidence is not below the limit that the
    model's card names."""
    measured, chances = view.pipeline.card.measures.get("doubt"), answer.log_probabilities
    if not measured or not chances or sum(chances) / len(chances) >= measured["below"]:
        return None
    shares = {name: share(measured[name]) for name in ("poor_of_marked", "poor_of_others")}
    words, tested = text("common"), whole(view.pipeline.card.tested_on)
    return words["doubt_help"].format(sentences=tested, poor=whole(POOR), unsure=share(UNSURE), **shares)


def shaded(view: View, answer: Answer) -> str:
    """An answer as Markdown, with a shade behind each word that has a token with a probability below `UNSURE`. The shade is
    left out if the tokens cannot be matched with the answer's text."""
    vocabulary, tokens = view.pipeline.vocabulary("target"), answer.tokens
    ids = vocabulary.ids(tokens)
    numbers = vocabulary.words_of(ids) or range(len(tokens))
    chances = answer.log_probabilities[: len(tokens)]
    unsure = {word for word, chance in zip(numbers, chances, strict=True) if math.exp(chance) < UNSURE}
    parts, end, written = [], 0, ""
    for is_unsure, run in groupby(numbers, lambda word: word in unsure):
        end += len([*run])
        before, written = written, vocabulary.text_of(ids[:end])
        if not written.startswith(before):  # the pieces of one character, which are not a text without one another
            return quoted(answer.text)
        part = written[len(before) :]
        space = " " * part.startswith(" ")
        parts.append(f"{space}:orange-background[{literal(part.strip())}]" if is_unsure and part.strip() else literal(part))
    return "".join(parts) if quoted(answer.text) == literal(answer.text) == literal(written) else quoted(answer.text)


def _least_sure(view: View, answer: Answer, probabilities: Probabilities | None) -> list[str]:
    """A sentence, in a list, that names the token of the answer that the model was least sure of, and its word. The list is
    empty if the model was unsure of none, or the probabilities are not known."""
    unsure = None if probabilities is None or not len(probabilities) else hesitation(probabilities)
    if unsure is None:
        return []
    vocabulary, words = view.pipeline.vocabulary("target"), text("common")
    token, other = (joined_label([piece]) for piece in vocabulary.tokens_of([unsure.token, unsure.other]))
    numbers = vocabulary.words_of(vocabulary.ids(answer.tokens))
    word = token
    if unsure.row < len(numbers):
        pieces = [piece for piece, number in zip(answer.tokens, numbers, strict=True) if number == numbers[unsure.row]]
        word = joined_label(pieces)
    shares = {"share": share(unsure.probability), "other_share": share(unsure.other_probability)}
    names = {"word": literal(word), "token": literal(token), "other": literal(other)}
    return [words["unsure" if word == token else "unsure_in"].format(**names, **shares)]
