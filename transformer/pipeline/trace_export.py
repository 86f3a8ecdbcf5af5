"""Export a trace, or one step of an answer, to a safetensors file: every tensor under its path, its axes in the metadata."""

import json

from safetensors.torch import save

from transformer.errors import InputError
from transformer.pipeline.decoding.generate import DecodingStep, Network
from transformer.tracing.trace import Trace


def trace_file(trace: Trace) -> bytes:
    """The contents of a safetensors file with every tensor of a trace (a recorded forward pass) under its path.

    The metadata holds, as JSON: `axes` (path → names of the axes), `source_tokens`, `target_tokens`, `config`, and `order`
    (the paths in the order they were computed). Tensors that share memory are written separately.

    Raises:
        InputError: `trace` is not a Trace.
    """
    if not isinstance(trace, Trace):
        raise InputError("The trace must be a Trace, as `Pipeline.trace` returns it, not {trace!r}.", trace=trace)
    metadata = {
        "headlight-trace": "1",
        "axes": json.dumps({activation.path: activation.axes for activation in trace}),
        "order": json.dumps([activation.path for activation in trace]),
        "source_tokens": json.dumps(trace.source_tokens, ensure_ascii=False),
        "target_tokens": json.dumps(trace.target_tokens, ensure_ascii=False),
        "config": trace.config.to_json(),
    }
    return save({activation.path: activation.values.clone().contiguous() for activation in trace}, metadata)


def step_file(model: Network, step: DecodingStep) -> bytes:
    """The contents of a safetensors file with the tensors of one decoding step of `model` under their paths.

    The metadata holds, as JSON: `axes`, `order` and `config` as in `trace_file`, `step` (counted from 1, as on the page), and
    `read` (the decoder's input: a list of ids for each row).

    Raises:
        InputError: `model` is not a network, `step` is not a DecodingStep, or it has no tensors, because it was not traced.
    """
    if not isinstance(model, Network):
        raise InputError("The model must be a Transformer, not {model!r}.", model=model)
    if not isinstance(step, DecodingStep):
        raise InputError("The step must be a DecodingStep, as `generate` yields it, not {step!r}.", step=step)
    if not step.values:
        raise InputError("Step {step} was not traced, so it has no tensors to save.", step=step.index)
    metadata = {
        "headlight-step": "1",
        "axes": json.dumps({path: model.taps[path].axes for path in step.values}),
        "order": json.dumps([*step.values]),
        "step": str(step.index + 1),
        "read": json.dumps(step.input_ids.tolist()),
        "config": model.config.to_json(),
    }
    return save({path: values.clone().contiguous() for path, values in step.values.items()}, metadata)
