"""Drawings of a watched module: any module of PyTorch, not only our network. Heads and texts are counted from 0."""

from collections.abc import Sequence

import plotly.graph_objects as go

from transformer.draw.drawing import drawn
from transformer.errors import InputError
from transformer.figures.attention_figures import head_map
from transformer.figures.panels import TensorView, tensor_view
from transformer.figures.tensor_sheet import tiles_figure
from transformer.tracing.paths import SIDES, check_index
from transformer.watching.watched import Watched
from transformer.watching.watched_number import matrices

TILE_CELL = 20  # px of a cell in the maps of all heads


@drawn
def watched_head(watched: Watched, path: str, head: int = 0, item: int = 0) -> go.Figure:
    """The attention of one head of a watched module. `watched` is the result of `watch`, `path` is one of `watched.attentions`,
    and `item` is the text in the batch. Raises PathError for an unknown path, or an index out of range."""
    _check(watched)
    queries, keys = watched.labels(path, item)
    weights = watched.weights(path)
    check_index("head", head, weights.shape[1])
    allowed = watched.allowed(path)[item, head].numpy()
    return head_map(weights[item, head].detach().float().numpy(), allowed, queries, keys)


@drawn
def watched_heads(watched: Watched, path: str, item: int = 0) -> go.Figure:
    """Every head of one attention of a watched module. `watched` is the result of `watch`, `path` is one of
    `watched.attentions`, and `item` is the text in the batch. Raises PathError for an unknown path, or an item out of range."""
    _check(watched)
    tokens: dict[str, Sequence[str]] = dict(zip(("query", "key"), watched.labels(path, item), strict=True))
    weights, hidden = watched.weights(path)[item].detach().float().numpy(), ~watched.allowed(path)[item].numpy()
    tiles = [
        tensor_view(f"head {head}", weights[head], ("query", "key"), "weights", tokens, hidden=hidden[head])
        for head in range(len(weights))
    ]
    return tiles_figure({watched.attention(path) or "attention": tiles}, TILE_CELL)


@drawn
def watched_tensor(watched: Watched, path: str, item: int = 0) -> go.Figure:
    """One tensor of a watched module, for one text. `watched` is the result of `watch`, and `path` the tensor's path. Several
    matrices of the tensor, such as those of heads, are drawn side by side. Raises PathError for an unknown path, or an item out
    of range."""
    _check(watched)
    return tiles_figure({watched[path].path: watched_views(watched, path, item)}, TILE_CELL)


def watched_views(watched: Watched, path: str, item: int = 0) -> list[TensorView]:
    """The matrices of a tensor for one text, as `watched_tensor` draws them, in the order of `watched_number.matrices`."""
    values, axes = matrices(watched, path, item)
    tokens, title = _tokens(watched, path, item, axes[-2:], values.shape[-2:]), watched[path].path
    return [
        tensor_view(title if len(values) == 1 else f"{title} {place}", matrix, axes[-2:], "signed", tokens)
        for place, matrix in enumerate(values.numpy())
    ]


def _tokens(watched: Watched, path: str, item: int, axes: Sequence[str], shape: Sequence[int]) -> dict[str, Sequence[str]]:
    """Name of an axis of the tensor `path` → its tokens. Axes without exactly one token for each index are left out."""
    owner = path.rpartition(".")[0] if path not in watched.attentions else path
    named: dict[str, Sequence[str]] = {}
    if owner in watched.attentions and item < len(watched.weights(owner)):
        named = dict(zip(("query", "key"), watched.labels(owner, item), strict=True))
    for side in SIDES:
        rows = watched.tokens.get(side, ())
        if rows:
            named[side] = rows[item if item < len(rows) else 0]
    sizes = dict(zip(axes, shape, strict=True))
    return {axis: row for axis, row in named.items() if len(row) == sizes.get(axis)}


def _check(watched: object) -> None:
    if not isinstance(watched, Watched):
        raise InputError("Give what `watch` returns, not {watched!r}.", watched=watched)
