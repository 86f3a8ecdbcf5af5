"""Measure the library `tokenizers` beside our own reader of pieces, `Subwords`, with the pieces of *everyday*.

    python -m benchmarks.subwords

Both split the sentences of `assets/alignments/`, English and French, in rounds of random order. Times are processor time,
medians of the rounds. `Subwords` remembers the words that it has split; `first` is without this memory.
"""

import random
import statistics
import subprocess
import sys
import time

from tokenizers import Tokenizer, models, pre_tokenizers

from transformer import Pipeline
from transformer.analysis.word_alignment import read_alignments
from transformer.text.subwords import FIRST, Subwords

ROUNDS = 31
IMPORT = "import time; start = time.process_time(); import tokenizers; print(1000 * (time.process_time() - start))"


def library_tokenizer(tokens: tuple[str, ...]) -> Tokenizer:
    """A tokenizer of the library with these pieces. Whatever `Subwords` may join is a merge, in the same order."""
    ids = {token: index for index, token in enumerate(tokens)}
    cuts = [(piece[:cut], piece[cut:]) for piece in tokens[len(FIRST) :] for cut in range(1, len(piece))]
    merges = [(left, right) for left, right in cuts if left in ids and right in ids]
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges, byte_fallback=True))
    split = [pre_tokenizers.Metaspace(prepend_scheme="always"), pre_tokenizers.Punctuation(), pre_tokenizers.Digits(True)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(split)
    return tokenizer


def main() -> None:
    tokens = Pipeline.load("everyday").source_vocabulary.tokens
    texts = [text for sentence in read_alignments() for text in (sentence.source, sentence.target)]
    pieces, library = Subwords(tokens), library_tokenizer(tokens)
    same = sum(pieces.ids(pieces.split(text)) == library.encode(text).ids for text in texts)
    calls = {
        "ours, first": lambda fresh: [fresh.ids(fresh.split(text)) for text in texts],
        "ours": lambda _: [pieces.ids(pieces.split(text)) for text in texts],
        "tokenizers": lambda _: [library.encode(text).ids for text in texts],
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name in random.sample(list(calls), len(calls)):
            (fresh := Subwords(tokens)).split("a")  # makes the table of ranks
            start = time.process_time()
            calls[name](fresh)
            times[name].append(1e6 * (time.process_time() - start) / len(texts))
    imports = [float(subprocess.check_output([sys.executable, "-c", IMPORT])) for _ in range(5)]
    print("\n".join(f"{name}: {statistics.median(values):.0f} µs a sentence" for name, values in times.items()))
    print(f"import tokenizers: {statistics.median(imports):.0f} ms; the same ids for {same} of {len(texts)} sentences")


if __name__ == "__main__":
    main()
