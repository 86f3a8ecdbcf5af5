"""Tests of joining pieces to words: labels, sums over keys and means over queries."""

from dataclasses import replace

import numpy as np
import pytest

from tests.transformer.small import SOURCE, TARGET, small
from transformer import Trace
from transformer.analysis.word_trace import WordTrace, groups, in_pieces, join
from transformer.errors import InputError
from transformer.text.pieces import joined_label
from transformer.tracing.trace import run_traced

# The words of five queries: a special token, a word of two pieces, a word of one piece, a special token.
QUERIES = ((0,), (1, 2), (3,), (4,))
KEYS = ((0,), (1, 2, 3))


def test_successive_equal_numbers_are_one_word() -> None:
    assert groups((None, 0, 0, 1, None)) == QUERIES
    assert groups((None, None, 3)) == ((0,), (1,), (2,))
    assert groups(()) == ()


def test_joined_labels_do_not_have_the_marks_of_pieces() -> None:
    assert joined_label(["▁sle", "eps"]) == "sleeps"
    assert joined_label(["sle", "##eps"]) == "sleeps"
    assert joined_label(["▁"]) == "▁"
    assert joined_label(["▁dÃ", "©", "jÃł"]) == joined_label(["déjà"]) == "déjà"


def test_weights_are_summed_over_keys_and_averaged_over_queries() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 3, 5)).astype(np.float32)
    joined = join(weights, QUERIES, KEYS)
    assert joined.shape == (2, 3, 4, 2)
    assert joined.sum(-1) == pytest.approx(1, abs=1e-6)
    for row, of in enumerate(QUERIES):
        for column, on in enumerate(KEYS):
            expected = sum(weights[1, 2, query, key] for query in of for key in on) / len(of)
            assert joined[1, 2, row, column] == pytest.approx(expected, abs=1e-6)


def test_weights_that_do_not_fit_the_words_are_refused() -> None:
    with pytest.raises(InputError, match="does not fit the words"):
        join(np.ones((5, 3)), QUERIES, KEYS)


@pytest.fixture(scope="module")
def trace_of_two() -> Trace:
    return run_traced(small(), SOURCE, TARGET)


def in_words(trace: Trace, source: int, target: int) -> Trace:
    """The trace of two texts, changed so that pairs of tokens are pieces of one word. The first text has one word fewer."""
    words = {"source": source, "target": target}
    rows = {
        f"{side}_words": tuple(tuple(max(0, place - (item == 0)) // 2 for place in range(words[side])) for item in range(2))
        for side in words
    }
    return replace(trace, **rows)


def test_a_trace_of_words_is_read_as_a_trace(trace_of_two: Trace) -> None:
    lengths = [len(trace_of_two.tokens_of(side)[0]) for side in ("source", "target")]
    trace = in_words(trace_of_two, *lengths)
    joined = WordTrace.of(trace)
    assert in_pieces(trace)
    assert not in_pieces(joined)
    for item in range(2):
        for kind in trace.kinds:
            pieces, words = trace.attention(kind)[:, item], joined.attention(kind)[:, item]
            of = [groups(trace.words_of(side)[item]) for side in (kind.queries, kind.keys)]
            queries, keys = map(len, of)
            assert words[..., :queries, :keys].numpy() == pytest.approx(join(pieces.numpy(), *of), abs=1e-6)
            sums = words[..., :queries, :].sum(-1)
            assert sums.numpy() == pytest.approx(pieces.sum(-1).numpy()[..., [group[0] for group in of[0]]], abs=1e-5)
            # If a text has fewer words than the other text, the remaining positions are hidden.
            assert not joined.allowed(kind)[:, item, :, queries:].any()
            assert not joined.allowed(kind)[:, item, :, :, keys:].any()
        (group, *_) = [group for group in groups(trace.source_words[item]) if len(group) == 2]
        at = groups(trace.source_words[item]).index(group)
        for path in ("source_embedding.sum", "encoder.output", "encoder.layers.0.feed_forward.hidden"):
            mean = trace[path].values[item, list(group)].mean(0)
            assert joined[path].values[item, at].numpy() == pytest.approx(mean.numpy(), abs=1e-6)
    assert all(len(activation.axes) == activation.values.ndim for activation in joined)


def test_the_bytes_of_a_trace_include_the_tensors_that_its_word_trace_keeps(trace_of_two: Trace) -> None:
    trace = in_words(trace_of_two, *(len(trace_of_two.tokens_of(side)[0]) for side in ("source", "target")))
    joined, kept = WordTrace.of(trace), 0
    for kind in trace.kinds:
        parts = [joined.weights(kind, layer) for layer in range(joined.layers(kind))]
        masks = [joined.used_masks[str(kind.path(layer))] for layer in range(joined.layers(kind))]
        kept += sum(part.nbytes for part in (*parts, *masks, joined.attention(kind), joined.allowed(kind)))
    assert trace.nbytes - trace_of_two.nbytes == kept


def test_scores_that_a_mask_hides_do_not_count_in_a_mean(trace_of_two: Trace) -> None:
    trace = in_words(trace_of_two, *(len(trace_of_two.tokens_of(side)[0]) for side in ("source", "target")))
    joined, path = WordTrace.of(trace), "decoder.layers.0.self_attention"
    scores, hidden = joined[f"{path}.masked_scores"].values, joined.hidden(path)
    assert hidden.any()
    assert (scores[~hidden] > -1e6).all()
