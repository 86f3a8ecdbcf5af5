"""The tree of beam search: which hypotheses were tried, kept and pruned, and what the length penalty changed."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from pages.decoding.answer_steps import Run
from pages.decoding.decoding_settings import generate
from pages.decoding.explained_numbers import explain_mean_weight, explain_probability
from pages.decoding.whole_words import joined_tokens, joined_weights
from pages.shell.view.explained_chart import show_explained
from pages.shell.view.view import View
from pages.ui.chart import event
from pages.ui.charts import chart, show
from pages.ui.component import is_index
from pages.ui.escaping import quoted_tokens
from pages.ui.format import fixed, share
from pages.ui.pickers import kept_number
from pages.ui.text import text
from transformer.analysis.word_trace import Group
from transformer.figures import head_map
from transformer.figures.decoding_figures import TreeNode, beam_tree, stage_bars
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Beam, Greedy, Hypothesis
from transformer.tracing.paths import Kind

KEY, NODE = "beam-tree", "node"


def show_beam(view: View, run: Run, of: tuple[Group, ...]) -> None:
    """Draw the tree of beam search, the hypotheses kept to the end, and the picked node. For another method, draw only a note.
    `of` has the positions of each word's pieces if the text is shown in words; otherwise it is empty."""
    words, method = text("decoding"), run.settings.method
    if not isinstance(method, Beam):
        st.info(words["no_beam"], icon=":material/account_tree:")
        return
    st.markdown(words["beam_text"].format(width=method.width))
    nodes = tree_nodes(run)
    selected = _selected(run)
    start = run.given[-1]
    figure = chart(beam_tree, nodes, start, words["states"], selected.number, words["step_axis"])
    final = _final(run)
    alt = words["tree_alt"].format(count=len(nodes), width=method.width, final="; ".join(_said(run, made) for made in final))
    show(figure, KEY, alt, asks={"click": _pick}, tells=True, table=lambda: tree_table(run))
    _show_final(run, final)
    _show_differences(view, run, method)
    _show_node(run, selected, of)


def tree_nodes(run: Run) -> list[TreeNode]:
    """The hypotheses as nodes of the tree. Within each step, those that are never pruned come before the others, and the larger
    total log-probability comes first in both groups."""
    words, generation = text("decoding"), run.generation
    nodes = []
    for step in generation.steps:
        for made in sorted(step.hypotheses, key=lambda made: (made.number in generation.pruned, -made.total)):
            pruned = generation.pruned.get(made.number)
            (token,) = run.tokens_of([made.token])
            tokens = " ".join(run.tokens_of(each.token for each in generation.chain(made)))
            hover = [
                tokens,
                words["hover_own"].format(value=fixed(made.log_probability, 3)),
                words["hover_total"].format(value=fixed(made.total, 3)),
                words["hover_score"].format(value=fixed(made.score, 3)),
            ]
            if pruned is not None:
                hover.append(words["hover_pruned"].format(step=pruned + 1))
            state = generation.state(made)
            nodes.append(TreeNode(made.number, made.parent, made.step + 1, token, tuple(hover), state, made.ended))
    return nodes


def tree_table(run: Run) -> pd.DataFrame:
    """A table with a row for each hypothesis, the number of its parent, and the step that pruned it. Steps are counted from
    1."""
    made, pruned = run.generation.hypotheses, run.generation.pruned
    frame = pd.DataFrame(
        [each._asdict() for each in made], columns=["number", "parent", "step", "log_probability", "total", "score", "ended"]
    )
    frame["step"] += 1
    frame.insert(3, "token", run.tokens_of(each.token for each in made))
    frame["pruned_at"] = pd.array([pruned.get(each.number, -1) + 1 or None for each in made], dtype="Int64")
    return frame.set_index("number")


def _selected(run: Run) -> Hypothesis:
    """The hypothesis that was picked in the tree or is named in the URL. By default, the last one of the answer."""
    hypotheses, first = run.generation.hypotheses, run.generation.best.number
    return hypotheses[kept_number(NODE, 0, len(hypotheses) - 1, first)]


def _pick() -> None:
    """Pick the node that was clicked."""
    number = event(KEY, "click").get("data")
    if is_index(number):
        st.session_state[NODE] = number


def _final(run: Run) -> list[Hypothesis]:
    """The hypotheses that were kept to the end, the best first. Hypotheses that differ only in a token beyond the last allowed
    token count as one."""
    generation = run.generation
    kept = sorted((generation.hypotheses[number] for number in generation.steps[-1].kept), key=lambda made: -made.score)
    return list(dict.fromkeys(made for each in kept if (made := generation.written(each))))


def _answer(run: Run, made: Hypothesis) -> str:
    return run.pipeline.vocabulary("target").text_of(run.generation.ids(made))


def _said(run: Run, made: Hypothesis) -> str:
    return text("decoding")["tree_says"].format(answer=_answer(run, made), score=fixed(made.score, 3))


def _show_final(run: Run, kept: Sequence[Hypothesis]) -> None:
    """Draw a table of the hypotheses that were kept to the end. If the model's card has a limit of doubt, the table marks
    hypotheses with a lower mean log-probability per token."""
    words, doubt = text("decoding"), run.pipeline.card.measures.get("doubt")
    rows = [
        {
            words["answer"]: _answer(run, made),
            words["tokens"]: made.step + 1,
            words["total"]: round(made.total, 4),
            words["score"]: round(made.score, 4),
            words["ended"]: made.ended,
        }
        for made in kept
    ]
    if doubt:
        for row, made in zip(rows, kept, strict=True):
            mean = made.total / (made.step + 1)
            row |= {words["mean"]: round(mean, 4), words["unsure"]: mean < doubt["below"]}
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    if doubt:
        st.caption(words["unsure_says"].format(below=fixed(doubt["below"], 3)))


def _show_differences(view: View, run: Run, method: Beam) -> None:
    """Write what the beam's answer would be without the length penalty, and what greedy decoding writes."""
    words, generation = text("decoding"), run.generation
    values = {"penalty": method.length_penalty, "width": method.width, "beam": fixed(generation.total, 3)}

    def compared(name: str, other: Generation) -> str:
        tokens = quoted_tokens(run.tokens_of(other.ids())) or "–"
        return words[name].format(other=tokens, total=fixed(other.total, 3), **values)

    plain = generate(view, replace(run.settings, method=replace(method, length_penalty=0.0)))
    changed = "penalty_same" if plain.ids() == generation.ids() else "penalty_changed"
    st.caption(compared(changed if method.length_penalty else "penalty_none", plain))
    greedy = generate(view, replace(run.settings, method=Greedy(), logits_processors=()))
    same = "as_greedy" if greedy.ids() == generation.ids() else "not_greedy"
    st.caption(compared("one_branch" if method.width == 1 else same, greedy))


def _show_node(run: Run, made: Hypothesis, of: tuple[Group, ...]) -> None:
    """Show the distribution from which the last token of a hypothesis was chosen, and the attention to the text in that
    step."""
    words, step = text("decoding"), run.step(made)
    branch = run.tokens_of(each.token for each in run.generation.chain(made))
    st.markdown(words["node"].format(branch=quoted_tokens(branch, [len(branch) - 1])))
    pruned = run.generation.pruned.get(made.number)
    if pruned is not None:
        st.caption(words["node_pruned"].format(step=pruned + 1))
    (left, right), below = st.columns(2), st.container()
    top, own = run.top(made), run.own(made)
    with left:
        tokens = run.tokens_of(top)
        figure = chart(stage_bars, tokens, own[None, top], [words["probability"]], top.index(made.token))
        show_explained(
            figure,
            "node-bars",
            words["node_bars_alt"].format(token=branch[-1], share=share(own[made.token], 1)),
            lambda bar: explain_probability(run, made, bar.column),
            place=below,
        )
    with right:
        kind = run.kinds[0]
        heads = step.attention(kind, made.row).numpy()
        keys = run.text_tokens if kind == Kind.CROSS else run.tokens_of(step.input_ids[made.row].tolist())
        heads, keys = joined_weights(heads, of), joined_tokens(keys, of)
        rows = heads.mean(1)
        names = [words["layer_row"].format(layer=layer + 1) for layer in range(len(rows))]
        figure = chart(head_map, rows, rows >= 0, names, keys, True)
        show_explained(
            figure,
            "node-attention",
            words["node_attention_alt"].format(token=branch[-1]),
            lambda cell: explain_mean_weight(heads[cell.row, :, cell.column], cell.row, keys[cell.column]),
            hint=False,
            place=below,
        )
