"""Measure the cost of a full trace of a Hugging Face model, relative to a forward in `transformers` (`eager`).

    python -m benchmarks.huggingface [--model marian] [--rounds 30]

The model has the size of GPT-2 small (124 M parameters) or of Marian, and random weights; texts have 64 tokens. Both forwards
use the same weights, run in one process, in random order, and are compared by the medians of their processor time. The measured
memory is how much the process grows when it opens the folder and traces a text. The benchmark needs
requirements-huggingface.txt.
"""

import argparse
import multiprocessing
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, MarianConfig, MarianMTModel, PreTrainedTokenizerFast

from transformer.huggingface.hf_opening import open_folder
from transformer.huggingface.hf_pipeline import HuggingFacePipeline
from transformer.validation import one_of

MODELS = ("gpt2", "marian")
TOKENS = 64
TEXT = " ".join(f"w{index}" for index in range(TOKENS - 1))


def folder(name: str, path: Path) -> None:
    """Write a model with random weights and a tokenizer of numbered words (`w0`, `w1`, …) to the folder `path`.

    Args:
        name: the size of the model: `gpt2` for that of GPT-2 small, `marian` for that of Marian.
        path: the folder.

    Raises:
        ConfigError: there is no such size.
    """
    if one_of("name", name, MODELS) == "gpt2":
        model, vocab = GPT2LMHeadModel(GPT2Config()), 50_257
    else:
        sizes = {"layers": 6, "attention_heads": 8, "ffn_dim": 2048}
        stacks: dict[str, Any] = {f"{stack}_{name}": size for stack in ("encoder", "decoder") for name, size in sizes.items()}
        config = MarianConfig(vocab_size=58_101, d_model=512, max_position_embeddings=512, scale_embedding=True, **stacks)
        model, vocab = MarianMTModel(config), 58_101
    model.save_pretrained(path)
    words = {"<pad>": 0, "</s>": 1, "<unk>": 2, **{f"w{index}": index + 3 for index in range(vocab - 3)}}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(path)


def measure(pipeline: HuggingFacePipeline, rounds: int) -> tuple[float, float]:
    """Median processor time of the forward without taps and of the trace, in seconds."""
    encoding = pipeline.encode(TEXT)
    target = pipeline.encode(TEXT, "target") if pipeline.network.crossed else ""
    trace = pipeline.trace(encoding, target)
    source, own = (torch.tensor(ids) if ids else None for ids in (trace.source_ids, trace.target_ids))
    del trace
    forwards = {"eager": lambda: pipeline.network.eager_logits(source, own), "traced": lambda: pipeline.trace(encoding, target)}
    times: dict[str, list[float]] = {name: [] for name in forwards}
    for _ in range(rounds):
        for name in random.sample([*forwards], 2):
            start = time.process_time()
            forwards[name]()
            times[name].append(time.process_time() - start)
    return statistics.median(times["eager"]), statistics.median(times["traced"])


def main() -> None:
    """Print the measurements of one model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--model", choices=MODELS, default="gpt2")
    arguments = parser.parse_args()
    process = psutil.Process()
    with tempfile.TemporaryDirectory() as path:
        # Written in a separate process, so that the memory needed for building the model does not count.
        written = multiprocessing.get_context("spawn").Process(target=folder, args=(arguments.model, Path(path)))
        written.start()
        written.join()
        before = process.memory_info().rss
        pipeline = open_folder(path)
        trace = pipeline.trace(TEXT, TEXT if pipeline.network.crossed else "")
        gained, needed = process.memory_info().rss - before, pipeline.nbytes + trace.tensor_bytes
        print(f"{arguments.model}: {pipeline.parameters / 1e6:.0f} M parameters, a trace of {len(trace)} tensors")
        print(f"memory: {gained / 1e6:.0f} MB for {needed / 1e6:.0f} MB of weights and trace, ratio {gained / needed:.2f}")
        del trace
        eager, traced = measure(pipeline, arguments.rounds)
        print(f"processor time: eager {1e3 * eager:.1f} ms, traced {1e3 * traced:.1f} ms, ratio {traced / eager:.3f}")


if __name__ == "__main__":
    main()
