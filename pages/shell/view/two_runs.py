"""Two runs side by side: what A and B are, in words, and the numbers of A, of B and of B − A."""

import difflib
from collections.abc import Callable, Sequence

import streamlit as st

from pages.shell.error_boundary import sentence, warn_unknown
from pages.shell.models.model_texts import accepts
from pages.shell.view.second_run import Asked, SecondRun, answer_of, second_run
from pages.shell.view.view import View
from pages.ui.escaping import literal, quoted, span
from pages.ui.text import text
from transformer import Difference, HeadlightError, Trace, compare
from transformer.analysis.word_trace import WordTrace, in_pieces
from transformer.tracing.paths import Side


def show_two_runs(view: View, asked: Asked | None, draw: Callable[[SecondRun], None]) -> None:
    """Draw what the two runs are, and what `draw` draws of them. An error of B is one sentence, and the page goes on with A.

    Args:
        view: the run A.
        asked: what B has of its own; None if nothing is compared.
        draw: draws A, B and B − A of what the page is about.
    """
    if asked is None:
        return
    with st.container(border=True, key="two_runs", gap="small"):
        try:
            second = second_run(view, asked)
            say_runs(view, second)
            draw(second)
        except HeadlightError as error:
            problem = literal(sentence(error, asked.model or view.model))
            st.error(text("second_run")["refused"].format(problem=problem), icon=":material/error:")


def difference_of(view: View, shown: Trace, second: SecondRun, sides: Sequence[Side] = ()) -> Difference:
    """The difference of the second run and of A's first text, between words if `shown` is. Draws how the tokens are aligned.

    Args:
        shown: A's trace as the page draws it: of one text or of a batch, between tokens or words.
        sides: the sides whose alignment is said; all by default.

    Raises:
        HeadlightError: the runs cannot be compared.
    """
    a, b = (view.trace(), second.trace()) if shown.batch_size > 1 else (shown, second.trace())
    if isinstance(shown, WordTrace):
        a, b = (WordTrace.of(run) if in_pieces(run) and not isinstance(run, WordTrace) else run for run in (a, b))
    difference = compare(a, b)
    _say_alignment(difference, sides)
    if shown.batch_size > 1:
        st.caption(text("second_run")["first_alone"])
    return difference


def _say_alignment(difference: Difference, sides: Sequence[Side]) -> None:
    words = text("second_run")
    for side in difference.places:
        if difference.aligned[side] == "words" and (not sides or side in sides):
            first, second = (len(run.tokens_of(side)[0]) for run in (difference.a, difference.b))
            st.caption(words["words"].format(side=text("common")[side], first=first, second=second))
            return
    st.caption(words["positions"])


def say_runs(view: View, second: SecondRun) -> None:
    """Draw a line on each run: its text and its answer, and what else differs. What differs is bold."""
    words, other, asked = text("second_run"), second.view, second.asked
    answers = [run and run.text for run in (answer_of(view), second.answer())]
    sources, written = _marked(view.source, other.source), _marked(*(answer or "" for answer in answers))
    targets = [run.target if isinstance(run.target, str) else None for run in (view, other)]
    for name, run, source, answer, says, target, edits in zip(
        ("A", "B"), (view, other), sources, written, answers, targets, ((), asked.phrases), strict=True
    ):
        line = words["says_read" if says is None else "says"].format(name=name, source=source, answer=answer)
        more = [words["of_model"].format(model=literal(run.model))] if other.model != view.model else []
        if targets[0] != targets[1]:
            more.append(words["of_own_answer"] if target is None else words["of_target"].format(target=quoted(target)))
        if edits:
            more.append(words["of_edits"].format(edits=literal(", ".join(edits))))
        st.markdown(" · ".join([line, *(f"**{part}**" for part in more)]))
    encoding = other.encoding("source")
    if encoding.unknown:
        warn_unknown("source", encoding.unknown, accepts(other.model) if other.pipeline.card.accepts else "")


def _marked(first: str, second: str) -> tuple[str, str]:
    """Two texts as Markdown. The words in which they differ are bold."""
    one, other = first.split(), second.split()
    same = difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    kept = [{block[side] + index for block in same for index in range(block.size)} for side in (0, 1)]
    marked = [
        " ".join(quoted(word) if index in equal else f"**{quoted(word)}**" for index, word in enumerate(words))
        for words, equal in zip((one, other), kept, strict=True)
    ]
    return span(marked[0]), span(marked[1])
