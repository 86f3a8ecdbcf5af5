"""The two runs that are patched: text A, which is the clean run, and text B, the corrupt one. Both read the same target."""

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from pages.lessons import ABOUT_HEADS, withheld
from pages.shell.view.map_names import map_names
from pages.shell.view.patched_runs import Choice, Runs, is_heavy, one_model, patched_runs, runs_of
from pages.shell.view.second_run import Asked, answer_of, second_run
from pages.shell.view.second_run_menu import answer_row, pick_second_run
from pages.shell.view.turns import computed
from pages.shell.view.two_runs import say_runs
from pages.shell.view.view import View, view_of
from pages.ui.escaping import literal
from pages.ui.format import fixed
from pages.ui.link_values import choose
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer import InputError
from transformer.patching import Patched
from transformer.pipeline.answer import Answer
from transformer.text.pieces import joined_label
from transformer.tracing.paths import Kind
from transformer.tracing.trace import Tokens

STEP, HEAD = "step", ("kind", "layer", "head")
ONLY_TEXTS = (
    "Patching takes tensors from one run of a model to another run of the same model without edits. So here, A and B can "
    "differ in their text only."
)


def patched(runs: Runs, choice: Choice) -> Patched:
    """The effect of patching each place (head or layer, perhaps token), from the shared cache. Draws the progress if it is
    computed in several passes."""
    place = st.empty()

    def report(done: int, total: int) -> None:
        if done < total:
            place.progress(done / total, text("patching")["running"].format(done=done, total=total))

    result = computed("", patched_runs, runs, choice, heavy=is_heavy(runs, choice), report=report)
    place.empty()
    return result


def runs_to_patch(view: View) -> Runs | None:
    """Draw the menu of the second run, the picker of the compared step, a description of both runs, and what differs at that
    step. Returns the two runs. If there is no second text yet, or it equals the first text, draw a note and return None.

    Raises:
        InputError: the runs cannot be patched, because they differ in more than their text, or in length.
    """
    words = text("patching")
    with answer_row() as row:
        said = st.container()
    asked = pick_second_run(view, row, text_alone=True, default=second_text(view))
    if asked is None:
        st.info(words["no_second"], icon=":material/compare:")
        return None
    if asked.model not in ("", view.model) or asked.phrases or asked.own_answer or asked.target not in ("", view.target):
        raise InputError(ONLY_TEXTS)
    second = second_run(view, asked)
    both = one_model(view, second.view)
    with said:
        say_runs(both[0], replace(second, view=both[1]), [answer_of(each, ()) for each in both])
        if both[0].key != view.key:
            st.caption(words["both_texts"])
    if _read(both[1]) == _read(both[0]):
        st.info(words["equal"], icon=":material/compare:")
        return None
    differs, picker = st.columns([3, 1], vertical_alignment="bottom")
    with picker:
        runs = _with_step(runs_of(*both))
    with differs:
        _say_difference(runs)
    return runs


def _read(view: View) -> list[Tokens]:
    """The tokens that the model of a view reads. Not their ids, because an untrained model has other ids for another text."""
    trace = view.trace()
    return [trace.tokens_of(side) for side in trace.sides]


def is_told() -> bool:
    """Whether the page may show what heads do. While a lesson asks about this, draw a note instead and return False."""
    if withheld(*ABOUT_HEADS):
        # The pickers of the head are not drawn now. Without this loop, they would later show the head of the lesson's stop
        # before.
        for name in HEAD:
            if name in st.query_params:
                choose(name, st.query_params[name])
        st.info(text("patching")["asked"], icon=":material/school:")
        return False
    return True


def beside_text(runs: Runs) -> str:
    """What the decoder of both runs reads: `answer` for the first run's answer, `target` for a typed target. For a model with
    one stack, whose runs read only their texts, the name of the stack."""
    if len(runs.clean.pipeline.stacks) == 1:
        return runs.clean.pipeline.stacks[0]
    return "answer" if isinstance(runs.clean.target, Answer) else "target"


def _with_step(runs: Runs) -> Runs:
    """Draw the picker of the compared step. Returns the runs with the picked step."""
    words, trace = text("patching"), runs.clean.trace()
    kind = str(Kind.DECODER if trace.target_ids else Kind.ENCODER)
    # The last token of a text that a decoder alone reads is followed by any token, not by the end.
    names = trace.query_names(kind) if trace.sides == ("target",) else map_names(runs.clean, trace, kind)[0]
    # Steps are counted from 1, as on Watch it write.
    labels = {step: f"{step}: {name}" for step, name in enumerate(names, 1)}
    help = words["step_helps"][beside_text(runs)]
    step = pick(words["step"], list(labels), STEP, help, runs.pair.row + 1, as_list=True, labels=labels)
    return replace(runs, row=step - 1)


def _say_difference(runs: Runs) -> None:
    """Write which tokens the runs prefer at the compared step, and the logit difference in each."""
    pair, trace = runs.pair, runs.clean.trace()
    vocabulary = runs.clean.pipeline.vocabulary("target" if trace.target_ids else "source")
    first, second = (literal(joined_label([token])) for token in vocabulary.tokens_of(pair.tokens))
    logits = [view.trace().logits[0, pair.row] for view in (runs.clean, runs.corrupt)]
    clean, corrupt = (fixed(float(of[pair.tokens[0]] - of[pair.tokens[1]]), 2) for of in logits)
    says = text("patching")["same_answer" if pair.same_answer else "differ"]
    st.markdown(says.format(first=first, second=second, clean=clean, corrupt=corrupt))
    if not runs.clean.pipeline.trained and pair.tokens[0] in vocabulary.specials:
        st.caption(text("patching")["special"].format(token=first))


def second_text(view: View) -> Asked | None:
    """The text of the second run if the visitor chooses none: the view's text with one word, digit or letter replaced. It has
    as many tokens as the view's text, but not the same, and no unknown token. None if no such text is found."""
    for candidate in _candidates(view.source):
        other = view_of(view.model, (view.source, candidate), (view.target, view.target))
        try:
            first, second = (other.encoding("source", item) for item in (0, 1))
        except InputError:
            continue
        if len(first.ids) == len(second.ids) and first.ids != second.ids and not second.unknown:
            return Asked(source=candidate)
    return None


def _candidates(source: str) -> Iterator[str]:
    """First the texts with one word replaced, then the texts with one digit replaced by the next digit. If the text is a single
    word, a letter can also be replaced by the next letter. Both series begin at the end of the text."""
    exchanged, words = text("patching")["exchanged"], source.split(" ")
    for place in reversed(range(len(words))):
        bare = words[place].strip(".,!?;:").lower()
        if bare in exchanged:
            other = words[place].lower().replace(bare, exchanged[bare])
            yield " ".join([*words[:place], other.capitalize() if words[place][:1].isupper() else other, *words[place + 1 :]])
    alphabets = ("0123456789", "abcdefghijklmnopqrstuvwxyz") if len(words) == 1 else ("0123456789",)
    for place, letter in reversed([*enumerate(source)]):
        for alphabet in alphabets:
            if letter in alphabet:
                after = alphabet[(alphabet.index(letter) + 1) % len(alphabet)]
                yield source[:place] + after + source[place + 1 :]
