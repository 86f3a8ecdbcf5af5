"""Measure the cost of a token of an answer: with cached keys and values, without a cache, and for the plain matrix products
that a token needs.

    python -m benchmarks.decoding_speed [--quick] [--markdown]

One process, one thread, rounds in random order, compared by their medians. Times are processor time of the thread, because the
machine may have other work. The model is `vanilla` at full size with random weights. It must not write `<eos>`, so every
answer has the requested number of tokens.

- `kept`: `transformer.pipeline.decoding.generate` with cached keys and values, as `Pipeline.answer` uses it (not traced).
- `unkept`: the same with `cached=False`, which reads the whole prefix for each token.
- `traced`: as `kept`, but every tensor of every step is recorded.
- `products`: the encoder, and for each token only the products of the decoder with its own weights: projections, scores,
  weighted sums, feed-forward, output layer. No residual sum, LayerNorm, softmax, mask or choice.
"""

import argparse
import platform
import random
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer
from transformer.pipeline.decoding.generate import generate
from transformer.process import reuse_freed_memory

SOURCE, TOKENS = 20, 60
SOS, EOS = 1, 2
LIMIT = 1.3
AT = (1, 10, 20, 30, 40, 50, 60)  # the tokens whose cost is listed


def seconds_by_token(model: Transformer, source: Tensor, cached: bool, traced: bool = False) -> list[float]:
    """The seconds of each step of an answer; the first includes the encoder."""
    times, start = [], time.thread_time()
    for _ in generate(model, source, SOS, EOS, TOKENS - 1, suppress=(EOS,), cached=cached, traced=traced):
        now = time.thread_time()
        times.append(now - start)
        start = now
    return times


@torch.inference_mode()
def products(model: Transformer, source: Tensor) -> list[float]:
    """The seconds of the plain matrix products of each step."""
    config, times, start = model.config, [], time.thread_time()
    memory, _ = model.encode(source)
    row = torch.randn(1, 1, config.d_model)
    heads, width = config.heads, config.d_head
    layers = [_linears(layer) for layer in model.decoder.layers]
    for _, cross, _, _ in layers:
        for name in ("key", "value"):
            cross[name](memory)
    keys = torch.randn(heads, TOKENS, width)
    others = torch.randn(heads, source.shape[1], width)
    query = torch.randn(heads, 1, width)
    for length in range(1, TOKENS + 1):
        for own, cross, up, down in layers:
            for name in ("query", "key", "value", "output"):
                own[name](row)
            for name in ("query", "output"):
                cross[name](row)
            for memory_keys in (keys[:, :length], others):
                torch.matmul(query @ memory_keys.mT, memory_keys)
            down(up(row))
        model.output_projection(row)
        now = time.thread_time()
        times.append(now - start)
        start = now
    return times


def _linears(layer: nn.Module) -> tuple[dict[str, nn.Module], dict[str, nn.Module], nn.Module, nn.Module]:
    """The linear maps of a decoder layer: of self-attention, of cross-attention, and of the feed-forward network."""
    attentions = [
        {
            **{name: layer.get_submodule(f"{kind}.{name}.projection") for name in ("query", "key", "value")},
            "output": layer.get_submodule(f"{kind}.output_projection"),
        }
        for kind in ("self_attention", "cross_attention")
    ]
    return (
        attentions[0],
        attentions[1],
        layer.get_submodule("feed_forward.up_projection"),
        layer.get_submodule("feed_forward.down_projection"),
    )


def measure(rounds: int) -> dict[str, list[float]]:
    """Way to compute (`kept`, `unkept`, `traced`, `products`) → median seconds of each token."""
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.preset("vanilla", source_vocab=1000, target_vocab=1000)).eval()
    source = torch.randint(3, 1000, (1, SOURCE))
    runs: dict[str, Callable[[], list[float]]] = {
        "kept": lambda: seconds_by_token(model, source, True),
        "unkept": lambda: seconds_by_token(model, source, False),
        "traced": lambda: seconds_by_token(model, source, True, traced=True),
        "products": lambda: products(model, source),
    }
    times: dict[str, list[list[float]]] = {name: [] for name in runs}
    for count in range(rounds + 1):
        for name in random.sample([*runs], len(runs)):
            taken = runs[name]()
            if count:  # the first round warms up
                times[name].append(taken)
    return {name: [statistics.median(each) for each in zip(*rows, strict=True)] for name, rows in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="What a token of an answer costs.")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--markdown", action="store_true", help="a table for the README")
    arguments = parser.parse_args()
    reuse_freed_memory()
    torch.set_num_threads(1)
    times = measure(3 if arguments.quick else 9)
    if arguments.markdown:
        print("| token | kept ms | unkept ms | products ms |\n| --- | --- | --- | --- |")
    else:
        print(f"torch {torch.__version__}, Python {platform.python_version()}; processor milliseconds of one token, medians")
    for token in AT:
        values = [1000 * times[name][token - 1] for name in ("kept", "unkept", "products")]
        print("| " + " | ".join([str(token), *(f"{value:.1f}" for value in values)]) + " |")
    kept, unkept, traced, plain = (sum(times[name]) for name in ("kept", "unkept", "traced", "products"))
    grown = [statistics.median(times[name][-10:]) / statistics.median(times[name][1:11]) for name in ("kept", "unkept")]
    print("\nlast ten tokens ÷ tokens 2 to 11: kept {:.2f}, unkept {:.2f}".format(*grown))
    print(f"{TOKENS} tokens: unkept ÷ kept {unkept / kept:.1f}, traced ÷ kept {traced / kept:.2f}")
    print(f"{TOKENS} tokens: kept ÷ products {kept / plain:.2f} (at most {LIMIT})")


if __name__ == "__main__":
    main()
