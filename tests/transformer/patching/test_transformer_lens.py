"""Tests of patching against TransformerLens, on a tiny GPT-2. They need a second environment, because TransformerLens is no
requirement of Headlight:

    pip install transformer-lens --no-deps      # and better_abc fancy_einsum, in an environment that has our requirements
    python -m pytest -q -n 0 tests/transformer/patching/test_transformer_lens.py
"""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")
pytest.importorskip("transformer_lens", reason="transformer_lens is not installed (see above)")

from tests.transformer.huggingface.tiny import folder_of
from tests.transformer.patching.huggingface_pairs import pair_of
from tests.transformer.patching.pairs import last

# What we patch → the hook of TransformerLens, [batch, position, …] with an axis of heads after it, or for `weights` before it.
HOOKS = {
    "head_output": "attn.hook_z",
    "query": "attn.hook_q",
    "key": "attn.hook_k",
    "value": "attn.hook_v",
    "weights": "attn.hook_pattern",
    "attention": "hook_attn_out",
    "feed_forward": "hook_mlp_out",
    "residual_stream": "hook_resid_post",
}


@pytest.fixture(scope="module")
def lens() -> Any:
    from transformer_lens.model_bridge import TransformerBridge

    return TransformerBridge.boot_transformers(str(folder_of("gpt2")), device="cpu")


@pytest.mark.parametrize("positions", ["each", "together"])
@pytest.mark.parametrize("what", HOOKS)
@torch.inference_mode()
def test_every_place_is_patched_as_by_transformer_lens(what: str, positions: str, lens: Any) -> None:
    pair = pair_of("gpt2")
    _, cache = lens.run_with_cache(pair.clean.target)
    values = last(pair, what=what, positions=positions)
    for layer, head, position in np.ndindex(values.moved["logit"]["decoder"].shape):
        name = f"blocks.{layer}.{HOOKS[what]}"

        def swap(tensor: Tensor, hook: Any, name: str = name, head: int = head, position: int = position) -> Tensor:
            tensor = tensor.clone()
            at: Any = slice(None) if positions == "together" else position
            where = {4: (0, at, head), 3: (0, at)}[tensor.ndim] if what != "weights" else (0, head, at)
            tensor[where] = cache[name][where]
            return tensor

        row = lens.run_with_hooks(pair.corrupt.target, fwd_hooks=[(name, swap)])[0, pair.row]
        expected = float(row[pair.tokens[0]] - row[pair.tokens[1]])
        assert values.values()["decoder"][layer, head, position] == pytest.approx(expected, abs=1e-4)
    assert np.abs(values.moved["logit"]["decoder"]).max() > 0.01
