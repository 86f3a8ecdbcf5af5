"""A decoder of two layers that continues repeated tokens. One head of its second layer is an induction head.

    python -m tests.recipes.induction FOLDER

In each text a row of random tokens repeats, and the length of the row differs from text to text. So the model cannot count: it
has to find the token that it reads at an earlier place, and to say what came after it. Heads of the first layer attend to the
previous token, so that each place also has the token before it; the induction head searches for that (Olsson et al. 2022).

Two things make the mechanism sharp. In half of the texts one head of the first layer is silenced, so that the model does not
depend on a single one. And the other head of the second layer has a cost for attention to the induction keys, so only one head
does it.
"""

import sys
from collections import deque
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel

from tests.recipes import one_core
from tests.transformer.huggingface.tiny import IDS, save_tokenizer, tokens_of
from transformer.network.embedding import sinusoid

VOCAB, FIRST = 48, 5  # number of tokens, and the first that is not special
LENGTH, SHORTEST = 32, 6  # tokens of a text, and of the shortest row that repeats
HEADS, WIDTH = 2, 64
INDUCTION = (1, 0)  # layer and head
BATCH, RATE, WARMUP, MOST_STEPS = 32, 3e-3, 100, 3_000
RIGHT, CHECKED = 0.98, 20  # training ends when this share of the tokens of so many batches is predicted


def texts(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Ids of repeated rows, [text, position]; and True where a token repeats an earlier one."""
    row = torch.rand(count, VOCAB - FIRST, generator=generator).argsort(1)[:, :LENGTH] + FIRST
    period = torch.randint(SHORTEST, LENGTH // 2 + 1, (count, 1), generator=generator)
    position = torch.arange(LENGTH).expand(count, -1)
    return row.gather(1, position % period), position >= period


def words(ids: Tensor) -> list[str]:
    """The texts of rows of ids, as the tokenizer reads them."""
    names = tokens_of(VOCAB)
    return [" ".join(names[index] for index in row) for row in ids.tolist()]


@one_core()
def train(folder: Path, seed: int = 1) -> None:
    """Train the model until it continues texts, and write it with its tokenizer.

    Raises:
        RuntimeError: it does not learn to continue them.
    """
    generator = torch.Generator().manual_seed(seed)
    model = build(seed)
    first = model.transformer.h[0].attn.c_proj.register_forward_pre_hook(
        lambda _, inputs: (inputs[0] * some_heads(len(inputs[0]), generator),)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98))
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 1 / WARMUP, 1.0, WARMUP)
    shares: deque[float] = deque([0.0], CHECKED)
    for _ in range(MOST_STEPS):
        ids, repeats = texts(BATCH, generator)
        output = model(ids, output_attentions=True)
        logits, right = output.logits[:, :-1][repeats[:, 1:]], ids[:, 1:][repeats[:, 1:]]
        others = torch.arange(HEADS) != INDUCTION[1]
        cost = (output.attentions[INDUCTION[0]][:, others] * induction_keys(ids)).sum(-1).mean()
        optimizer.zero_grad()
        (F.cross_entropy(logits, right) + cost).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warmup.step()
        shares.append((logits.argmax(-1) == right).float().mean().item())
        if sum(shares) >= RIGHT * CHECKED:
            break
    else:
        raise RuntimeError(f"after {MOST_STEPS} steps the model predicts {sum(shares) / len(shares):.0%} of the tokens")
    first.remove()
    model.save_pretrained(folder)
    save_tokenizer(folder, size=VOCAB, ends=False)


def build(seed: int) -> GPT2LMHeadModel:
    """The untrained model. Its positions start as waves, because with random ones the previous token is found later."""
    torch.manual_seed(seed)
    sizes = {"vocab_size": VOCAB, "n_positions": 64, "n_embd": WIDTH, "n_layer": 2, "n_head": HEADS, "n_inner": 8}
    dropouts = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    model = GPT2LMHeadModel(GPT2Config(**sizes, **dropouts, **IDS, initializer_range=0.05, attn_implementation="eager"))
    model.transformer.wpe.weight.data = 0.3 * sinusoid(64, WIDTH).float()
    return model


def some_heads(count: int, generator: torch.Generator) -> Tensor:
    """Factors of the joined heads, [text, 1, width]: in half of the texts, the values of one head are 0."""
    silent = torch.randint(0, 2 * HEADS, (count, 1, 1), generator=generator)
    return (silent != torch.arange(HEADS).repeat_interleave(WIDTH // HEADS)).float()


def induction_keys(ids: Tensor) -> Tensor:
    """1 for the keys right after an earlier place of the query's token, [text, 1, query, key]."""
    return (ids[:, :, None] == ids[:, None, :]).tril(-1).roll(1, dims=2)[:, None].float()


if __name__ == "__main__":
    train(Path(sys.argv[1]))
