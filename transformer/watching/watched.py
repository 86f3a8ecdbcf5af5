"""`Watched`: the tensors of one pass of any module, each with a path and with names of its axes."""

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer.errors import PathError
from transformer.pipeline.checkpoint import as_path, write_whole
from transformer.tracing.paths import check_index
from transformer.tracing.trace import Activation, Tokens

# A score as low as this is hidden by a mask: masks use −∞, −10⁹ or the lowest number of a precision.
HIDDEN = -5_000.0


@dataclass(frozen=True, eq=False)
class Watched:
    """The named tensors of one forward pass of a module, in the order of computation.

    Attributes:
        activations: path → activation: inputs and outputs of submodules (`encoder.layers.0.output`), and of each attention
            `weights`, `scores` before softmax, `query`, `key`, and, if they are known, `value`, `mask` (True where a query may
            attend to a key), `applied_weights` (the weights that the values were multiplied with, if these differ, for example
            after dropout) and `head_output`.
        attentions: the paths of the attentions.
        sides: path of an attention → the sides of its queries and of its keys: `source` or `target`.
        tokens: side → rows of labels, one for each text of the batch or one for all texts. A side may be missing.
    """

    activations: Mapping[str, Activation]
    attentions: tuple[str, ...]
    sides: Mapping[str, tuple[str, str]]
    tokens: Mapping[str, Tokens]

    def __repr__(self) -> str:
        return f"<Watched: {len(self)} tensors; attentions: {', '.join(map(repr, self.attentions)) or 'none'}>"

    def __iter__(self) -> Iterator[Activation]:
        return iter(self.activations.values())

    def __len__(self) -> int:
        return len(self.activations)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and path in self.activations

    def __getitem__(self, path: str) -> Activation:
        """The activation (a tensor with its path and axes) at a path. For the path of an attention, its weights.

        Raises:
            PathError: no tensor has that path; the message lists the nearest ones.
        """
        if not isinstance(path, str):
            raise PathError("A path must be a text, not {path!r}.", path=path)
        if path not in self.activations and path in self.attentions:
            path = f"{path}.weights".removeprefix(".")
        if path not in self.activations:
            close = difflib.get_close_matches(path, self.activations, n=3, cutoff=0.4) or [*self.activations][:3]
            message = "This module has no such tensor as {path!r}; nearest are {near}."
            raise PathError(message, path=path, near=", ".join(close))
        return self.activations[path]

    def attention(self, path: str) -> str:
        """The path of an attention, from its own path or from the path of its weights.

        Raises:
            PathError: no attention has that path; the message lists the nearest ones.
        """
        if isinstance(path, str):
            for known in (path, path.removesuffix("weights").removesuffix(".")):
                if known in self.attentions:
                    return known
        near = difflib.get_close_matches(str(path), self.attentions, n=3, cutoff=0.4) or [*self.attentions][:3]
        message = "This module has no attention at {path!r}; nearest are {near}."
        raise PathError(message, path=path, near=", ".join(map(repr, near)) or "none, because no attention was recognised")

    def weights(self, path: str) -> Float[Tensor, "batch head query key"]:
        """The weights of the attention at a path, copied only if several axes must be joined to the axis of heads. An attention
        without an axis for texts or for heads gets such an axis of size 1.

        Raises:
            PathError: no attention has that path.
        """
        return self._four_axes(self[self.attention(path)])

    def allowed(self, path: str) -> Bool[Tensor, "batch head query key"]:
        """True where a query of the attention at a path may attend to a key: where its score is above `HIDDEN`. True everywhere
        if no scores were recorded.

        Raises:
            PathError: no attention has that path.
        """
        base = self.attention(path)
        scores = self.activations.get(f"{base}.scores".removeprefix("."))
        if scores is None:
            return torch.ones_like(self.weights(path), dtype=torch.bool)
        return self._four_axes(scores) > HIDDEN

    def labels(self, path: str, item: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tokens of the queries and of the keys of an attention, for one text; their positions, counted from 0, if there
        are no tokens. `item` is the index of the text in the batch, from 0.

        Raises:
            PathError: no attention has that path, or there is no such text.
        """
        weights, base = self.weights(path), self.attention(path)
        check_index("item", item, len(weights))
        names = []
        for side, size in zip(self.sides.get(base, ("source", "source")), weights.shape[2:], strict=True):
            rows = self.tokens.get(side, ())
            row = rows[item] if item < len(rows) else rows[0] if len(rows) == 1 else ()
            names.append(row if len(row) == size else tuple(map(str, range(size))))
        return names[0], names[1]

    def save(self, path: str | Path) -> None:
        """Write all tensors to a safetensors file, with the bytes of `to_bytes`.

        Raises:
            CheckpointError: the file cannot be written.
        """
        write_whole(as_path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The contents of a safetensors file, with axes, tokens and order in its metadata. `from_bytes` reads it. Raises
        `CheckpointError` if a tensor has a type that such a file cannot hold."""
        from transformer.watching.watched_file import watched_bytes

        return watched_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "watched.safetensors") -> "Watched":
        """The watched pass in bytes that `to_bytes` returned. No code in the data is run.

        Raises:
            CheckpointError: the data is not such a file; the message calls the file `name`.
        """
        from transformer.watching.watched_file import read_watched

        return read_watched(data, name)

    @staticmethod
    def _four_axes(activation: Activation) -> Tensor:
        """A tensor of an attention as [batch, head, query, key]. All other axes of the tensor count as heads."""
        axes, values = activation.axes, activation.values
        heads = [place for place, axis in enumerate(axes) if axis not in ("batch", "query", "key")]
        batch = [axes.index("batch")] if "batch" in axes else []
        ordered = values.permute(*batch, *heads, axes.index("query"), axes.index("key"))
        count = math.prod(values.shape[place] for place in heads)
        queries, keys = (values.shape[axes.index(end)] for end in ("query", "key"))
        return ordered.reshape(values.shape[batch[0]] if batch else 1, count, queries, keys)
