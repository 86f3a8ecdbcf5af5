"""Token ids become vectors, and each vector gets the encoding of its position."""

import math
from collections.abc import Callable
from weakref import WeakValueDictionary

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.network.config import TransformerConfig
from transformer.network.id_checks import check_batch
from transformer.network.layers import Dropout
from transformer.network.tap import Tap, watched


def sinusoid(positions: int, d_model: int, order: str = "alternating") -> Float[Tensor, "position d_model"]:
    """The fixed positional encoding of Vaswani et al. 2017 (section 3.5):

        PE[pos, 2i]     = sin(pos / 10000^(2i / d_model))
        PE[pos, 2i + 1] = cos(pos / 10000^(2i / d_model))

    The table is computed in double precision, because the error of the angle grows with `pos`. A model rounds the table to its
    own precision. If `d_model` is odd, the last column is a sine.

    Args:
        positions, d_model: number of rows and of columns.
        order: order of the columns: `alternating` as above, or `halves`: all sines, then all cosines.
    """
    position = torch.arange(positions, dtype=torch.float64, device="cpu")[:, None]
    dimension = torch.arange(d_model, dtype=torch.float64, device="cpu")
    pair = dimension - dimension % 2
    angle = position / 10_000 ** (pair / d_model)
    table = torch.where(dimension % 2 == 0, angle.sin(), angle.cos())
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1) if order == "halves" else table


# (form, precision) → table, for all models in memory, so that models with equal tables share one tensor. A table of the paper's
# size is 8 MB large, and needs 64 MB while it is computed.
_TABLES: WeakValueDictionary[tuple[object, ...], Tensor] = WeakValueDictionary()


class Sinusoidal(nn.Module):
    """The positional encoding as a fixed table of sines and cosines (`sinusoid`), with a row for each position. Never write to
    the table, because models with equal tables share it."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.form = config.max_len, config.d_model, config.sinusoid_order
        form = *self.form, torch.get_default_dtype()
        table = _TABLES.get(form)
        if table is None:
            table = _TABLES[form] = sinusoid(*self.form).to(torch.get_default_dtype())
        self.register_buffer("table", table, persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Sinusoidal":
        """PyTorch calls this when a model is moved or its precision changes (`model.double()`). If the precision changes, the
        table is computed again, because converting the old table would not bring back the digits that rounding removed."""
        before = self.get_buffer("table").dtype
        super()._apply(fn, recurse)
        table = self.get_buffer("table")
        if table.dtype != before:
            table.copy_(sinusoid(*self.form))
        return self

    def forward(self, length: int) -> Float[Tensor, "position d_model"]:
        return self.get_buffer("table")[:length]


class Learned(nn.Module):
    """The positional encoding as a table with a row for each position, which is trained like the token table."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.table = nn.Embedding(config.max_len, config.d_model)

    def forward(self, length: int) -> Float[Tensor, "position d_model"]:
        return self.table.weight[:length]


POSITIONS = {"sinusoidal": Sinusoidal, "learned": Learned}


class Embedding(nn.Module):
    """Token vectors plus position vectors, with dropout (Vaswani et al. 2017, sections 3.4 and 3.5).

    Args:
        config: the model's configuration.
        side: `source` or `target`: selects the vocabulary, and is the name of the length axis.
    """

    def __init__(self, config: TransformerConfig, side: str) -> None:
        super().__init__()
        self.side, self.max_len = side, config.max_len
        self.vocab: int = getattr(config, f"{side}_vocab")
        pad = getattr(config, f"{side}_pad") if config.zero_pad_row else None
        self.table = nn.Embedding(self.vocab, config.d_model, padding_idx=pad)
        self.positions = POSITIONS[config.position](config)
        # The factor undoes the 1/√d_model spread of a Xavier table, so that a token vector is about as large as the position
        # vector added to it.
        self.scale = math.sqrt(config.d_model) if config.scale_embedding else None
        self.dropout = Dropout(config.dropout if config.embedding_dropout else 0.0)

        # Taps: each names a tensor, and changes nothing.
        self.token = Tap(f"batch {side} d_model")
        if self.scale is not None:
            self.scaled = Tap(f"batch {side} d_model")
        self.position = Tap("position d_model")
        self.sum = Tap(f"batch {side} d_model")

    def forward(self, ids: Int[Tensor, "batch length"], first: int = 0) -> Float[Tensor, "batch length d_model"]:
        """The vectors of the token ids, with their positions added. The first id has the position `first`, counted from 0; the
        caller must check that the last position is below `max_len`.

        Raises:
            InputError: `ids` is not a tensor of ids, is empty, is longer than `max_len`, or has an id outside the vocabulary.
        """
        self.check(ids)
        token = self.token(self.table(ids))
        scaled = token if self.scale is None else self.scaled(token * self.scale)
        positions = self.positions(first + ids.shape[1])[first:]
        if watched():  # `positions` is a view of the model's table, which code that reads a trace must not be able to change
            positions = positions.clone()
        return self.dropout(self.sum(scaled + self.position(positions)))

    def check(self, ids: object) -> None:
        """Check that `ids` is a tensor of ids that `forward` can read. Raises `InputError` if it is not, as `forward` does."""
        check_batch(self.side, ids, self.vocab, self.max_len)
