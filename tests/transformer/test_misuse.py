"""What a person gets who hands the library something of the wrong kind: one sentence that names it, not a stack trace.

In the other tests, a hook checks every annotation before the library sees a value; a person who installs it has no such hook.
So these run in a process of their own, without it.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BEFORE = """
import json, sys
import numpy as np, torch
from transformer import *
from transformer.tracing.interventions import *
from transformer.tracing.phrases import all_interventions, interventions
from transformer.analysis.token_geometry import nearest, token_table
from transformer.analysis.position_geometry import model_table
from transformer.pipeline.untrained import Untrained

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
deep = 0.0
for _ in range(90):
    deep = [deep]
"""
AFTER = """
found = {}
for code in json.load(sys.stdin):
    try:
        found[code] = ["nothing", repr(eval(code))]
    except Exception as error:
        found[code] = [type(error).__name__, str(error)]
json.dump(found, sys.stdout)
"""

REFUSED = {
    # edits
    "edited(Ablate(attention, heads=1))": "heads = 1: must be a row of whole numbers, such as (0,)",
    "edited(Ablate(attention, heads='12'))": "heads = '12': must be a row of whole numbers",
    "edited(Ablate(attention, heads=(0.5,)))": "head = 0.5: allowed are 0 to 2",
    "edited(Ablate(attention, items=0))": "items = 0: must be a row of whole numbers",
    "edited(Scale(attention, positions=1))": "positions = 1: must be a row of whole numbers",
    "edited(Scale(attention, factor='2'))": "factor = '2': must be a number",
    "edited(Block(attention, edges=((0.9, 1.5),)))": "query = 0.9: allowed are 0 to 15",
    "edited(Block(attention, edges=(('1', '0'),)))": "query = '1'",
    "edited(Block(attention, edges=((True, False),)))": "query = True",
    "edited(Block(attention, edges=((0, float('nan')),)))": "key = nan",
    "edited(Block(attention, edges=((0, 1, 2),)))": "edge = (0, 1, 2): must be a query and a key, such as (0, 1)",
    "edited(Block(attention, edges=(0, 1)))": "edge = 0: must be a row",
    "edited(Block(attention, edges=None))": "edges = None: must be a row",
    "edited(Patch(attention, values=deep))": "values = ((((",
    "edited(Patch(attention, values={}))": "values = {}: must be numbers",
    "edited(Ablate(None))": "path = None: must be text",
    "edited(Ablate(3))": "path = 3: must be text",
    "edited(Replace(attention, by=None))": "path = None: must be text",
    "run_traced(model, source, target, Ablate(attention))": "edits = Ablate(path=",
    "run_traced(model, source, target, None)": "edits = None: must be a list of interventions",
    "run_traced(model, source, target, 'silence')": "edits = 'silence': must be a list of interventions",
    "run_traced(model, source, target, ['x'])": "edit = 'x': must be an intervention",
    "reverse.trace('abc', edits=None)": "edits = None: must be a list of interventions",
    # models
    "run_traced(reverse, source, target)": "model = Pipeline(name='reverse'",
    "run_traced(torch.nn.Linear(2, 2), source, target)": "must be a Transformer, or have its `config` and `taps`",
    "Transformer('vanilla')": "config = 'vanilla': must be a TransformerConfig, such as TransformerConfig.preset('vanilla')",
    "Transformer(sizes)": "must be a TransformerConfig",
    "Pipeline.load(['reverse'])": "model = ['reverse']: shipped are",
    "Pipeline.load('runs/reverse.safetensors')": "any other file is given as a Path",
    "reverse.save('nowhere/x', 'float16')": "dtype = 'float16': must be a type of floating-point numbers",
    "reverse.save('x\\0', torch.float16)": "cannot be written (embedded null byte)",
    # ids
    "model(source[0], target)": "source ids = 'torch.int64 (3,)': must be a tensor [batch, length] of whole numbers",
    "model(source[None], target)": "source ids = 'torch.int64 (1, 1, 3)'",
    "model(source, target[0])": "target ids = 'torch.int64 (2,)'",
    "model(source.float(), target)": "source ids = 'torch.float32 (1, 3)'",
    "model(source, target.bool())": "target ids = 'torch.bool (1, 2)'",
    "model([[1, 2]], target)": "source ids = [[1, 2]]",
    "model(source.numpy(), target)": "source ids = array(",
    "model(source, None)": "target ids = None",
    "strict.decode(target, memory, None)": "memory = (1, 3, 12): memory and mask belong together",
    "strict.decode(target, None, mask)": "memory = None: memory and mask belong together",
    "strict.decode(target.repeat(2, 1), memory, mask)": "batch = (1, 2): source and target must have the same number of rows",
    "model(source.repeat(2, 1), target)": "batch = (2, 1): source and target must have the same number of rows",
    # texts
    "reverse.trace(None)": "source text = None: must be a text, or a list of texts",
    "reverse.trace(b'abc')": "source text = b'abc': must be a text, or a list of texts",
    "reverse.trace(3)": "source text = 3: must be a text",
    "reverse.trace([None])": "source text = None: must be text",
    "reverse.trace([['ab']])": "source text = ['ab']: must be text",
    "reverse.trace('ab', 5)": "target text = 5: must be a text",
    "reverse.trace('ab', [5])": "target text = 5: must be text",
    "reverse.answer(None)": "source text = None: must be text",
    "reverse.answers('ab')": "source texts = 'ab': must be a list of texts",
    "reverse.read('ab', 'sideways')": "side = 'sideways': allowed are source and target",
    "Untrained.of('vanilla', 'the cat')": "source texts = 'the cat': must be a list of texts",
    "Untrained.of('vanilla', ['the cat'], 'le chat')": "target texts = 'le chat': must be a list of texts",
    "Untrained.of('vanilla', [None])": "source texts = [None]: must be a list of texts",
    "Untrained.of('vanilla', ['a ' * 65]).build().read('a ' * 65)": "has 65 words or digits; this model reads up to 64",
    "interventions(None, model.config)": "edit = None: allowed are silence KIND layer N",
    "all_interventions('no positions', model.config)": "edits = 'no positions': must be a list of phrases",
    "all_interventions(None, model.config)": "edits = None: must be a list of phrases",
    # tables
    "token_table(model, 'sideways')": "side = 'sideways': allowed are source and target",
    "model_table(model, 'sideways')": "side = 'sideways': allowed are source and target",
    "nearest(token_table(model, 'source'), 10, 2)": "token id = 10: allowed are 0 to 9",
    "nearest(token_table(model, 'source'), -1, 2)": "token id = -1: allowed are 0 to 9",
    # traces
    "trace[0]": "path = 0: must be text",
    "trace[1:2]": "path = slice(1, 2, None): must be text",
    "trace.attention(['cross'])": "kind of attention = ['cross']: allowed are encoder, decoder, cross",
    "trace.attention_tokens('x')": "kind of attention = 'x': allowed are encoder, decoder, cross",
    "trace.attention_tokens('cross', 9)": "item = 9: allowed are 0 to 0",
    "trace.attention_tokens('cross', -1)": "item = -1: allowed are 0 to 0",
    "alone.attention_tokens('cross')": "the decoder ran alone",
    "alone['encoder.output']": "path = 'encoder.output': there is no such tap; nearest are decoder.output",
}
TAKEN = {
    "edited(Ablate(attention, heads=np.array([0, 1]))) == 0": "False",
    "len({Ablate(attention, heads=heads) for heads in ((0, 2), [0, 2], np.array([0, 2]), torch.tensor([0, 2]))})": "1",
    "len({Scale(attention, factor=factor) for factor in (2, 2.0, np.float32(2), torch.tensor(2.0))})": "1",
    "len({Block(attention, edges=edges) for edges in (((0, 1),), [[0, 1]], np.array([[0, 1]]))})": "1",
    "len({Patch(attention, values=values) for values in ([[1.0]], [np.array([1.0])], torch.tensor([[1.0]]))})": "1",
    "len(edited(Scale(attention, factor=np.float32(2), positions=[np.int64(1)])))": "122",
    "reverse.trace('abc', edits=(Ablate(f'decoder.layers.{n}.cross_attention') for n in (0, 1))).attention('cross').any()": (
        "tensor(False)"
    ),
    "len(run_traced(model, source.int(), target.int()))": "122",
    "run_traced(model.bfloat16(), source, target)['logits'].numpy().dtype": "dtype('float32')",
}


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """What each of them gives: the name of its error, or `nothing`; and what it says."""
    done = subprocess.run(
        [sys.executable, "-c", BEFORE + AFTER],
        input=json.dumps([*REFUSED, *TAKEN]),
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_refused_is_said_in_a_sentence(code: str, found: dict[str, list[str]]):
    kind, message = found[code]
    assert kind in ("InputError", "PathError", "ConfigError", "CheckpointError"), message
    assert REFUSED[code] in message
    assert len(message) < 1100 if "KIND" in message else len(message) < 400


@pytest.mark.parametrize("code", TAKEN)
def test_numbers_of_any_library_are_taken(code: str, found: dict[str, list[str]]):
    assert found[code] == ["nothing", TAKEN[code]]
