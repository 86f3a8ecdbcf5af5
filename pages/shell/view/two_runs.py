"""Two runs side by side: what A and B are, in words, and the numbers of A, of B and of B − A."""

import difflib
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.models.model_texts import accepts
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import difference_formula
from pages.shell.view.runs import Edits
from pages.shell.view.second_run import Asked, SecondRun, answer_of, second_run
from pages.shell.view.text_notes import say_unknown
from pages.shell.view.view import View
from pages.ui.charts import chart
from pages.ui.escaping import literal, quoted, span
from pages.ui.text import text
from transformer import Difference, HeadlightError, InputError, Trace, compare
from transformer.analysis.word_trace import WordTrace, in_pieces
from transformer.figures.comparison_figures import three_maps
from transformer.figures.panels import TensorView, tensor_view
from transformer.tracing.paths import Side

# Key of the figure. All columns of a tensor are drawn if there are at most MOST_COLUMNS; of more columns, MOST_NAMED are drawn,
# each with its name.
KEY = "two-runs"
MOST_COLUMNS, MOST_NAMED = 128, 24


def show_two_runs(
    view: View,
    asked: Asked | None,
    draw: Callable[[SecondRun], None],
    answer: Callable[[View, Edits], str | None] = answer_of,
    texts: int = 1,
) -> None:
    """Compare two runs: draw a line about each, A of `view` and B of `asked`, and call `draw`. An error of B is drawn as one
    sentence; then the page goes on with A.

    Args:
        asked: what is different in B; None to draw nothing.
        draw: draws what the page is about: for A, for B, and as B − A.
        answer: the answer of a run with edits, as the page writes it; None for a model that writes none.
        texts: how many texts the page draws. If there are several, a caption says that only the first is compared.
    """
    if asked is None:
        return
    with st.container(border=True, key="two_runs", gap="small"):
        try:
            second = second_run(view, asked)
            say_runs(view, second, (answer(view, ()), answer(second.view, second.edits)))
            if texts > 1:
                st.caption(text("second_run")["first_alone"])
            draw(second)
        except HeadlightError as error:
            problem = literal(sentence(error, asked.model or view.model))
            st.error(text("second_run")["refused"].format(problem=problem), icon=":material/error:")


def difference_of(view: View, shown: Trace, second: SecondRun) -> Difference:
    """The tensors of the second run, B, minus those of the run of the first text of `view`, A.

    Args:
        shown: A's trace as the page draws it. If its tokens are whole words, so are those of the difference.

    Raises:
        HeadlightError: the runs cannot be compared.
    """
    a, b = (view.trace(), second.trace()) if shown.batch_size > 1 else (shown, second.trace())
    if isinstance(shown, WordTrace):
        a, b = (WordTrace.of(run) if in_pieces(run) else run for run in (a, b))
    return compare(a, b)


def alignment(difference: Difference, *sides: Side) -> str:
    """A sentence on how the tokens of two compared runs are aligned: by equal tokens if `sides` need it, else by position."""
    words = text("second_run")
    for side in sides:
        if difference.aligned[side] == "words":
            first, second = (len(run.tokens_of(side)[0]) for run in (difference.a, difference.b))
            return words["words"].format(side=text("common")[side], first=first, second=second)
    return words["positions"]


def say_runs(view: View, second: SecondRun, answers: Sequence[str | None]) -> None:
    """Draw a line about each of two compared runs: its text and its answer, and what else differs. What differs is bold."""
    words, other, asked, lines = text("second_run"), second.view, second.asked, []
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
        lines.append(" · ".join([line, *(f"**{part}**" for part in more)]))
    st.markdown("  \n".join(lines))
    read = accepts(other.model) if other.pipeline.card.accepts else ""
    for side in ("source", "target") if isinstance(other.target, str) else ("source",):
        if unknown := other.encoding(side).unknown:
            st.warning(say_unknown(side, unknown, read), icon=":material/help:")


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


def show_both_rows(difference: Difference, path: str, side: Side, title: str) -> None:
    """Draw the tensor `path`, which has a vector for each token of a side, as three heatmaps: of A, of B, and of B − A. Raises
    a `HeadlightError` if a run has no such tensor, or the vectors have different sizes."""
    axes, names = difference.a[path].axes, difference.tokens_of(side)
    views = [tensor_view(title, run[path].numpy(), axes, tokens={axes[-2]: names}) for run in difference.runs]
    show_both_maps(views, title, alignment(difference, side))


def show_both_maps(views: Sequence[TensorView], title: str, aligned: str) -> None:
    """Draw a tensor of two runs, A and B, and B − A, as three heatmaps with one cursor. The rows of all heads are stacked.

    Args:
        views: the tensor of A, and of B with aligned tokens, each ready to be drawn (from `Difference.runs`).
        aligned: a text that says how the tokens are aligned.

    Raises:
        InputError: the tensors have different sizes.
    """
    words, panels = text("second_run"), [view.panel for view in views]
    for axis, *sizes in zip(panels[0].axes, *(panel.values.shape for panel in panels), strict=True):
        if sizes[0] != sizes[1]:
            template = "The size of {axis} is {a} in A and {b} in B, so B − A cannot be computed."
            raise InputError(template, axis=axis or "head", a=sizes[0], b=sizes[1])
    a, b = (panel.values.reshape(-1, panel.values.shape[-1]) for panel in panels)
    st.markdown(f"**{title}** · {aligned}")
    change = np.abs(np.nan_to_num(np.subtract(b, a, out=np.zeros_like(a), where=a != b)))  # −∞ minus −∞ is NaN
    if not change.any() and (np.isnan(a) == np.isnan(b)).all():
        st.info(words["equal"], icon=":material/check:")
        return
    hidden = [None if panel.hidden is None else ~panel.hidden.reshape(a.shape) for panel in panels]
    columns = views[0].labels(2)
    if a.shape[1] > MOST_COLUMNS:
        kept = np.sort(np.argsort(-change.max(0), kind="stable")[:MOST_NAMED])
        st.caption(words["largest"].format(count=a.shape[1], shown=len(kept)))
        columns = [columns[at] if columns else str(at) for at in kept]
        a, b, hidden = a[:, kept], b[:, kept], [None if each is None else each[:, kept] for each in hidden]
    _, *axes = panels[0].axes
    figure = chart(
        three_maps,
        *(a, b, *hidden, _row_names(views[0]), columns),
        signed=panels[0].scale == "signed",
        axes=tuple(axes),
    )

    def explain(cell: Cell) -> None:
        """Draw the difference of the two numbers of a cell."""
        first, second = (float(values[cell.row, cell.column]) for values in (a, b))
        if np.isnan(first) or np.isnan(second):
            st.markdown(words["explained_missing"])
        elif np.isinf(first) and first == second:
            st.markdown(words["explained_masked"])
        else:
            st.markdown(words["explained_difference"])
            st.latex(difference_formula(second, first))

    show_explained(
        figure,
        KEY,
        words["maps_alt"].format(title=title),
        explain,
    )


def _row_names(view: TensorView) -> list[str]:
    """The names of the rows of all heads, head after head."""
    tiles, rows, _ = view.panel.values.shape
    names = view.labels(1) or [str(row) for row in range(rows)]
    head = text("second_run")["head_row"]
    return [head.format(head=tile + 1, row=name) if tiles > 1 else name for tile in range(tiles) for name in names]
