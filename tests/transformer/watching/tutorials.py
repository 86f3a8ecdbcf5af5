"""Transformers as people write them from tutorials, each in another style, and each with mistakes that can be planted.

`wrong` is a set of the names of mistakes; with an empty set, each is right.
"""

import inspect
import math
import sys
from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from einops import einsum, rearrange
from torch import Tensor, nn
from torch.nn import functional as F

from transformer import Transformer, TransformerConfig

PAD = 0
# Two texts with padding at the end, of other lengths on both sides.
SOURCE = torch.tensor([[3, 5, 7, 2, 9, 4], [6, 8, 2, 11, 0, 0]])
TARGET = torch.tensor([[1, 4, 9, 12, 3, 5, 7], [1, 7, 3, 2, 10, 0, 0]])


def sinusoids(length: int, width: int, wrong: frozenset[str] = frozenset()) -> Tensor:
    position = torch.arange(length + 1).unsqueeze(1).float()
    position = position[1:] if "positions off by one" in wrong else position[:-1]
    angle = position * torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
    if "halves" in wrong:
        return torch.cat([angle.sin(), angle.cos()], 1)
    table = torch.zeros(length, width)
    table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
    return table


# --- one: nn.Linear for q, k and v, transposed heads, a sub-layer class (post-norm) -----------------------------------------


class ClassicAttention(nn.Module):
    def __init__(self, d_model: int, heads: int, wrong: frozenset[str], cross: bool = False) -> None:
        super().__init__()
        self.h, self.d_k, self.wrong, self.cross = heads, d_model // heads, wrong, cross
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(0.1)

    def split(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        if "split by view" in self.wrong:
            return x.view(batch, self.h, length, self.d_k)
        return x.view(batch, length, self.h, self.d_k).transpose(1, 2)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        wrong = self.wrong
        q, k, v = self.split(self.w_q(query)), self.split(self.w_k(key)), self.split(self.w_v(value))
        if "q and k exchanged" in wrong and not self.cross:
            q, k = k, q
        scores = q @ k.transpose(-2, -1)
        if "no scaling" not in wrong:
            by = self.h * self.d_k if "√d_model" in wrong else self.d_k**2 if "d_head" in wrong else self.d_k
            scores = scores / math.sqrt(by)
        if "inverted mask" in wrong:
            mask = mask == 0
        if "added after softmax" in wrong:
            weights = scores.softmax(-1).masked_fill(mask == 0, -1e9)
        elif "multiplied after softmax" in wrong:
            weights = scores.softmax(-1) * mask
        elif "hidden scores 0" in wrong:
            weights = scores.masked_fill(mask == 0, 1e-9).softmax(-1)
        else:
            axis = -2 if "softmax over queries" in wrong else 1 if "softmax over heads" in wrong else -1
            weights = scores.masked_fill(mask == 0, -1e9).softmax(axis)
        heads = self.dropout(weights) @ v
        if "joined by view" in wrong:
            return self.w_o(heads.reshape(query.shape))
        return self.w_o(heads.transpose(1, 2).contiguous().view(query.shape))


class ClassicLayer(nn.Module):
    def __init__(self, d_model: int, heads: int, d_ff: int, wrong: frozenset[str], decoder: bool) -> None:
        super().__init__()
        self.wrong, self.decoder = wrong, decoder
        self.self_attn = ClassicAttention(d_model, heads, wrong)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        if decoder:
            self.cross_attn = ClassicAttention(d_model, heads, wrong, cross=True)
            self.norm3 = nn.LayerNorm(d_model)
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def feed(self, x: Tensor) -> Tensor:
        hidden = self.fc1(x)
        if "no activation" in self.wrong:
            return self.fc2(hidden)
        return self.fc2(F.gelu(hidden) if "GELU" in self.wrong else torch.relu(hidden))

    def add(self, x: Tensor, function: Callable[[Tensor], Tensor], norm: nn.Module, last: bool = False) -> Tensor:
        wrong = self.wrong
        if "pre-norm" in wrong:
            return x + function(norm(x))
        if "norm before the sum" in wrong:
            return x + norm(function(x))
        if "no residual" in wrong or ("no residual of feed-forward" in wrong and last):
            return norm(function(x))
        if "no norm" in wrong or ("no norm of feed-forward" in wrong and last):
            return x + function(x)
        return norm(x + function(x))

    def forward(self, x: Tensor, memory: Tensor | None, own: Tensor, other: Tensor | None) -> Tensor:
        x = self.add(x, lambda x: self.self_attn(x, x, x, own), self.norm1)
        if self.decoder:
            assert memory is not None
            assert other is not None
            if "cross reads the decoder" in self.wrong:
                x = self.add(x, lambda x: self.cross_attn(x, x, x, own), self.norm2)
            else:
                x = self.add(x, lambda x: self.cross_attn(x, memory, memory, other), self.norm2)
        return self.add(x, self.feed, self.norm3 if self.decoder else self.norm2, last=True)


class Classic(nn.Module):
    def __init__(
        self, vocab: int = 13, d_model: int = 16, heads: int = 4, d_ff: int = 24, layers: int = 2, wrong: Iterable[str] = ()
    ) -> None:
        super().__init__()
        self.wrong = wrong = frozenset(wrong)
        self.d_model = d_model
        self.encoder_embedding, self.decoder_embedding = nn.Embedding(vocab, d_model), nn.Embedding(vocab, d_model)
        self.register_buffer("pe", sinusoids(50, d_model, wrong).unsqueeze(0))
        self.encoder_layers = nn.ModuleList(ClassicLayer(d_model, heads, d_ff, wrong, False) for _ in range(layers))
        self.decoder_layers = nn.ModuleList(ClassicLayer(d_model, heads, d_ff, wrong, True) for _ in range(layers))
        if "final norm" in wrong:
            self.last = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(0.1)
        self.fc = nn.Linear(d_model, vocab)

    def embed(self, table: nn.Embedding, ids: Tensor) -> Tensor:
        x = table(ids)
        if "no scale" not in self.wrong:
            x = x * math.sqrt(self.d_model)
        positions = self.get_buffer("pe")[:, : ids.shape[1]]
        if "no positions" in self.wrong:
            return x
        return self.dropout(x + positions * (2 if "positions twice" in self.wrong else 1))

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        wrong = self.wrong
        if "next token" in wrong:
            tgt = torch.cat([tgt[:, 1:], tgt[:, -1:]], 1)
        if "shifts inside" in wrong:
            tgt = tgt[:, :-1]
        source_mask = (src != PAD)[:, None, None, :]
        if "source padding attended" in wrong:
            source_mask = torch.ones_like(source_mask)
        length = tgt.shape[1]
        causal = torch.ones(length, length).tril() > 0
        target_mask = causal & (tgt != PAD)[:, None, None, :]
        if "target padding attended" in wrong:
            target_mask = causal[None, None].expand(len(tgt), 1, -1, -1)
        if "no causal mask" in wrong:
            target_mask = (tgt != PAD)[:, None, None, :]
        start = x = self.embed(self.encoder_embedding, src)
        for layer in self.encoder_layers:
            x = layer(x, None, source_mask, None)
        memory = start if "memory is the input" in wrong else x
        x = self.embed(self.decoder_embedding, tgt)
        for layer in self.decoder_layers:
            x = layer(x, memory, target_mask, source_mask)
        if "final norm" in wrong:
            x = self.last(x)
        logits = self.fc(x)
        return logits.softmax(-1) if "softmax" in wrong else logits


# --- two: matrices as parameters, einops, pre-norm, positions that are learned ----------------------------------------------


class Projection(nn.Module):
    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(*shape) / math.sqrt(shape[0]))


class EinopsAttention(nn.Module):
    def __init__(self, d_model: int, heads: int, wrong: frozenset[str]) -> None:
        super().__init__()
        self.wrong, self.heads = wrong, heads
        self.out = Projection(heads, d_model // heads, d_model)
        self.values, self.keys, self.queries = (Projection(d_model, heads, d_model // heads) for _ in range(3))

    def forward(self, x: Tensor, memory: Tensor, hidden: Tensor) -> Tensor:
        q = einsum(x, self.queries.kernel, "b t m, m h d -> b h t d")
        k = einsum(memory, self.keys.kernel, "b t m, m h d -> b h t d")
        v = einsum(memory, self.values.kernel, "b t m, m h d -> b h t d")
        if "no scaling" not in self.wrong:
            q = q * q.shape[-1] ** -0.5
        scores = einsum(q, k, "b h i d, b h j d -> b h i j")
        scores = scores.masked_fill(hidden, -torch.inf)
        weights = F.softmax(scores, 2 if "softmax over queries" in self.wrong else 3)
        if "softmax over queries" in self.wrong:
            weights = weights.nan_to_num(0.0)
        heads = einsum(weights, v, "b h i j, b h j d -> b h i d")
        return einsum(heads, self.out.kernel, "b h i d, h d m -> b i m")


class EinopsBlock(nn.Module):
    def __init__(self, d_model: int, heads: int, d_ff: int, wrong: frozenset[str], count: int) -> None:
        super().__init__()
        self.wrong = wrong
        self.w_1 = nn.Parameter(torch.randn(d_model, d_ff) / 4)
        self.b_1 = nn.Parameter(torch.randn(d_ff))
        self.w_2 = nn.Parameter(torch.randn(d_ff, d_model) / 4)
        self.attentions = nn.ModuleList(EinopsAttention(d_model, heads, wrong) for _ in range(count))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(count + 1))

    def add(self, x: Tensor, y: Tensor, normed: Tensor) -> Tensor:
        if "no residual" in self.wrong:
            return y
        return (normed if "residual of the normalised" in self.wrong else x) + y

    def forward(self, x: Tensor, memory: Tensor | None, masks: list[Tensor]) -> Tensor:
        for place, attention in enumerate(self.attentions):
            normed = self.norms[place](x)
            x = self.add(x, attention(normed, normed if place == 0 or memory is None else memory, masks[place]), normed)
        normed = self.norms[-1](x)
        hidden = F.gelu(normed @ self.w_1 + self.b_1)
        return self.add(x, hidden @ self.w_2, normed)


class Einops(nn.Module):
    def __init__(
        self, vocab: int = 13, d_model: int = 16, heads: int = 2, d_ff: int = 20, layers: int = 2, wrong: Iterable[str] = ()
    ) -> None:
        super().__init__()
        self.wrong = wrong = frozenset(wrong)
        self.head = nn.Linear(d_model, vocab, bias=False)
        self.decoder_norm, self.encoder_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.blocks = nn.ModuleDict(
            {
                "dec": nn.ModuleList(EinopsBlock(d_model, heads, d_ff, wrong, 2) for _ in range(layers)),
                "enc": nn.ModuleList(EinopsBlock(d_model, heads, d_ff, wrong, 1) for _ in range(layers)),
            }
        )
        self.tables = nn.ParameterList([torch.randn(vocab, d_model), torch.randn(vocab, d_model)])
        self.places = nn.ParameterList([torch.randn(30, d_model), torch.randn(30, d_model)])

    def embed(self, side: int, ids: Tensor) -> Tensor:
        places = (
            self.places[side][1 : ids.shape[1] + 1]
            if "positions off by one" in self.wrong
            else self.places[side][: ids.shape[1]]
        )
        return self.tables[side][ids] if "no positions" in self.wrong else self.tables[side][ids] + places

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        padding = rearrange(source == PAD, "b s -> b 1 1 s")
        length = target.shape[1]
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        hidden = later | rearrange(target == PAD, "b t -> b 1 1 t")
        if "no causal mask" in self.wrong:
            hidden = hidden & ~later
        memory = self.embed(0, source)
        for block in cast(nn.ModuleList, self.blocks["enc"]):
            memory = block(memory, None, [padding])
        memory = memory if "no final norm" in self.wrong else self.encoder_norm(memory)
        x = self.embed(1, target)
        cross = torch.zeros_like(padding) if "source padding attended in cross" in self.wrong else padding
        for block in cast(nn.ModuleList, self.blocks["dec"]):
            x = block(x, memory, [hidden, cross])
        return self.head(x if "no final norm" in self.wrong else self.decoder_norm(x))


# --- three: one matrix for q, k and v, torch's fused attention, modules by kind ----------------------------------------------


class FusedAttention(nn.Module):
    def __init__(self, width: int, heads: int, wrong: frozenset[str], interleaved: bool) -> None:
        super().__init__()
        self.n_head, self.wrong, self.interleaved = heads, wrong, interleaved
        self.c_proj = nn.Linear(width, width)
        self.c_attn = nn.Linear(width, 3 * width)

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor) -> Tensor:
        width = x.shape[-1]
        if memory is None:
            qkv = self.c_attn(x)
            if self.interleaved:
                q, k, v = (qkv.view(*x.shape[:2], self.n_head, -1).transpose(1, 2)).chunk(3, -1)
            else:
                q, k, v = (each.view(*x.shape[:2], self.n_head, -1).transpose(1, 2) for each in qkv.split(width, 2))
        else:
            q = F.linear(x, self.c_attn.weight[:width], self.c_attn.bias[:width])
            k, v = F.linear(memory, self.c_attn.weight[width:], self.c_attn.bias[width:]).chunk(2, -1)
            q, k, v = (each.view(*each.shape[:2], self.n_head, -1).transpose(1, 2) for each in (q, k, v))
        if "q and k exchanged" in self.wrong and memory is None:
            q, k = k, q
        scale = 1.0 if "no scaling" in self.wrong else None
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
        y = y.reshape(x.shape) if "joined by view" in self.wrong else y.transpose(1, 2).reshape(x.shape)
        return y if "no output projection" in self.wrong else self.c_proj(y)


class Fused(nn.Module):
    def __init__(
        self,
        vocab: int = 13,
        d_model: int = 12,
        heads: int = 3,
        d_ff: int = 20,
        layers: int = 2,
        interleaved: bool = False,
        wrong: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self.wrong = wrong = frozenset(wrong)
        self.layers, self.d_model = layers, d_model
        self.lm_head = nn.Linear(d_model, vocab)
        self.ff_in = nn.ModuleList(nn.Linear(d_model, d_ff) for _ in range(2 * layers))
        self.ff_out = nn.ModuleList(nn.Linear(d_ff, d_model) for _ in range(2 * layers))
        self.attn = nn.ModuleList(FusedAttention(d_model, heads, wrong, interleaved) for _ in range(2 * layers))
        self.cross = nn.ModuleList(FusedAttention(d_model, heads, wrong, False) for _ in range(layers))
        self.ln = nn.ModuleList(nn.LayerNorm(d_model, eps=0.05 if "ε" in wrong else 1e-5) for _ in range(5 * layers))
        self.wte = nn.Embedding(vocab, d_model)

    def embed(self, ids: Tensor) -> Tensor:
        positions = sinusoids(ids.shape[1], self.d_model, self.wrong)
        if "positions along the batch" in self.wrong:
            positions = sinusoids(len(ids), self.d_model)[:, None]
        x = self.wte(ids) * math.sqrt(self.d_model)
        return x if "no positions in the target" in self.wrong and ids.shape[1] != 6 else x + positions

    def forward(self, idx: Tensor, targets: Tensor) -> Tensor:
        wrong, n = self.wrong, self.layers
        keep = (idx != PAD)[:, None, None, :]
        causal = torch.ones(targets.shape[1], targets.shape[1], dtype=torch.bool).tril()
        if "causal one late" in wrong:
            causal = torch.ones_like(causal).tril(1)
        x = self.embed(idx)
        norms = iter(self.ln)
        for layer in range(n):
            x = next(norms)(x + self.attn[layer](x, None, torch.ones_like(keep) if "encoder padding" in wrong else keep))
            x = next(norms)(x + self.ff_out[layer](F.relu(self.ff_in[layer](x))))
        memory, x = x, self.embed(targets)
        for layer in range(n, 2 * n):
            attended = self.attn[layer](x, None, causal[None, None])
            x = next(norms)(attended if "no residual in one place" in wrong and layer == n else x + attended)
            x = next(norms)(x + self.cross[layer - n](x, memory, keep))
            hidden = self.ff_in[layer](x)
            hidden = F.silu(hidden) if "SiLU in the last layer" in wrong and layer == 2 * n - 1 else F.relu(hidden)
            x = next(norms)(x + self.ff_out[layer](hidden))
        return self.lm_head(x)


# --- four: nn.Transformer with masks -----------------------------------------------------------------------------------------


class Torch(nn.Module):
    def __init__(
        self,
        vocab: int = 13,
        d_model: int = 16,
        heads: int = 2,
        d_ff: int = 20,
        layers: int = 2,
        batch_first: bool = True,
        norm_first: bool = False,
        bias: bool = True,
        wrong: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self.wrong, self.batch_first, self.d_model = frozenset(wrong), batch_first, d_model
        activation = "gelu" if "GELU" in self.wrong else "relu"
        self.src_tok_emb, self.tgt_tok_emb = nn.Embedding(vocab, d_model), nn.Embedding(vocab, d_model)
        self.transformer = nn.Transformer(
            *(d_model, heads, layers, layers, d_ff, 0.1, activation),
            batch_first=batch_first,
            norm_first=norm_first != ("other norm" in self.wrong),
            bias=bias,
        )
        self.generator = nn.Linear(d_model, vocab)
        self.drop = nn.Dropout(0.1)

    def embed(self, table: nn.Embedding, ids: Tensor) -> Tensor:
        x = table(ids) * (1 if "no scale" in self.wrong else math.sqrt(self.d_model))
        x = self.drop(x + sinusoids(ids.shape[1], self.d_model, self.wrong))
        return x if self.batch_first else x.transpose(0, 1)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        wrong, padding = self.wrong, src == PAD
        causal = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).triu(1)
        decoded = self.transformer(
            self.embed(self.src_tok_emb, src),
            self.embed(self.tgt_tok_emb, tgt),
            tgt_mask=None if "no causal mask" in wrong else causal,
            src_key_padding_mask=None if "encoder padding" in wrong else padding,
            tgt_key_padding_mask=None if "target padding attended" in wrong else tgt == PAD,
            memory_key_padding_mask=None if "memory padding" in wrong else padding,
        )
        return self.generator(decoded)


# --- five: a list of heads, each with its own projections --------------------------------------------------------------------


class OneHead(nn.Module):
    def __init__(self, d_model: int, d_head: int, wrong: frozenset[str]) -> None:
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
        self.wrong = wrong

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        scores = q @ k.transpose(-2, -1)
        scores = scores if "no scaling" in self.wrong else scores * k.shape[-1] ** -0.5
        scores = scores.masked_fill(mask == 0, float("-inf"))
        return F.softmax(scores, dim=-1) @ v


class HeadList(nn.Module):
    def __init__(self, d_model: int, heads: int, wrong: frozenset[str]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(OneHead(d_model, d_model // heads, wrong) for _ in range(heads))
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        return self.proj(torch.cat([head(x, memory, mask) for head in self.heads], -1))


class HeadsLayer(nn.Module):
    def __init__(self, d_model: int, heads: int, d_ff: int, wrong: frozenset[str], cross: bool) -> None:
        super().__init__()
        self.wrong = wrong
        self.ffwd = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.sa = HeadList(d_model, heads, wrong)
        self.ca = HeadList(d_model, heads, wrong) if cross else None
        self.ln1, self.ln2, self.ln3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x: Tensor, mask: Tensor, memory: Tensor | None = None, other: Tensor | None = None) -> Tensor:
        y = self.ln1(x)
        x = x + self.sa(y, y, mask)
        if self.ca is not None:
            assert memory is not None
            assert other is not None
            y = self.ln2(x)
            x = x + self.ca(
                y,
                y if "cross reads the decoder" in self.wrong else memory,
                mask if "cross reads the decoder" in self.wrong else other,
            )
        y = x if "no norm of feed-forward" in self.wrong else self.ln3(x)
        return x + self.ffwd(y)


class Heads(nn.Module):
    def __init__(
        self, vocab: int = 13, d_model: int = 12, heads: int = 3, d_ff: int = 20, layers: int = 1, wrong: Iterable[str] = ()
    ) -> None:
        super().__init__()
        self.wrong = wrong = frozenset(wrong)
        self.token_embedding_table, self.position_embedding_table = nn.Embedding(vocab, d_model), nn.Embedding(20, d_model)
        self.encoder = nn.ModuleList(HeadsLayer(d_model, heads, d_ff, wrong, False) for _ in range(layers))
        self.decoder = nn.ModuleList(HeadsLayer(d_model, heads, d_ff, wrong, True) for _ in range(layers))
        self.ln_f = nn.LayerNorm(d_model)
        self.ln_e = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab)

    def embed(self, ids: Tensor) -> Tensor:
        return self.token_embedding_table(ids) + self.position_embedding_table(torch.arange(ids.shape[1]))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        mask = (x != PAD).unsqueeze(1)
        future = torch.ones(y.shape[1], y.shape[1]).tril()
        start = x = self.embed(x)
        for layer in self.encoder:
            x = layer(x, mask)
        memory = start if "memory is the input" in self.wrong else x if "no encoder norm" in self.wrong else self.ln_e(x)
        y = self.embed(y)
        for layer in self.decoder:
            y = layer(y, future, memory, mask)
        return self.lm_head(self.ln_f(y))


# --- our network of the same sizes -------------------------------------------------------------------------------------------

SIZES = {"source_vocab": 13, "target_vocab": 13, "max_len": 60, "norm_eps": 1e-5}
OURS: dict[type[nn.Module], dict[str, object]] = {
    Classic: {"d_model": 16, "heads": 4, "d_ff": 24, "scale_embedding": True, "target_padding": "keys"},
    Einops: {
        **{"d_model": 16, "heads": 2, "d_ff": 20, "position": "learned", "norm_first": True, "final_norm": True},
        **{"activation": "gelu", "target_padding": "keys", "mask_fill": -math.inf},
    },
    Fused: {"d_model": 12, "heads": 3, "d_ff": 20, "scale_embedding": True, "target_padding": "nothing"},
    Torch: {"d_model": 16, "heads": 2, "d_ff": 20, "scale_embedding": True, "target_padding": "keys", "final_norm": True},
    Heads: {
        **{"d_model": 12, "heads": 3, "d_ff": 20, "position": "learned", "norm_first": True, "final_norm": True},
        "target_padding": "nothing",
    },
}


def edited(kind: type[nn.Module], *edits: tuple[str, str]) -> type[nn.Module]:
    """A class of this file in which the text of the code is edited: old text → new text. So a mistake is planted as a learner
    makes it. `OURS` has its sizes too."""
    text = inspect.getsource(sys.modules[__name__])
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, __file__, "exec"), namespace)
    changed = namespace[kind.__name__]
    OURS[changed] = OURS[kind]
    return changed


def both(
    kind: type[nn.Module], layers: int = 1, ours: dict[str, object] | None = None, **given: object
) -> tuple[nn.Module, Transformer]:
    """A module of a tutorial, and our network of the same sizes with other weights."""
    torch.manual_seed(0)
    mine = kind(layers=layers, **given).eval()
    config = {"encoder_layers": layers, "decoder_layers": layers, **SIZES, **OURS[kind], **(ours or {})}
    return mine, Transformer(TransformerConfig(**config)).eval()
