"""Tests of `watch`: the same numbers as torch, however an attention is written, and an unchanged module."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import einops
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.errors import InputError, PathError
from transformer.watching.watch import watch


def by_matmul(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    weights = (torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])).masked_fill(hidden, -1e9).softmax(-1)
    return weights @ v, weights


def by_einsum(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    scores = torch.einsum("bqhd,bkhd->bqkh", q, k) * q.shape[-1] ** -0.5
    weights = F.softmax(scores.masked_fill(hidden[0, 0][None, :, :, None], -math.inf), dim=2)
    return torch.einsum("bqkh,bkhd->bhqd", weights, v), weights.permute(0, 3, 1, 2)


def by_einops(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    scores = einops.einsum(q, k, "b h i d, b h j d -> b h i j") / math.sqrt(q.shape[-1])
    weights = torch.softmax(torch.where(hidden, torch.finfo(scores.dtype).min, scores), -1)
    return einops.einsum(weights, v, "b h i j, b h j d -> b h i d"), weights


def in_place(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    scores = q @ k.mT
    scores /= math.sqrt(q.shape[-1])
    scores += torch.zeros_like(scores).masked_fill(hidden, -math.inf)
    weights = nn.Softmax(dim=-1)(scores)
    return weights @ v, weights


def by_hand(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    scores = (q / math.sqrt(q.shape[-1])) @ k.mT
    raised = (scores - scores.amax(-1, keepdim=True)).masked_fill(hidden, -math.inf).exp()
    weights = raised / raised.sum(-1, keepdim=True)
    return weights @ v, weights


def folded(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    batch = len(q)
    q, k, v = (each.flatten(0, 1) for each in (q, k, v))
    mask = torch.zeros(hidden.shape[-2:]).masked_fill(hidden[0, 0], -math.inf).expand(len(q), -1, -1)
    weights = F.softmax(torch.baddbmm(mask, q, k.mT, alpha=q.shape[-1] ** -0.5), -1)
    return torch.bmm(weights, v).unflatten(0, (batch, -1)), weights.unflatten(0, (batch, -1))


def fused(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True), by_matmul(q, k, v, hidden)[1]


WAYS = [by_matmul, by_einsum, by_einops, in_place, by_hand, folded, fused]


class Attention(nn.Module):
    """Multi-head attention; the part that computes it is an argument."""

    def __init__(self, way: Callable[..., tuple[Tensor, Tensor]]) -> None:
        super().__init__()
        self.way = way
        self.q, self.k, self.v, self.out = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = (einops.rearrange(layer(x), "b t (h d) -> b h t d", h=3) for layer in (self.q, self.k, self.v))
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)[None, None]
        heads, weights = self.way(q, k, v, hidden)
        return self.out(einops.rearrange(heads, "b h t d -> b t (h d)")), weights


@pytest.mark.parametrize("way", WAYS)
def test_an_attention_is_recognised_however_it_is_written(way: Callable[..., tuple[Tensor, Tensor]]) -> None:
    torch.manual_seed(0)
    layer, x = Attention(way), torch.randn(2, 5, 12)
    model = nn.Sequential(layer)
    watched = watch(model, x)
    assert watched.attentions[:1] == ("0",)
    with torch.no_grad():
        output, weights = model(x)
    torch.testing.assert_close(watched.weights("0"), weights)
    torch.testing.assert_close(watched["0.output.0"].values, output)
    assert {*watched["0"].axes} == {"batch", "head", "query", "key"}
    assert watched["0.query"].axes == ("batch", "head", "query", "d_head")
    query = einops.rearrange(layer.q(x).detach(), "b t (h d) -> b h t d", h=3)
    ratio = watched["0.query"].values / query  # some scale the queries, others the scores
    torch.testing.assert_close(ratio, ratio[0, 0, 0, 0].expand(ratio.shape))
    assert watched["0.mask"].values.sum() == 2 * 3 * 15
    assert not watched.allowed("0")[0, 0, 0, 1]
    order = [*watched.activations]
    assert order.index("0.q.output") < order.index("0.scores") < order.index("0.weights") < order.index("0.out.input")


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_multihead_attention_of_torch_has_its_weights(need_weights: bool, batch_first: bool) -> None:
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(12, 3, batch_first=batch_first).eval()
    x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    padding = torch.tensor([[False] * 7, [False] * 5 + [True] * 2])
    _, expected = layer(
        *(x, memory, memory) if batch_first else (each.transpose(0, 1) for each in (x, memory, memory)),
        key_padding_mask=padding,
        average_attn_weights=False,
    )
    given = [each if batch_first else each.transpose(0, 1) for each in (x, memory, memory)]
    watched = watch(layer, *given, key_padding_mask=padding, need_weights=need_weights)
    torch.testing.assert_close(watched.weights(""), expected.detach())
    assert watched["weights"].axes == ("batch", "head", "query", "key")
    assert watched.sides[""] == ("target", "source")


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_transformer_of_torch_has_every_attention_in_spite_of_its_fast_path() -> None:
    torch.manual_seed(0)
    model = nn.Transformer(12, 2, 2, 2, 20, batch_first=True).eval()
    source, target = torch.randn(2, 5, 12), torch.randn(2, 6, 12)
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    masks: Any = {"src_key_padding_mask": padding, "memory_key_padding_mask": padding}
    fast = torch.backends.mha.get_fastpath_enabled()
    watched = watch(model, source, target, **masks)
    assert torch.backends.mha.get_fastpath_enabled() == fast
    assert len(watched.attentions) == 6
    with torch.no_grad():
        torch.testing.assert_close(watched["output"].values, model(source, target, **masks))
    assert (watched.weights("encoder.layers.1.self_attn")[1, :, :, 3:] == 0).all()
    assert watched["encoder.layers.0.linear1.output"].axes == ("batch", "source", "d_ff")
    assert watched["decoder.layers.0.multihead_attn"].axes == ("batch", "head", "query", "key")
    assert watched.sides["decoder.layers.0.multihead_attn"] == ("target", "source")


class Heads(nn.Module):
    """A list of heads, each with its own projections; a counter, and a layer that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.ModuleList(nn.ModuleList(nn.Linear(8, 4) for _ in "qkv") for _ in range(2))
        self.twice = nn.Linear(8, 8)
        self.dropout = nn.Dropout(0.5)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.kept = x * 2
        heads = []
        for query, key, value in self.heads:
            heads.append((query(x) @ key(x).transpose(1, 2) / 2).softmax(-1) @ value(x))
        x = self.twice(self.dropout(torch.cat(heads, -1)))
        x += 1
        return self.twice(x)


def test_heads_of_their_own_and_calls_of_their_own() -> None:
    watched = watch(Heads().eval(), torch.randn(2, 5, 8), tokens=["a", "b", "c", "d", "e"])
    assert watched.attentions == ("", "attention#2")
    assert watched["attention#2"].axes == ("batch", "query", "key")
    assert watched.weights("attention#2").shape == (2, 1, 5, 5)
    assert watched.labels("", 1) == (tuple("abcde"), tuple("abcde"))
    assert "twice.output" in watched
    assert "twice#2.output" in watched
    # A tensor that is written into afterwards keeps the numbers that it had.
    torch.testing.assert_close(watched["twice.output"].values + 1, watched["twice#2.input"].values)


def test_the_module_stays_as_it_was() -> None:
    torch.manual_seed(0)
    model = Heads().train()
    state = {name: values.clone() for name, values in model.state_dict().items()}
    before = torch.get_rng_state()
    watch(model, torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1)))
    assert model.training
    assert not hasattr(model, "kept")
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(values, state[name]) for name, values in model.state_dict().items())
    with pytest.raises(InputError, match="fails"):
        watch(model, torch.randn(2, 5, 7))
    assert not any(each._forward_hooks or each._forward_pre_hooks for each in model.modules())
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()
    model(torch.randn(2, 5, 8)).sum().backward()  # it can still be trained


def test_a_softmax_of_no_product_is_no_attention_until_it_is_named() -> None:
    classifier = nn.Sequential(nn.Linear(3, 3), nn.Softmax(-1))
    x = torch.randn(2, 3, 3)
    assert watch(classifier, x).attentions == ()
    watched = watch(classifier, x, names={"1.output": "batch query key"})
    assert watched.attentions == ("1.output",)
    torch.testing.assert_close(watched.weights("1.output")[:, 0], classifier(x))


def test_axes_are_named_by_size() -> None:
    model = nn.Sequential(nn.Embedding(11, 8), nn.Linear(8, 20), nn.ReLU(), nn.Linear(20, 8), nn.LayerNorm(8), nn.Linear(8, 11))
    watched = watch(model, torch.randint(0, 11, (2, 5)))
    named = {path: watched[path].axes[-1] for path in ("0.output", "1.output", "3.output", "output")}
    assert named == {"0.output": "d_model", "1.output": "d_ff", "3.output": "d_model", "output": "vocab"}
    assert watched["output"].axes[:2] == ("batch", "source")
    assert watch(nn.Flatten(), torch.randn(4, 3, 2, 2))["output"].axes == ("axis 0", "axis 1")


def test_a_file_has_everything_again(tmp_path: Path) -> None:
    watched = watch(nn.Sequential(Attention(by_einsum)), torch.randn(2, 5, 12), tokens={"source": [list("abcde")] * 2})
    watched.save(tmp_path / "mine.safetensors")
    again = type(watched).from_bytes((tmp_path / "mine.safetensors").read_bytes())
    assert [*again.activations] == [*watched.activations]
    assert again.tokens == watched.tokens
    assert again.attentions == watched.attentions
    assert again.sides == watched.sides
    for step in watched:
        assert again[step.path].axes == step.axes
        assert torch.equal(again[step.path].values, step.values)


def test_errors_say_what_is_allowed() -> None:
    model, x = Attention(by_matmul), torch.randn(2, 5, 12)
    for wrong in (
        lambda: watch(nn.LazyLinear(3), x),
        lambda: watch(nn.Linear(12, 3, device="meta"), x),
        lambda: watch(model, None),
        lambda: watch(model, x, names={"weights": "query key"}),
        lambda: watch(model, x, tokens="abcde"),
        lambda: watch(model, x, tokens={"left": ["a"]}),
        lambda: watch(model, x, tokens=["a", "b", "c", "d"]),
        lambda: watch(model, x, tokens=[["a"] * x.shape[1]] * (max(x.shape) + 1)),
        lambda: watch(model, x, tokens={"source": ["a"] * x.shape[-1]}),
    ):
        with pytest.raises(InputError):
            wrong()
    with pytest.raises(PathError, match=r"q\.output"):
        watch(model, x)["q.outptu"]
    with pytest.raises(PathError):
        watch(model, x).weights("nowhere")
    with pytest.raises(PathError):
        watch(model, x, names={"nowhere": "a b"})
