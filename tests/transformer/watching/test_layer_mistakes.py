"""Tests that `compare` names mistakes in how layers and sub-layers are put together."""

from typing import Any

import pytest
from torch import nn

from tests.transformer.watching.tutorials import SOURCE, TARGET, Classic, Einops, Fused, Heads, Torch, both, edited
from transformer import InputError
from transformer.watching.compare import compare

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
Edit = tuple[str, str]

# Pieces of the code of the tutorials.
CLASSIC_SELF = "        x = self.add(x, lambda x: self.self_attn(x, x, x, own), self.norm1)"
CLASSIC_CROSS = "                x = self.add(x, lambda x: self.cross_attn(x, memory, memory, other), self.norm2)"
CLASSIC_FEED = "return self.add(x, self.feed, self.norm3 if self.decoder else self.norm2, last=True)"
CLASSIC_ENCODER = "            x = layer(x, None, source_mask, None)"
CLASSIC_DECODER = "            x = layer(x, memory, target_mask, source_mask)"
FUSED_SELF = '            x = next(norms)(attended if "no residual in one place" in wrong and layer == n else x + attended)'
HEADS_SELF = "        y = self.ln1(x)\n        x = x + self.sa(y, y, mask)"
CLASSIC_START: Edit = (CLASSIC_SELF, f"        start = x\n{CLASSIC_SELF}")
FUSED_START: Edit = (FUSED_SELF, f"            start = x\n{FUSED_SELF}")
HEADS_START: Edit = (HEADS_SELF, f"        start = x\n{HEADS_SELF}")

# Style, number of layers, edits of its code, name of the reason, and a part of its place.
PLANTED: list[tuple[type[nn.Module], int, list[Edit], str, str]] = [
    (
        *(Classic, 1),
        [CLASSIC_START, (CLASSIC_CROSS, "                x = self.norm2(x + self.cross_attn(start, memory, memory, other))")],
        *("cross-attention skips self-attention", "decoder"),
    ),
    (Fused, 1, [FUSED_START, ("[layer - n](x, memory", "[layer - n](start, memory")], "cross-attention skips", "decoder"),
    (Heads, 1, [HEADS_START, ("y = self.ln2(x)", "y = self.ln2(start)")], "cross-attention skips", "decoder"),
    (Heads, 1, [("y = self.ln2(x)", "self.ln2(x)")], "cross-attention skips self-attention", "decoder"),
    (Heads, 1, [HEADS_START, ("y = self.ln2(x)", "x = start; y = self.ln2(x)")], "self-attention is not used", "decoder"),
    (Classic, 1, [CLASSIC_START, (CLASSIC_FEED, CLASSIC_FEED.replace("(x,", "(start,"))], "attention is not used", "both"),
    (Heads, 1, [("self.sa(y, y, mask)", "self.sa(y, x, mask)")], "keys and values not normalised", "both stacks"),
    (Heads, 1, [("self.wrong else memory,", "self.wrong else self.ln2(memory),")], "memory normalised again", "decoder"),
    (
        *(Classic, 2),
        [
            (CLASSIC_ENCODER, f"{CLASSIC_ENCODER}\n            outputs.append(x)"),
            ("        for layer in self.encoder_layers:", "        outputs = []\n        for layer in self.encoder_layers:"),
            ("for layer in self.decoder_layers:", "for layer, memory in zip(self.decoder_layers, outputs):"),
        ],
        *("memory by layer", "cross-attention"),
    ),
    (
        *(Einops, 2),
        [
            ("        memory = self.embed(0, source)", "        outputs, memory = [], self.embed(0, source)"),
            (
                "memory = block(memory, None, [padding])",
                "memory = block(memory, None, [padding])\n            outputs.append(memory)",
            ),
            ('for block in cast(nn.ModuleList, self.blocks["dec"])', 'for block, memory in zip(self.blocks["dec"], outputs)'),
        ],
        *("memory by layer", "cross-attention"),
    ),
    (
        *(Classic, 2),
        [
            (CLASSIC_ENCODER, CLASSIC_ENCODER.replace("x = layer", "y = layer")),
            ("memory = start if", "x = y\n        memory = start if"),
        ],
        *("layers not chained", "the encoder"),
    ),
    (
        *(Heads, 2),
        [
            ("            x = layer(x, mask)", "            z = layer(x, mask)"),
            ("        memory = start if", "        x = z\n        memory = start if"),
            ("            y = layer(y, future, memory, mask)", "            z = layer(y, future, memory, mask)"),
            ("self.ln_f(y)", "self.ln_f(z)"),
        ],
        *("layers not chained", "both stacks"),
    ),
    (
        *(Classic, 2),
        [
            (
                "            x = layer(x, None",
                "            x = x + self.pe[:, : x.shape[1]] if layer is not self.encoder_layers[0] else x\n"
                "            x = layer(x, None",
            ),
            (
                CLASSIC_DECODER,
                "            x = x + self.pe[:, : x.shape[1]] if layer is not self.decoder_layers[0] else x\n"
                f"{CLASSIC_DECODER}",
            ),
        ],
        *("positions in every layer", "both stacks"),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "layers", "edits", "name", "where"), PLANTED)
def test_a_planted_mistake_is_named(kind: type[nn.Module], layers: int, edits: list[Edit], name: str, where: str) -> None:
    found = compare(*both(edited(kind, *edits), layers), SOURCE, TARGET)
    assert found.explained
    assert not found.agrees
    assert [name in reason.name for reason in found.reasons] == [True]
    assert where in found.reasons[0].where


FAILING = [
    (Classic, ("and not self.cross:", "or True:"), {}, "Query and key are exchanged"),
    (Heads, ("q, k, v = self.query(x), self.key(memory)", "k, q, v = self.query(x), self.key(memory)"), {}, "exchanged"),
    pytest.param(
        *(Torch, ("return x if self.batch_first else x.transpose(0, 1)", "return x"), {"batch_first": False}),
        "`batch_first=True`",
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "edit", "given", "words"), FAILING)
def test_the_error_of_a_module_that_fails_names_the_mistake(
    kind: type[nn.Module], edit: Edit, given: dict[str, Any], words: str
) -> None:
    """The lengths of source and target differ, so the module itself fails."""
    with pytest.raises(InputError, match="fails on these inputs") as error:
        compare(*both(edited(kind, edit), **given), SOURCE, TARGET)
    assert words in str(error.value)
