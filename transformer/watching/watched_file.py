"""A `Watched` (the tensors of one pass of a module) as a safetensors file, with axes, tokens and order in its metadata."""

import json

import torch
from safetensors.torch import save

from transformer.errors import CheckpointError
from transformer.pipeline.checkpoint import read_safetensors
from transformer.pipeline.foreign_file import ForeignFile
from transformer.tracing.trace import Activation
from transformer.watching.watched import Watched

FORMAT = "headlight-watched"
# Limits of a file. A pass of a module of a dozen layers has about a thousand tensors.
LARGEST_FILE, MOST_TENSORS, LONGEST_TEXT, MOST_AXES = 1 << 30, 50_000, 500, 16


def watched_bytes(watched: Watched) -> bytes:
    """The contents of a safetensors file with the tensors of a watched pass. Tensors that share memory are written separately.

    Raises:
        CheckpointError: a tensor has a type that such a file cannot hold.
    """
    metadata = {
        FORMAT: "1",
        "axes": json.dumps({activation.path: activation.axes for activation in watched}),
        "order": json.dumps([*watched.activations]),
        "tokens": json.dumps(watched.tokens, ensure_ascii=False),
        "attentions": json.dumps({path: watched.sides.get(path, ("source", "source")) for path in watched.attentions}),
    }
    try:
        return save({activation.path: activation.values.detach().clone().contiguous() for activation in watched}, metadata)
    except (KeyError, ValueError, RuntimeError) as error:
        raise CheckpointError("The tensors cannot be written ({problem}).", problem=str(error)) from error


def read_watched(data: bytes, name: str) -> Watched:
    """The watched pass in the contents of a file that `watched_bytes` made. Every part is checked, because the file may come
    from anybody.

    Raises:
        CheckpointError: the data is not such a file, or is larger than `LARGEST_FILE`; the message calls the file `name`.
    """
    if not isinstance(name, str):
        raise CheckpointError("The name of a file must be a text, not {name!r}.", name=name)
    if isinstance(data, bytes) and len(data) > LARGEST_FILE:
        message = "The file {name!r} has {size} bytes; allowed are up to {most}."
        raise CheckpointError(message, name=name, size=len(data), most=LARGEST_FILE)
    metadata, tensors = read_safetensors(data, name)
    file = ForeignFile(name, "a file of a watched module")
    if metadata.get(FORMAT) != "1" or len(tensors) > MOST_TENSORS:
        raise file.refused("`watch` did not write it, or it has too many tensors")
    axes, order, tokens, attentions = (file.json(metadata, part) for part in ("axes", "order", "tokens", "attentions"))
    file.need(isinstance(order, list) and all(map(_short, order)) and sorted(order) == sorted(tensors), "order")
    file.need(isinstance(axes, dict) and axes.keys() == tensors.keys(), "axes")
    for path, tensor in tensors.items():
        names = axes[path]
        whole = isinstance(names, list) and all(map(_short, names)) and len(names) == tensor.ndim <= MOST_AXES
        file.need(whole and len({*names}) == len(names), f"axes of {path}")
        file.need(tensor.dtype != torch.bool or bool((tensor.view(torch.uint8) <= 1).all()), f"values of {path}")
    file.need(isinstance(tokens, dict) and all(map(_short, tokens)) and all(map(_rows, tokens.values())), "tokens")
    file.need(isinstance(attentions, dict) and all(map(_short, attentions)), "attentions")
    for path, sides in attentions.items():
        weights = path if path in axes else f"{path}.weights".removeprefix(".")
        whole = isinstance(sides, list) and len(sides) == 2 and all(map(_short, sides))
        file.need(whole and {"query", "key"} <= {*axes.get(weights, ())}, f"attention {path}")
        scores = axes.get(f"{path}.scores".removeprefix("."))
        file.need(scores is None or (scores == axes[weights] and tensors[weights].is_floating_point()), f"attention {path}")
    return Watched(
        {path: Activation(path, tuple(axes[path]), tensors[path]) for path in order},
        tuple(attentions),
        {path: (sides[0], sides[1]) for path, sides in attentions.items()},
        {side: tuple(map(tuple, rows)) for side, rows in tokens.items()},
    )


def _short(text: object) -> bool:
    return isinstance(text, str) and len(text) <= LONGEST_TEXT


def _rows(rows: object) -> bool:
    return isinstance(rows, list) and all(isinstance(row, list) and all(map(_short, row)) for row in rows)
