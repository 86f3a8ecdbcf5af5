"""Tests of wrong arguments of the package: each is refused in one sentence. As in `tests/transformer/test_misuse.py`, they run
in a process without the hook that checks every annotation."""

import pytest

from tests.transformer.outcomes import outcomes_of

SETUP = """
import json, sys
import numpy as np, torch
from transformer import *
from transformer import draw
from transformer.analysis.word_trace import WordTrace
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer
from transformer.patching import *
from transformer.pipeline.untrained import Untrained
from transformer.tracing.interventions import Scale

sizes = dict(d_model=8, heads=2, d_ff=8, max_len=16, encoder_layers=2, decoder_layers=2)
def build(seed=0, **values):
    torch.manual_seed(seed)
    return Transformer(TransformerConfig.preset("vanilla", **sizes | values)).eval()
model, other, wider = build(), build(1), build(d_ff=12)
source, changed, target = torch.tensor([[1, 5, 2]]), torch.tensor([[1, 6, 2]]), torch.tensor([[1, 7]])
clean, corrupt = run_traced(model, source, target), run_traced(model, changed, target)
longer = run_traced(model, torch.tensor([[1, 5, 6, 2]]), target)
batch = run_traced(model, source.expand(2, -1), target.expand(2, -1))
edited = run_traced(model, changed, target, [Scale("decoder.layers.1.feed_forward.output", factor=50)])
read = run_traced(model, changed, torch.tensor([[1, 3]]))
alone = run_traced(model, None, target)
words = WordTrace.of(clean)
pair = RunPair.of(model, clean, corrupt)
only = RunPair.of(model, alone, run_traced(model, None, torch.tensor([[1, 8]])))
short = RunPair.of(model, run_traced(model, None, target[:, :1]), run_traced(model, None, target[:, 1:]))
training = build().train()
broken = build()
with torch.no_grad():
    broken.output_projection.bias[3] = float("nan")
nan = run_traced(broken, source, target)
left = RunPair.of(trained := build(), clean, corrupt)
partly = build()
partly.decoder.layers[1].train()
trained.train()
reverse = Pipeline.load("reverse")
texts = [("stream", "streak")]
*_, patched = patch_everywhere(pair)
*_, noised = patch_everywhere(pair, direction="noise")
*_, averages = average_needs(reverse, texts)
array = {"encoder": np.arange(4.0).reshape(2, 2)}
"""

REFUSED = {
    # pairs
    "RunPair.of(None, clean, corrupt)": "The model must be a Transformer, not None.",
    "RunPair.of(torch.nn.Linear(2, 2), clean, corrupt)": "The model must be a Transformer, not Linear",
    "RunPair.of(model, None, corrupt)": "The trace must be a Trace, as `Pipeline.trace` returns it, not None.",
    "RunPair.of(model, clean, {})": "The trace must be a Trace",
    "RunPair.of(model, words, words)": "The traces must be of the tokens that the model reads, not of words.",
    "RunPair.of(model, batch, batch)": "Each trace must be of one text; this one has 2.",
    "RunPair.of(wider, clean, corrupt)": "this one has another configuration.",
    "RunPair.of(other, clean, corrupt)": "The logits of the clean trace are not those of this network.",
    "RunPair.of(model, clean, edited)": "The logits of the corrupt trace are not those of this network. Patching runs",
    "RunPair.of(model, clean, longer)": "The source of one run has 3 tokens, and that of the other 4.",
    "RunPair.of(model, clean, read)": "The two runs read different targets",
    "RunPair.of(model, clean, alone)": "The two runs must have the same sides, source and target.",
    "RunPair.of(training, clean, corrupt)": "The network is in training mode, in which dropout changes every run",
    "RunPair.of(partly, clean, corrupt)": "The network is in training mode",
    "RunPair.of(broken, nan, nan)": "The logits of the clean run are not all numbers (NaN), so they cannot be compared.",
    "RunPair.of(model, clean, corrupt, row=2)": "row is 2; allowed are 0 to 1.",
    "RunPair.of(model, clean, corrupt, row=-1)": "row is -1; allowed are 0 to 1.",
    "RunPair.of(model, clean, corrupt, row=True)": "row is True; allowed are 0 to 1.",
    "RunPair.of(model, clean, corrupt, row='0')": "row is '0'; allowed are 0 to 1.",
    "RunPair.of(model, clean, corrupt, row=float('nan'))": "row is nan; allowed are 0 to 1.",
    "RunPair.of(model, clean, corrupt, tokens=3)": "tokens is 3; it must be two ids of tokens.",
    "RunPair.of(model, clean, corrupt, tokens='ab')": "tokens is 'ab'; it must be two ids of tokens.",
    "RunPair.of(model, clean, corrupt, tokens=[3])": "tokens is [3]; it must be two ids of tokens.",
    "RunPair.of(model, clean, corrupt, tokens=[3, 3])": "tokens is [3, 3]; the two ids must differ.",
    "RunPair.of(model, clean, corrupt, tokens=[3, 10])": "token is 10; allowed are 0 to 9.",
    "RunPair.of(model, clean, corrupt, tokens=[3, None])": "token is None; allowed are 0 to 9.",
    "run_pair(None, 'a', 'b')": "The pipeline must be a Pipeline",
    "run_pair(model, 'a', 'b')": "The pipeline must be a Pipeline",
    "run_pair(reverse, None, 'b')": "None",
    "run_pair(reverse, 'stream', 3)": "3",
    "run_pair(reverse, '', '')": "There is nothing to read in your text",
    "run_pair(reverse, 'stream', 'streams')": "Patching puts the vector of a token in the place of another, so both",
    "run_pair(reverse, ['stream', 'streak'], 'stream')": "",
    # sweeps
    "patch_everywhere(None)": "The pair must be a RunPair, as `run_pair` returns it, not None.",
    "patch_everywhere((clean, corrupt))": "The pair must be a RunPair",
    "patch_everywhere(left)": "The network is in training mode",
    "patch_everywhere(pair, 'heads')": "what is 'heads'; allowed are head_output, weights, query",
    "patch_everywhere(pair, None)": "what is None; allowed are head_output",
    "patch_everywhere(pair, ['weights'])": "what is ['weights']; allowed are head_output",
    "patch_everywhere(pair, direction='forward')": "direction is 'forward'; allowed are denoise, noise.",
    "patch_everywhere(pair, positions=0)": "positions is 0; allowed are together, each.",
    "patch_everywhere(pair, steps='next')": "steps is 'next'; allowed are all, this.",
    "patch_everywhere(pair, also=None)": '`also` must be a list of places, such as [Place("cross", 0, 1)], not None.',
    "patch_everywhere(pair, also='cross')": "`also` must be a list of places",
    "patch_everywhere(pair, also=Place('cross', 0, 1))": "'cross' is not a Place in one of the grids encoder, decoder, cross.",
    "patch_everywhere(pair, also=[('cross', 0, 1)])": "is not a Place in one of the grids encoder, decoder, cross.",
    "patch_everywhere(pair, also=[Place('self', 0, 1)])": "is not a Place in one of the grids encoder, decoder, cross.",
    "patch_everywhere(pair, also=[Place(None, 0, 1)])": "is not a Place in one of the grids",
    "patch_everywhere(pair, also=[Place('cross', 2, 1)])": "layer is 2; allowed are 0 to 1.",
    "patch_everywhere(pair, also=[Place('cross', 0, -1)])": "head is -1; allowed are 0 to 1.",
    "patch_everywhere(pair, also=[Place('cross', 0, None)])": "head is None; allowed are 0 to 1.",
    "patch_everywhere(pair, also=[Place('cross', 0, 1, 2)])": "position is 2; allowed are 0 to 1.",
    "patch_everywhere(pair, also=[Place('cross', 0, 1, 0.5)])": "position is 0.5; allowed are 0 to 1.",
    "patch_everywhere(pair, 'attention', also=[Place('cross', 0, 1)])": "head is 1; allowed are 0 to 0.",
    "patch_everywhere(only, also=[Place('cross', 0, 1)])": "is not a Place in one of the grids decoder.",
    "patched_logits(pair, None)": '`places` must be a list of places, such as [Place("cross", 0, 1)], not None.',
    "patched_logits(pair, 'cross')": "`places` must be a list of places",
    "patched.shares('kl')": "metric is 'kl'; allowed are logit, probability, divergence, exact.",
    "patched.values(None)": "metric is None; allowed are logit",
    "patched.differs(['logit'])": "metric is ['logit']; allowed are logit",
    # needs
    "needs(None, None)": "Needed against enough takes a denoised and a noised result of `patch_everywhere`.",
    "needs(patched, 'noise')": "Needed against enough takes a denoised and a noised result",
    "role(None, 1.0)": "lost is None; it must be a number.",
    "role(1.0, '1')": "restored is '1'; it must be a number.",
    "role(float('nan'), 1.0)": "lost is nan; it must be a number.",
    "role(1.0, True)": "restored is True; it must be a number.",
    "role([1.0], 1.0)": "lost is [1.0]; it must be a number.",
    "ranks_agree(None, array)": "A measure must be a dict: kind → array with axes layer head; not None.",
    "ranks_agree(array, {})": "A measure must be a dict",
    "ranks_agree(array, {'encoder': None})": "encoder must be a NumPy array of numbers with axes layer head, not None.",
    "ranks_agree(array, {'encoder': np.ones(2)})": "encoder has shape (2,); expected axes layer head.",
    "ranks_agree(array, {'encoder': np.ones((3, 2))})": "these two are of different heads.",
    "ranks_agree(array, {'cross': np.ones((2, 2))})": "these two are of different heads.",
    "ranks_agree(array, array, None)": "least is None; it must be a number.",
    "ranks_agree(array, array, [0.1])": "least is [0.1]; it must be a number.",
    "draw.per_head({1: np.ones((1, 1))})": "1 is not a kind of attention; allowed are encoder, decoder, cross.",
    "draw.per_head(array, None)": "name is None; it must be a text.",
    "draw.patched_answer(reverse, pair, Place('cross', 0, 1))": "The pipeline must be the one whose runs were paired.",
    # a difference of two runs
    "compare(clean, corrupt).joined_names('source', None, 'abc')": "give a list of as many names for each, not None and 'abc'.",
    "compare(clean, corrupt).joined_names('source', 'abc', {1, 2, 3})": "give a list of as many names for each",
    # paths, repair, estimates
    "path_effects(None, ('cross', 0, 0))": "The pair must be a RunPair",
    "path_effects(left, ('cross', 0, 0))": "The network is in training mode",
    "path_effects(pair, None)": "None is not a head of this network; give its kind, layer and head, counted from 0.",
    "path_effects(pair, ('cross', 0, 2))": "It has encoder: 2 layers of 2 heads; decoder: 2 layers of",
    "path_effects(pair, ([], 0, 0))": "is not a head of this network",
    "path_effects(pair, ('cross', 0.0, 0))": "is not a head of this network",
    "path_effects(only, ('cross', 0, 0))": "It has decoder: 2 layers of 2 heads.",
    "path_effects(pair, ('cross', 0, 0), 'output')": "through is 'output'; allowed are query, key, value.",
    "path_effects(pair, ('cross', 0, 0), 'query', None)": "direction is None; allowed are denoise, noise.",
    "changes_elsewhere(None, ('cross', 0, 0))": "The pair must be a RunPair",
    "changes_elsewhere(pair, 'cross')": "'cross' is not a head of this network",
    "changes_elsewhere(pair, ('cross', 0, 0), 'up')": "direction is 'up'; allowed are denoise, noise.",
    "attribute_everywhere(None)": "The pair must be a RunPair",
    "attribute_everywhere(left)": "The network is in training mode",
    "attribute_everywhere(pair, 'mlp')": "what is 'mlp'; allowed are head_output",
    "attribute_everywhere(pair, positions=None)": "positions is None; allowed are together, each.",
    "agreement(None, patched)": "An estimate of `attribute_everywhere` is compared with a result of `patch_everywhere`.",
    "agreement({}, None)": "An estimate of `attribute_everywhere` is compared with a result",
    "agreement({'encoder': None}, patched)": "The estimate and the exact changes are of different places.",
    # averages
    "average_needs(None, texts)": "The pipeline must be a Pipeline",
    "average_needs(reverse, None)": "The pairs must be a list of pairs of texts, not None.",
    "average_needs(reverse, 'ab')": "The pairs must be a list of pairs of texts, not 'ab'.",
    "average_needs(reverse, ['ab'])": "The pairs must be a list of pairs of texts",
    "average_needs(reverse, [('a', 'b', 'c')])": "The pairs must be a list of pairs of texts",
    "average_needs(reverse, [])": "pairs is 0; allowed are 1 to 500.",
    "average_needs(reverse, texts * 501)": "pairs is 501; allowed are 1 to 500.",
    "average_needs(reverse, texts, 'feed_forward')": "what is 'feed_forward'; allowed are head_output, weights, query",
    "average_needs(reverse, texts, steps=None)": "steps is None; allowed are all, this.",
    "average_needs(reverse, texts, metrics='logit')": 'The metrics must be a list of measures, such as ["logit"], not',
    "average_needs(reverse, texts, metrics=[])": "The metrics must be a list of measures",
    "average_needs(reverse, texts, metrics=['kl'])": "metric is 'kl'; allowed are logit, probability, divergence, exact.",
    "next(average_needs(reverse, [(None, 'a')]))": "None",
    "averages.interval('gained')": "which is 'gained'; allowed are lost, restored.",
    "averages.interval('lost', 'exact')": "metric is 'exact'; allowed are logit, probability.",
    "averages.interval('lost', seed=-1)": "seed is -1; it must be a whole number of at least 0.",
    "pairs_of_task(['reverse'], 1)": "There is no task called ['reverse']",
    "pairs_of_task('reverse', 1, None)": "seed is None; it must be a whole number.",
    "averages.needs(None)": "metric is None; allowed are logit, probability.",
}
ACCEPTED = {
    "role(np.float64(1), 1)": "'alone'",
    "RunPair.of(model, clean, corrupt, np.int64(1), (np.int64(3), 4)).tokens": "(3, 4)",
    "[*patch_everywhere(pair, also=[])][-1].done": "12",
    "[*patch_everywhere(short, positions='each')][-1].moved['logit']['decoder'].shape": "(2, 2, 1)",
    "sorted([*patch_everywhere(only)][-1].moved['logit'])": "['decoder']",
    "sorted(changes_elsewhere(only, ('decoder', 0, 0)))": "['decoder']",
    "[*average_needs(reverse, [['stream', 'streak']], metrics=('logit',))][-1].done": "1",
}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[str]]:
    """For each snippet, the name and message of its error, or `nothing` and the `repr` of its value."""
    return outcomes_of(SETUP, [*REFUSED, *ACCEPTED])


@pytest.mark.parametrize("code", REFUSED)
def test_a_wrong_value_is_refused_in_a_sentence(code: str, outcomes: dict[str, list[str]]) -> None:
    kind, message = outcomes[code]
    assert kind in ("InputError", "ConfigError"), message
    assert REFUSED[code] in message
    assert len(message) < 400


@pytest.mark.parametrize("code", ACCEPTED)
def test_other_values_are_accepted(code: str, outcomes: dict[str, list[str]]) -> None:
    assert outcomes[code] == ["nothing", ACCEPTED[code]]
