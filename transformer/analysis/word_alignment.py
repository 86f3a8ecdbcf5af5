"""How well attention aligns words: the links that a head makes between words, compared with links made by hand.

    sentences = read_alignments()
    links = head_links(trace, layer=1, head=3)
    alignment_error([links], [sentences[0]])

The error is the alignment error rate of Och and Ney (2003): 0 if all links are right and no sure link is missing, 1 if no link
is right.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer.analysis.checks import check_array, check_trace, listed_items
from transformer.analysis.word_trace import word_groups
from transformer.assets import assets
from transformer.errors import InputError
from transformer.pipeline.checkpoint import as_path
from transformer.tracing.paths import Side
from transformer.tracing.trace import Trace

FILE = "alignments/everyday.tsv"
WORD = re.compile(r"\w+|[^\w\s]")
LINK = re.compile(r"([0-9]+)([-~])([0-9]+)")
Links = frozenset[tuple[int, int]]  # pairs (source word, target word), counted from 0


class Aligned(NamedTuple):
    """A sentence and its translation, aligned by hand.

    Attributes:
        source, target: the sentence and its translation.
        sure: links that are right without doubt. A link is a pair (source word, target word), counted from 0.
        possible: links that may be right, including the sure links.
    """

    source: str
    target: str
    sure: Links
    possible: Links


def read_alignments(path: str | Path | None = None) -> tuple[Aligned, ...]:
    """The sentence pairs of a file, with the links between their words. After a line of headings, each line of the file has an
    English sentence, its French translation and the links, separated by tabs. `2-3` is a sure link of source word 2 and target
    word 3, and `2~3` is a possible link. The numbers count the words that the function `words` returns, from 0.

    Args:
        path: the file; None for the file that comes with this library.

    Raises:
        InputError: the file cannot be read, or a line is not of this form.
        CheckpointError: `path` is neither a string nor a Path.
    """
    path = assets() / FILE if path is None else as_path(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("The file {name!r} cannot be read ({problem}).", name=path.name, problem=str(error)) from None
    return tuple(_aligned(line, number, path.name) for number, line in enumerate(lines, 2))


def _aligned(line: str, number: int, name: str) -> Aligned:
    parts = line.split("\t")
    links = [LINK.fullmatch(link) for link in parts[2].split()] if len(parts) == 3 else [None]
    found = [(int(link[1]), int(link[3]), link[2] == "-") for link in links if link]
    if len(found) < len(links) or any(
        place >= len(words(text)) for link in found for place, text in zip(link, parts, strict=False)
    ):
        raise InputError("Line {number} of {name!r} is not an aligned sentence.", number=number, name=name)
    sure = frozenset(link[:2] for link in found if link[2])
    return Aligned(parts[0], parts[1], sure, sure | frozenset(link[:2] for link in found))


def words(text: str) -> list[str]:
    """The words and punctuation marks of a text, in order. An index in a `Links` pair is an index in this list.

    Raises:
        InputError: `text` is not a string.
    """
    if not isinstance(text, str):
        raise InputError("Words are those of a text, not of {text!r}.", text=text)
    return WORD.findall(text)


def head_links(trace: Trace, layer: int, head: int) -> Links:
    """The links of a cross-attention head, pairs (source word, target word): each target word is linked to the source word that
    it attends to most.

    The attention of a target word is the mean of the rows (queries) that predict its pieces; the weight of a source word is the
    sum over its pieces. Special tokens are left out.

    Args:
        trace: every tensor of a forward pass over one sentence; the decoder reads the translation.
        layer, head: numbers of the layer and the head, counted from 0.

    Raises:
        InputError: `trace` is not a Trace, has no cross-attention, or has more than one text.
        PathError: there is no such layer or head.
    """
    check_trace(trace)
    return links_of(trace, trace.head("cross", layer, head).numpy())


def links_of(trace: Trace, weights: Float[np.ndarray, "query key"]) -> Links:
    """The links, pairs (source word, target word), from any weights between target tokens (queries) and source tokens (keys).
    As in `head_links`, each target word is linked to the source word with the largest weight.

    Args:
        trace: a trace of one sentence and its translation. Only its tokens are read.
        weights: a weight for each pair of tokens.

    Raises:
        InputError: `trace` is not a Trace, has more than one text, or lacks a side; or `weights` is not an array with a row for
            each target token and a column for each source token.
    """
    check_trace(trace)
    if trace.batch_size != 1:
        raise InputError("The words of one sentence are linked; this trace has {count}.", count=trace.batch_size)
    check_array("weights", weights, "query key")
    expected = tuple(sum(map(len, word_groups(trace, side))) for side in ("target", "source"))
    if weights.shape != expected:
        template = "weights has shape {shape}; this trace has {expected} target and source tokens."
        raise InputError(template, shape=weights.shape, expected=expected)
    keys = [group for group in word_groups(trace, "source") if not _is_special(trace, "source", group)]
    # Row `t` writes token `t + 1`, so a word is written by the rows before its pieces.
    queries = [group for group in word_groups(trace, "target") if not _is_special(trace, "target", group)]
    links = set()
    for word, group in enumerate(queries if keys else ()):
        row = weights[[place - 1 for place in group]].mean(0)
        links.add((int(np.argmax([row[list(key)].sum() for key in keys])), word))
    return frozenset(links)


def _is_special(trace: Trace, side: Side, group: Sequence[int]) -> bool:
    place, numbers = group[0], trace.words_of(side)
    if numbers:
        return numbers[0][place] is None
    # Our own models whose tokens are words: the source has special tokens at both ends, and the decoder reads one at first.
    return place in (0, len(trace.source_ids[0]) - 1) if side == "source" else place == 0


def diagonal_links(sentence: Aligned) -> Links:
    """The links, pairs (source word, target word), of a simple rule for comparison: each target word is linked to the source
    word at the same relative position in its sentence.

    Raises:
        InputError: `sentence` is not an `Aligned`.
    """
    _check_sentence(sentence)
    sources, targets = (len(words(text)) for text in sentence[:2])
    return frozenset((round(word * (sources - 1) / max(1, targets - 1)), word) for word in range(targets))


class Counts(NamedTuple):
    """The numbers of the alignment error rate, over all sentences together.

    Attributes:
        sure_found, possible_found: how many of the links that were made are sure links, and how many are possible links. Sure
            links are possible links, too.
        made, sure: how many links were made, and how many sure links there are.
    """

    sure_found: int
    possible_found: int
    made: int
    sure: int

    @property
    def error(self) -> float:
        """The alignment error rate, 0 to 1: 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), where A are the links that were made, S the
        sure and P the possible links. 0 if A and S are both empty, because then no link is wrong or missing."""
        total = self.made + self.sure
        return 1 - (self.sure_found + self.possible_found) / total if total else 0.0


def alignment_counts(made: Sequence[Links], sentences: Sequence[Aligned]) -> Counts:
    """The numbers of the alignment error rate, over all sentences together.

    Args:
        made: for each sentence, the links that were made: a set of pairs (source word, target word).
        sentences: the sentences, with the right links.

    Raises:
        InputError: `sentences` is empty or has items that are not `Aligned`; or `made` has another length, or items that are
            not sets.
    """
    made, sentences = listed_items("made", made), listed_items("sentences", sentences)
    for links in made:
        if not isinstance(links, frozenset | set):
            raise InputError("Links are a set of pairs, as `head_links` returns it, not {links!r}.", links=links)
    for sentence in sentences:
        _check_sentence(sentence)
    if len(made) != len(sentences) or not sentences:
        raise InputError(
            "There are {links} sets of links for {sentences} sentences.", links=len(made), sentences=len(sentences)
        )
    pairs = list(zip(made, sentences, strict=True))
    return Counts(
        sum(len(links & sentence.sure) for links, sentence in pairs),
        sum(len(links & sentence.possible) for links, sentence in pairs),
        sum(map(len, made)),
        sum(len(sentence.sure) for sentence in sentences),
    )


def alignment_error(made: Sequence[Links], sentences: Sequence[Aligned]) -> float:
    """The alignment error rate, 0 to 1, of the links `made` for `sentences`: over all sentences together (`Counts.error`).
    `made` has the links of each sentence: a set of pairs (source word, target word). Errors are those of `alignment_counts`."""
    return alignment_counts(made, sentences).error


def _check_sentence(sentence: object) -> None:
    if not isinstance(sentence, Aligned):
        raise InputError("A sentence is one that `read_alignments` returns, not {sentence!r}.", sentence=sentence)
