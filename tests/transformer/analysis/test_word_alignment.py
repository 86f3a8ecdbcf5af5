"""Links between words from attention, and their error against links made by hand."""

from pathlib import Path

import numpy as np
import pytest

from transformer import InputError, Pipeline
from transformer.analysis.word_alignment import (
    Aligned,
    alignment_error,
    diagonal_links,
    head_links,
    links_of,
    read_alignments,
    words,
)

ONE = Aligned("I am here.", "Je suis là.", frozenset({(0, 0), (3, 3)}), frozenset({(0, 0), (3, 3), (1, 1), (2, 2)}))


def test_the_shipped_sentences_are_whole() -> None:
    sentences = read_alignments()
    assert len({sentence.source for sentence in sentences}) == len(sentences) == 150
    for sentence in sentences:
        assert len(sentence.sure) >= 2
        assert sentence.sure <= sentence.possible
        assert words(sentence.source)[-1] == words(sentence.target)[-1]


def test_the_words_of_a_file_are_those_of_the_model() -> None:
    """Otherwise a link would be counted for another word."""
    pipeline = Pipeline.load("everyday")
    for sentence in read_alignments():
        for side, text in (("source", sentence.source), ("target", sentence.target)):
            numbers = [number for number in pipeline.encode(text, side).words if number is not None]
            assert max(numbers) + 1 == len(words(text)), text


@pytest.mark.parametrize(
    ("links", "error"),
    [
        ({(0, 0), (3, 3)}, 0.0),
        ({(0, 0), (1, 1), (2, 2), (3, 3)}, 0.0),
        ({(0, 0), (3, 3), (0, 1), (0, 2)}, 1 - 4 / 6),
        ({(1, 0), (2, 3)}, 1.0),
        (set(), 1.0),
    ],
)
def test_the_error_counts_sure_and_possible_links(links: set[tuple[int, int]], error: float) -> None:
    assert alignment_error([frozenset(links)], [ONE]) == pytest.approx(error)


def test_sentences_are_counted_together() -> None:
    both = alignment_error([ONE.sure, frozenset({(3, 0)})], [ONE, ONE])
    assert both == pytest.approx(1 - 4 / (2 + 1 + 2 + 2))
    with pytest.raises(InputError, match="1 sets of links for 2 sentences"):
        alignment_error([ONE.sure], [ONE, ONE])


def test_the_diagonal_goes_from_corner_to_corner() -> None:
    assert diagonal_links(ONE) == {(0, 0), (1, 1), (2, 2), (3, 3)}
    assert diagonal_links(ONE._replace(target="Oui")) == {(0, 0)}


def test_a_word_is_linked_by_the_rows_that_write_its_pieces() -> None:
    pipeline = Pipeline.load("everyday")
    trace = pipeline.trace("Zorglub sleeps.", "Zorglub dort.")
    names, writes = trace.source_tokens[0], (*trace.target_tokens[0][1:], "<eos>")
    weights = np.zeros((len(writes), len(names)))
    read, written = (of[0].index(1) for of in (trace.source_words, trace.target_words))
    assert min(read, written) > 2  # both have several pieces before their second word
    # Each row attends to `<sos>`, which counts for nothing, and a little to the second word. The rows that write the pieces of
    # the first word attend to its pieces; each gets less than the second word, together they get more.
    weights[:, 0], weights[:, read] = 0.7, 0.2
    weights[: written - 1, 1:read] = 0.3 / (read - 1)
    assert {(0, 0), (1, 1)} <= links_of(trace, weights)
    assert {source for source, _ in head_links(trace, 2, 5)} <= set(range(3))


@pytest.mark.parametrize("line", ["I\tJe", "I\tJe\t0-0 x", "I\tJe\t1-0", "I\tJe\t0-1", "I\tJe\t0-0\tmore"])
def test_a_line_of_another_form_is_refused(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(f"english\tfrench\tlinks\n{line}\n")
    with pytest.raises(InputError, match=r"Line 2 of 'a\.tsv' is not an aligned sentence"):
        read_alignments(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_alignments(tmp_path / "b.tsv")
