"""Measure the cost of a full trace, relative to an untraced `torch.nn.Transformer` of the same size on the same work.

    python -m benchmarks.trace_cost [--quick] [--markdown]

Four forwards are timed in one process, two at a time in random order, and compared by their medians. (Timing all four in turn
would favour our network: three of the four use the same weights, which would stay in cache longer than the weights of `torch`.)
Each size has its own process, because memory left over from other models makes a trace slower.

- `torch`: `torch.nn.Transformer` (evaluation mode, causal target mask), between embeddings and final linear;
- `no taps`: our encoder and decoder with every call of a tap cut out of the source before it is compiled;
- `untraced`: our encoder and decoder, without a trace;
- `traced`: our encoder and decoder, with every tensor kept. The trace of a round is freed before the next, as in a full cache.
"""

import argparse
import ast
import inspect
import multiprocessing
import platform
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType
from typing import Any

import torch
from torch import nn

import transformer.network.attention
import transformer.network.layers
import transformer.network.model
from transformer.network.config import TransformerConfig
from transformer.network.masks import Mask, causal
from transformer.network.tap import tracing
from transformer.process import reuse_freed_memory

# (d_model, heads, layers a side, d_ff, tokens a side, rounds)
SIZES = [
    (512, 8, 6, 2048, 32, 60),
    (512, 8, 6, 2048, 64, 50),
    (512, 8, 6, 2048, 128, 40),
    (512, 8, 6, 2048, 256, 20),
    (512, 8, 6, 2048, 512, 12),
    (128, 4, 3, 512, 16, 400),
    (128, 4, 3, 512, 64, 300),
]
PAIRS = {"no taps": "torch", "untraced": "no taps", "traced": "torch"}
LIMITS = {"traced": 1.15, "untraced": 1.05}


class WithoutTaps(ast.NodeTransformer):
    """A syntax-tree transformer that replaces `self.some_tap(values)` by `values`.

    Args:
        names: the names of all taps.
    """

    def __init__(self, names: Collection[str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and ast.unparse(function.value) == "self" and function.attr in self.names:
            return node.args[0]
        return node


def without_taps(names: Collection[str]) -> ModuleType:
    """The module of the model, compiled again from source without calls of taps, like the other modules of the network."""
    copies: dict[str, object] = {}
    copy = ModuleType("")
    for module in (transformer.network.attention, transformer.network.layers, transformer.network.model):
        copy = ModuleType(f"{module.__name__}_without_taps")
        sys.modules[copy.__name__] = copy
        tree = WithoutTaps(names).visit(ast.parse(inspect.getsource(module)))
        exec(compile(ast.fix_missing_locations(tree), copy.__name__, "exec"), copy.__dict__)
        # Names imported from earlier modules must refer to the copies, not to the originals.
        vars(copy).update({name: value for name, value in copies.items() if name in vars(copy)})
        copies |= {name: value for name, value in vars(copy).items() if getattr(value, "__module__", "") == copy.__name__}
    return copy


def contenders(d_model: int, heads: int, layers: int, d_ff: int, tokens: int) -> dict[str, Callable[[], Any]]:
    """The four forwards, on the same inputs; the three forwards of our network also share their weights."""
    config = TransformerConfig.preset(
        "pytorch", d_model=d_model, heads=heads, encoder_layers=layers, decoder_layers=layers, d_ff=d_ff, max_len=tokens
    )
    ours = transformer.network.model.Transformer(config).eval()
    plain = without_taps({path.rpartition(".")[2] for path in ours.taps} | {"mask"}).Transformer(config).eval()
    plain.load_state_dict(ours.state_dict(), assign=True)  # shared memory, so that the weights of both are equally in cache
    torch_model = nn.Transformer(d_model, heads, layers, layers, d_ff, batch_first=True).eval()
    source, target = torch.randn(1, tokens, d_model), torch.randn(1, tokens, d_model)
    source_keep, target_keep = torch.ones(1, 1, 1, tokens, dtype=torch.bool), causal(tokens)
    torch_mask = nn.Transformer.generate_square_subsequent_mask(tokens)

    def forward(model: Any) -> torch.Tensor:
        mask = Mask.of(source_keep)
        memory = model.encoder(source, mask)
        return model.decoder(target, memory, Mask.of(target_keep), mask)

    def traced() -> Mapping[str, torch.Tensor]:
        with tracing(ours) as values:
            forward(ours)
        return values

    assert torch.equal(forward(plain), forward(ours))
    assert traced().keys() == {path for path in ours.taps if path.startswith(("encoder.", "decoder."))}
    return {
        "torch": lambda: torch_model(source, target, tgt_mask=torch_mask, tgt_is_causal=True),
        "no taps": lambda: forward(plain),
        "untraced": lambda: forward(ours),
        "traced": traced,
    }


@torch.inference_mode()
def measure(functions: dict[str, Callable[[], Any]], rounds: int, warm_up: int = 5) -> dict[str, float]:
    """Median seconds of each forward."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(-warm_up, rounds):
        for name in random.sample(list(functions), len(functions)):
            start = time.perf_counter()
            result = functions[name]()
            taken = time.perf_counter() - start
            del result
            if number >= 0:
                times[name].append(taken)
    return {name: statistics.median(values) for name, values in times.items()}


def row(size: tuple[int, int, int, int, int, int], quick: bool) -> tuple[dict[str, float], float, int]:
    """The costs of one size: each ratio of `PAIRS`, the seconds of `torch`, and the number of tensors in a trace."""
    warnings.filterwarnings("ignore", message=".*nested tensor.*")
    reuse_freed_memory()
    *sizes, rounds = size
    functions = contenders(*sizes)
    ratios, seconds = {}, {}
    for name, peer in PAIRS.items():
        seconds = measure({each: functions[each] for each in (name, peer)}, rounds // 4 if quick else rounds)
        ratios[name] = seconds[name] / seconds[peer]
    return ratios, seconds["torch"], len(functions["traced"]())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a quarter of the rounds")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    given = parser.parse_args()
    line = "| {} |" if given.markdown else "{}"
    head = ["d_model", "layers", "tokens", "torch ms", *(f"{name} ÷ {peer}" for name, peer in PAIRS.items()), "tensors"]
    gap = " | " if given.markdown else "  "
    print(
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.machine()}, "
        f"Python {platform.python_version()}"
    )
    print(line.format(gap.join(head)))
    if given.markdown:
        print(line.format(gap.join("---" for _ in head)))
    missed = 0
    context = multiprocessing.get_context("spawn")
    for size in SIZES:
        d_model, _, layers, _, tokens, _ = size
        with ProcessPoolExecutor(1, context) as process:
            ratios, seconds, count = process.submit(row, size, given.quick).result()
        missed += sum(ratios[name] > limit for name, limit in LIMITS.items())
        cells = [d_model, f"{layers} + {layers}", tokens, f"{seconds * 1e3:.2f}"]
        cells += [f"{ratio:.3f}" for ratio in ratios.values()] + [count]
        print(line.format(gap.join(f"{cell!s:>{len(title)}}" for cell, title in zip(cells, head, strict=True))), flush=True)
    print(f"{missed} ratios above their limit (traced 1.15, untraced 1.05)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
