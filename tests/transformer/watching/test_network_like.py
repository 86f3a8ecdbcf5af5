"""Tests of `network_like`: it has the sizes of a module, and the two agree."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.watching.tutorials import SOURCE, TARGET, Classic, Einops, Fused, Heads, Torch, both
from transformer import ConfigError, InputError, compare, network_like

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
SIZES = ("source_vocab", "target_vocab", "d_model", "heads", "encoder_layers", "decoder_layers", "d_ff")
READ = (*SIZES, "position", "norm_first", "final_norm", "activation", "norm_eps")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "layers"), [(Classic, 1), (Classic, 2), (Einops, 2), (Fused, 2), (Torch, 2), (Heads, 2)])
def test_it_has_the_sizes_of_the_module_and_agrees(kind: type[nn.Module], layers: int) -> None:
    mine, known = both(kind, layers)
    ours = network_like(mine, target_padding=known.config.target_padding)
    assert {name: getattr(ours.config, name) for name in READ} == {name: getattr(known.config, name) for name in READ}
    assert compare(mine, ours, SOURCE, TARGET).agrees


@pytest.mark.slow
def test_compare_makes_the_network_itself_and_names_what_differs() -> None:
    right, wrong = both(Classic)[0], both(Classic, wrong=["no scale"])[0]
    assert compare(right, network_like(right, SOURCE, TARGET), SOURCE, TARGET).agrees
    found = compare(wrong, network_like(wrong, SOURCE, TARGET), SOURCE, TARGET)
    assert [reason.name for reason in found.reasons] == ["embedding not scaled"]


def test_the_random_numbers_and_the_module_are_left_alone() -> None:
    mine, _ = both(Torch)
    mine.train()
    random = torch.get_rng_state()
    network_like(mine)
    assert mine.training
    assert torch.equal(torch.get_rng_state(), random)


@pytest.mark.parametrize("batch_first", [True, False])
def test_sizes_of_torch_s_own_transformer_are_read(batch_first: bool) -> None:
    module = nn.Transformer(16, 2, 1, 2, 32, activation="gelu", norm_first=True, batch_first=batch_first)
    config = network_like(module, source_vocab=9, target_vocab=8).config
    assert [getattr(config, name) for name in SIZES] == [9, 8, 16, 2, 1, 2, 32]
    assert (config.activation, config.norm_first, config.final_norm) == ("gelu", True, True)


def test_an_error_names_every_size_that_cannot_be_read() -> None:
    for module, missing in (
        (nn.Transformer(16, 2, 1, 1, 32), "module: source_vocab, target_vocab. Give"),
        (nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2), "source_vocab, target_vocab, decoder_layers. Give"),
        (nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 2, 32), 2), "source_vocab, target_vocab, encoder_layers. Give"),
        (nn.Linear(3, 3), "source_vocab, target_vocab, d_model, heads, encoder_layers, decoder_layers, d_ff. Give"),
    ):
        with pytest.raises(InputError, match=missing):
            network_like(module)


def test_other_arguments_are_refused() -> None:
    mine = both(Classic)[0]
    wrong: dict[str, Any] = {"no_field": 3}
    with pytest.raises(ConfigError, match="no_field"):
        network_like(mine, **wrong)
    values: tuple[Any, ...] = (None, 3, "module")
    for value in values:
        with pytest.raises(InputError):
            network_like(value)
    with pytest.raises(InputError, match="fails"):
        network_like(mine, SOURCE + 50, TARGET)

    def fails(_module: nn.Module, _source: Tensor, _target: Tensor) -> None:
        raise RuntimeError("no")

    with pytest.raises(InputError, match="no"):
        network_like(mine, run=fails)
