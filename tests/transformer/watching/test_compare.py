"""Tests of `compare`: mistakes planted into Transformers of several styles are found and named, and right ones agree."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.transformer.small import SOURCE as IDS
from tests.transformer.small import TARGET as WRITTEN
from tests.transformer.small import small
from tests.transformer.watching.tutorials import SOURCE, TARGET, Classic, Einops, Fused, Heads, Torch, both, edited
from transformer import HeadlightError, InputError, Transformer
from transformer.network.tap import name_taps
from transformer.watching.compare import compare

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")

# Style, planted mistake, name of the reason, and a part of its place.
PLANTED: list[tuple[type[nn.Module], str, str, str]] = [
    (Classic, "no scaling", "no scaling", "every attention"),
    (Classic, "√d_model", "scaled by √d_model", "every attention"),
    (Classic, "d_head", "scaled by d_head", "every attention"),
    (Classic, "q and k exchanged", "query and key exchanged", "both self-attentions"),
    (Classic, "split by view", "heads split without transposition", "every attention"),
    (Classic, "joined by view", "heads joined without transposition", "every attention"),
    (Classic, "inverted mask", "inverted mask", "every attention"),
    (Classic, "added after softmax", "mask after softmax", "every attention"),
    (Classic, "multiplied after softmax", "mask after softmax", "every attention"),
    (Classic, "hidden scores 0", "hidden scores are 0", "every attention"),
    (Classic, "softmax over queries", "softmax over queries", "every attention"),
    (Classic, "softmax over heads", "softmax over heads", "every attention"),
    (Classic, "no activation", "no activation", "every feed-forward network"),
    (Classic, "GELU", "another activation: GELU", "every feed-forward network"),
    (Classic, "pre-norm", "norm before the sub-layer", "every sub-layer"),
    (Classic, "norm before the sum", "norm before the residual sum", "every sub-layer"),
    (Classic, "no residual", "no residual", "every sub-layer"),
    (Classic, "no residual of feed-forward", "no residual", "every feed-forward network"),
    (Classic, "no norm", "no norm", "every sub-layer"),
    (Classic, "cross reads the decoder", "cross-attention reads the decoder", "cross-attention"),
    (Classic, "final norm", "extra final norm", "the decoder"),
    (Classic, "no scale", "embedding not scaled", "both embeddings"),
    (Classic, "no positions", "positions not added", "both embeddings"),
    (Classic, "positions twice", "positions added twice", "both embeddings"),
    (Classic, "halves", "positions in another order", "both embeddings"),
    (Classic, "positions off by one", "positions off by one", "both embeddings"),
    (Classic, "next token", "target not shifted", ""),
    (Classic, "shifts inside", "target not shifted", ""),
    (Classic, "source padding attended", "source padding attended", "encoder and cross-attention"),
    (Classic, "target padding attended", "target padding attended", "the decoder's self-attention"),
    (Classic, "no causal mask", "no causal mask", "the decoder's self-attention"),
    (Classic, "memory is the input", "memory is the encoder's input", "cross-attention"),
    (Classic, "softmax", "softmax of the logits", ""),
    (Einops, "no scaling", "no scaling", "every attention"),
    (Einops, "softmax over queries", "softmax over queries", "every attention"),
    (Einops, "no residual", "no residual", "every sub-layer"),
    (Einops, "residual of the normalised", "residual of the normalised", "every sub-layer"),
    (Einops, "positions off by one", "positions off by one", "both embeddings"),
    (Einops, "no positions", "positions not added", "both embeddings"),
    (Einops, "no causal mask", "no causal mask", "the decoder's self-attention"),
    (Einops, "source padding attended in cross", "source padding attended", "cross-attention"),
    (Einops, "no final norm", "no final norm", "both stacks"),
    (Fused, "q and k exchanged", "query and key exchanged", "both self-attentions"),
    (Fused, "no scaling", "no scaling", "every attention"),
    (Fused, "joined by view", "heads joined without transposition", "every attention"),
    (Fused, "no output projection", "no output projection", "every attention"),
    (Fused, "ε", "another ε", "every norm"),
    (Fused, "positions along the batch", "positions along the batch", "both embeddings"),
    (Fused, "no positions in the target", "positions not added", "the target"),
    (Fused, "causal one late", "causal mask one token late", "the decoder's self-attention"),
    (Fused, "encoder padding", "source padding attended", "the encoder's self-attention"),
    (Torch, "GELU", "another activation: GELU", "every feed-forward network"),
    (Torch, "other norm", "norm before the sub-layer", "every sub-layer"),
    (Torch, "no scale", "embedding not scaled", "both embeddings"),
    (Torch, "no causal mask", "no causal mask", "the decoder's self-attention"),
    (Torch, "encoder padding", "source padding attended", "the encoder's self-attention"),
    (Torch, "memory padding", "source padding attended", "cross-attention"),
    (Heads, "no scaling", "no scaling", "every attention"),
    (Heads, "cross reads the decoder", "cross-attention reads the decoder", "cross-attention"),
    (Heads, "no norm of feed-forward", "no norm", "every feed-forward network"),
    (Heads, "memory is the input", "memory is the encoder's input", "cross-attention"),
    (Heads, "no encoder norm", "no final norm", "the encoder"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "wrong", "name", "where"), PLANTED)
def test_a_planted_mistake_is_found_and_named(kind: type[nn.Module], wrong: str, name: str, where: str) -> None:
    mine, ours = both(kind, wrong=[wrong])
    found = compare(mine, ours, SOURCE, TARGET)
    assert not found.agrees
    assert found.explained
    assert [name in reason.name for reason in found.reasons] == [True]
    assert where in found.reasons[0].where
    assert found.remaining < 1e-5 < found.difference
    assert found.first in ours.taps
    assert found.reasons[0].words[1:] in str(found)


Q_ADDED = "q.transpose(1, 2).reshape(x.shape) - x"
WAVES = "table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()"
# As many notebooks have it: `pos / 10000 ** (2 * (i + 1) / d_model)` for the cosine of column i + 1.
NOTEBOOK = (
    "i = torch.arange(0, width, 2).double(); table[:, 0::2] = torch.sin(position / 10000 ** (2 * i / width)); "
    "table[:, 1::2] = torch.cos(position / 10000 ** (2 * (i + 1) / width))"
)
CLASSIC_SOFTMAX = 'axis = -2 if "softmax over queries" in wrong else 1 if "softmax over heads" in wrong else -1'
CLASSIC_WEIGHTS = "weights = scores.masked_fill(mask == 0, -1e9).softmax(axis)"
CLASSIC_CAUSAL = "causal = torch.ones(length, length).tril() > 0"
CLASSIC_JOINED = "return self.w_o(heads.transpose(1, 2).contiguous().view(query.shape))"
CLASSIC_SUM = "return norm(x + function(x))\n\n    def forward(self, x: Tensor, memory"
CLASSIC_CROSS = "self.cross_attn(x, memory, memory, other)"
SPREAD = "torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))"
HEADS_PRODUCT = "scores = q @ k.transpose(-2, -1)\n        scores = scores if"

# BatchNorm wants the columns as its second axis, so a learner transposes.
BATCH_NORM = [
    (
        "self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)",
        "self.norm1, self.norm2 = nn.BatchNorm1d(d_model), nn.BatchNorm1d(d_model)",
    ),
    ("self.norm3 = nn.LayerNorm(d_model)", "self.norm3 = nn.BatchNorm1d(d_model)"),
    (
        "        return norm(x + function(x))\n\n    def forward(self, x: Tensor, memory",
        "        return norm((x + function(x)).mT).mT\n\n    def forward(self, x: Tensor, memory",
    ),
]

# Style, edits of its code, name of the reason, and a part of its place.
EDITED: list[tuple[type[nn.Module], list[tuple[str, str]], str, str]] = [
    (Classic, [(CLASSIC_SOFTMAX, "axis = 0")], "softmax over texts", "every attention"),
    (Heads, [("F.softmax(scores, dim=-1)", "F.softmax(scores, dim=0)")], "softmax over texts", "every attention"),
    (
        Classic,
        [(CLASSIC_JOINED, f"{CLASSIC_JOINED} + q.transpose(1, 2).reshape(query.shape) - query")],
        *("residual of the query", "every attention"),
    ),
    (Fused, [("else self.c_proj(y)", f"else self.c_proj(y) + {Q_ADDED}")], "residual of the query", "every attention"),
    (
        Heads,
        [
            (HEADS_PRODUCT, f"self.q = q; {HEADS_PRODUCT}"),
            ("x = x + self.sa(y, y, mask)", "x = self.sa(y, y, mask) + torch.cat([head.q for head in self.sa.heads], -1)"),
        ],
        *("residual of the query", "every self-attention"),
    ),
    (Classic, [(WAVES, NOTEBOOK)], "exponent doubled, every column its own", "both embeddings"),
    (Fused, [(WAVES, NOTEBOOK)], "exponent doubled, every column its own", "both embeddings"),
    (Torch, [(WAVES, NOTEBOOK)], "exponent doubled, every column its own", "both embeddings"),
    (Classic, [(SPREAD, SPREAD.replace("width, 2)", "width // 2)"))], "exponent halved", "both embeddings"),
    (Classic, [("math.log(10000.0)", "math.log(1000.0)")], "another base: 1,000", "both embeddings"),
    (Torch, [("math.log(10000.0)", "math.log(100000.0)")], "another base: 100,000", "both embeddings"),
    (Classic, [("self.dropout(x + positions", "self.dropout(x * positions")], "positions multiplied", "both embeddings"),
    (Classic, [(CLASSIC_WEIGHTS, CLASSIC_WEIGHTS.replace("-1e9", "-5.0"))], "hidden scores are −5", "every attention"),
    (Classic, [(CLASSIC_WEIGHTS, CLASSIC_WEIGHTS.replace("-1e9", "-10.0"))], "hidden scores are −10", "every attention"),
    (Classic, [(CLASSIC_CAUSAL, CLASSIC_CAUSAL.replace("tril()", "tril(1)"))], "causal mask one token late", "the decoder"),
    (Classic, [(CLASSIC_CAUSAL, CLASSIC_CAUSAL.replace("tril()", "triu()"))], "causal mask the wrong way", "the decoder"),
    (Classic, BATCH_NORM, "BatchNorm", "every norm"),
    (Classic, [("self.dropout(x + positions", "self.dropout(x + x + positions")], "token added twice", "both embeddings"),
    (Classic, [(CLASSIC_WEIGHTS, f"{CLASSIC_WEIGHTS} / math.sqrt(self.d_k)")], "scaling also after softmax", "every attention"),
    (Classic, [(CLASSIC_SUM, CLASSIC_SUM.replace("x + f", "x - f"))], "sub-layer subtracted", "every sub-layer"),
    (Classic, [("        scores = q @ k", "        v = k\n        scores = q @ k")], "shared query, key and value", ""),
    (
        Classic,
        [("return self.w_o(heads.t", "return self.w_o(torch.relu(heads).t")],
        "activation in the attention",
        "every attention",
    ),
    (
        Classic,
        [(CLASSIC_WEIGHTS, CLASSIC_WEIGHTS.replace("softmax(axis)", "exp(); weights = weights / (1 + weights.sum(-1, True))"))],
        *("1 added in softmax", "every attention"),
    ),
    (Classic, [("layer in self.encoder_layers:", "layer in []:")], "layer skipped", "the encoder"),
    (
        Classic,
        [(CLASSIC_CROSS, CLASSIC_CROSS.replace("other", "other & (torch.ones(7, 6).tril() > 0)"))],
        "causal mask",
        "cross",
    ),
    (
        Classic,
        [("self.split(self.w_k(key)), self.split(self.w_v(value))", "self.split(self.w_q(key)), self.split(self.w_v(value))")],
        *("shared query, key and value", ""),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "edits", "name", "where"), EDITED)
def test_a_mistake_in_the_code_is_found_and_named(
    kind: type[nn.Module], edits: list[tuple[str, str]], name: str, where: str
) -> None:
    found = compare(*both(edited(kind, *edits)), SOURCE, TARGET)
    assert not found.agrees
    assert found.explained
    assert [name in reason.name for reason in found.reasons] == [True]
    assert where in found.reasons[0].where


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "name", "where", "first"),
    [
        (
            "no residual in one place",
            "no residual",
            "self-attention of layer 1",
            "decoder.layers.0.self_attention_add_norm.sum",
        ),
        ("SiLU in the last layer", "another activation: SiLU", "network of layer 2", "decoder.layers.1.feed_forward.activated"),
    ],
)
def test_a_mistake_in_one_place_has_this_place(wrong: str, name: str, where: str, first: str) -> None:
    found = compare(*both(Fused, layers=2, wrong=[wrong]), SOURCE, TARGET)
    assert found.explained
    assert found.first == first
    assert [reason.name for reason in found.reasons] == [name]
    assert where in found.reasons[0].where


@pytest.mark.slow
def test_a_mistake_of_a_part_is_not_undone_by_another() -> None:
    """No activation in the encoder, and no scaling in cross-attention; the first could also be everywhere, and undone later."""
    mine, ours = both(
        edited(
            Classic, ('"no activation" in self.wrong', "not self.decoder"), ('"no scaling" not in', "not self.cross or 1 in")
        )
    )
    found = compare(mine, ours, SOURCE, TARGET)
    assert found.explained
    assert [reason.name for reason in found.reasons] == ["no activation", "no scaling"]
    assert [reason.where for reason in found.reasons] == ["the feed-forward networks of the encoder", "cross-attention"]


@pytest.mark.slow
def test_other_precisions_and_numbers_that_are_not_finite() -> None:
    mine, ours = both(Classic, wrong=["no final norm", "no scaling"])
    assert [reason.name for reason in compare(mine.double(), ours, SOURCE, TARGET).reasons] == ["no scaling"]
    with pytest.raises(InputError, match=r"give mine\.float\(\)"):
        compare(mine.bfloat16(), ours, SOURCE, TARGET)
    broken, _ = both(Classic)
    name, weights = next(iter(broken.named_parameters()))
    weights.data.view(-1)[0] = torch.nan
    with pytest.raises(InputError, match=f"The weights '{re.escape(name)}' of mine have a NaN"):
        compare(broken, ours, SOURCE, TARGET)
    said = str(
        compare(
            *both(edited(Classic, ("return logits.softmax(-1)", "return logits.log() * 0 if 1 else logits"))), SOURCE, TARGET
        )
    )
    assert said.startswith("The logits of yours are not all finite.")


@pytest.mark.slow
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_a_layer_that_never_runs_is_named(stack: str) -> None:
    loop = f"for layer in self.{stack}_layers:"
    found = compare(*both(edited(Classic, (loop, loop.replace(":", "[1:]:"))), layers=2), SOURCE, TARGET)
    assert found.explained
    assert [(each.name, each.where) for each in found.reasons] == [("layer skipped", f"the {stack}")]
    assert found.reasons[0].words == "only 1 of the 2 layers runs"
    assert found.first == f"{stack}.layers.1.self_attention.query.heads"
    assert f"{stack}_layers.0.self_attn.w_q.weight" in found.notes[0]  # which of theirs it was


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "wrong", "names"),
    [
        (Classic, ["no scaling", "no causal mask"], ["no scaling", "no causal mask"]),
        (Classic, ["no scale", "halves"], ["embedding not scaled", "positions in another order"]),
        (Fused, ["no scaling", "encoder padding", "joined by view"], ["no scaling", "source padding", "heads joined"]),
        (Torch, ["no scale", "GELU", "memory padding"], ["embedding not scaled", "GELU", "source padding attended"]),
    ],
)
def test_several_mistakes_are_named_in_order(kind: type[nn.Module], wrong: list[str], names: list[str]) -> None:
    found = compare(*both(kind, wrong=wrong), SOURCE, TARGET)
    assert found.explained
    assert len(found.reasons) == len(names)
    assert all(name in reason.name for name, reason in zip(names, found.reasons, strict=True))


RIGHT: list[tuple[type[nn.Module], dict[str, Any], dict[str, Any]]] = [
    *((kind, {}, {}) for kind in (Classic, Einops, Fused, Torch, Heads)),
    (Classic, {"d_model": 24, "heads": 6, "d_ff": 10}, {"d_model": 24, "heads": 6, "d_ff": 10}),
    (Classic, {"layers": 3}, {}),
    (Einops, {"heads": 4, "layers": 2}, {"heads": 4}),
    (Fused, {"interleaved": True, "layers": 2}, {}),
    (Torch, {"batch_first": False}, {}),
    (Torch, {"norm_first": True}, {"norm_first": True}),
    (Torch, {"bias": False}, {}),
    (Heads, {"heads": 2, "layers": 2}, {"heads": 2}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "given", "config"), RIGHT)
def test_a_right_network_agrees(kind: type[nn.Module], given: dict[str, Any], config: dict[str, Any]) -> None:
    mine, ours = both(kind, ours=config, **given)
    state = {name: values.clone() for name, values in mine.state_dict().items()}
    other = {name: values.clone() for name, values in ours.state_dict().items()}
    random = torch.get_rng_state()
    found = compare(mine, ours, SOURCE, TARGET)
    assert torch.equal(torch.get_rng_state(), random)
    assert found.agrees
    assert found.first is None
    assert not found.reasons
    assert found.difference < 1e-5
    assert all(torch.equal(values, state[name]) for name, values in mine.state_dict().items())
    assert all(torch.equal(values, other[name]) for name, values in ours.state_dict().items())
    assert found.weights["encoder.layers.0.feed_forward.up_projection.weight"]


@pytest.mark.slow
def test_dropout_that_is_on_is_a_reason() -> None:
    mine, ours = both(Classic)
    found = compare(mine.train(), ours, SOURCE, TARGET)
    assert mine.training
    assert not found.agrees
    assert [reason.name for reason in found.reasons] == ["dropout on"]
    assert "eval()" in str(found)
    mine, ours = both(Classic, wrong=["no scaling"])
    assert [reason.name for reason in compare(mine.train(), ours, SOURCE, TARGET).reasons] == ["dropout on", "no scaling"]


class Noisy(nn.Module):
    """Adds noise to the logits."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        logits = self.inner(source, target)
        return logits + torch.rand_like(logits)


@pytest.mark.slow
def test_a_random_network_is_said_to_be_random() -> None:
    mine, ours = both(Classic)
    assert compare(Noisy(mine), ours, SOURCE, TARGET).reasons[0].name == "random"


class Odd(nn.Module):
    """A mistake that is not in the list: half of the feed-forward network is dropped."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x[..., :10].relu(), x[..., 10:] * 0.3], -1)


@pytest.mark.slow
def test_a_mistake_that_is_not_in_the_list_is_only_located() -> None:
    mine, ours = both(Heads)
    mine.get_submodule("decoder.0.ffwd").register_module("1", Odd())
    found = compare(mine, ours, SOURCE, TARGET)
    assert found.first == "decoder.layers.0.feed_forward.activated"
    assert not found.reasons
    assert not found.explained
    assert "No mistake that was tried" in str(found)


@pytest.mark.slow
def test_an_unknown_mistake_is_not_explained_by_others_and_the_search_says_how_far_it_is() -> None:
    """Without the residual sum and the norm, some tensors of ours are those of theirs, but the logits are farther away."""
    squared = CLASSIC_SUM.replace("function(x)", "function(x) ** 2")
    said: list[str] = []
    found = compare(*both(edited(Classic, (CLASSIC_SUM, squared)), layers=1), SOURCE, TARGET, report=said.append)
    assert found.first == "encoder.layers.0.self_attention_add_norm.sum"
    assert not found.explained
    assert not found.reasons
    assert len(said) > 1
    assert said[0] == f"500 changes of ours were tried. The first difference is at {found.first}."
    with pytest.raises(InputError, match="such as print"):
        compare(*both(Classic), SOURCE, TARGET, report="yes")


@pytest.mark.slow
def test_another_way_to_call_and_a_mapping() -> None:
    mine, ours = both(Torch)
    calls = []

    def run(module: nn.Module, source: Tensor, target: Tensor) -> dict[str, Tensor]:
        calls.append(module)
        return {"logits": module(src=source, tgt=target)}

    assert compare(mine, ours, SOURCE, TARGET, run=run).agrees
    assert calls[0] is mine
    mine, ours = both(Classic)
    theirs, own = "encoder_layers.0.self_attn.w_{}.{}", "encoder.layers.0.self_attention.{}.projection.{}"
    exchanged = {
        theirs.format(letter, part): own.format(branch, part)
        for letter, branch in (("q", "key"), ("k", "query"))
        for part in ("weight", "bias")
    }
    found = compare(mine, ours, SOURCE, TARGET, mapping=exchanged)
    assert [reason.name for reason in found.reasons] == ["query and key exchanged"]
    assert found.weights[own.format("key", "weight")] == (theirs.format("q", "weight"),)


def test_weights_that_cannot_be_placed_are_named() -> None:
    mine, ours = both(Classic, ours={"d_ff": 20})
    with pytest.raises(InputError, match=r"fc1\.weight has the shape \(24, 16\); our .*up_projection\.weight needs \(20, 16\)"):
        compare(mine, ours, SOURCE, TARGET)
    mine, _ = both(Classic, layers=2)
    with pytest.raises(InputError, match="attentions"):
        compare(mine, both(Classic)[1], SOURCE, TARGET)
    mine, ours = both(Heads, ours={"position": "sinusoidal"})
    with pytest.raises(InputError, match="position_embedding_table"):
        compare(mine, ours, SOURCE, TARGET)


def test_arguments_of_another_form_are_refused() -> None:
    mine, ours = both(Classic)
    given: Any = {"mine": mine, "ours": ours, "source": SOURCE, "target": TARGET}
    for change in (
        {"mine": None},
        {"ours": mine},
        {"source": None},
        {"source": SOURCE.float()},
        {"source": SOURCE[:1]},
        {"source": SOURCE + 20},
        {"target": TARGET[:, :0]},
        {"mapping": 3},
        {"mapping": {"nothing": "logits"}},
        {"mapping": {"fc.weight": "nothing"}},
        {"run": 3},
        {"run": lambda *_: None},
        {"run": lambda *_: torch.zeros(2, 7, 5)},
        {"tolerance": 0},
        {"tolerance": float("nan")},
        {"mine": nn.Linear(3, 3)},
    ):
        with pytest.raises(HeadlightError):
            compare(**(given | change))


@pytest.mark.slow
def test_the_weights_of_heads_that_share_a_map_are_placed() -> None:
    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Transformer(both(Classic, ours={"head_projection": "shared"})[1].config)

        def forward(self, source: Tensor, target: Tensor) -> Tensor:
            return self.inner(source, target)

    _, ours = both(Classic, ours={"head_projection": "shared"})
    assert compare(Shared().eval(), ours, SOURCE, TARGET).agrees
    wrong = Shared().eval()
    vars(wrong.get_submodule("inner.decoder.layers.0.feed_forward"))["activation"] = F.gelu
    assert [reason.name for reason in compare(wrong, ours, SOURCE, TARGET).reasons] == ["another activation: GELU"]


@pytest.mark.slow
def test_settings_that_differ_together_are_named_quickly() -> None:
    """Ours is pre-norm and scales tokens; theirs does neither."""
    mine, ours = small(scale_embedding=False, norm_first=False), small(seed=2, scale_embedding=True, norm_first=True)
    comparison = compare(mine, ours, IDS, WRITTEN)
    assert {reason.name for reason in comparison.reasons} == {"embedding not scaled", "norm after the sub-layer"}
    assert comparison.explained


@pytest.mark.slow
def test_layers_that_share_their_weights_are_named() -> None:
    """`[block] * 2` in a list: the logits agree, but both layers are one."""
    mine = small()
    mine.encoder.layers[1] = mine.encoder.layers[0]
    mine.taps = name_taps(mine)
    comparison = compare(mine, small(seed=2), IDS, WRITTEN)
    assert not comparison.agrees
    assert [reason.name for reason in comparison.reasons] == ["shared weights"]
    assert "one block" in str(comparison)


@pytest.mark.slow
def test_weights_without_a_part_another_number_of_heads_and_other_shapes_are_remarked() -> None:
    class Unused(nn.Module):
        def __init__(self, last: bool = False) -> None:
            super().__init__()
            self.network, self.extra, self.last = small(), nn.Linear(3, 3), last

        def forward(self, source: Tensor, target: Tensor) -> Tensor:
            logits = self.network(source, target)
            return logits[:, -1:] if self.last else logits

    comparison = compare(Unused().eval(), small(seed=2), IDS, WRITTEN)
    assert comparison.agrees
    assert "extra.weight, extra.bias" in str(comparison)
    assert "3 heads, and ours have 2" in str(compare(small(), small(seed=2, heads=2), IDS, WRITTEN))
    assert "Your logits have the shape (2, 1, " in str(compare(Unused(last=True).eval(), small(seed=2), IDS, WRITTEN))
