"""Training on a file of sentence pairs, in place of a task that samples its pairs by a rule."""

import gzip
import hashlib
import itertools
import json
import random
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from transformer.errors import InputError
from transformer.tasks import Pair, Split, Task
from transformer.text.pieces import SPACE
from transformer.text.subwords import BYTE_PIECES, MARKS, Subwords, is_run, runs, typed

ACCEPTS = "everyday English sentences"
DESCRIPTION = "everyday English sentences in, French ones out, in pieces of words"
MISSING = (
    "There is no file {name!r} of sentence pairs. It is not part of Headlight: download the pairs English–French that "
    "manythings.org/anki prepares from Tatoeba (tatoeba.org, CC BY 2.0). Each line has an English sentence, a tab and its "
    "French translation; the file may be compressed with gzip."
)
LONGEST = 62  # tokens: the 64 positions of the model without `<sos>` and `<eos>`
CHARACTERS = 120  # this many characters, the most frequent ones, are pieces themselves
HELD_OUT = (2, 200)  # 2 of 200 English sentences are held out, chosen by a hash
# The most words of a sentence in each group of the test. Longer sentences are one more group.
LENGTHS = (4, 7, 10)


class Sentence(NamedTuple):
    """An English sentence and all its French translations in a file of sentence pairs."""

    source: str
    targets: tuple[str, ...]


class Corpus(Task):
    """A task whose pairs come from a file of sentences and translations. There is no rule for the right answer, so `solve`
    returns None. Texts of more than 62 tokens are left out.

    Args:
        name: the name of the task.
        sentences: sentences with their translations.
        vocabulary: the pieces of words of both languages.
        description: one line that names the input and the output.
        accepts: what a person may type, as a clause.

    Raises:
        InputError: there is no pair to train on, or no held-out pair.
    """

    def __init__(
        self,
        name: str,
        sentences: Sequence[Sentence],
        vocabulary: Subwords,
        description: str = DESCRIPTION,
        accepts: str = ACCEPTS,
    ) -> None:
        self.name, self.description, self.accepts, self.examples = name, description, accepts, ()
        self.source_vocabulary = self.target_vocabulary = vocabulary
        self.longest = LONGEST

        def is_short(text: str) -> bool:
            return 0 < len(vocabulary.split(text)) <= LONGEST

        short = [Sentence(source, tuple(filter(is_short, targets))) for source, targets in sentences if is_short(source)]
        self.held_out = [sentence for sentence in short if sentence.targets and self.is_held_out(sentence.source)]
        self._pairs: dict[Split, list[Pair]] = {
            "held-out": [Pair(source, targets[0], form_of(source)) for source, targets in self.held_out],
            "train": [
                Pair(source, target, form_of(source))
                for source, targets in short
                if not self.is_held_out(source)
                for target in targets
            ],
        }
        for split, pairs in self._pairs.items():
            if not pairs:
                raise InputError("The file has no pair of the split {split!r}; more pairs are needed.", split=split)
        everything = json.dumps([vocabulary.tokens, self._pairs, self.held_out])
        self.data = hashlib.sha256(everything.encode()).hexdigest()

    @property
    def known_pairs(self) -> Sequence[Pair]:
        """All pairs of the training split, in the order of the file."""
        return self._pairs["train"]

    def sample(self, rng: random.Random) -> Pair:
        return rng.choice(self.known_pairs)

    def solve(self, source: str) -> str | None:
        return None

    def is_held_out(self, source: str) -> bool:
        """Whether an English sentence, with all its translations, is held out: kept for tests, not used for training."""
        return is_held_out(source)

    def pairs(self, split: Split, seed: int | str) -> Iterator[Pair]:
        """An endless iterator of pairs of one split, in random order; each pair comes once before any comes again. The same
        seed gives the same order."""
        rng, order = random.Random(f"{self.name}/{split}/{seed}"), list(self._pairs[split])
        while True:
            rng.shuffle(order)
            yield from order


def is_held_out(source: str) -> bool:
    """Whether an English sentence is held out: a hash of it puts it in the 1 % of sentences that no model is trained on."""
    few, of = HELD_OUT
    return int(hashlib.sha256(source.encode()).hexdigest()[:8], 16) % of < few


def form_of(source: str) -> str:
    """The group in which a sentence is counted in a test, by its number of words: `1 to 4 words`, …, `11 words or more`."""
    count = len(source.split())
    least = 1
    for most in LENGTHS:
        if count <= most:
            return f"{least} to {most} words"
        least = most + 1
    return f"{least} words or more"


def read_corpus(path: Path) -> list[Sentence]:
    """The English sentences of a file, in the order of the file, each once with all its translations. A line has an English
    sentence, a tab and a translation; more columns are ignored. Lines with an empty sentence are left out. A file with the
    ending `.gz` is decompressed.

    Raises:
        InputError: there is no such file, or it is a folder; it cannot be read; or a line has no tab.
    """
    if path.is_dir():
        raise InputError("{name!r} is a folder; name the file of sentence pairs in it.", name=path.name)
    if not path.is_file():
        raise InputError(MISSING, name=path.name)
    translations: dict[str, dict[str, None]] = {}
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                texts = [typed(text) for text in line.split("\t")[:2]]
                if len(texts) < 2:
                    raise InputError("Line {number} of {name!r} has no tab.", number=number, name=path.name)
                if all(texts):
                    translations.setdefault(texts[0], {})[texts[1]] = None
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise InputError("The file {name!r} cannot be read ({problem}).", name=path.name, problem=str(error)) from None
    return [Sentence(source, tuple(targets)) for source, targets in translations.items()]


def pieces_of(texts: Iterable[str], count: int) -> Subwords:
    """A vocabulary of `count` pieces of words for these texts, made by byte-pair encoding, which merges the most frequent pair
    of neighbours first.

    The library `tokenizers` makes the pieces. It is needed only here: `Subwords` splits texts without it.

    Raises:
        InputError: `tokenizers` is not installed, or the texts give fewer than `count` pieces.
    """
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    except ImportError:
        raise InputError("Training on a file needs the package tokenizers: pip install tokenizers.") from None
    # Each text is given as its runs, with line breaks between them. Characters are joined only within a run.
    divided = ["\n".join(_runs_of(text)) for text in texts]
    # The library would choose at random among characters that are equally frequent, so that a run could not be resumed.
    counts = Counter(character for text in divided for character in text if character != "\n")
    characters = sorted(counts, key=lambda character: (-counts[character], character))[:CHARACTERS]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Split("\n", "removed")
    trainer = trainers.BpeTrainer(
        vocab_size=count - len(BYTE_PIECES) - len(MARKS),
        limit_alphabet=len(characters),
        initial_alphabet=characters,
        show_progress=False,
    )
    tokenizer.train_from_iterator(divided, trainer)
    learned = tokenizer.get_vocab(with_added_tokens=False)
    vocabulary = Subwords((*MARKS, *BYTE_PIECES, *sorted(learned, key=lambda piece: learned[piece])))
    if len(vocabulary) < count:
        raise InputError(
            "The texts give only {found} pieces, not {count}; more text is needed.", found=len(vocabulary), count=count
        )
    return vocabulary


def _runs_of(text: str) -> Iterator[str]:
    """The runs of a text, within which characters may be merged. `▁` stands for the space before a word: it starts the first
    run of the word, or is a run of its own before a digit or a sign of punctuation."""
    for word in text.split():
        first, *others = runs(word)
        yield from itertools.chain([SPACE + first] if is_run(first) else [SPACE, first], others)


def open_corpus(name: str, path: Path, pieces: int | Subwords) -> Corpus:
    """The corpus in a file of sentence pairs, which `read_corpus` reads.

    Args:
        name: the name of the task.
        path: the file.
        pieces: the vocabulary of the corpus; or the number of pieces, to make a vocabulary from the training pairs.

    Raises:
        InputError: the file is missing or cannot be read; it has too few pairs; or a vocabulary cannot be made (`pieces_of`).
    """
    sentences = read_corpus(path)
    if isinstance(pieces, int):
        known = (sentence for sentence in sentences if not is_held_out(sentence.source))
        pieces = pieces_of((text for source, targets in known for target in targets for text in (source, target)), pieces)
    return Corpus(name, sentences, pieces)
