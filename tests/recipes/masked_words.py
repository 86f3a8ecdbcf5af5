"""A small encoder that fills in masked words of English sentences (BERT: Devlin et al. 2019).

    python -m tests.recipes.masked_words FOLDER

The sentences are the sources of the task `english-french`, whose grammar is in `transformer/tasks/`. In each text some words
are replaced by `<mask>`, and the model learns to say which they were.
"""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import BertConfig, BertForMaskedLM

from tests.recipes import one_core
from tests.transformer.huggingface.tiny import IDS, SPECIALS, save_tokenizer
from transformer.tasks import find_task
from transformer.tasks.task import Split

TASK = find_task("english-french")
WORDS = [word for word in TASK.source_vocabulary.words if "'" not in word]
PAD, END, MASK = (SPECIALS.index(token) for token in ("<pad>", "</s>", "<mask>"))
SIZE, WIDTH = len(SPECIALS) + len(WORDS), 64
STEPS, BATCH, RATE, MASKED = 400, 32, 3e-3, 0.2


def sentences(split: Split, seed: int = 0) -> Iterator[list[str]]:
    """An endless iterator of sentences as words, all of them in the vocabulary."""
    known = set(WORDS)
    for pair in TASK.pairs(split, seed):
        words = TASK.source_vocabulary.split(pair.source)
        if len(words) > 2 and known.issuperset(words):
            yield words


@one_core()
def train(folder: Path, seed: int = 0) -> None:
    """Train the model, and write it with its tokenizer."""
    torch.manual_seed(seed)
    generator, texts = torch.Generator().manual_seed(seed), sentences("train", seed)
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, STEPS, pct_start=0.15)
    for _ in range(STEPS):
        ids = batch(list(itertools.islice(texts, BATCH)))
        hidden = (torch.rand(ids.shape, generator=generator) < MASKED) & (ids != PAD) & (ids != END)
        logits = model(ids.masked_fill(hidden, MASK), attention_mask=(ids != PAD).long()).logits
        loss = F.cross_entropy(logits[hidden], ids[hidden])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.save_pretrained(folder)
    save_tokenizer(folder, size=SIZE, words=WORDS)


def build() -> BertForMaskedLM:
    """The untrained model."""
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 2 * WIDTH}
    dropouts = dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob"), 0.0)
    return BertForMaskedLM(BertConfig(vocab_size=SIZE, max_position_embeddings=64, **sizes, **dropouts, **IDS))


def batch(texts: list[list[str]]) -> Tensor:
    """The ids of sentences, each with `</s>` after it, padded to one length."""
    index = {word: place for place, word in enumerate(WORDS, len(SPECIALS))}
    length = max(map(len, texts)) + 1
    rows = [[*(index[word] for word in text), END, *[PAD] * (length - 1 - len(text))] for text in texts]
    return torch.tensor(rows)


if __name__ == "__main__":
    train(Path(sys.argv[1]))
