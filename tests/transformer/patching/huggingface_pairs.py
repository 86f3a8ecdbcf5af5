"""Pairs of runs of tiny models of Hugging Face."""

from tests.transformer.huggingface.tiny import opened
from transformer.patching import RunPair, run_pair

# Name of a model → a clean and a corrupt text.
TEXTS = {
    "gpt2": ("the old dog sees a cat", "the old man sees a cat"),
    "llama": ("the old dog sees a cat", "the old man sees a cat"),
    "gemma2": ("the old dog sees a cat", "the old man sees a cat"),
    "bart": ("the cat sleeps .", "the dog sleeps ."),
    "t5": ("the cat sleeps .", "the dog sleeps ."),
    "bert": ("the old dog <mask> a house", "the old man <mask> a house"),
    "roberta": ("the old dog <mask> a house", "the old man <mask> a house"),
}


def pair_of(name: str) -> RunPair:
    pipeline = opened(name)
    target = "a man sees it" if len(pipeline.stacks) == 2 else None
    return run_pair(pipeline, *TEXTS[name], target)
