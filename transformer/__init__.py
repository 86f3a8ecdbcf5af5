"""A from-scratch encoder–decoder Transformer that returns every tensor of a forward pass.

    pipeline = Pipeline.load("reverse")
    trace = pipeline.trace("headlight")
    trace.attention("cross")            # [layer, batch, head, query, key]

The folders and modules, each of which needs only the ones above it:

- `network`: the Transformer beside the paper, in the order `config`, `masks`, `embedding`, `attention`, `layers`, `model`;
  `tap` names its tensors.
- `text`: text to ids and back. `tasks`: the small languages that the shipped models were trained on.
- `tracing`: every tensor of a forward pass (a trace), and interventions that change tensors.
- `pipeline`: from a text to an answer and a trace; models in files; untrained models.
- `analysis`: one module for each question about a trace or a model.
- `patching`: what changes if tensors of one forward pass are put into another.
- `watching`: records the tensors of any PyTorch module, and compares the module with our network.
- `training`: recipes, the training loop, its evaluation and the command line (`python -m transformer.training`).
- `comparing`: `compare`, for two traces (`tracing.difference`) or for a module and our network (`watching.compare`).
- `opening`: opens any model by name or path; models of Hugging Face (`huggingface`) need optional packages.
- `draw`: every figure of the app in one call, for notebooks.

`figures` draws arrays and labels, and needs no other folder. `errors` has every error that the library raises on purpose.
"""

__version__ = "0.1.0"

from transformer.comparing import compare
from transformer.errors import CheckpointError, ConfigError, HeadlightError, InputError, PathError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.model import Transformer
from transformer.network.tap import Tap, tracing
from transformer.opening import open_model, save_huggingface
from transformer.pipeline.pipeline import Pipeline
from transformer.text.vocabulary import Vocabulary
from transformer.tracing.difference import Difference
from transformer.tracing.interventions import Ablate, Block, Change, Intervention, Patch, Replace, Scale, silence
from transformer.tracing.trace import Activation, Trace, run_traced
from transformer.training.own_film import Film
from transformer.watching.comparison import Comparison
from transformer.watching.network_like import network_like
from transformer.watching.watch import watch
from transformer.watching.watched import Watched

__all__ = [
    "PRESETS",
    "Ablate",
    "Activation",
    "Block",
    "Change",
    "CheckpointError",
    "Comparison",
    "ConfigError",
    "Difference",
    "Film",
    "HeadlightError",
    "InputError",
    "Intervention",
    "Patch",
    "PathError",
    "Pipeline",
    "Replace",
    "Scale",
    "Tap",
    "Trace",
    "Transformer",
    "TransformerConfig",
    "Vocabulary",
    "Watched",
    "compare",
    "network_like",
    "open_model",
    "run_traced",
    "save_huggingface",
    "silence",
    "tracing",
    "watch",
]
