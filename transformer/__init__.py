"""A from-scratch encoder–decoder Transformer that hands back every tensor of a forward pass.

    pipeline = Pipeline.load("reverse")
    trace = pipeline.trace("headlight")
    trace.attention("cross")            # [layer, batch, head, query, key]

To read it beside the paper: `config`, `masks`, `embedding`, `attention`, `layers` and `model` are the network, in
this order; `tap` and `trace` look at a forward pass, `interventions` change one, and `pipeline` goes from a text to a trace.
"""

from transformer.errors import CheckpointError, ConfigError, HeadlightError, InputError, PathError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.model import Transformer
from transformer.network.tap import Tap, tracing
from transformer.pipeline.pipeline import Pipeline
from transformer.text.vocabulary import Vocabulary
from transformer.tracing.interventions import Ablate, Block, Intervention, Patch, Replace, Scale
from transformer.tracing.trace import Step, Trace, run_traced

__all__ = [
    "PRESETS",
    "Ablate",
    "Block",
    "CheckpointError",
    "ConfigError",
    "HeadlightError",
    "InputError",
    "Intervention",
    "Patch",
    "PathError",
    "Pipeline",
    "Replace",
    "Scale",
    "Step",
    "Tap",
    "Trace",
    "Transformer",
    "TransformerConfig",
    "Vocabulary",
    "run_traced",
    "tracing",
]
