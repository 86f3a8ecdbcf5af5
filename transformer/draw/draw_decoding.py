"""Drawings of how an answer is written, token by token. Steps are counted from 0."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from transformer.analysis.forcing import forcing
from transformer.analysis.label_smoothing import smoothed_target
from transformer.analysis.logit_contributions import Part, logit_contributions
from transformer.analysis.logit_lens import answer_lens
from transformer.draw.drawing import drawn
from transformer.draw.run_or_difference import token_bars
from transformer.errors import InputError
from transformer.figures.decoding_figures import (
    TreeNode,
    beam_tree,
    contribution_bars,
    draw_bars,
    lens_map,
    loss_bars,
    stage_bars,
)
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.logits_processors import LogitsProcessor
from transformer.pipeline.decoding.methods import Beam, Hypothesis, Method
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.difference import Difference
from transformer.tracing.paths import check_index
from transformer.tracing.readout import Readout
from transformer.tracing.trace import Trace

MOST = 8  # most tokens with their own bar
MOST_PARTS = 14
STATES = {"best": "in the answer", "kept": "kept to the end", "later": "pruned later", "pruned": "pruned at once"}


@drawn
def distribution(
    pipeline: TextPipeline,
    text: str,
    step: int = 0,
    method: Method | None = None,
    logits_processors: Sequence[LogitsProcessor] = (),
) -> go.Figure:
    """The probabilities of the next token at one step of an answer. The figure shows the model's own probabilities, and the
    probabilities after each logits processor. `text` is the source, `step` counts from 0 (PathError if the answer is shorter),
    and `method` chooses the tokens (None: greedy decoding)."""
    generation = Generation.of(pipeline.generate(text, method, logits_processors))
    made = _made(generation, step)
    shown = generation.steps[made.step].stages
    stages = np.stack([stage.logits[made.row].double().softmax(-1).numpy() for stage in shown])
    top = np.argsort(-stages[-1], kind="stable")[:MOST].tolist()
    titles = [stage.by if isinstance(stage.by, str) else type(stage.by).__name__ for stage in shown]
    return stage_bars(pipeline.vocabulary("target").tokens_of(top), stages[:, top], titles, None)


@drawn
def smoothing(pipeline: TextPipeline, text: str, step: int = 0, smoothing: float = 0.1) -> go.Figure:
    """The target distribution of label smoothing at a step of an answer, beside the model's probabilities. Both are of the
    model's most probable tokens; the most probable one counts as the right token. `text` is the source, `step` counts from 0
    (PathError if the answer is shorter), and `smoothing` is ε, 0 to 1."""
    generation = Generation.of(pipeline.generate(text))
    made = _made(generation, step)
    own = generation.steps[made.step].own.probabilities[made.row].double().numpy()
    top = np.argsort(-own, kind="stable")[:MOST].tolist()
    asked = smoothed_target(len(own), int(own.argmax()), smoothing)
    return draw_bars(pipeline.vocabulary("target").tokens_of(top), asked[top], own[top], ("asked for", "given"))


@drawn
def beam(pipeline: TextPipeline, text: str, width: int = 3) -> go.Figure:
    """The tree of a beam search. It shows every hypothesis, and whether and when it was pruned. `text` is the source, and
    `width` the number of hypotheses that are kept after each step."""
    generation, vocabulary = Generation.of(pipeline.generate(text, Beam(width=width))), pipeline.vocabulary("target")
    nodes = []
    for made in generation.hypotheses:
        (token,) = vocabulary.tokens_of([made.token])
        hover = token, f"log-probability {made.total:.3f}", f"score {made.score:.3f}"
        nodes.append(TreeNode(made.number, made.parent, made.step + 1, token, hover, generation.state(made), made.ended))
    start = "start" if vocabulary.sos is None else vocabulary.tokens[vocabulary.sos]
    figure = beam_tree(nodes, start, STATES, generation.best.number, "step")
    columns = [*range(1, len(generation.steps) + 1)]  # the start has the column 0
    return figure.update_xaxes(tickvals=columns, ticktext=[str(column - 1) for column in columns])


@drawn
def lens(pipeline: TextPipeline, text: str) -> go.Figure:
    """The logit lens. It shows the token that the output layer finds most probable at the start of the residual stream and
    after each layer, at each step of the answer to the source `text`. Colours show the rank of the token that was written."""
    generation, vocabulary = Generation.of(pipeline.generate(text)), pipeline.vocabulary("target")
    answer = answer_lens(_readout(pipeline), generation)
    points = ["start", *(f"after layer {layer}" for layer in range(len(answer.top) - 1))]
    top = [vocabulary.tokens_of(ids) for ids in answer.top.tolist()]
    tokens = vocabulary.tokens_of(made.token for made in generation.chain(generation.best))
    hover = "would write {token} with {share}; the final token has rank {rank}"
    return lens_map(top, answer.shares, answer.ranks, points, tokens, "rank of the final token", hover)


@drawn
def contributions(pipeline: TextPipeline, text: str, step: int = 0) -> go.Figure:
    """The contribution of each part of the model to the logit of a token. The token is the one that was written in a step of
    the answer to the source `text`; `step` counts from 0 (PathError if the answer is shorter). The parts are each head, each
    feed-forward network, the embedding and the biases; the smallest contributions are added up in one bar."""
    generation = Generation.of(pipeline.generate(text))
    made = _made(generation, step)
    made_of = logit_contributions(_readout(pipeline), generation.steps[made.step].values, made.token, None, made.row)
    order = np.argsort(-abs(made_of.values), kind="stable")
    first, rest = order[:MOST_PARTS], order[MOST_PARTS:]
    names, values = [_part(made_of.parts[index]) for index in first], made_of.values[first]
    if len(rest):
        names, values = [*names, f"{len(rest)} others"], np.append(values, made_of.values[rest].sum())
    token = pipeline.vocabulary("target").tokens[made.token]
    return contribution_bars(names, values, f"to the logit of {token}")


@drawn
def losses(pipeline: TextPipeline, trace: Trace | Difference) -> go.Figure:
    """The loss of each token of a target that the decoder read. Losses are in nats, of the first text. Tokens that are not the
    model's most probable token are marked. For a Difference of runs A and B, the losses of A, of B, and B − A. `pipeline` is
    the one that made the trace. Raises InputError for an encoder alone."""
    if "target" not in trace.sides:
        raise InputError("An encoder alone reads no target.")
    if isinstance(trace, Difference):
        trace["logits"]  # for models with other vocabularies, this raises an error that names their sizes
        both = [forcing(pipeline, run) for run in (trace.a, trace.b)]
        tokens = [pipeline.vocabulary("target").tokens_of(forced.ids) for forced in both]
        return token_bars(trace, tokens, [forced.losses for forced in both], "loss, nats")
    forced = forcing(pipeline, trace)
    right = np.array([one == other for one, other in zip(forced.ids, forced.best, strict=True)])
    return loss_bars(pipeline.vocabulary("target").tokens_of(forced.ids), forced.losses, right, "loss, nats")


def _made(generation: Generation, step: int) -> Hypothesis:
    """The hypothesis of a step, counted from 0, in the chain of the best answer; its `token` is the token of that step."""
    chain = generation.chain(generation.best)
    check_index("step", step, len(chain))
    return chain[step]


def _readout(pipeline: TextPipeline) -> Readout:
    if pipeline.readout is None:
        raise InputError("How this model reads its logits from the residual stream is not known.")
    return pipeline.readout


def _part(part: Part) -> str:
    places = "".join(f", {name} {index}" for name, index in (("layer", part.layer), ("head", part.head)) if index is not None)
    return f"{part.name.replace('_', ' ')}{places}"
