"""Export of a trace: every tensor under its path, with the names of its axes in the metadata."""

import json

from safetensors.torch import save

from transformer.tracing.trace import Trace


def trace_file(trace: Trace) -> bytes:
    """A trace as the bytes of a safetensors file.

    The metadata holds, as JSON: `axes` (path → names of the axes), `source_tokens`, `target_tokens`, `config`, and `order`
    (the paths in the order they were computed). Tensors that share memory are each written out.
    """
    metadata = {
        "headlight-trace": "1",
        "axes": json.dumps({step.path: step.axes for step in trace}),
        "order": json.dumps([step.path for step in trace]),
        "source_tokens": json.dumps(trace.source_tokens, ensure_ascii=False),
        "target_tokens": json.dumps(trace.target_tokens, ensure_ascii=False),
        "config": trace.config.to_json(),
    }
    return save({step.path: step.values.clone().contiguous() for step in trace}, metadata)
