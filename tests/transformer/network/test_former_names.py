"""The names of parameters in files and links from before the layers of `FeedForward` had their present names."""

import safetensors

from tests.transformer.small import small
from transformer.network.former_names import former_name, present_name
from transformer.pipeline.catalogue import CHECKPOINTS


def test_every_name_of_a_shipped_file_becomes_the_name_of_a_parameter():
    names = {name for name, _ in small().named_parameters() if ".0.feed_forward." in name}
    with safetensors.safe_open(CHECKPOINTS / "reverse.safetensors", framework="pt") as file:
        stored = {name for name in file.keys() if ".0.feed_forward." in name}  # noqa: SIM118 (not a mapping, it only has `keys`)
    assert "encoder.layers.0.feed_forward.expand.weight" in stored
    assert {present_name(name) for name in stored} == names
    assert {former_name(name) for name in names} == stored
