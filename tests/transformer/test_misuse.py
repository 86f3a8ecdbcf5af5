"""Tests of arguments of the wrong type: the library refuses them in one sentence that names them, not with a Python error.

In other tests a hook checks every annotation before the library gets a value. These tests run in a process without the hook.
"""

import pytest

from tests.transformer.outcomes import outcomes_of

SETUP = """
import json, sys, tempfile
from fractions import Fraction
import numpy as np, torch
from transformer import *
from transformer import draw
from transformer.tracing.interventions import *
from transformer.tracing.phrases import all_interventions, interventions
from transformer.analysis import head_steps, ledger, leaks, sublayer_steps, walk, word_alignment
from transformer.analysis.call_tree import constructor_calls, explanation, find, forward_calls
from transformer.analysis.cell import explain
from transformer.analysis.head_measures import alignment_mask, mean_of, measure, reachable, rollout, shift, strongest
from transformer.analysis.ablation import ablation_scores
from transformer.analysis.attention_in_parts import attention_in_parts
from transformer.analysis.gradients import attention_gradients, input_gradients
from transformer.analysis.head_scores import head_scores, mean_head_scores
from transformer.analysis.flow import flow_of
from transformer.analysis.forcing import forcing, parting
from transformer.analysis.hesitation import hesitation
from transformer.analysis.importance import head_counts, head_importance, predictions
from transformer.analysis.label_smoothing import entropy, smoothed_target
from transformer.analysis.logit_contributions import logit_contributions
from transformer.analysis.logit_lens import answer_lens, lens_number, logit_lens, ranks
from transformer.analysis.mask_conventions import conventions, empty_row, target_masks
from transformer.analysis.position_geometry import (
    by_distance, cell, dot_products, model_table, rotation, rotation_errors, sinusoidal_table, spread, swap, untrained_table,
    wave,
)
from transformer.analysis.prediction_scores import caught_attention, drawn_mask, guessed_token, likeness
from transformer.analysis.query_to_show import cell_to_show, query_to_show
from transformer.analysis.residual import cosine, residual_stream
from transformer.analysis.token_geometry import cosines, nearest, plane, token_table
from pathlib import Path
from transformer.analysis.traced_texts import traced_texts
from transformer.analysis.word_alignment import Aligned, alignment_error, head_links, read_alignments
from transformer.analysis.stop_number import explain_stop
from transformer.analysis.word_trace import WordTrace, join, join_allowed, row_groups, word_groups, word_means
from transformer.figures import head_map, small_head_map
from transformer.pipeline.card import Card
from transformer.tracing.trace import as_array
from transformer.pipeline.checkpoint import load_checkpoint, read_card, read_metadata, save_checkpoint
from transformer.pipeline.decoding.logits_processors import MinP, Temperature, TopK, TopP
from transformer.pipeline.decoding.generate import generate
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Beam, Sample
from transformer.pipeline.trace_export import step_file, trace_file
from transformer.pipeline.untrained import Untrained
from transformer.tasks import Pair
from transformer.training.gradient_step import StepSettings, Weight, adam_update, open_step, token_losses
from transformer.training.held_out import batch_of, held_out
from transformer.training.recipe import recipe
from transformer.training.short_run import ShortRun, short_run

torch.manual_seed(0)
sizes = dict(d_model=12, heads=3, d_ff=20, max_len=16, encoder_layers=2, decoder_layers=2)
model = Transformer(TransformerConfig.preset("vanilla", **sizes)).eval()
strict = Transformer(TransformerConfig.preset("pytorch", **sizes)).eval()
source, target = torch.tensor([[1, 5, 2]]), torch.tensor([[1, 7]])
attention = "decoder.layers.1.self_attention"
reverse = Pipeline.load("reverse")
trace = run_traced(model, source, target)
alone = run_traced(model, None, target)
memory, mask = strict.encode(source)
edited = lambda *edits: run_traced(model, source, target, list(edits))
scores, ids = torch.zeros(3, 3), torch.tensor([1, 5, 2])
array, ones = np.zeros((3, 4)), np.ones((2, 3, 4, 4))
open_, square = np.ones((2, 2), bool), np.ones((2, 2))
explained = explain(model, trace, "encoder", 0, 0, "scores", 0, 0)
networked = "encoder.layers.0.feed_forward"
worked = sublayer_steps.feed_forward(model, trace, networked, 0)
words = WordTrace.of(trace)
generation = Generation.of(reverse.generate('ab'))
unlinked = Aligned("a", "b", frozenset(), frozenset())
of_trace = {path: activation.values for path, activation in trace.activations.items()}
broken = Pipeline.load("reverse")
broken.model.output_projection.weight.data[0, 0] = np.nan
def answered(source=source, most=4, **values):
    return [step.hypotheses[0].token for step in generate(strict, source, 1, 2, most, **values)]
itself = []
itself.append(itself)
meta, sparse = torch.zeros(1, 3, dtype=torch.int64, device="meta"), source.to_sparse()
half, pair = Fraction(1, 2), Pair("ab", "ba", "length 2")
tenths, bias = StepSettings(0.1, 0.1, 0.1), Weight("output_projection.bias", (0,))
entered = lambda **values: tracing(model, **values).__enter__()
class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.attention = torch.nn.Embedding(10, 8), torch.nn.MultiheadAttention(8, 2)
    def forward(self, ids):
        return self.attention(*3 * [self.table(ids)])
film = lambda texts: Film(Reader(), texts, path=Path(tempfile.gettempdir()) / "run.safetensors")
deep = 0.0
for _ in range(90):
    deep = [deep]
"""

REFUSED = {
    # predictions
    "caught_attention(square, open_, open_[:1])": "marked must be an array of truth values with shape [2, 2]",
    "caught_attention(square, square, open_)": "allowed must be an array of truth values with shape [2, 2], not float64",
    "caught_attention([[1.0]], open_, open_)": "weights must be a NumPy array of numbers with axes query key",
    "drawn_mask(open_, open_, np.ones(3, bool))": "real must be an array of truth values with shape [2]",
    "drawn_mask(square, open_, open_[0])": "allowed must be an array of truth values",
    "likeness(np.ones(3), 0)": "vectors has shape (3,); expected axes position d_model",
    "hesitation('abc')": "probabilities must be a NumPy array of numbers with axes row vocab, not 'abc'.",
    "hesitation(np.zeros((0, 4)))": "probabilities has shape (0, 4); every axis needs a size of at least 1.",
    "hesitation(np.ones((3, 1)))": "probabilities has shape (3, 1); a choice needs at least 2 tokens.",
    "guessed_token(np.ones(3), True)": "guess is True; allowed are 0 to 2",
    # watching
    "compare(None, strict, source, target)": "mine must be a torch.nn.Module, not None",
    "compare(model, None, source, target)": "The model must be a Transformer, not None",
    "compare(model, strict, None, target)": "source must be a tensor of int64 or int32",
    "compare(model, strict, source, target, mapping=[])": "mapping is []; it must map names of yours to names of ours",
    "compare(model, strict, source, target, run='me')": "it must be a function of the module, the source and the target",
    "compare(model, strict, source, target, tolerance='low')": "it must be a number between 0 and 1",
    "compare(torch.nn.Linear(2, 2), strict, source, target)": "Your module fails on these inputs",
    "watch(None)": "module must be a torch.nn.Module, not None",
    "watch(strict, source, target, names=['logits'])": "it must map paths to axes",
    "watch(strict, source, target).weights(None)": "no attention at None; nearest are",
    "watch(strict, source, target)[None]": "A path must be a text, not None.",
    "watch(strict, source, target).save(None)": "The path of a file must be a text or a Path, not None",
    "Watched.from_bytes(None)": "The contents of a file must be bytes, not None",
    "Watched.from_bytes(b'', name=3)": "The name of a file must be a text, not 3",
    "watch(strict, source, target).labels('decoder.layers.0.self_attention', item='a')": "item is 'a'; allowed are 0 to 0",
    # many texts
    "measure(ones, ids=[1, 2])": "There are 2 ids, but 4 queries and 4 keys; in self-attention the numbers are equal.",
    "measure(ones, ids=4)": "ids must be a list of token ids or of tokens, such as [1, 5, 2], not 4.",
    "measure(ones, ids=[1, 2.5, 3, 4])": "ids must be a list of token ids or of tokens",
    "head_scores(model, ['abc'])": "The pipeline must be a Pipeline",
    "head_scores(reverse, 'abc')": "The texts must be a list of texts, such as ['the cat sleeps .'], not 'abc'.",
    "head_scores(reverse, torch.tensor(1))": "The texts must be a list of texts",
    "head_scores(reverse, {'abc': 1})": "The texts must be a list of texts",
    "head_scores(reverse, 3)": "The texts must be a list of texts",
    "input_gradients(reverse, reverse.trace('ab'), 0, edits=[Ablate('logits', items=(0,))])": "leave out the `items` of the",
    "head_scores(reverse, None)": "The texts must be a list of texts",
    "next(head_scores(reverse, []))": "There is no text; at least one is needed.",
    "next(head_scores(reverse, [3]))": "Text 1 is 3; it must be a text, or a pair of a source and a target.",
    "[*head_scores(reverse, ['abc', ''])]": "Text 2 cannot be read. There is nothing to read in your text",
    "head_scores(reverse, ['abc'], 'self')": "'self' is not a kind of attention; allowed are encoder, decoder, cross.",
    "head_scores(reverse, ['abc'], measures='self')": "measures must be a list of names, such as ['previous'], not 'self'.",
    "head_scores(reverse, ['abc'], measures=['alignment'])": "measure is 'alignment'; allowed are entropy, distance, self",
    "head_scores(reverse, ['abc'], measures=[])": "measures must be a list of names",
    "head_scores(reverse, ['abc'], 'cross', ['induction'])": "The measure 'induction' exists for self-attention only.",
    "mean_head_scores(reverse, ['abc'], 'encoder', ['induction'])": "No text has the measure 'induction', because no token",
    "ablation_scores(reverse, 'abc')": "The texts must be a list of texts",
    "ablation_scores(model, ['abc'])": "The pipeline must be a Pipeline",
    "ablation_scores(reverse, ['abc'], 'median')": "by is 'median'; allowed are zero, mean, resampled.",
    "ablation_scores(reverse, ['abc'], 'resampled', None)": "seed is None; it must be a whole number of at least 0.",
    "next(ablation_scores(reverse, []))": "There is no text; at least one is needed.",
    "next(ablation_scores(reverse, [('abc', '')]))": "Text 1 has no token to predict",
    "next(ablation_scores(reverse, ['abc', None]))": "Text 2 is None; it must be a text, or a pair of a source and a target.",
    "input_gradients(model, trace, 0)": "The pipeline must be a Pipeline",
    "input_gradients(reverse, None, 0)": "The trace must be a Trace",
    "input_gradients(reverse, trace, 0)": "The pipeline must be the one that was traced; this one has another configuration.",
    "input_gradients(reverse, reverse.trace('ab'), 9)": "position is 9; allowed are 0 to 2",
    "input_gradients(reverse, reverse.trace('ab'), 0, 'a')": "token is 'a'; allowed are 0 to",
    "input_gradients(reverse, reverse.trace('ab'), 0, steps=9, baseline='pad')": "baseline is 'pad'; allowed are zero, mean",
    "input_gradients(reverse, reverse.trace('ab'), 0, baseline='mean')": "Input × gradient has no baseline",
    "input_gradients(reverse, reverse.trace('ab'), 0, steps=-1)": "steps is -1; allowed are 0 to 500",
    "input_gradients(reverse, reverse.trace('ab'), 0, steps=float('nan'))": "steps is nan; allowed are 0 to 500",
    "input_gradients(reverse, reverse.trace('ab'), 0, edits='x')": "Edits are a list of interventions",
    "attention_gradients(reverse, reverse.trace('ab'), None)": "position is None; allowed are 0 to 2",
    "attention_gradients(reverse, 'ab', 0)": "The trace must be a Trace",
    "attention_in_parts(model, 'ab', 'ba')": "The pipeline must be a Pipeline",
    "attention_in_parts(reverse, None, 'ba')": "A text must be a string; this one is None.",
    "attention_in_parts(reverse, 'ab', 3)": "A text must be a string; this one is 3.",
    "attention_in_parts(reverse, 'ab')": "needs a target; give one, or ask for kinds=['encoder'].",
    "attention_in_parts(reverse, 'ab', 'ba', 'cross')": "kinds must be a list of kinds of attention, such as ['encoder'], not",
    "attention_in_parts(reverse, 'ab', 'ba', [])": "kinds must be a list of kinds of attention",
    "attention_in_parts(reverse, 'ab', 'ba', ['self'])": "'self' is not a kind of attention",
    "attention_in_parts(reverse, 'ab', 'ba', megabytes=-1)": "megabytes is -1; it must be at least 0.",
    "attention_in_parts(reverse, 'ab', 'ba', megabytes=float('nan'))": "megabytes is nan; it must be a number.",
    "attention_in_parts(reverse, 'ab', 'ba', megabytes=float('inf'))": "megabytes is inf; it must be finite.",
    "attention_in_parts(reverse, 'ab', 'ba', megabytes='1')": "megabytes is '1'; it must be a number.",
    "attention_in_parts(reverse, 'ab', 'ba', megabytes=0)": "needs 1 MB, for one layer at a time; megabytes is 0. Allow more",
    # edits
    "Scale(attention, factor=torch.tensor(2.0))": "The factor is tensor(2.); it must be a number",
    "Scale(attention, factor=torch.zeros((), device='meta'))": "it must be a number",
    "Scale(attention, factor=itself)": "[[...]] cannot be a value of an edit",
    "Ablate(attention, heads=itself)": "[[...]] cannot be a value of an edit",
    "Patch(attention, values=torch.zeros(2, device='meta'))": "cannot be a value of an edit; allowed are numbers",
    "edited(Patch(attention, values={1.0}))": "The values {1.0} do not fit",
    "edited(Patch(attention, values=set()))": "The values set() do not fit",
    "run_traced(model, source, target, torch.tensor(1.0))": "Edits are a list of interventions, such as [Ablate(path)], not",
    "run_traced(model, source, target, {Ablate('logits')})": "Edits are a list of interventions, such as [Ablate(path)], not",
    "edited(Ablate)": "is a class; an edit is an intervention with its path, such as Ablate(path)",
    "edited(Ablate('logits'), Scale)": "is a class; an edit is an intervention with its path",
    "edited(Ablate(attention, heads=1))": "heads is 1; it must be a row of whole numbers, such as (0,)",
    "edited(Ablate(attention, heads='12'))": "heads is '12'; it must be a row of whole numbers",
    "edited(Ablate(attention, heads=(0.5,)))": "head is 0.5; allowed are 0 to 2",
    "edited(Ablate(attention, items=0))": "items is 0; it must be a row of whole numbers",
    "edited(Scale(attention, positions=1))": "positions is 1; it must be a row of whole numbers",
    "edited(Scale(attention, factor='2'))": "The factor is '2'; it must be a number",
    "edited(Block(attention, edges=((0.9, 1.5),)))": "query is 0.9; allowed are 0 to 15",
    "edited(Block(attention, edges=(('1', '0'),)))": "query is '1'",
    "edited(Block(attention, edges=((True, False),)))": "query is True",
    "edited(Block(attention, edges=((0, float('nan')),)))": "key is nan",
    "edited(Block(attention, edges=((0, 1, 2),)))": "The edge (0, 1, 2) must be a query and a key, such as (0, 1)",
    "edited(Block(attention, edges=(0, 1)))": "edge is 0; it must be a row",
    "edited(Block(attention, edges=None))": "edges is None; it must be a row",
    "edited(Patch(attention, values=deep))": "The values ((((",
    "edited(Patch(attention, values={}))": "The values {} do not fit",
    "edited(Change(attention))": "None cannot change decoder.layers.1.self_attention.weights: it must be a function",
    "edited(Change(attention, 0.5))": "0.5 cannot change decoder.layers.1.self_attention.weights: it must be a function",
    "edited(Change(attention, float))": "The function that changes decoder.layers.1.self_attention.weights fails (",
    "edited(Change(attention, lambda w: w * float('nan')))": "returned NaN or too large numbers; allowed are numbers up to",
    "edited(Change(attention, lambda w: w[..., 1:]))": "returned a tensor of shape (1, 3, 2, 1); it must return a tensor of",
    "edited(Change(attention, repr))": "returned 'tensor([[[",
    "edited(Ablate(None))": "A path must be a text, not None.",
    "edited(Ablate(3))": "A path must be a text, not 3.",
    "edited(Replace(attention, by=None))": "A path must be a text, not None.",
    "run_traced(model, source, target, Ablate(attention))": "[Ablate(path)], not Ablate(path=",
    "run_traced(model, source, target, None)": "Edits are a list of interventions, such as [Ablate(path)], not None",
    "run_traced(model, source, target, 'silence')": "Edits are a list of interventions, such as [Ablate(path)], not 'silence'",
    "run_traced(model, source, target, ['x'])": "'x' is not an edit",
    "reverse.trace('abc', edits=None)": "Edits are a list of interventions, such as [Ablate(path)], not None",
    # models
    "run_traced(reverse, source, target)": "<Pipeline 'reverse', ",
    "run_traced(torch.nn.Linear(2, 2), source, target)": "is not a Transformer: it needs `config` and `taps`",
    "Transformer('vanilla')": "'vanilla' is not a TransformerConfig, such as TransformerConfig.preset('vanilla')",
    "Transformer(sizes)": "is not a TransformerConfig",
    "Pipeline.load(['reverse'])": "There is no model ['reverse']; shipped are",
    "Pipeline.load(np.array(['reverse']))": "There is no model array(['reverse']",
    "Pipeline.load(None)": "There is no model None; shipped are",
    "Pipeline.load('runs/reverse.safetensors')": "`Pipeline.load` takes a path as a Path",
    "list(traced_texts(reverse, None))": "The texts must be a list of texts",
    "list(traced_texts(reverse, 'abc'))": "The texts must be a list of texts",
    "list(traced_texts(None, ['abc']))": "The pipeline must be a Pipeline",
    "word_alignment.words(3)": "Words are those of a text, not of 3",
    "alignment_error([[(0, 0)]], read_alignments()[:1])": "Links are a set of pairs",
    "alignment_error([{(0, 0)}], ['a b'])": "A sentence is one that `read_alignments` returns",
    # files
    "Pipeline.load(Path('tests'))": "'tests' is a folder; give the path of a file",
    "Pipeline.load(Path())": "'.' is a folder",
    "Pipeline.load(Path('x\\0'))": "There is no file",
    "reverse.save('nowhere/x', 'float16')": "dtype is 'float16'; it must be a floating-point type",
    "reverse.save('nowhere/x', np.float32)": "it must be a floating-point type",
    "reverse.save('nowhere/x', torch.int64)": "dtype is torch.int64; it must be a floating-point type",
    "reverse.save('x\\0', torch.float16)": "cannot be written (",
    "reverse.save(None)": "The path of a file must be a text or a Path, not None",
    "reverse.save(b'x')": "The path of a file must be a text or a Path, not b'x'",
    "reverse.save('')": "The file '.' cannot be written (it is a folder).",
    "reverse.check(alone)": "The trace is of another kind of model: it has target; this model reads source and target.",
    "Block('decoder.layers.0.cross_attention', heads=(0,)).place(model)": "A Block of decoder.layers.0.cross_attention",
    "Patch('decoder.layers.0.cross_attention.weights', heads=(0,)).place(model)": "The values None do not fit decoder.layers.0",
    "Scale(attention, 'half').place(model)": "The factor is 'half'; it must be a number",
    "forcing(reverse, Pipeline.load('addition').trace('1+2'))": "The pipeline must be the one that was traced",
    "draw.importance(reverse, Pipeline.load('addition').trace('1+2'), 0)": "The pipeline must be the one that was traced",
    "logit_contributions(reverse.readout, reverse.trace('ab'), None)": "token is None",
    "compare(model, model)": "Two networks are compared on ids that both read: compare(module, ours, source, target).",
    "Generation.of(None)": "The steps of an answer are those that `generate` yields, not (None,).",
    "reverse.check(trace)": "The trace is of another model: its result has the shape",
    "Scale(attention, heads=(0,), factor=2).place(model)": "Tensors with one: decoder.layers.1.self_attention.masked_scores, ",
    "draw.units(reverse, reverse.trace('ab'), 'encoder.output', 1)": "encoder.output is not the path of a feed-forward",
    "draw.layer(reverse.trace('abc'), 'x')": "stack is 'x'; allowed are encoder, decoder",
    "Generation.of([1, 2])": "The steps of an answer are those that `generate` yields, not (1, 2).",
    "load_checkpoint(5)": "The path of a file must be a text or a Path, not 5",
    "load_checkpoint('')": "'.' is a folder",
    "load_checkpoint(['a'])": "The path of a file must be a text or a Path, not ['a']",
    "read_card(5)": "The path of a file must be a text or a Path, not 5",
    "read_card(None)": "The path of a file must be a text or a Path, not None",
    "read_metadata(np.array(['a']))": "The path of a file must be a text or a Path, not array",
    "save_checkpoint('nowhere/x', reverse)": "A checkpoint must be a Checkpoint, not <Pipeline 'reverse'",
    "Card.from_json(5)": "5 is not a Headlight card",
    "Card.from_json(b'[')": "b'[' is not a Headlight card",
    # ids
    "model(source[0], target)": "The source ids must be a tensor [batch, length] of int64 or int32, not torch.int64 (3,).",
    "model(source[None], target)": "int32, not torch.int64 (1, 1, 3).",
    "model(source, target[0])": "The target ids must be",
    "model(source.float(), target)": "not torch.float32 (1, 3).",
    "model(source, target.bool())": "not torch.bool (1, 2).",
    "model([[1, 2]], target)": "not [[1, 2]].",
    "model(source.numpy(), target)": "not array(",
    "model(source, None)": "not None.",
    "strict.decode(target, memory, None)": "The memory and its mask belong together",
    "strict.decode(target, None, mask)": "The memory and its mask belong together",
    "strict.decode(target.repeat(2, 1), memory, mask)": "The source has 1 rows and the target 2",
    "model(source.repeat(2, 1), target)": "The source has 2 rows and the target 1",
    # decoding
    "Temperature('hot')": "The temperature is 'hot'; allowed are 0 to 10.0.",
    "TopK(2.5)": "Top-k is 2.5; it must be a whole number of at least 1.",
    "TopP(True)": "Top-p is True; allowed are 0 to 1.",
    "MinP(None)": "Min-p is None; allowed are 0 to 1.",
    "Sample('a')": "The seed is 'a'; allowed are 0 to 4294967295.",
    "Beam('wide')": "The width is 'wide'; allowed are whole numbers from 1 to 1000.",
    "Beam(2, 'a')": "The length penalty is 'a'; allowed are 0 to 5.0.",
    "next(reverse.generate('ab', logits_processors='ab'))": "Logits processors are a list of Temperature, TopK, TopP and MinP,",
    "next(reverse.generate('ab', 'greedy'))": "The method is 'greedy'; it must be Greedy(), Sample(…) or Beam(…).",
    "next(reverse.generate('ab', forced=[1]))": "Forced tokens are a mapping from step to token id, not [1].",
    "next(reverse.generate('ab', forced={0: 'a'}))": "The token 'a' cannot be forced at step 0; allowed are ids 0 to",
    "next(reverse.generate('ab', forced={0: 10**9}))": "The token 1000000000 cannot be forced at step 0; allowed are ids 0 to",
    **{
        f"generate(strict, source, 1, 2, 4, {values})": message  # the errors come before the first step
        for values, message in (
            ("suppress=[99]", "There is no token id 99 here; allowed are 0 to 9."),
            ("suppress=[-1]", "There is no token id -1 here; allowed are 0 to 9."),
            ("suppress='ab'", "A token id must be a whole number; this one is 'a'."),
            ("suppress=None", "Token ids must be a list of whole numbers, not None."),
            ("suppress=range(10)", "All tokens of the vocabulary are suppressed; at least one must be allowed."),
            ("prompt=torch.tensor([[1, 99]])", "There is no target token id 99; allowed are 0 to 9."),
            (
                "prompt=torch.tensor([1, 2])",
                "The target ids must be a tensor [batch, length] of int64 or int32, not torch.int64",
            ),
            ("prompt=[[1]]", "The target ids must be a tensor [batch, length] of int64 or int32, not [[1]]."),
            ("prompt=torch.ones(1, 20).long()", "The target has 20 tokens; allowed are 1 to 16."),
            ("prompt=torch.ones(2, 1).long()", "There are 1 sources and 2 prompts; each source needs one prompt."),
        )
    },
    "generate(strict, torch.tensor([[99]]), 1, 2, 4)": "There is no source token id 99; allowed are 0 to 9.",
    "generate(strict, [[1]], 1, 2, 4)": "The source ids must be a tensor [batch, length] of int64 or int32, not [[1]].",
    "generate(strict, source, 99, 2, 4)": "There is no target token id 99; allowed are 0 to 9.",
    "generate(strict, source, 1, 2, '4')": "max_new_tokens is '4'; it must be a whole number.",
    "generate(strict, None, 1, 2, 4)": "Without a source, the decoder needs a prompt",
    "generate(reverse, source, 1, 2, 4)": "The model must be a Transformer, not <Pipeline 'reverse'",
    "next(reverse.generate('ab')).attention('cross', 1)": "row is 1; allowed are 0 to 0.",
    "next(reverse.generate('ab')).attention('decoder', -1)": "row is -1; allowed are 0 to 0.",
    "next(reverse.generate('ab')).attention('cross', None)": "row is None; allowed are 0 to 0.",
    "word_alignment.links_of(trace, None)": "weights must be a NumPy array of numbers with axes query key, not None.",
    "word_alignment.links_of(trace, square[:1])": "weights has shape (1, 2); this trace has (2, 3) target and source tokens.",
    "word_alignment.links_of(alone, square)": "This run has no source; it has target.",
    "word_alignment.diagonal_links(None)": "A sentence is one that `read_alignments` returns, not None.",
    "read_alignments(5)": "The path of a file must be a text or a Path, not 5.",
    "join(ones, None, [(0,)])": "words must be a list, not None.",
    "join(ones, [()], [(0,)])": "Words are tuples of positions, as `groups` returns them, not [()].",
    "join(ones, [0], [(0,)])": "Words are tuples of positions",
    "join(ones, [(0,)], [(0,)])": "weights has shape (4, 4), which does not fit the words.",
    "join_allowed(None, [(0,)], [(0,)])": "allowed must be a NumPy array of numbers with axes query key, not None.",
    "join_allowed(open_, [(0,)], [(0,)])": "allowed has shape (2, 2), which does not fit the words.",
    "word_means(None, [(0,)])": "values must be a NumPy array of numbers",
    "word_means(ones, [(0,)])": "values has shape (2,), which does not fit the words.",
    "flow_of(None)": "stops must be a list, not None.",
    "flow_of(['logits'])": "The stop must be a Stop, one of those that `walk` returns, not 'logits'.",
    "head_counts(None)": "The model must be a Transformer, not None.",
    "generation.chain(None)": "A hypothesis must be one of `Generation.hypotheses`, not None.",
    "generation.state(0)": "A hypothesis must be one of `Generation.hypotheses`, not 0.",
    "generation.ids('a')": "A hypothesis must be one of `Generation.hypotheses`, not 'a'.",
    "alignment_error(None, [])": "made must be a list, not None.",
    "alignment_error([], 'ab')": "sentences must be a list, not 'ab'.",
    "head_links('ab', 0, 0)": "The trace must be a Trace, as `Pipeline.trace` returns it, not 'ab'.",
    "head_links(trace, 9, 0)": "layer is 9; allowed are 0 to 1.",
    "predictions(model, source, target, [3, 10])": "There is no token id 10 here; allowed are 0 to 9.",
    "predictions(model, source, target, [3, 4, 5])": "number of wanted ids is 3; allowed are 0 to 2.",
    "predictions(model, source, target, 3)": "Token ids must be a list of whole numbers, not 3.",
    "predictions(model, source, None, [3])": "The target ids must be a tensor",
    "reachable(None)": "allowed must be a NumPy array of numbers with axes layer head query key, not None.",
    "reachable([True])": "allowed must be a NumPy array of numbers",
    "reachable(ones[:0] > 0)": "every axis needs a size of at least 1",
    "answer_lens(reverse.readout, 'ab')": "The answer must be a Generation, as `Generation.of` returns it, not 'ab'.",
    "lens_number(reverse.readout, 'ab', 0, 0)": "The answer must be a Generation, as `Generation.of` returns it, not 'ab'.",
    "explain_stop(model, trace, 'logits', 0, 0)": "The stop must be a Stop, one of those that `walk` returns, not 'logits'.",
    "word_groups(trace, 'source', 1)": "item is 1; allowed are 0 to 0.",
    "word_groups(trace, 'source', -1)": "item is -1; allowed are 0 to 0.",
    "word_groups(alone, 'source')": "This run has no source; it has target.",
    "word_groups('ab', 'source')": "The trace must be a Trace",
    "logit_contributions(model, {'logits': trace.logits}, 3)": "There is no tensor target_embedding.sum; contributions",
    "logit_contributions(model, {path: of_trace[path] for path in of_trace if 'layers.1.feed' not in path}, 3)": (
        "There is no tensor decoder.layers.1.feed_forward"
    ),
    "logit_lens(5, {})": "The model must be a Transformer, not 5.",
    "logit_lens(reverse.readout, None)": "values must be a Trace, or map paths to tensors",
    "logit_lens(reverse.readout, {'target_embedding.sum': torch.zeros(1, 1, 7)})": (
        "The values are those of another model: target_embedding.sum has 7 columns; this model has d_model"
    ),
    "logit_contributions(reverse.readout, 5, 0)": "values must be a Trace, or map paths to tensors",
    "logit_contributions(None, {}, 0)": "The model must be a Transformer, not None.",
    "forcing(5, None)": "The pipeline must be a Pipeline",
    "parting(5, [1])": "Two rows of tokens are compared, not 5 and [1].",
    "smoothed_target(5, 1, 'a')": "smoothing is 'a'; allowed are 0 to 1.",
    # texts
    **{
        f"reverse.{method}({value})": f"{value}."
        for method in ("encode", "answer", "answers", "trace", "source_vocabulary.split")
        for value in ("5", "1.5", "None", "True", "b'abc'", "{'ab': 1}", "bytearray(b'a')", "np.int64(5)")
    },
    **{
        f"reverse.{method}({value})": "A text must be a string; this one is "
        for method in ("answers", "trace", "source_vocabulary.split")
        for value in ("[None]", "[5]", "[['ab']]", "[b'ab']", "np.array([['ab']])", "(n for n in (1, 2))", "[()]", "[np.nan]")
    },
    **{
        f"reverse.{method}({value})": "list of texts, not "
        for method in ("answers", "trace")
        for value in ("{'ab'}", "frozenset({'ab'})", "np.array('ab')", "memoryview(b'ab')", "reverse", "object()")
    },
    **{f"reverse.{method}({value})": "at least one" for method in ("answers", "trace") for value in ("[]", "()", "iter([])")},
    "reverse.answers('ab')": "`answers` takes a list of texts, not the text 'ab'; `answer` takes one",
    "reverse.answers(reverse.encode('ab'))": "`answers` takes a list of texts, not Encoding(",
    "reverse.answers(['ab', None])": "Text 2 cannot be read. A text must be a string; this one is None",
    "reverse.trace(['ab', 'b' * 99])": "Text 2 cannot be read. Your text has 99 characters; this model reads up to 62.",
    "reverse.trace(['ab', 'b'], ['ba', 5])": "Target 2 cannot be read. A text must be a string; this one is 5",
    "reverse.trace('ab', 5)": "Give a text or a list of texts, not 5",
    "reverse.trace('ab', [5])": "A text must be a string; this one is 5",
    "reverse.trace('ab', {'ba'})": "Give a text or a list of texts, not {'ba'}",
    "reverse.trace('ab', [])": "There are 1 sources and 0 targets; each source needs one target",
    "reverse.trace('ab', reverse.encode('ba'))": "was read as another side or by another model",
    "reverse.trace(reverse.encode('ba', 'target'))": "was read as another side or by another model",
    "reverse.trace(Pipeline.load('english-french').encode('a cat'))": "There is no token id",
    "reverse.trace(reverse.answers(['ab'])[0])": "A text must be a string; this one is Answer(",
    "reverse.as_target('abc')": "An answer must be one that `answers` gave, not 'abc'",
    "reverse.as_target(None)": "An answer must be one that `answers` gave, not None",
    **{
        f"reverse.{call}{side})": f"side is {side.removeprefix('np.').removesuffix(')')}"
        for call in ("encode('ab', ", "longest(", "vocabulary(", "batch([[1]], ")
        for side in ("'sideways'", "None", "0", "['source']", "np.array(['source'])", "True")
    },
    # tokens and ids
    **{
        f"reverse.source_vocabulary.{method}({value})": "okens must be a list of texts, not"
        for method in ("ids", "text", "unknown")
        for value in ("5", "None", "b'ab'", "{'a': 1}", "{'a'}", "1.5", "np.array('a')")
    },
    **{
        f"reverse.source_vocabulary.{method}({value})": "A token must be a text; this one is"
        for method in ("ids", "text", "unknown")
        for value in ("[None, 7]", "['a', None]", "[b'a']", "[['a']]", "np.arange(2)", "range(2)", "torch.arange(2)")
    },
    **{
        f"reverse.source_vocabulary.tokens_of({value})": "whole number"
        for value in ("5", "None", "'12'", "[None]", "[1.0]", "['1']", "[True]", "{1}", "{1: 2}", "b'ab'", "[[1]]", "[np.nan]")
    },
    "reverse.source_vocabulary.tokens_of(np.array([[1, 2]]))": "whole number",
    "reverse.source_vocabulary.tokens_of(torch.tensor([1.5]))": "whole number",
    "reverse.source_vocabulary.tokens_of([10**5000])": "There is no token id <int> here; allowed are 0 to",
    "reverse.batch('abc', 'source')": "A token id must be a whole number; this one is 'a'",
    "reverse.batch([1, 2], 'source')": "Token ids must be a list of whole numbers, not 1",
    "reverse.batch([[1, 2.5]], 'source')": "A token id must be a whole number; this one is 2.5",
    "reverse.batch([[1], None], 'source')": "Token ids must be a list of whole numbers, not None",
    "reverse.batch(5, 'source')": "A batch must be a list of rows of token ids, not 5",
    "reverse.batch({1: [1]}, 'source')": "A batch must be a list of rows of token ids, not {1: [1]}",
    "reverse.batch([], 'source')": "There is no text; at least one is needed",
    "reverse.batch([[10**30]], 'source')": "There is no token id 1000000",
    "Vocabulary(5, 'english')": "A vocabulary must be a list of texts, not 5",
    "Vocabulary.of(None, 'english')": "A vocabulary must be a list of texts, not None",
    "Vocabulary.of([b'a'], 'english')": "The vocabulary has the token b'a'; every token must be a text",
    "Vocabulary.of('ab', None)": "tokenizer is None; allowed are characters",
    "Vocabulary.of('ab', np.array(['english']))": "tokenizer is array(",
    "Vocabulary.from_json(5)": "The vocabulary 5 is not a JSON object",
    # untrained models
    "Untrained.of('vanilla', 'the cat')": "Sources must be a list of texts, not the text 'the cat'",
    "Untrained.of('vanilla', ['the cat'], 'le chat')": "Targets must be a list of texts, not the text 'le chat'",
    "Untrained.of('vanilla', [None])": "A text must be a string; this one is None",
    "Untrained.of('vanilla', ['a ' * 65]).build().encode('a ' * 65)": "has 65 words or digits; this model reads up to 64",
    **{
        f"Untrained.of('vanilla', {value})": f"Give a list of texts, not {value}."
        for value in ("5", "None", "1.5", "b'ab'", "{'a'}", "{'a': 1}", "True")
    },
    **{
        f"Untrained.of('vanilla', {value})": "A text must be a string; this one is"
        for value in ("[5]", "[b'ab']", "[['ab']]", "np.arange(2)")
    },
    "Untrained.of('vanilla', ['ab'], 5)": "Give a list of texts, not 5",
    "Untrained.of('vanilla', ['ab'], [5])": "A text must be a string; this one is 5",
    "Untrained.of('vanilla', ['ab'], sizes=5)": "Sizes must be fields with their values, such as {'d_model': 64}, not 5",
    "Untrained.of('vanilla', ['ab'], sizes='d_model')": "Sizes must be fields with their values",
    "Untrained.of('vanilla', ['ab'], sizes=[('d_model', 8)])": "Sizes must be fields with their values",
    "Untrained.of('vanilla', ['ab'], sizes=False)": "Sizes must be fields with their values",
    "Untrained.of('vanilla', ['ab'], sizes={5: 1})": "5 is not the name of a field",
    "Untrained.of('vanilla', ['ab'], sizes={'d_model': [8]})": "d_model is [8]; it must be a number, a text, True or False",
    "Untrained.of('vanilla', ['ab'], sizes={'d_model': None})": "d_model is None; it must be a number",
    "Untrained.of('vanilla', ['ab'], sizes={'d_model': 8.5}).config": "d_model is 8.5; it must be a whole number",
    "Untrained.of('vanilla', ['ab'], sizes={'source_vocab': 7}).config": "source_vocab follows from the texts",
    "Untrained.of('vanilla', ['ab'], sizes={'wings': 2}).config": "wings is not a field; the fields are",
    **{
        f"Untrained.of({value}, ['ab'])": f"preset is {value.removeprefix('np.').removesuffix(')')}"
        for value in ("5", "None", "'bert'", "['vanilla']", "np.array(['vanilla'])", "{'vanilla'}")
    },
    "interventions(None, model.config)": "None is not an edit; allowed are silence KIND layer N",
    "all_interventions('no positions', model.config)": "Edits must be a list of phrases, not 'no positions'.",
    "all_interventions(None, model.config)": "Edits must be a list of phrases, not None.",
    "interventions('no positions', None)": "None is not a TransformerConfig",
    "interventions('no positions', model.config, 5)": "lengths is 5; it must give the number of tokens of each side",
    # masks
    "target_masks(None, model.config)": "ids must be a tensor of int64 or int32 with axes batch target, not None",
    "target_masks(ids, model.config)": "ids has shape (3,); expected axes batch target",
    "target_masks(ids[None].float(), model.config)": "not tensor([[1., 5., 2.]])",
    "target_masks(ids[None], TransformerConfig)": "is not a TransformerConfig",
    "conventions(scores, ids, 'decoder', None)": "None is not a TransformerConfig",
    "conventions(scores.numpy(), ids, 'decoder', model.config)": "scores must be a tensor of floating-point numbers",
    "conventions(scores.long(), ids, 'decoder', model.config)": "scores must be a tensor of floating-point numbers",
    "conventions(scores[0], ids, 'decoder', model.config)": "scores has shape (3,); expected axes query key",
    "conventions(scores, ids[None], 'decoder', model.config)": "ids has shape (1, 3); expected axes key",
    "conventions(scores, [1, 5, 2], 'decoder', model.config)": "ids must be a tensor of int64 or int32 with axes key",
    "conventions(scores, ids[:2], 'decoder', model.config)": "There are 2 ids and 3 keys in the scores",
    "conventions(scores[:2], ids, 'decoder', model.config)": "these scores have 2 queries and 3 keys",
    "empty_row(None, scores, 0.0)": "scores must be a tensor of floating-point numbers with axes key, not None",
    "empty_row(scores, scores, 0.0)": "scores has shape (3, 3); expected axes key",
    "empty_row(scores[0], scores[0], 0.0)": "values has shape (3,); expected axes key d_head",
    "empty_row(scores[0], scores[:2], 0.0)": "There are 3 scores and 2 values",
    "empty_row(scores[0], scores, None)": "fill is None; it must be a number",
    "empty_row(scores[0], scores, '0')": "fill is '0'; it must be a number",
    # positions
    "cell(1, 0, 0)": "d_model is 0; it must be a whole number of at least 1",
    "cell(-1, 0, 4)": "position is -1; it must be a whole number of at least 0",
    "cell(1.5, 0, 4)": "position is 1.5; it must be a whole number",
    "cell(1, -1, 4)": "dimension is -1; allowed are 0 to 3",
    "cell(1, 4, 4)": "dimension is 4; allowed are 0 to 3",
    "cell(1, 0, '4')": "d_model is '4'; it must be a whole number",
    "wave(0, 0, np.arange(3.0))": "d_model is 0",
    "wave(4, 4, np.arange(3.0))": "dimension is 4; allowed are 0 to 3",
    "wave(0, 4, [1, 2])": "steps must be a NumPy array of numbers with axes step, not [1, 2]",
    "wave(0, 4, np.array(['a']))": "steps must be a NumPy array of numbers",
    **{
        f"{table}({sizes})": message
        for table in ("sinusoidal_table", "untrained_table")
        for sizes, message in (
            ("-1, 4", "positions is -1"),
            ("4, 0", "d_model is 0"),
            ("4.5, 4", "positions is 4.5"),
            ("10**12, 10**12", "has too many numbers; allowed are 67108864"),
        )
    },
    "dot_products(None)": "table must be a NumPy array of numbers with axes position d_model, not None",
    "dot_products(array[0])": "table has shape (4,); expected axes position d_model",
    "dot_products(array[:0])": "table has shape (0, 4); every axis needs a size of at least 1",
    "by_distance(array)": "products has shape (3, 4); it must have as many rows as columns",
    "by_distance(scores)": "products must be a NumPy array of numbers",
    "spread(array[:0, :0])": "products has shape (0, 0); every axis needs a size of at least 1",
    "rotation(1.5, 4)": "shift is 1.5; it must be a whole number",
    "rotation(1, 0)": "d_model is 0; allowed are 1 to 8192",
    "rotation_errors(array, '1')": "shift is '1'; allowed are 0 to 2",
    "rotation_errors(None, 1)": "table must be a NumPy array of numbers",
    "swap(None, [1, 5, 2], 0, 1)": "The model must be a Transformer, not None",
    "swap(model, 'abc', 0, 1)": "A token id must be a whole number; this one is 'a'",
    "swap(model, None, 0, 1)": "Token ids must be a list of whole numbers, not None",
    "swap(model, [], 0, 1)": "ids must be a list of token ids, such as [1, 5, 2], not []",
    "swap(model, [1, 5, 2], '0', 1)": "position is '0'; allowed are 0 to 2",
    "swap(model, [1, 5, 2], 0, 1, words=3)": "The words are 3; they must have the positions 0 to 2 in order",
    "swap(model, [1, 5, 2], 0, 1, words=(None, 0, 0))": "they must have the positions 0 to 2 in order",
    "swap(model, [1, 5, 2], 0, 3)": "position is 3; allowed are 0 to 2",
    # tables
    "as_array(None)": "values must be a tensor, not None",
    "as_array(array)": "values must be a tensor, not array",
    "token_table(model, 'sideways')": "There is no side 'sideways'; allowed are source and target",
    "model_table(model, 'sideways')": "There is no side 'sideways'; allowed are source and target",
    "nearest(token_table(model, 'source'), 10, 2)": "token id is 10; allowed are 0 to 9",
    "nearest(token_table(model, 'source'), -1, 2)": "token id is -1; allowed are 0 to 9",
    "nearest(array, 0, '2')": "count is '2'; it must be a whole number of at least 0",
    "nearest(None, 0, 2)": "table must be a NumPy array of numbers",
    "token_table(Transformer, 'source')": "The model must be a Transformer, not <class",
    "model_table(reverse, 'source')": "The model must be a Transformer, not <Pipeline 'reverse'",
    "model_table(model, np.array(['source']))": "There is no side array(['source']",
    "cosines(scores, scores)": "rows must be a NumPy array of numbers with axes row d_model, not tensor(",
    "plane(None)": "table must be a NumPy array of numbers with axes vocab d_model, not None",
    "plane(array[0])": "table has shape (4,); expected axes vocab d_model",
    "plane(array * np.nan)": "The table has numbers that are NaN or infinite",
    "plane(array, [])": "fitted is []; it must have the index of at least one row",
    "plane(array, [3])": "fitted row is 3; allowed are 0 to 2",
    "plane(array, [-1])": "fitted row is -1; allowed are 0 to 2",
    "plane(array, '12')": "A token id must be a whole number; this one is '1'",
    "plane(array, 1)": "Token ids must be a list of whole numbers, not 1",
    # calls
    "constructor_calls(Transformer)": "The model must be a Transformer, not <class",
    "forward_calls(None, source, target)": "The model must be a Transformer, not None",
    "forward_calls(model, source, 'abc')": "The target ids must be a tensor",
    "find(None)": "The function None is not that of a recorded call",
    "explanation('forward')": "The call must be a Call, as `forward_calls` returns it, not 'forward'",
    # measures and steps of heads
    "measure(torch.ones(2, 3, 4, 4))": "weights must be a NumPy array of numbers with axes layer head query key, not tensor(",
    "measure(ones, 'x')": "aligned must be a NumPy array of numbers with axes query key, not 'x'",
    "mean_of(None)": "measures must be a list of results of `measure`, not None",
    "mean_of(measure(ones))": "measures must be a list of results of `measure`, not {'entropy'",
    "mean_of([None])": "measures must be a list of results of `measure`; one of them is None",
    "mean_of([measure(ones), measure(ones[:1])])": "entropy has shape (2, 3) in one sentence and (1, 3) in another",
    "strongest(array[0])": "values has shape (4,); expected axes layer head",
    "strongest(array * np.nan)": "There are no heads to compare",
    "shift(None, ones[:, :, 0], 0, 1)": "weights_a must be a NumPy array of numbers",
    "shift(ones[:, :2, 0], ones[:, :, 0], 0, 1)": "The weights have (2, 2) and (2, 3) layers and heads",
    "rollout(ones[:0])": "weights has shape (0, 3, 4, 4); every axis needs a size of at least 1",
    "alignment_mask(5, 3, 3)": "An alignment must be a list of pairs (target index, source index), such as [(0, 0)], not 5",
    "alignment_mask([(0, -1)], 3, 3)": "An alignment must be a list of pairs",
    "alignment_mask([(0, 0)], -1, 3)": "queries is -1; it must be a whole number of at least 0",
    "explain(model, 'trace', 'encoder', 0, 0, 'scores', 0, 0)": "The trace must be a Trace",
    "explain(model, trace, 'encoder', 0, 0, np.array(['scores']), 0, 0)": "There is no step array(['scores']",
    "explained[['bias']]": "There is no number ['bias']",
    "head_steps.attention_step(None, 'encoder', 0, 0, 'scores', 0)": "The trace must be a Trace",
    "head_steps.attention_step(trace, 'encoder', 0, 0, None, 0)": "There is no step None; allowed are input",
    "head_steps.tensor_path(trace, 'encoder', 0, None)": "A path must be a text, not None",
    "head_steps.head_matrix(trace, 'encoder.layers.0.self_attention.scores', 9, 0)": "head is 9; allowed are 0 to 2",
    "list(head_importance(model, None, target, 0, 1))": "The source ids must be a tensor",
    "list(head_importance(model, source, target[:, :0], 0, 1))": "The target has 0 tokens",
    # leaks
    **{
        f"leaks.{call}": "The pipeline must be a Pipeline, as `Pipeline.load` returns it, not None"
        for call in (
            "change_later(None, [4], [1, 4], 1, 5)",
            *("append_padding(None, [4], [1, 4], 1)", "fill_padding(None, [4], [1, 4], 1)", "padded_answer(None, [4], 1)"),
        )
    },
    "leaks.change_later(reverse, [4], [1], 1, 5)": "The target has one token; it needs at least one after the first",
    "leaks.append_padding(reverse, [4] * 100, [1, 4], 1)": "The source has 100 tokens; allowed are 1 to 64",
    "leaks.fill_padding(reverse, [4], [1, 4], 1, None)": "Edits are a list of interventions, such as [Ablate(path)], not None",
    "leaks.padded_answer(reverse, 'ab', 1)": "source must be a list of token ids, such as [1, 5, 2], not 'ab'",
    # the ledger, the residual stream and the walk
    "ledger.totals(None, len)": "rows must be a list, not None",
    "ledger.totals([1], len)": "Each row must be a Row, as `ledger` returns them; one of them is 1",
    "ledger.totals([], 'group')": "by must be a function from a row to its heading, not 'group'",
    "ledger.markdown('ab', [])": "columns must be a list, not 'ab'",
    "ledger.markdown(['a'], [5])": "row must be a list, not 5",
    "ledger.markdown(['a', 'b'], [[1]])": "Row 1 has 1 cells; the table has 2 columns",
    "residual_stream(trace, 'encoder', '0')": "batch item is '0'; allowed are 0 to 0",
    "cosine(None, array)": "a must be a NumPy array of numbers",
    "cosine(array, array[:2])": "a has shape (3, 4) and b has shape (2, 4); they must be equal",
    "sublayer_steps.residual(trace, None, 0)": "A path must be a text, not None",
    "sublayer_steps.layer_norm(model, trace, networked, 3)": "position is 3; allowed are 0 to 2",
    "worked.strongest(-1)": "most is -1; it must be a whole number of at least 0",
    "walk.walk(Trace)": "The trace must be a Trace, as `Pipeline.trace` returns it, not <class",
    "walk.group_of(None)": "A path must be a text, not None",
    "walk.caller(None, 'logits')": "The model must be a Transformer, not None",
    # traces
    "trace.hidden('5')": "no such attention as '5'; nearest are",
    "trace.hidden('')": "no such attention as ''; nearest are",
    "words.hidden('5')": "no such attention as '5'; nearest are",
    "trace.hidden('logits')": "no such attention as 'logits'; nearest are",
    "trace.head('cross', 0, '1')": "head is '1'; allowed are 0 to 2",
    "trace.head_allowed('cross', 0, 0, None)": "item is None; allowed are 0 to 0",
    "edited(silence('cross', 0, 1))": "heads is 1; it must be a row of whole numbers",
    # pipelines
    "reverse.batch([[]], 'source')": "A row of the batch is empty; each row needs at least one token id",
    "reverse.longest(array)": "allowed are source and target",
    "Pipeline.from_bytes(None, 'x')": "The contents of a file must be bytes, not None",
    "Pipeline.from_bytes(b'', None)": "The name of a file must be a text, not None",
    "open_model(None)": "There is no model None; shipped are",
    "open_model(5)": "There is no model 5; shipped are",
    "open_model(b'reverse')": "There is no model b'reverse'; shipped are",
    "open_model('reverse', own_network=1)": "own_network is 1; allowed are True and False",
    "trace[0]": "A path must be a text, not 0.",
    "trace.hidden(10**5000)": "A path must be a text, not <int>.",
    "trace.weights('cross', '1')": "layer is '1'; allowed are 0 to 1",
    "trace[1:2]": "A path must be a text, not slice(1, 2, None).",
    "trace.attention(['cross'])": "['cross'] is not a kind of attention; allowed are encoder, decoder, cross.",
    "trace.tokens('x')": "'x' is not a kind of attention; allowed are encoder, decoder, cross.",
    "trace.tokens('cross', 9)": "item is 9; allowed are 0 to 0",
    "trace.tokens('cross', -1)": "item is -1; allowed are 0 to 0",
    "trace.tokens_of('x')": "side is 'x'; allowed are source, target",
    "trace.ids_of(None)": "side is None; allowed are source, target",
    "run_traced(model, source, target, source_tokens='abc')": "source_tokens must have a row of tokens for each text",
    "run_traced(model, source, target, source_tokens=[['a']])": "with one token for each id, not [['a']]",
    "run_traced(model, source, target, source_words=[[0, 1]])": "source_words must have a row for each text",
    "run_traced(model, source, target, target_words=[['a'] * 4])": "the number of a word or None for each id, not [['a'",
    "alone.tokens('cross')": "This run has no cross attention; it has decoder.",
    "alone['encoder.output']": "there is no such tap as 'encoder.output'; nearest are decoder.output",
    "trace.query_names('cross', end=3)": "end is 3; it must be a text.",
    "trace.query_names('encoder', end=None)": "end is None; it must be a text.",
    "run_traced(model, source, target, source_words=meta)": "source_words must have a row for each text",
    "run_traced(model, source, target, source_words=5)": "source_words must have a row for each text",
    # tensors without numbers, sparse tensors, and lists that contain themselves
    "reverse.batch(meta, 'source')": "A batch must be a list of rows of token ids, not tensor(..., device='meta'",
    "reverse.batch([[meta[0, 0]]], 'source')": "Token ids must be a list of whole numbers, not [tensor(..., device='meta'",
    "reverse.batch(torch.tensor([[True]]), 'source')": "A token id must be a whole number; this one is tensor(True)",
    "reverse.batch(itself, 'source')": "A token id must be a whole number; this one is [[...]]",
    "reverse.batch(sparse, 'source')": "A batch must be a list of rows of token ids, not tensor(indices=",
    "reverse.source_vocabulary.tokens_of(meta[0])": "Token ids must be a list of whole numbers, not tensor(..., device='meta'",
    "reverse.model(meta, target)": "int64 or int32, not torch.int64 (1, 3), on the device meta.",
    "reverse.model(source, meta)": "int64 or int32, not torch.int64 (1, 3), on the device meta.",
    "reverse.model(sparse, target)": "int64 or int32, not torch.int64 (1, 3), torch.sparse_coo.",
    "reverse.model.encode(meta)": "The source ids must be a tensor",
    "strict.decode(meta, memory, mask)": "The target ids must be a tensor",
    "strict.decode(target, memory.to('meta'), mask)": "The memory is tensor(..., device='meta', size=(1, 3, 12)",
    "strict.decode(target, memory, mask, cache=True)": "cache is True; it must be one that `new_cache` made, or None.",
    "reverse.model.check_ids('source', meta)": "The source ids must be a tensor",
    "run_traced(model, meta, target)": "The source ids must be a tensor",
    "run_traced(model, source, target, sparse)": "Edits are a list of interventions, such as [Ablate(path)], not tensor(",
    "film((meta,))": "texts has a tensor on the device meta, so it has no numbers.",
    "film({'ids': meta})": "texts has a tensor on the device meta, so it has no numbers.",
    "film((itself,))": "texts must be a tensor, several in a tuple, or a mapping of names to tensors, not ([[...]],).",
    "forward_calls(model, itself, target)": "The source ids must be a tensor [batch, length] of int64 or int32, not [[...]].",
    "forward_calls(model, source, itself)": "The target ids must be a tensor [batch, length] of int64 or int32, not [[...]].",
    # arrays where a text, a list or a truth value is meant
    "entered(keep=[['logits']])": "keep has ['logits'], which is no tap of this model.",
    "entered(keep=np.array([['logits']]))": "keep has array(['logits']",
    "entered(keep=itself)": "keep has [[...]], which is no tap of this model.",
    "entered(keep=3)": "keep is 3; it must be True, False or a list of paths.",
    "leaks.append_padding(reverse, [4], [1, 4], 1, array)": "is not an edit; an edit is an intervention",
    "leaks.change_later(reverse, [4], [1, 4], 1, 4, array)": "is not an edit; an edit is an intervention",
    "leaks.padded_answer(reverse, [4], 1, array)": "is not an edit; an edit is an intervention, such as Ablate(path).",
    "residual_stream(trace, array)": "This run has no stack array([[0., 0., 0., 0.]",
    "answered(cached=array)": "cached is array([[0., 0., 0., 0.]",
    "answered(traced=1)": "traced is 1; allowed are True and False.",
    # numbers of one training step, and of pages
    "open_step(reverse, [(source, target)], 'a.name', tenths)": "A weight is a Weight(name, index), not 'a.name'",
    "open_step(reverse, [(source, target)], Weight(['a'], (0,)), tenths)": "The model has no weight ['a'][0].",
    "recipe(['reverse'])": "There is no recipe for ['reverse']; the models are",
    "adam_update(0, 1.0, 0.0, 0.0, 0.1)": "number is 0; it must be at least 1.",
    "adam_update(1, 1.0, 0.0, 0.0, float('nan'))": "learning_rate is nan; it must be a number.",
    "adam_update(1, 1e300, 0.0, 0.0, 0.1)": "gradient is 1e+300; allowed are -1e+100 to 1e+100.",
    "adam_update(1, 1.0, 0.0, -1.0, 0.1)": "square is -1.0; allowed are 0 to 1e+100.",
    "token_losses(None, target, 0.0)": "logits must be a tensor of floating-point numbers with axes batch target vocab",
    "token_losses(torch.zeros(1, 2, 3), target, 0.0)": "token id is 7; allowed are 0 to 2",
    "token_losses(torch.zeros(1, 3, 9), target, 0.0)": "The logits are for (1, 3) texts and positions and the tokens",
    "token_losses(torch.zeros(1, 2, 9), target, 'a')": "smoothing is 'a'; it must be a number.",
    "entropy([0.5, 0.5])": "distribution must be a NumPy array of numbers with axes vocab, not [0.5, 0.5].",
    "ranks(None, source)": "logits must be a tensor of floating-point numbers with axes point batch target vocab, not None",
    "ranks(torch.zeros(1, 1, 3, 4), source)": "token id is 5; allowed are 0 to 3",
    "ranks(torch.zeros(1, 1, 3, 9, device='meta'), source)": "logits must be a tensor of floating-point numbers with axes",
    "cell_to_show(None, 'cross', 0, 0)": "The trace must be a Trace",
    "query_to_show(None, open_, open_[0], open_[0])": "weights must be a NumPy array of numbers with axes query key, not None.",
    "query_to_show(square, square, open_[0], open_[0])": "allowed must be an array of truth values with shape [2, 2]",
    "query_to_show(square, open_, open_[0], open_)": "special_keys must be an array of truth values with shape [2]",
    "row_groups(None, 3)": "The words are None; a number for each token, or None, is needed.",
    "row_groups([None], 'a')": "count is 'a'; it must be a whole number of at least 0.",
    "trace_file(None)": "The trace must be a Trace",
    "step_file(None, generation.steps[0])": "The model must be a Transformer, not None.",
    "step_file(model, None)": "The step must be a DecodingStep, as `generate` yields it, not None.",
    "batch_of(None, [pair])": "The pipeline must be a Pipeline",
    "batch_of(reverse, ['ab'])": "Pairs are a list of Pair, as `Task.pairs` samples them, not ['ab'].",
    "held_out(reverse, [])": "There are no pairs to test on.",
    "held_out(reverse, [pair], 'a')": "smoothing is 'a'; it must be a number.",
    "ShortRun('reverse', float('nan'), 5, 20, 4)": "learning_rate is nan; it must be a number.",
    "ShortRun('reverse', 1e-3, 5, 20, 4, -1)": "pairs is -1; it must be at least 0.",
    "ShortRun('reverse', 1e-3, 5, None, 4)": "steps is None; it must be a whole number.",
    "short_run(None, 3, print)": "The settings must be a ShortRun, not None.",
    "Temperature(Fraction(21, 2))": "The temperature is Fraction(21, 2); allowed are 0 to 10.0.",
    "broken.to_bytes()": "output_projection.weight holds values that are not finite, so the model cannot be saved.",
    "save_huggingface(broken, tempfile.gettempdir() + '/broken')": "lm_head.weight holds values that are not finite",
}
ACCEPTED = {
    "[type(entered(keep=keep)).__name__ for keep in ({'logits'}, np.array(['logits', 'probabilities']), None)]": (
        "['Recording', 'Recording', 'Recording']"
    ),
    "Temperature(half), TopP(half), MinP(half), TopK(np.int64(2))": (
        "(Temperature(value=0.5), TopP(mass=0.5), MinP(share=0.5), TopK(count=2))"
    ),
    "len(answered(method=Sample(), logits_processors=[Temperature(half), TopP(half), MinP(half)]))": "5",
    "len(answered(method=Beam(2, half)))": "5",
    "smoothed_target(2, 0, half).tolist()": "[0.75, 0.25]",
    "open_step(reverse, [(source, source)], bias, StepSettings(half, half, half)).update"
    " == open_step(reverse, [(source, source)], bias, StepSettings(0.5, 0.5, 0.5)).update": "True",
    "[made([[1.0, 0.0]], [[True, False]], 'a', 'bc') == made(np.array([[1.0, 0.0]]), np.array([[True, False]]), 'a', 'bc')"
    " for made in (head_map, small_head_map)]": "[True, True]",
    "edited(Ablate(attention, heads=np.array([0, 1]))) == 0": "False",
    "len({Ablate(attention, heads=heads) for heads in ((0, 2), [0, 2], np.array([0, 2]), torch.tensor([0, 2]))})": "1",
    "len({Scale(attention, factor=factor) for factor in (2, 2.0, np.float32(2))})": "1",
    "len({Block(attention, edges=edges) for edges in (((0, 1),), [[0, 1]], np.array([[0, 1]]))})": "1",
    "len({Patch(attention, values=values) for values in ([[1.0]], [np.array([1.0])], torch.tensor([[1.0]]))})": "1",
    "len(edited(Scale(attention, factor=np.float32(2), positions=[np.int64(1)])))": "122",
    "reverse.trace('abc', edits=(Ablate(f'decoder.layers.{n}.cross_attention') for n in (0, 1))).attention('cross').any()": (
        "tensor(False)"
    ),
    "len(run_traced(model, source.int(), target.int()))": "122",
    "reverse.answers(np.array(['ab']))[0].text": "'ba'",
    "reverse.answers(text for text in ('ab', 'c'))[1].text": "'c'",
    "reverse.answers([np.str_('ab')])[0].text": "'ba'",
    "reverse.trace(('ab',), np.array(['ba'])).target_tokens": "(('<sos>', 'b', 'a'),)",
    "reverse.source_vocabulary.ids(np.array(['a', 'b']))": "[4, 5]",
    "reverse.source_vocabulary.tokens_of(torch.tensor([4, 5]))": "('a', 'b')",
    "reverse.source_vocabulary.tokens_of(np.uint8([4, 5]))": "('a', 'b')",
    "reverse.batch(np.array([[1, 2]]), 'source').tolist()": "[[1, 2]]",
    "reverse.batch((row for row in ((1,), (1, 2))), 'source').tolist()": "[[1, 0], [1, 2]]",
    "Untrained.of('vanilla', np.array(['a b']), sizes={'d_model': np.int64(8), 'heads': 2}).config.d_model": "8",
    "trace.tokens('cross', np.int64(0))[0]": "('1', '7')",
    "answered(suppress=np.array([3]), forced={np.int64(0): np.int64(4)})[0]": "4",
    "answered(prompt=torch.tensor([[1, 5]])) == answered(prompt=torch.tensor([[1, 5]]).int())": "True",
    "alignment_error([frozenset()], [unlinked])": "0.0",
    "alignment_error([{(0, 0)}], [unlinked])": "1.0",
    "predictions(model, source, target, np.array([3])).given.shape": "(1,)",
    # The batch has the same sentence twice. With several threads, its rows can differ in the last digit.
    "round(swap(model, np.array([1, 5, 5]), 1, 2).largest, 5)": "0.0",
    "plane(array, np.array([0, 1])).shares": "(0.0, 0.0)",
    "alignment_mask([], 1, 1)": "array([[False]])",
    "strongest(np.array([[np.nan, 1.0]]))": "(0, 1)",
    "run_traced(model.bfloat16(), source, target)['logits'].numpy().dtype": "dtype('float32')",
}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[str]]:
    """For each snippet, the name and message of its error, or `nothing` and the `repr` of its value."""
    return outcomes_of(SETUP, [*REFUSED, *ACCEPTED])


@pytest.mark.parametrize("code", REFUSED)
def test_a_wrong_value_is_refused_in_a_sentence(code: str, outcomes: dict[str, list[str]]):
    kind, message = outcomes[code]
    assert kind in ("InputError", "PathError", "ConfigError", "CheckpointError"), message
    assert REFUSED[code] in message
    assert len(message) < (1100 if "KIND" in message or "the fields are" in message else 400)


@pytest.mark.parametrize("code", ACCEPTED)
def test_values_of_any_library_are_accepted(code: str, outcomes: dict[str, list[str]]):
    assert outcomes[code] == ["nothing", ACCEPTED[code]]
