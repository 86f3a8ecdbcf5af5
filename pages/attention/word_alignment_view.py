"""How well the heads of a translation model align words, as its model card says, and the sentences on which it was measured."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Float

from pages.shell.view.explained_chart import show_explained
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.charts import chart
from pages.ui.escaping import literal
from pages.ui.format import fixed, latex, whole
from pages.ui.pickers import pick_number, unfolding
from pages.ui.text import text
from transformer.analysis.word_alignment import Aligned, Links, alignment_counts, head_links, read_alignments, words
from transformer.figures.head_steps_figures import Matrix, tensor_map


def show_word_alignment(view: View, kind: str, layer: int, head: int) -> None:
    """Draw the word alignment error of every cross-attention head, beside the errors of two simple rules. Draw nothing unless
    `kind` is `cross` and the model's card (training record) has these errors. `layer` and `head` are from 0."""
    measured = view.pipeline.card.measures.get("alignment")
    if not measured or kind != "cross":
        return
    said, errors = text("head_patterns")["alignment"], np.array(measured["errors"])
    st.container(key="word-alignment-title").subheader(said["title"], anchor=False)
    st.markdown(said["intro"].format(sentences=measured["sentences"]))
    numbers = {name: fixed(measured[name], 2) for name in ("diagonal", "word_model")}
    best = {"layer": measured["layer"], "head": measured["head"], "best": fixed(errors.min(), 2)}
    this = {"this_layer": layer + 1, "this_head": head + 1, "this": fixed(errors[layer, head], 2)}
    st.markdown(said["result"].format(sentences=measured["sentences"], **numbers, **best, **this))
    rows, columns = ([str(number + 1) for number in range(size)] for size in errors.shape)
    names = text("head_patterns")
    matrix = Matrix(errors, rows, columns, names["layer"], names["head"], signed=False, selected_cell=(layer, head))
    show_explained(
        chart(tensor_map, matrix),
        "word-alignment",
        said["alt"].format(**best),
        lambda cell: _explain_error(view, cell.row, cell.column, float(errors[cell.row, cell.column]), measured["sentences"]),
    )
    if measured["snapshots"]:
        by_step = {snapshot["step"]: np.array(snapshot["errors"]) for snapshot in measured["snapshots"]}
        _show_by_step(by_step | {view.pipeline.card.recipe["steps"]: errors})
    opened = unfolding(said["sentences"].format(sentences=measured["sentences"]), ":material/translate:", "sentences")
    if opened:
        with opened:
            st.caption(said["sentences_help"])
            st.dataframe(_table(), hide_index=True, width="stretch", height=320)


def _show_by_step(by_step: Mapping[int, Float[np.ndarray, "layer head"]]) -> None:
    """Write the smallest alignment error after each number of training steps, and draw a folded table of the errors of all
    heads. `by_step` maps the number of steps to the errors."""
    words, said = text("head_patterns"), text("head_patterns")["alignment"]
    least = [f"{whole(step)}: **{fixed(errors.min(), 2)}**" for step, errors in by_step.items()]
    st.caption(said["training"].format(steps="; ".join(least)))
    if fold := unfolding(said["by_step"], ":material/table:", "by_step"):
        layers, heads = (places.ravel() + 1 for places in np.indices(next(iter(by_step.values())).shape))
        columns = {whole(step): [fixed(error, 2) for error in errors.ravel().tolist()] for step, errors in by_step.items()}
        with fold:
            frame = pd.DataFrame({words["layer"]: layers, words["head"]: heads, **columns})
            st.dataframe(frame, hide_index=True, width="content", height=320)


def _explain_error(view: View, layer: int, head: int, error: float, count: int) -> None:
    """Draw how the alignment error of a head is computed: on one of the sentences, because all of them would take too long.

    Args:
        error: the error on all sentences.
        count: how many sentences there are.
    """
    said = text("head_patterns")["alignment"]["explained"]
    place = {"layer": layer + 1, "head": head + 1, "error": fixed(error, 4), "count": count}
    st.markdown(said["all"].format(**place))
    sentences = read_alignments()
    number = pick_number(said["sentence"].format(count=len(sentences)), "aligned", 1, len(sentences), 1) or 1
    sentence = sentences[number - 1]
    trace = runs().trace(view.key, (sentence.source,), (sentence.target,), ())
    made = head_links(trace, layer, head)
    counts = alignment_counts([made], [sentence])
    texts = sentence.source, sentence.target
    marked = [said[_judged(link, sentence)].format(link=literal(_in_words(frozenset({link}), *texts))) for link in sorted(made)]
    missing = literal(_in_words(sentence.sure - made, *texts)) or said["none"]
    st.markdown(
        said["links"].format(source=literal(texts[0]), target=literal(texts[1]), links="; ".join(marked), missing=missing)
    )
    st.latex(
        r"1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|} = "
        rf"1 - \frac{{{counts.sure_found} + {counts.possible_found}}}{{{counts.made} + {counts.sure}}} = {latex(counts.error)}"
    )


def _judged(link: tuple[int, int], sentence: Aligned) -> str:
    """What the reference alignment of the sentence says about a link between two words: `sure`, `possible` or `wrong`."""
    return "sure" if link in sentence.sure else "possible" if link in sentence.possible else "wrong"


@cached
def _table() -> pd.DataFrame:
    """A table of the sentences and their links, each link as a pair of words."""
    columns = text("head_patterns")["alignment"]["columns"]
    return pd.DataFrame(
        [
            {
                columns["english"]: one.source,
                columns["french"]: one.target,
                columns["sure"]: _in_words(one.sure, one.source, one.target),
                columns["possible"]: _in_words(one.possible - one.sure, one.source, one.target),
            }
            for one in read_alignments()
        ]
    )


def _in_words(links: Links, source: str, target: str) -> str:
    read, written = words(source), words(target)
    return ", ".join(f"{read[left]} – {written[right]}" for left, right in sorted(links))
