"""The steps of an answer as tokens and numbers, for the player, for the other parts of the page and for files."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from pages.decoding.decoding_settings import Settings, generate
from pages.decoding.whole_words import joined_tokens, joined_weights
from pages.shell.view.view import View
from pages.ui.format import fixed, number
from pages.ui.text import text
from transformer.analysis.word_trace import Group
from transformer.figures.attention_figures import quantized
from transformer.figures.decoding_figures import percent
from transformer.pipeline.decoding.generate import ALLOWED, DecodingStep
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Beam, Greedy, Hypothesis, Sample
from transformer.pipeline.pipeline import Encoding
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.paths import Kind

MOST_BARS = 10  # this many tokens of a distribution have their own bar; the others are summed in one bar


@dataclass(frozen=True, eq=False)
class Run:
    """The answer of a pipeline to a text, step by step, and the settings with which it was written."""

    pipeline: TextPipeline
    encoding: Encoding
    generation: Generation
    settings: Settings
    _distributions: dict[tuple[int, int], np.ndarray] = field(default_factory=dict, init=False, repr=False)

    @property
    def chain(self) -> tuple[Hypothesis, ...]:
        """For each token of the best answer, the hypothesis that ends with it. The last token can be `<eos>`, or a token beyond
        the limit of an answer, which is not part of the answer."""
        return self.generation.chain(self.generation.best)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of `chain` as text."""
        return self.tokens_of(made.token for made in self.chain)

    @property
    def text(self) -> str:
        """The answer as ordinary text."""
        return self.pipeline.vocabulary("target").text_of(self.generation.ids())

    @property
    def given(self) -> tuple[str, ...]:
        """The tokens that the decoder read before it wrote: its first token, or the whole text if the model is a decoder
        alone."""
        return self.tokens_of(self.generation.steps[0].input_ids[0].tolist())

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model uses while it writes: cross-attention, which reads the text, and the decoder's
        self-attention. A decoder alone has only self-attention."""
        return (Kind.CROSS, Kind.DECODER) if len(self.pipeline.stacks) > 1 else (Kind.DECODER,)

    @property
    def text_tokens(self) -> tuple[str, ...]:
        """The tokens of the text: the keys of cross-attention, or for a decoder alone the first tokens of its input."""
        return self.encoding.tokens if len(self.kinds) > 1 else self.given

    def heads(self, kind: Kind) -> tuple[int, int]:
        """The number of layers with this kind of attention, and the number of heads in each layer."""
        layers, heads, _ = self.generation.steps[0].attention(kind).shape
        return layers, heads

    def tokens_of(self, ids: Any) -> tuple[str, ...]:
        """Ids of the target vocabulary as tokens."""
        return self.pipeline.vocabulary("target").tokens_of(list(ids))

    def step(self, made: Hypothesis) -> DecodingStep:
        """The decoding step that wrote the last token of a hypothesis."""
        return self.generation.steps[made.step]

    def distributions(self, made: Hypothesis) -> Float[np.ndarray, "stage token"]:
        """The probabilities of all tokens in the step that made a hypothesis, for its row of the batch: first the model's own,
        then without special tokens if these are excluded, then after each logits processor. The array is cached, so do not
        write to it."""
        place = made.step, made.row
        if place not in self._distributions:
            # In double precision, like the draws. In float32, a low temperature would turn small probabilities into 0, and a 0
            # means that a logits processor has cut the token off.
            stages = [stage.logits[made.row].double().softmax(-1).numpy() for stage in self.step(made).stages]
            self._distributions[place] = np.stack(stages)
        return self._distributions[place]

    def own(self, made: Hypothesis) -> Float[np.ndarray, " token"]:
        """The model's own probabilities of all tokens in the step that made a hypothesis, for its row of the batch."""
        return self.distributions(made)[0]

    def top(self, made: Hypothesis) -> list[int]:
        """The ids of the `MOST_BARS` tokens that the model itself finds most probable in the step that made a hypothesis, in
        descending order. If the written token is not among them, it replaces the last."""
        order = np.argsort(-self.own(made), kind="stable")[:MOST_BARS].tolist()
        return order if made.token in order else [*order[:-1], made.token]

    def bar_names(self, made: Hypothesis) -> list[str]:
        """The tokens of `top`, then the name of the bar for all other tokens, if there are any."""
        top = self.top(made)
        rest = [text("decoding")["player"]["rest"]] if len(top) < len(self.own(made)) else []
        return [*self.tokens_of(top), *rest]

    def rank(self, made: Hypothesis) -> int:
        """The rank of a hypothesis's last token by the model's own probabilities; 1 is the most probable."""
        own = self.own(made)
        return 1 + int((own > own[made.token]).sum())

    def attention(self, made: Hypothesis, kind: str, layer: int, head: int | None) -> Float[np.ndarray, " key"]:
        """The attention weights of the last position that the decoder read in the step that made a hypothesis: those of one
        head, or if `head` is None, the layer's mean. `kind` is `decoder` or `cross`; `layer` and `head` are from 0."""
        weights = self.step(made).attention(kind, made.row)[layer].numpy()
        return weights.mean(0) if head is None else weights[head]


def run_of(view: View, settings: Settings) -> Run:
    """The answer of a view's model to the view's first text, step by step, written with these settings."""
    return Run(view.pipeline, view.encoding("source"), generate(view, settings), settings)


def reason(run: Run, made: Hypothesis) -> str:
    """A sentence of plain text about why the last token of a hypothesis was chosen."""
    words, step, (token,) = text("decoding")["why"], run.step(made), run.tokens_of([made.token])
    rank, own = run.rank(made), run.own(made)
    best = run.tokens_of([int(own.argmax())])[0]
    values = {"token": token, "own": percent(own[made.token]), "rank": rank, "best": best, "best_share": percent(own.max())}
    method = run.settings.method
    if without_special_tokens(run, made) and not isinstance(method, Sample):  # the bar of the token has this share
        values["own"] = words["own_allowed"].format(own=values["own"], allowed=percent(run.distributions(made)[-1][made.token]))
    if step.forced:
        sentence = words["forced"].format(**values)
    elif isinstance(method, Greedy) or (isinstance(method, Beam) and method.width == 1):
        sentence = words["greedy" if rank == 1 else "greedy_allowed"].format(**values)
    elif isinstance(method, Sample):
        last = run.distributions(made)[-1]
        sampled = float(method.uniforms(made.step, 1)[0])
        values |= {"left": int((last > 0).sum()), "last": percent(last[made.token]), "number": fixed(sampled, 4)}
        low, high = (float(last[:end].sum(dtype=np.float64)) for end in (made.token, made.token + 1))
        values |= {"low": fixed(low, 4), "high": fixed(high, 4)}
        sentence = words["sampling_one" if values["left"] == 1 else "sampling"].format(**values)
    else:
        sentence = words["beam" if rank == 1 else "beam_other"].format(
            **values, width=method.width, total=number(made.total, 4)
        )
    if not step.room and not made.ended:
        sentence += " " + words["stopped"].format(count=made.step)
    return sentence


def without_special_tokens(run: Run, made: Hypothesis) -> bool:
    """Whether the last token of a hypothesis was chosen after special tokens that the model must not write were excluded."""
    return run.step(made).stages[-1].by == ALLOWED


def player_steps(run: Run, layer: int, head: int | None, of: Sequence[Group] = ()) -> list[dict[str, Any]]:
    """The data from which `player.js` draws an answer: for each step, a dictionary with the tokens read, the written token, the
    bars of the most probable tokens, and the attention of a layer and a head; a head of None is the mean over the heads. `of`
    has the positions of each word's pieces if the text is shown in words; otherwise it is empty."""
    sent, read = [], run.tokens_of(run.step(run.chain[-1]).input_ids[run.chain[-1].row].tolist())
    crossed = len(run.pipeline.stacks) > 1
    kind, columns = ("cross", None) if crossed else ("decoder", len(joined_tokens(run.given, of)))
    joined = () if crossed else of  # the words of the decoder's input, if that input is the text
    for made, token in zip(run.chain, run.tokens, strict=True):
        step, distributions, top = run.step(made), run.distributions(made), run.top(made)
        own, last = distributions[0], distributions[-1]
        after, before = _short(np.array([_rest(each, top) for each in (last, own)]))
        bars = [
            {"token": name, "share": share, "own": before_controls, "chosen": index == made.token}
            for index, name, share, before_controls in zip(
                top, run.tokens_of(top), _short(last[top]), _short(own[top]), strict=True
            )
        ]
        # A decoder alone reads its text by self-attention.
        read_by = joined_weights(run.attention(made, kind, layer, head), of)[:columns]
        sent.append(
            {
                # Each step reads one token more than the step before it.
                "read": joined_tokens(read[: step.input_ids.shape[1]], joined),
                "token": token,
                "ended": made.ended,
                "why": reason(run, made),
                "bars": bars,
                "rest": {"share": after, "own": before} if len(top) < len(own) else None,
                "self": _short(joined_weights(run.attention(made, "decoder", layer, head), joined)),
                "cross": quantized(read_by, np.ones(len(read_by), bool)).tolist(),
            }
        )
    return sent


def with_rest(values: Float[np.ndarray, " token"], top: Sequence[int]) -> Float[np.ndarray, " shown"]:
    """The values of the ids `top`, then the sum over all other ids, if there are any."""
    return np.append(values[top], _rest(values, top)) if len(top) < len(values) else values[top]


def _rest(values: Float[np.ndarray, " token"], top: Sequence[int]) -> float:
    """The sum over all ids but `top`. It is 0 only if each of their values is 0, for example because they were cut off."""
    return np.delete(values, top).sum()


def _short(values: Float[np.ndarray, " value"]) -> list[float]:
    """The values with five significant digits. A small value does not become 0, because 0 means that the token was cut off."""
    return [float(f"{value:.5g}") for value in values.tolist()]


def table(run: Run) -> pd.DataFrame:
    """A table with a row for each step of the answer: what the decoder read, the token, and its rank and probabilities. Steps
    are counted from 1."""
    rows = []
    for made, token in zip(run.chain, run.tokens, strict=True):
        read = run.tokens_of(run.step(made).input_ids[made.row].tolist())
        distributions = run.distributions(made)
        rows.append(
            {
                "step": made.step + 1,
                "read": " ".join(read),
                "token": token,
                "id": made.token,
                "forced": run.step(made).forced,
                "rank": run.rank(made),
                "probability": distributions[0][made.token],
                "probability_after_controls": distributions[-1][made.token],
                "log_probability": made.log_probability,
                "total_log_probability": made.total,
            }
        )
    return pd.DataFrame(rows).set_index("step")


def as_json(run: Run, source: str) -> str:
    """The steps as JSON: the columns of `table`, the most probable tokens of each step, the model, and the settings."""
    rows = table(run).reset_index().to_dict("records")
    for made, row in zip(run.chain, rows, strict=True):
        top, distributions = run.top(made), run.distributions(made)
        row["top"] = [
            {"token": name, "id": index, "probability": distributions[0][index], "after_controls": distributions[-1][index]}
            for index, name in zip(top, run.tokens_of(top), strict=True)
        ]
    settings = {
        "method": repr(run.settings.method),
        "controls": [repr(processor) for processor in run.settings.logits_processors],
        "forced": [[step + 1, token] for step, token in run.settings.forced],
        "edits": [repr(edit) for edit in run.settings.edits],
    }
    answer = {"answer": run.text, "ended": run.generation.ended}
    whole = {"model": run.pipeline.name, "source": source, **answer, **settings, "steps": rows}
    return json.dumps(whole, ensure_ascii=False, indent=1)
